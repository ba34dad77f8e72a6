//! What it costs to wake a receiver that sleeps in its read, by how long it slept: the sender, the receiver,
//! and time.
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
use bitpath_measure::statistics::{mean, quantile};
use bitpath_measure::{Labels, Unit};
use bitpath_sim::profile::{Side, Transport};

use super::stack;
use crate::BenchError;
use crate::sampling::{Beside, Sampler};
use crate::testbed::{Testbed, unexpected};
use crate::worker::{Order, Outgoing, Report, TransferOrder, Woken};

/// How messages come to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Size of each [B], one whose plain cost the stack's probe has.
    pub message_bytes: usize,
    /// Time between two [ns]; in a stream none.
    pub gap_ns: u64,
}

/// From the shortest sleeps to the longest: streams, whose sender is the busier the larger its messages, and
/// messages apart. A kernel that polls before it halts, and a host below that does, make the steps between.
pub const ARRIVALS: [Arrivals; 8] = [
    Arrivals { message_bytes: 1472, gap_ns: 0 },
    Arrivals { message_bytes: 4096, gap_ns: 0 },
    Arrivals { message_bytes: 16_384, gap_ns: 0 },
    NEAREST,
    Arrivals { message_bytes: 1472, gap_ns: 25_000 },
    Arrivals { message_bytes: 1472, gap_ns: 50_000 },
    Arrivals { message_bytes: 1472, gap_ns: 100_000 },
    REST,
];

/// Long beside any latency.
pub const REST: Arrivals = Arrivals { message_bytes: 1472, gap_ns: 200_000 };

/// So near that most wake-ups take longer. It is known of these, too, how much latencies vary: in a stream only
/// their mean shows.
pub const NEAREST: Arrivals = Arrivals { message_bytes: 1472, gap_ns: 12_500 };

/// Messages in one slice of those apart.
const MESSAGES: u64 = 300;

/// Bytes in one slice of a stream [B]: some twenty milliseconds.
const STREAM_BYTES: u64 = 9_000_000;

/// Longest wait for one slice, which takes some 60 ms.
const SLICE_PATIENCE: Duration = Duration::from_secs(20);

/// Way of a message from which it was not the wake-up that held it up, but another process [ns].
const HELD_UP_NS: u64 = 300_000;

/// Processor time of a sender's sleep until a given time, and of what the call behind it takes longer than
/// among others [ns].
pub const SLEEP: &str = "stack.sleep.sender";

/// Plain costs of the message without a wake-up.
#[derive(Clone, Copy, Debug)]
struct Plain {
    /// Of the call that sends it [ns].
    send_ns: f64,
    /// Of the call that receives it [ns].
    receive_ns: f64,
}

impl Arrivals {
    /// Labels of the wake-ups of these.
    #[must_use]
    pub fn labels(self) -> Labels {
        let Self { message_bytes, gap_ns } = self;
        labels([("message_bytes", &message_bytes.to_string()), ("gap_ns", &gap_ns.to_string())])
    }

    fn order(self) -> TransferOrder {
        let Self { message_bytes, gap_ns } = self;
        let messages = if gap_ns == 0 { STREAM_BYTES / message_bytes as u64 } else { MESSAGES };
        TransferOrder { transport: Transport::Udp, message_bytes, messages, gap_ns }
    }
}

/// One slice of every kind of arrivals, as far as the plain costs are known, and of a sender's sleeps.
///
/// # Errors
/// Those of the workers.
pub fn measure(bed: &mut Testbed, sampler: &mut Sampler) -> Result<(), BenchError> {
    for arrivals in ARRIVALS {
        let Some(plain) = Plain::of(sampler, arrivals) else { continue };
        let slice = if arrivals.gap_ns == 0 { stream } else { paced };
        slice(bed, sampler, arrivals, plain)?;
    }
    Plain::of(sampler, REST).map_or(Ok(()), |plain| sleeping_sender(bed, sampler, plain))
}

impl Plain {
    fn of(sampler: &Sampler, arrivals: Arrivals) -> Option<Self> {
        let cost = |side| {
            let of = stack::cost_labels(Transport::Udp, side, arrivals.message_bytes);
            sampler.mean("stack.cost", &of)
        };
        Some(Self { send_ns: cost("send")?, receive_ns: cost("receive")? })
    }
}

fn paced(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    arrivals: Arrivals,
    plain: Plain,
) -> Result<(), BenchError> {
    let order = arrivals.order();
    let to_sender = Order::SendPaced(order);
    let (report, woken, beside) = transfer(bed, sampler, order, &to_sender)?;
    let Report::Paced(outgoing) = report else {
        return Err(unexpected(Side::Sender, &to_sender, &report));
    };
    let woke = Wakes::of(&outgoing, &woken.at_ns, plain);
    let receiver = per_sleep_ns(woken.usage.cpu_ns, plain.receive_ns, &woken);
    let [slept, sender, latency] = woke.means();
    let jitter = woke.jitter_ns();
    let found = [
        ("slept", slept),
        ("sender", sender),
        ("receiver", receiver),
        ("latency", latency),
        ("jitter", jitter),
    ];
    keep(sampler, arrivals, &found, &beside);
    Ok(())
}

/// The messages of a slice that found the receiver asleep.
#[derive(Debug, Default)]
struct Wakes {
    slept_ns: Vec<f64>,
    sender_ns: Vec<f64>,
    latency_ns: Vec<f64>,
}

impl Wakes {
    fn of(outgoing: &[Outgoing], at_ns: &[u64], plain: Plain) -> Self {
        let mut wakes = Self::default();
        for (pair, at) in outgoing.windows(2).zip(at_ns.windows(2)) {
            let out = pair[1];
            let arrived_ns = out.began_ns as f64 + plain.send_ns;
            let slept_ns = arrived_ns - at[0] as f64;
            if slept_ns > 0.0 && at[1].saturating_sub(out.began_ns) < HELD_UP_NS {
                wakes.slept_ns.push(slept_ns);
                wakes.sender_ns.push(out.took_ns as f64 - plain.send_ns);
                wakes.latency_ns.push(at[1] as f64 - arrived_ns - plain.receive_ns);
            }
        }
        wakes
    }

    /// Means of the sleep, the sender's cost and the latency [ns]. A processor that polls before it halts is
    /// woken in one of two ways: the median would be that of the more frequent one alone.
    fn means(&self) -> [f64; 3] {
        [&self.slept_ns, &self.sender_ns, &self.latency_ns]
            .map(|values| mean(values).unwrap_or(0.0))
    }

    /// Half of the width that the latencies would be spread over if they were spread evenly: the middle four
    /// fifths of them say so, the longest belong to other processes [ns].
    fn jitter_ns(&self) -> f64 {
        let [low, high] = [0.1, 0.9].map(|part| quantile(&self.latency_ns, part).unwrap_or(0.0));
        (high - low) / 0.8 / 2.0
    }
}

/// Messages whose sender sleeps before each, as does their receiver.
fn sleeping_sender(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    plain: Plain,
) -> Result<(), BenchError> {
    let order = REST.order();
    let to_sender = Order::SendSleeping(order);
    let (report, _, beside) = transfer(bed, sampler, order, &to_sender)?;
    let Report::Slice(sent) = report else {
        return Err(unexpected(Side::Sender, &to_sender, &report));
    };
    let waking_ns = sampler.mean("stack.wake.sender", &REST.labels()).unwrap_or(0.0);
    let call_ns = sent.cpu_ns as f64 / sent.calls.max(1) as f64;
    let cost_ns = (call_ns - plain.send_ns - waking_ns).max(0.0);
    sampler.add(SLEEP, &Labels::new(), Unit::Nanoseconds, cost_ns, &beside);
    Ok(())
}

fn stream(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    arrivals: Arrivals,
    plain: Plain,
) -> Result<(), BenchError> {
    let order = arrivals.order();
    let to_sender = Order::Burst(order);
    let (report, woken, beside) = transfer(bed, sampler, order, &to_sender)?;
    let Report::Slice(sent) = report else {
        return Err(unexpected(Side::Sender, &to_sender, &report));
    };
    let Plain { send_ns, receive_ns } = plain;
    let sleeps = woken.usage.sleeps.max(1) as f64;
    let messages = woken.usage.calls as f64;
    let sender = per_sleep_ns(sent.cpu_ns, send_ns, &woken);
    let receiver = per_sleep_ns(woken.usage.cpu_ns, receive_ns, &woken);
    let latency = sender.max(0.0) + (messages / sleeps - 0.5) * (send_ns - receive_ns);
    // It has caught up at any time of a call that sends, but for the time of its own.
    let slept = (send_ns - receive_ns) / 2.0;
    let found =
        [("slept", slept), ("sender", sender), ("receiver", receiver), ("latency", latency)];
    keep(sampler, arrivals, &found, &beside);
    Ok(())
}

/// What a side spent beyond the plain cost of its calls, by the receiver's sleeps [ns]. Not every message finds
/// the receiver asleep.
fn per_sleep_ns(cpu_ns: u64, plain_ns: f64, woken: &Woken) -> f64 {
    (cpu_ns as f64 - woken.usage.calls as f64 * plain_ns) / woken.usage.sleeps.max(1) as f64
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

fn keep(sampler: &mut Sampler, arrivals: Arrivals, found: &[(&str, f64)], beside: &Beside) {
    for (what, nanos) in found {
        let name = format!("stack.wake.{what}");
        sampler.add(&name, &arrivals.labels(), Unit::Nanoseconds, nanos.max(0.0), beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_comes_before_the_last_was_read_wakes_nobody() {
        let out = |began_ns| Outgoing { began_ns, took_ns: 1500 };
        let plain = Plain { send_ns: 1000.0, receive_ns: 400.0 };
        let outgoing = [out(0), out(10_000), out(20_000), out(21_000)];
        let wakes = Wakes::of(&outgoing, &[4000, 16_000, 25_000, 25_500], plain);
        assert_eq!(wakes.slept_ns, [7000.0, 5000.0]);
        assert!((wakes.jitter_ns() - 500.0).abs() < 1e-6);
        assert_eq!(wakes.means(), [6000.0, 500.0, 4100.0]);
    }
}
