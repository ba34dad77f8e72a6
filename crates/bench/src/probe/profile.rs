//! From samples to the host profile: fits with their intervals, every value with its source.

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::statistics::{Fit, Method, estimate, fit_nonnegative};
use bitpath_measure::{ByteCount, ByteRate, Estimate, Hertz, Labels, Picos, Run, Unit};
use bitpath_sim::profile::{
    CallCost, CallSize, CopyBandwidth, Cpu, DecodeCost, Directions, HostProfile, NanosPerByte,
    Path, Side, SocketMemory, Sourced, Stack, Transport, Wake, WakeCost,
};

use super::{clock, copy, stack, wake};
use crate::BenchError;
use crate::sampling::Sampler;
use crate::testbed::Testbed;

/// What the samples alone do not say.
#[derive(Debug)]
pub struct Facts<'a> {
    /// Name of the host.
    pub host: &'a str,
    /// The run that the values come from.
    pub run: &'a str,
    /// Rate of the time stamp counter [Hz], where it is invariant.
    pub clock_hz: Option<f64>,
    /// Charges of the socket buffer.
    pub socket_memory: SocketMemory,
    /// Decoding costs.
    pub decode: Vec<DecodeCost>,
}

/// The profile of this host; the fits are kept in the record as figures.
///
/// # Errors
/// When a cost cannot be fitted.
pub fn build(
    bed: &Testbed,
    sampler: &Sampler,
    facts: Facts<'_>,
    record: &mut Run,
) -> Result<HostProfile, BenchError> {
    let run = facts.run;
    let none = Labels::new();
    let time = |name: &str, labels: &Labels| sourced_time(sampler, name, labels, run);
    let cores = Sourced::measured(bed.cores(), None, run);
    Ok(HostProfile {
        name: facts.host.into(),
        cpu: Cpu {
            cores,
            clock: facts.clock_hz.map_or_else(
                || {
                    Sourced::assumed(
                        Hertz(1e9),
                        "no invariant time stamp counter: cycles are nanoseconds",
                    )
                },
                |hz| Sourced::measured(Hertz(hz), None, run),
            ),
            system_call: time("syscall.cost", &none),
            context_switch: time("context_switch.cost", &none),
            timer_sleep: time(wake::SLEEP, &none),
            timer_lateness: time(clock::LATENESS, &clock::sleep_of_model()),
        },
        wake: wake_costs(sampler, run)?,
        path: Path {
            kind: bed.path(),
            mtu: Sourced::measured(bed.mtu(), None, run),
            softirq_per_packet: Sourced::assumed(
                Picos(0),
                "part of the send cost: the path runs it in the sender's call",
            ),
            softirq_on: Side::Sender,
            ring: None,
            line_rate: None,
        },
        stack: Stack {
            udp: directions(bed, sampler, Transport::Udp, run, record)?,
            tcp: directions(bed, sampler, Transport::Tcp, run, record)?,
        },
        socket_memory: facts.socket_memory,
        copy: copy(sampler, run),
        decode: facts.decode,
    })
}

/// Whether a figure is one of those that [`build`] keeps in the record.
#[must_use]
pub fn is_own(figure: &Figure) -> bool {
    figure.name == FITTED || figure.name.starts_with(FIT)
}

/// The fitted costs by size, and the beginning of the names of their terms.
const FITTED: &str = "stack.cost.fitted";
const FIT: &str = "stack.fit.";

/// What the model adds up over a job takes the mean of the samples, not their median.
fn mean_of(sampler: &Sampler, name: &str, labels: &Labels) -> Option<Estimate> {
    estimate(&sampler.values(name, labels), Method::TrimmedMeanBlockBootstrap)
}

fn sourced_time(sampler: &Sampler, name: &str, labels: &Labels, run: &str) -> Sourced<Picos> {
    mean_of(sampler, name, labels).map_or_else(
        || Sourced::assumed(Picos(0), &format!("{name} was not measured")),
        |found| measured_time(found, run),
    )
}

/// A cost in nanoseconds that a run found.
pub(super) fn measured_time(found: Estimate, run: &str) -> Sourced<Picos> {
    let nanos = Picos::from_nanos_f64;
    Sourced::measured(nanos(found.value), Some((nanos(found.low), nanos(found.high))), run)
}

/// A cost in nanoseconds a byte that a run found.
pub(super) fn measured_per_byte(found: Estimate, run: &str) -> Sourced<NanosPerByte> {
    let interval = (NanosPerByte(found.low), NanosPerByte(found.high));
    Sourced::measured(NanosPerByte(found.value), Some(interval), run)
}

/// The costs of a wake-up, from the shortest sleep to the longest.
fn wake_costs(sampler: &Sampler, run: &str) -> Result<Wake, BenchError> {
    let cost = |arrivals: wake::Arrivals| {
        let of = arrivals.labels();
        let time = |what: &str| sourced_time(sampler, &format!("stack.wake.{what}"), &of, run);
        let [slept, sender, receiver, latency] =
            ["slept", "sender", "receiver", "latency"].map(time);
        let apart = if arrivals.gap_ns == 0 { wake::NEAREST } else { arrivals };
        let jitter = sourced_time(sampler, "stack.wake.jitter", &apart.labels(), run);
        WakeCost { slept, sender, receiver, latency, jitter }
    };
    let mut costs = wake::ARRIVALS.map(cost).to_vec();
    costs.sort_by_key(|cost| cost.slept.value);
    costs.dedup_by_key(|cost| cost.slept.value);
    Ok(Wake::try_from(costs)?)
}

fn copy(sampler: &Sampler, run: &str) -> Vec<CopyBandwidth> {
    let point = |working_set: usize| {
        let labels = labels([("op", "copy"), ("working_set_bytes", &working_set.to_string())]);
        let found = mean_of(sampler, "copy.bandwidth", &labels)?;
        let interval = (ByteRate(found.low), ByteRate(found.high));
        let bandwidth = Sourced::measured(ByteRate(found.value), Some(interval), run);
        Some(CopyBandwidth { working_set: ByteCount(working_set as u64), bandwidth })
    };
    copy::WORKING_SETS.into_iter().filter_map(point).collect()
}

fn directions(
    bed: &Testbed,
    sampler: &Sampler,
    transport: Transport,
    run: &str,
    record: &mut Run,
) -> Result<Directions, BenchError> {
    Ok(Directions {
        send: call_cost(bed, sampler, transport, "send", run, record)?,
        receive: call_cost(bed, sampler, transport, "receive", run, record)?,
    })
}

/// Fits the four costs of a call over all message sizes, round by round.
fn call_cost(
    bed: &Testbed,
    sampler: &Sampler,
    transport: Transport,
    side: &str,
    run: &str,
    record: &mut Run,
) -> Result<CallCost, BenchError> {
    let sizes = stack::sizes(transport);
    let terms: Vec<Vec<f64>> = sizes
        .iter()
        .map(|bytes| CallSize::new(transport, ByteCount(*bytes as u64), bed.mtu()).terms().to_vec())
        .collect();
    let series: Vec<Vec<f64>> = sizes
        .iter()
        .map(|bytes| sampler.values("stack.cost", &stack::cost_labels(transport, side, *bytes)))
        .collect();
    let rounds = series.iter().map(Vec::len).min().unwrap_or(0);
    let rounds: Vec<Vec<f64>> =
        (0..rounds).map(|round| series.iter().map(|values| values[round]).collect()).collect();
    let what = format!("{} {side}", transport.name());
    let fit =
        fit_nonnegative(&terms, &rounds).map_err(|source| BenchError::Fit { what, source })?;
    keep_fit(&fit, transport, side, record);
    let [call, packet, split, byte] = [0, 1, 2, 3].map(|term| fit.coefficients[term]);
    keep_curve(&fit, bed, transport, side, record);
    Ok(CallCost {
        per_call: measured_time(call, run),
        per_packet: measured_time(packet, run),
        per_split: measured_time(split, run),
        per_byte: measured_per_byte(byte, run),
    })
}

/// Points of a fitted curve: enough that its steps at whole packets look like steps.
const CURVE_POINTS: u32 = 32;

/// Keeps the fitted cost at sizes close together, so that no reader must know the terms.
fn keep_curve(fit: &Fit, bed: &Testbed, transport: Transport, side: &str, record: &mut Run) {
    let largest = stack::sizes(transport).last().map_or(1.0, |bytes| *bytes as f64);
    let mut sizes: Vec<u64> = (0..=CURVE_POINTS)
        .map(|step| {
            let size = largest.powf(f64::from(step) / f64::from(CURVE_POINTS)).round();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 1 to the largest message"
            )]
            let bytes = size as u64;
            bytes
        })
        .collect();
    sizes.dedup();
    for bytes in sizes {
        let terms = CallSize::new(transport, ByteCount(bytes), bed.mtu()).terms();
        let cost: f64 =
            terms.iter().zip(&fit.coefficients).map(|(term, found)| term * found.value).sum();
        let labels =
            stack::cost_labels(transport, side, usize::try_from(bytes).unwrap_or(usize::MAX));
        let estimate = Estimate { method: Method::LeastSquares, ..Estimate::single(cost) };
        record.figures.push(Figure {
            name: FITTED.into(),
            labels,
            unit: Unit::Nanoseconds,
            estimate,
        });
    }
}

fn keep_fit(fit: &Fit, transport: Transport, side: &str, record: &mut Run) {
    let names = [
        ("stack.fit.per_call", Unit::Nanoseconds),
        ("stack.fit.per_packet", Unit::Nanoseconds),
        ("stack.fit.per_split", Unit::Nanoseconds),
        ("stack.fit.per_byte", Unit::NanosecondsPerByte),
    ];
    let labels = labels([("transport", transport.name()), ("side", side)]);
    for ((name, unit), estimate) in names.into_iter().zip(&fit.coefficients) {
        record.figures.push(Figure {
            name: name.into(),
            labels: labels.clone(),
            unit,
            estimate: *estimate,
        });
    }
    let residual = Estimate::single(fit.median_residual);
    record.figures.push(Figure {
        name: "stack.fit.residual".into(),
        labels,
        unit: Unit::Ratio,
        estimate: residual,
    });
}
