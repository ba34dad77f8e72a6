//! TCP and UDP over loopback on three hosts: sysSIM sections 4.1.3 and 4.3, tables 7 and 8.
//!
//! ```text
//! rate of 1-byte packets ──► cost of a packet [ns] ─────────────────────────┐
//! the host's other transport, the ratio of the ─► cost of a byte [ns/B] ──►─┴─► path simulated ─► [b/s]
//!   transports on the two other hosts
//! ```
//!
//! The table's Mb/s are 2^20 bits a second (34048 packets/s x 1460 B x 8 / 2^20 is its 380).

use bitpath_measure::{ByteCount, Picos, Unit};

use super::{Criterion, Point, PublishedError, Scale, Set, hosts};
use crate::host::HostScenario;
use crate::job::Job;
use crate::link::Link;
use crate::path;
use crate::profile::{CallCost, HostProfile, NanosPerByte, Source, Sourced, Transport};
use crate::table::Table;

const FILE: &str = "hosts_2004.csv";
const TEXT: &str = include_str!("../../../../data/published/hosts_2004.csv");

/// The hosts, each with the error that the study reports for its own simulator [ratio].
const HOSTS: [(&str, f64); 3] = [("e55", 0.06), ("stealth", 0.18), ("diablo", 0.20)];

/// Most mean error of all six throughputs [ratio].
const MEAN_LIMIT: f64 = 0.08;

/// Bits in the study's megabit.
const MEGABIT: f64 = (1 << 20) as f64;

/// Long beside a packet, so that the first and the last do not count [ps].
const DURATION: Picos = Picos(Picos::SECOND.0 / 10);

/// A usual socket buffer of the time; the path is its own bottleneck and never fills it [B].
const BUFFER: ByteCount = ByteCount(64 << 10);

/// What table 8 says of one host and transport.
#[derive(Clone, Copy, Debug)]
struct Loopback {
    /// Payload of a full packet [B].
    payload: ByteCount,
    /// Time for a packet of one byte [ns].
    per_packet_ns: f64,
    /// Payload a second in full packets [b/s].
    throughput: f64,
}

impl Loopback {
    fn read(table: &Table, host: &str, transport: Transport) -> Result<Self, PublishedError> {
        let name = transport.name();
        let value = |quantity: &str| {
            table.find(&[("quantity", &format!("{name}_{quantity}"))])?.number(host)
        };
        let payload = match transport {
            Transport::Udp => ByteCount(1472),
            Transport::Tcp => ByteCount(1460),
        };
        Ok(Self {
            payload,
            per_packet_ns: 1e9 / value("packet_rate_at_1_byte_payload")?,
            throughput: value("loopback_throughput")? * MEGABIT,
        })
    }

    /// What a byte costs beyond its packet [ns/B].
    fn per_byte_ns(&self) -> f64 {
        let bytes = self.payload.0 as f64;
        (bytes * 8e9 / self.throughput - self.per_packet_ns) / bytes
    }
}

/// The set.
pub(super) fn set() -> Result<Set, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let mut points = Vec::new();
    for transport in [Transport::Udp, Transport::Tcp] {
        for (host, tolerance) in HOSTS {
            points.push(point(&table, host, transport, tolerance)?);
        }
    }
    let mut set = Set {
        name: "hosts-2004",
        source: "sysSIM (Bresnahan, Raicu, Margaryan 2004), tables 7 and 8; Mb/s of 2^20 bits",
        fitted: fitted(&table)?,
        points,
        criteria: Vec::new(),
    };
    let name = "mean error of all six throughputs";
    set.criteria.push(Criterion { name, value: set.mean_error(), limit: MEAN_LIMIT });
    Ok(set)
}

fn point(
    table: &Table,
    host: &str,
    transport: Transport,
    tolerance: f64,
) -> Result<Point, PublishedError> {
    let printed = Loopback::read(table, host, transport)?;
    let per_byte_ns = left_out(table, host, transport)?;
    let mut profile = hosts::profile(host)?;
    price(&mut profile, transport, printed.per_packet_ns, per_byte_ns);
    let job = Job::raw("raw", transport, printed.payload, BUFFER, DURATION);
    let scenario =
        HostScenario { host: profile, job, link: Link::default(), interval: Picos::SECOND };
    Ok(Point {
        name: format!("{host} {}", transport.name()),
        quantity: "throughput",
        unit: Unit::BitsPerSecond,
        predicted: path::run(&scenario).throughput(),
        published: printed.throughput,
        tolerance,
        scale: Scale::Relative,
    })
}

/// Cost of a byte without the row that it is to predict: that of the host's other transport,
/// times the geometric mean of the transports' ratio on the two other hosts [ns/B].
fn left_out(table: &Table, host: &str, transport: Transport) -> Result<f64, PublishedError> {
    let other = match transport {
        Transport::Udp => Transport::Tcp,
        Transport::Tcp => Transport::Udp,
    };
    let cost =
        |host, transport| Loopback::read(table, host, transport).map(|row| row.per_byte_ns());
    let mut ratio = 1.0;
    for (beside, _) in HOSTS.iter().filter(|(name, _)| *name != host) {
        ratio *= cost(beside, transport)? / cost(beside, other)?;
    }
    Ok(cost(host, other)? * ratio.sqrt())
}

/// Gives each end of the loopback half of a packet's cost and one of its two copies (section 3.1.2).
fn price(host: &mut HostProfile, transport: Transport, per_packet_ns: f64, per_byte_ns: f64) {
    let from = "sysSIM table 8, without the row that is predicted";
    let half = |nanos: f64| published(Picos::from_nanos_f64(nanos / 2.0), from);
    let cost = CallCost {
        per_call: half(per_packet_ns),
        per_packet: half(0.0),
        per_split: half(0.0),
        per_byte: published(NanosPerByte(per_byte_ns / 2.0), from),
    };
    let stack = host.stack.of_mut(transport);
    stack.send = cost.clone();
    stack.receive = cost;
}

fn published<T>(value: T, from: &str) -> Sourced<T> {
    Sourced { value, low: None, high: None, source: Source::Published, from: from.into() }
}

fn fitted(table: &Table) -> Result<Vec<String>, PublishedError> {
    let mut lines = vec![
        "cost of a packet: the host's own packet rate at 1 byte, not a throughput".into(),
        "cost of a byte, fitted for each point without its row: the host's other transport x the \
         ratio of the transports on the two other hosts; 4 constants (3 hosts, 1 ratio) for 6 rows"
            .into(),
    ];
    for (host, _) in HOSTS {
        let bandwidth = table.find(&[("quantity", "memory_copy_bandwidth")])?.number(host)?;
        let copy_ns = 1e9 / (bandwidth * MEGABIT);
        let copies = |transport| -> Result<String, PublishedError> {
            let per_byte_ns = Loopback::read(table, host, transport)?.per_byte_ns();
            Ok(format!("{:.2}", per_byte_ns / copy_ns))
        };
        let (udp, tcp) = (copies(Transport::Udp)?, copies(Transport::Tcp)?);
        lines.push(format!(
            "{host}: a byte costs {udp} (UDP) and {tcp} (TCP) memory copies of {copy_ns:.2} ns"
        ));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_within_tolerance;
    use super::*;

    #[test]
    fn six_throughputs_are_within_the_study_s_own_errors() {
        let set = assert_within_tolerance("hosts-2004");
        assert_eq!(set.points.len(), 6);
    }

    #[test]
    fn a_prediction_does_not_see_its_own_row() {
        let table = Table::parse(FILE, TEXT).unwrap();
        let row = "udp_loopback_throughput,Mb/s,354,704,2180";
        assert!(TEXT.contains(row));
        let changed = TEXT.replace(row, "udp_loopback_throughput,Mb/s,300,704,2180");
        let changed = Table::parse(FILE, &changed).unwrap();
        let cost = |table| left_out(table, "e55", Transport::Udp).unwrap();
        assert_eq!(cost(&table), cost(&changed));
    }

    #[test]
    fn the_table_s_megabit_is_two_to_the_twentieth() {
        let table = Table::parse(FILE, TEXT).unwrap();
        let tcp = Loopback::read(&table, "e55", Transport::Tcp).unwrap();
        let bits = tcp.payload.0 as f64 * 8e9 / tcp.per_packet_ns;
        let printed = table.find(&[("quantity", "tcp_theoretical_maximum")]).unwrap();
        assert_eq!((bits / MEGABIT).floor() + 1.0, printed.number("e55").unwrap());
    }
}
