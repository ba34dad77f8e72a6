//! Two scenarios side by side: the keys that differ, and every figure of both.

use std::collections::BTreeMap;

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::Block;
use crate::format;
use crate::table::Table;

/// The document that holds key, value in A and value in B, a line for each key that differs.
const CHANGES: &str = "changes.tsv";

/// Most changes in the table; the document holds all.
const MAX_CHANGES: usize = 60;

/// Longest value in the table [letters]: a list of frames has millions.
const MAX_VALUE: usize = 60;

/// Whether the record compares two scenarios.
pub(super) fn is_one(run: &Run) -> bool {
    run.tool == "compare"
}

/// What the changes do to the throughput, in one sentence.
pub(super) fn headline(run: &Run) -> String {
    let changes = match changes(run).len() {
        0 => "A and B are the same".to_owned(),
        1 => "A and B differ in one key".to_owned(),
        count => format!("A and B differ in {count} keys"),
    };
    let throughput = rows(run).into_iter().find(|row| row.name.starts_with("throughput"));
    match throughput.and_then(|row| row.ratio) {
        Some(ratio) => {
            let times = format::factor(&ratio.estimate);
            format!("{changes}; the throughput of B is {times} that of A.")
        }
        None => format!("{changes}."),
    }
}

/// The files, and the keys that differ.
pub(super) fn change_blocks(run: &Run) -> Vec<Block> {
    if !is_one(run) {
        return Vec::new();
    }
    let names = run.documents.iter().filter(|document| document.name != CHANGES);
    let mut blocks = vec![Block::List(names.map(|document| document.name.clone()).collect())];
    let changes = changes(run);
    if !changes.is_empty() {
        let mut table = Table::new(&["key", "A", "B"]);
        for change in changes.iter().take(MAX_CHANGES) {
            table.push(change.iter().map(|value| shown(value)).collect::<Vec<_>>());
        }
        blocks.push(Block::Table(table));
    }
    if let Some(more) = changes.len().checked_sub(MAX_CHANGES).filter(|more| *more > 0) {
        blocks.push(Block::Paragraph(format!("{more} more are in {CHANGES} of the record.")));
    }
    blocks
}

/// Every figure of A and of B, their difference and their ratio.
pub(super) fn figure_blocks(run: &Run) -> Vec<Block> {
    if !is_one(run) {
        return Vec::new();
    }
    let mut table = Table::new(&["figure", ">A", ">B", ">B - A", ">B / A"]);
    let written = |figure: Option<&Figure>| {
        figure.map_or_else(|| "-".into(), |figure| format::estimate(figure.unit, &figure.estimate))
    };
    for row in rows(run) {
        let ratio = row.ratio.map(|ratio| format::factor(&ratio.estimate));
        table.push([
            row.name,
            written(row.a),
            written(row.b),
            row.difference.map_or_else(|| "-".into(), signed),
            ratio.unwrap_or_else(|| "-".into()),
        ]);
    }
    let mut blocks = vec![Block::Table(table)];
    let replications = run.series.first().map_or(1, |series| series.samples.len());
    blocks.push(Block::Paragraph(if replications > 1 {
        format!("Means of {replications} replications; both drew the same random numbers, and the intervals of B - A are those of the pairs.")
    } else {
        "Nothing is random: each ran once.".into()
    }));
    blocks
}

/// One figure of both.
#[derive(Default)]
struct Compared<'a> {
    name: String,
    a: Option<&'a Figure>,
    b: Option<&'a Figure>,
    difference: Option<&'a Figure>,
    ratio: Option<&'a Figure>,
}

/// The figures in the order of the record, those of the same name and labels in one row.
fn rows(run: &Run) -> Vec<Compared<'_>> {
    let mut rows: Vec<Compared<'_>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for figure in &run.figures {
        let name = name(figure);
        let place = *places.entry(name.clone()).or_insert(rows.len());
        if place == rows.len() {
            rows.push(Compared { name, ..Compared::default() });
        }
        let row = &mut rows[place];
        match figure.labels.get("scenario").map_or("", String::as_str) {
            "A" => row.a = Some(figure),
            "B" => row.b = Some(figure),
            "B - A" => row.difference = Some(figure),
            _ => row.ratio = Some(figure),
        }
    }
    rows
}

/// The name of a figure with the labels that both scenarios share.
fn name(figure: &Figure) -> String {
    let shared =
        figure.labels.iter().filter(|(key, _)| !["engine", "scenario"].contains(&key.as_str()));
    let shared = shared.map(|(key, value)| format!(" {key}={value}"));
    std::iter::once(figure.name.clone()).chain(shared).collect()
}

fn changes(run: &Run) -> Vec<Vec<&str>> {
    let document = run.documents.iter().find(|document| document.name == CHANGES);
    let lines = document.iter().flat_map(|document| document.text.lines());
    lines.map(|line| line.splitn(3, '\t').collect()).collect()
}

fn shown(value: &str) -> String {
    if value.is_empty() {
        return "-".into();
    }
    let short: String = value.chars().take(MAX_VALUE).collect();
    if short.len() < value.len() { short + "\u{2026}" } else { short }
}

/// A difference with its sign; that of two shares in per cent of the whole.
fn signed(figure: &Figure) -> String {
    let text = format::estimate(figure.unit, &figure.estimate);
    let is_share = figure.unit == Unit::Ratio;
    let text = if is_share { text.replacen(" %", " points", 1) } else { text };
    if figure.estimate.value > 0.0 { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;
    use bitpath_measure::Estimate;
    use bitpath_measure::run::Document;
    use bitpath_measure::series::labels;

    fn run(changes: &str) -> Run {
        let mut run = Run::begin("compare", "comparison", "", 0);
        run.documents = vec![Document { name: CHANGES.into(), text: changes.into() }];
        for (side, unit, value) in [
            ("A", Unit::BitsPerSecond, 1e9),
            ("B", Unit::BitsPerSecond, 1.5e9),
            ("B - A", Unit::BitsPerSecond, 5e8),
            ("B / A", Unit::Ratio, 1.5),
        ] {
            run.figures.push(Figure {
                name: "throughput".into(),
                labels: labels([("scenario", side)]),
                unit,
                estimate: Estimate::single(value),
            });
        }
        run.complete = true;
        run
    }

    #[test]
    fn changes_and_figures_stand_side_by_side() {
        let text = text::render(&run("link.rate\t1 Gb/s\t2 Gb/s\nlink.delay\t\t1 ms\n"), 100);
        for words in [
            "A and B differ in 2 keys; the throughput of B is 1.50x that of A.",
            "link.rate   1 Gb/s  2 Gb/s",
            "link.delay  -       1 ms",
            "throughput  1.00 Gb/s  1.50 Gb/s  +500 Mb/s  1.50x",
        ] {
            assert!(text.contains(words), "no `{words}` in:\n{text}");
        }
    }

    #[test]
    fn figures_of_one_name_and_other_labels_have_rows_of_their_own() {
        let mut run = run("");
        for core in ["0", "1"] {
            let mut load = run.figures[0].clone();
            load.name = "cpu.load".into();
            load.labels.insert("core".into(), core.into());
            run.figures.push(load);
        }
        let names: Vec<String> = rows(&run).into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["throughput", "cpu.load core=0", "cpu.load core=1"]);
    }

    #[test]
    fn many_changes_are_counted() {
        let changes: String = (0..MAX_CHANGES + 3).map(|key| format!("{key}\ta\tb\n")).collect();
        assert!(text::render(&run(&changes), 100).contains("3 more are in changes.tsv"));
        assert!(headline(&run("")).starts_with("A and B are the same"));
    }
}
