//! Queues whose figures are known: the golden case P3, Erlang's loss, the mean wait of Pollaczek
//! and Khinchine, and servers in a row that block each other (G. C. Hunt, *Sequential arrays of
//! waiting lines*, Operations Research 4, 1956).
//!
//! Nothing is fitted: what these cases check are the engines.

use bitpath_measure::{Picos, Unit};

use super::{Point, PublishedError, Scale, Set};
use crate::pipeline::{Arrivals, Distribution, Pipeline, Stage, WhenFull, exact};
use crate::scenario::{Scenario, Subject};
use crate::table::{Row, Table, TableError};

const FILE: &str = "queues.csv";
const TEXT: &str = include_str!("../../../../data/published/queues.csv");
const P3: &str = include_str!("../../../../scenarios/p3.toml");

/// Mean service time of every queue but P3's [ps].
const SERVICE: Picos = Picos::from_nanos(1000);

/// Packets of a random queue: the errors below are then three standard deviations or more.
const PACKETS: u64 = 1_000_000;

/// Tolerated error of a loss, which rests on the few packets that are lost, in bursts [ratio].
const LOSS_TOLERANCE: f64 = 0.10;
/// Tolerated error of a mean wait, whose samples hang together [ratio].
const WAIT_TOLERANCE: f64 = 0.05;
/// Tolerated error of a throughput [ratio].
const THROUGHPUT_TOLERANCE: f64 = 0.01;

/// Places that no load below 0.9 fills [packets].
const UNLIMITED: usize = 1 << 12;

/// Seed of all random times.
const SEED: u64 = 1956;

/// The set.
pub(super) fn set() -> Result<Set, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let points = table.rows().map(|row| point(&row)).collect::<Result<_, _>>()?;
    Ok(Set {
        name: "queues",
        source: "model.md, golden case P3; Erlang; Pollaczek and Khinchine; Hunt 1956",
        fitted: vec![
            "nothing is fitted: the exact recursion against closed forms; P3 has no chance in it \
             and must be met to the packet"
                .into(),
        ],
        points,
        criteria: Vec::new(),
    })
}

fn point(row: &Row<'_>) -> Result<Point, PublishedError> {
    let case = row.text("case")?;
    let (quantity, unit, tolerance) = match row.text("quantity")? {
        "delivered" => ("packets delivered", Unit::Packets, 0.0),
        "dropped" => ("packets dropped", Unit::Packets, 0.0),
        "loss" => ("packets lost", Unit::Ratio, LOSS_TOLERANCE),
        "wait" => ("mean wait in service times", Unit::Ratio, WAIT_TOLERANCE),
        _ => ("throughput of a server's own", Unit::Ratio, THROUGHPUT_TOLERANCE),
    };
    let predicted = match quantity {
        "packets delivered" => p3().map(|outcome| outcome.0),
        "packets dropped" => p3().map(|outcome| outcome.1),
        "packets lost" => load(case).map(|load| loss(load, places(case))),
        "mean wait in service times" => load(case).map(|load| wait(load, service_of(case))),
        _ => servers(case).map(|(servers, between)| blocked_throughput(servers, between)),
    };
    let wanted = || TableError::NoRow { file: FILE.into(), wanted: vec![format!("case {case}")] };
    Ok(Point {
        name: case.into(),
        quantity,
        unit,
        predicted: predicted.ok_or_else(wanted)?,
        published: row.number("value")?,
        tolerance,
        scale: Scale::Relative,
    })
}

/// The load in `m/m/1/20 at 0.9`.
fn load(case: &str) -> Option<f64> {
    case.split_once(" at ")?.1.parse().ok()
}

/// The places in `m/m/1/20 at 0.9`; as good as unlimited where none are named.
fn places(case: &str) -> usize {
    let queue = case.split_once(" at ").map_or(case, |(queue, _)| queue);
    queue.split('/').nth(3).and_then(|places| places.parse().ok()).unwrap_or(UNLIMITED)
}

/// The second letter of Kendall's notation.
fn service_of(case: &str) -> Distribution {
    if case.starts_with("m/d") { Distribution::Constant } else { Distribution::Exponential }
}

/// Servers and places between them in `2 servers with 3 between`.
fn servers(case: &str) -> Option<(usize, usize)> {
    let (servers, rest) = case.split_once(" servers with ")?;
    Some((servers.parse().ok()?, rest.strip_suffix(" between")?.parse().ok()?))
}

/// Packets delivered and dropped in the golden case.
fn p3() -> Option<(f64, f64)> {
    let Subject::Pipeline(pipeline) = Scenario::parse(P3).ok()?.subject else { return None };
    let outcome = exact::run(&pipeline, 0);
    Some((outcome.delivered as f64, outcome.drops.iter().sum::<u64>() as f64))
}

/// One server with so many places, its own included.
fn stage(slots: usize, distribution: Distribution, when_full: WhenFull) -> Stage {
    Stage {
        name: "queue".into(),
        slots,
        service: SERVICE,
        distribution,
        exception: None,
        when_full,
    }
}

/// A single queue with Poisson arrivals.
fn queue(load: f64, stage: Stage) -> Pipeline {
    let interval = Picos::from_nanos_f64(SERVICE.as_nanos_f64() / load);
    let arrivals = Arrivals::Renewal { interval, distribution: Distribution::Exponential };
    Pipeline { packets: PACKETS, arrivals, stages: vec![stage] }
}

/// Share of packets that an M/M/1/K queue loses [ratio].
fn loss(load: f64, places: usize) -> f64 {
    let pipeline = queue(load, stage(places, Distribution::Exponential, WhenFull::Drop));
    exact::run(&pipeline, SEED).drops[0] as f64 / PACKETS as f64
}

/// Mean wait before service of an M/G/1 queue [mean service times].
///
/// The mean sojourn is the sum of all departures less the sum of all arrivals, a packet each. The
/// same arrivals, through a server that takes a picosecond, leave when they come.
fn wait(load: f64, distribution: Distribution) -> f64 {
    let pipeline = queue(load, stage(UNLIMITED, distribution, WhenFull::Drop));
    let mut instant = pipeline.clone();
    instant.stages[0].service = Picos(1);
    instant.stages[0].distribution = Distribution::Constant;
    let departures = exact::run(&pipeline, SEED).departure_sum;
    let arrivals = exact::run(&instant, SEED).departure_sum;
    let sojourn = departures.wrapping_sub(arrivals) as f64 / PACKETS as f64 + 1.0;
    sojourn / SERVICE.0 as f64 - 1.0
}

/// Packets that servers in a row pass in a mean service time when the first always has one.
fn blocked_throughput(servers: usize, between: usize) -> f64 {
    let first = stage(QUEUE_BEFORE, Distribution::Exponential, WhenFull::Drop);
    let later = stage(between + 1, Distribution::Exponential, WhenFull::Block);
    let stages = std::iter::once(first).chain(std::iter::repeat_n(later, servers - 1)).collect();
    let interval = Picos(SERVICE.0 / 2);
    let arrivals = Arrivals::Renewal { interval, distribution: Distribution::Constant };
    let outcome = exact::run(&Pipeline { packets: PACKETS, arrivals, stages }, SEED);
    outcome.throughput() * SERVICE.as_secs_f64()
}

/// Places before the first server: at twice its rate they are never empty [packets].
const QUEUE_BEFORE: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::tests::assert_within_tolerance;
    use super::*;

    #[test]
    fn the_engine_meets_the_closed_forms() {
        let set = assert_within_tolerance("queues");
        assert_eq!(set.points.len(), 12);
    }

    #[test]
    fn cases_say_what_they_are() {
        assert_eq!((load("m/m/1/20 at 0.9"), places("m/m/1/20 at 0.9")), (Some(0.9), 20));
        assert_eq!(
            (places("m/d/1 at 0.5"), servers("2 servers with 3 between")),
            (UNLIMITED, Some((2, 3)))
        );
        assert_eq!((load("p3"), servers("p3")), (None, None));
    }
}
