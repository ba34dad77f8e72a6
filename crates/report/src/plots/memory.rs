//! The memory curve: bandwidth and latency by working set (sysSIM figures 9 to 12).

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::{axis, distinct, label, points};
use crate::svg::{Plot, Spacing, Stroke, Trace};

/// Bandwidth of one core by each instruction mix, a picture an operation, and latency; with the name
/// of each for a file.
#[must_use]
pub fn memory(run: &Run) -> Vec<(String, Plot)> {
    let operations = distinct(of(run, "memory.bandwidth").filter_map(|figure| label(figure, "op")));
    let mut plots: Vec<(String, Plot)> = Vec::new();
    for operation in operations {
        for cores in ["1", "all"] {
            let plot = bandwidth(run, operation, cores);
            plots.extend(plot.map(|plot| (format!("{operation}-{cores}"), plot)));
        }
    }
    plots.extend(latency(run).map(|plot| ("latency".into(), plot)));
    plots
}

fn of<'a>(run: &'a Run, name: &'a str) -> impl Iterator<Item = &'a Figure> {
    run.figures.iter().filter(move |figure| figure.name == name)
}

fn bandwidth(run: &Run, operation: &str, cores: &str) -> Option<Plot> {
    let wanted = |figure: &&Figure| {
        label(figure, "op") == Some(operation)
            && label(figure, "cores") == Some(cores)
            && label(figure, "pages") == Some("huge")
    };
    let figures: Vec<&Figure> = of(run, "memory.bandwidth").filter(wanted).collect();
    let of_whom = if cores == "1" { "one core" } else { "all cores" };
    let title = format!("{operation} bandwidth of {of_whom}");
    plot(title, ("bandwidth", Unit::BytesPerSecond), &figures, "mix")
}

fn latency(run: &Run) -> Option<Plot> {
    let figures: Vec<&Figure> = of(run, "memory.latency").collect();
    let title = "Latency of a dependent load, by the pages of the memory".into();
    plot(title, ("latency", Unit::Nanoseconds), &figures, "pages")
}

/// A line by working set for each value of a label; none without a point.
fn plot(title: String, y: (&str, Unit), figures: &[&Figure], key: &str) -> Option<Plot> {
    let names = distinct(figures.iter().filter_map(|figure| label(figure, key)));
    let trace = |(colour, name): (usize, &str)| {
        let of_name: Vec<&Figure> =
            figures.iter().copied().filter(|figure| label(figure, key) == Some(name)).collect();
        let mut points = points(&of_name, "working_set_bytes");
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Trace { name: name.into(), colour, stroke: Stroke::Joined, points }
    };
    (!names.is_empty()).then(|| Plot {
        title,
        x: axis("working set", Unit::Bytes, Spacing::Logarithmic),
        y: axis(y.0, y.1, Spacing::Logarithmic),
        traces: names.into_iter().enumerate().map(trace).collect(),
    })
}
