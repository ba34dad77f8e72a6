//! One TCP connection, counted in segments: selective acknowledgements and a retransmission timer.
//!
//! ```text
//! Sender ──segment [number]──► Receiver      window <= min(congestion window, peer's room)
//!    ▲                            │
//!    └──── acknowledgement ◄──────┘          next number expected, room [segments],
//! ```                                        range that arrived last beyond a hole
//!
//! Congestion control is RFC 5681 with the recovery of RFC 6675, the timer is RFC 6298, delayed
//! acknowledgements are RFC 1122 section 4.2.3.2. Windows are segments of full size: what the
//! model asks of TCP are its stalls and its retransmissions, not its bytes.

mod receiver;

pub(super) use receiver::Receiver;

use super::ranges::{Range, Ranges};

/// First window of a connection [segments] (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// Segments that arrived beyond a hole before it is a loss (RFC 6675, DupThresh).
const BEYOND: u64 = 3;

/// Longest retransmission timeout [ps]: 60 s (RFC 6298 section 2.5).
const LONGEST_TIMEOUT: u64 = 60 * 1_000_000_000_000;

/// Timeouts in a row after which a connection is given up: Linux's `tcp_retries2`.
const MOST_TIMEOUTS: u32 = 15;

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

/// What a sender may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Send this segment; it was sent before where the flag is set.
    Send(u64, bool),
    /// Wait for acknowledgements.
    Wait,
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
    /// Recovery ends once everything before this segment is acknowledged.
    recover: Option<u64>,
    /// Holes are lost up to here, and sent again from there.
    lost_until: u64,
    resend: u64,
    /// The first hole of a recovery is sent again whatever is under way.
    at_once: bool,
    /// Room that the peer announced, as the first segment that it has none for.
    pub(super) room_until: u64,
    smoothed: u64,
    variation: u64,
    backoff: u32,
    /// The segment whose round trip is measured, and when it was sent.
    probe: Option<(u64, u64)>,
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
            recover: None,
            lost_until: 0,
            resend: 0,
            at_once: false,
            room_until: room,
            smoothed: 0,
            variation: 0,
            backoff: 0,
            probe: None,
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
        let from = self.resend.max(self.unacknowledged);
        let lost = if self.recover.is_some() && from < self.lost_until {
            self.lost_until - from - self.arrived.within(from, self.lost_until)
        } else {
            0
        };
        self.in_flight() - self.arrived.len() - lost
    }

    /// The first hole that is lost and not sent again.
    fn next_hole(&self) -> Option<u64> {
        self.recover?;
        let from = self.resend.max(self.unacknowledged);
        let hole = self.arrived.containing(from).map_or(from, |(_, end)| end);
        (hole < self.lost_until).then_some(hole)
    }

    /// The next segment to send, where window and room allow it. `available` is the number of
    /// segments that the process has written so far.
    pub(super) fn turn(&mut self, now: u64, available: u64) -> Turn {
        let open = self.under_way() < self.window / ONE;
        if let Some(hole) = self.next_hole().filter(|_| open || self.at_once) {
            self.at_once = false;
            self.resend = hole + 1;
            self.retransmitted += 1;
            self.probe = None;
            return Turn::Send(hole, true);
        }
        if !open || self.next >= self.room_until || self.next >= available.max(self.highest) {
            return Turn::Wait;
        }
        let segment = self.next;
        self.next += 1;
        let again = segment < self.highest;
        if again {
            self.retransmitted += 1;
        } else {
            self.highest = self.next;
            // A segment that was sent twice says nothing of the round trip (Karn's rule).
            self.probe = self.probe.or(Some((segment, now)));
        }
        Turn::Send(segment, again)
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
        self.next = self.next.max(expected);
        self.backoff = 0;
        if let Some((_, sent)) = self.probe.filter(|(segment, _)| *segment < expected) {
            self.measure(now - sent);
            self.probe = None;
        }
        match self.recover {
            Some(end) if expected < end => {}
            Some(_) => {
                self.recover = None;
                self.window = self.threshold.max(2 * ONE);
            }
            None => self.grow(fresh),
        }
    }

    /// A hole with enough beyond it is a loss; the first one begins a recovery.
    fn find_losses(&mut self) {
        let Some(begin) = self.arrived.begin_of_last(BEYOND) else { return };
        if self.recover.is_some() {
            self.lost_until = self.lost_until.max(begin);
            return;
        }
        self.halve();
        self.window = self.threshold;
        self.recover = Some(self.next);
        self.resend = self.unacknowledged;
        self.lost_until = begin;
        self.at_once = true;
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

    /// The retransmission timer fired: everything unacknowledged is sent again, slowly.
    pub(super) fn timed_out(&mut self) {
        self.in_a_row += 1;
        self.timeouts += 1;
        self.halve();
        self.window = ONE;
        self.recover = None;
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

    /// How long to wait for the oldest segment's acknowledgement [ps].
    pub(super) fn timeout(&self) -> u64 {
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
        while let Turn::Send(segment, _) = sender.turn(now, u64::MAX) {
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
            assert_eq!(sender.turn(MS, 10), Turn::Wait);
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
    fn a_timeout_goes_back_to_the_first_hole_with_a_window_of_one() {
        let mut sender = Sender::new(Timer::Fixed(MS), u64::MAX);
        sent(&mut sender, 0);
        sender.timed_out();
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
    fn the_peers_room_holds_the_sender_back() {
        let mut sender = Sender::new(Timer::Fixed(MS), 4);
        assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3]);
        sender.acknowledged(2, 6, (0, 0), MS);
        assert_eq!(sent(&mut sender, MS), [4, 5]);
    }
}
