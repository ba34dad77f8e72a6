//! The receive buffer of a socket as Linux keeps it.
//!
//! A datagram is accepted while the memory charged so far does not exceed the limit, so the last
//! one may overshoot it. Reading takes the whole queue over into a private one and gives memory
//! back in quarters of the limit, or when the private queue is empty: `udp_rmem_release` and
//! `__udp_enqueue_schedule_skb` in the kernel's net/ipv4/udp.c, as of Linux 4.11 and 6.15.

use std::collections::VecDeque;

use crate::job::Message;
use crate::profile::Transport;

/// A message with the memory that is charged for it.
pub(super) type Charged = (Message, u64);

/// Messages that wait to be read.
#[derive(Clone, Debug)]
pub(super) struct SocketBuffer {
    transport: Transport,
    limit: u64,
    queue: VecDeque<Charged>,
    charged: u64,
    /// Messages of the private queue that are left.
    private: usize,
    /// Memory read but not yet given back.
    withheld: u64,
}

impl SocketBuffer {
    pub(super) fn new(transport: Transport, limit: u64) -> Self {
        Self { transport, limit, queue: VecDeque::new(), charged: 0, private: 0, withheld: 0 }
    }

    /// Memory charged [B].
    pub(super) fn charged(&self) -> u64 {
        self.charged
    }

    /// Takes a message in, or refuses it.
    pub(super) fn offer(&mut self, message: Message, charge: u64) -> bool {
        let fits = self.transport == Transport::Tcp || self.charged <= self.limit;
        if fits {
            self.charged += charge;
            self.queue.push_back((message, charge));
        }
        fits
    }

    /// The oldest message.
    pub(super) fn take(&mut self) -> Option<Message> {
        if self.private == 0 {
            self.private = self.queue.len();
        }
        let (message, charge) = self.queue.pop_front()?;
        self.private -= 1;
        self.withheld += charge;
        let gives_back = self.transport == Transport::Tcp
            || self.private == 0
            || self.withheld >= self.limit / 4;
        if gives_back {
            self.charged -= self.withheld;
            self.withheld = 0;
        }
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: Message = Message { due: 0, bytes: 1, frame: 0, position: 0 };

    fn filled(limit: u64) -> (SocketBuffer, usize) {
        let mut buffer = SocketBuffer::new(Transport::Udp, limit);
        let accepted = (0..100).filter(|_| buffer.offer(MESSAGE, 10)).count();
        (buffer, accepted)
    }

    #[test]
    fn the_last_datagram_may_overshoot_the_limit() {
        assert_eq!(filled(100).1, 11);
        assert_eq!(filled(99).1, 10);
    }

    #[test]
    fn memory_comes_back_in_quarters_and_at_the_end() {
        let (mut buffer, _) = filled(100);
        let after = |buffer: &mut SocketBuffer| {
            buffer.take();
            buffer.charged()
        };
        assert_eq!([after(&mut buffer), after(&mut buffer), after(&mut buffer)], [110, 110, 80]);
        (0..8).for_each(|_| _ = buffer.take());
        assert_eq!(buffer.charged(), 0);
    }
}
