//! A sweep: a row for each point, and where the throughput is highest.

use bitpath_measure::{Run, Series};

use super::{Block, FULL_WIDTH};
use crate::format;
use crate::plots;
use crate::svg::Plot;
use crate::table::Table;

/// Figures that the table shows; the files of the sweep hold all.
const SHOWN: [&str; 7] = [
    "throughput.bound",
    "throughput",
    "goodput",
    "loss",
    "sender.load",
    "receiver.load",
    "finished",
];

/// Most points in the table: two screens.
const MAX_ROWS: usize = 100;

/// Whether the record is that of a sweep.
pub(super) fn is_one(run: &Run) -> bool {
    run.tool == "sweep"
}

/// How many points there are, and which has the highest throughput.
pub(super) fn headline(run: &Run) -> String {
    let best = columns(run).find(|series| series.name.starts_with("throughput"));
    let best = best.and_then(|series| {
        let samples = series.samples.iter().enumerate();
        let best = samples.max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
        Some((series, best.0, best.1.value))
    });
    let Some((series, point, value)) = best else {
        return "A sweep without a point.".into();
    };
    let value = format::value(series.unit, value);
    let at = varied(run).map(|series| format!("{} {}", series.name, cell(series, point)));
    let at = at.collect::<Vec<_>>().join(", ");
    format!("{} points; the highest throughput is {value}, at {at}.", series.samples.len())
}

/// The pictures and the table.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    if !is_one(run) {
        return Vec::new();
    }
    let draw = |plot: &Plot| Block::picture(FULL_WIDTH, "", |width| plot.draw(width));
    let mut blocks: Vec<Block> = plots::sweep(run).iter().map(|(_, plot)| draw(plot)).collect();
    let shown: Vec<&Series> = varied(run).chain(columns(run)).collect();
    let titles: Vec<String> = shown.iter().map(|series| format!(">{}", series.name)).collect();
    let mut table = Table::new(&titles);
    let points = shown.first().map_or(0, |series| series.samples.len());
    for point in 0..points.min(MAX_ROWS) {
        table.push(shown.iter().map(|series| cell(series, point)).collect::<Vec<_>>());
    }
    blocks.push(Block::Table(table));
    if points > MAX_ROWS {
        let note = format!("The first {MAX_ROWS} of {points} points; the sweep's files hold all.");
        blocks.push(Block::Paragraph(note));
    }
    blocks
}

fn varied(run: &Run) -> impl Iterator<Item = &Series> {
    run.series.iter().filter(|series| series.labels.contains_key("varied"))
}

fn columns(run: &Run) -> impl Iterator<Item = &Series> {
    let columns = run.series.iter().filter(|series| !series.labels.contains_key("varied"));
    columns.filter(|series| SHOWN.contains(&series.name.as_str()))
}

fn cell(series: &Series, point: usize) -> String {
    let value = series.samples.get(point).map_or(f64::NAN, |sample| sample.value);
    format::varied(series, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;
    use bitpath_measure::series::labels;
    use bitpath_measure::{Sample, Unit};

    #[test]
    fn every_point_has_a_row_and_the_best_is_named() {
        let series = |name: &str, unit, labels, values: [f64; 3]| Series {
            samples: values.map(Sample::computed).into(),
            ..Series::new(name, labels, unit)
        };
        let mut run = Run::begin("sweep", "sweep", "", 0);
        let words = labels([("varied", "1"), ("words", "udp,tcp")]);
        run.series = vec![
            series("slots", Unit::Count, labels([("varied", "0")]), [1.0, 2.0, 3000.0]),
            series("transport", Unit::Count, words, [0.0, 1.0, 1.0]),
            series("throughput", Unit::BitsPerSecond, labels([]), [1e9, 3e9, 2e9]),
            series("sent", Unit::Packets, labels([]), [1.0, 1.0, 1.0]),
        ];
        run.complete = true;
        let text = text::render(&run, 100);
        for words in [
            "3 points; the highest throughput is 3.00 Gb/s, at slots 2, transport tcp.",
            "slots  transport  throughput\n",
            " 3000        tcp   2.00 Gb/s",
        ] {
            assert!(text.contains(words), "no `{words}` in:\n{text}");
        }
        assert!(!text.contains("sent"));
    }
}
