//! A machine as written, brought down to the numbers that the engine adds up.

use bitpath_measure::{BitRate, ByteCount, Picos};

use super::description::{Direction, Flow, Machine, Task, Timer};
use super::outcome::Outcome;
use super::setup::{self, Cores, Memory, Nic, Setup, StackCosts, Way};
use super::{engine, tcp};
use crate::job::{Job, Listener, Operations, Phase, Program, Reader, Viewer, Work, Writer};
use crate::profile::{NanosPerByte, Transport};

/// Values of a machine that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// A core that the machine does not have.
    #[error("flow {flow}: core {core} of a machine with {cores} cores; they are counted from 0")]
    Core {
        /// The flow.
        flow: String,
        /// Its core.
        core: usize,
        /// Cores of the machine.
        cores: usize,
    },
    /// Films and RTP are datagrams that arrive.
    #[error(
        "flow {flow}: {what} is received over UDP; set transport = \"udp\" and direction = \"receive\""
    )]
    Media {
        /// The flow.
        flow: String,
        /// What it was to carry.
        what: &'static str,
    },
    /// A message that no datagram holds.
    #[error("flow {flow}: a message of {message} does not fit a UDP datagram; at most {most}")]
    Datagram {
        /// The flow.
        flow: String,
        /// Its message size.
        message: ByteCount,
        /// The largest payload.
        most: ByteCount,
    },
    /// A ring that one datagram overfills.
    #[error("flow {flow}: a datagram of {frames} frames never fits a ring of {ring}")]
    Ring {
        /// The flow.
        flow: String,
        /// Frames of one message.
        frames: u64,
        /// Descriptors of the ring.
        ring: usize,
    },
    /// A queue that one packet overfills.
    #[error("flow {flow}: a packet of {packet} on the line never fits its queue of {queue}")]
    Queue {
        /// The flow.
        flow: String,
        /// One message with its headers.
        packet: ByteCount,
        /// The queue before the line.
        queue: ByteCount,
    },
    /// Operations without one that takes time.
    #[error(
        "flow {flow}: its operations never let time pass; one must read, write, process or sleep"
    )]
    Timeless {
        /// The flow.
        flow: String,
    },
    /// A receiving process that never reads, or a sending one that never writes.
    #[error("flow {flow}: its operations never {verb}, so nothing is ever delivered")]
    Idle {
        /// The flow.
        flow: String,
        /// What is missing.
        verb: &'static str,
    },
}

/// Simulates a machine. Same machine, interval and seed: same outcome.
///
/// # Errors
/// When values do not go together.
pub fn run(machine: &Machine, interval: Picos, seed: u64) -> Result<Outcome, MachineError> {
    let Assembled { setup, jobs, programs } = Assembled::of(machine, interval, seed)?;
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
                programs.push(program(machine, flow, job.frames()));
                flows.push(numbers(machine, flow, core));
                jobs.push(job);
            }
        }
        Ok(Self { setup: setup(machine, flows, interval, seed), jobs, programs })
    }
}

impl Machine {
    /// Why this machine cannot be, where two of its values do not go together.
    ///
    /// # Errors
    /// Cores that it does not have, media that do not arrive as datagrams, messages that fit no
    /// datagram or ring, operations that never move anything.
    pub fn check(&self) -> Result<(), MachineError> {
        self.flows.iter().try_for_each(|flow| check(self, flow))
    }
}

fn check(machine: &Machine, flow: &Flow) -> Result<(), MachineError> {
    let (name, cores) = (flow.name.clone(), machine.cpu.cores);
    if flow.core >= cores {
        return Err(MachineError::Core { flow: name, core: flow.core, cores });
    }
    let media = match flow.job {
        Task::Mpeg { .. } => Some("a film"),
        Task::Rtp { .. } => Some("RTP"),
        _ => None,
    };
    let arrives = flow.transport == Transport::Udp && flow.direction == Direction::Receive;
    if let Some(what) = media.filter(|_| !arrives) {
        return Err(MachineError::Media { flow: name, what });
    }
    if flow.transport == Transport::Udp {
        let most = crate::job::MAX_DATAGRAM;
        if flow.message > most {
            return Err(MachineError::Datagram { flow: name, message: flow.message, most });
        }
        let frames = flow.message.0.div_ceil(machine.line.segment.0);
        if frames > machine.nic.ring as u64 {
            return Err(MachineError::Ring { flow: name, frames, ring: machine.nic.ring });
        }
    }
    let packet = match flow.transport {
        Transport::Udp => flow.message.0,
        Transport::Tcp => machine.line.segment.0,
    };
    let frames = packet.div_ceil(machine.line.segment.0);
    let packet = ByteCount(packet + frames * machine.line.headers.0);
    if packet > machine.line.queue {
        return Err(MachineError::Queue { flow: name, packet, queue: machine.line.queue });
    }
    check_operations(flow)
}

fn check_operations(flow: &Flow) -> Result<(), MachineError> {
    use crate::job::Operation::{Free, Read, Write};
    let Task::Operations { list, .. } = &flow.job else { return Ok(()) };
    let name = flow.name.clone();
    if list.iter().all(|operation| matches!(operation, Free(_))) {
        return Err(MachineError::Timeless { flow: name });
    }
    let (verb, moves): (_, fn(&crate::job::Operation) -> bool) = match flow.direction {
        Direction::Receive => ("read", |operation| matches!(operation, Read(_))),
        Direction::Send => ("write", |operation| matches!(operation, Write(_))),
    };
    if list.iter().any(moves) { Ok(()) } else { Err(MachineError::Idle { flow: name, verb }) }
}

/// What the peer of a flow sends.
fn peer_job(machine: &Machine, flow: &Flow) -> Job {
    let work = match &flow.job {
        Task::Mpeg { film, playout_delay, .. } => Work::Mpeg {
            film: film.clone(),
            speed: 1.0,
            software_decode: false,
            playout_delay: *playout_delay,
        },
        Task::Rtp { rate, .. } => raw(Some(*rate)),
        Task::Raw { rate, .. } | Task::Operations { rate, .. } => raw(*rate),
        Task::Bulk { .. } => raw(None),
    };
    Job {
        name: flow.name.clone(),
        transport: flow.transport,
        message: flow.message,
        receive_buffer: flow.receive_buffer,
        send_buffer: flow.send_buffer,
        duration: machine.duration,
        work,
    }
}

fn raw(rate: Option<BitRate>) -> Work {
    Work::Raw { rate, process: NanosPerByte(0.0) }
}

/// What the machine's process does.
fn program(machine: &Machine, flow: &Flow, frames: usize) -> Box<dyn Program> {
    let reader = |process| Reader { message: flow.message, process, phase: Phase::Read };
    let writer = |pace, left| Writer { message: flow.message, pace, left, due: Picos(0) };
    let sends = flow.direction == Direction::Send;
    match &flow.job {
        Task::Raw { rate, .. } if sends => {
            let pace = rate.and_then(|rate| rate.time_of(flow.message));
            Box::new(writer(pace, None))
        }
        Task::Raw { process, .. } => Box::new(reader(*process)),
        Task::Bulk { bytes } if sends => {
            // A stream is counted in segments: the last one is full.
            let segment = machine.line.segment.0;
            Box::new(writer(None, Some(ByteCount(bytes.0.div_ceil(segment) * segment))))
        }
        Task::Bulk { .. } => Box::new(reader(NanosPerByte(0.0))),
        Task::Mpeg { film, decode, playout_delay } => {
            Box::new(Viewer::new(film.clone(), frames, *decode, *playout_delay))
        }
        Task::Rtp { jitter_buffer, process, .. } => {
            Box::new(Listener::new(*jitter_buffer, *process))
        }
        Task::Operations { list, .. } => Box::new(Operations::new(list.clone())),
    }
}

fn setup(machine: &Machine, flows: Vec<setup::Flow>, interval: Picos, seed: u64) -> Setup {
    let Machine { cpu, nic, bus, memory, line, .. } = machine;
    let way = Way {
        byte_65536: byte_at(line.rate.0 as f64 / 8.0),
        queue: line.queue.0,
        delay: line.delay.0,
        loss: chance(line.loss),
    };
    Setup {
        end: machine.duration.0,
        interval: interval.0,
        seed,
        cores: Cores {
            count: cpu.cores,
            quantum: cpu.quantum.0,
            context_switch: cpu.context_switch.0,
            interrupt: cpu.interrupt.0,
            wake_latency: cpu.wake_latency.0,
            wake: cpu.wake.0,
        },
        nic: Nic {
            queues: nic.queues,
            ring: nic.ring,
            moderation_time: nic.moderation_time.0,
            moderation_frames: nic.moderation_frames,
            budget: nic.budget,
            budget_time: nic.budget_time.0,
            offload_bytes: nic.merge.0,
            dma_frame: bus.frame.0,
            dma_byte_65536: byte_at(bus.rate.0 as f64 / 8.0),
        },
        inward: way.clone(),
        outward: way,
        memory: Memory { controller_byte_65536: byte_at(memory.controller.0) },
        flows,
    }
}

fn numbers(machine: &Machine, flow: &Flow, core: usize) -> setup::Flow {
    let Machine { line, stack, .. } = machine;
    setup::Flow {
        direction: flow.direction,
        reliable: flow.transport == Transport::Tcp,
        copies: flow.copies,
        segment: line.segment.0,
        headers: line.headers.0,
        overhead: stack.overhead.0,
        receive_buffer: flow.receive_buffer.0,
        send_buffer: flow.send_buffer.0,
        timer: match flow.timer {
            Timer::Fixed { time } => tcp::Timer::Fixed(time.0),
            Timer::Measured { least } => tcp::Timer::Measured { least: least.0 },
        },
        stack: StackCosts {
            frame: stack.frame.0,
            delivery: stack.delivery.0,
            acknowledgement: stack.acknowledgement.0,
            call: stack.call.0,
            transmit: stack.transmit.0,
            pin: stack.pin.0,
            byte_65536: byte_at(stack.copy.0),
        },
        core,
        arrivals: flow.arrivals,
        limit: match flow.job {
            Task::Bulk { bytes } => bytes.0.div_ceil(line.segment.0),
            _ => u64::MAX,
        },
    }
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
