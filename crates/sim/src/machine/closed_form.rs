//! The closed form of a machine: the rate that nothing can exceed, and what sets it.
//!
//! ```text
//! for each resource r: the most payload x that fits, flow by flow, the cheapest first
//!     sum over flows of x_f * time_rf <= 1 (cores: as many as there are), x_f <= what flow f asks for
//! bound = the least of these
//! ```
//!
//! Times are the least that a byte takes: no interrupt, no wake-up, no wait, copies from the best
//! cache that may hold it. What events find is below it.

use std::collections::BTreeMap;

use bitpath_measure::Picos;

use super::assemble::Assembled;
use super::bus::Way;
use super::check::MachineError;
use super::description::{CopyPath, Direction, Machine};
use super::roles::own_work;
use super::setup::{Flow, Setup};

/// An upper bound of throughput and what imposes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Payload a second, of all flows [b/s].
    pub bits_per_second: f64,
    /// `line.in`, `line.out`, `bus`, `bus.in`, `bus.out`, `memory`, `cpu`, `core.N`, `window` or `job`.
    pub binding: String,
}

/// A resource's time for a byte of one flow, and the most that the flow asks for.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// [ps/B]
    time: f64,
    /// [B/ps]
    most: f64,
}

/// The resources with their uses.
#[derive(Debug, Default)]
struct Resources {
    /// Capacity and uses, one for each flow that uses it at all.
    shared: BTreeMap<String, (f64, Vec<Use>)>,
    /// What jobs ask for, what windows let through, and the smaller of both, flow by flow [B/ps].
    asked: f64,
    through: f64,
    most: Vec<f64>,
}

/// The bound of a machine.
///
/// # Errors
/// When values do not go together.
pub fn bound(machine: &Machine) -> Result<Bound, MachineError> {
    let Assembled { setup, .. } = Assembled::of(machine, Picos::SECOND, 0)?;
    let mut resources = Resources::default();
    for (index, (flow, of)) in machine.each_flow().zip(&setup.flows).enumerate() {
        let asked = flow.job.rate().map_or(f64::INFINITY, |rate| rate.0 as f64 / 8e12);
        let message = flow.message.0;
        let own = own_work(machine, flow).0 as f64;
        let costs = Costs { setup: &setup, of, message, own };
        resources.add(asked, window(&setup, of), message as f64, costs.all(index));
    }
    Ok(resources.least())
}

impl Resources {
    /// Adds a flow with the times of its messages.
    fn add(&mut self, asked: f64, through: f64, message: f64, times: Vec<(String, f64, f64)>) {
        let most = asked.min(through);
        self.asked += asked;
        self.through += through;
        self.most.push(most);
        for (name, capacity, time) in times {
            let (known, uses) = self.shared.entry(name).or_default();
            *known = capacity;
            uses.push(Use { time: time / message, most });
        }
    }

    fn least(self) -> Bound {
        let all: f64 = self.most.iter().sum();
        let own = if self.asked <= self.through { "job" } else { "window" };
        let shared = self.shared.into_iter().map(|(name, (capacity, uses))| {
            // Flows that do without this resource go on as they like.
            let others = if uses.len() < self.most.len() { less(all, &uses) } else { 0.0 };
            (name, fit(capacity, uses) + others)
        });
        let (binding, bytes) = shared
            .fold((own.to_owned(), all), |least, next| if next.1 < least.1 { next } else { least });
        Bound { bits_per_second: bytes * 8e12, binding }
    }
}

/// What is left of the sum of all flows without these.
fn less(all: f64, uses: &[Use]) -> f64 {
    if all.is_finite() { all - uses.iter().map(|one| one.most).sum::<f64>() } else { f64::INFINITY }
}

/// The most bytes in a picosecond of a resource that is there for so many picoseconds of each.
fn fit(capacity: f64, mut uses: Vec<Use>) -> f64 {
    uses.sort_by(|a, b| a.time.total_cmp(&b.time));
    let (mut left, mut bytes) = (capacity, 0.0);
    for Use { time, most } in uses {
        let taken = if time > 0.0 { most.min(left / time) } else { most };
        bytes += taken;
        left = (left - taken * time).max(0.0);
    }
    bytes
}

/// A window of a round trip each round trip [B/ps].
fn window(setup: &Setup, of: &Flow) -> f64 {
    if !of.reliable || of.direction == Direction::Send {
        return f64::INFINITY;
    }
    let segments = of.receive_buffer / (of.segment + of.overhead).max(1);
    let round_trip = setup.inward.delay + setup.outward.delay;
    (segments.max(1) * of.segment) as f64 / round_trip.max(1) as f64
}

/// Times of one message of a flow [ps].
struct Costs<'a> {
    setup: &'a Setup,
    of: &'a Flow,
    message: u64,
    /// The process's own work on it.
    own: f64,
}

impl Costs<'_> {
    /// Resource, capacity, time of a message.
    fn all(&self, index: usize) -> Vec<(String, f64, f64)> {
        let Setup { cores, bus, .. } = self.setup;
        let (way, side) = match self.of.direction {
            Direction::Receive => (Way::Write, "in"),
            Direction::Send => (Way::Read, "out"),
        };
        let process = self.call() + self.own;
        let softirq = self.softirq();
        let all = process + softirq + self.down();
        let polling = self.setup.core_of(self.setup.queue_of(index));
        let wire = if bus.shared { "bus".to_owned() } else { format!("bus.{side}") };
        let mut times = vec![
            (format!("line.{side}"), 1.0, self.line()),
            (wire, 1.0, self.bus(way)),
            ("memory".to_owned(), 1.0, self.in_memory() * self.controller()),
            ("cpu".to_owned(), cores.count as f64, all),
        ];
        if polling == self.of.core {
            times.push((format!("core.{polling}"), 1.0, process + softirq));
        } else {
            times.push((format!("core.{}", self.of.core), 1.0, process));
            times.push((format!("core.{polling}"), 1.0, softirq));
        }
        times
    }

    fn segments(&self) -> f64 {
        let frames = self.message as f64 / self.of.segment as f64;
        if self.of.reliable { frames } else { frames.ceil() }
    }

    fn line(&self) -> f64 {
        let bytes = self.message as f64 + self.segments() * self.of.headers as f64;
        bytes * self.setup.inward.byte_65536 as f64 / 65_536.0
    }

    fn bus(&self, way: Way) -> f64 {
        let whole = self.setup.bus.time_of_payload(1, self.of.segment, self.of, way);
        whole as f64 * self.message as f64 / self.of.segment as f64
    }

    /// Buffers of a stream that a message goes up or down in, at the least.
    fn buffers(&self) -> f64 {
        let merged = self.message as f64 / self.of.merge.max(self.of.segment) as f64;
        if self.of.reliable { merged } else { 1.0 }
    }

    /// Work below the socket on the core that polls.
    fn softirq(&self) -> f64 {
        let stack = &self.of.stack;
        match (self.of.copies, self.of.direction) {
            (CopyPath::Rdma, _) => 0.0,
            (_, Direction::Receive) => {
                self.segments() * stack.frame as f64 + self.buffers() * stack.delivery as f64
            }
            // A peer answers every second segment.
            (_, Direction::Send) if self.of.reliable => {
                self.segments() / 2.0 * stack.acknowledgement as f64
            }
            (_, Direction::Send) => 0.0,
        }
    }

    /// Work of sending a stream's buffers, on this core or that.
    fn down(&self) -> f64 {
        let sends = self.of.direction == Direction::Send && self.of.copies != CopyPath::Rdma;
        if sends { self.buffers() * self.of.stack.transmit as f64 } else { 0.0 }
    }

    /// The call with its copies.
    fn call(&self) -> f64 {
        let stack = &self.of.stack;
        let calls = match (self.of.copies, self.of.direction) {
            (CopyPath::Rdma, _) => 0,
            (CopyPath::Sendfile, _) | (CopyPath::TwoCopy, Direction::Receive) => stack.call,
            (CopyPath::ZeroCopy, _) => stack.call + stack.pin,
            (CopyPath::TwoCopy, Direction::Send) => 2 * stack.call,
        };
        let memory = self.in_memory() * self.setup.memory.core_byte_65536 as f64 / 65_536.0;
        calls as f64 + memory + self.in_cache()
    }

    /// Bytes copied from or to memory, at the least.
    fn in_memory(&self) -> f64 {
        let memory = &self.setup.memory;
        let cached = !memory.caches.is_empty();
        let passes = match (self.of.copies, self.of.direction) {
            (CopyPath::TwoCopy, Direction::Receive) => {
                u32::from(!(cached && memory.direct_cache_access))
            }
            (CopyPath::TwoCopy, Direction::Send) => 1 + u32::from(!cached),
            _ => 0,
        };
        f64::from(passes) * self.message as f64
    }

    /// Time of copies within the fastest cache.
    fn in_cache(&self) -> f64 {
        let passes = match (self.of.copies, self.of.direction) {
            (CopyPath::TwoCopy, Direction::Receive) => 1.0,
            (CopyPath::TwoCopy, Direction::Send) => 2.0,
            _ => return 0.0,
        };
        let bytes = passes * self.message as f64 - self.in_memory();
        let fastest = self.setup.memory.caches.iter().map(|(_, byte)| *byte).min().unwrap_or(0);
        bytes * fastest as f64 / 65_536.0
    }

    /// Time of the controller for a byte [ps].
    fn controller(&self) -> f64 {
        self.setup.memory.controller_byte_65536 as f64 / 65_536.0
    }
}

#[cfg(test)]
mod tests {
    use bitpath_measure::{BitRate, ByteRate};

    use super::super::description::{CoreCopy, Task};
    use super::*;
    use crate::scenario::{Scenario, Subject};

    const STREAM: &str = include_str!("../../../../scenarios/ten-gigabit-tcp.toml");

    fn bound_of(change: impl FnOnce(&mut Machine)) -> Bound {
        let Subject::Machine(mut scenario) = Scenario::parse(STREAM).unwrap().subject else {
            panic!("no machine");
        };
        change(&mut scenario.machine);
        bound(&scenario.machine).unwrap()
    }

    #[test]
    fn what_is_slowest_is_named() {
        let line = bound_of(|_| ());
        assert_eq!(line.binding, "line.in");
        assert!((line.bits_per_second / (1e10 * 1448.0 / 1538.0) - 1.0).abs() < 1e-9);
        let copy = bound_of(|machine| {
            machine.memory.core = CoreCopy::Rate { rate: ByteRate(5e8) };
        });
        assert_eq!(copy.binding, "core.1");
        assert!(copy.bits_per_second < 4e9);
        let softirq = bound_of(|machine| machine.stack.frame = Picos::from_nanos(6000));
        assert_eq!(softirq.binding, "core.0");
        let job = bound_of(|machine| {
            machine.flows[0].job = Task::Raw {
                rate: Some(BitRate(1_000_000)),
                process: crate::profile::NanosPerByte(0.0),
            };
        });
        assert_eq!((job.binding.as_str(), job.bits_per_second), ("job", 1e6));
        let window = bound_of(|machine| machine.line.delay = Picos::from_nanos(100_000_000));
        assert_eq!(window.binding, "window");
    }

    #[test]
    fn a_resource_does_not_bound_flows_that_do_without_it() {
        let both = bound_of(|machine| {
            let mut sends = machine.flows[0].clone();
            sends.direction = Direction::Send;
            sends.copies = CopyPath::Rdma;
            machine.flows.push(sends);
        });
        // Both ways of the line are full.
        assert!(both.bits_per_second > 1.2e10, "{both:?}");
    }
}
