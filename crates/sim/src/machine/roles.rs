//! Who does what: what the peer of a flow sends, and the program of the machine's process.

use bitpath_measure::{BitRate, ByteCount, Picos};

use super::assemble::at_speed;
use super::description::{Direction, Flow, Machine, Task};
use crate::job::{
    Decoder, Job, Listener, Operation, Operations, Program, Reader, Viewer, Work, Writer,
};
use crate::profile::NanosPerByte;

/// What the peer of a flow sends.
pub(super) fn peer_job(machine: &Machine, flow: &Flow) -> Job {
    let work = match &flow.job {
        Task::Mpeg { film, playout_delay, .. } => Work::Mpeg {
            film: film.clone(),
            speed: 1.0,
            software_decode: false,
            playout_delay: *playout_delay,
        },
        other => Work::Raw { rate: other.rate(), process: NanosPerByte(0.0) },
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

/// What the machine's process of the `index`-th flow of these does.
pub(super) fn program(
    machine: &Machine,
    flow: &Flow,
    index: usize,
    frames: usize,
) -> Box<dyn Program> {
    let speed = machine.cpu.speed;
    let pace = |rate: BitRate| rate.time_of(flow.message);
    let work = own_work(machine, flow);
    let sends = flow.direction == Direction::Send;
    match &flow.job {
        Task::Raw { rate, .. } if sends => {
            let writer = Writer::new(flow.message, rate.and_then(pace), None);
            Box::new(Writer { work, ..writer })
        }
        Task::Raw { process, .. } => Box::new(Reader::new(flow.message, process.at(speed))),
        Task::Bulk { bytes } if sends => {
            // A stream is counted in segments: the last one is full.
            let segment = machine.line.segment.0;
            let bytes = ByteCount(bytes.0.div_ceil(segment) * segment);
            Box::new(Writer::new(flow.message, None, Some(bytes)))
        }
        Task::Bulk { .. } => Box::new(Reader::new(flow.message, NanosPerByte(0.0))),
        Task::Mpeg { film, decode, device, playout_delay } => {
            let decoder = Decoder { core: decode.at(speed), device: *device };
            Box::new(Viewer::new(film.clone(), frames, decoder, *playout_delay))
        }
        Task::Rtp { jitter_buffer, process, .. } => {
            Box::new(Listener::new(*jitter_buffer, at_speed(*process, speed)))
        }
        Task::Vod { rate, .. } => {
            let pace = pace(*rate);
            let due = Picos(pace.unwrap_or_default().0 * index as u64 / flow.count as u64);
            let writer = Writer::new(flow.message, pace, None);
            Box::new(Writer { due, work, ..writer })
        }
        Task::Operations { list, .. } => {
            let at_speed = |operation: &Operation| match *operation {
                Operation::Process(time) => Operation::Process(at_speed(time, speed)),
                other => other,
            };
            Box::new(Operations::new(list.iter().map(at_speed).collect()))
        }
    }
}

/// The process's own work on one message [ps]; that of a list of operations is not known.
pub(super) fn own_work(machine: &Machine, flow: &Flow) -> Picos {
    let bytes = flow.message.0 as f64;
    match &flow.job {
        Task::Raw { process, .. } | Task::Vod { process, .. } => {
            process.at(machine.cpu.speed).of(bytes)
        }
        Task::Mpeg { decode, .. } => decode.at(machine.cpu.speed).of(bytes),
        Task::Rtp { process, .. } => at_speed(*process, machine.cpu.speed),
        Task::Bulk { .. } | Task::Operations { .. } => Picos(0),
    }
}
