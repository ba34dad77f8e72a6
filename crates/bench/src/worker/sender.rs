//! The sending end: bursts for the probe, messages to a sleeping receiver, and jobs.

use std::time::Duration;

use bitpath_platform::clock::{monotonic_ns, sleep_until};
use bitpath_platform::codec::Clip;
use bitpath_platform::socket::{TcpStream, UdpSocket};
use bitpath_platform::usage::ThreadUsage;
use bitpath_sim::job::{FRAME_HEADER, Message, Schedule};
use bitpath_sim::profile::Transport;

use super::spin::spin_until;
use super::{JobOrder, Outgoing, Report, SentJob, SliceUse, State, TransferOrder, stream, udp};
use crate::BenchError;

/// Longest time that a sender waits for room: the receiver is gone or stuck.
const ROOM_PATIENCE: Duration = Duration::from_secs(10);

/// Times that the end of a UDP job is told; any of them may fall to a full buffer.
const END_REPEATS: u32 = 5;

/// Time between two such messages [ns].
const END_GAP_NS: u64 = 20_000_000;

/// Either kind of socket, with one `send`.
enum Outlet<'a> {
    Udp(&'a UdpSocket),
    Tcp(&'a TcpStream),
}

impl<'a> Outlet<'a> {
    fn of(state: &'a State, transport: Transport) -> Result<Self, BenchError> {
        Ok(match transport {
            Transport::Udp => Self::Udp(udp(state)?),
            Transport::Tcp => Self::Tcp(stream::tcp(state)?),
        })
    }

    /// Sends all of it, waiting for room.
    fn send(&self, mut bytes: &[u8]) -> Result<(), BenchError> {
        let mut deadline_ns = None;
        loop {
            let sent = match self {
                Self::Udp(socket) => socket.send(bytes)?,
                Self::Tcp(socket) => socket.send(bytes)?,
            };
            match sent {
                Some(count) if count >= bytes.len() => return Ok(()),
                Some(count) => bytes = &bytes[count..],
                None => {}
            }
            let now = monotonic_ns();
            let patience = u64::try_from(ROOM_PATIENCE.as_nanos()).unwrap_or(u64::MAX);
            if now > *deadline_ns.get_or_insert(now + patience) {
                return Err(super::not_open("the way to the receiver"));
            }
        }
    }
}

/// Sends messages back to back and accounts for them together.
pub(super) fn burst(state: &State, order: TransferOrder) -> Result<Report, BenchError> {
    together(state, order, || {})
}

/// Sends messages a gap apart, asleep before each, and accounts for them together.
pub(super) fn sleeping(state: &State, order: TransferOrder) -> Result<Report, BenchError> {
    together(state, order, || sleep_until(monotonic_ns() + order.gap_ns))
}

fn together(
    state: &State,
    order: TransferOrder,
    before_each: impl Fn(),
) -> Result<Report, BenchError> {
    let outlet = Outlet::of(state, order.transport)?;
    let message = vec![0x5a; order.message_bytes];
    let before = ThreadUsage::now();
    for _ in 0..order.messages {
        before_each();
        outlet.send(&message)?;
    }
    let used = ThreadUsage::now().since(&before);
    Ok(Report::Slice(slice_use(order.messages, order.messages * order.message_bytes as u64, &used)))
}

pub(super) fn slice_use(calls: u64, bytes: u64, used: &ThreadUsage) -> SliceUse {
    SliceUse {
        calls,
        bytes,
        cpu_ns: used.cpu_ns,
        elapsed_ns: used.elapsed_ns,
        sleeps: used.voluntary_switches,
    }
}

/// Sends messages a gap apart, busy in between so that this processor never sleeps.
pub(super) fn paced(state: &State, order: TransferOrder) -> Result<Report, BenchError> {
    let outlet = Outlet::of(state, order.transport)?;
    let message = vec![0x5a; order.message_bytes];
    let mut outgoing = Vec::new();
    let mut began_ns = monotonic_ns();
    for _ in 0..order.messages {
        // From the last message on: what was held up is not caught up in a burst.
        spin_until(began_ns + order.gap_ns);
        began_ns = monotonic_ns();
        outlet.send(&message)?;
        outgoing.push(Outgoing { began_ns, took_ns: monotonic_ns() - began_ns });
    }
    Ok(Report::Paced(outgoing))
}

/// Sends what the job's schedule says when it says so: the same schedule that the simulator follows.
pub(super) fn job(state: &mut State, order: &JobOrder) -> Result<Report, BenchError> {
    let clip = order.clip.as_deref().map(|path| state.clip(path)).transpose()?;
    let outlet = Outlet::of(state, order.job.transport)?;
    let mut schedule = Schedule::new(&order.job);
    let size = usize::try_from(order.job.message.0).unwrap_or(usize::MAX);
    let mut buffer = vec![0x5a; size];
    sleep_until(order.start_ns);
    let before = ThreadUsage::now();
    let (mut messages, mut bytes) = (0, 0);
    while let Some(message) = schedule.next((monotonic_ns().saturating_sub(order.start_ns)) * 1000)
    {
        let due_ns = order.start_ns + message.due / 1000;
        if message.due > 0 && monotonic_ns() < due_ns {
            sleep_until(due_ns);
        }
        let payload = fill(&mut buffer, message, clip.as_deref());
        outlet.send(payload)?;
        messages += 1;
        bytes += message.bytes;
    }
    let used = ThreadUsage::now().since(&before);
    let ended_ns = monotonic_ns();
    tell_end(state, order.job.transport)?;
    Ok(Report::Sent(SentJob { messages, usage: slice_use(messages, bytes, &used), ended_ns }))
}

/// The bytes of one message: for a frame its header and its part of the clip.
fn fill<'a>(buffer: &'a mut [u8], message: Message, clip: Option<&Clip>) -> &'a [u8] {
    let length = usize::try_from(message.bytes).unwrap_or(buffer.len()).min(buffer.len());
    if let Some(clip) = clip {
        let header = usize::try_from(FRAME_HEADER.0).unwrap_or(0);
        let position = usize::try_from(message.position).unwrap_or(0);
        let packet = clip.packet(message.frame % clip.frames().len());
        let frame = u32::try_from(message.frame).unwrap_or(u32::MAX);
        buffer[..4].copy_from_slice(&frame.to_be_bytes());
        buffer[4..header]
            .copy_from_slice(&u32::try_from(position).unwrap_or(u32::MAX).to_be_bytes());
        buffer[header..length].copy_from_slice(&packet[position..position + length - header]);
    }
    &buffer[..length]
}

/// An empty datagram, or the end of the stream, tells the receiver that all was sent.
fn tell_end(state: &State, transport: Transport) -> Result<(), BenchError> {
    match transport {
        Transport::Tcp => {
            stream::tcp(state)?.finish_sending()?;
        }
        Transport::Udp => {
            let socket = udp(state)?;
            for _ in 0..END_REPEATS {
                // The receiver may have heard the first one and closed: then the rest is refused.
                if socket.send(&[]).is_err() {
                    break;
                }
                sleep_until(monotonic_ns() + END_GAP_NS);
            }
        }
    }
    Ok(())
}
