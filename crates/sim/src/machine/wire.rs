//! One way between the machine and its peers: a line with a bounded queue before it.
//!
//! ```text
//! enter [ps] ──► queue [B] ──line [ps/B]──► under way, delay and jitter [ps] ──► arrivals
//!                full: dropped                  lost, doubled, overtaken
//! ```
//!
//! A frame's departure follows from the one before it, so only the first arrival is an event.

use std::collections::VecDeque;

use super::backlog::Backlog;
use super::calendar::NEVER;
use super::impairment::Impairments;
use super::packet::Packet;
use super::setup::Way;

/// The line with what waits for it and what is under way.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    way: Way,
    impairments: Impairments,
    free_at: u64,
    /// Latest arrival of those that keep their order.
    latest: u64,
    /// What is still queued or on the line, until its departure.
    queued: Backlog,
    under_way: VecDeque<(u64, Packet)>,
}

impl Wire {
    pub(super) fn new(way: Way, impairments: Impairments) -> Self {
        Self {
            way,
            impairments,
            free_at: 0,
            latest: 0,
            queued: Backlog::default(),
            under_way: VecDeque::new(),
        }
    }

    /// Puts frames on the way once they are `ready` in the card. How many arrive: none where the
    /// queue has no room or chance loses them, two where chance doubles them.
    pub(super) fn enter(&mut self, packet: Packet, line_bytes: u64, ready: u64, now: u64) -> u32 {
        if !self.has_room(line_bytes, now) {
            return 0;
        }
        self.free_at = self.free_at.max(ready) + self.way.time_of(line_bytes);
        self.queued.push(self.free_at, line_bytes);
        let fate = self.impairments.fate(&self.way);
        let time = self.free_at + self.way.delay + fate.jitter;
        let copies = if fate.lost { 0 } else { 1 + u32::from(fate.twice) };
        for _ in 0..copies {
            if fate.overtaken {
                self.insert(time + self.way.overtaken_delay, packet);
            } else {
                self.insert_in_order(time, packet);
            }
        }
        copies
    }

    /// A packet that no other one of this kind passes, whatever the jitter, and also where the way has
    /// become shorter.
    fn insert_in_order(&mut self, time: u64, packet: Packet) {
        self.latest = self.latest.max(time);
        self.insert(self.latest, packet);
    }

    fn insert(&mut self, time: u64, packet: Packet) {
        if self.under_way.back().is_none_or(|(last, _)| *last <= time) {
            return self.under_way.push_back((time, packet));
        }
        let later = self.under_way.iter().rev().take_while(|(other, _)| *other > time).count();
        self.under_way.insert(self.under_way.len() - later, (time, packet));
    }

    /// Another line from now on; what is under way keeps its time.
    pub(super) fn change(&mut self, way: Way) {
        self.way = way;
    }

    /// Whether so many bytes would be taken.
    pub(super) fn has_room(&mut self, line_bytes: u64, now: u64) -> bool {
        self.queued.bytes(now) + line_bytes <= self.way.queue
    }

    /// When everything that entered has left the line.
    pub(super) fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Bytes that wait for the line or are on it.
    pub(super) fn queued_bytes(&mut self, now: u64) -> u64 {
        self.queued.bytes(now)
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
