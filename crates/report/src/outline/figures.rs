//! Figures: cost of calls, memory bandwidth, and whatever else the record holds.

use bitpath_measure::Run;
use bitpath_measure::run::Figure;

use super::{Block, FULL_WIDTH, HALF_WIDTH, Picture};
use crate::format;
use crate::plots;
use crate::svg::Plot;
use crate::table::{Table, figures_named, grid, side_by_side};

const COST: &str = "stack.cost";
const COPY: &str = "copy.bandwidth";

/// Coefficients of the fits, and their titles.
const FITS: [(&str, &str); 5] = [
    ("stack.fit.per_call", "per call"),
    ("stack.fit.per_packet", "per packet"),
    ("stack.fit.per_split", "per cut"),
    ("stack.fit.per_byte", "per byte"),
    ("stack.fit.residual", "median residual"),
];

/// Processor time of sending and receiving by size, and what was fitted to it; what wake-ups cost.
pub(super) fn cost_blocks(run: &Run) -> Vec<Block> {
    let mut blocks = Vec::new();
    let costs = figures_named(run, &[COST]);
    if !costs.is_empty() {
        let picture = |plot: &Plot| Picture::new(HALF_WIDTH, |width| plot.draw(width));
        blocks.push(Block::Pictures {
            pictures: plots::cost_by_size(run).iter().map(picture).collect(),
            caption: plots::fit_note(run),
        });
        blocks.push(Block::Table(grid(&costs, "message_bytes", "message")));
    }
    let fits = figures_named(run, &FITS.map(|(name, _)| name));
    if !fits.is_empty() {
        blocks.push(Block::Heading("Fitted cost".into()));
        blocks.push(Block::Table(side_by_side(&fits, &FITS)));
    }
    blocks.extend(super::wake::blocks(run));
    blocks
}

/// Copy, read and write bandwidth.
pub(super) fn copy_blocks(run: &Run) -> Vec<Block> {
    let figures = figures_named(run, &[COPY]);
    let Some(plot) = plots::copy_bandwidth(run) else {
        return Vec::new();
    };
    vec![
        Block::picture(FULL_WIDTH, "", |width| plot.draw(width)),
        Block::Table(grid(&figures, "working_set_bytes", "working set")),
    ]
}

/// Every figure that no other section shows.
pub(super) fn other_blocks(run: &Run) -> Vec<Block> {
    let shown = super::agreement::is_one(run)
        || super::comparison::is_one(run)
        || super::trends::is_one(run)
        || super::tune::is_one(run);
    let others: Vec<_> = run
        .figures
        .iter()
        .filter(|figure| !shown && !is_shown(figure) && !super::clock::shows(run, figure))
        .collect();
    if others.is_empty() { Vec::new() } else { vec![Block::Table(figure_table(&others))] }
}

fn is_shown(figure: &Figure) -> bool {
    let name = figure.name.as_str();
    let named = |names: &[(&str, &str)]| names.iter().any(|(known, _)| *known == name);
    // What a job did stands in the predictions' table, and the fitted curve in its picture.
    let parts = [super::decode::PART, super::memory::PART, super::pipeline::PART, "job."];
    let elsewhere = parts.iter().any(|part| name.starts_with(part))
        || super::stack::shows(figure)
        || super::rtp::shows(figure);
    elsewhere
        || name == COST
        || name == COPY
        || name == "stack.cost.fitted"
        || named(&FITS)
        || name.starts_with(super::wake::PART)
}

/// Figures of any name, a row each.
pub(super) fn figure_table(figures: &[&Figure]) -> Table {
    let mut table = Table::new(&["figure", "labels", ">value", ">samples", "by"]);
    for figure in figures {
        table.push([
            figure.name.clone(),
            format::labels(&figure.labels),
            format::estimate(figure.unit, &figure.estimate),
            figure.estimate.samples.to_string(),
            format::short_method(figure.estimate.method).into(),
        ]);
    }
    table
}
