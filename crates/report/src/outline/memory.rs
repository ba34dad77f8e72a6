//! The memory curve: pictures of every point, tables of every octave, and the levels that the curve of
//! latencies shows. In the tables stand the C library and the fastest instruction mix, on one core over
//! huge pages, over small ones, and on all cores.

use std::collections::BTreeMap;

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::{Block, HALF_WIDTH, Picture};
use crate::format;
use crate::plots;
use crate::svg::Plot;
use crate::table::{Table, figures_named, label};

/// Beginning of the names of this part's figures.
pub(super) const PART: &str = "memory.";

/// Pictures, levels, and a table for each operation and for the latency.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let plots = plots::memory(run);
    if plots.is_empty() {
        return Vec::new();
    }
    let picture = |(_, plot): &(String, Plot)| Picture::new(HALF_WIDTH, |width| plot.draw(width));
    let pictures = plots.iter().map(picture).collect();
    let mut blocks = vec![Block::Pictures { pictures, caption: CAPTION.into() }];
    let levels = figures_named(run, &LEVELS.map(|(name, _)| name));
    if !levels.is_empty() {
        blocks.push(Block::Heading("Levels that the latencies show".into()));
        blocks.push(Block::Table(level_table(&levels)));
    }
    blocks.push(Block::Heading("Latency".into()));
    blocks.push(Block::Table(latency_table(run)));
    for operation in ["read", "write", "copy"] {
        let title = format!("{operation} [GB/s]");
        blocks.push(Block::Heading(title));
        blocks.push(Block::Table(bandwidth_table(run, operation)));
    }
    blocks
}

const CAPTION: &str = "Over huge pages, where there are some. A copy's working set is source and destination together; its payload counts once.";

/// What is known of a level, and the titles.
const LEVELS: [(&str, &str); 4] = [
    ("memory.level.latency", ">latency"),
    ("memory.level.cycles", ">cycles"),
    ("memory.level.capacity", ">answers up to"),
    ("memory.level.stated", ">cache as stated"),
];

fn level_table(levels: &[&Figure]) -> Table {
    let mut rows: BTreeMap<(&str, &str), Vec<&Figure>> = BTreeMap::new();
    for figure in levels {
        rows.entry((label(figure, "pages"), label(figure, "level"))).or_default().push(figure);
    }
    let titles = ["pages", ">level"].into_iter().chain(LEVELS.map(|(_, title)| title));
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for ((pages, level), figures) in rows {
        let value = |name: &str| {
            let found = figures.iter().find(|figure| figure.name == name);
            found.map_or_else(
                || "-".to_owned(),
                |figure| format::value(figure.unit, figure.estimate.value),
            )
        };
        let values = LEVELS.map(|(name, _)| value(name));
        table.push([pages.to_owned(), level.to_owned()].into_iter().chain(values));
    }
    table
}

fn latency_table(run: &Run) -> Table {
    let hz = run.environment.as_ref().and_then(|environment| environment.clock.tsc_hz);
    let figures = figures_named(run, &["memory.latency"]);
    let mut table =
        Table::new(&["working set", ">huge pages", ">TSC cycles", ">small pages", ">TSC cycles"]);
    for bytes in octaves(&figures) {
        let of = |pages: &str| {
            figures.iter().find(|figure| size(figure) == bytes && label(figure, "pages") == pages)
        };
        let mut row = vec![format::value(Unit::Bytes, bytes as f64)];
        for pages in ["huge", "small"] {
            let estimate = of(pages).map(|figure| figure.estimate);
            let cycles = estimate.zip(hz).map(|(found, hz)| found.value * hz / 1e9);
            row.push(
                estimate.map_or_else(dash, |found| format::estimate(Unit::Nanoseconds, &found)),
            );
            row.push(cycles.map_or_else(dash, |cycles| format!("{cycles:.1}")));
        }
        table.push(row);
    }
    table
}

fn bandwidth_table(run: &Run, operation: &str) -> Table {
    let mut figures = figures_named(run, &["memory.bandwidth"]);
    figures.retain(|figure| label(figure, "op") == operation);
    let mut table = Table::new(&[
        "working set",
        ">libc",
        ">best",
        "by",
        ">small pages",
        ">all: libc",
        ">all: best",
        "by",
    ]);
    for bytes in octaves(&figures) {
        let at = |cores: &str, pages: &str| -> Vec<&Figure> {
            let wanted = |figure: &&&Figure| {
                size(figure) == bytes
                    && label(figure, "cores") == cores
                    && label(figure, "pages") == pages
            };
            figures.iter().filter(wanted).copied().collect()
        };
        let (one, small, all) = (at("1", "huge"), at("1", "small"), at("all", "huge"));
        let mut row = vec![format::value(Unit::Bytes, bytes as f64), library(&one)];
        row.extend(best(&one));
        row.extend([library(&small), library(&all)]);
        row.extend(best(&all));
        table.push(row);
    }
    table
}

/// Bandwidth of the C library [GB/s].
fn library(figures: &[&Figure]) -> String {
    let found = figures.iter().find(|figure| label(figure, "mix") == "libc");
    found.map_or_else(dash, |figure| gigabytes(figure))
}

/// Bandwidth of the fastest mix [GB/s], and its name.
fn best(figures: &[&Figure]) -> [String; 2] {
    let best = figures.iter().max_by(|a, b| a.estimate.value.total_cmp(&b.estimate.value));
    best.map_or_else(|| [dash(), dash()], |figure| [gigabytes(figure), label(figure, "mix").into()])
}

/// One scale for all of a table, so that its columns can be compared.
fn gigabytes(figure: &Figure) -> String {
    format!("{:.1}", figure.estimate.value / 1e9)
}

fn dash() -> String {
    "-".into()
}

/// Working sets that are powers of two [B]: those between them are in the pictures and the record.
fn octaves(figures: &[&Figure]) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        figures.iter().map(|figure| size(figure)).filter(|bytes| bytes.is_power_of_two()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn size(figure: &Figure) -> u64 {
    label(figure, "working_set_bytes").parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use bitpath_measure::Estimate;
    use bitpath_measure::series::labels;

    use super::*;

    fn figure(name: &str, of: &[(&str, &str)], unit: Unit, value: f64) -> Figure {
        let mut all = labels([]);
        all.extend(of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        Figure { name: name.into(), labels: all, unit, estimate: Estimate::single(value) }
    }

    fn copied(bytes: &str, mix: &str, cores: &str, value: f64) -> Figure {
        let of = [
            ("op", "copy"),
            ("mix", mix),
            ("cores", cores),
            ("pages", "huge"),
            ("working_set_bytes", bytes),
        ];
        figure("memory.bandwidth", &of, Unit::BytesPerSecond, value)
    }

    #[test]
    fn the_best_mix_is_named_and_what_was_not_measured_is_a_dash() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 1);
        run.figures = vec![
            copied("4096", "libc", "1", 1e9),
            copied("4096", "avx2", "1", 3e9),
            copied("4608", "libc", "1", 2e9),
        ];
        let table = bandwidth_table(&run, "copy");
        let cells: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(table.rows.len(), 1);
        assert_eq!(cells[1..], ["1.0", "3.0", "avx2", "-", "-", "-", "-"]);
    }

    #[test]
    fn a_level_is_a_row_with_what_is_known_of_it() {
        let level = |name: &str, unit, value| {
            figure(name, &[("level", "1"), ("pages", "huge")], unit, value)
        };
        let figures = [
            level("memory.level.latency", Unit::Nanoseconds, 1.5),
            level("memory.level.capacity", Unit::Bytes, 49_152.0),
        ];
        let table = level_table(&figures.iter().collect::<Vec<_>>());
        let cells: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(cells, ["huge", "1", "1.50 ns", "-", "48 KiB", "-"]);
    }
}
