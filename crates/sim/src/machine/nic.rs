//! A receive queue of the network card: ring, transfer into memory, moderated interrupt, poll.
//!
//! ```text
//! frame ──► ring [descriptors] ──DMA [ps]──► in memory ──interrupt after time or frames──► poll
//!           full: dropped                                 off while a core polls
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
    dma_free_at: u64,
    /// Whether a core polls, and interrupts are off.
    pub(super) polled: bool,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self { ring: VecDeque::new(), frames: 0, unannounced: 0, dma_free_at: 0, polled: false }
    }

    /// Takes a packet from the line. False where the ring is full.
    pub(super) fn take(&mut self, packet: Packet, nic: &Nic, now: u64) -> bool {
        if self.frames + packet.frames as usize > nic.ring {
            return false;
        }
        self.frames += packet.frames as usize;
        self.unannounced += packet.frames;
        let transfer =
            u64::from(packet.frames) * nic.dma_frame + ((packet.bytes * nic.dma_byte_65536) >> 16);
        self.dma_free_at = self.dma_free_at.max(now) + transfer;
        self.ring.push_back((self.dma_free_at, packet));
        true
    }

    /// When the interrupt for what waits fires, given when it was to fire so far.
    pub(super) fn interrupt_at(&self, nic: &Nic, planned: u64, now: u64) -> u64 {
        let Some((ready, _)) = self.ring.front().filter(|_| !self.polled) else { return NEVER };
        let enough = nic.moderation_frames > 0 && self.unannounced >= nic.moderation_frames;
        if enough || nic.moderation_time == 0 {
            return (*ready).max(now);
        }
        planned.min((*ready).max(now) + nic.moderation_time)
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
