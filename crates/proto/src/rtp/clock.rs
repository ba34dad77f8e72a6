//! The clock of a medium beside that of the wall, [RFC 3550 section 5.1](https://www.rfc-editor.org/rfc/rfc3550#section-5.1).
//!
//! ```text
//! time [ns] ──┬──► clock rate [Hz] ──► timestamp [ticks], modulo 2^32
//!             └─── anchor: one instant by both, from the last packet or the last SR
//! ```

use std::num::NonZeroU32;

use crate::ProtoError;

const NS_PER_S: u64 = 1_000_000_000;

/// Ticks of a medium's clock in a second [Hz].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRate(NonZeroU32);

impl ClockRate {
    /// A rate [Hz].
    ///
    /// # Errors
    /// A clock that stands still tells no time.
    pub fn new(hz: u32) -> Result<Self, ProtoError> {
        let rule = "a clock has to tick";
        NonZeroU32::new(hz).map(Self).ok_or(ProtoError::Forbidden {
            what: "clock rate",
            found: 0,
            rule,
        })
    }

    /// The rate [Hz].
    #[must_use]
    pub fn hz(self) -> u32 {
        self.0.get()
    }

    /// Ticks of a time [ns], modulo 2^32.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "timestamps are modulo 2^32")]
    pub fn ticks(self, ns: u64) -> u32 {
        let hz = u64::from(self.hz());
        let whole = (ns / NS_PER_S).wrapping_mul(hz);
        whole.wrapping_add((ns % NS_PER_S) * hz / NS_PER_S) as u32
    }

    /// Time of so many ticks [ns].
    #[inline]
    #[must_use]
    pub fn ns(self, ticks: u32) -> u64 {
        u64::from(ticks) * NS_PER_S / u64::from(self.hz())
    }
}

/// One instant by two clocks: what is known of one by the other, as long as they keep step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The instant [ns].
    pub ns: u64,
    /// The same by the medium's clock [ticks].
    pub timestamp: u32,
}

impl Anchor {
    /// The medium's clock at a time [ticks].
    #[must_use]
    pub fn timestamp_at(self, ns: u64, rate: ClockRate) -> u32 {
        match ns.checked_sub(self.ns) {
            Some(since) => self.timestamp.wrapping_add(rate.ticks(since)),
            None => self.timestamp.wrapping_sub(rate.ticks(self.ns - ns)),
        }
    }

    /// Time of a timestamp less than half a turn away [ns].
    #[must_use]
    pub fn ns_at(self, timestamp: u32, rate: ClockRate) -> u64 {
        let since = timestamp.wrapping_sub(self.timestamp).cast_signed();
        let distance_ns = rate.ns(since.unsigned_abs());
        if since < 0 {
            self.ns.saturating_sub(distance_ns)
        } else {
            self.ns.saturating_add(distance_ns)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_of_known_times() {
        for (hz, ns, ticks) in [
            (8000, 20_000_000, 160),
            (90_000, NS_PER_S, 90_000),
            (90_000, 11_111, 0),
            (90_000, 11_112, 1),
            (8000, 536_870_941_000_000, 232), // a turn of the 32 bits, and 29 ms
        ] {
            assert_eq!(ClockRate::new(hz).unwrap().ticks(ns), ticks, "{ns} ns at {hz} Hz");
        }
        assert_eq!(ClockRate::new(8000).unwrap().ns(16), 2_000_000);
    }

    #[test]
    fn a_clock_that_stands_still_is_refused() {
        let refused = ClockRate::new(0).unwrap_err().to_string();
        assert_eq!(refused, "clock rate is 0: a clock has to tick");
    }

    #[test]
    fn an_anchor_tells_time_on_both_sides_of_it_and_of_a_wrap() {
        let rate = ClockRate::new(8000).unwrap();
        let anchor = Anchor { ns: NS_PER_S, timestamp: 10 };
        for (timestamp, ns) in
            [(10, NS_PER_S), (8010, 2 * NS_PER_S), (10_u32.wrapping_sub(80), NS_PER_S - 10_000_000)]
        {
            assert_eq!(anchor.ns_at(timestamp, rate), ns);
            assert_eq!(anchor.timestamp_at(ns, rate), timestamp);
        }
    }

    proptest! {
        #[test]
        fn no_numbers_overflow_and_a_timestamp_tells_no_more_than_half_a_turn((hz, ns, timestamp, at) in any::<(u32, u64, u32, u64)>()) {
            let rate = ClockRate::new(hz.max(1)).unwrap();
            let anchor = Anchor { ns, timestamp };
            let told_ns = anchor.ns_at(anchor.timestamp_at(at, rate), rate);
            prop_assert!(told_ns.abs_diff(ns) <= rate.ns(1 << 31));
        }
    }
}
