//! Interarrival jitter of a capture, [RFC 3550 section 6.4.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.4.1).
//!
//! A report carries whole ticks, and its receiver counts in them: an eighth of a millisecond for speech. A capture knows
//! its times much better, so the same estimate is kept here in nanoseconds.

/// What the difference of two packets moves the estimate by.
const GAIN: f64 = 1.0 / 16.0;

/// A packet's arrival by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// When it was seen [ns].
    pub(super) at_ns: u64,
    /// Its timestamp [ticks].
    pub(super) timestamp: u32,
    /// Ticks in a second [Hz].
    pub(super) clock_rate_hz: u32,
}

/// The estimate, and what it has been.
#[derive(Clone, Debug, Default)]
pub(super) struct Jitter {
    before: Option<Arrival>,
    estimate_ns: f64,
    sum_ns: f64,
    greatest_ns: f64,
    /// Packets that moved the estimate.
    packets: u64,
}

impl Jitter {
    /// Accounts for a packet. One without another of the same clock before it changes nothing.
    pub(super) fn on_packet(&mut self, now: Arrival) {
        let before = self.before.replace(now);
        let Some(before) = before.filter(|before| before.clock_rate_hz == now.clock_rate_hz) else {
            return;
        };
        // Both differences have a sign: packets overtake each other, and timestamps wrap.
        let apart_ns = now.at_ns.wrapping_sub(before.at_ns).cast_signed() as f64;
        let ticks = now.timestamp.wrapping_sub(before.timestamp).cast_signed();
        let sampled_ns = f64::from(ticks) * 1e9 / f64::from(now.clock_rate_hz);
        self.estimate_ns += ((apart_ns - sampled_ns).abs() - self.estimate_ns) * GAIN;
        self.sum_ns += self.estimate_ns;
        self.greatest_ns = self.greatest_ns.max(self.estimate_ns);
        self.packets += 1;
    }

    /// Forgets the packet before: the next has nothing to do with it.
    pub(super) fn forget_packet(&mut self) {
        self.before = None;
    }

    /// Mean of the estimate behind every packet that moved it [ns].
    pub(super) fn mean_ns(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum_ns / self.packets as f64)
    }

    /// Greatest that the estimate was [ns].
    pub(super) fn greatest_ns(&self) -> Option<f64> {
        (self.packets > 0).then_some(self.greatest_ns)
    }
}

#[cfg(test)]
mod tests {
    use bitpath_proto::rtp::{ClockRate, jitter};

    use super::*;

    fn after(packets: &[(u64, u32)]) -> Jitter {
        let mut jitter = Jitter::default();
        for &(at_ns, timestamp) in packets {
            jitter.on_packet(Arrival { at_ns, timestamp, clock_rate_hz: 8000 });
        }
        jitter
    }

    #[test]
    fn one_late_packet_adds_a_sixteenth_of_its_delay_and_its_successor_a_sixteenth_of_the_rest() {
        let late = after(&[(0, 0), (36_000_000, 160), (40_000_000, 320)]);
        let (first, second) = (1e6, 1e6 + (16e6 - 1e6) / 16.0);
        assert_eq!(late.greatest_ns(), Some(second));
        assert_eq!(late.mean_ns(), Some((first + second) / 2.0));
    }

    #[test]
    fn wraps_and_overtaking_are_no_jitter() {
        assert_eq!(after(&[(0, u32::MAX - 79), (20_000_000, 80)]).greatest_ns(), Some(0.0));
        assert_eq!(after(&[(20_000_000, 160), (0, 0)]).greatest_ns(), Some(0.0));
    }

    #[test]
    fn a_packet_alone_or_behind_another_clock_has_none() {
        let mut jitter = after(&[(0, 0)]);
        assert_eq!((jitter.mean_ns(), jitter.greatest_ns()), (None, None));
        jitter.on_packet(Arrival { at_ns: 7, timestamp: 90_000, clock_rate_hz: 90_000 });
        assert_eq!(jitter.mean_ns(), None);
    }

    #[test]
    fn it_is_the_estimate_of_reports_to_the_tick() {
        let rate = ClockRate::new(8000).unwrap();
        let (mut reported, mut ours) = (jitter::Jitter::default(), Jitter::default());
        for packet in 0..500_u32 {
            let at_ns = u64::from(packet) * 20_000_000 + u64::from(packet * 7919 % 13) * 1_000_000;
            reported.on_packet(rate.ticks(at_ns), packet * 160);
            ours.on_packet(Arrival { at_ns, timestamp: packet * 160, clock_rate_hz: 8000 });
            let ticks = ours.estimate_ns / 125_000.0;
            assert!((ticks - f64::from(reported.ticks())).abs() < 1.5, "{packet}: {ticks}");
        }
    }
}
