//! Golden case P3 of the model for simulators that bring nothing but an event list.
//!
//! ```text
//! event list ──► tick, event ──► Path ──► tick, event ──► event list
//! [quarter ns]                    └──► Counts [packets]
//! ```
//!
//! Of the events at one nanosecond the last stage comes first and the arrival last, so that a
//! slot freed at that instant is free for whoever arrives. Most event lists break ties by the
//! order of scheduling instead. A tick is therefore a quarter of a nanosecond, and the quarter
//! is the place of the event: every event list then takes them in the one right order.

mod measurement;

use serde::{Deserialize, Serialize};

pub use measurement::Measurement;

/// What happens at a tick, in the order of one nanosecond: a stage has served, a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Event {
    User,
    Kernel,
    Nic,
    Arrival,
}

/// What became of the packets [packets].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub delivered: u64,
    pub nic_drops: u64,
    pub kernel_drops: u64,
}

/// NIC ring, kernel buffer and user buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Path {
    packets_left: u64,
    /// Packets held by user, kernel and NIC, those in service or blocked included.
    held: [u32; 3],
    /// The kernel has finished a packet that the user has no slot for.
    blocked: bool,
    /// Packets that the user has begun to serve.
    begun: u64,
    counts: Counts,
}

/// When the first event is [quarter ns]; it is an arrival.
pub const FIRST: u64 = Event::Arrival as u64;

impl Path {
    #[must_use]
    pub fn new(packets: u64) -> Self {
        let counts = Counts::default();
        Self { packets_left: packets, held: [0; 3], blocked: false, begun: 0, counts }
    }

    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Takes an event at `tick` [quarter ns] and schedules those that follow from it.
    pub fn handle(&mut self, event: Event, tick: u64, schedule: &mut impl FnMut(u64, Event)) {
        let now = tick / 4;
        let mut after =
            |nanos: u64, event: Event| schedule((now + nanos) * 4 + event as u64, event);
        match event {
            Event::Arrival => self.arrive(&mut after),
            Event::Kernel if self.is_full(Event::User) => self.blocked = true,
            stage => self.leave(stage, &mut after),
        }
    }

    fn arrive(&mut self, after: &mut impl FnMut(u64, Event)) {
        self.packets_left -= 1;
        if self.packets_left > 0 {
            after(1200, Event::Arrival);
        }
        if self.is_full(Event::Nic) {
            self.counts.nic_drops += 1;
        } else {
            self.enter(Event::Nic, after);
        }
    }

    fn is_full(&self, stage: Event) -> bool {
        self.held[stage as usize] == SLOTS[stage as usize]
    }

    fn enter(&mut self, stage: Event, after: &mut impl FnMut(u64, Event)) {
        self.held[stage as usize] += 1;
        if self.held[stage as usize] == 1 {
            self.serve(stage, after);
        }
    }

    fn serve(&mut self, stage: Event, after: &mut impl FnMut(u64, Event)) {
        self.begun += u64::from(stage == Event::User);
        let pauses = stage == Event::User && self.begun.is_multiple_of(1000);
        after(if pauses { 250_000 } else { SERVICE_NS[stage as usize] }, stage);
    }

    /// Moves the finished packet on, serves the next one, and frees the kernel if it waited.
    fn leave(&mut self, stage: Event, after: &mut impl FnMut(u64, Event)) {
        self.held[stage as usize] -= 1;
        if self.held[stage as usize] > 0 {
            self.serve(stage, after);
        }
        match stage {
            Event::Nic if self.is_full(Event::Kernel) => self.counts.kernel_drops += 1,
            Event::Nic => self.enter(Event::Kernel, after),
            Event::Kernel => self.enter(Event::User, after),
            _ => self.deliver(after),
        }
    }

    fn deliver(&mut self, after: &mut impl FnMut(u64, Event)) {
        self.counts.delivered += 1;
        if self.blocked {
            self.blocked = false;
            self.leave(Event::Kernel, after);
        }
    }
}

/// Slots of user, kernel and NIC [packets].
const SLOTS: [u32; 3] = [32, 140, 43];

/// Times that they take for a packet [ns].
const SERVICE_NS: [u64; 3] = [1000, 1300, 900];
