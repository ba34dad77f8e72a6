//! Runs a job on real sockets with a real decoder, and reports it in the simulator's terms.

use std::path::Path;
use std::time::Duration;

use bitpath_measure::{ByteCount, Picos};
use bitpath_media::Quality;
use bitpath_platform::clock::monotonic_ns;
use bitpath_sim::job::{Job, Work};
use bitpath_sim::path::{Drops, Outcome};
use bitpath_sim::profile::{Side, Transport};

use crate::BenchError;
use crate::testbed::{Testbed, unexpected};
use crate::worker::{Buffers, JobOrder, Order, ReceivedJob, Report, SentJob};

/// Time that both workers have to read their orders before the sender begins [ns].
const HEAD_START_NS: u64 = 30_000_000;

/// Longest wait for a job beyond its own length.
const JOB_PATIENCE: Duration = Duration::from_secs(60);

/// Runs the job once. `clip` holds the bytes of a film; none for raw data.
///
/// # Errors
/// Those of the workers; when nothing at all arrives.
pub fn run(bed: &mut Testbed, job: &Job, clip: Option<&Path>) -> Result<Outcome, BenchError> {
    let half = |booked: ByteCount| usize::try_from(booked.0 / 2).unwrap_or(usize::MAX);
    let buffers = Buffers { receive: half(job.receive_buffer), send: half(job.send_buffer) };
    match job.transport {
        Transport::Udp => bed.open_udp(buffers)?,
        Transport::Tcp => bed.open_tcp(buffers)?,
    };
    if let Some(clip) = clip.map(Path::to_owned) {
        let load = Order::LoadClip { clip };
        bed.ask_both(&load, &load, JOB_PATIENCE)?;
    }
    let start_ns = monotonic_ns() + HEAD_START_NS;
    let order = JobOrder { job: job.clone(), clip: clip.map(Path::to_owned), start_ns, buffers };
    let (to_sender, to_receiver) =
        (Order::SendJob(Box::new(order.clone())), Order::ReceiveJob(Box::new(order)));
    let patience = JOB_PATIENCE + Duration::from_nanos(job.duration.0 / 1000);
    match bed.ask_both(&to_sender, &to_receiver, patience)? {
        (Report::Sent(sent), Report::Received(received)) => {
            outcome(job, start_ns, &sent, &received)
        }
        (report, _) => Err(unexpected(Side::Sender, &to_sender, &report)),
    }
}

fn outcome(
    job: &Job,
    start_ns: u64,
    sent: &SentJob,
    received: &ReceivedJob,
) -> Result<Outcome, BenchError> {
    if received.messages == 0 {
        return Err(BenchError::NothingArrived { job: job.name.clone() });
    }
    let since_start = |at_ns: u64| Picos::from_nanos(at_ns.saturating_sub(start_ns));
    let missing = match job.transport {
        Transport::Udp => sent.messages.saturating_sub(received.messages),
        Transport::Tcp => 0,
    };
    // What the socket did not drop was lost before it.
    let kernel_buffer = received.dropped.min(missing);
    Ok(Outcome {
        sent: sent.messages,
        received: received.messages,
        received_bytes: received.bytes,
        useful_bytes: received.useful_bytes,
        drops: Drops { link: missing - kernel_buffer, nic_ring: 0, kernel_buffer },
        elapsed: since_start(received.ended_ns),
        sending: since_start(sent.ended_ns),
        sender_busy: Picos::from_nanos(sent.usage.cpu_ns),
        receiver_busy: Picos::from_nanos(received.usage.cpu_ns),
        sleeps: received.usage.sleeps,
        frames: quality(job, received),
        ..Outcome::default()
    })
}

fn quality(job: &Job, received: &ReceivedJob) -> Quality {
    match &job.work {
        Work::Raw { .. } => Quality::default(),
        Work::Mpeg { film, .. } => {
            Quality::of(&film.looped_to(received.fates.len()).frames, &received.fates)
        }
    }
}
