//! Two measurements held against each other: how many figures of each quantity agree, and which do not.

use std::collections::BTreeMap;

use bitpath_measure::agreement::{AGREED, COMPARED, OF, agree};
use bitpath_measure::run::Figure;
use bitpath_measure::statistics::median;
use bitpath_measure::{Labels, Run};

use super::Block;
use crate::format;
use crate::table::Table;

/// Most figures in the table of those that do not agree; the record has all.
const MAX_APART: usize = 60;

/// Whether the record holds two measurements against each other.
pub(super) fn is_one(run: &Run) -> bool {
    run.tool == "agreement"
}

/// How many figures agree, in one sentence.
pub(super) fn headline(run: &Run) -> String {
    let count =
        |name: &str| run.figure(name, &Labels::new()).map_or(0.0, |figure| figure.estimate.value);
    let (compared, agreed) = (count(COMPARED), count(AGREED));
    if compared == 0.0 {
        return "A and B share no figure with an interval.".into();
    }
    let share = format::percent(agreed / compared);
    format!(
        "{agreed:.0} of {compared:.0} figures of A and B agree within their intervals ({share})."
    )
}

/// Whose figures they are, a row for each quantity, and those that are apart.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    if !is_one(run) {
        return Vec::new();
    }
    let names = run.documents.iter().map(|document| document.name.clone()).collect();
    let pairs = pairs(run);
    let mut blocks = vec![Block::List(names), Block::Table(by_quantity(&pairs))];
    let mut apart: Vec<&Pair<'_>> = pairs.iter().filter(|pair| !pair.agrees()).collect();
    if apart.is_empty() {
        return blocks;
    }
    apart.sort_by(|one, other| other.distance().total_cmp(&one.distance()));
    blocks.push(Block::Heading("Figures that do not agree, the farthest first".into()));
    blocks.push(Block::Table(apart_table(&apart)));
    if let Some(more) = apart.len().checked_sub(MAX_APART).filter(|more| *more > 0) {
        blocks.push(Block::Paragraph(format!("{more} more are in the record.")));
    }
    blocks
}

/// One figure of both.
struct Pair<'a> {
    a: &'a Figure,
    b: &'a Figure,
    ratio: &'a Figure,
}

impl Pair<'_> {
    fn agrees(&self) -> bool {
        agree(&self.ratio.estimate)
    }

    /// How far B is from A, the same for half and for twice.
    fn distance(&self) -> f64 {
        self.ratio.estimate.value.ln().abs()
    }
}

fn pairs(run: &Run) -> Vec<Pair<'_>> {
    let mut sides: BTreeMap<(&str, Labels), [Option<&Figure>; 3]> = BTreeMap::new();
    for figure in &run.figures {
        let mut labels = figure.labels.clone();
        let side = match labels.remove(OF).as_deref() {
            Some("A") => 0,
            Some("B") => 1,
            Some(_) => 2,
            None => continue,
        };
        sides.entry((&figure.name, labels)).or_default()[side] = Some(figure);
    }
    let whole = sides.into_values().filter_map(|[a, b, ratio]| {
        let ((a, b), ratio) = a.zip(b).zip(ratio)?;
        Some(Pair { a, b, ratio })
    });
    whole.collect()
}

fn by_quantity(pairs: &[Pair<'_>]) -> Table {
    let mut table =
        Table::new(&["quantity", ">figures", ">agree", ">median B / A", ">least", ">most"]);
    let mut quantities: BTreeMap<&str, Vec<&Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        quantities.entry(&pair.a.name).or_default().push(pair);
    }
    for (name, pairs) in quantities {
        let ratios: Vec<f64> = pairs.iter().map(|pair| pair.ratio.estimate.value).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        table.push([
            name.to_owned(),
            pairs.len().to_string(),
            pairs.iter().filter(|pair| pair.agrees()).count().to_string(),
            format!("{:.3}", median(&ratios).unwrap_or(f64::NAN)),
            format!("{least:.3}"),
            format!("{most:.3}"),
        ]);
    }
    table
}

fn apart_table(apart: &[&Pair<'_>]) -> Table {
    let mut table = Table::new(&["figure", "of", ">A", ">B", ">B / A"]);
    for pair in apart.iter().take(MAX_APART) {
        let mut labels = pair.a.labels.clone();
        labels.remove(OF);
        table.push([
            pair.a.name.clone(),
            format::labels(&labels),
            format::estimate(pair.a.unit, &pair.a.estimate),
            format::estimate(pair.b.unit, &pair.b.estimate),
            format!("{:.3}", pair.ratio.estimate.value),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use bitpath_measure::agreement::{Measured, hold};
    use bitpath_measure::series::labels;
    use bitpath_measure::{Estimate, Method, Unit};

    use super::*;
    use crate::text;

    #[test]
    fn what_is_apart_is_listed_and_the_share_is_said() {
        let figure = |bytes: &str, value: f64| Figure {
            name: "memory.latency".into(),
            labels: labels([("working_set_bytes", bytes)]),
            unit: Unit::Nanoseconds,
            estimate: Estimate {
                low: value * 0.9,
                high: value * 1.1,
                method: Method::MedianBlockBootstrap,
                samples: 9,
                ..Estimate::single(value)
            },
        };
        let (a, b) =
            ([figure("64", 10.0), figure("128", 10.0)], [figure("64", 11.0), figure("128", 30.0)]);
        let run = hold(
            &Measured { name: "a.json", figures: &a },
            &Measured { name: "b.json", figures: &b },
        );
        let text = text::render(&run, 100);
        for words in [
            "1 of 2 figures of A and B agree within their intervals (50",
            "A: a.json",
            "memory.latency        2      1         2.050  1.100  3.000",
            "30.0 ns [27.0, 33.0]  3.000",
        ] {
            assert!(text.contains(words), "no `{words}` in:\n{text}");
        }
    }
}
