//! One TCP connection, counted in segments: selective acknowledgements and a retransmission timer.
//!
//! ```text
//! Sender ──segment [number]──► Receiver      window <= min(congestion window, peer's room)
//!    ▲                            │
//!    └──── acknowledgement ◄──────┘          next number expected, room [segments],
//! ```                                        range that arrived last beyond a hole
//!
//! Congestion control is RFC 5681 with the recovery of RFC 6675; retransmissions that are lost are
//! found as RFC 8985 finds them; the timer is RFC 6298, delayed acknowledgements are RFC 1122 section
//! 4.2.3.2. Windows are segments of full size: what the model asks of TCP are its stalls and its
//! retransmissions, not its bytes.

mod receiver;
mod recovery;

pub(super) use receiver::Receiver;

use super::ranges::{Range, Ranges};
use recovery::Recovery;

/// First window of a connection [segments] (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// Segments that arrived beyond a hole before it is a loss (RFC 6675, DupThresh).
const BEYOND: u64 = 3;

/// Longest retransmission timeout [ps]: 60 s (RFC 6298 section 2.5).
const LONGEST_TIMEOUT: u64 = 60 * 1_000_000_000_000;

/// Timeouts in a row after which a connection is given up: Linux's `tcp_retries2`.
const MOST_TIMEOUTS: u32 = 15;

/// Longest wait for a second segment before one is acknowledged alone [ps]: Linux's 40 ms.
pub(super) const DELAYED_ACKNOWLEDGEMENT: u64 = 40_000_000_000;

/// Least wait for a probe beyond two round trips [ps]: two ticks of Linux's clock at 250 Hz.
const TIMER_TICKS: u64 = 8_000_000_000;

/// How the retransmission timer is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Always this long [ps]: a sender that does not measure the way.
    Fixed(u64),
    /// From round-trip times, at least this long [ps] (RFC 6298).
    Measured {
        /// Shortest timeout [ps].
        least: u64,
    },
}

/// The segment that asks for an answer where a tail may be lost (RFC 8985 section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TailProbe {
    /// Not needed so far.
    None,
    /// To be sent, whatever the window.
    Due,
    /// This segment, under way.
    Sent(u64),
}

/// The sending end.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    timer: Timer,
    /// First segment that is not acknowledged.
    pub(super) unacknowledged: u64,
    /// Next segment to send.
    pub(super) next: u64,
    /// First segment that was never sent.
    highest: u64,
    /// Congestion window [segments], in 1/65536 so that congestion avoidance is exact in integers.
    window: u64,
    threshold: u64,
    /// What arrived beyond the first hole.
    arrived: Ranges,
    recovery: Option<Recovery>,
    /// Room that the peer announced, as the first segment that it has none for.
    pub(super) room_until: u64,
    smoothed: u64,
    variation: u64,
    backoff: u32,
    /// The segment whose round trip is measured, and when it was sent.
    probe: Option<(u64, u64)>,
    tail_probe: TailProbe,
    in_a_row: u32,
    /// Timeouts that fired.
    pub(super) timeouts: u64,
    /// Segments sent more than once.
    pub(super) retransmitted: u64,
}

/// One segment in the fixed point of the window.
const ONE: u64 = 1 << 16;

impl Sender {
    pub(super) fn new(timer: Timer, room: u64) -> Self {
        Self {
            timer,
            unacknowledged: 0,
            next: 0,
            highest: 0,
            window: INITIAL_WINDOW * ONE,
            threshold: u64::MAX,
            arrived: Ranges::default(),
            recovery: None,
            room_until: room,
            smoothed: 0,
            variation: 0,
            backoff: 0,
            probe: None,
            tail_probe: TailProbe::None,
            in_a_row: 0,
            timeouts: 0,
            retransmitted: 0,
        }
    }

    /// Segments sent and not acknowledged.
    pub(super) fn in_flight(&self) -> u64 {
        self.next - self.unacknowledged
    }

    /// Segments that are still under way, as far as the sender knows (RFC 6675, pipe).
    fn under_way(&self) -> u64 {
        let lost = |recovery: &Recovery| recovery.lost(self.unacknowledged, &self.arrived);
        self.in_flight() - self.arrived.len() - self.recovery.as_ref().map_or(0, lost)
    }

    /// The next segment to send, where window and room allow one. `available` is the number of
    /// segments that the process has written so far.
    pub(super) fn turn(&mut self, now: u64, available: u64) -> Option<u64> {
        let fresh = self.next < self.room_until && self.next < available.max(self.highest);
        if self.tail_probe == TailProbe::Due {
            self.tail_probe = TailProbe::Sent(if fresh { self.next } else { self.next - 1 });
            return Some(if fresh { self.send_next(now) } else { self.repeat(self.next - 1) });
        }
        let open = self.under_way() < self.window / ONE;
        if let Some(recovery) = &mut self.recovery
            && let Some(lost) = recovery.next(open, self.unacknowledged, &self.arrived)
        {
            recovery.sent(lost, self.highest);
            return Some(self.repeat(lost));
        }
        (open && fresh).then(|| self.send_next(now))
    }

    fn send_next(&mut self, now: u64) -> u64 {
        let segment = self.next;
        self.next += 1;
        if segment < self.highest {
            return self.repeat(segment);
        }
        self.highest = self.next;
        self.probe = self.probe.or(Some((segment, now)));
        segment
    }

    /// A segment that was sent twice says nothing of the round trip (Karn's rule).
    fn repeat(&mut self, segment: u64) -> u64 {
        self.retransmitted += 1;
        self.probe = None;
        segment
    }

    /// An acknowledgement: all before `expected` arrived, `beyond` arrived behind a hole, and there is
    /// room until `room_until`.
    pub(super) fn acknowledged(&mut self, expected: u64, room_until: u64, beyond: Range, now: u64) {
        self.room_until = self.room_until.max(room_until);
        // After a timeout the sender has gone back: what is beyond it will be sent again.
        if beyond.0 < beyond.1 && beyond.1 <= self.next {
            self.arrived.add(beyond);
        }
        if expected > self.unacknowledged {
            self.advance(expected, now);
        }
        self.arrived.remove_below(self.unacknowledged);
        self.find_losses();
    }

    fn advance(&mut self, expected: u64, now: u64) {
        let fresh = expected - self.unacknowledged;
        self.unacknowledged = expected;
        self.in_a_row = 0;
        self.tail_probe = TailProbe::None;
        self.next = self.next.max(expected);
        self.backoff = 0;
        if let Some((_, sent)) = self.probe.filter(|(segment, _)| *segment < expected) {
            self.measure(now - sent);
            self.probe = None;
        }
        match &self.recovery {
            Some(recovery) if recovery.is_over(expected) => {
                self.recovery = None;
                self.window = self.threshold.max(2 * ONE);
            }
            Some(_) => {}
            None => self.grow(fresh),
        }
    }

    /// A hole with enough beyond it is a loss; the first one begins a recovery.
    fn find_losses(&mut self) {
        let lost_until = self.arrived.begin_of_last(BEYOND).or_else(|| self.begin_of_lost_tail());
        if let Some(recovery) = &mut self.recovery {
            recovery.learn(lost_until.unwrap_or(0), self.unacknowledged, &self.arrived);
        } else if let Some(lost_until) = lost_until {
            self.halve();
            self.window = self.threshold;
            self.recovery = Some(Recovery::new(self.unacknowledged, self.next, lost_until));
        }
    }

    /// Everything before a probe that arrived is there or lost: it was sent long before.
    fn begin_of_lost_tail(&self) -> Option<u64> {
        let TailProbe::Sent(segment) = self.tail_probe else { return None };
        self.arrived.containing(segment).map(|(begin, _)| begin)
    }

    fn grow(&mut self, fresh: u64) {
        if self.window < self.threshold {
            self.window += fresh * ONE;
        } else {
            self.window += (fresh * ONE * ONE / self.window).max(1);
        }
        // A window far beyond the room means nothing and must not overflow.
        self.window = self.window.min(1 << 40);
    }

    fn halve(&mut self) {
        self.threshold = (self.in_flight() * ONE / 2).max(2 * ONE);
    }

    /// Nothing was acknowledged for too long.
    pub(super) fn expired(&mut self) {
        if self.may_probe() {
            self.tail_probe = TailProbe::Due;
        } else {
            self.timed_out();
        }
    }

    /// Whether a probe comes before the timeout: once, where nothing is known to be lost and the
    /// sender measures the way.
    fn may_probe(&self) -> bool {
        self.smoothed > 0
            && self.in_flight() > 0
            && self.in_a_row == 0
            && self.tail_probe == TailProbe::None
            && self.recovery.is_none()
            && matches!(self.timer, Timer::Measured { .. })
    }

    /// The retransmission timer fired: everything unacknowledged is sent again, slowly.
    fn timed_out(&mut self) {
        self.in_a_row += 1;
        self.timeouts += 1;
        self.halve();
        self.window = ONE;
        self.recovery = None;
        self.tail_probe = TailProbe::None;
        self.arrived = Ranges::default();
        self.backoff = (self.backoff + 1).min(16);
        self.probe = None;
        // Go back: what is still under way counts as lost (RFC 5681 section 3.1).
        self.next = self.unacknowledged;
    }

    /// Whether the connection is given up after too many timeouts in a row.
    pub(super) fn given_up(&self) -> bool {
        self.in_a_row > MOST_TIMEOUTS
    }

    /// How long to wait for an acknowledgement before something is done about it [ps].
    pub(super) fn patience(&self) -> u64 {
        if !self.may_probe() {
            return self.timeout();
        }
        // One segment alone may be answered late.
        let late = if self.in_flight() == 1 { DELAYED_ACKNOWLEDGEMENT } else { TIMER_TICKS };
        (2 * self.smoothed + late).min(self.timeout())
    }

    /// The retransmission timeout [ps].
    fn timeout(&self) -> u64 {
        match self.timer {
            Timer::Fixed(time) => time,
            Timer::Measured { least } => {
                let measured = self.smoothed + 4 * self.variation;
                // One second until a round trip is known (RFC 6298 section 2.1).
                let measured = if self.smoothed == 0 { 1_000_000_000_000 } else { measured };
                (measured.max(least) << self.backoff).min(LONGEST_TIMEOUT)
            }
        }
    }

    fn measure(&mut self, round_trip: u64) {
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (round_trip.max(1), round_trip / 2);
            return;
        }
        self.variation = (3 * self.variation + self.smoothed.abs_diff(round_trip)) / 4;
        self.smoothed = (7 * self.smoothed + round_trip) / 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn sent(sender: &mut Sender, now: u64) -> Vec<u64> {
        let mut segments = Vec::new();
        while let Some(segment) = sender.turn(now, u64::MAX) {
            segments.push(segment);
        }
        segments
    }

    #[test]
    fn slow_start_doubles_the_window_each_round_trip() {
        let mut sender = Sender::new(Timer::Measured { least: 200 * MS }, u64::MAX);
        assert_eq!(sent(&mut sender, 0), (0..10).collect::<Vec<_>>());
        sender.acknowledged(10, u64::MAX, (0, 0), MS);
        assert_eq!(sent(&mut sender, MS), (10..30).collect::<Vec<_>>());
    }

    #[test]
    fn three_segments_beyond_a_hole_send_it_again_and_halve_the_window() {
        let mut sender = Sender::new(Timer::Measured { least: 200 * MS }, u64::MAX);
        sent(&mut sender, 0);
        for end in [2, 3] {
            sender.acknowledged(0, u64::MAX, (1, end), MS);
            assert_eq!(sender.turn(MS, 10), None);
        }
        sender.acknowledged(0, u64::MAX, (1, 4), MS);
        assert_eq!(sent(&mut sender, MS), [0]);
        // Six are under way, and the window is five.
        sender.acknowledged(0, u64::MAX, (1, 7), MS);
        assert_eq!(sent(&mut sender, MS), [10]);
        sender.acknowledged(11, u64::MAX, (0, 0), 2 * MS);
        assert_eq!(sent(&mut sender, 2 * MS), (11..16).collect::<Vec<_>>());
        assert_eq!((sender.retransmitted, sender.timeouts), (1, 0));
    }

    #[test]
    fn a_burst_of_losses_is_sent_again_without_what_arrived() {
        let mut sender = Sender::new(Timer::Measured { least: 200 * MS }, u64::MAX);
        sent(&mut sender, 0);
        sender.acknowledged(10, u64::MAX, (0, 0), MS);
        sent(&mut sender, MS);
        // Of 10 to 29, everything but 10 to 14 and 18 to 19 arrives.
        sender.acknowledged(10, u64::MAX, (15, 18), 2 * MS);
        sender.acknowledged(10, u64::MAX, (20, 30), 2 * MS);
        assert_eq!(sent(&mut sender, 2 * MS), [10, 11, 12, 13, 14, 18, 19, 30, 31, 32]);
        assert_eq!((sender.retransmitted, sender.timeouts), (7, 0));
    }

    #[test]
    fn a_retransmission_is_lost_where_something_sent_later_arrives() {
        let mut sender = Sender::new(Timer::Measured { least: 200 * MS }, u64::MAX);
        sent(&mut sender, 0);
        sender.acknowledged(0, u64::MAX, (1, 7), MS);
        assert_eq!(sent(&mut sender, MS), [0, 10]);
        sender.acknowledged(0, u64::MAX, (1, 10), 2 * MS);
        assert_eq!(sent(&mut sender, 2 * MS), [11, 12, 13]);
        // 10 went out after the second 0.
        sender.acknowledged(0, u64::MAX, (1, 11), 3 * MS);
        assert_eq!(sent(&mut sender, 3 * MS), [0, 14]);
        sender.acknowledged(15, u64::MAX, (0, 0), 4 * MS);
        assert_eq!((sender.retransmitted, sender.timeouts), (2, 0));
    }

    #[test]
    fn of_retransmissions_the_later_ones_tell_of_the_earlier_ones() {
        let mut sender = Sender::new(Timer::Measured { least: 200 * MS }, u64::MAX);
        sent(&mut sender, 0);
        // 0 to 5 are lost, 2 and 3 a second time, and 0 a third time: 5 went out after its second.
        sender.acknowledged(0, u64::MAX, (6, 10), MS);
        assert_eq!(sent(&mut sender, MS), [0, 1, 2, 3, 4]);
        sender.acknowledged(0, u64::MAX, (1, 2), 2 * MS);
        assert_eq!(sent(&mut sender, 2 * MS), [0, 5]);
        sender.acknowledged(0, u64::MAX, (4, 10), 3 * MS);
        assert_eq!(sent(&mut sender, 3 * MS), [2, 3, 0, 10, 11]);
    }

    #[test]
    fn a_timeout_goes_back_to_the_first_hole_with_a_window_of_one() {
        let mut sender = Sender::new(Timer::Fixed(MS), u64::MAX);
        sent(&mut sender, 0);
        sender.expired();
        assert_eq!(sent(&mut sender, MS), [0]);
        sender.acknowledged(1, u64::MAX, (0, 0), 2 * MS);
        assert_eq!(sent(&mut sender, 2 * MS), [1, 2]);
    }

    #[test]
    fn the_timer_follows_the_way_and_backs_off() {
        let mut sender = Sender::new(Timer::Measured { least: 1 }, u64::MAX);
        sent(&mut sender, 0);
        sender.acknowledged(1, u64::MAX, (0, 0), 100 * MS);
        assert_eq!(sender.timeout(), 300 * MS);
        sender.timed_out();
        assert_eq!(sender.timeout(), 600 * MS);
    }

    #[test]
    fn a_tail_that_is_lost_is_found_by_a_probe_after_two_round_trips() {
        let mut sender = Sender::new(Timer::Measured { least: 200 * MS }, u64::MAX);
        sent(&mut sender, 0);
        sender.acknowledged(2, u64::MAX, (0, 0), 10 * MS);
        assert_eq!(sender.patience(), 28 * MS);
        let all = sender.next;
        sender.expired();
        assert_eq!(sender.turn(30 * MS, all), Some(all - 1));
        assert_eq!((sender.turn(30 * MS, all), sender.patience()), (None, 200 * MS));
        sender.acknowledged(2, u64::MAX, (all - 1, all), 40 * MS);
        let again: Vec<_> = std::iter::from_fn(|| sender.turn(40 * MS, all)).collect();
        assert_eq!(again, [2, 3, 4, 5]);
        assert_eq!(sender.timeouts, 0);
    }

    #[test]
    fn the_peers_room_holds_the_sender_back() {
        let mut sender = Sender::new(Timer::Fixed(MS), 4);
        assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3]);
        sender.acknowledged(2, 6, (0, 0), MS);
        assert_eq!(sent(&mut sender, MS), [4, 5]);
    }
}
