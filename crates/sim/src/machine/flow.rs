//! One flow under way: both ends of its transport, its socket, its peer's source, its counts.

use bitpath_media::Quality;

use super::description::Direction;
use super::outcome::FlowOutcome;
use super::setup::Flow;
use super::socket::Socket;
use super::source::Source;
use super::tcp::{Receiver, Sender};

/// The state of one flow.
#[derive(Clone, Debug)]
pub(super) struct FlowState<'a> {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) socket: Socket,
    pub(super) source: Source<'a>,
    /// Segments that the sending end has to send so far.
    pub(super) available: u64,
    /// Bytes that the process wrote [B].
    pub(super) written: u64,
    /// Memory charged to the socket when it was last written down [B].
    pub(super) charged: u64,
    /// First segment that the receiving end announced no room for.
    pub(super) announced: u64,
    /// Last progress of the sending end, from which its timer runs [ps].
    pub(super) progress: u64,
    /// Since when the peer's window is closed [ps].
    pub(super) stalled_since: Option<u64>,
    pub(super) counts: FlowOutcome,
}

impl<'a> FlowState<'a> {
    pub(super) fn new(flow: &Flow, source: Source<'a>) -> Self {
        let socket = Socket::new(flow.receive_buffer, flow.segment, flow.overhead);
        let room = match flow.direction {
            Direction::Receive => socket.room() / flow.segment.max(1),
            // The peer reads at once.
            Direction::Send => u64::MAX,
        };
        Self {
            sender: Sender::new(flow.timer, room),
            receiver: Receiver::default(),
            socket,
            source,
            available: 0,
            written: 0,
            charged: 0,
            announced: room,
            progress: 0,
            stalled_since: None,
            counts: FlowOutcome::default(),
        }
    }

    /// First segment that the receiving machine has no room for.
    pub(super) fn room_until(&self, segment: u64) -> u64 {
        let room = (self.socket.room() / segment.max(1)).saturating_sub(self.receiver.waiting());
        // What was announced is not taken back (RFC 9293 section 3.8.6).
        self.announced.max(self.receiver.expected + room)
    }

    /// Bytes of whole segments that wait in the send buffer or for their acknowledgement [B].
    pub(super) fn unacknowledged_bytes(&self, segment: u64) -> u64 {
        self.available.saturating_sub(self.sender.unacknowledged) * segment
    }

    /// The peer's window is closed. Whether that is news.
    pub(super) fn stall(&mut self, now: u64) -> bool {
        let begins = self.stalled_since.is_none();
        if begins {
            self.stalled_since = Some(now);
            self.counts.stalls += 1;
        }
        begins
    }

    /// The window is open again.
    pub(super) fn resume(&mut self, now: u64) {
        if let Some(since) = self.stalled_since.take() {
            self.counts.stalled.0 += now - since;
        }
    }

    /// What became of the flow.
    pub(super) fn outcome(&self, frames: Option<Quality>) -> FlowOutcome {
        FlowOutcome {
            retransmitted: self.sender.retransmitted,
            timeouts: self.sender.timeouts,
            duplicates: self.receiver.duplicates,
            frames: frames.unwrap_or_default(),
            ..self.counts.clone()
        }
    }
}
