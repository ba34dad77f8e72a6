//! Round-trip time, [RFC 3550 section 6.4.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.4.1).
//!
//! ```text
//! sender    ─┬─ last SR [1/65 536 s] ────────────────────── arrival [1/65 536 s] ─►
//!            └──────►┐                                ┌────►┘
//! receiver  ─────────┴─ delay since last SR ──────────┴────────────────────────────►
//! ```

/// Round-trip time [1/65 536 s] from the arrival of a report block at the source that it is of, and its last SR
/// and delay since. The same rule serves the reference times of receivers
/// ([RFC 3611 section 4.5](https://www.rfc-editor.org/rfc/rfc3611#section-4.5)).
///
/// None where no SR had come, and where the other side says that it waited for longer than all took: clocks are
/// coarse and drift, and a path as long as half the 18 h of the field is not meant.
#[inline]
#[must_use]
pub fn round_trip(arrival: u32, last_sr: u32, delay_since_last_sr: u32) -> Option<u32> {
    if last_sr == 0 {
        return None;
    }
    let trip = arrival.wrapping_sub(last_sr).wrapping_sub(delay_since_last_sr);
    (trip.cast_signed() >= 0).then_some(trip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_takes_six_seconds_and_an_eighth() {
        assert_eq!(round_trip(0xb710_8000, 0xb705_2000, 0x0005_4000), Some(0x0006_2000));
    }

    #[test]
    fn the_wrap_of_the_clock_every_18_hours_does_not_show() {
        assert_eq!(round_trip(0x0000_0010, 0xffff_fff0, 0x0000_0008), Some(0x18));
    }

    #[test]
    fn without_an_sr_or_with_a_longer_wait_than_there_was_time_for_there_is_none() {
        for (arrival, last_sr, delay) in
            [(0x0001_0000, 0, 0), (0x0001_0000, 0, 5), (0x0001_0000, 0xf000, 0x1001)]
        {
            assert_eq!(round_trip(arrival, last_sr, delay), None);
        }
        assert_eq!(round_trip(0x0001_0000, 0xf000, 0x1000), Some(0));
    }
}
