//! The record of a sweep: a series for each varied key and each figure, a sample for each point in
//! the order of the grid.
//!
//! The series of a varied key has the label `varied` with the number of its axis. Where its values
//! are words, the label `words` lists them and a sample is a place in that list.

use bitpath_measure::run::{Document, Run};
use bitpath_measure::series::labels;
use bitpath_measure::{Sample, Series, Unit};
use bitpath_sim::scenario::Scenario;

use super::{Axis, Grid, Reading};

/// Puts the readings of all points into a record. A figure that not every point has is left out.
pub(super) fn record(scenario: &Scenario, text: &str, grid: &Grid, points: &[Vec<Reading>]) -> Run {
    let mut run = Run::begin("sweep", "sweep", "", scenario.seed);
    run.documents.push(Document { name: "scenario.toml".into(), text: text.into() });
    for (number, axis) in grid.axes().iter().enumerate() {
        run.series.push(varied(number, axis, grid));
    }
    for Reading(name, unit, _) in points.first().into_iter().flatten() {
        let value = |readings: &Vec<Reading>| {
            let found = readings.iter().find(|reading| reading.0 == *name && reading.1 == *unit);
            found.map(|reading| Sample::computed(reading.2))
        };
        if let Some(samples) = points.iter().map(value).collect() {
            run.series.push(Series { samples, ..Series::new(name, labels([]), *unit) });
        }
    }
    run.complete = true;
    run
}

fn varied(number: usize, axis: &Axis, grid: &Grid) -> Series {
    let mut labels = labels([("varied", &number.to_string())]);
    if axis.unit().is_none() {
        let words: Vec<&str> = axis.levels().iter().map(|level| level.text.as_str()).collect();
        labels.insert("words".into(), words.join(","));
    }
    let mut series = Series::new(axis.key(), labels, axis.unit().unwrap_or(Unit::Count));
    let value = |point| axis.levels()[grid.places(point)[number]].number;
    series.samples = (0..grid.points()).map(|point| Sample::computed(value(point))).collect();
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_become_columns_and_a_figure_with_gaps_is_left_out() {
        let axes = ["b=2 B,4 B", "t=udp,tcp"].map(|axis| axis.parse().unwrap());
        let grid = Grid::new(axes.into()).unwrap();
        let reading = |name: &str, value| Reading(name.into(), Unit::Ratio, value);
        let mut points: Vec<Vec<Reading>> = (0..4_u8)
            .map(|point| vec![reading("loss", f64::from(point)), reading("frames", 1.0)])
            .collect();
        points[3].pop();
        let scenario = Scenario::parse(include_str!("../../../../scenarios/p3.toml")).unwrap();
        let run = record(&scenario, "", &grid, &points);
        let columns: Vec<(&str, Vec<f64>)> =
            run.series.iter().map(|series| (series.name.as_str(), series.values())).collect();
        let expected = [
            ("b", vec![2.0, 2.0, 4.0, 4.0]),
            ("t", vec![0.0, 1.0, 0.0, 1.0]),
            ("loss", vec![0.0, 1.0, 2.0, 3.0]),
        ];
        assert_eq!(columns, expected);
        assert_eq!(run.series[1].labels["words"], "udp,tcp");
    }
}
