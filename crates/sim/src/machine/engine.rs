//! The event loop of a machine: one pending event for each core, timer, queue, way and source.
//!
//! ```text
//! source ──► inward wire ──► queue ──interrupt──► core: softirq ──► socket ──► process (read, work, sleep)
//! peer  ◄── outward wire ◄── process (write) or softirq (acknowledged, more may go)
//! ```
//!
//! Events at one instant are taken cores first and sources last, so that room made at an instant
//! is there for whoever arrives at it.

use std::collections::VecDeque;

use bitpath_measure::Picos;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::bus::Bus;
use super::calendar::{Calendar, NEVER};
use super::core::Core;
use super::description::Direction;
use super::flow::FlowState;
use super::impairment::Impairments;
use super::journal::Journal;
use super::nic::Queue;
use super::outcome::Outcome;
use super::packet::Packet;
use super::process::{Process, State};
use super::setup::Setup;
use super::source::Source;
use super::wire::Wire;
use crate::job::{Job, Program};

/// Steps of a process in a row that take no time, after which it is taken for one that never
/// lets time pass.
pub(super) const MOST_IDLE_STEPS: u32 = 100_000;

/// Numbers of the components in the calendar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    cores: usize,
    flows: usize,
    queues: usize,
}

/// A component with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    Core(usize),
    Sleeper(usize),
    Retransmission(usize),
    DelayedAcknowledgement(usize),
    Interrupt(usize),
    Placing,
    Inward,
    Outward,
    Source(usize),
}

impl Numbers {
    pub(super) fn sleeper(self, flow: usize) -> usize {
        self.cores + flow
    }

    pub(super) fn retransmission(self, flow: usize) -> usize {
        self.cores + self.flows + flow
    }

    pub(super) fn delayed(self, flow: usize) -> usize {
        self.cores + 2 * self.flows + flow
    }

    pub(super) fn interrupt(self, queue: usize) -> usize {
        self.cores + 3 * self.flows + queue
    }

    pub(super) fn placing(self) -> usize {
        self.interrupt(self.queues)
    }

    pub(super) fn inward(self) -> usize {
        self.placing() + 1
    }

    pub(super) fn outward(self) -> usize {
        self.inward() + 1
    }

    pub(super) fn source(self, flow: usize) -> usize {
        self.inward() + 2 + flow
    }

    fn component(self, id: usize) -> Component {
        if id < self.cores {
            Component::Core(id)
        } else if id < self.retransmission(0) {
            Component::Sleeper(id - self.cores)
        } else if id < self.delayed(0) {
            Component::Retransmission(id - self.retransmission(0))
        } else if id < self.interrupt(0) {
            Component::DelayedAcknowledgement(id - self.delayed(0))
        } else if id < self.placing() {
            Component::Interrupt(id - self.interrupt(0))
        } else if id == self.placing() {
            Component::Placing
        } else if id == self.inward() {
            Component::Inward
        } else if id == self.outward() {
            Component::Outward
        } else {
            Component::Source(id - self.source(0))
        }
    }
}

/// The machine under way.
pub(super) struct Machine<'a> {
    pub(super) setup: Setup,
    pub(super) numbers: Numbers,
    pub(super) calendar: Calendar,
    pub(super) cores: Vec<Core>,
    pub(super) queues: Vec<Queue>,
    pub(super) bus: Bus,
    /// Packets on their way into processes' memory, with the time that each is there.
    pub(super) placing: VecDeque<(u64, Packet)>,
    pub(super) inward: Wire,
    pub(super) outward: Wire,
    pub(super) flows: Vec<FlowState<'a>>,
    pub(super) processes: Vec<Process>,
    /// Processes that wait for room for a datagram, the first first.
    pub(super) writers: VecDeque<usize>,
    pub(super) journal: Journal,
}

/// Runs a machine to its end. Each flow has its job, from which its peer sends, and a program.
pub(super) fn run(setup: Setup, jobs: &[Job], programs: Vec<Box<dyn Program>>) -> Outcome {
    let mut machine = Machine::new(setup, jobs, programs);
    machine.begin();
    machine.run_until(NEVER);
    machine.finish()
}

impl<'a> Machine<'a> {
    pub(super) fn new(setup: Setup, jobs: &'a [Job], programs: Vec<Box<dyn Program>>) -> Self {
        let numbers = Numbers {
            cores: setup.cores.count,
            flows: setup.flows.len(),
            queues: setup.nic.queues,
        };
        let chance = |stream: u64| {
            let mut chance = ChaCha8Rng::seed_from_u64(setup.seed);
            chance.set_stream(stream);
            chance
        };
        let flows = setup.flows.iter().zip(jobs).enumerate().map(|(index, (flow, job))| {
            FlowState::new(flow, Source::new(job, flow, chance(16 + index as u64)))
        });
        let processes = programs
            .into_iter()
            .zip(&setup.flows)
            .map(|(program, flow)| Process::new(program, flow.core));
        Self {
            numbers,
            calendar: Calendar::new(numbers.source(numbers.flows)),
            cores: vec![Core::new(); numbers.cores],
            queues: vec![Queue::new(); numbers.queues],
            bus: Bus::default(),
            placing: VecDeque::new(),
            inward: Wire::new(setup.inward.clone(), Impairments::new(chance)),
            outward: Wire::new(
                setup.outward.clone(),
                Impairments::new(|stream| chance(8 + stream)),
            ),
            flows: flows.collect(),
            processes: processes.collect(),
            writers: VecDeque::new(),
            journal: Journal::new(&setup),
            setup,
        }
    }

    /// Takes all events up to and including a time. False where none is left.
    pub(super) fn run_until(&mut self, end: u64) -> bool {
        while let Some((id, now)) = self.calendar.pop_until(end) {
            match self.numbers.component(id) {
                Component::Core(core) => self.core_event(core, now),
                Component::Sleeper(process) => self.wake(process, None, now),
                Component::Retransmission(flow) => self.retransmission_event(flow, now),
                Component::DelayedAcknowledgement(flow) => self.delayed_event(flow, now),
                Component::Interrupt(queue) => self.interrupt_event(queue, now),
                Component::Placing => self.placing_event(now),
                Component::Inward => self.inward_event(now),
                Component::Outward => self.outward_event(now),
                Component::Source(flow) => self.source_event(flow, now),
            }
        }
        self.calendar.pending()
    }

    /// Goes on with other numbers: the same cores, queues and flows.
    pub(super) fn change(&mut self, setup: Setup) {
        self.inward.change(setup.inward.clone());
        self.outward.change(setup.outward.clone());
        for (state, flow) in self.flows.iter_mut().zip(&setup.flows) {
            state.socket.resize(flow.receive_buffer);
        }
        self.setup = setup;
    }

    /// Every process becomes runnable and every peer's source looks for its first message.
    pub(super) fn begin(&mut self) {
        for index in 0..self.flows.len() {
            self.processes[index].state = State::Sleeping;
            self.wake(index, None, 0);
            if self.setup.flows[index].direction == Direction::Receive {
                self.calendar.set(self.numbers.source(index), 0);
            }
        }
    }

    /// The source of a peer: one message or segment is due.
    fn source_event(&mut self, flow: usize, now: u64) {
        if self.setup.flows[flow].reliable {
            self.flows[flow].available = self.flows[flow].source.segments_due(now, self.setup.end);
            self.pump(flow, None, now);
            let next = self.flows[flow].source.next_segment_due(now, self.setup.end);
            self.calendar.set(self.numbers.source(flow), next);
            return;
        }
        let Some(message) = self.flows[flow].source.datagram(now, self.setup.end) else { return };
        if message.due > now {
            self.flows[flow].source.put_back(message);
            self.calendar.set(self.numbers.source(flow), message.due);
            return;
        }
        self.emit_datagram(flow, message, now);
        let unpaced = self.flows[flow].source.unpaced();
        let next = if unpaced { self.inward.free_at().max(now + 1) } else { now };
        self.calendar.set(self.numbers.source(flow), next);
    }

    pub(super) fn finish(self) -> Outcome {
        let flows: Vec<_> = self
            .flows
            .iter()
            .zip(&self.processes)
            .map(|(flow, process)| flow.outcome(process.program.quality()))
            .collect();
        let waits = |process: &Process| match process.state {
            State::Writing(bytes) => Some(format!("waits for room for a write of {bytes} B")),
            State::Full(room) => Some(format!(
                "waits in a read for room in its buffer of {room} B: it holds {} B, and only itself could give some back",
                process.held
            )),
            State::Runnable => Some("takes step after step without letting time pass".into()),
            State::Reading(_) | State::Sleeping | State::Stopped => None,
        };
        let stuck = self.processes.iter().map(waits).enumerate();
        let stuck = stuck.filter_map(|(flow, waits)| Some((flow, waits?))).next();
        self.journal.finish(flows, &self.cores, stuck)
    }

    /// Whether peers have stopped.
    pub(super) fn over(&self, now: u64) -> bool {
        now >= self.setup.end
    }

    /// Tells a process the time.
    pub(super) fn tell(&mut self, process: usize, now: u64) {
        let over = self.over(now);
        let seen = &mut self.processes[process].seen;
        seen.now = Picos(now);
        seen.over = over;
    }

    /// Moves an event to an earlier time; a later one leaves it.
    pub(super) fn no_later(&mut self, id: usize, time: u64) {
        if time < self.calendar.time(id) {
            self.calendar.set(id, time);
        }
    }
}
