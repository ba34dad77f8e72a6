//! Interarrival jitter, [RFC 3550 section 6.4.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.4.1) and
//! appendix A.8.
//!
//! ```text
//! arrival   [ticks] ──┐
//!                     ├──► transit ──► |D| ──► J += (|D| - J) / 16 ──► jitter of a report [ticks]
//! timestamp [ticks] ──┘
//! ```

/// The running estimate of one source.
#[derive(Clone, Debug, Default)]
pub struct Jitter {
    /// Way of the packet before: arrival less timestamp [ticks], modulo 2^32.
    transit: Option<u32>,
    /// Sixteen times the estimate [ticks]: the fraction is kept that the report drops.
    sixteenfold: u32,
}

impl Jitter {
    /// Accounts for a packet's arrival by the receiver's clock and for its timestamp, both in ticks of the
    /// media's clock. The first packet has none before it and changes nothing.
    #[inline]
    pub fn on_packet(&mut self, arrival_ticks: u32, timestamp: u32) {
        let transit = arrival_ticks.wrapping_sub(timestamp);
        let Some(before) = self.transit.replace(transit) else { return };
        // The difference has a sign: as such it does not see where either clock wraps.
        let difference = transit.wrapping_sub(before).cast_signed().unsigned_abs();
        let decay = (self.sixteenfold >> 4) + (self.sixteenfold >> 3 & 1);
        self.sixteenfold = self.sixteenfold.saturating_add(difference) - decay;
    }

    /// Forgets the packet before, not the estimate: the next belongs to a source that started again.
    pub fn forget_transit(&mut self) {
        self.transit = None;
    }

    /// The estimate as a report carries it [ticks].
    #[inline]
    #[must_use]
    pub fn ticks(&self) -> u32 {
        self.sixteenfold >> 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate after (arrival, timestamp) pairs [ticks].
    fn jitter(packets: &[(u32, u32)]) -> u32 {
        let mut jitter = Jitter::default();
        packets.iter().for_each(|(arrival, timestamp)| jitter.on_packet(*arrival, *timestamp));
        jitter.ticks()
    }

    #[test]
    fn packets_as_far_apart_as_their_timestamps_have_no_jitter() {
        assert_eq!(jitter(&[(1000, 0), (1160, 160), (1320, 320)]), 0);
    }

    #[test]
    fn one_late_packet_adds_a_sixteenth_of_its_delay() {
        assert_eq!(jitter(&[(0, 0), (160 + 320, 160)]), 20);
    }

    #[test]
    fn a_wrap_of_timestamp_or_arrival_is_not_jitter() {
        assert_eq!(jitter(&[(0, u32::MAX - 79), (160, 80)]), 0);
        assert_eq!(jitter(&[(u32::MAX - 79, 0), (80, 160)]), 0);
    }

    #[test]
    fn alternating_delays_settle_at_their_difference() {
        let packets: Vec<(u32, u32)> =
            (0..400).map(|number| (number * 160 + number % 2 * 48, number * 160)).collect();
        assert_eq!(jitter(&packets), 47);
    }

    #[test]
    fn jumps_of_half_the_clock_saturate_and_do_not_overflow() {
        let packets: Vec<(u32, u32)> = (0..100).map(|number| (0, number % 2 * (1 << 31))).collect();
        assert!(jitter(&packets) > 1 << 27);
    }
}
