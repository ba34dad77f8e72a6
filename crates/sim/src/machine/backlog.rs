//! What waits before something that takes one thing after the other: bytes, each until a known time.

use std::collections::VecDeque;

/// Bytes with the time at which they are gone, in that order.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    waiting: VecDeque<(u64, u64)>,
    bytes: u64,
}

impl Backlog {
    /// So many bytes wait until a time, no earlier than those before them [ps, B].
    pub(super) fn push(&mut self, until: u64, bytes: u64) {
        self.waiting.push_back((until, bytes));
        self.bytes += bytes;
    }

    /// Bytes that wait still [B].
    pub(super) fn bytes(&mut self, now: u64) -> u64 {
        while let Some((_, gone)) = self.waiting.pop_front_if(|(until, _)| *until <= now) {
            self.bytes -= gone;
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_gone_at_their_time() {
        let mut backlog = Backlog::default();
        backlog.push(10, 100);
        backlog.push(20, 1);
        assert_eq!([9, 10, 19, 20].map(|now| backlog.bytes(now)), [101, 1, 1, 0]);
    }
}
