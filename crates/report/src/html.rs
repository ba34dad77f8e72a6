//! The report as one HTML file: no network, no script, light and dark, wide and on a phone.

use askama::Template;
use bitpath_measure::Run;

use crate::outline::{self, Block, Fold, Section};
use crate::svg::{PALETTE, STYLE};
use crate::table::{Align, Cell, Column, Tone};

/// The page; every text is escaped by the template, pictures by their own writer.
#[derive(Template)]
#[template(path = "report.html")]
struct Report<'a> {
    run: &'a Run,
    title: String,
    when: String,
    headline: String,
    sentences: &'a [String],
    partial: Option<String>,
    facts: Vec<(&'static str, String)>,
    intervals: Option<&'static str>,
    sections: Vec<Section>,
    palette: &'static str,
    plot_style: &'static str,
}

/// The report as one file.
#[must_use]
pub fn render(run: &Run) -> String {
    let report = Report {
        run,
        title: format!("bitpath {} {}", run.tool, run.id),
        when: outline::when(run),
        headline: outline::headline(run),
        sentences: run.answer.as_ref().map_or(&[], |answer| &answer.sentences),
        partial: outline::partial_notice(run),
        facts: outline::key_facts(run),
        intervals: outline::has_intervals(run).then_some(outline::INTERVALS),
        sections: outline::sections(run),
        palette: PALETTE,
        plot_style: STYLE,
    };
    // Writing to a string fails only where a value's own formatting does, and none here does.
    report.render().unwrap_or_else(|error| format!("<!doctype html><p>{error}</p>"))
}

/// The class of a cell's element.
fn cell_class(cell: &Cell, column: &Column) -> &'static str {
    match (cell.tone, column.align) {
        (Tone::Pass, _) => "pass",
        (Tone::Fail, _) => "fail",
        (Tone::Plain, Align::Right) => "n",
        // A sentence may break; a name or a short word must not.
        (Tone::Plain, Align::Left) if cell.text.chars().count() > LONG_CELL => "long",
        (Tone::Plain, Align::Left) => "",
    }
}

/// A cell with more letters is a sentence.
const LONG_CELL: usize = 28;
