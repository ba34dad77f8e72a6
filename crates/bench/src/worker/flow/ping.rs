//! Requests and responses: one message there and one back, each round trip timed.

use bitpath_platform::clock::{monotonic_ns, thread_cpu_ns};
use bitpath_platform::socket::{TcpStream, UdpSocket};

use super::tally::Silence;
use crate::BenchError;
use crate::worker::{PingOrder, Pings, not_open};

/// Longest wait for one response [ns]; longer is a loss.
const RESPONSE_PATIENCE_NS: u64 = 1_000_000_000;

/// Longest wait for a request [ns]: longer than one for a response, so that the asking side gives
/// up first.
const REQUEST_PATIENCE_NS: u64 = 3_000_000_000;

/// Asks over TCP.
pub(super) fn ask_tcp(stream: &TcpStream, order: PingOrder) -> Result<Pings, BenchError> {
    let mut message = vec![0; order.message_bytes];
    ask(order.count, |_| {
        send_all(&message, |rest| Ok(stream.send(rest)?), RESPONSE_PATIENCE_NS)?;
        if fill(stream, &mut message, RESPONSE_PATIENCE_NS)? {
            return Ok(true);
        }
        // A response that comes later would answer the next request.
        Err(not_open("the way back"))
    })
}

/// Asks over UDP; the first byte tells one request from the next.
pub(super) fn ask_udp(socket: &UdpSocket, order: PingOrder) -> Result<Pings, BenchError> {
    let mut message = vec![0; order.message_bytes];
    let mut response = vec![0; order.message_bytes];
    ask(order.count, |index| {
        message[0] = index.to_le_bytes()[0];
        send_all(&message, |rest| Ok(socket.send(rest)?), RESPONSE_PATIENCE_NS)?;
        let mut silence = Silence::default();
        loop {
            match socket.receive(&mut response)? {
                Some(1..) if response[0] == message[0] => return Ok(true),
                Some(_) => {}
                None if silence.longer_than(RESPONSE_PATIENCE_NS) => return Ok(false),
                None => {}
            }
        }
    })
}

/// Times `round_trip`, which answers whether there was a response.
fn ask(
    count: u64,
    mut round_trip: impl FnMut(u64) -> Result<bool, BenchError>,
) -> Result<Pings, BenchError> {
    let mut pings = Pings::default();
    let cpu_before_ns = thread_cpu_ns();
    for index in 0..count {
        let began_ns = monotonic_ns();
        if round_trip(index)? {
            pings.round_trip_ns.push(monotonic_ns() - began_ns);
        } else {
            pings.lost += 1;
            if pings.lost > MAX_LOST {
                return Err(not_open("the way back"));
            }
        }
    }
    pings.cpu_ns = thread_cpu_ns() - cpu_before_ns;
    Ok(pings)
}

/// Answers over TCP.
pub(super) fn answer_tcp(stream: &TcpStream, order: PingOrder) -> Result<(), BenchError> {
    let mut message = vec![0; order.message_bytes];
    for _ in 0..order.count {
        if !fill(stream, &mut message, REQUEST_PATIENCE_NS)? {
            return Ok(());
        }
        send_all(&message, |rest| Ok(stream.send(rest)?), REQUEST_PATIENCE_NS)?;
    }
    Ok(())
}

/// Answers over UDP.
pub(super) fn answer_udp(socket: &UdpSocket, order: PingOrder) -> Result<(), BenchError> {
    let mut message = vec![0; order.message_bytes];
    let (mut answered, mut silence) = (0, Silence::default());
    while answered < order.count {
        match socket.receive(&mut message)? {
            // The end of an earlier transfer.
            Some(0) => {}
            Some(length) => {
                silence.broken();
                send_all(&message[..length], |rest| Ok(socket.send(rest)?), REQUEST_PATIENCE_NS)?;
                answered += 1;
            }
            None if silence.longer_than(REQUEST_PATIENCE_NS) => break,
            None => {}
        }
    }
    Ok(())
}

/// Sends until nothing is left.
fn send_all(
    mut rest: &[u8],
    send: impl Fn(&[u8]) -> Result<Option<usize>, BenchError>,
    patience_ns: u64,
) -> Result<(), BenchError> {
    let mut silence = Silence::default();
    while !rest.is_empty() {
        match send(rest)? {
            Some(sent) => rest = &rest[sent.min(rest.len())..],
            None if silence.longer_than(patience_ns) => return Err(not_open("the way there")),
            None => {}
        }
    }
    Ok(())
}

/// Receives until the message is full; false when it ended or fell silent before.
fn fill(stream: &TcpStream, message: &mut [u8], patience_ns: u64) -> Result<bool, BenchError> {
    let (mut filled, mut silence) = (0, Silence::default());
    while filled < message.len() {
        match stream.receive(&mut message[filled..])? {
            Some(0) => return Ok(false),
            Some(length) => filled += length,
            None if silence.longer_than(patience_ns) => return Ok(false),
            None => {}
        }
    }
    Ok(true)
}

/// Requests that may be lost before the way counts as broken [count]: each costs a second.
const MAX_LOST: u64 = 3;
