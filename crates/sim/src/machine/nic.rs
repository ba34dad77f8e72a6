//! A queue of the network card: ring, transfer into memory, moderated interrupt, poll.
//!
//! ```text
//! frame ──► ring [descriptors] ──bus [ps]──► in memory ──┐ interrupt after time or frames,
//!           full: dropped                                ├──────────────────────────────────► poll
//! buffers that the card has sent ────────────────────────┘ off while a core polls
//! ```

use std::collections::VecDeque;

use super::calendar::NEVER;
use super::packet::Packet;
use super::setup::Nic;

/// One queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// Packets with the time that each is in memory.
    ring: VecDeque<(u64, Packet)>,
    frames: usize,
    /// Frames since the last interrupt.
    unannounced: u32,
    /// Buffers of the sending side, with the time that each is on the line.
    sent: VecDeque<(u64, u32)>,
    /// Whether a core polls, and interrupts are off.
    pub(super) polled: bool,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            ring: VecDeque::new(),
            frames: 0,
            unannounced: 0,
            sent: VecDeque::new(),
            polled: false,
        }
    }

    /// Whether the ring has descriptors for a packet.
    pub(super) fn has_room(&self, packet: &Packet, nic: &Nic) -> bool {
        self.frames + packet.frames as usize <= nic.ring
    }

    /// Takes a packet that will be in memory at a time.
    pub(super) fn take(&mut self, packet: Packet, ready: u64) {
        self.frames += packet.frames as usize;
        self.unannounced += packet.frames;
        self.ring.push_back((ready, packet));
    }

    /// Buffers will have been sent at a time. They are taken back together where many wait.
    pub(super) fn sent(&mut self, buffers: u32, time: u64, nic: &Nic) {
        let together = if self.sent.len() < nic.ring {
            0
        } else {
            self.sent.pop_back().map_or(0, |last| last.1)
        };
        self.sent.push_back((time, together + buffers));
    }

    /// Takes back the buffers that the card has sent by now. How many.
    pub(super) fn reap(&mut self, now: u64) -> u32 {
        let mut buffers = 0;
        while let Some((_, more)) = self.sent.pop_front_if(|(time, _)| *time <= now) {
            buffers += more;
        }
        buffers
    }

    /// When the interrupt for what waits fires, given when it was to fire so far.
    pub(super) fn interrupt_at(&self, nic: &Nic, planned: u64, now: u64) -> u64 {
        let received = self.ring.front().map_or(NEVER, |(ready, _)| *ready);
        let sent = self.sent.front().map_or(NEVER, |(time, _)| *time);
        let first = received.min(sent);
        if first == NEVER {
            return NEVER;
        }
        let enough = nic.moderation_frames > 0 && self.unannounced >= nic.moderation_frames;
        if enough && received < NEVER {
            return received.max(now);
        }
        if nic.moderation_time == 0 {
            return first.max(now);
        }
        planned.min(first.max(now) + nic.moderation_time)
    }

    /// The interrupt fired: interrupts are off until the poll finds nothing.
    pub(super) fn begin_poll(&mut self) {
        self.polled = true;
        self.unannounced = 0;
    }

    /// Whether packets are in memory and a core that polls has not come to them.
    pub(super) fn waits_for_core(&self, now: u64) -> bool {
        self.polled && self.ring.front().is_some_and(|(ready, _)| *ready <= now)
    }

    /// The next packet that is in memory by now; its descriptors are free again.
    pub(super) fn poll(&mut self, now: u64) -> Option<Packet> {
        let (_, packet) = self.ring.front().filter(|(ready, _)| *ready <= now)?;
        let packet = *packet;
        self.ring.pop_front();
        self.frames -= packet.frames as usize;
        Some(packet)
    }

    /// Nothing left to poll: interrupts are on again.
    pub(super) fn end_poll(&mut self) {
        self.polled = false;
        self.unannounced = u32::try_from(self.frames).unwrap_or(u32::MAX);
    }
}
