//! One way between the machine and its peers: a line with a bounded queue before it.
//!
//! ```text
//! enter [ps] ──► queue [B] ──line [ps/B]──► under way, delay [ps] ──► arrivals in order
//!                full: dropped
//! ```
//!
//! A frame's departure follows from the one before it, so only the first arrival is an event.

use std::collections::VecDeque;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::calendar::NEVER;
use super::packet::Packet;
use super::setup::Way;

/// The line with what waits for it and what is under way.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    way: Way,
    chance: ChaCha8Rng,
    free_at: u64,
    /// Departures and sizes of what is still queued or on the line.
    queued: VecDeque<(u64, u64)>,
    queued_bytes: u64,
    under_way: VecDeque<(u64, Packet)>,
}

impl Wire {
    pub(super) fn new(way: Way, chance: ChaCha8Rng) -> Self {
        Self {
            way,
            chance,
            free_at: 0,
            queued: VecDeque::new(),
            queued_bytes: 0,
            under_way: VecDeque::new(),
        }
    }

    /// Puts frames on the way. False where the queue has no room for them, or chance loses them.
    pub(super) fn enter(&mut self, packet: Packet, line_bytes: u64, now: u64) -> bool {
        if self.way.byte_65536 > 0 {
            self.leave_until(now);
            if self.queued_bytes + line_bytes > self.way.queue {
                return false;
            }
            self.free_at = self.free_at.max(now) + self.way.time_of(line_bytes);
            self.queued.push_back((self.free_at, line_bytes));
            self.queued_bytes += line_bytes;
        } else {
            self.free_at = now;
        }
        if self.way.loss > 0 && self.chance.next_u64() < self.way.loss {
            return false;
        }
        // A way that has become shorter does not let packets overtake each other.
        let last = self.under_way.back().map_or(0, |(time, _)| *time);
        self.under_way.push_back(((self.free_at + self.way.delay).max(last), packet));
        true
    }

    /// Another line from now on; what is under way keeps its time.
    pub(super) fn change(&mut self, way: Way) {
        self.way = way;
    }

    /// Whether so many bytes would be taken.
    pub(super) fn has_room(&mut self, line_bytes: u64, now: u64) -> bool {
        self.leave_until(now);
        self.queued_bytes + line_bytes <= self.way.queue
    }

    /// When everything that entered has left the line.
    pub(super) fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Bytes that wait for the line or are on it.
    pub(super) fn queued_bytes(&mut self, now: u64) -> u64 {
        self.leave_until(now);
        self.queued_bytes
    }

    fn leave_until(&mut self, now: u64) {
        while let Some((_, bytes)) = self.queued.front().filter(|(departs, _)| *departs <= now) {
            self.queued_bytes -= bytes;
            self.queued.pop_front();
        }
    }

    /// When the next packet arrives at the far end.
    pub(super) fn next_arrival(&self) -> u64 {
        self.under_way.front().map_or(NEVER, |(time, _)| *time)
    }

    /// The packet that arrives.
    pub(super) fn arrive(&mut self) -> Option<Packet> {
        self.under_way.pop_front().map(|(_, packet)| packet)
    }
}
