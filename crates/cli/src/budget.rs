//! How long a measurement may take and which difference matters, as they are typed: `60s`, `5min`;
//! `5%`.

use std::str::FromStr;

/// A time that measurements may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    /// How long [s].
    pub(crate) seconds: f64,
}

/// Shortest budget [s]: below it hardly anything is measured twice.
const SHORTEST_S: f64 = 1.0;

/// Longest budget [s]: a day.
const LONGEST_S: f64 = 86_400.0;

/// Units and their length [s].
const UNITS: [(&str, f64); 4] = [("min", 60.0), ("h", 3600.0), ("s", 1.0), ("", 1.0)];

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let in_unit = |(unit, length_s): (&str, f64)| {
            let number = text.trim().strip_suffix(unit)?.trim_end();
            number.parse::<f64>().ok().map(|number| number * length_s)
        };
        let seconds = UNITS
            .into_iter()
            .find_map(in_unit)
            .ok_or("a time is a number with s, min or h, such as 60s")?;
        if !(SHORTEST_S..=LONGEST_S).contains(&seconds) {
            return Err(format!("a budget is between {SHORTEST_S} s and {LONGEST_S} s"));
        }
        Ok(Self { seconds })
    }
}

/// The smallest difference that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    /// How large it is [ratio].
    pub(crate) share: f64,
}

/// Smallest margin [ratio]: no machine that runs other things shows less.
const SMALLEST_MARGIN: f64 = 0.001;

/// Largest margin [ratio]: twice as much is a difference to anybody.
const LARGEST_MARGIN: f64 = 1.0;

impl FromStr for Margin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number =
            text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let share = number.ok_or("a margin is a number of per cent, such as 5%")? / 100.0;
        if !(SMALLEST_MARGIN..=LARGEST_MARGIN).contains(&share) {
            return Err("a margin is between 0.1% and 100%".into());
        }
        Ok(Self { share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_with_a_unit() {
        for (text, seconds) in [("60s", 60.0), ("1.5 min", 90.0), ("2h", 7200.0), ("30", 30.0)] {
            assert_eq!(text.parse(), Ok(Budget { seconds }), "{text}");
        }
    }

    #[test]
    fn a_margin_is_a_number_of_per_cent() {
        assert_eq!("2.5 %".parse(), Ok(Margin { share: 0.025 }));
        for (text, word) in [("5", "per cent"), ("0%", "between"), ("nan%", "between")] {
            let error = text.parse::<Margin>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_no_time_or_an_absurd_one_is_refused() {
        for (text, word) in [
            ("", "a number with"),
            ("sixty", "a number with"),
            ("60 furlongs", "a number with"),
            ("0s", "between"),
            ("-5s", "between"),
            ("1e9s", "between"),
            ("nan", "between"),
        ] {
            let error = text.parse::<Budget>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
