//! DMA between an NFP-6000 card and three hosts: Neugebauer et al., *Understanding PCIe
//! performance for end host networking*, SIGCOMM 2018, sections 3 and 6.
//!
//! ```text
//! 3 rows of one host ──► DMA engine: command, piece [ns], reads in flight ──┐
//! 7 rows of each host ──► host: latency [ns], reads by line [ns] ───────────┼─► time of a transfer ─► [b/s]
//! the paper's model ──► link: 57.88 Gb/s, headers, payload 256 B ───────────┘
//! ```

use bitpath_measure::statistics::fit_nonnegative;
use bitpath_measure::{ByteCount, Unit};

use super::{Point, PublishedError, Scale, Set};
use crate::hardware::pcie::{DmaEngine, Link, Pcie, RootComplex, rate};
use crate::table::{Row, Table, TableError};

const FILE: &str = "pcie_bench_2018.csv";
const TEXT: &str = include_str!("../../../../data/published/pcie_bench_2018.csv");

/// The hosts, each with its short name.
const HOSTS: [(&str, &str); 3] = [
    ("snb-Xeon-E5-2630_dell-t620", "Sandy Bridge"),
    ("ib-Xeon-E5-2620v2_dell-t620-s0-s0-s0", "Ivy Bridge"),
    ("bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s0", "Broadwell"),
];

/// Tolerated error of rates and latencies [ratio].
const TOLERANCE: f64 = 0.10;

/// Smallest transfer that is held against its row [B]: a cache line.
const SMALLEST: u64 = 64;

/// What the card's own bus moves at a time: commands on it carry 128 B at most [B].
const PIECE: ByteCount = ByteCount(128);

/// Rows that the host's cost of a read and of a line are fitted on [B]: lines that are full or
/// just begun, where they are slower than the wire.
const LINE_ROWS: [u64; 6] = [64, 65, 127, 129, 513, 1025];

/// Rows that the latency is fitted on [B].
const LATENCY_ROWS: [u64; 2] = [64, 2048];

/// Fields of [`DmaEngine`] and of [`RootComplex`] that are fitted.
const CARD_CONSTANTS: usize = 3;
const HOST_CONSTANTS: usize = 4;

/// The set.
pub(super) fn set() -> Result<Set, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let engine = engine(&table)?;
    let (mut points, mut hosts) = (Vec::new(), Vec::new());
    for (host, name) in HOSTS {
        let root = root_complex(&table, host, &engine)?;
        let pcie = Pcie { link: Link::gen3_x8(), engine, host: root };
        for row in table.rows().filter(|row| row.text("host").is_ok_and(|text| text == host)) {
            points.extend(points_of(&pcie, name, &row)?);
        }
        hosts.push(in_words(name, &root));
    }
    Ok(Set {
        name: "pcie-2018",
        source: "Neugebauer et al., SIGCOMM 2018: pcie-bench, NFP-6000, PCIe 3.0 x8, warm cache",
        fitted: fitted(&engine, hosts, points.len()),
        points,
        criteria: Vec::new(),
    })
}

/// The card's constants from three rows of the first host.
fn engine(table: &Table) -> Result<DmaEngine, PublishedError> {
    let host = HOSTS[0].0;
    let (one, two) =
        (interval_ns(table, host, "write", 64)?, interval_ns(table, host, "write", 192)?);
    let latency_ns = find(table, host, "read", 16)?.number("latency_mean_ns")?;
    Ok(DmaEngine {
        per_command_ns: 2.0 * one - two,
        per_piece_ns: two - one,
        piece: PIECE,
        in_flight: latency_ns / interval_ns(table, host, "read", 16)?,
    })
}

/// A host's constants from its own rows.
fn root_complex(
    table: &Table,
    host: &str,
    engine: &DmaEngine,
) -> Result<RootComplex, PublishedError> {
    let latency = |bytes| find(table, host, "read", bytes)?.number("latency_mean_ns");
    let [short, long] = LATENCY_ROWS;
    let latency_per_byte_ns = (latency(long)? - latency(short)?) / (long - short) as f64;
    let mut root = RootComplex {
        latency_ns: latency(short)? - latency_per_byte_ns * short as f64,
        latency_per_byte_ns,
        per_read_ns: 0.0,
        per_line_ns: 0.0,
    };
    let wire = Pcie { link: Link::gen3_x8(), engine: *engine, host: root };
    let (mut terms, mut times) = (Vec::new(), Vec::new());
    for bytes in LINE_ROWS {
        let time_ns = interval_ns(table, host, "read", bytes)?;
        if time_ns > wire.read_ns(ByteCount(bytes)) {
            let line = wire.link.read_completion_boundary.0;
            terms.push(vec![1.0, bytes.div_ceil(line) as f64]);
            times.push(time_ns - engine.per_command_ns);
        }
    }
    let fit = fit_nonnegative(&terms, &[times])
        .map_err(|reason| PublishedError::Fit { what: format!("reads of {host}"), reason })?;
    root.per_read_ns = fit.coefficients[0].value;
    root.per_line_ns = fit.coefficients[1].value;
    Ok(root)
}

/// The rate of a row, and its latency where it has one.
fn points_of(pcie: &Pcie, host: &str, row: &Row<'_>) -> Result<Vec<Point>, PublishedError> {
    let size = ByteCount(row.count("dma_bytes")?);
    if size.0 < SMALLEST {
        return Ok(Vec::new());
    }
    let direction = row.text("direction")?;
    let time_ns = match direction {
        "read" => pcie.read_ns(size),
        "write" => pcie.write_ns(size),
        _ => pcie.read_write_ns(size),
    };
    let point = |quantity, unit, predicted, published| Point {
        name: format!("{host} {direction} {size}"),
        quantity,
        unit,
        predicted,
        published,
        tolerance: TOLERANCE,
        scale: Scale::Relative,
    };
    let published = row.number("rate_Gbps")? * 1e9;
    let mut points =
        vec![point("rate", Unit::BitsPerSecond, rate(size, time_ns).0 as f64, published)];
    if direction == "read" && !row.text("latency_mean_ns")?.is_empty() {
        let published = row.number("latency_mean_ns")?;
        points.push(point("latency", Unit::Nanoseconds, pcie.read_latency_ns(size), published));
    }
    Ok(points)
}

fn find<'a>(
    table: &'a Table,
    host: &str,
    direction: &str,
    bytes: u64,
) -> Result<Row<'a>, TableError> {
    table.find(&[("host", host), ("direction", direction), ("dma_bytes", &bytes.to_string())])
}

/// Time between two transfers of a row [ns].
fn interval_ns(
    table: &Table,
    host: &str,
    direction: &str,
    bytes: u64,
) -> Result<f64, PublishedError> {
    Ok(1e9 / find(table, host, direction, bytes)?.number("transactions_per_s")?)
}

fn fitted(engine: &DmaEngine, hosts: Vec<String>, points: usize) -> Vec<String> {
    let mut lines = vec![
        "link: the paper's model, not fitted: 57.88 Gb/s, headers of 24, 24 and 20 B, payload 256 B, request 512 B".into(),
        format!(
            "card, the same in all hosts, fitted on {}: {:.2} ns a command and {:.2} ns a piece of {PIECE} \
             (writes of 64 and 192 B), {:.1} reads in flight (read of 16 B, latency over interval)",
            HOSTS[0].1, engine.per_command_ns, engine.per_piece_ns, engine.in_flight
        ),
    ];
    lines.extend(hosts);
    lines.push(format!(
        "{} constants for {points} points; the rows that they were fitted on are among the points, and the \
         form of the model and those rows were chosen with all points in view",
        CARD_CONSTANTS + HOST_CONSTANTS * HOSTS.len()
    ));
    lines.push(
        "below 64 B a read that is no whole number of double words (63 B) takes half as long again: not modelled"
            .into(),
    );
    lines
}

fn in_words(name: &str, root: &RootComplex) -> String {
    format!(
        "{name}, fitted on its own reads: {:.1} ns + {:.4} ns/B of latency (64 and 2048 B); {:.2} ns a read and \
         {:.2} ns a line where it ends within a request (64, 65, 127, 129, 513, 1025 B where slower than the wire)",
        root.latency_ns, root.latency_per_byte_ns, root.per_read_ns, root.per_line_ns
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_within_tolerance;
    use super::*;

    #[test]
    fn rates_and_latencies_are_within_ten_per_cent_from_a_cache_line_up() {
        let set = assert_within_tolerance("pcie-2018");
        assert!(set.mean_error() < 0.05, "{}", set.mean_error());
    }

    #[test]
    fn a_cache_line_moves_a_quarter_to_a_half_slower_than_the_link_alone_would() {
        let table = Table::parse(FILE, TEXT).unwrap();
        // Headers of a write, of a read's completion, and of a write with a read's request.
        for (direction, header, share) in
            [("write", 24.0, 0.577), ("read", 20.0, 0.728), ("read_write", 48.0, 0.697)]
        {
            let printed = find(&table, HOSTS[0].0, direction, 64).unwrap();
            let link = 57.88 * 64.0 / (64.0 + header);
            let measured = printed.number("rate_Gbps").unwrap() / link;
            assert!((measured - share).abs() < 0.001, "{direction}: {measured}");
        }
    }
}
