//! What the protocol stack costs, by transport, side and message size.
//!
//! UDP is measured in bursts that fit the receive buffer: the sender sends one while the receiver
//! waits elsewhere, then the receiver drains it. Neither side ever wakes the other, so what is
//! measured is the stack alone. TCP cannot be measured apart: its two ends drive each other, so
//! both are measured while a stream flows.

use std::time::Duration;

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Unit};
use bitpath_sim::profile::{Side, Transport};

use crate::BenchError;
use crate::sampling::Sampler;
use crate::testbed::{Testbed, unexpected};
use crate::worker::{Buffers, Order, Report, SliceUse, TransferOrder};

/// Message sizes of the probe [B]: one byte, and powers of two around the packet's limit, up to
/// what a datagram carries.
pub const UDP_SIZES: [usize; 8] = [1, 64, 512, 1472, 4096, 16_384, 32_768, 65_507];

/// The same for TCP [B], up to a stream's usual write; closer where a call begins to need several segments.
pub const TCP_SIZES: [usize; 9] = [1, 64, 512, 1448, 2048, 3072, 4096, 16_384, 65_536];

/// Message sizes of the probe over one transport [B].
#[must_use]
pub fn sizes(transport: Transport) -> &'static [usize] {
    match transport {
        Transport::Udp => &UDP_SIZES,
        Transport::Tcp => &TCP_SIZES,
    }
}

/// Socket buffers of the probe [B]: enough for any burst below.
pub const PROBE_BUFFERS: Buffers = Buffers { receive: 4 << 20, send: 4 << 20 };

/// Most messages in a burst: some hundred microseconds.
const MAX_BURST: u64 = 256;

/// Most socket buffer that a burst takes [B]: it then fits half of a common second-level cache, as what waits
/// does where a receiver keeps up.
const MAX_BURST_BYTES: u64 = 512 << 10;

/// Bursts in one slice of UDP: each slice then lasts some six milliseconds.
const BURSTS_PER_SLICE: usize = 12;

/// Length of one slice of a TCP stream [ns].
const STREAM_SLICE_NS: f64 = 40e6;

/// Longest wait for a slice.
const SLICE_PATIENCE: Duration = Duration::from_secs(20);

/// Labels of one cost.
#[must_use]
pub fn cost_labels(transport: Transport, side: &str, message_bytes: usize) -> Labels {
    labels([
        ("transport", transport.name()),
        ("side", side),
        ("message_bytes", &message_bytes.to_string()),
    ])
}

/// One slice of UDP at one size: both sides' processor time a message.
///
/// # Errors
/// Those of the workers.
pub fn udp_slice(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    message_bytes: usize,
    charge: u64,
) -> Result<(), BenchError> {
    let messages = (MAX_BURST_BYTES / charge.max(1)).clamp(1, MAX_BURST);
    let order = TransferOrder { transport: Transport::Udp, message_bytes, messages, gap_ns: 0 };
    let ((sent, received), beside) = sampler.beside(bed, |bed| {
        let (mut sent, mut received) = (SliceUse::default(), SliceUse::default());
        for _ in 0..BURSTS_PER_SLICE {
            add(&mut sent, slice(bed, Side::Sender, &Order::Burst(order))?);
            add(&mut received, slice(bed, Side::Receiver, &Order::Drain(order))?);
        }
        Ok((sent, received))
    })?;
    for (side, used) in [("send", sent), ("receive", received)] {
        let cost = used.cpu_ns as f64 / used.calls.max(1) as f64;
        sampler.add(
            "stack.cost",
            &cost_labels(Transport::Udp, side, message_bytes),
            Unit::Nanoseconds,
            cost,
            &beside,
        );
    }
    Ok(())
}

/// One slice of a TCP stream at one size: both sides' processor time a message.
///
/// The receiver reads as it can; its cost is that of a message's share of the bytes.
///
/// # Errors
/// Those of the workers.
pub fn tcp_slice(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    message_bytes: usize,
) -> Result<(), BenchError> {
    let send_labels = cost_labels(Transport::Tcp, "send", message_bytes);
    // Before the first slice the cost is not known: a guess that errs towards a short slice.
    let expected =
        sampler.median("stack.cost", &send_labels).unwrap_or(1000.0 + message_bytes as f64);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive count"
    )]
    let messages = (STREAM_SLICE_NS / expected).max(16.0) as u64;
    let order = TransferOrder { transport: Transport::Tcp, message_bytes, messages, gap_ns: 0 };
    let ((sent, received), beside) = sampler.beside(bed, |bed| {
        match bed.ask_both(&Order::Burst(order), &Order::Drain(order), SLICE_PATIENCE)? {
            (Report::Slice(sent), Report::Slice(received)) => Ok((sent, received)),
            (report, _) => Err(unexpected(Side::Sender, &Order::Burst(order), &report)),
        }
    })?;
    for (side, used) in [("send", sent), ("receive", received)] {
        let cost = used.cpu_ns as f64 / messages as f64;
        sampler.add(
            "stack.cost",
            &cost_labels(Transport::Tcp, side, message_bytes),
            Unit::Nanoseconds,
            cost,
            &beside,
        );
    }
    Ok(())
}

fn slice(bed: &mut Testbed, side: Side, order: &Order) -> Result<SliceUse, BenchError> {
    match bed.ask(side, order, SLICE_PATIENCE)? {
        Report::Slice(used) => Ok(used),
        report => Err(unexpected(side, order, &report)),
    }
}

fn add(sum: &mut SliceUse, used: SliceUse) {
    sum.calls += used.calls;
    sum.bytes += used.bytes;
    sum.cpu_ns += used.cpu_ns;
    sum.elapsed_ns += used.elapsed_ns;
    sum.sleeps += used.sleeps;
}
