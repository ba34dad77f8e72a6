//! The stack as programs meet it: throughput, cost and latency of UDP and TCP flows, one condition
//! varied at a time (sysSIM section 4.1.3 and table 8; figure 2.8 of the 2009 thesis).
//!
//! ```text
//! case ──► flow opened ──► short transfer ──► slice ──► throughput [B/s], cost [ns/B] by side,
//!                          (warm; its rate                 switches, interrupts, packets
//!                           sizes the slice)     round trips ──► latency [ns] by quantile
//! ```
//!
//! The model's own probe of the stack, in which neither side wakes the other, is `stack`.

mod beds;
mod cases;
mod conclusion;

use bitpath_measure::statistics::quantile;
use bitpath_measure::{Labels, Pitfall, Unit};

use crate::BenchError;
use crate::probe::points::{Effort, Point, sample_all};
use crate::sampling::{Beside, Sampler};
use crate::steps::Steps;
use crate::testbed::{Slice, Testbed};
use crate::worker::{FlowUse, PingOrder};
pub use beds::Beds;
use cases::{Case, Kind};
pub use conclusion::conclude;

/// The series of throughputs [B/s].
pub const THROUGHPUT: &str = "stack.throughput";

/// The series of processor time for a byte, by side [ns/B].
pub const CPU: &str = "stack.cpu";

/// The series of round trip times, by quantile [ns].
pub const LATENCY: &str = "stack.latency";

/// The series of packets of one byte of payload that the sender's stack handles [packets/s]: what
/// the 2004 study calls processing power.
pub const PROCESSING_POWER: &str = "stack.processing_power";

/// The series of packets that carry one message [packets].
pub const PACKETS_PER_MESSAGE: &str = "stack.packets_per_message";

/// The series of main memory's copy bandwidth, which the throughput is held against [B/s].
pub const COPY_BANDWIDTH: &str = "stack.copy_bandwidth";

/// Working set of that copy [B]: source and destination together are beyond most caches.
const COPY_WORKING_SET: usize = 256 << 20;

/// A slice: thousands of messages, and little enough that all cases have their turn within a minute. The
/// transfer that tells it is longer than it takes to wake two processes. Even the largest of the fewest
/// messages fill every buffer on their way.
const SLICE: Slice = Slice { length_ns: 30e6, warm_up_ns: 100e3, least_messages: 16 };

/// Bytes and messages of the short transfer before a slice; the fewer of both.
const WARM_BYTES: usize = 1 << 20;
const WARM_MESSAGES: u64 = 1000;

/// Round trips of one sample: the longest 0.1 % of them are two.
const PINGS: u64 = 2000;

/// Quantiles of the latency, with their labels.
const QUANTILES: [(f64, &str); 5] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (1.0, "max")];

/// Samples every case in turns. `memory_bytes` is that of the machine.
///
/// # Errors
/// When a worker is gone or the user asked to stop.
pub fn sample(
    beds: &mut Beds,
    memory_bytes: u64,
    sampler: &mut Sampler,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Vec<Pitfall>, BenchError> {
    let none = Labels::new();
    let mut points: Vec<Point<'_, Beds>> =
        cases::all(&beds.ways(), memory_bytes).into_iter().map(point).collect();
    points.push(Point::new(COPY_BANDWIDTH, none.clone(), move |beds: &mut Beds, sampler| {
        let (rate, beside) =
            sampler.beside(beds, |beds| beds.first()?.copy_rate(COPY_WORKING_SET))?;
        sampler.add(COPY_BANDWIDTH, &none, Unit::BytesPerSecond, rate, &beside);
        Ok(())
    }));
    let mut doubts = sample_all(beds, &mut points, sampler, effort, steps)?;
    doubts.extend(beds.doubts());
    Ok(doubts)
}

/// The point of a case: the series that it fills first.
fn point(case: Case) -> Point<'static, Beds> {
    let labels = case.labels();
    match case.kind {
        Kind::Throughput => Point::new(THROUGHPUT, labels, move |beds, sampler| {
            slice(&case, beds, sampler).map(drop)
        }),
        Kind::ProcessingPower => {
            let of = labels.clone();
            Point::new(PROCESSING_POWER, labels, move |beds: &mut Beds, sampler| {
                let (sent, beside) = slice(&case, beds, sampler)?;
                let rate = per_second(sent.packets, &sent);
                sampler.add(PROCESSING_POWER, &of, Unit::PacketsPerSecond, rate, &beside);
                Ok(())
            })
        }
        Kind::Latency => {
            let leading = with(&labels, "quantile", QUANTILES[0].1);
            Point::new(LATENCY, leading, move |beds, sampler| {
                round_trips(&case, &labels, beds, sampler)
            })
        }
    }
}

/// One slice of a case with all its series; what the sender said, and what stood beside it.
fn slice(
    case: &Case,
    beds: &mut Beds,
    sampler: &mut Sampler,
) -> Result<(FlowUse, Beside), BenchError> {
    let ((sent, received), beside) =
        sampler.beside(beds, |beds| transfer(case, beds.of(case.way)?))?;
    let fragments = case.fragments(beds.of(case.way)?.mtu());
    if received.bytes == 0 {
        return Err(BenchError::NothingArrived { job: case.to_string() });
    }
    let labels = case.labels();
    let mut add = |name: &str, labels: &Labels, unit: Unit, value: f64| {
        sampler.add(name, labels, unit, value, &beside);
    };
    add(THROUGHPUT, &labels, Unit::BytesPerSecond, per_second(received.bytes, &received));
    let packets = sent.packets as f64 * fragments / sent.messages.max(1) as f64;
    add(PACKETS_PER_MESSAGE, &labels, Unit::Packets, packets);
    for (side, used) in [("sender", &sent), ("receiver", &received)] {
        let labels = with(&labels, "side", side);
        let bytes = used.bytes.max(1) as f64;
        add(CPU, &labels, Unit::NanosecondsPerByte, used.cpu_ns as f64 / bytes);
        let accounted = used.user_ns + used.system_ns;
        if accounted > 0 {
            let share = used.system_ns as f64 / accounted as f64;
            add("stack.system_share", &labels, Unit::Ratio, share);
        }
        if used.cycles > 0 {
            let per_cycle = used.instructions as f64 / used.cycles as f64;
            add("stack.instructions", &labels, Unit::PerCycle, per_cycle);
            add("stack.cache_misses", &labels, Unit::PerByte, used.cache_misses as f64 / bytes);
        }
        let switches = used.voluntary_switches + used.involuntary_switches;
        let counts = [
            ("stack.switches_per_megabyte", switches),
            ("stack.interrupts_per_megabyte", used.interrupts),
            ("stack.softirqs_per_megabyte", used.softirqs),
        ];
        for (name, count) in counts {
            add(name, &labels, Unit::Count, count as f64 / bytes * 1e6);
        }
    }
    if case.counts_losses() {
        let lost = 1.0 - (received.bytes as f64 / sent.bytes.max(1) as f64).min(1.0);
        add("stack.loss", &labels, Unit::Ratio, lost);
    }
    if sent.completions > 0 {
        let copied = sent.copied_completions as f64 / sent.completions as f64;
        add("stack.copied_after_all", &labels, Unit::Ratio, copied);
    }
    Ok((sent, beside))
}

/// Opens the flow of a case, warms it, and transfers for about the length of a slice.
fn transfer(case: &Case, bed: &mut Testbed) -> Result<(FlowUse, FlowUse), BenchError> {
    open(case, bed)?;
    let few = (WARM_BYTES / case.message_bytes) as u64;
    let order = case.order(few.clamp(SLICE.least_messages / 2, WARM_MESSAGES));
    bed.slice(&SLICE, &order, case.direction)
}

/// Opens the flow of a case over a path with its offloads.
fn open(case: &Case, bed: &mut Testbed) -> Result<(), BenchError> {
    if let Some(offloads) = case.device_offloads() {
        bed.set_offloads(offloads)?;
    }
    bed.open_flow(&case.setup)
}

fn round_trips(
    case: &Case,
    labels: &Labels,
    beds: &mut Beds,
    sampler: &mut Sampler,
) -> Result<(), BenchError> {
    let (pings, beside) = sampler.beside(beds, |beds| {
        let bed = beds.of(case.way)?;
        open(case, bed)?;
        let order = PingOrder { message_bytes: case.message_bytes, count: PINGS };
        bed.pings(PingOrder { count: PINGS / 10, ..order }, case.direction)?;
        bed.pings(order, case.direction)
    })?;
    let times: Vec<f64> = pings.round_trip_ns.iter().map(|time| *time as f64).collect();
    for (fraction, name) in QUANTILES {
        let time = quantile(&times, fraction)
            .ok_or_else(|| BenchError::NothingArrived { job: case.to_string() })?;
        let labels = with(labels, "quantile", name);
        sampler.add(LATENCY, &labels, Unit::Nanoseconds, time, &beside);
    }
    Ok(())
}

fn with(labels: &Labels, key: &str, value: &str) -> Labels {
    let mut labels = labels.clone();
    labels.insert(key.into(), value.into());
    labels
}

fn per_second(count: u64, used: &FlowUse) -> f64 {
    count as f64 / used.elapsed_ns.max(1) as f64 * 1e9
}
