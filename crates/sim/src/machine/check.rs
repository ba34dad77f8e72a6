//! Values of a machine that do not go together, found before it runs.

use bitpath_measure::{ByteCount, Picos};

use super::description::{Direction, Flow, Machine, Task};
use crate::job::{MAX_DATAGRAM, MIN_FILM_MESSAGE};
use crate::profile::Transport;

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
    /// A server of films that receives.
    #[error("flow {flow}: a video server sends; set direction = \"send\"")]
    Server {
        /// The flow.
        flow: String,
    },
    /// A message that the process's buffer never holds.
    #[error("flow {flow}: a message of {message} never fits its user_buffer of {buffer}")]
    UserBuffer {
        /// The flow.
        flow: String,
        /// Its message size.
        message: ByteCount,
        /// Its buffer.
        buffer: ByteCount,
    },
    /// A slice that a switch takes whole.
    #[error(
        "a quantum of {quantum} is no longer than a context_switch of {switch}: no process would ever get on"
    )]
    Quantum {
        /// Time slice.
        quantum: Picos,
        /// Switch between two processes.
        switch: Picos,
    },
    /// A message that hardly holds a frame's header.
    #[error(
        "flow {flow}: a message of {message} is too small for a film's frames; at least {least}"
    )]
    Header {
        /// The flow.
        flow: String,
        /// Its message size.
        message: ByteCount,
        /// The smallest.
        least: ByteCount,
    },
    /// A window that never opens.
    #[error(
        "flow {flow}: a receive_buffer of {buffer} has no room for one segment, which is charged {charge}"
    )]
    Window {
        /// The flow.
        flow: String,
        /// Its receive buffer.
        buffer: ByteCount,
        /// A segment with the kernel's overhead.
        charge: ByteCount,
    },
    /// Operations against the direction of their flow.
    #[error(
        "flow {flow}: its operations {verb}, and a flow goes one way; give the other one a flow of its own"
    )]
    Direction {
        /// The flow.
        flow: String,
        /// What they do.
        verb: &'static str,
    },
    /// Programs that are not one for each flow.
    #[error("{programs} programs for {flows} flows: there must be one for each")]
    Programs {
        /// Programs given.
        programs: usize,
        /// Flows, each of a count counted.
        flows: usize,
    },
    /// A change of what a machine under way is made of.
    #[error("the {what} is fixed once the machine runs")]
    Fixed {
        /// What cannot be changed.
        what: &'static str,
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

impl Machine {
    /// Why this machine cannot be, where two of its values do not go together.
    ///
    /// # Errors
    /// Cores that it does not have, media that do not arrive as datagrams, messages that fit no
    /// datagram or ring, operations that never move anything.
    pub fn check(&self) -> Result<(), MachineError> {
        let (quantum, switch) = (self.cpu.quantum, self.cpu.context_switch);
        if quantum.0 as f64 <= switch.0 as f64 / self.cpu.speed {
            return Err(MachineError::Quantum { quantum, switch });
        }
        self.flows.iter().try_for_each(|flow| check(self, flow))
    }
}

fn check(machine: &Machine, flow: &Flow) -> Result<(), MachineError> {
    let (name, cores) = (flow.name.clone(), machine.cpu.cores);
    if flow.core >= cores {
        return Err(MachineError::Core { flow: name, core: flow.core, cores });
    }
    check_job(flow)?;
    check_sizes(machine, flow)?;
    check_operations(flow)
}

/// Whether the job goes the way that its flow goes.
fn check_job(flow: &Flow) -> Result<(), MachineError> {
    let name = flow.name.clone();
    let media = match flow.job {
        Task::Mpeg { .. } => Some("a film"),
        Task::Rtp { .. } => Some("RTP"),
        _ => None,
    };
    let arrives = flow.transport == Transport::Udp && flow.direction == Direction::Receive;
    if let Some(what) = media.filter(|_| !arrives) {
        return Err(MachineError::Media { flow: name, what });
    }
    if matches!(flow.job, Task::Vod { .. }) && flow.direction == Direction::Receive {
        return Err(MachineError::Server { flow: name });
    }
    Ok(())
}

/// Whether messages and packets fit what they pass.
fn check_sizes(machine: &Machine, flow: &Flow) -> Result<(), MachineError> {
    let (name, message, segment) = (flow.name.clone(), flow.message, machine.line.segment);
    if let Some(buffer) = flow.user_buffer.filter(|buffer| *buffer < message) {
        return Err(MachineError::UserBuffer { flow: name, message, buffer });
    }
    let (most, least) = (MAX_DATAGRAM, MIN_FILM_MESSAGE);
    let datagrams = flow.transport == Transport::Udp;
    if datagrams && message > most {
        return Err(MachineError::Datagram { flow: name, message, most });
    }
    let packet = if datagrams { message } else { segment };
    let frames = packet.0.div_ceil(segment.0);
    if frames > machine.nic.ring as u64 {
        return Err(MachineError::Ring { flow: name, frames, ring: machine.nic.ring });
    }
    if matches!(flow.job, Task::Mpeg { .. }) && message < least {
        return Err(MachineError::Header { flow: name, message, least });
    }
    let (buffer, charge) = (flow.receive_buffer, ByteCount(segment.0 + machine.stack.overhead.0));
    if !datagrams && flow.direction == Direction::Receive && buffer < charge {
        return Err(MachineError::Window { flow: name, buffer, charge });
    }
    let packet = ByteCount(packet.0 + frames * machine.line.headers.0);
    if packet > machine.line.queue {
        return Err(MachineError::Queue { flow: name, packet, queue: machine.line.queue });
    }
    Ok(())
}

fn check_operations(flow: &Flow) -> Result<(), MachineError> {
    use crate::job::Operation::{Free, Read, Write};
    let Task::Operations { list, .. } = &flow.job else { return Ok(()) };
    let name = flow.name.clone();
    if list.iter().all(|operation| matches!(operation, Free(_))) {
        return Err(MachineError::Timeless { flow: name });
    }
    let reads = list.iter().any(|operation| matches!(operation, Read(_)));
    let writes = list.iter().filter_map(|operation| match operation {
        Write(bytes) => Some(*bytes),
        _ => None,
    });
    let most = MAX_DATAGRAM;
    match (flow.direction, reads, writes.max()) {
        (Direction::Receive, false, _) => Err(MachineError::Idle { flow: name, verb: "read" }),
        (Direction::Send, _, None) => Err(MachineError::Idle { flow: name, verb: "write" }),
        (Direction::Receive, _, Some(_)) => {
            Err(MachineError::Direction { flow: name, verb: "write to a flow that is received" })
        }
        (Direction::Send, true, _) => {
            Err(MachineError::Direction { flow: name, verb: "read from a flow that is sent" })
        }
        (Direction::Send, _, Some(message))
            if flow.transport == Transport::Udp && message > most =>
        {
            Err(MachineError::Datagram { flow: name, message, most })
        }
        _ => Ok(()),
    }
}
