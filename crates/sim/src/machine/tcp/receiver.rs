//! The receiving end of a connection: what came in order, what waits beyond a hole, and when an
//! answer is owed (RFC 1122 section 4.2.3.2, RFC 2018).

use crate::machine::ranges::{Range, Ranges};

/// What the receiver answers to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Taken {
    /// Segments that are now in order and go to the socket.
    pub(in crate::machine) delivered: u64,
    /// Whether an acknowledgement goes out at once.
    pub(in crate::machine) acknowledge: bool,
}

/// The receiving end.
#[derive(Clone, Debug, Default)]
pub(in crate::machine) struct Receiver {
    /// Next segment in order.
    pub(in crate::machine) expected: u64,
    /// Segments beyond a hole, and the range of the last that came.
    beyond: Ranges,
    latest: Range,
    /// In order since the last acknowledgement.
    unanswered: u64,
    /// Segments that came twice.
    pub(in crate::machine) duplicates: u64,
}

/// Segments in order that one acknowledgement may answer.
const DELAYED: u64 = 2;

impl Receiver {
    /// A segment arrived.
    pub(in crate::machine) fn take(&mut self, segment: u64) -> Taken {
        let known = self.beyond.containing(segment);
        if segment < self.expected || known.is_some() {
            self.duplicates += 1;
            self.latest = known.unwrap_or(self.latest);
            return self.answer(0, true);
        }
        if segment > self.expected {
            self.latest = self.beyond.add((segment, segment + 1));
            return self.answer(0, true);
        }
        let before = self.expected;
        self.expected += 1;
        let first = self.beyond.first();
        let hole = first.is_some();
        if let Some((_, end)) = first.filter(|(begin, _)| *begin == self.expected) {
            self.expected = end;
            self.beyond.remove_below(end);
        }
        let delivered = self.expected - before;
        self.unanswered += delivered;
        self.answer(delivered, hole || self.unanswered >= DELAYED)
    }

    fn answer(&mut self, delivered: u64, acknowledge: bool) -> Taken {
        if acknowledge {
            self.unanswered = 0;
        }
        Taken { delivered, acknowledge }
    }

    /// Segments that wait beyond a hole.
    pub(in crate::machine) fn waiting(&self) -> u64 {
        self.beyond.len()
    }

    /// What an acknowledgement says of them: the range that came last, or the first one left.
    pub(in crate::machine) fn beyond(&self) -> Range {
        match self.beyond.first() {
            None => (0, 0),
            Some(_) if self.latest.0 > self.expected => self.latest,
            Some(first) => first,
        }
    }

    /// Whether something in order was not acknowledged yet.
    pub(in crate::machine) fn owes(&self) -> bool {
        self.unanswered > 0
    }

    /// An acknowledgement goes out for another reason, such as a window that opens.
    pub(in crate::machine) fn answered(&mut self) {
        self.unanswered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_beyond_a_hole_wait_and_are_delivered_with_it() {
        let mut receiver = Receiver::default();
        assert_eq!(receiver.take(0), Taken { delivered: 1, acknowledge: false });
        assert_eq!(receiver.take(2), Taken { delivered: 0, acknowledge: true });
        assert_eq!(receiver.take(2), Taken { delivered: 0, acknowledge: true });
        assert_eq!((receiver.waiting(), receiver.duplicates), (1, 1));
        assert_eq!(receiver.beyond(), (2, 3));
        assert_eq!(receiver.take(1), Taken { delivered: 2, acknowledge: true });
        assert_eq!((receiver.expected, receiver.beyond()), (3, (0, 0)));
    }
}
