//! The suite's check of itself (section III-D): what was played is what was sent, but for the units that were
//! logged as lost. Of units before the first and behind the last that came a receiver knows nothing.

use std::ops::Range;

use super::UNIT_BYTES;

/// Where what was played differs from what was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// A unit that was never sent is said to be lost.
    #[error("unit {unit} is said to be lost, and {units} were sent")]
    NeverSent {
        /// Its place, from 0.
        unit: u64,
        /// Units sent.
        units: u64,
    },
    /// A unit was played that differs from the one sent, or none was.
    #[error("unit {unit}, {at} B into what was played, is not the one that was sent")]
    Unit {
        /// Its place among those sent, from 0.
        unit: u64,
        /// Where it should be in what was played [B].
        at: usize,
    },
    /// More was played than was sent.
    #[error("{bytes} B were played that were not sent")]
    Surplus {
        /// How much [B].
        bytes: usize,
    },
}

/// Holds what was played against the units `heard_of` of what was sent, without those that were `lost`; all are
/// places from 0.
///
/// # Errors
/// The first difference.
pub fn verify(
    sent: &[u8],
    played: &[u8],
    heard_of: Range<u64>,
    lost: &[u64],
) -> Result<(), Difference> {
    let units = sent.len().div_ceil(UNIT_BYTES) as u64;
    let mut lost = lost.to_vec();
    lost.sort_unstable();
    if let Some(unit) = lost.iter().copied().find(|unit| *unit >= units) {
        return Err(Difference::NeverSent { unit, units });
    }
    let mut at = 0;
    for (unit, bytes) in (0..).zip(sent.chunks(UNIT_BYTES)) {
        if !heard_of.contains(&unit) || lost.binary_search(&unit).is_ok() {
            continue;
        }
        if played.get(at..at + bytes.len()) != Some(bytes) {
            return Err(Difference::Unit { unit, at });
        }
        at += bytes.len();
    }
    if at < played.len() {
        return Err(Difference::Surplus { bytes: played.len() - at });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audio() -> Vec<u8> {
        crate::rtp::suite::audio::noise(1000, 1)
    }

    #[test]
    fn what_was_sent_without_the_lost_units_is_right() {
        let sent = audio();
        assert_eq!(verify(&sent, &sent, 0..7, &[]), Ok(()));
        let played = [&sent[..160], &sent[320..960]].concat();
        assert_eq!(verify(&sent, &played, 0..7, &[6, 1]), Ok(()));
        assert_eq!(verify(&sent, &sent[160..320], 1..2, &[]), Ok(()));
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let sent = audio();
        let [swapped, short] =
            [[&sent[160..320], &sent[..160], &sent[320..]].concat(), sent[..999].to_vec()];
        assert_eq!(verify(&sent, &swapped, 0..7, &[]), Err(Difference::Unit { unit: 0, at: 0 }));
        assert_eq!(verify(&sent, &short, 0..7, &[]), Err(Difference::Unit { unit: 6, at: 960 }));
        assert_eq!(verify(&sent, &sent, 0..7, &[3]), Err(Difference::Unit { unit: 4, at: 480 }));
        assert_eq!(
            verify(&sent, &sent, 0..7, &[7]),
            Err(Difference::NeverSent { unit: 7, units: 7 })
        );
        let more = [sent.as_slice(), b"x"].concat();
        assert_eq!(verify(&sent, &more, 0..7, &[]), Err(Difference::Surplus { bytes: 1 }));
    }
}
