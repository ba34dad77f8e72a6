//! Sending over the streams of a flow, by each way of the bytes.

use std::time::Duration;

use bitpath_platform::PlatformError;
use bitpath_platform::clock::{monotonic_ns, sleep_until};
use bitpath_platform::memory::file::MemoryFile;
use bitpath_platform::socket::{FilePipe, TcpStream, UdpSocket, ZeroCopySender};

use super::source::{Places, Source};
use super::tally::{Tally, on_each};
use crate::BenchError;
use crate::worker::{CopyPath, FlowOrder, FlowSetup, FlowUse, not_open};

/// Longest time that a sender waits for room [ns]: the receiver is gone or stuck.
const ROOM_PATIENCE_NS: u64 = 10_000_000_000;

/// Longest time that the kernel may hold the pages of bytes that the receiver has already.
const COMPLETION_PATIENCE: Duration = Duration::from_secs(5);

/// Longest transfer [ns]: what is not sent until then is not sent.
const TRANSFER_LIMIT_NS: u64 = 20_000_000_000;

/// Messages between two looks at the clock, which costs a tenth of a small call.
const LOOK_EVERY: u64 = 256;

/// Longest wait for a send buffer to drain, for the count of segments only [ns], and time between two
/// looks [ns].
const DRAIN_PATIENCE_NS: u64 = 1_000_000_000;
const DRAIN_STEP_NS: u64 = 200_000;

/// Time that a receiver of datagrams has to wait for the first, so that none finds it elsewhere [ns].
const HEAD_START_NS: u64 = 2_000_000;

/// Pauses before the end of a UDP transfer is told again [ns]: a receiver with a full buffer
/// misses it, and drains 4 MiB in some milliseconds.
const END_PAUSES_NS: [u64; 3] = [0, 2_000_000, 10_000_000];

/// Sends each stream's share.
pub(super) fn over_tcp(
    streams: &[TcpStream],
    setup: &FlowSetup,
    order: &FlowOrder,
    source: &Source,
    first: u64,
) -> Result<FlowUse, BenchError> {
    on_each(streams, |index, stream| {
        let segments_before = stream.info()?.data_segments;
        let messages = order.share(index, streams.len());
        let places = Places::new(order, first, index, streams.len());
        let mut tally = Tally::begin();
        let counts = &mut tally.counts;
        match (order.path, source) {
            (CopyPath::Send, Source::Memory(memory)) => {
                send_messages(counts, messages, order.message_bytes, places, |place, left| {
                    stream.send(&memory[place..place + left])
                })?;
            }
            (CopyPath::Sendfile, Source::File(file)) => {
                send_messages(counts, messages, order.message_bytes, places, |place, left| {
                    stream.send_file(file, &mut (place as u64), left)
                })?;
            }
            (CopyPath::Splice, Source::File(file)) => {
                splice_messages(counts, messages, order.message_bytes, places, stream, file)?;
            }
            (CopyPath::ZeroCopy, Source::Memory(memory)) => {
                let mut sender = ZeroCopySender::new(stream)?;
                send_messages(counts, messages, order.message_bytes, places, |place, left| {
                    sender.send(&memory[place..place + left])
                })?;
                let done = sender.finish(COMPLETION_PATIENCE)?;
                (counts.completions, counts.copied_completions) = (done.completed, done.copied);
            }
            _ => return Err(not_open("the source of the flow")),
        }
        // Else the end of the last message waits for an answer that the receiver delays.
        stream.push(setup.no_delay)?;
        let mut tally = tally.end(None);
        tally.counts.packets = segments_sent(stream)?.wrapping_sub(segments_before).into();
        Ok(tally)
    })
}

/// Segments sent since the connection was made, once the kernel has sent what it was given.
fn segments_sent(stream: &TcpStream) -> Result<u32, BenchError> {
    let deadline_ns = monotonic_ns() + DRAIN_PATIENCE_NS;
    loop {
        let info = stream.info()?;
        if info.unsent_bytes == 0 || monotonic_ns() > deadline_ns {
            return Ok(info.data_segments);
        }
        sleep_until(monotonic_ns() + DRAIN_STEP_NS);
    }
}

/// Sends each socket's share, and tells its end.
pub(super) fn over_udp(
    sockets: &[UdpSocket],
    setup: &FlowSetup,
    order: &FlowOrder,
    source: &Source,
    first: u64,
) -> Result<FlowUse, BenchError> {
    let Source::Memory(memory) = source else { return Err(not_open("the source of the flow")) };
    let segment_bytes = setup.segment_bytes.map_or(order.message_bytes, usize::from).max(1);
    let datagrams = order.message_bytes.div_ceil(segment_bytes) as u64;
    sleep_until(monotonic_ns() + HEAD_START_NS);
    on_each(sockets, |index, socket| {
        let messages = order.share(index, sockets.len());
        let places = Places::new(order, first, index, sockets.len());
        let mut tally = Tally::begin();
        send_messages(&mut tally.counts, messages, order.message_bytes, places, |place, left| {
            socket.send(&memory[place..place + left])
        })?;
        let mut tally = tally.end(None);
        tally.counts.packets = tally.counts.messages * datagrams;
        tell_end(socket);
        Ok(tally)
    })
}

/// Sends messages, each with as many calls as it takes. `step` sends from a place of the source so
/// many bytes as are left of the message, or fewer.
fn send_messages(
    counts: &mut FlowUse,
    messages: u64,
    message_bytes: usize,
    mut places: Places,
    mut step: impl FnMut(usize, usize) -> Result<Option<usize>, PlatformError>,
) -> Result<(), BenchError> {
    let limit_ns = monotonic_ns() + TRANSFER_LIMIT_NS;
    for message in 0..messages {
        if message % LOOK_EVERY == LOOK_EVERY - 1 && monotonic_ns() > limit_ns {
            break;
        }
        let place = places.next();
        counts.calls += until_sent(message_bytes, |left| step(place + message_bytes - left, left))?;
        counts.messages += 1;
        counts.bytes += message_bytes as u64;
    }
    Ok(())
}

/// Repeats a step until nothing is left; how many of them sent something.
fn until_sent(
    mut left: usize,
    mut step: impl FnMut(usize) -> Result<Option<usize>, PlatformError>,
) -> Result<u64, BenchError> {
    let (mut calls, mut deadline_ns) = (0, None);
    while left > 0 {
        if let Some(sent @ 1..) = step(left)? {
            (left, calls, deadline_ns) = (left - sent.min(left), calls + 1, None);
            continue;
        }
        let now_ns = monotonic_ns();
        if now_ns > *deadline_ns.get_or_insert(now_ns + ROOM_PATIENCE_NS) {
            return Err(not_open("the way to the receiver"));
        }
    }
    Ok(calls)
}

/// Messages through a pipe, which is empty between two of them.
fn splice_messages(
    counts: &mut FlowUse,
    messages: u64,
    message_bytes: usize,
    places: Places,
    stream: &TcpStream,
    file: &MemoryFile,
) -> Result<(), BenchError> {
    let mut pipe = FilePipe::new()?;
    send_messages(counts, messages, message_bytes, places, |place, left| {
        // An empty pipe is filled from here, with no more than what is left of the message.
        stream.splice_file(&mut pipe, file, &mut (place as u64), left)
    })
}

/// An empty datagram says that all was sent. The receiver may have counted to the end and closed:
/// then it is refused.
fn tell_end(socket: &UdpSocket) {
    for pause_ns in END_PAUSES_NS {
        if pause_ns > 0 {
            sleep_until(monotonic_ns() + pause_ns);
        }
        if socket.send(&[]).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_taken_in_parts_is_sent_whole() {
        let mut parts = [Some(3), None, Some(1), Some(6)].into_iter();
        let mut asked = Vec::new();
        let calls = until_sent(10, |left| {
            asked.push(left);
            Ok(parts.next().flatten())
        });
        assert_eq!((calls.unwrap(), asked), (3, vec![10, 7, 7, 6]));
    }

    #[test]
    fn the_next_part_of_a_message_follows_the_one_before() {
        let order = FlowOrder { source_bytes: 20, ..FlowOrder::plain(10, 3) };
        let (mut counts, mut asked) = (FlowUse::default(), Vec::new());
        send_messages(&mut counts, 3, 10, Places::new(&order, 0, 0, 1), |place, left| {
            asked.push((place, left));
            Ok(Some(left.min(6)))
        })
        .unwrap();
        assert_eq!(asked, [(0, 10), (6, 4), (10, 10), (16, 4), (0, 10), (6, 4)]);
        assert_eq!((counts.messages, counts.bytes, counts.calls), (3, 30, 6));
    }
}
