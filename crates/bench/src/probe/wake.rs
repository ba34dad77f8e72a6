//! What it costs to wake a receiver that sleeps in its read: the sender, the receiver, and time.
//!
//! After a long sleep (paced messages) its processor is deep asleep; between the packets of a
//! stream it has hardly begun to sleep, and everything is cheaper. In a stream the latency shows
//! only in how many packets come between two sleeps:
//!
//! ```text
//! sender    wake W | send S | send S | ...                    packets n between two sleeps
//! receiver  latency L .......| R | R | R ... until it has caught up:  L = W + (n - 1/2) (S - R)
//! ```

use std::time::Duration;

use bitpath_measure::series::labels;
use bitpath_measure::statistics::median;
use bitpath_measure::{Labels, Unit};
use bitpath_sim::profile::{Side, Transport};

use crate::BenchError;
use crate::sampling::{Beside, Sampler};
use crate::testbed::{Testbed, unexpected};
use crate::worker::{Order, Report, TransferOrder, Woken};

/// Size of the messages [B]: that of a full packet, whose plain cost the stack's probe has.
pub const WAKE_MESSAGE: usize = 1472;

/// Messages in one slice.
const MESSAGES: u64 = 300;

/// Gap between paced messages [ns]: long beside any latency.
pub const LONG_GAP_NS: u64 = 200_000;

/// Longest wait for one slice, which takes some 60 ms.
const SLICE_PATIENCE: Duration = Duration::from_secs(20);

/// Messages in one slice of the stream: some twenty milliseconds.
const STREAM_MESSAGES: u64 = 6000;

/// Labels of wake-ups after a short or a long sleep.
#[must_use]
pub fn sleep_labels(sleep: &str) -> Labels {
    labels([("sleep", sleep)])
}

/// One slice of messages to a receiver that slept for long. `send_ns` and `receive_ns`
/// are the plain costs of the message without a wake-up.
///
/// # Errors
/// Those of the workers.
pub fn long_slice(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    send_ns: f64,
    receive_ns: f64,
) -> Result<(), BenchError> {
    let order = order(MESSAGES, LONG_GAP_NS);
    let to_sender = Order::SendPaced(order);
    let (report, woken, beside) = transfer(bed, sampler, order, &to_sender)?;
    let Report::Paced(outgoing) = report else {
        return Err(unexpected(Side::Sender, &to_sender, &report));
    };
    // Not every message finds the receiver asleep: costs are divided by its sleeps.
    let sleeps = woken.usage.sleeps.max(1) as f64;
    let messages = woken.at_ns.len().min(outgoing.len()) as f64;
    let sender: f64 = outgoing.iter().map(|call| call.took_ns as f64 - send_ns).sum();
    let receiver = woken.usage.cpu_ns as f64 - messages * receive_ns;
    let ways: Vec<f64> = outgoing
        .iter()
        .zip(&woken.at_ns)
        .map(|(out, at)| at.saturating_sub(out.began_ns) as f64)
        .collect();
    let latency = median(&ways).unwrap_or(0.0) - send_ns - receive_ns;
    keep(sampler, "long", [sender / sleeps, receiver / sleeps, latency], &beside);
    Ok(())
}

/// One slice of an unpaced stream. `send_ns` and `receive_ns` are the plain costs of the message
/// without a wake-up.
///
/// # Errors
/// Those of the workers.
pub fn short_slice(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    send_ns: f64,
    receive_ns: f64,
) -> Result<(), BenchError> {
    let order = order(STREAM_MESSAGES, 0);
    let to_sender = Order::Burst(order);
    let (report, woken, beside) = transfer(bed, sampler, order, &to_sender)?;
    let Report::Slice(sent) = report else {
        return Err(unexpected(Side::Sender, &to_sender, &report));
    };
    let sleeps = woken.usage.sleeps.max(1) as f64;
    let messages = woken.usage.calls as f64;
    let sender = (sent.cpu_ns as f64 - messages * send_ns) / sleeps;
    let receiver = (woken.usage.cpu_ns as f64 - messages * receive_ns) / sleeps;
    let latency = sender.max(0.0) + (messages / sleeps - 0.5) * (send_ns - receive_ns);
    keep(sampler, "short", [sender, receiver, latency], &beside);
    Ok(())
}

fn order(messages: u64, gap_ns: u64) -> TransferOrder {
    TransferOrder { transport: Transport::Udp, message_bytes: WAKE_MESSAGE, messages, gap_ns }
}

/// Sends as told to a receiver that counts its sleeps; what the sender answers is the caller's.
fn transfer(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    order: TransferOrder,
    to_sender: &Order,
) -> Result<(Report, Woken, Beside), BenchError> {
    let to_receiver = Order::ReceivePaced(order);
    let ((sent, woken), beside) = sampler.beside(bed, |bed| {
        match bed.ask_both(to_sender, &to_receiver, SLICE_PATIENCE)? {
            (sent, Report::Woken(woken)) => Ok((sent, woken)),
            (_, report) => Err(unexpected(Side::Receiver, &to_receiver, &report)),
        }
    })?;
    Ok((sent, woken, beside))
}

fn keep(
    sampler: &mut Sampler,
    sleep: &str,
    [sender, receiver, latency]: [f64; 3],
    beside: &Beside,
) {
    let found = [("sender", sender), ("receiver", receiver), ("latency", latency)];
    for (what, nanos) in found {
        sampler.add(
            &format!("stack.wake.{what}"),
            &sleep_labels(sleep),
            Unit::Nanoseconds,
            nanos.max(0.0),
            beside,
        );
    }
}
