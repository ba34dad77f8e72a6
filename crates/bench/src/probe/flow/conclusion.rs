//! What the flows say of the stack: the cost of a call, a packet and a byte, and the 2004 study's own
//! figures (sysSIM section 4.1.3, table 8), all drawn from the record's own series and figures.
//!
//! ```text
//! processing power [packets/s] = single bytes sent as packets of their own
//! cycles/header byte           = clock / power / header bytes
//! theoretical maximum [B/s]    = power x (1514 - header bytes)
//! memory utilisation           = throughput / main memory's copy bandwidth
//! GHz per Gb/s                 = processor time a bit x clock
//! ```

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::statistics::fit_nonnegative;
use bitpath_measure::{Estimate, Labels, Run, Series, Unit};

use super::{COPY_BANDWIDTH, CPU, PACKETS_PER_MESSAGE, PROCESSING_POWER, THROUGHPUT};
use crate::probe::tsc_hz;

/// Largest Ethernet frame [B] (table 8's theoretical maxima).
const FRAME_BYTES: f64 = 1514.0;

/// Headers of Ethernet, IP and the transport [B] (table 8).
const HEADERS: [(&str, f64); 2] = [("tcp", 54.0), ("udp", 42.0)];

/// Coefficients of the fit over message sizes, with their units.
const COEFFICIENTS: [(&str, Unit); 3] = [
    ("stack.cost_per_call", Unit::Nanoseconds),
    ("stack.cost_per_packet", Unit::Nanoseconds),
    ("stack.cost_per_byte", Unit::NanosecondsPerByte),
];

/// Adds the conclusions to the record's figures.
pub fn conclude(run: &mut Run) {
    let mut found = Vec::new();
    for way in ["loopback", "veth", "peer"] {
        for (transport, header_bytes) in HEADERS {
            let of = labels([("transport", transport), ("way", way)]);
            for side in ["sender", "receiver"] {
                found.extend(costs(run, &of, side));
            }
            found.extend(table_8(run, &of, header_bytes));
            found.extend(clock_per_rate(run, &of));
        }
    }
    run.figures.extend(found);
}

fn figure(name: &str, labels: &Labels, unit: Unit, estimate: Estimate) -> Figure {
    Figure { name: name.into(), labels: labels.clone(), unit, estimate }
}

/// Processor time of one side fitted over calls, packets and bytes, round by round.
fn costs(run: &Run, of: &Labels, side: &str) -> Vec<Figure> {
    let mut of_side = joined(of, "vary", "message_bytes");
    of_side.insert("side".into(), side.into());
    let (mut terms, mut costs) = (Vec::new(), Vec::new());
    for series in run.series.iter().filter(|series| is(&series.name, &series.labels, CPU, &of_side))
    {
        let Some(bytes) = number(&series.labels, "message_bytes") else { continue };
        let Some(packets) = packets_per_message(run, series) else { continue };
        let values: Vec<f64> = series.values().iter().map(|per_byte| per_byte * bytes).collect();
        if !values.is_empty() {
            terms.push(vec![1.0, packets, bytes]);
            costs.push(values);
        }
    }
    // Where every message is one packet, as datagrams over loopback are, a call's cost holds the
    // packet's.
    let apart = terms.iter().any(|term: &Vec<f64>| (term[1] - 1.0).abs() > 1e-9);
    if !apart {
        for term in &mut terms {
            term.remove(1);
        }
    }
    let rounds = costs.iter().map(Vec::len).min().unwrap_or(0);
    let rounds: Vec<Vec<f64>> =
        (0..rounds).map(|round| costs.iter().map(|values| values[round]).collect()).collect();
    let Ok(fit) = fit_nonnegative(&terms, &rounds) else { return Vec::new() };
    let labels = joined(of, "side", side);
    let is_told = |(name, _): &&(&str, Unit)| apart || *name != "stack.cost_per_packet";
    let named = COEFFICIENTS.iter().filter(is_told).zip(&fit.coefficients);
    let mut figures: Vec<Figure> =
        named.map(|((name, unit), found)| figure(name, &labels, *unit, *found)).collect();
    let residual = Estimate::single(fit.median_residual);
    figures.push(figure("stack.cost_residual", &labels, Unit::Ratio, residual));
    figures
}

/// Packets of one message in the conditions of a series of one side.
fn packets_per_message(run: &Run, series: &Series) -> Option<f64> {
    let mut labels = series.labels.clone();
    labels.remove("side");
    run.figure(PACKETS_PER_MESSAGE, &labels).map(|figure| figure.estimate.value)
}

/// The rows of table 8.
fn table_8(run: &Run, of: &Labels, header_bytes: f64) -> Vec<Figure> {
    let power = run.figure(PROCESSING_POWER, of).map(|figure| figure.estimate);
    let copy = run.figure(COPY_BANDWIDTH, &Labels::new()).map(|figure| figure.estimate);
    let maximum = power.map(|power| power.scaled(FRAME_BYTES - header_bytes));
    let best = best_throughput(run, of);
    let mut figures = Vec::new();
    let mut add = |name, unit, value: Option<Estimate>| {
        figures.extend(value.map(|value| figure(name, of, unit, value)));
    };
    let cycles = power
        .zip(tsc_hz(run))
        .map(|(power, hz)| quotient(&Estimate::single(hz / header_bytes), &power));
    add("stack.cycles_per_header_byte", Unit::TscCyclesPerByte, cycles);
    add("stack.theoretical_maximum", Unit::BytesPerSecond, maximum);
    let used = |rate: Option<Estimate>| rate.zip(copy).map(|(rate, copy)| quotient(&rate, &copy));
    add("stack.memory_utilisation", Unit::Ratio, used(best));
    add("stack.theoretical_memory_utilisation", Unit::Ratio, used(maximum));
    figures
}

/// The highest throughput of any message size.
fn best_throughput(run: &Run, of: &Labels) -> Option<Estimate> {
    let of = joined(of, "vary", "message_bytes");
    let figures = run.figures.iter();
    let sizes = figures.filter(|figure| is(&figure.name, &figure.labels, THROUGHPUT, &of));
    sizes.map(|figure| figure.estimate).max_by(|a, b| a.value.total_cmp(&b.value))
}

/// The clock that a rate needs, both sides together, by where the bytes come from and by threads: the
/// thesis's rule of thumb says 1 GHz for 1 Gb/s.
fn clock_per_rate(run: &Run, of: &Labels) -> Vec<Figure> {
    let Some(hz) = tsc_hz(run) else { return Vec::new() };
    let of = joined(of, "vary", "source_bytes");
    let senders = joined(&of, "side", "sender");
    let figures = run.figures.iter();
    let sent = figures.filter(|figure| is(&figure.name, &figure.labels, CPU, &senders));
    let clock = |sent: &Figure| {
        let mut labels = sent.labels.clone();
        labels.insert("side".into(), "receiver".into());
        let received = run.figure(CPU, &labels)?.estimate;
        labels.remove("side");
        let both = sum(&sent.estimate, &received).scaled(hz / 1e9 / 8.0);
        Some(figure("stack.clock_per_rate", &labels, Unit::TscCyclesPerBit, both))
    };
    sent.filter_map(clock).collect()
}

/// The quotient of two estimates, of which one may be a single reading that counts for no sample.
fn quotient(above: &Estimate, below: &Estimate) -> Estimate {
    Estimate { samples: above.samples.max(below.samples), ..above.over(below) }
}

/// The sum of two estimates; its interval holds every sum of theirs.
fn sum(a: &Estimate, b: &Estimate) -> Estimate {
    let samples = a.samples.min(b.samples);
    Estimate { value: a.value + b.value, low: a.low + b.low, high: a.high + b.high, samples, ..*a }
}

/// Whether a series or figure has this name and at least these labels.
fn is(name: &str, found: &Labels, wanted_name: &str, wanted: &Labels) -> bool {
    name == wanted_name && wanted.iter().all(|(key, value)| found.get(key) == Some(value))
}

fn joined(labels: &Labels, key: &str, value: &str) -> Labels {
    super::with(labels, key, value)
}

fn number(labels: &Labels, key: &str) -> Option<f64> {
    labels.get(key)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use bitpath_measure::statistics::Method;
    use bitpath_measure::{Environment, Sample};

    use super::*;

    fn record(run: &mut Run, name: &str, labels: Labels, unit: Unit, values: &[f64]) {
        let mut series = Series::new(name, labels, unit);
        series.samples = values.iter().map(|value| Sample::computed(*value)).collect();
        run.record(series, Method::MedianBlockBootstrap);
    }

    /// A machine whose time stamp counter has this rate.
    fn counting(hz: f64) -> Environment {
        let mut environment = Environment::default();
        environment.clock.tsc_hz = Some(hz);
        environment
    }

    fn value(run: &Run, name: &str) -> f64 {
        run.figure(name, &labels([("way", "loopback")])).unwrap().estimate.value
    }

    /// The 2004 study's host stealth: table 8.
    #[test]
    fn table_8_is_recomputed_for_stealth() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        let of = |vary: &str| {
            let (tcp, way) = (("transport", "tcp"), ("way", "loopback"));
            labels([("vary", vary), tcp, way, ("message_bytes", "65536")])
        };
        let mib = 1_048_576.0;
        run.environment = Some(counting(1300.0 * mib));
        let power = [89_050.0];
        record(&mut run, PROCESSING_POWER, of("payload"), Unit::PacketsPerSecond, &power);
        let throughput = [676.0 * mib / 8.0];
        record(&mut run, THROUGHPUT, of("message_bytes"), Unit::BytesPerSecond, &throughput);
        record(&mut run, COPY_BANDWIDTH, Labels::new(), Unit::BytesPerSecond, &[246.0 * mib]);
        conclude(&mut run);
        assert!((value(&run, "stack.cycles_per_header_byte") - 283.5).abs() < 0.1);
        assert!((value(&run, "stack.theoretical_maximum") * 8.0 / mib - 992.0).abs() < 0.5);
        assert!((value(&run, "stack.memory_utilisation") - 0.3435).abs() < 1e-4);
        assert!((value(&run, "stack.theoretical_memory_utilisation") - 0.5040).abs() < 1e-4);
    }

    #[test]
    fn the_cost_of_calls_packets_and_bytes_is_found_again() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        for bytes in [1.0_f64, 64.0, 1024.0, 16_384.0, 65_536.0] {
            let packets = (bytes / 1448.0).ceil();
            let per_byte = (300.0 + 500.0 * packets + 0.05 * bytes) / bytes;
            let size = bytes.to_string();
            let (tcp, way) = (("transport", "tcp"), ("way", "veth"));
            let of =
                labels([("vary", "message_bytes"), tcp, way, ("message_bytes", size.as_str())]);
            record(&mut run, PACKETS_PER_MESSAGE, of.clone(), Unit::Packets, &[packets; 3]);
            let side = joined(&of, "side", "sender");
            record(&mut run, CPU, side, Unit::NanosecondsPerByte, &[per_byte; 3]);
        }
        conclude(&mut run);
        for ((name, _), known) in COEFFICIENTS.iter().zip([300.0, 500.0, 0.05]) {
            let found = run.figure(name, &labels([("side", "sender")])).unwrap().estimate.value;
            assert!((found / known - 1.0).abs() < 0.02, "{name}: {found}");
        }
    }

    #[test]
    fn where_every_message_is_one_packet_no_cost_of_a_packet_is_told() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        for bytes in ["1", "1024", "65507"] {
            let (udp, way) = (("transport", "udp"), ("way", "loopback"));
            let of = labels([("vary", "message_bytes"), udp, way, ("message_bytes", bytes)]);
            record(&mut run, PACKETS_PER_MESSAGE, of.clone(), Unit::Packets, &[1.0; 3]);
            let per_byte = 800.0 / bytes.parse::<f64>().unwrap() + 0.02;
            let side = joined(&of, "side", "receiver");
            record(&mut run, CPU, side, Unit::NanosecondsPerByte, &[per_byte; 3]);
        }
        conclude(&mut run);
        assert!((value(&run, "stack.cost_per_call") - 800.0).abs() < 1.0);
        assert_eq!(run.figure("stack.cost_per_packet", &Labels::new()), None);
    }

    #[test]
    fn the_rule_of_thumb_counts_both_sides() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        run.environment = Some(counting(2e9));
        for (side, nanos) in [("sender", 0.3), ("receiver", 0.1)] {
            let (tcp, way) = (("transport", "tcp"), ("way", "loopback"));
            let of = labels([("vary", "source_bytes"), tcp, way, ("side", side)]);
            record(&mut run, CPU, of, Unit::NanosecondsPerByte, &[nanos; 3]);
        }
        conclude(&mut run);
        // 0.4 ns/B x 2 cycles/ns / 8 b/B.
        assert!((value(&run, "stack.clock_per_rate") - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_record_without_flows_gets_no_figure() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        conclude(&mut run);
        assert!(run.figures.is_empty());
    }
}
