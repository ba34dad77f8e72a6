//! NAL units of a byte stream, between start codes: H.264 annex B, the form of `.h264` files and of decoders.
//!
//! ```text
//! 00 00 01 | NAL unit | 00 00 00 01 | NAL unit | 00 00 01 ...
//! ```

use memchr::memmem;

/// What every NAL unit begins behind; a zero before it, and those behind a NAL unit, are filling.
pub(super) const START_CODE: [u8; 3] = [0, 0, 1];

/// The NAL units of a byte stream one by one, those of no bytes left out.
#[derive(Debug)]
pub struct Units<'b> {
    bytes: &'b [u8],
    codes: memmem::FindIter<'b, 'static>,
    /// Where the next NAL unit begins; nowhere behind the last.
    start: Option<usize>,
}

/// Splits a byte stream, of which what is before the first start code is no NAL unit.
#[must_use]
pub fn units(bytes: &[u8]) -> Units<'_> {
    let mut codes = memmem::find_iter(bytes, &START_CODE);
    let start = codes.next().map(|at| at + START_CODE.len());
    Units { bytes, codes, start }
}

impl<'b> Iterator for Units<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        loop {
            let start = self.start?;
            let code = self.codes.next();
            self.start = code.map(|at| at + START_CODE.len());
            let unit = without_filling(&self.bytes[start..code.unwrap_or(self.bytes.len())]);
            if !unit.is_empty() {
                return Some(unit);
            }
        }
    }
}

/// A NAL unit does not end in a zero (section 7.4.1), so those there are filling.
fn without_filling(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(bytes: &[u8]) -> Vec<&[u8]> {
        units(bytes).collect()
    }

    #[test]
    fn start_codes_of_three_and_four_bytes_part_the_units_and_filling_is_none_of_theirs() {
        let stream = [
            0, 0, 0, 1, 0x67, 1, 2, // sequence parameters behind four bytes
            0, 0, 1, 0x68, 3, 0, 0, 0, // picture parameters with filling behind them
            0, 0, 1, 0x65, 0, 0, 3, 1, // an escape is no start code
        ];
        assert_eq!(split(&stream), [&[0x67, 1, 2][..], &[0x68, 3], &[0x65, 0, 0, 3, 1]]);
    }

    #[test]
    fn what_is_no_unit_is_left_out() {
        let nothing: [&[u8]; 6] =
            [&[], &[0], &[0, 0, 1], &[0, 0, 0, 0, 1, 0, 0], &[9, 9, 9], &[0, 0, 1, 0, 0, 1]];
        for bytes in nothing {
            assert!(split(bytes).is_empty(), "{bytes:?}");
        }
        assert_eq!(split(&[9, 9, 0, 0, 1, 0x65]), [&[0x65]]);
    }

    proptest! {
        #[test]
        fn units_come_back_between_start_codes_of_any_length(
            parts in prop::collection::vec((2_usize..6, prop::collection::vec(1_u8.., 1..50)), 0..20),
        ) {
            let mut stream = Vec::new();
            for (zeros, unit) in &parts {
                stream.resize(stream.len() + zeros, 0);
                stream.push(1);
                stream.extend_from_slice(unit);
            }
            let expected: Vec<_> = parts.iter().map(|(_, unit)| unit.as_slice()).collect();
            prop_assert_eq!(split(&stream), expected);
        }

        #[test]
        fn no_bytes_give_more_units_than_start_codes(bytes in prop::collection::vec(0_u8..3, 0..100)) {
            let codes = bytes.windows(3).filter(|window| *window == START_CODE).count();
            prop_assert!(units(&bytes).count() <= codes);
            prop_assert!(units(&bytes).all(|unit| memmem::find(unit, &START_CODE).is_none()));
        }
    }
}
