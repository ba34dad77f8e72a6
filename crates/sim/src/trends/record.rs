//! The record: growth of each series, what each component lets through year by year, the periods of
//! bottlenecks, and what became of the forecast of 2004.

use std::fmt::Write;

use bitpath_measure::run::{Answer, Document, Figure, Run};
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Sample, Series as Column, Unit};

use super::forecast::{STUDY_YEAR, holds};
use super::limits::COMPONENTS;
use super::{
    Component, Curves, Expected, Extent, Growth, Limits, MeasuredHost, Period, STUDY_2004,
    TrendError, Trends, periods,
};

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Last year.
    pub until: u32,
    /// Growth that takes the place of that of the figures, after the last of them.
    pub growth: Vec<Expected>,
    /// A host to be held against the curve of one stream.
    pub host: Option<MeasuredHost>,
}

/// First year: all four components have a figure (1984: the first bus of a PC that is one).
pub const FROM: u32 = 1984;

/// The curve that one core and one copy of a measured host are held against.
const ONE_STREAM: &str = "of one stream";

/// Each curve with its name.
type Named = (&'static str, Curves);

/// The record of these figures. It holds no time and no machine: same figures, same bytes.
///
/// # Errors
/// A series that is missing.
pub fn record(trends: &Trends, wanted: &Wanted) -> Result<Run, TrendError> {
    let mut run = Run::begin("trends", "trends", "", 0);
    run.documents.push(figures(trends));
    for series in &trends.series {
        let mut growths: Vec<Growth> = [f64::INFINITY, STUDY_YEAR]
            .iter()
            .filter_map(|until| Growth::of(series, 0.0, *until))
            .collect();
        growths.dedup();
        run.figures.extend(growths.iter().map(|growth| growth_figure(&series.name, growth)));
    }
    let curves = [
        (ONE_STREAM, Curves::of(trends, Extent::OneStream, &wanted.growth)?),
        ("of a whole socket", Curves::of(trends, Extent::WholeSocket, &wanted.growth)?),
        ("by its own growth", STUDY_2004.curves()),
    ];
    run.series = columns(&curves, wanted.until);
    let mut answer = answer(&curves, wanted.until);
    if let Some(host) = &wanted.host {
        run.figures.extend(host_figures(host));
        answer.sentences.push(host_sentence(host, &curves[0].1));
    }
    run.answer = Some(answer);
    run.complete = true;
    Ok(run)
}

/// Every figure with its source.
fn figures(trends: &Trends) -> Document {
    let mut text = String::from("series\tyear\titem\tvalue\tunit\tsource\n");
    for series in &trends.series {
        for point in &series.points {
            // Writing to a string cannot fail.
            _ = writeln!(
                text,
                "{}\t{}\t{}\t{}\t{}\t{}",
                series.name,
                point.year,
                point.item,
                point.value,
                series.unit.symbol(),
                point.source
            );
        }
    }
    Document { name: "figures.tsv".into(), text }
}

fn growth_figure(series: &str, growth: &Growth) -> Figure {
    let years = format!("{} to {}", growth.years.0, growth.years.1);
    Figure {
        name: "growth".into(),
        labels: labels([("series", series), ("years", &years)]),
        unit: Unit::Ratio,
        estimate: growth.a_year(),
    }
}

/// A column of years, and one for each curve and component.
fn columns(curves: &[Named], until: u32) -> Vec<Column> {
    let years: Vec<f64> = (FROM..=until).map(f64::from).collect();
    let column = |name: &str, labels, unit, values: &[f64]| Column {
        samples: values.iter().copied().map(Sample::computed).collect(),
        ..Column::new(name, labels, unit)
    };
    let mut columns = vec![column("year", labels([("varied", "0")]), Unit::Year, &years)];
    for (name, curves) in curves {
        let limits: Vec<Limits> = years.iter().filter_map(|year| curves.at(*year)).collect();
        for (index, component) in COMPONENTS.into_iter().enumerate() {
            let values: Vec<f64> =
                limits.iter().map(|limits| limits.bits_per_second[index]).collect();
            if values.len() == years.len() && values.iter().all(|value| value.is_finite()) {
                let labels = labels([("component", component.name()), ("curve", *name)]);
                columns.push(column("limit", labels, Unit::BitsPerSecond, &values));
            }
        }
    }
    columns
}

/// Whether the forecast held, and what binds period by period, in words.
fn answer(curves: &[Named], until: u32) -> Answer {
    let mut sentences = Vec::new();
    for (name, curves) in curves {
        let periods = periods(curves, FROM, until);
        let held = if holds(&periods) { "holds" } else { "does not hold" };
        let told: Vec<String> = periods.iter().map(told).collect();
        sentences.push(format!(
            "The processor until 2007 and memory after, as the study of 2004 concludes, {held} {name}: {}.",
            told.join(", ")
        ));
    }
    Answer { sentences, jobs: Vec::new(), line_rate_bits_per_second: Estimate::single(0.0) }
}

/// What a host lets through, a point each beside its component's curve.
fn host_figures(host: &MeasuredHost) -> Vec<Figure> {
    let year = format!("{:.2}", host.year);
    let figure = |(component, limit): (Component, f64)| Figure {
        name: "host.limit".into(),
        labels: labels([
            ("component", component.name()),
            ("curve", ONE_STREAM),
            ("host", &host.name),
            ("year", &year),
        ]),
        unit: Unit::BitsPerSecond,
        estimate: Estimate::single(limit),
    };
    host.limits().into_iter().map(figure).collect()
}

/// The same in words, against the curve of its year.
fn host_sentence(host: &MeasuredHost, curves: &Curves) -> String {
    let expected = curves.at(host.year);
    let told = |(component, limit): (Component, f64)| {
        let place = COMPONENTS.iter().position(|of| *of == component).unwrap_or_default();
        let curve = expected.map_or(f64::NAN, |limits| limits.bits_per_second[place]);
        let (name, gigabits) = (component.name(), limit / 1e9);
        format!("its {name} lets {gigabits:.1} Gb/s through, {:.2} times its curve", limit / curve)
    };
    let told: Vec<String> = host.limits().into_iter().map(told).collect();
    format!("{} of {:.0}: {}.", host.name, host.year.floor(), told.join("; "))
}

fn told(period: &Period) -> String {
    format!("{} {} to {}", period.bottleneck.name(), period.years.0, period.years.1)
}

#[cfg(test)]
mod tests {
    use super::super::SHIPPED;
    use super::*;

    fn run_of(files: &[(&str, &str)]) -> Run {
        let trends = Trends::read(files.iter().copied()).unwrap();
        record(&trends, &Wanted { until: 2035, growth: Vec::new(), host: None }).unwrap()
    }

    #[test]
    fn every_year_has_a_limit_of_every_curve_and_component() {
        let run = run_of(&SHIPPED);
        // The study says nothing of busses.
        assert_eq!(run.series.len(), 1 + 4 + 4 + 3);
        assert!(run.series.iter().all(|series| series.samples.len() == 52));
        assert!(run.figures.iter().any(|figure| figure.labels["series"] == "bus.bandwidth"));
    }

    #[test]
    fn a_host_is_a_point_beside_the_curves_of_one_stream() {
        let diablo = include_str!("../../../../data/hosts/diablo.toml");
        let profile = crate::profile::HostProfile::read(diablo).unwrap();
        let host = Some(MeasuredHost { name: "diablo".into(), year: 2004.0, profile });
        let wanted = Wanted { until: 2035, growth: Vec::new(), host };
        let run = record(&Trends::read(SHIPPED).unwrap(), &wanted).unwrap();
        let points: Vec<&Figure> =
            run.figures.iter().filter(|figure| figure.name == "host.limit").collect();
        let components: Vec<&str> =
            points.iter().map(|point| point.labels["component"].as_str()).collect();
        assert_eq!(components, ["memory", "processor"]);
        let last = run.answer.unwrap().sentences.pop().unwrap();
        assert!(last.starts_with("diablo of 2004: its memory lets "), "{last}");
    }

    #[test]
    fn an_altered_figure_changes_the_answer() {
        let slow = SHIPPED.map(|(name, text)| {
            (name, text.replace("802.3ae 10GBASE,10000,", "802.3ae 10GBASE,1000,"))
        });
        let files: Vec<(&str, &str)> =
            slow.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let answers = [run_of(&SHIPPED), run_of(&files)].map(|run| run.answer.unwrap().sentences);
        assert_ne!(answers[0], answers[1]);
        assert!(
            answers[0][2].contains("holds by its own growth: line 1984 to 2000"),
            "{answers:?}"
        );
    }
}
