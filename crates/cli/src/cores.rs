//! The processors of a pipeline, as they are typed: `0,1,0`.

use std::str::FromStr;

/// Processors of source, filter and sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cores(pub(crate) [usize; 3]);

impl FromStr for Cores {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "three processors are wanted, those of source, filter and sink, such as 0,1,0";
        let numbers = text.split(',').map(|number| number.trim().parse());
        let numbers: Vec<usize> = numbers.collect::<Result<_, _>>().map_err(|_| wanted)?;
        Ok(Self(numbers.try_into().map_err(|_| wanted)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_processors_are_three_numbers() {
        assert_eq!("0, 1,0".parse(), Ok(Cores([0, 1, 0])));
        for wrong in ["", "0,1", "0,1,2,3", "0,a,1", "0,-1,1"] {
            let error = wrong.parse::<Cores>().unwrap_err();
            assert!(error.contains("source, filter and sink"), "{wrong}: {error}");
        }
    }
}
