//! Forty years of components: the pictures, what each lets through every five years, and how each
//! series grows.

use bitpath_measure::Run;

use super::{Block, FULL_WIDTH};
use crate::format;
use crate::plots;
use crate::svg::{Plot, Stroke, Trace};
use crate::table::{Table, figures_named};

/// Years from one row of the table to the next; the pictures and the record have every year.
const ROW_YEARS: usize = 5;

/// Whether the record is one of trends.
pub(super) fn is_one(run: &Run) -> bool {
    run.tool == "trends"
}

/// For each curve its picture and its limits by year.
pub(super) fn limit_blocks(run: &Run) -> Vec<Block> {
    let blocks = |(_, plot): &(String, Plot)| {
        vec![
            Block::Heading(plot.title.clone()),
            Block::picture(FULL_WIDTH, "", |width| plot.draw(width)),
            Block::Table(limits(plot)),
        ]
    };
    plots::trends(run).iter().flat_map(blocks).collect()
}

fn limits(plot: &Plot) -> Table {
    let lines: Vec<&Trace> =
        plot.traces.iter().filter(|trace| trace.stroke == Stroke::Line).collect();
    let titles = lines.iter().map(|trace| format!(">{}", trace.name));
    let titles: Vec<String> = [plot.x.title.clone()].into_iter().chain(titles).collect();
    let mut table = Table::new(&titles);
    let years = lines.first().map_or(&[][..], |trace| &trace.points);
    for (row, year) in years.iter().enumerate().step_by(ROW_YEARS) {
        let limit = |trace: &&Trace| {
            let value = trace.points.get(row).map_or(f64::NAN, |point| point.y);
            format::value(plot.y.unit, value)
        };
        let year = format::value(plot.x.unit, year.x);
        table.push([year].into_iter().chain(lines.iter().map(limit)).collect::<Vec<_>>());
    }
    table
}

/// Growth of each series, over all its years and until the study.
pub(super) fn growth_blocks(run: &Run) -> Vec<Block> {
    if !is_one(run) {
        return Vec::new();
    }
    let mut table = Table::new(&["series", "years", ">figures", ">growth a year"]);
    for figure in figures_named(run, &["growth"]) {
        let label = |key: &str| figure.labels.get(key).cloned().unwrap_or_default();
        let growth = format::estimate(figure.unit, &figure.estimate);
        table.push([label("series"), label("years"), figure.estimate.samples.to_string(), growth]);
    }
    vec![Block::Table(table)]
}
