//! Documents and raw numbers, folded: for those who want to compute with them.

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Series};

use super::{Block, Fold};
use crate::format;
use crate::table::Table;

/// Most samples that a page shows; the record and its CSV hold all. At about 90 B of markup each
/// the page stays below a few MB, which a phone still opens.
const MAX_SAMPLES: usize = 20_000;

/// Each text that belongs to the run.
pub(super) fn document_blocks(run: &Run) -> Vec<Block> {
    let folded = |document: &bitpath_measure::run::Document| Block::Folded {
        summary: document.name.clone(),
        content: Fold::Verbatim(document.text.clone()),
    };
    run.documents.iter().map(folded).collect()
}

/// Figures in full precision, and the samples of every series.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !run.figures.is_empty() {
        let summary = format!("All figures ({})", run.figures.len());
        blocks.push(Block::Folded { summary, content: Fold::Table(figures(&run.figures)) });
    }
    let mut room = MAX_SAMPLES;
    for series in &run.series {
        let shown = series.samples.len().min(room);
        room -= shown;
        blocks.push(series_block(series, shown));
    }
    blocks
}

fn figures(figures: &[Figure]) -> Table {
    let mut table =
        Table::new(&["figure", "labels", "unit", ">value", ">low", ">high", ">samples", "by"]);
    for figure in figures {
        let estimate = &figure.estimate;
        table.push([
            figure.name.clone(),
            format::labels(&figure.labels),
            figure.unit.symbol().into(),
            estimate.value.to_string(),
            estimate.low.to_string(),
            estimate.high.to_string(),
            estimate.samples.to_string(),
            format::method(estimate.method).into(),
        ]);
    }
    table
}

fn series_block(series: &Series, shown: usize) -> Block {
    let unit = series.unit.symbol();
    let value = format!(">value [{unit}]");
    let titles = [value.as_str(), ">at [s]", ">machine speed", ">other load [cores]"];
    let mut table = Table::new(&titles);
    for sample in series.samples.iter().take(shown) {
        table.push([
            sample.value.to_string(),
            format!("{:.3}", sample.at_s),
            format!("{:.3}", sample.machine_speed),
            format!("{:.3}", sample.other_load_cores),
        ]);
    }
    let count = series.samples.len();
    let rest = if shown < count { format!(", the first {shown} shown") } else { String::new() };
    let summary = format!(
        "{} [{unit}] \u{b7} {} \u{b7} {count} samples{rest}",
        series.name,
        format::labels(&series.labels)
    );
    Block::Folded { summary, content: Fold::Table(table) }
}
