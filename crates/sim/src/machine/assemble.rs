//! A machine as written, brought down to the numbers that the engine adds up.

use bitpath_measure::Picos;

use super::check::MachineError;
use super::description::{Bus, Flow, Line, Machine, MachineScenario, Memory, Task, Timer};
use super::journal::KEPT_INCIDENTS;
use super::outcome::Outcome;
use super::roles::{peer_job, program};
use super::setup::{self, Cores, Nic, Setup, StackCosts, Way};
use super::{engine, tcp};
use crate::hardware::pcie;
use crate::job::{Job, Program};
use crate::profile::Transport;

/// Simulates a machine. Same machine, interval and seed: same outcome.
///
/// # Errors
/// When values do not go together.
pub fn run(machine: &Machine, interval: Picos, seed: u64) -> Result<Outcome, MachineError> {
    let Assembled { setup, jobs, programs } = Assembled::of(machine, interval, seed)?;
    Ok(engine::run(setup, &jobs, programs))
}

impl MachineScenario {
    /// Simulates the machine, and keeps as many drops and stalls as the scenario says.
    ///
    /// # Errors
    /// When values do not go together.
    pub fn run(&self, seed: u64) -> Result<Outcome, MachineError> {
        let Assembled { mut setup, jobs, programs } =
            Assembled::of(&self.machine, self.interval, seed)?;
        setup.keep_incidents = self.keep_incidents;
        Ok(engine::run(setup, &jobs, programs))
    }
}

/// Simulates a machine whose processes follow these programs, one for each flow in the
/// scenario's order; what the peers send is still the flows' own job.
///
/// # Errors
/// When values do not go together, or there is not one program for each flow.
pub fn run_with(
    machine: &Machine,
    interval: Picos,
    seed: u64,
    programs: Vec<Box<dyn Program>>,
) -> Result<Outcome, MachineError> {
    let Assembled { setup, jobs, .. } = Assembled::of(machine, interval, seed)?;
    if programs.len() != jobs.len() {
        return Err(MachineError::Programs { programs: programs.len(), flows: jobs.len() });
    }
    Ok(engine::run(setup, &jobs, programs))
}

/// Everything that the engine needs.
pub(super) struct Assembled {
    pub(super) setup: Setup,
    /// What the peers send, flow by flow.
    pub(super) jobs: Vec<Job>,
    /// What the processes do, flow by flow.
    pub(super) programs: Vec<Box<dyn Program>>,
}

impl Assembled {
    /// Brings a machine down to its numbers.
    pub(super) fn of(machine: &Machine, interval: Picos, seed: u64) -> Result<Self, MachineError> {
        machine.check()?;
        let mut jobs = Vec::new();
        let mut flows = Vec::new();
        let mut programs = Vec::new();
        for flow in &machine.flows {
            for index in 0..flow.count {
                let core = (flow.core + index) % machine.cpu.cores;
                let job = peer_job(machine, flow);
                programs.push(program(machine, flow, index, job.frames()));
                flows.push(numbers(machine, flow, core));
                jobs.push(job);
            }
        }
        Ok(Self { setup: setup(machine, flows, interval, seed), jobs, programs })
    }
}

fn setup(machine: &Machine, flows: Vec<setup::Flow>, interval: Picos, seed: u64) -> Setup {
    let Machine { cpu, nic, stack, line, .. } = machine;
    let costs = |time: Picos| at_speed(time, cpu.speed).0;
    let way = way(line);
    let bus = bus(machine.bus);
    Setup {
        end: machine.duration.0,
        interval: interval.0,
        keep_incidents: KEPT_INCIDENTS,
        seed,
        cores: Cores {
            count: cpu.cores,
            quantum: cpu.quantum.0,
            context_switch: costs(cpu.context_switch),
            interrupt: costs(cpu.interrupt),
            wake_latency: cpu.wake_latency.0,
            wake: costs(cpu.wake),
        },
        nic: Nic {
            queues: nic.queues,
            ring: nic.ring,
            buffer: nic.buffer.map_or(u64::MAX, |buffer| buffer.0),
            moderation_time: nic.moderation_time.0,
            moderation_frames: nic.moderation_frames,
            budget: nic.budget,
            budget_time: nic.budget_time.0,
            completion: costs(stack.completion),
        },
        memory: memory(&machine.memory, bus.byte_65536),
        bus,
        inward: way.clone(),
        outward: way,
        flows,
    }
}

fn way(line: &Line) -> Way {
    Way {
        byte_65536: byte_at(line.rate.0 as f64 / 8.0),
        queue: line.queue.0,
        delay: line.delay.0,
        jitter: line.jitter.0,
        loss: chance(line.loss),
        duplicated: chance(line.duplicated),
        overtaken: chance(line.overtaken),
        overtaken_delay: line.overtaken_delay.0,
        bursts: line.loss_bursts.map(|bursts| setup::Bursts {
            begin: chance(bursts.begin),
            end: chance(bursts.end),
            loss: chance(bursts.loss),
        }),
    }
}

fn bus(bus: Bus) -> setup::Bus {
    match bus {
        Bus::Shared { frame, rate } => setup::Bus {
            shared: true,
            frame: frame.0,
            byte_65536: byte_at(rate.0 as f64 / 8.0),
            piece: 1,
            write_header: 0,
            read_header: 0,
            request: 1,
            request_time: 0,
        },
        Bus::Pcie { frame, generation, lanes, packet_share, max_payload, in_flight, latency } => {
            let usual = pcie::Link::gen3_x8();
            let link = pcie::Link { generation, lanes, packet_share, max_payload, ..usual };
            setup::Bus {
                shared: false,
                frame: frame.0,
                byte_65536: byte_at(link.packet_rate() / 8.0),
                piece: max_payload.0,
                write_header: pcie::WRITE_HEADER,
                read_header: pcie::COMPLETION_HEADER,
                request: link.max_read_request.0,
                request_time: latency.0 / u64::from(in_flight),
            }
        }
    }
}

fn memory(memory: &Memory, bus_byte: u64) -> setup::Memory {
    let controller = memory.controller.0;
    // A byte copied is read and written, one of the card only one of both.
    let card = byte_at(1.0) as f64 / bus_byte.max(1) as f64 / 2.0;
    // Both ask for the controller: a card that could take all of it gets half.
    let beside_card = (controller - card).max(controller / 2.0);
    setup::Memory {
        core_byte_65536: byte_at(memory.core.rate().0),
        controller_byte_65536: byte_at(controller),
        beside_card_byte_65536: byte_at(beside_card),
        caches: memory.caches.iter().map(|cache| (cache.size.0, byte_at(cache.copy.0))).collect(),
        direct_cache_access: memory.direct_cache_access,
    }
}

fn numbers(machine: &Machine, flow: &Flow, core: usize) -> setup::Flow {
    let Machine { line, stack, nic, .. } = machine;
    let reliable = flow.transport == Transport::Tcp;
    let offloaded = reliable && nic.offload_engine;
    let costs = |time: Picos| at_speed(time, machine.cpu.speed).0;
    // A card that speaks TCP takes each frame and each answer from the cores.
    let per_frame = |time: Picos| if offloaded { 0 } else { costs(time) };
    setup::Flow {
        direction: flow.direction,
        reliable,
        copies: flow.copies,
        offloaded,
        merge: if offloaded { nic.merge.0.max(OFFLOADED_BUFFER) } else { nic.merge.0 },
        segment: line.segment.0,
        headers: line.headers.0,
        overhead: stack.overhead.0,
        receive_buffer: flow.receive_buffer.0,
        send_buffer: flow.send_buffer.0,
        user_buffer: flow.user_buffer.map_or(u64::MAX, |buffer| buffer.0),
        timer: match flow.timer {
            Timer::Fixed { time } => tcp::Timer::Fixed(time.0),
            Timer::Measured { least } => tcp::Timer::Measured { least: least.0 },
        },
        stack: StackCosts {
            frame: per_frame(stack.frame),
            delivery: costs(stack.delivery),
            acknowledgement: per_frame(stack.acknowledgement),
            call: costs(stack.call),
            transmit: costs(stack.transmit),
            pin: costs(stack.pin),
        },
        core,
        arrivals: flow.arrivals,
        limit: match flow.job {
            Task::Bulk { bytes } => bytes.0.div_ceil(line.segment.0),
            _ => u64::MAX,
        },
    }
}

/// What a card that speaks TCP takes and brings at a time [B]: the largest buffer of Linux's stack.
const OFFLOADED_BUFFER: u64 = 65_536;

/// A time of the processor that costs were measured on, on one that is so many times as fast.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
pub(super) fn at_speed(time: Picos, speed: f64) -> Picos {
    Picos((time.0 as f64 / speed).round() as u64)
}

/// Time of a byte at so many bytes a second, in 1/65536 ps.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn byte_at(bytes_per_second: f64) -> u64 {
    (1e12 * 65_536.0 / bytes_per_second).round() as u64
}

/// A share as a fraction of 2^64.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn chance(share: f64) -> u64 {
    (share * 2_f64.powi(64)) as u64
}
