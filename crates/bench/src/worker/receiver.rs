//! The receiving end: draining bursts for the probe, being woken, and jobs.

mod frames;

use std::time::Duration;

use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::usage::ThreadUsage;
use bitpath_sim::job::Work;
use bitpath_sim::profile::Transport;

use super::sender::slice_use;
use super::spin::spin_until;
use super::{JobOrder, ReceivedJob, Report, State, TransferOrder, Woken, stream, udp};
use crate::BenchError;
use frames::FrameReader;

/// Longest silence after which a receiver takes the transfer as ended.
const SILENCE: Duration = Duration::from_millis(700);

/// Longest wait for the first message of a job, its start included.
const FIRST_PATIENCE: Duration = Duration::from_secs(5);

/// Largest message of any transport and order [B].
const LARGEST_MESSAGE: usize = 1 << 20;

/// Receives what waits in a UDP socket, or as many bytes as a TCP order says.
pub(super) fn drain(state: &State, order: TransferOrder) -> Result<Report, BenchError> {
    match order.transport {
        Transport::Udp => drain_udp(state),
        Transport::Tcp => drain_tcp(state, order),
    }
}

fn drain_udp(state: &State) -> Result<Report, BenchError> {
    let socket = udp(state)?;
    // Written once: the first bursts would meet the faults of its pages.
    let mut buffer = vec![0xff; LARGEST_MESSAGE];
    let (mut calls, mut bytes) = (0, 0);
    let before = ThreadUsage::now();
    while let Some(length) = socket.try_receive(&mut buffer)? {
        calls += 1;
        bytes += length as u64;
    }
    Ok(Report::Slice(slice_use(calls, bytes, &ThreadUsage::now().since(&before))))
}

fn drain_tcp(state: &State, order: TransferOrder) -> Result<Report, BenchError> {
    let socket = stream::tcp(state)?;
    let mut buffer = vec![0; order.message_bytes.min(LARGEST_MESSAGE)];
    let wanted = order.messages * order.message_bytes as u64;
    let (mut calls, mut bytes, mut heard_ns) = (0, 0, monotonic_ns());
    let before = ThreadUsage::now();
    while bytes < wanted {
        match socket.receive(&mut buffer)? {
            Some(0) => break,
            Some(length) => {
                calls += 1;
                bytes += length as u64;
            }
            None if silent_since(heard_ns, FIRST_PATIENCE) => break,
            None => {}
        }
        if calls % 64 == 0 {
            heard_ns = monotonic_ns();
        }
    }
    Ok(Report::Slice(slice_use(calls, bytes, &ThreadUsage::now().since(&before))))
}

fn silent_since(heard_ns: u64, patience: Duration) -> bool {
    u128::from(monotonic_ns().saturating_sub(heard_ns)) > patience.as_nanos()
}

/// Receives messages as they come, asleep in between, and notes when each was there.
pub(super) fn paced(state: &State, order: TransferOrder) -> Result<Report, BenchError> {
    let socket = udp(state)?;
    let mut buffer = vec![0; LARGEST_MESSAGE];
    let mut woken = Woken::default();
    let (mut bytes, mut heard_ns) = (0, monotonic_ns());
    let before = ThreadUsage::now();
    while (woken.at_ns.len() as u64) < order.messages {
        if let Some(length) = socket.receive(&mut buffer)? {
            heard_ns = monotonic_ns();
            woken.at_ns.push(heard_ns);
            bytes += length as u64;
        } else if silent_since(heard_ns, FIRST_PATIENCE) {
            break;
        }
    }
    woken.usage = slice_use(woken.at_ns.len() as u64, bytes, &ThreadUsage::now().since(&before));
    Ok(Report::Woken(woken))
}

/// Receives a job: the real counterpart of the simulated receiver, step for step.
pub(super) fn job(state: &mut State, order: &JobOrder) -> Result<Report, BenchError> {
    let mut work = UserWork::new(state, order)?;
    let mut buffer = vec![0; message_room(order)];
    let dropped_before = dropped(state, order)?;
    let mut received = ReceivedJob::default();
    let before = ThreadUsage::now();
    let mut heard_ns = monotonic_ns().max(order.start_ns);
    let mut silent_ns = 0;
    loop {
        match receive(state, order.job.transport, &mut buffer)? {
            Some(0) => break,
            Some(length) => {
                received.messages += 1;
                received.bytes += length as u64;
                work.take(&buffer[..length], &mut received)?;
                // A look at the clock costs a tenth of a small receive: one in many is enough.
                if received.messages % LOOK_EVERY == 1 {
                    heard_ns = monotonic_ns();
                }
            }
            None => {
                let patience = if received.messages == 0 { FIRST_PATIENCE } else { SILENCE };
                if silent_since(heard_ns, patience) {
                    silent_ns = monotonic_ns() - heard_ns;
                    break;
                }
            }
        }
    }
    let used = ThreadUsage::now();
    received.ended_ns = work.last_done_ns().unwrap_or(used.elapsed_ns - silent_ns);
    received.dropped = dropped(state, order)? - dropped_before;
    received.usage = slice_use(received.messages, received.bytes, &used.since(&before));
    work.finish(&mut received);
    Ok(Report::Received(Box::new(received)))
}

/// Messages between two looks at the clock.
const LOOK_EVERY: u64 = 256;

/// A datagram needs room for the largest; a stream is read as the job says.
fn message_room(order: &JobOrder) -> usize {
    match order.job.transport {
        Transport::Udp => LARGEST_MESSAGE,
        Transport::Tcp => {
            usize::try_from(order.job.message.0).unwrap_or(LARGEST_MESSAGE).min(LARGEST_MESSAGE)
        }
    }
}

fn receive(
    state: &State,
    transport: Transport,
    buffer: &mut [u8],
) -> Result<Option<usize>, BenchError> {
    Ok(match transport {
        Transport::Udp => udp(state)?.receive(buffer)?,
        Transport::Tcp => stream::tcp(state)?.receive(buffer)?,
    })
}

fn dropped(state: &State, order: &JobOrder) -> Result<u64, BenchError> {
    Ok(match order.job.transport {
        Transport::Udp => udp(state)?.dropped()?,
        Transport::Tcp => 0,
    })
}

/// What the user's process does with what it reads.
enum UserWork {
    /// Works so long on each byte [ns/B].
    Raw(f64),
    Frames(Box<FrameReader>),
}

impl UserWork {
    fn new(state: &mut State, order: &JobOrder) -> Result<Self, BenchError> {
        Ok(match &order.job.work {
            Work::Raw { process, .. } => Self::Raw(process.0),
            Work::Mpeg { .. } => Self::Frames(Box::new(FrameReader::new(state, order)?)),
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a short positive time"
    )]
    fn take(&mut self, message: &[u8], received: &mut ReceivedJob) -> Result<(), BenchError> {
        match self {
            Self::Raw(process) => {
                received.useful_bytes += message.len() as u64;
                if *process > 0.0 {
                    spin_until(monotonic_ns() + (*process * message.len() as f64) as u64);
                }
                Ok(())
            }
            Self::Frames(reader) => reader.take(message),
        }
    }

    /// When the last frame was ready [ns]; none for raw data.
    fn last_done_ns(&self) -> Option<u64> {
        match self {
            Self::Raw(_) => None,
            Self::Frames(reader) => reader.last_done_ns(),
        }
    }

    fn finish(self, received: &mut ReceivedJob) {
        if let Self::Frames(reader) = self {
            reader.finish(received);
        }
    }
}
