//! Receiving over the streams of a flow: a stream until all its bytes are there, datagrams until
//! their number, their end or a silence.

use bitpath_platform::socket::{TcpStream, UdpSocket};

use super::tally::{Silence, Tally, on_each};
use crate::BenchError;
use crate::worker::{FlowOrder, FlowSetup, FlowUse};

/// Longest wait for the first bytes of a transfer [ns].
const FIRST_PATIENCE_NS: u64 = 5_000_000_000;

/// Silence after which the rest of a transfer will not come [ns]: ten times any pause of a sender
/// that another process put aside.
const SILENCE_NS: u64 = 400_000_000;

/// Most bytes of one read [B]: more than any receive buffer gives at once.
const MAX_READ_BYTES: usize = 1 << 20;

/// Room for the largest datagram, or for many that were joined [B].
const DATAGRAM_ROOM_BYTES: usize = 65_536;

/// Reads each stream's share of the bytes, so many a call as a message has.
pub(super) fn over_tcp(streams: &[TcpStream], order: &FlowOrder) -> Result<FlowUse, BenchError> {
    on_each(streams, |index, stream| {
        let wanted = order.share(index, streams.len()) * order.message_bytes as u64;
        let mut buffer = vec![0; order.message_bytes.min(MAX_READ_BYTES)];
        let (mut tally, mut silence) = (Tally::default(), Silence::default());
        while tally.counts.bytes < wanted {
            match stream.receive(&mut buffer)? {
                Some(0) => break,
                Some(length) => take(&mut tally, &mut silence, length, 0),
                None if given_up(&tally, &mut silence) => break,
                None => {}
            }
        }
        Ok(tally.end(silence.since_ns()))
    })
}

/// Takes datagrams, one a call or several together. What was dropped since the transfer before counts:
/// drops may begin before this thread does.
pub(super) fn over_udp(
    sockets: &[UdpSocket],
    setup: &FlowSetup,
    order: &FlowOrder,
    drops_before: &mut u64,
) -> Result<FlowUse, BenchError> {
    let mut used = on_each(sockets, |index, socket| {
        let wanted = order.share(index, sockets.len()) * order.message_bytes as u64;
        let mut buffer = vec![0; DATAGRAM_ROOM_BYTES];
        let (mut tally, mut silence) = (Tally::default(), Silence::default());
        while tally.counts.bytes < wanted {
            match datagrams(socket, setup, &mut buffer)? {
                // The end of an earlier transfer precedes all data of this one.
                Some((0, _)) if tally.counts.bytes == 0 => {}
                Some((0, _)) => break,
                Some((length, count)) => take(&mut tally, &mut silence, length, count),
                None if given_up(&tally, &mut silence) => break,
                None => {}
            }
        }
        Ok(tally.end(silence.since_ns()))
    })?;
    let drops = sockets.iter().map(UdpSocket::dropped).sum::<Result<u64, _>>()?;
    used.drops = drops - *drops_before;
    *drops_before = drops;
    Ok(used)
}

/// What one call brought: bytes and datagrams.
fn datagrams(
    socket: &UdpSocket,
    setup: &FlowSetup,
    buffer: &mut [u8],
) -> Result<Option<(usize, u64)>, BenchError> {
    if setup.receive_offload {
        let segments = socket.receive_segments(buffer)?;
        return Ok(segments.map(|segments| (segments.bytes, segments.count() as u64)));
    }
    Ok(socket.receive(buffer)?.map(|length| (length, 1)))
}

/// Counts what came; the clock starts with the first of it.
fn take(tally: &mut Tally, silence: &mut Silence, length: usize, packets: u64) {
    if tally.counts.calls == 0 {
        *tally = Tally::begin();
    }
    silence.broken();
    tally.counts.calls += 1;
    tally.counts.messages += 1;
    tally.counts.packets += packets;
    tally.counts.bytes += length as u64;
}

fn given_up(tally: &Tally, silence: &mut Silence) -> bool {
    silence.longer_than(if tally.counts.calls == 0 { FIRST_PATIENCE_NS } else { SILENCE_NS })
}
