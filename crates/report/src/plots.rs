//! Which pictures a record gives, and what is on their axes.
//!
//! Each function returns the data of a picture, to be drawn at any width; none where the record
//! has nothing for it.

mod memory;
mod pipeline;
mod stack;
mod sweep;
mod trends;

pub use memory::memory;
pub use pipeline::pipeline;
pub(crate) use pipeline::{pipeline_channels, pipeline_columns};
pub use stack::stack;
pub use sweep::sweep;
pub use trends::trends;

use std::collections::BTreeMap;

use bitpath_measure::run::{Figure, Timeline, Verdict};
use bitpath_measure::{Labels, Run, Unit};

use crate::format;
use crate::svg::{Axis, Panel, Plot, Point, Row, RowPlot, Spacing, Stroke, TimelinePlot, Trace};

/// The error that the median of all checks may have [ratio]; the inner band of the picture.
pub const MEDIAN_TOLERANCE: f64 = 0.05;

/// The fitted cost at sizes close together, as whoever fitted it says.
const FITTED: &str = "stack.cost.fitted";

/// What the predictions of a run are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// What this host did.
    Measured,
    /// What a paper says.
    Published,
}

impl Reference {
    /// Of this run: only a validation reads published tables.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        if run.tool == "validate" { Self::Published } else { Self::Measured }
    }

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Published => "published",
        }
    }
}

/// The error of every prediction that something binds, beside its tolerance; of all where nothing
/// binds any.
#[must_use]
pub fn predictions(run: &Run) -> Option<RowPlot> {
    let row = |check: &bitpath_measure::run::Check| Row {
        name: format!("{} \u{b7} {}", check.scenario, check.quantity),
        value: check.error(),
        interval: check.error_interval(),
        tolerance: check.tolerance,
        note: format::signed_percent(check.error()),
        good: check.verdict() == Verdict::Pass,
    };
    let binding: Vec<_> = run.checks.iter().filter(|check| check.bound).collect();
    let shown = if binding.is_empty() { run.checks.iter().collect() } else { binding };
    (!shown.is_empty()).then(|| RowPlot {
        title: "Error of each prediction where something binds".into(),
        axis: format!("error: predicted less {}", Reference::of(run).word()),
        inner: MEDIAN_TOLERANCE,
        rows: shown.into_iter().map(row).collect(),
    })
}

/// Processor time of a call by message size: one plot for each transport, with fitted lines.
#[must_use]
pub fn cost_by_size(run: &Run) -> Vec<Plot> {
    let mut transports: Vec<&str> =
        costs(run).filter_map(|figure| label(figure, "transport")).collect();
    transports.sort_unstable();
    transports.dedup();
    // UDP first: it is the simpler of the two.
    transports.reverse();
    transports.into_iter().map(|transport| cost_plot(run, transport)).collect()
}

fn costs(run: &Run) -> impl Iterator<Item = &Figure> {
    run.figures.iter().filter(|figure| figure.name == "stack.cost")
}

fn cost_plot(run: &Run, transport: &str) -> Plot {
    let of_transport = costs(run).filter(|figure| label(figure, "transport") == Some(transport));
    let groups = group(of_transport, "message_bytes");
    let mut traces = Vec::new();
    // "send" before "receive": the order in which a byte passes.
    for (colour, (labels, figures)) in groups.iter().rev().enumerate() {
        let name = name_without(labels, "transport");
        let points = points(figures, "message_bytes");
        traces.push(Trace { name: name.clone(), colour, stroke: Stroke::Marks, points });
        if let Some(points) = fitted(run, labels) {
            traces.push(Trace {
                name: format!("{name}, fitted"),
                colour,
                stroke: Stroke::Fit,
                points,
            });
        }
    }
    Plot {
        title: format!("{}: processor time per call", transport.to_uppercase()),
        x: axis("message size", Unit::Bytes, Spacing::Logarithmic),
        y: axis("time per call", Unit::Nanoseconds, Spacing::Logarithmic),
        traces,
    }
}

/// What the dashed lines of [`cost_by_size`] are; empty without a fit.
#[must_use]
pub fn fit_note(run: &Run) -> String {
    let is_fitted = run.figures.iter().any(|figure| figure.name == FITTED);
    let note = "Dashed: the fitted cost per call, per packet, per cut and per byte.";
    if is_fitted { note.into() } else { String::new() }
}

/// The fitted cost by size; `None` without a fit for these labels.
fn fitted(run: &Run, labels: &Labels) -> Option<Vec<Point>> {
    let figures = run.figures.iter().filter(|figure| figure.name == FITTED);
    let groups = group(figures, "message_bytes");
    let mut points = points(groups.get(labels)?, "message_bytes");
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Some(points)
}

/// Copy, read and write bandwidth by working set.
#[must_use]
pub fn copy_bandwidth(run: &Run) -> Option<Plot> {
    let figures = run.figures.iter().filter(|figure| figure.name == "copy.bandwidth");
    let groups = group(figures, "working_set_bytes");
    let trace = |(colour, (labels, figures)): (usize, (&Labels, &Vec<&Figure>))| Trace {
        name: name_without(labels, ""),
        colour,
        stroke: Stroke::Joined,
        points: points(figures, "working_set_bytes"),
    };
    (!groups.is_empty()).then(|| Plot {
        title: "Bandwidth of one core by working set".into(),
        x: axis("working set", Unit::Bytes, Spacing::Logarithmic),
        y: axis("bandwidth", Unit::BytesPerSecond, Spacing::Linear),
        traces: groups.iter().enumerate().map(trace).collect(),
    })
}

/// Courses over time: one picture for each scenario, in the order of the record.
#[must_use]
pub fn timelines(run: &Run) -> Vec<TimelinePlot> {
    let scenarios = distinct(run.timelines.iter().map(scenario));
    scenarios.into_iter().map(|scenario| timeline_plot(run, scenario)).collect()
}

/// Each name once, in the order in which they come.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn timeline_plot(run: &Run, of: &str) -> TimelinePlot {
    let mut timelines: Vec<_> =
        run.timelines.iter().filter(|timeline| scenario(timeline) == of).collect();
    timelines.sort_by_key(|timeline| place_on_path(&timeline.name));
    let title = if of.is_empty() { "Over time".into() } else { format!("{of} over time") };
    TimelinePlot { title, scenario: of.into(), panels: timelines.into_iter().map(panel).collect() }
}

fn panel(timeline: &Timeline) -> Panel {
    let others = name_without(&timeline.labels, "scenario");
    let name = format::words(&timeline.name);
    Panel {
        title: if others.is_empty() { name } else { format!("{name} ({others})") },
        unit: timeline.unit,
        limit: timeline.limit,
        points: timeline.points.clone(),
    }
}

fn scenario(timeline: &Timeline) -> &str {
    timeline.labels.get("scenario").map_or("", String::as_str)
}

/// Where a quantity stands on a packet's way; unknown ones last.
fn place_on_path(name: &str) -> usize {
    const PATH: [&str; 5] = [
        "nic_buffer.used",
        "kernel_buffer.used",
        "user_buffer.used",
        "receiver.load",
        "packets.dropped",
    ];
    PATH.iter().position(|known| *known == name).unwrap_or(PATH.len())
}

/// Figures by all their labels but one.
fn group<'a>(
    figures: impl Iterator<Item = &'a Figure>,
    without: &str,
) -> BTreeMap<Labels, Vec<&'a Figure>> {
    let mut groups: BTreeMap<Labels, Vec<&Figure>> = BTreeMap::new();
    for figure in figures {
        let mut labels = figure.labels.clone();
        labels.remove(without);
        groups.entry(labels).or_default().push(figure);
    }
    groups
}

fn points(figures: &[&Figure], key: &str) -> Vec<Point> {
    let point = |figure: &&Figure| {
        let x = label(figure, key)?.parse().ok()?;
        let estimate = figure.estimate;
        Some(Point { x, y: estimate.value, low: estimate.low, high: estimate.high })
    };
    figures.iter().filter_map(point).collect()
}

fn label<'a>(figure: &'a Figure, key: &str) -> Option<&'a str> {
    figure.labels.get(key).map(String::as_str)
}

/// The values of all labels but one, in one line.
fn name_without(labels: &Labels, without: &str) -> String {
    let others = labels.iter().filter(|(key, _)| *key != without);
    others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
}

fn axis(title: &str, unit: Unit, spacing: Spacing) -> Axis {
    Axis { title: title.into(), unit, spacing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Estimate;
    use bitpath_measure::series::labels;

    fn run_with(figures: &[(&str, &str, f64)]) -> Run {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 1);
        for (name, bytes, value) in figures {
            let mut labels = labels([("side", "send"), ("transport", "udp")]);
            if !bytes.is_empty() {
                labels.insert("message_bytes".into(), (*bytes).into());
            }
            let estimate = Estimate::single(*value);
            run.figures.push(Figure {
                name: (*name).into(),
                labels,
                unit: Unit::Nanoseconds,
                estimate,
            });
        }
        run
    }

    #[test]
    fn a_fitted_line_is_drawn_from_small_to_large() {
        let run = run_with(&[
            ("stack.cost", "1", 150.0),
            ("stack.cost.fitted", "1000", 250.0),
            ("stack.cost.fitted", "64", 140.0),
        ]);
        let fit = &cost_by_size(&run)[0].traces[1];
        assert_eq!(fit.name, "send, fitted");
        assert_eq!(fit.points.iter().map(|point| point.y).collect::<Vec<_>>(), [140.0, 250.0]);
    }

    #[test]
    fn without_a_fit_there_is_no_line() {
        let run = run_with(&[("stack.cost", "1", 150.0), ("stack.cost", "2944", 250.0)]);
        assert_eq!(cost_by_size(&run)[0].traces.len(), 1);
    }

    #[test]
    fn a_label_that_is_no_size_has_no_point() {
        let run = run_with(&[("stack.cost", "large", 150.0)]);
        assert!(cost_by_size(&run)[0].traces[0].points.is_empty());
    }
}
