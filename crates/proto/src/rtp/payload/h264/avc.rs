//! NAL units behind their lengths: ISO/IEC 14496-15, the form of samples in MP4 files.
//!
//! ```text
//! length: 1, 2 or 4 B | NAL unit | length | NAL unit | ...
//! ```

use crate::ProtoError;
use crate::rtp::payload::forbidden;

/// Bytes of every length in a file, as its decoder configuration says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthBytes(usize);

impl LengthBytes {
    /// So many bytes [B].
    ///
    /// # Errors
    /// When they are not 1, 2 or 4.
    pub fn new(bytes: u8) -> Result<Self, ProtoError> {
        match bytes {
            1 | 2 | 4 => Ok(Self(bytes.into())),
            _ => {
                let rule = "it is 1, 2 or 4";
                Err(forbidden("size of the length of a NAL unit", bytes.into(), rule))
            }
        }
    }
}

/// The NAL units of a sample one by one, those of no bytes left out.
#[derive(Clone, Debug)]
pub struct Units<'b> {
    rest: &'b [u8],
    length_bytes: LengthBytes,
}

/// Splits a sample.
///
/// # Errors
/// When a length, or the NAL unit behind it, goes past the end.
pub fn units(sample: &[u8], length_bytes: LengthBytes) -> Result<Units<'_>, ProtoError> {
    let mut rest = sample;
    while !rest.is_empty() {
        (_, rest) = split(rest, length_bytes)?;
    }
    Ok(Units { rest: sample, length_bytes })
}

impl<'b> Iterator for Units<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        loop {
            // The sample was walked to its end before: only that can be the error.
            let (unit, rest) = split(self.rest, self.length_bytes).ok()?;
            self.rest = rest;
            if !unit.is_empty() {
                return Some(unit);
            }
        }
    }
}

/// The first NAL unit and what is behind it.
fn split(bytes: &[u8], LengthBytes(width): LengthBytes) -> Result<(&[u8], &[u8]), ProtoError> {
    let Some((length, rest)) = bytes.split_at_checked(width) else {
        let what = "length of a NAL unit";
        return Err(ProtoError::Short { what, needed: width, found: bytes.len() });
    };
    let needed = length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
    rest.split_at_checked(needed).ok_or(ProtoError::Short {
        what: "NAL unit",
        needed,
        found: rest.len(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lengths(bytes: u8) -> LengthBytes {
        LengthBytes::new(bytes).unwrap()
    }

    #[test]
    fn lengths_of_one_two_and_four_bytes_are_read() {
        for (width, sample) in [
            (1, &[1, 9, 0, 2, 0x65, 7][..]),
            (2, &[0, 1, 9, 0, 0, 0, 2, 0x65, 7]),
            (4, &[0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 2, 0x65, 7]),
        ] {
            let found: Vec<_> = units(sample, lengths(width)).unwrap().collect();
            assert_eq!(found, [&[9][..], &[0x65, 7]], "{width}");
        }
    }

    #[test]
    fn other_sizes_of_lengths_are_refused() {
        for bytes in [0, 3, 5, 255] {
            let refused = LengthBytes::new(bytes).unwrap_err().to_string();
            assert!(refused.ends_with(&format!("is {bytes}: it is 1, 2 or 4")), "{refused}");
        }
    }

    #[test]
    fn a_unit_past_the_end_is_refused_before_any_is_given() {
        let refused = units(&[0, 1, 9, 0, 3, 7, 7], lengths(2)).unwrap_err();
        assert_eq!(refused, ProtoError::Short { what: "NAL unit", needed: 3, found: 2 });
        let refused = units(&[0xff; 6], lengths(4)).unwrap_err();
        let needed = u32::MAX as usize;
        assert_eq!(refused, ProtoError::Short { what: "NAL unit", needed, found: 2 });
    }

    proptest! {
        #[test]
        fn units_come_back_and_every_cut_is_refused_but_between_them(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..10),
            width in prop::sample::select(vec![1_u8, 2, 4]),
        ) {
            let (mut sample, mut ends) = (Vec::new(), vec![0]);
            for part in &parts {
                let length = u32::try_from(part.len()).unwrap().to_be_bytes();
                sample.extend_from_slice(&length[4 - usize::from(width)..]);
                sample.extend_from_slice(part);
                ends.push(sample.len());
            }
            let found: Vec<_> = units(&sample, lengths(width)).unwrap().collect();
            prop_assert_eq!(found, parts);
            for cut in 0..sample.len() {
                prop_assert_eq!(units(&sample[..cut], lengths(width)).is_ok(), ends.contains(&cut));
            }
        }
    }
}
