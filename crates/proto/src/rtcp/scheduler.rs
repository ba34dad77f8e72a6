//! When a participant reports and says goodbye, [RFC 3550 section 6.3](https://www.rfc-editor.org/rfc/rfc3550#section-6.3).
//!
//! ```text
//! join ──► interval ──► deadline [ns] ──► timer ──┬─ too early by now's counts ──► later deadline
//!                          ▲                      └─ report ──► sent ──► interval
//!                          └── members gone: earlier deadline
//! leave ──► goodbye at once, or an interval over the goodbyes of others ──► timer ──► goodbye
//! ```

use super::interval::{Budget, Counts, randomised_ns};

/// From this many members on, goodbyes take turns (section 6.3.7).
const BACK_OFF_MEMBERS: u32 = 50;

/// Weight of a packet in the average of sizes (section 6.3.3).
const AVERAGE_GAIN: f64 = 1.0 / 16.0;

/// Reporting intervals without data after which a sender is none (section 6.3.5).
const SENDER_TIMEOUT_INTERVALS: u64 = 2;

/// What the timer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Send a report now, and say so by [`Scheduler::on_sent`].
    Report,
    /// Send the goodbye now; nothing follows.
    Goodbye,
    /// Nothing before the deadline.
    Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    Member,
    /// With a goodbye to send; members are those who said theirs since, and this one.
    Leaving {
        members: u32,
    },
    Left,
}

/// The timer of one participant. Who the members are is another table's business: their counts are arguments,
/// as is time [ns], of any clock that does not go back, and chance, uniform in 0 to 1, 1 excluded. Sizes of
/// packets count their headers of IP and UDP [B].
#[derive(Clone, Debug)]
pub struct Scheduler {
    budget: Budget,
    membership: Membership,
    last_sent_ns: u64,
    deadline_ns: u64,
    interval_ns: u64,
    /// Members when the deadline was set.
    previous_members: u32,
    average_bytes: f64,
    initial: bool,
    has_sent: bool,
}

impl Scheduler {
    /// Joins, alone as far as is known. The first packet will probably have `first_bytes` (section 6.3.2).
    #[must_use]
    pub fn join(now_ns: u64, budget: Budget, first_bytes: u32, random: f64) -> Self {
        let mut scheduler = Self {
            budget,
            membership: Membership::Member,
            last_sent_ns: now_ns,
            deadline_ns: now_ns,
            interval_ns: 0,
            previous_members: 1,
            average_bytes: f64::from(first_bytes),
            initial: true,
            has_sent: false,
        };
        scheduler.draw(ALONE, random);
        scheduler.deadline_ns = now_ns.saturating_add(scheduler.interval_ns);
        scheduler
    }

    /// When [`Scheduler::on_timer`] wants to be called [ns]; never after the goodbye.
    #[inline]
    #[must_use]
    pub fn deadline_ns(&self) -> Option<u64> {
        (self.membership != Membership::Left).then_some(self.deadline_ns)
    }

    /// Average size of the RTCP packets of the session [B].
    #[must_use]
    pub fn average_bytes(&self) -> f64 {
        self.average_bytes
    }

    /// Silence after which a member is gone [ns] (section 6.3.5).
    #[must_use]
    pub fn member_timeout_ns(&self, counts: Counts) -> u64 {
        self.budget.member_timeout_ns(counts, self.average_bytes)
    }

    /// Time without data after which a sender is none, this participant too [ns] (sections 6.3.5 and 6.3.8).
    #[must_use]
    pub fn sender_timeout_ns(&self) -> u64 {
        self.interval_ns.saturating_mul(SENDER_TIMEOUT_INTERVALS)
    }

    /// A compound packet without a goodbye came (section 6.3.3).
    pub fn on_rtcp(&mut self, bytes: u32) {
        if self.membership == Membership::Member {
            self.average(bytes);
        }
    }

    /// A compound packet with a goodbye came, which leaves so many members (sections 6.3.4 and 6.3.7).
    pub fn on_goodbye(&mut self, now_ns: u64, bytes: u32, members: u32) {
        self.average(bytes);
        match &mut self.membership {
            Membership::Member => self.on_members_gone(now_ns, members),
            Membership::Leaving { members } => *members = members.saturating_add(1),
            Membership::Left => {}
        }
    }

    /// Members said goodbye or timed out, so many are left: what they do not use any more brings the deadline
    /// nearer, reverse reconsideration (section 6.3.4).
    pub fn on_members_gone(&mut self, now_ns: u64, members: u32) {
        if self.membership != Membership::Member || members >= self.previous_members {
            return;
        }
        let part = |ns: u64| scale(ns, members, self.previous_members);
        self.deadline_ns = now_ns + part(self.deadline_ns.saturating_sub(now_ns));
        self.last_sent_ns = now_ns - part(now_ns.saturating_sub(self.last_sent_ns));
        self.previous_members = members;
    }

    /// The deadline has come: by the counts of now it may be too early, timer reconsideration (section 6.3.6).
    pub fn on_timer(&mut self, now_ns: u64, counts: Counts, random: f64) -> Timer {
        self.has_sent |= counts.we_sent;
        let (due, counts) = match self.membership {
            Membership::Member => (Timer::Report, counts),
            Membership::Leaving { members } => (Timer::Goodbye, Counts { members, ..ALONE }),
            Membership::Left => return Timer::Wait,
        };
        if now_ns < self.deadline_ns {
            return Timer::Wait;
        }
        self.draw(counts, random);
        self.deadline_ns = self.last_sent_ns.saturating_add(self.interval_ns);
        if self.deadline_ns > now_ns {
            return Timer::Wait;
        }
        if due == Timer::Goodbye {
            self.membership = Membership::Left;
        }
        due
    }

    /// The report that the timer asked for was sent. The next interval is drawn anew: the one that led here was
    /// short, or it would not have (section 6.3.6).
    pub fn on_sent(&mut self, now_ns: u64, bytes: u32, counts: Counts, random: f64) {
        if self.membership != Membership::Member {
            return;
        }
        self.average(bytes);
        (self.initial, self.has_sent) = (false, true);
        self.last_sent_ns = now_ns;
        self.draw(counts, random);
        self.deadline_ns = now_ns.saturating_add(self.interval_ns);
    }

    /// Leaves, with a goodbye of this size: at once in a small session, by the timer in a large one, without one
    /// if nothing was ever sent (section 6.3.7).
    pub fn leave(&mut self, now_ns: u64, counts: Counts, bytes: u32, random: f64) -> Timer {
        if self.membership != Membership::Member {
            return Timer::Wait;
        }
        self.membership = Membership::Left;
        if !(self.has_sent || counts.we_sent) {
            return Timer::Wait;
        }
        if counts.members < BACK_OFF_MEMBERS {
            return Timer::Goodbye;
        }
        self.membership = Membership::Leaving { members: 1 };
        (self.last_sent_ns, self.initial) = (now_ns, true);
        self.average_bytes = f64::from(bytes);
        self.draw(ALONE, random);
        self.deadline_ns = now_ns.saturating_add(self.interval_ns);
        Timer::Wait
    }

    fn draw(&mut self, counts: Counts, random: f64) {
        let budget = &self.budget;
        let deterministic_ns =
            budget.deterministic_interval_ns(counts, self.average_bytes, self.initial);
        self.interval_ns = randomised_ns(deterministic_ns, random);
        self.previous_members = counts.members;
    }

    fn average(&mut self, bytes: u32) {
        self.average_bytes += (f64::from(bytes) - self.average_bytes) * AVERAGE_GAIN;
    }
}

/// What a participant knows that has heard nobody.
const ALONE: Counts = Counts { members: 1, senders: 0, we_sent: false };

/// The part of a time that is left when so many of the members are [ns].
fn scale(ns: u64, members: u32, of: u32) -> u64 {
    let part = u128::from(ns) * u128::from(members) / u128::from(of.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtcp::Minimum;

    const S: u64 = 1_000_000_000;

    /// Chance that leaves the interval as it is, but for the compensation.
    const MIDDLE: f64 = 0.5;

    fn counts(members: u32, senders: u32, we_sent: bool) -> Counts {
        Counts { members, senders, we_sent }
    }

    /// 400 B/s of RTCP, packets of 100 B.
    fn joined(now_ns: u64) -> Scheduler {
        let budget = Budget::new(64_000, Minimum::Fixed).unwrap();
        Scheduler::join(now_ns, budget, 100, MIDDLE)
    }

    #[test]
    fn two_members_report_after_half_the_minimum_and_then_by_the_whole() {
        let mut scheduler = joined(10 * S);
        let first_ns = 10 * S + 2_052_070_335;
        assert_eq!(scheduler.deadline_ns(), Some(first_ns));
        let two = counts(2, 1, false);
        assert_eq!(scheduler.on_timer(first_ns - 1, two, MIDDLE), Timer::Wait);
        assert_eq!(scheduler.on_timer(first_ns, two, MIDDLE), Timer::Report);
        scheduler.on_sent(first_ns, 100, two, MIDDLE);
        assert_eq!(scheduler.deadline_ns(), Some(first_ns + 4_104_140_670));
        assert_eq!(scheduler.sender_timeout_ns(), 2 * 4_104_140_670);
        assert_eq!(scheduler.member_timeout_ns(two), 25 * S);
    }

    #[test]
    fn a_report_that_was_asked_for_and_not_sent_is_asked_for_again() {
        let mut scheduler = joined(0);
        for _ in 0..2 {
            assert_eq!(scheduler.on_timer(3 * S, counts(2, 0, false), MIDDLE), Timer::Report);
        }
    }

    #[test]
    fn a_session_that_grew_puts_the_report_off() {
        let mut scheduler = joined(0);
        let thousand = counts(1000, 10, false);
        assert_eq!(scheduler.on_timer(3 * S, thousand, MIDDLE), Timer::Wait);
        assert_eq!(scheduler.deadline_ns(), Some(270_873_284_236));
        assert_eq!(scheduler.on_timer(270_873_284_236, thousand, 0.0), Timer::Report);
        let mut unlucky = joined(0);
        assert_eq!(unlucky.on_timer(270_873_284_236, thousand, 0.6), Timer::Wait);
    }

    #[test]
    fn members_that_go_bring_the_report_nearer_in_proportion() {
        let mut scheduler = joined(0);
        (scheduler.last_sent_ns, scheduler.deadline_ns) = (100 * S, 140 * S);
        scheduler.previous_members = 8;
        scheduler.on_goodbye(120 * S, 100, 2);
        // A quarter is left: of the 20 s to come 5, and of the 20 s that passed 5.
        assert_eq!((scheduler.last_sent_ns, scheduler.deadline_ns), (115 * S, 125 * S));
        assert_eq!(scheduler.previous_members, 2);
        scheduler.on_members_gone(120 * S, 2);
        scheduler.on_members_gone(120 * S, 3);
        assert_eq!(scheduler.deadline_ns, 125 * S);
        scheduler.on_members_gone(130 * S, 1);
        assert_eq!((scheduler.last_sent_ns, scheduler.deadline_ns), (122_500_000_000, 130 * S));
    }

    #[test]
    fn the_average_size_follows_a_sixteenth_of_the_way() {
        let mut scheduler = joined(0);
        scheduler.on_rtcp(260);
        assert_eq!(scheduler.average_bytes(), 110.0);
        scheduler.on_goodbye(0, 270, 1);
        assert_eq!(scheduler.average_bytes(), 120.0);
        scheduler.on_sent(0, 120, ALONE, MIDDLE);
        assert_eq!(scheduler.average_bytes(), 120.0);
    }

    #[test]
    fn who_never_sent_leaves_without_a_goodbye() {
        for members in [2, 1000] {
            let mut scheduler = joined(0);
            assert_eq!(scheduler.leave(S, counts(members, 1, false), 80, MIDDLE), Timer::Wait);
            assert_eq!(scheduler.deadline_ns(), None);
        }
    }

    #[test]
    fn in_a_small_session_the_goodbye_is_sent_at_once_and_only_once() {
        let mut scheduler = joined(0);
        let few = counts(49, 1, true);
        assert_eq!(scheduler.leave(S, few, 80, MIDDLE), Timer::Goodbye);
        assert_eq!(scheduler.deadline_ns(), None);
        assert_eq!(scheduler.leave(S, few, 80, MIDDLE), Timer::Wait);
        assert_eq!(scheduler.on_timer(100 * S, few, MIDDLE), Timer::Wait);
    }

    #[test]
    fn in_a_large_session_the_goodbye_waits_for_those_of_others() {
        let mut scheduler = joined(0);
        let many = counts(1000, 10, false);
        scheduler.on_sent(S, 100, many, MIDDLE);
        assert_eq!(scheduler.leave(10 * S, many, 60, MIDDLE), Timer::Wait);
        assert_eq!(scheduler.deadline_ns(), Some(12_052_070_335));
        // Reports do not count any more, goodbyes do: 300 and this one, of 60 B, share 300 B/s.
        scheduler.on_rtcp(1000);
        (0..299).for_each(|_| scheduler.on_goodbye(11 * S, 60, 0));
        assert_eq!(scheduler.average_bytes(), 60.0);
        assert_eq!(scheduler.on_timer(13 * S, many, MIDDLE), Timer::Wait);
        // 60 s, over e - 3/2.
        assert_eq!(scheduler.deadline_ns(), Some(10 * S + 49_249_688_043));
        assert_eq!(scheduler.on_timer(60 * S, many, MIDDLE), Timer::Goodbye);
        assert_eq!(scheduler.deadline_ns(), None);
        scheduler.on_sent(60 * S, 60, many, MIDDLE);
        assert_eq!(scheduler.deadline_ns(), None);
    }

    #[test]
    fn who_sent_data_but_no_report_says_goodbye() {
        let mut scheduler = joined(0);
        assert_eq!(scheduler.on_timer(S, counts(2, 1, true), MIDDLE), Timer::Wait);
        assert_eq!(scheduler.leave(2 * S, counts(2, 0, false), 80, MIDDLE), Timer::Goodbye);
    }

    proptest! {
        #[test]
        fn whatever_happens_the_next_report_is_within_reach_and_not_before_the_last(
            events in prop::collection::vec((0_u8..4, 0_u64..20, 1_u32..2000, 0.0..1.0), 0..60),
        ) {
            let (mut scheduler, mut now_ns, mut last_ns) = (joined(0), 0, 0);
            for (event, seconds, members, random) in events {
                now_ns += seconds * S;
                let counts = counts(members, members / 8, false);
                match event {
                    0 => scheduler.on_rtcp(members),
                    1 => scheduler.on_goodbye(now_ns, 100, members),
                    2 => scheduler.on_members_gone(now_ns, members),
                    _ => if scheduler.on_timer(now_ns, counts, random) == Timer::Report {
                        // Half of half the minimum, over e - 3/2, is the least that chance gives.
                        prop_assert!(now_ns >= last_ns);
                        scheduler.on_sent(now_ns, 100, counts, random);
                        prop_assert!(scheduler.deadline_ns().unwrap() >= now_ns + 2 * S);
                        last_ns = now_ns;
                    },
                }
                prop_assert!(scheduler.last_sent_ns <= now_ns);
                // 2000 members of 2000 B at 300 B/s, half as much again.
                let longest_ns = 2000 * 2000 / 300 * 3 / 2 * S;
                prop_assert!(scheduler.deadline_ns().unwrap() <= now_ns + longest_ns);
            }
        }
    }
}
