//! Timestamps of the wall clock as reports carry them, [RFC 3550 section 4](https://www.rfc-editor.org/rfc/rfc3550#section-4).
//!
//! ```text
//! |        seconds since 1900         |         1/2^32 s          |  64 bits
//!                 |  seconds  |   1/65 536 s    |                  the middle 32, for delays and round trips
//! ```

/// From the era of NTP, 1900, to that of Unix, 1970 [s]: 70 years, 17 of them leap years.
const UNIX_ERA_S: u32 = (70 * 365 + 17) * 86_400;

const NS_PER_S: u64 = 1_000_000_000;

/// NTP timestamp [1/2^32 s] of a time since the Unix era [ns]. Its seconds wrap in 2036, as on the wire.
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "seconds are modulo 2^32")]
pub fn from_unix_ns(unix_ns: u64) -> u64 {
    let seconds = ((unix_ns / NS_PER_S) as u32).wrapping_add(UNIX_ERA_S);
    let fraction = ((unix_ns % NS_PER_S) << 32) / NS_PER_S;
    u64::from(seconds) << 32 | fraction
}

/// Time since the Unix era [ns] of an NTP timestamp, taken to be of 1970 to 2106.
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "halves of 64 bits")]
pub fn to_unix_ns(ntp_timestamp: u64) -> u64 {
    let seconds = ((ntp_timestamp >> 32) as u32).wrapping_sub(UNIX_ERA_S);
    let fraction = u64::from(ntp_timestamp as u32);
    u64::from(seconds) * NS_PER_S + ((fraction * NS_PER_S + (1 << 31)) >> 32)
}

/// The middle 32 bits [1/65 536 s], as the field for the last SR has them.
#[inline]
#[must_use]
pub fn middle(ntp_timestamp: u64) -> u32 {
    let [_, _, a, b, c, d, _, _] = ntp_timestamp.to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// A delay [ns] in units of the middle bits [1/65 536 s]; what is longer than 18 h stays at the most.
#[inline]
#[must_use]
pub fn delay_from_ns(delay_ns: u64) -> u32 {
    let whole = (delay_ns / NS_PER_S) << 16;
    u32::try_from(whole + ((delay_ns % NS_PER_S) << 16) / NS_PER_S).unwrap_or(u32::MAX)
}

/// A delay in units of the middle bits [1/65 536 s] in nanoseconds [ns].
#[inline]
#[must_use]
pub fn delay_to_ns(delay: u32) -> u64 {
    (u64::from(delay) * NS_PER_S) >> 16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timestamps_of_known_days() {
        // RFC 5905 figure 4 counts 2 208 988 800 s from 1900 to 1970.
        assert_eq!(from_unix_ns(0), 2_208_988_800 << 32);
        assert_eq!(from_unix_ns(500_000_000), 2_208_988_800 << 32 | 0x8000_0000);
        // 7 February 2036, 06:28:16: the seconds of NTP wrap.
        assert_eq!(from_unix_ns(2_085_978_496 * NS_PER_S), 0);
        assert_eq!(to_unix_ns(0), 2_085_978_496 * NS_PER_S);
    }

    #[test]
    fn the_middle_is_16_bits_of_seconds_and_16_below() {
        assert_eq!(middle(0x1234_5678_9abc_def0), 0x5678_9abc);
    }

    #[test]
    fn delays_count_in_parts_of_65_536() {
        for (ns, delay) in [
            (0, 0),
            (15_258, 0),
            (15_259, 1),
            (1_000_000_000, 65_536),
            (5_250_000_000, 0x0005_4000),
            (65_536_000_000_000, u32::MAX),
            (u64::MAX, u32::MAX),
        ] {
            assert_eq!(delay_from_ns(ns), delay, "{ns} ns");
        }
        assert_eq!(delay_to_ns(0x0006_2000), 6_125_000_000);
    }

    proptest! {
        #[test]
        fn times_until_2106_come_back_to_the_nanosecond(unix_ns in 0..(NS_PER_S << 32)) {
            prop_assert_eq!(to_unix_ns(from_unix_ns(unix_ns)), unix_ns);
        }
    }
}
