//! A sweep's throughput and loss against the first varied key, a line for each value of the others.

use std::collections::BTreeMap;

use bitpath_measure::{Run, Series, Unit};

use super::axis;
use crate::format;
use crate::svg::{Plot, Point, Spacing, Stroke, Trace};

/// Figures that are drawn: those that name a bottleneck.
const DRAWN: [&str; 3] = ["throughput.bound", "throughput", "loss"];

/// Most lines of one picture: more than these nobody tells apart.
const MAX_LINES: usize = 12;

/// Largest value over smallest from which equal ratios take equal lengths [ratio].
const WIDE: f64 = 20.0;

/// The pictures with the names of their figures; none for a record without a varied key.
#[must_use]
pub fn sweep(run: &Run) -> Vec<(&'static str, Plot)> {
    let varied = run.series.iter().filter(|series| series.labels.contains_key("varied"));
    let varied: Vec<&Series> = varied.collect();
    let Some((first, others)) = varied.split_first() else { return Vec::new() };
    let drawn = DRAWN.into_iter().filter_map(|name| {
        let figure = run.series.iter().find(|series| series.name == name)?;
        Some((name, plot(first, others, figure)))
    });
    drawn.collect()
}

fn plot(first: &Series, others: &[&Series], figure: &Series) -> Plot {
    let lines = lines(first, others, figure);
    let step = lines.len().div_ceil(MAX_LINES).max(1);
    let what = format::words(&figure.name);
    let drawn = lines.len().div_ceil(step);
    let some = if step > 1 { format!(", {drawn} of {} lines", lines.len()) } else { String::new() };
    let trace = |(colour, (key, points)): (usize, (Vec<f64>, Vec<Point>))| Trace {
        name: name(others, &key, figure),
        colour,
        stroke: Stroke::Joined,
        points,
    };
    Plot {
        title: format!("{what} by {}{some}", first.name),
        x: axis(&first.name, first.unit, spacing(first)),
        y: axis(&what, figure.unit, Spacing::Linear),
        traces: lines.into_iter().step_by(step).enumerate().map(trace).collect(),
    }
}

/// The points of each combination of the other keys' values, in the order of the record.
fn lines(first: &Series, others: &[&Series], figure: &Series) -> Vec<(Vec<f64>, Vec<Point>)> {
    let mut lines: Vec<(Vec<f64>, Vec<Point>)> = Vec::new();
    let mut places: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    for (point, (x, y)) in first.samples.iter().zip(&figure.samples).enumerate() {
        let value = |other: &&Series| other.samples.get(point).map(|sample| sample.value);
        let key: Vec<f64> = others.iter().filter_map(value).collect();
        let bits = key.iter().map(|value| value.to_bits()).collect();
        let place = *places.entry(bits).or_insert(lines.len());
        if place == lines.len() {
            lines.push((key, Vec::new()));
        }
        lines[place].1.push(Point::exact(x.value, y.value));
    }
    lines
}

/// What tells a line from the others; the figure itself where there is only one.
fn name(others: &[&Series], key: &[f64], figure: &Series) -> String {
    if others.is_empty() {
        return format::words(&figure.name);
    }
    let part = |(series, value): (&&Series, &f64)| {
        format!("{} {}", series.name, format::varied(series, *value))
    };
    others.iter().zip(key).map(part).collect::<Vec<_>>().join(", ")
}

fn spacing(series: &Series) -> Spacing {
    let values = || series.samples.iter().map(|sample| sample.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let wide = low > 0.0 && high / low >= WIDE && series.unit != Unit::Ratio;
    if wide { Spacing::Logarithmic } else { Spacing::Linear }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Sample;
    use bitpath_measure::series::labels;

    fn series(name: &str, varied: bool, unit: Unit, values: &[f64]) -> Series {
        let labels = if varied { labels([("varied", "0")]) } else { labels([]) };
        Series {
            samples: values.iter().copied().map(Sample::computed).collect(),
            ..Series::new(name, labels, unit)
        }
    }

    #[test]
    fn each_value_of_the_second_key_has_its_line() {
        let mut run = Run::begin("sweep", "sweep", "", 0);
        run.series = vec![
            series("size", true, Unit::Bytes, &[1.0, 1.0, 64.0, 64.0]),
            series("rate", true, Unit::BitsPerSecond, &[1e6, 1e9, 1e6, 1e9]),
            series("throughput", false, Unit::BitsPerSecond, &[1.0, 2.0, 3.0, 4.0]),
            series("loss", false, Unit::Ratio, &[0.0; 4]),
        ];
        let plots = sweep(&run);
        let names: Vec<_> = plots.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["throughput", "loss"]);
        let plot = &plots[0].1;
        assert_eq!(plot.x.spacing, Spacing::Logarithmic);
        let heights = |trace: &Trace| trace.points.iter().map(|point| point.y).collect::<Vec<_>>();
        let lines: Vec<(&str, Vec<f64>)> =
            plot.traces.iter().map(|trace| (trace.name.as_str(), heights(trace))).collect();
        let expected = [("rate 1.00 Mb/s", vec![1.0, 3.0]), ("rate 1.00 Gb/s", vec![2.0, 4.0])];
        assert_eq!(lines, expected);
    }

    #[test]
    fn of_too_many_lines_some_are_drawn_and_counted() {
        let mut run = Run::begin("sweep", "sweep", "", 0);
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        run.series = vec![
            series("size", true, Unit::Bytes, &[1.0; 100]),
            series("slots", true, Unit::Count, &values),
            series("throughput", false, Unit::BitsPerSecond, &values),
        ];
        let plot = &sweep(&run)[0].1;
        assert!(plot.traces.len() <= MAX_LINES);
        assert!(plot.title.ends_with("12 of 100 lines"), "{}", plot.title);
    }
}
