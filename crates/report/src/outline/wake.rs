//! What it costs to wake a receiver, from the shortest sleep to the longest.

use bitpath_measure::{Run, Unit};

use super::Block;
use crate::format;
use crate::table::{Table, figures_named, label};

/// Beginning of the figures' names.
pub(super) const PART: &str = "stack.wake.";

/// The columns behind those that say what came.
const COLUMNS: [&str; 5] = ["slept", "sender", "receiver", "latency", "jitter"];

/// A table, where the record has such figures.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let mut sleeps = figures_named(run, &[&format!("{PART}slept")]);
    if sleeps.is_empty() {
        return Vec::new();
    }
    sleeps.sort_by(|a, b| a.estimate.value.total_cmp(&b.estimate.value));
    let titles =
        ["messages", ">apart", ">slept", ">sender", ">receiver", ">latency", ">give or take"];
    let mut table = Table::new(&titles);
    for sleep in sleeps {
        let of = &sleep.labels;
        let cell = |what: &str| {
            let figure = run.figure(&format!("{PART}{what}"), of);
            figure.map_or_else(|| "-".into(), |found| format::estimate(found.unit, &found.estimate))
        };
        let size = format::label_size(label(sleep, "message_bytes"));
        let first = [size, apart(label(sleep, "gap_ns"))];
        table.push(first.into_iter().chain(COLUMNS.map(cell)).collect::<Vec<_>>());
    }
    vec![Block::Heading("Waking a receiver, by how long it slept".into()), Block::Table(table)]
}

fn apart(gap_ns: &str) -> String {
    match gap_ns.parse() {
        Ok(0.0) | Err(_) => "a stream".into(),
        Ok(nanos) => format::value(Unit::Nanoseconds, nanos),
    }
}
