//! Forty years of components: what each lets through by year, a picture for each curve (sysSIM
//! figures 3 and 20).

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Series, Unit};

use super::{axis, distinct, label};
use crate::svg::{Plot, Point, Spacing, Stroke, Trace};

/// The pictures with their names; none for a record that is not of trends.
#[must_use]
pub fn trends(run: &Run) -> Vec<(String, Plot)> {
    let limits = || run.series.iter().filter(|series| series.name == "limit");
    let Some(years) = run.series.iter().find(|series| series.unit == Unit::Year) else {
        return Vec::new();
    };
    let curves = distinct(limits().map(curve_of));
    let of = |curve: &str| {
        let of_curve = limits().filter(|series| curve_of(series) == curve);
        let mut plot = plot(curve, years, of_curve);
        plot.traces.extend(hosts(run, curve, &plot.traces));
        (curve.replace(' ', "-"), plot)
    };
    curves.into_iter().map(of).collect()
}

fn curve_of(series: &Series) -> &str {
    series.labels.get("curve").map_or("", String::as_str)
}

fn plot<'a>(curve: &str, years: &Series, limits: impl Iterator<Item = &'a Series>) -> Plot {
    let trace = |(colour, series): (usize, &Series)| Trace {
        name: series.labels.get("component").cloned().unwrap_or_default(),
        colour,
        stroke: Stroke::Line,
        points: years
            .samples
            .iter()
            .zip(&series.samples)
            .map(|(year, limit)| Point::exact(year.value, limit.value))
            .collect(),
    };
    Plot {
        title: format!("What each component lets through to the user, {curve}"),
        x: axis("year", Unit::Year, Spacing::Linear),
        y: axis("limit", Unit::BitsPerSecond, Spacing::Logarithmic),
        traces: limits.enumerate().map(trace).collect(),
    }
}

/// A measured host beside a curve: a mark in the colour of each component.
fn hosts(run: &Run, curve: &str, lines: &[Trace]) -> Vec<Trace> {
    let wanted =
        |figure: &&Figure| figure.name == "host.limit" && label(figure, "curve") == Some(curve);
    let trace = |figure: &Figure| {
        let component = label(figure, "component")?;
        let year = label(figure, "year")?.parse().ok()?;
        let line = lines.iter().find(|line| line.name == component)?;
        Some(Trace {
            name: format!("{component} of {}", label(figure, "host")?),
            colour: line.colour,
            stroke: Stroke::Marks,
            points: vec![Point::exact(year, figure.estimate.value)],
        })
    };
    run.figures.iter().filter(wanted).filter_map(trace).collect()
}
