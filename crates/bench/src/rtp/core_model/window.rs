//! The stages of a core as times: in-order stages, queues that fill, and units that are taken.
//!
//! No event is kept. A stage knows the cycle that it is in, a queue of n places knows when the
//! n-th last of its entries left, and the units know how much of each cycle ahead is taken.

use super::super::decode::Unit;
use super::settings::{CoreSettings, UNITS, UnitSettings};

/// A stage that takes a number of instructions a cycle, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct InOrder {
    width: u32,
    cycle: u64,
    used: u32,
}

impl InOrder {
    pub(super) fn new(width: u32) -> Self {
        Self { width, cycle: 0, used: 0 }
    }

    /// The first cycle, not before `earliest`, in which there is room.
    pub(super) fn next_free(&self, earliest: u64) -> u64 {
        let own = self.cycle + u64::from(self.used == self.width);
        own.max(earliest)
    }

    /// Takes one there; the cycle.
    pub(super) fn take(&mut self, earliest: u64) -> u64 {
        let cycle = self.next_free(earliest);
        if cycle > self.cycle {
            (self.cycle, self.used) = (cycle, 0);
        }
        self.used += 1;
        cycle
    }

    /// Leaves the rest of this cycle unused.
    pub(super) fn end_cycle(&mut self) {
        self.used = self.width;
    }
}

/// When the last entries of a queue left it. A new one finds a place when the one that came as many
/// before as there are places has left.
#[derive(Clone, Debug)]
pub(super) struct Places {
    left_at: Vec<u64>,
    oldest: usize,
}

impl Places {
    pub(super) fn new(places: usize) -> Self {
        Self { left_at: vec![0; places], oldest: 0 }
    }

    /// The cycle at which `entries` more have a place.
    pub(super) fn free_at(&self, entries: usize) -> u64 {
        let Some(last) = entries.checked_sub(1) else { return 0 };
        let place = self.oldest + last.min(self.left_at.len() - 1);
        self.left_at[place % self.left_at.len()]
    }

    /// Notes that the next entry leaves at a cycle. Entries leave in order.
    pub(super) fn leave(&mut self, cycle: u64) {
        self.left_at[self.oldest] = cycle;
        self.oldest = (self.oldest + 1) % self.left_at.len();
    }
}

/// What an operation takes when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    Compute(Unit),
    Load,
    Store,
}

/// The units, and how much of each cycle ahead is taken. Who asks first, the older, is served
/// first.
#[derive(Clone, Debug)]
pub(super) struct Units {
    width: u8,
    counts: [u8; PORTS],
    /// By kind of unit: from one start to the next of the same unit.
    intervals: [u64; PORTS],
    /// Of the kinds that are not pipelined, when each unit is free.
    free_at: [Vec<u64>; PORTS],
    cycles: Vec<Taken>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    cycle: u64,
    all: u8,
    by_port: [u8; PORTS],
}

impl Units {
    pub(super) fn new(settings: &CoreSettings) -> Self {
        let memory = |count| UnitSettings { count, latency_cycles: 1, interval_cycles: 1 };
        let units: [UnitSettings; PORTS] = std::array::from_fn(|port| match port {
            LOAD => memory(settings.load_ports),
            STORE => memory(settings.store_ports),
            _ => settings.unit(UNITS[port]),
        });
        Self {
            width: settings.issue_width,
            counts: units.map(|unit| unit.count),
            intervals: units.map(|unit| unit.interval_cycles.into()),
            free_at: units.map(|unit| vec![0; unit.count.into()]),
            cycles: vec![Taken::default(); cycles_ahead(settings)],
        }
    }

    /// Starts an operation in the first cycle, not before `earliest`, that has room; the cycle.
    pub(super) fn start(&mut self, port: Port, earliest: u64) -> u64 {
        let port = index(port);
        if self.intervals[port] == 1 {
            return self.start_pipelined(port, earliest);
        }
        let units = &self.free_at[port];
        let unit = (0..units.len()).min_by_key(|&unit| units[unit]).unwrap_or_default();
        let cycle = self.start_pipelined(port, earliest.max(self.free_at[port][unit]));
        self.free_at[port][unit] = cycle + self.intervals[port];
        cycle
    }

    fn start_pipelined(&mut self, port: usize, earliest: u64) -> u64 {
        let mask = self.cycles.len() - 1;
        let mut cycle = earliest;
        // Ends: no cycle is taken in which nothing of the window may start.
        loop {
            #[allow(clippy::cast_possible_truncation, reason = "the mask keeps it below a usize")]
            let taken = &mut self.cycles[cycle as usize & mask];
            if taken.cycle != cycle {
                *taken = Taken { cycle, ..Taken::default() };
            }
            if taken.all < self.width && taken.by_port[port] < self.counts[port] {
                taken.all += 1;
                taken.by_port[port] += 1;
                return cycle;
            }
            cycle += 1;
        }
    }
}

/// Cycles between the first and the last in which something of the window may start: every
/// instruction in it waits for the one before it, and each takes the longest way.
fn cycles_ahead(settings: &CoreSettings) -> usize {
    let outer = settings.outer_caches.iter().map(|cache| cache.latency_cycles);
    let memory = outer.chain([settings.memory_cycles, settings.data_cache.latency_cycles]).max();
    let compute = UNITS.map(|unit| {
        let unit = settings.unit(unit);
        unit.latency_cycles.max(unit.interval_cycles)
    });
    let longest = settings.address_cycles
        + settings.forward_cycles
        + memory.unwrap_or_default()
        + compute.into_iter().max().unwrap_or_default()
        + STARTS;
    (settings.window * longest as usize).next_power_of_two()
}

/// Operations that one instruction starts, each of which may wait a cycle for room: it loads,
/// computes and stores.
const STARTS: u32 = 3;

const LOAD: usize = UNITS.len();
const STORE: usize = LOAD + 1;
const PORTS: usize = STORE + 1;

fn index(port: Port) -> usize {
    match port {
        Port::Compute(unit) => UNITS.iter().position(|&kind| kind == unit).unwrap_or_default(),
        Port::Load => LOAD,
        Port::Store => STORE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_takes_its_width_each_cycle() {
        let mut stage = InOrder::new(2);
        assert_eq!([0; 5].map(|earliest| stage.take(earliest)), [0, 0, 1, 1, 2]);
        assert_eq!([7, 7, 3].map(|earliest| stage.take(earliest)), [7, 7, 8]);
        stage.end_cycle();
        assert_eq!(stage.take(0), 9);
    }

    #[test]
    fn a_place_is_free_when_the_entry_before_in_it_left() {
        let mut places = Places::new(2);
        assert_eq!(places.free_at(1), 0);
        places.leave(10);
        places.leave(20);
        assert_eq!([0, 1, 2, 5].map(|entries| places.free_at(entries)), [0, 10, 20, 20]);
        places.leave(30);
        assert_eq!(places.free_at(1), 20);
    }

    #[test]
    fn all_units_share_the_issue_width() {
        let mut units = Units::new(&CoreSettings::simplescalar());
        let add = Port::Compute(Unit::Integer);
        let started = [add, Port::Load, add, Port::Store, add].map(|port| units.start(port, 5));
        assert_eq!(started, [5, 5, 6, 6, 7]);
    }

    #[test]
    fn a_pipelined_unit_starts_each_cycle_and_a_divider_when_it_is_free() {
        let mut units = Units::new(&CoreSettings::simplescalar());
        let multiply = Port::Compute(Unit::IntegerMultiply);
        assert_eq!([0; 3].map(|earliest| units.start(multiply, earliest)), [0, 1, 2]);
        let divide = Port::Compute(Unit::IntegerDivide);
        assert_eq!([0; 3].map(|earliest| units.start(divide, earliest)), [0, 19, 38]);
    }

    #[test]
    fn a_free_cycle_before_a_taken_one_is_used() {
        let mut units = Units::new(&CoreSettings::simplescalar());
        let add = Port::Compute(Unit::Integer);
        assert_eq!([9, 9, 4].map(|earliest| units.start(add, earliest)), [9, 9, 4]);
    }
}
