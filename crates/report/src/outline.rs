//! What a report says, section by section, before it is text or a page.
//!
//! Terminal and page show the same sections; pictures and what is folded are for the page alone.
//! A section for which the record holds nothing is left out.

mod agreement;
mod answer;
mod checks;
mod clock;
mod comparison;
mod decode;
mod environment;
mod figures;
mod memory;
mod pipeline;
mod probe;
mod raw;
mod rtp;
mod stack;
mod sweep;
mod trends;
mod tune;
mod wake;

use bitpath_measure::{Pitfall, Run, Unit};

use crate::format;
use crate::plots;
use crate::svg::{Drawing, Panel, TimelinePlot};
use crate::table::Table;

pub(crate) use answer::{headline, key_facts};

/// Text width of a picture that fills a page [px].
const FULL_WIDTH: f64 = 880.0;

/// Text width of one of two pictures side by side [px].
const HALF_WIDTH: f64 = 428.0;

/// Text width of a picture on a phone [px].
const PHONE_WIDTH: f64 = 340.0;

/// One section.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its anchor in the page.
    pub(crate) id: &'static str,
    /// Its title.
    pub(crate) title: &'static str,
    /// What it holds, from the top.
    pub(crate) blocks: Vec<Block>,
}

/// One part of a section.
#[derive(Debug)]
pub(crate) enum Block {
    /// A title within a section.
    Heading(String),
    /// Sentences.
    Paragraph(String),
    /// Sentences that do not follow from each other.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// Pictures that stand side by side where there is room, with what one must know to read them.
    Pictures {
        /// The pictures.
        pictures: Vec<Picture>,
        /// A caption below them; may be empty.
        caption: String,
    },
    /// Something long that a reader opens.
    Folded {
        /// What one sees before.
        summary: String,
        /// What one sees then.
        content: Fold,
    },
}

/// What is folded.
#[derive(Debug)]
pub(crate) enum Fold {
    /// A table.
    Table(Table),
    /// A text as it is.
    Verbatim(String),
}

/// One picture, drawn for a wide page and for a phone.
#[derive(Debug)]
pub(crate) struct Picture {
    /// For a wide page.
    pub(crate) wide: Drawing,
    /// For a phone.
    pub(crate) narrow: Drawing,
}

impl Picture {
    fn new(width: f64, draw: impl Fn(f64) -> Drawing) -> Self {
        Self { wide: draw(width), narrow: draw(PHONE_WIDTH) }
    }
}

impl Block {
    /// One picture of this width [px] with its caption.
    fn picture(width: f64, caption: &str, draw: impl Fn(f64) -> Drawing) -> Self {
        Self::Pictures { pictures: vec![Picture::new(width, draw)], caption: caption.into() }
    }
}

impl Section {
    fn new(id: &'static str, title: &'static str, blocks: Vec<Block>) -> Self {
        Self { id, title, blocks }
    }
}

/// Every section that the record has something for, the conclusions first.
pub(crate) fn sections(run: &Run) -> Vec<Section> {
    let all = [
        Section::new("predictions", checks::title(run), checks::blocks(run)),
        Section::new("changes", "What differs", comparison::change_blocks(run)),
        Section::new("compared", "What it does", comparison::figure_blocks(run)),
        Section::new("values", "Values of the knob", tune::blocks(run)),
        Section::new("agreement", "Agreement", agreement::blocks(run)),
        Section::new("points", "Points", sweep::blocks(run)),
        Section::new("limits", "What each component lets through", trends::limit_blocks(run)),
        Section::new("growth", "Growth", trends::growth_blocks(run)),
        Section::new("jobs", "Bottlenecks and remedies", answer::job_blocks(run)),
        Section::new("cost", "Cost of a call by message size", figures::cost_blocks(run)),
        Section::new("copy", "Memory bandwidth by working set", figures::copy_blocks(run)),
        Section::new("clock", "Clocks and costs", clock::blocks(run)),
        Section::new("memory", "Memory by working set", memory::blocks(run)),
        Section::new("stack", "The stack: UDP and TCP flows", stack::blocks(run)),
        Section::new("pipeline", "A pipeline of three processes", pipeline::blocks(run)),
        Section::new("decode", "Decoding", decode::blocks(run)),
        Section::new("rtp", "RTP and RTCP processing", rtp::blocks(run)),
        Section::new("time", "Buffers and processor over time", timeline_blocks(run)),
        Section::new("figures", "Other figures", figures::other_blocks(run)),
        Section::new("pitfalls", "Pitfalls", pitfall_blocks(run)),
        Section::new("environment", "Environment", environment::blocks(run)),
        Section::new("steps", "Steps", step_blocks(run)),
        Section::new("documents", "Profile and scenarios", raw::document_blocks(run)),
        Section::new("raw", "Raw numbers", raw::blocks(run)),
    ];
    all.into_iter().filter(|section| !section.blocks.is_empty()).collect()
}

/// What a reader of a partial record must know before anything else; `None` for a whole one.
pub(crate) fn partial_notice(run: &Run) -> Option<String> {
    if run.complete {
        return None;
    }
    let interrupted =
        run.pitfalls.iter().find(|doubt| matches!(doubt, Pitfall::Interrupted { .. }));
    let why = interrupted.map_or_else(
        || "The run did not come to its end; what was measured until then is kept.".into(),
        Pitfall::sentence,
    );
    Some(format!("Partial record. {why}"))
}

/// What the brackets behind a value mean.
pub(crate) const INTERVALS: &str =
    "In brackets: 95 % intervals, unless the raw figures say otherwise.";

/// Whether any value of the record carries an interval.
pub(crate) fn has_intervals(run: &Run) -> bool {
    let figures = run.figures.iter().map(|figure| &figure.estimate);
    let checks = run.checks.iter().map(|check| &check.measured);
    figures.chain(checks).any(format::has_interval)
}

fn timeline_blocks(run: &Run) -> Vec<Block> {
    let plots = plots::timelines(run);
    if plots.is_empty() {
        return Vec::new();
    }
    let draw = |plot: &TimelinePlot| Block::picture(FULL_WIDTH, "", |width| plot.draw(width));
    let mut blocks: Vec<Block> = plots.iter().map(draw).collect();
    let mut table = Table::new(&[
        "course", "scenario", ">points", ">from", ">to", ">lowest", ">mean", ">highest", ">limit",
    ]);
    for plot in &plots {
        for panel in &plot.panels {
            table.push(course_row(&plot.scenario, panel));
        }
    }
    blocks.push(Block::Table(table));
    blocks
}

/// One course in figures; the mean is weighted by time.
fn course_row(scenario: &str, panel: &Panel) -> Vec<String> {
    let value = |number: Option<f64>| {
        number.map_or_else(|| "-".into(), |number| format::value(panel.unit, number))
    };
    let time = |number: Option<f64>| {
        number.map_or_else(|| "-".into(), |number| format::value(Unit::Seconds, number))
    };
    let summary = panel.summary();
    vec![
        panel.title.clone(),
        if scenario.is_empty() { "-".into() } else { scenario.into() },
        panel.points.len().to_string(),
        time(summary.map(|summary| summary.first_s)),
        time(summary.map(|summary| summary.last_s)),
        value(summary.map(|summary| summary.lowest)),
        value(summary.map(|summary| summary.mean)),
        value(summary.map(|summary| summary.highest)),
        value(panel.limit),
    ]
}

fn pitfall_blocks(run: &Run) -> Vec<Block> {
    let sentences: Vec<_> = run.pitfalls.iter().map(Pitfall::sentence).collect();
    if sentences.is_empty() { Vec::new() } else { vec![Block::List(sentences)] }
}

fn step_blocks(run: &Run) -> Vec<Block> {
    if run.steps.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&["step", ">time", "ended"]);
    for step in &run.steps {
        let timed = !run.started.is_empty();
        let time = if timed { format::value(Unit::Seconds, step.seconds) } else { "-".into() };
        table.push([step.name.clone(), time, step.ended.clone()]);
    }
    vec![Block::Table(table)]
}

/// When a run began and how long it took; nothing for a simulation, which no clock saw.
pub(crate) fn when(run: &Run) -> String {
    if run.started.is_empty() {
        return String::new();
    }
    format!("started {}, took {}, ", run.started, format::value(Unit::Seconds, run.duration_s))
}
