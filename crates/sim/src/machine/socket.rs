//! The receive buffer of a socket: datagrams that are dropped when it is full, or the bytes of a
//! stream whose window closes.

use std::collections::VecDeque;

use crate::job::Message;

/// What a read takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// Payload [B].
    pub(super) bytes: u64,
    /// The datagram; none for a stream.
    pub(super) message: Option<Message>,
}

/// One receive buffer.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    limit: u64,
    charged: u64,
    datagrams: VecDeque<(Message, u64)>,
    stream: u64,
    /// What a byte of the stream is charged, in 1/65536.
    stream_charge_65536: u64,
}

impl Socket {
    /// A buffer of so many bytes; `segment` and `overhead` say what a full segment is charged.
    pub(super) fn new(limit: u64, segment: u64, overhead: u64) -> Self {
        let stream_charge_65536 = ((segment + overhead) << 16) / segment.max(1);
        Self { limit, charged: 0, datagrams: VecDeque::new(), stream: 0, stream_charge_65536 }
    }

    /// Another size from now on; what it holds stays.
    pub(super) fn resize(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Memory charged [B].
    pub(super) fn charged(&self) -> u64 {
        self.charged
    }

    /// Takes a datagram, or refuses it. Linux lets the last one overshoot.
    pub(super) fn offer(&mut self, message: Message, charge: u64) -> bool {
        if self.charged >= self.limit {
            return false;
        }
        self.charged += charge;
        self.datagrams.push_back((message, charge));
        true
    }

    /// Bytes of the stream that came in order: the sender kept to the window.
    pub(super) fn append(&mut self, bytes: u64) {
        self.stream += bytes;
        self.charged = (self.stream * self.stream_charge_65536) >> 16;
    }

    /// Bytes that the window still has room for [B].
    pub(super) fn room(&self) -> u64 {
        (self.limit.saturating_sub(self.charged) << 16) / self.stream_charge_65536.max(1)
    }

    /// The least that a read takes: the next datagram, or a byte of the stream; 0 where nothing is there.
    pub(super) fn waiting(&self) -> u64 {
        self.datagrams.front().map_or_else(|| self.stream.min(1), |(message, _)| message.bytes)
    }

    /// One datagram, or up to `most` bytes of the stream; none where nothing is there.
    pub(super) fn read(&mut self, most: u64) -> Option<Read> {
        if let Some((message, charge)) = self.datagrams.pop_front() {
            self.charged -= charge;
            return Some(Read { bytes: message.bytes, message: Some(message) });
        }
        let bytes = self.stream.min(most);
        if bytes == 0 {
            return None;
        }
        self.stream -= bytes;
        self.charged = (self.stream * self.stream_charge_65536) >> 16;
        Some(Read { bytes, message: None })
    }
}
