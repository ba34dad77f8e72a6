//! A recovery from losses: which holes are lost and not sent again yet (RFC 6675), and which of those
//! that were sent again are lost once more (RFC 8985: something sent later has arrived).
//!
//! ```text
//! acknowledged │ hole  arrived  hole  arrived │ hole  hole │ arrived  never sent
//!              ▲       sent again             ▲ resend     ▲ lost until
//! ```

use std::collections::VecDeque;

use crate::machine::ranges::Ranges;

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    segment: u64,
    /// First segment that had never been sent by then.
    before: u64,
}

/// One recovery, from the first loss until everything is acknowledged that was sent by then.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    end: u64,
    /// Holes are lost up to here, and sent again from there.
    lost_until: u64,
    resend: u64,
    /// The first hole is sent again whatever is under way.
    at_once: bool,
    /// In the order in which they were sent; those that are known to be lost or there are gone.
    under_way: VecDeque<Retransmission>,
    /// Those that were lost in their turn.
    lost_again: VecDeque<u64>,
}

impl Recovery {
    /// Segments from `unacknowledged` to before `next` were sent; holes before `lost_until` are lost.
    pub(super) fn new(unacknowledged: u64, next: u64, lost_until: u64) -> Self {
        Self {
            end: next,
            lost_until,
            resend: unacknowledged,
            at_once: true,
            under_way: VecDeque::new(),
            lost_again: VecDeque::new(),
        }
    }

    /// Whether it is over once everything before a segment is acknowledged.
    pub(super) fn is_over(&self, acknowledged: u64) -> bool {
        acknowledged >= self.end
    }

    /// More holes turn out to be lost, and retransmissions to be lost or there.
    pub(super) fn learn(&mut self, lost_until: u64, acknowledged: u64, arrived: &Ranges) {
        self.lost_until = self.lost_until.max(lost_until);
        let missing =
            |segment: u64| segment >= acknowledged && arrived.containing(segment).is_none();
        let there = |sent: &Retransmission| !missing(sent.segment);
        let mut judged = self.under_way.iter().rposition(there).map_or(0, |newest| newest + 1);
        let highest = arrived.end();
        while let Some(sent) =
            self.under_way.pop_front_if(|sent| judged > 0 || sent.before < highest)
        {
            judged = judged.saturating_sub(1);
            self.lost_again.push_back(sent.segment);
        }
        self.lost_again.retain(|segment| missing(*segment));
    }

    /// Segments that are lost and not sent again.
    pub(super) fn lost(&self, acknowledged: u64, arrived: &Ranges) -> u64 {
        let from = self.resend.max(acknowledged);
        let holes = self.lost_until.saturating_sub(from);
        holes - arrived.within(from, from + holes) + self.lost_again.len() as u64
    }

    /// The next segment to send again, where the window is open or need not be.
    pub(super) fn next(&self, open: bool, acknowledged: u64, arrived: &Ranges) -> Option<u64> {
        if !open && !self.at_once {
            return None;
        }
        if let Some(again) = self.lost_again.front() {
            return Some(*again);
        }
        let from = self.resend.max(acknowledged);
        let hole = arrived.containing(from).map_or(from, |(_, end)| end);
        (hole < self.lost_until).then_some(hole)
    }

    /// A segment was sent again; `never_sent` is the first one that was not sent at all so far.
    pub(super) fn sent(&mut self, segment: u64, never_sent: u64) {
        self.at_once = false;
        if self.lost_again.pop_front_if(|again| *again == segment).is_none() {
            self.resend = segment + 1;
        }
        self.under_way.push_back(Retransmission { segment, before: never_sent });
    }
}
