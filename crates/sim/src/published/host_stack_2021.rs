//! Where the cycles of one TCP flow go, with and without offloads: Cai et al., *Understanding Host
//! Network Stack Overheads*, SIGCOMM 2021, section 3.1.
//!
//! ```text
//! no-opts, tso-gro, tso-gro-jumbo ──► cycles a byte, packet, buffer, by category ──► throughput a core, shares
//!
//! tso-gro-jumbo ──────────────────────────┬──► throughput a core, shares of all
//! the other side: all over tso-gro-jumbo ─┘ what locality leaves [ratio]
//! ```
//!
//! The fourth configuration, `all`, is the third with aRFS: the softirq runs where the application
//! does, so that data and buffers are found in its cache. It is predicted from the side as it is
//! without aRFS; no row of that side tells what aRFS saves.

use bitpath_measure::statistics::nonnegative_least_squares;
use bitpath_measure::{ByteCount, Unit};

use super::{Point, PublishedError, Scale, Set};
use crate::hardware::segmentation::{SegmentCost, Segments};
use crate::table::{Row, Table};

const FILE: &str = "host_stack_sigcomm2021.csv";
const TEXT: &str = include_str!("../../../../data/published/host_stack_sigcomm2021.csv");

/// Clock of the test bed's Xeon Gold 6128 [Hz].
const CLOCK: f64 = 3.4e9;

/// Payload of a packet of 1500 B, and of 9000 B, with time stamps [B].
const PACKET: ByteCount = ByteCount(1448);
const JUMBO: ByteCount = ByteCount(8948);
/// Largest socket buffer that TSO and GRO make [B].
const BUFFER: ByteCount = ByteCount(65_535);

/// Tolerated error of the throughput a core [ratio].
const THROUGHPUT_TOLERANCE: f64 = 0.10;
/// Tolerated error of a category's share of the cycles [ratio].
const SHARE_TOLERANCE: f64 = 0.05;

/// Categories of the table, and what their cycles are for.
const CATEGORIES: [(&str, Locality); COLUMNS] = [
    ("data_copy", Locality::Data),
    ("etc", Locality::Other),
    ("lock", Locality::Buffers),
    ("mm", Locality::Buffers),
    ("netdev", Locality::Other),
    ("sched", Locality::Other),
    ("skb", Locality::Buffers),
    ("tcp_ip", Locality::Other),
];
const COLUMNS: usize = 8;

/// The two sides of the flow.
const SIDES: [&str; 2] = ["sender", "receiver"];

/// Terms that a category may be fitted with, of byte, packet and buffer: one where it is enough,
/// else two, so that three rows are always more than they need.
const ONE_TERM: [[bool; 3]; 3] = [[true, false, false], [false, true, false], [false, false, true]];
const TWO_TERMS: [[bool; 3]; 3] = [[true, true, false], [true, false, true], [false, true, true]];

/// Largest error of a row with which one term is enough, half of what is tolerated [share].
const ENOUGH: f64 = SHARE_TOLERANCE / 2.0;

/// What finds itself in the cache when the softirq runs on the application's core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Locality {
    /// The payload that is copied.
    Data,
    /// Socket buffers, their pages and their locks.
    Buffers,
    /// Everything else.
    Other,
}

const LOCALITIES: [Locality; 3] = [Locality::Data, Locality::Buffers, Locality::Other];

/// Configurations: name, and how they cut the stream.
fn configurations() -> [(&'static str, Segments); 4] {
    let jumbo = Segments::merged(JUMBO, BUFFER);
    [
        ("no-opts", Segments::merged(PACKET, PACKET)),
        ("tso-gro", Segments::merged(PACKET, BUFFER)),
        ("tso-gro-jumbo", jumbo),
        (LOCAL, jumbo),
    ]
}

/// The configuration with aRFS.
const LOCAL: &str = "all";
/// The same without it.
const NOT_LOCAL: &str = "tso-gro-jumbo";

/// Cycles a byte of one row, by category, the unlisted ones last [cycles/B].
type Cycles = [f64; COLUMNS + 1];

/// The set.
pub(super) fn set() -> Result<Set, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let (mut points, mut constants) = (Vec::new(), 0);
    for (side, other) in SIDES.into_iter().zip(SIDES.into_iter().rev()) {
        let costs = fit(&table, side)?;
        constants += costs.iter().map(constants_of).sum::<usize>();
        let left = locality(&table, other)?;
        for (name, segments) in configurations() {
            let predicted = if name == LOCAL {
                localised(read(&table, side, NOT_LOCAL)?, left)
            } else {
                costs.map(|cost| cost.cycles_per_byte(&segments))
            };
            points.extend(points_of(&table, side, name, &predicted)?);
        }
    }
    Ok(Set {
        name: "host-stack-2021",
        source: "Cai et al., SIGCOMM 2021, section 3.1: one flow, 100 Gb/s, Xeon Gold 6128, Linux 5.4",
        fitted: fitted(constants),
        points,
        criteria: Vec::new(),
    })
}

fn fitted(constants: usize) -> Vec<String> {
    vec![
        format!(
            "cycles a byte, packet or buffer, one or two for each of 9 categories of a side: chosen and fitted on its \
             rows no-opts, tso-gro and tso-gro-jumbo alone ({constants} constants, 54 figures): these rows show that \
             so few terms are enough"
        ),
        "row all (aRFS): the side's row tso-gro-jumbo as published, by three ratios of data, buffers and the rest, \
         taken from the other side's rows all and tso-gro-jumbo (3 constants, 9 figures a side); that there are \
         three such kinds was seen in these rows. From the fitted costs instead of the row, the receiver's tcp_ip \
         of row all is 5.07 points out"
            .into(),
        "packets of 1448 and 8948 B; buffers of as many whole packets as fit 64 KiB".into(),
    ]
}

/// Cycles a byte of a row, by category.
fn cycles(row: &Row<'_>) -> Result<Cycles, PublishedError> {
    let cores = row.number("utilisation_pct")? / 100.0;
    let total = cores * CLOCK * 8.0 / (row.number("throughput_Gbps")? * 1e9);
    let (mut cycles, mut listed) = ([0.0; COLUMNS + 1], 0.0);
    for ((category, _), value) in CATEGORIES.iter().zip(&mut cycles) {
        let share = row.number(category)? / 100.0;
        *value = share * total;
        listed += share;
    }
    cycles[COLUMNS] = (1.0 - listed) * total;
    Ok(cycles)
}

fn read(table: &Table, side: &str, configuration: &str) -> Result<Cycles, PublishedError> {
    cycles(&table.find(&[("side", side), ("config", configuration)])?)
}

/// One row for one category: factors of the three terms and cycles, both over the row's total, so
/// that an error counts as a share.
type Weighted = ([f64; 3], f64);

/// The costs of a side from its rows without aRFS.
fn fit(table: &Table, side: &str) -> Result<[SegmentCost; COLUMNS + 1], PublishedError> {
    let mut rows = Vec::new();
    for (name, segments) in configurations().into_iter().filter(|(name, _)| *name != LOCAL) {
        rows.push((segments.terms(), read(table, side, name)?));
    }
    let mut costs = [SegmentCost::default(); COLUMNS + 1];
    for (index, cost) in costs.iter_mut().enumerate() {
        let weighted: Vec<Weighted> = rows
            .iter()
            .map(|(factors, cycles)| {
                let total: f64 = cycles.iter().sum();
                (factors.map(|factor| factor / total), cycles[index] / total)
            })
            .collect();
        let [per_byte_cycles, per_packet_cycles, per_buffer_cycles] = fewest_terms(&weighted);
        *cost = SegmentCost { per_byte_cycles, per_packet_cycles, per_buffer_cycles };
    }
    Ok(costs)
}

/// The best single term, or the best two where none is close enough to every row.
fn fewest_terms(rows: &[Weighted]) -> [f64; 3] {
    let one = ONE_TERM.map(|used| least_squares(rows, used)).into_iter();
    let two = TWO_TERMS.map(|used| least_squares(rows, used)).into_iter();
    let close = |solution: &[f64; 3]| errors(rows, solution).all(|error| error.abs() <= ENOUGH);
    let squares =
        |solution: &[f64; 3]| errors(rows, solution).map(|error| error * error).sum::<f64>();
    let best = |a: &[f64; 3], b: &[f64; 3]| squares(a).total_cmp(&squares(b));
    one.filter(close).min_by(best).or_else(|| two.min_by(best)).unwrap_or_default()
}

/// Predicted less published of every row [share].
fn errors(rows: &[Weighted], solution: &[f64; 3]) -> impl Iterator<Item = f64> {
    rows.iter().map(move |(factors, value)| {
        factors.iter().zip(solution).map(|(factor, cycles)| factor * cycles).sum::<f64>() - value
    })
}

/// Terms of a cost that are in use.
fn constants_of(cost: &SegmentCost) -> usize {
    let terms = [cost.per_byte_cycles, cost.per_packet_cycles, cost.per_buffer_cycles];
    terms.iter().filter(|cycles| **cycles > 0.0).count()
}

/// Least squares without negative coefficients over the terms in use.
fn least_squares(rows: &[Weighted], used: [bool; 3]) -> [f64; 3] {
    let terms: Vec<usize> = (0..3).filter(|term| used[*term]).collect();
    let chosen = |(factors, _): &Weighted| terms.iter().map(|term| factors[*term]).collect();
    let factors: Vec<Vec<f64>> = rows.iter().map(chosen).collect();
    let values: Vec<f64> = rows.iter().map(|(_, value)| *value).collect();
    let mut solution = [0.0; 3];
    for (term, cycles) in terms.iter().zip(nonnegative_least_squares(&factors, &values)) {
        solution[*term] = cycles;
    }
    solution
}

/// What aRFS leaves of each kind of cycles on a side [ratio].
fn locality(table: &Table, side: &str) -> Result<[f64; 3], PublishedError> {
    let (with, without) = (read(table, side, LOCAL)?, read(table, side, NOT_LOCAL)?);
    Ok(LOCALITIES.map(|kind| {
        let of = |cycles: &Cycles| -> f64 {
            cycles
                .iter()
                .enumerate()
                .filter(|(index, _)| of_category(*index) == kind)
                .map(|c| c.1)
                .sum()
        };
        of(&with) / of(&without)
    }))
}

/// The kind of a category; what is not listed is of the rest.
fn of_category(index: usize) -> Locality {
    CATEGORIES.get(index).map_or(Locality::Other, |(_, kind)| *kind)
}

fn localised(mut cycles: Cycles, left: [f64; 3]) -> Cycles {
    for (index, value) in cycles.iter_mut().enumerate() {
        for (kind, ratio) in LOCALITIES.iter().zip(left) {
            if of_category(index) == *kind {
                *value *= ratio;
            }
        }
    }
    cycles
}

/// Throughput a core and the shares of a row.
fn points_of(
    table: &Table,
    side: &str,
    configuration: &str,
    predicted: &Cycles,
) -> Result<Vec<Point>, PublishedError> {
    let published = read(table, side, configuration)?;
    let (total, published_total): (f64, f64) = (predicted.iter().sum(), published.iter().sum());
    let per_core = |cycles: f64| CLOCK * 8.0 / cycles;
    let mut points = vec![Point {
        name: format!("{side} {configuration}"),
        quantity: "throughput a core",
        unit: Unit::BitsPerSecond,
        predicted: per_core(total),
        published: per_core(published_total),
        tolerance: THROUGHPUT_TOLERANCE,
        scale: Scale::Relative,
    }];
    for (index, (category, _)) in CATEGORIES.iter().enumerate() {
        points.push(Point {
            name: format!("{side} {configuration} {category}"),
            quantity: "share of cycles",
            unit: Unit::Ratio,
            predicted: predicted[index] / total,
            published: published[index] / published_total,
            tolerance: SHARE_TOLERANCE,
            scale: Scale::Share,
        });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::super::run;
    use super::*;

    #[test]
    fn eight_rows_have_their_throughputs_and_shares() {
        let set = run("host-stack-2021").unwrap();
        assert_eq!(set.points.len(), 8 * 9);
        let failed: Vec<&Point> = set.points.iter().filter(|point| !point.passes()).collect();
        assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn there_are_fewer_constants_than_figures_and_at_most_two_a_category() {
        let table = Table::parse(FILE, TEXT).unwrap();
        for side in SIDES {
            let constants = fit(&table, side).unwrap().map(|cost| constants_of(&cost));
            assert!(constants.iter().all(|count| (1..=2).contains(count)), "{side}");
            assert!(constants.iter().sum::<usize>() <= 18, "{side}: {constants:?}");
        }
    }

    #[test]
    fn least_squares_finds_what_it_was_given_and_never_a_negative_cost() {
        let row = |size: f64| ([1.0, 0.0, 1.0 / size], 0.2 + 900.0 / size);
        let rows = [1448.0, 9000.0, 65_160.0].map(row);
        let [byte, _, buffer] = least_squares(&rows, TWO_TERMS[1]);
        assert!((byte - 0.2).abs() < 1e-6 && (buffer - 900.0).abs() < 0.01, "{byte} {buffer}");
        let falling = rows.map(|(factors, value)| (factors, 1.0 - value));
        assert_eq!(least_squares(&falling, TWO_TERMS[1])[2], 0.0);
    }
}
