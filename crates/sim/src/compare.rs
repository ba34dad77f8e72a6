//! Two scenarios side by side: what differs between them, and what that does.
//!
//! ```text
//! A, B ──► keys ──► changes
//!   └────► engine, one seed for both ──► figures of A and of B ──► B - A, B / A
//! ```
//!
//! Both draw the same random numbers, so that chance moves both alike. Where something is random,
//! both run with one seed after the other, and the interval of B - A is that of the differences
//! seed by seed: common random numbers and the paired t interval of Law, *Simulation Modeling and
//! Analysis*, sections 11.2 and 10.2.

use std::collections::BTreeMap;

use bitpath_measure::run::{Document, Figure, Run};
use bitpath_measure::{Estimate, Method, Sample, Series, Unit};

use crate::engine::{self, Engine, EngineError, method};
use crate::scenario::Scenario;

/// One of the two.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What it is called: its file, and what was set.
    pub name: &'a str,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its text.
    pub text: &'a str,
}

/// One key that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The dotted key.
    pub key: String,
    /// Its value in A; none where A has no such key.
    pub a: Option<String>,
    /// Its value in B.
    pub b: Option<String>,
}

/// Why two scenarios cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// One is a pipeline, the other a machine or a job on a host.
    #[error(
        "{a} and {b} have nothing to compare: both must be a [pipeline], a [machine], or a [job] on a [host]"
    )]
    Kinds {
        /// Name of A.
        a: String,
        /// Name of B.
        b: String,
    },
    /// The engine does not apply.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Value of the label `scenario` for A.
pub const A: &str = "A";

/// Value of the label `scenario` for B.
pub const B: &str = "B";

/// Value of the label `scenario` for the difference.
pub const DIFFERENCE: &str = "B - A";

/// Value of the label `scenario` for the ratio.
pub const RATIO: &str = "B / A";

/// The keys whose values differ, defaults counted as written.
#[must_use]
pub fn changes(a: &Scenario, b: &Scenario) -> Vec<Change> {
    let a: BTreeMap<String, String> = a.keys().into_iter().collect();
    let mut b: BTreeMap<String, String> = b.keys().into_iter().collect();
    let mut changes: Vec<Change> = Vec::new();
    for (key, value) in a {
        let other = b.remove(&key);
        if other.as_ref() != Some(&value) {
            changes.push(Change { key, a: Some(value), b: other });
        }
    }
    changes.extend(b.into_iter().map(|(key, value)| Change { key, a: None, b: Some(value) }));
    changes.sort_by(|left, right| left.key.cmp(&right.key));
    changes
}

/// Runs both with the seed of A and records every figure of A, of B, B - A and B / A.
///
/// The document `changes.tsv` holds key, value in A and value in B, a line each.
///
/// # Errors
/// When the two are of different kinds, or the engine does not apply.
pub fn compare(
    a: &Side<'_>,
    b: &Side<'_>,
    wanted: Option<Engine>,
    replications: u16,
) -> Result<Run, CompareError> {
    let kind = |side: &Side<'_>| std::mem::discriminant(&side.scenario.subject);
    if kind(a) != kind(b) {
        return Err(CompareError::Kinds { a: a.name.into(), b: b.name.into() });
    }
    let mut run = Run::begin("compare", "comparison", "", a.scenario.seed);
    let documents = [
        (format!("{A}: {}", a.name), a.text.to_owned()),
        (format!("{B}: {}", b.name), b.text.to_owned()),
        (CHANGES.to_owned(), written(&changes(a.scenario, b.scenario))),
    ];
    run.documents = documents.map(|(name, text)| Document { name, text }).into();
    let random = a.scenario.is_random() || b.scenario.is_random();
    let seeds = if random { usize::from(replications.max(1)) } else { 1 };
    let of_a = series(a.scenario, A, a.scenario.seed, seeds, wanted)?;
    let mut of_b = series(b.scenario, B, a.scenario.seed, seeds, wanted)?;
    for a in of_a {
        let pair = of_b.iter().position(|b| is_pair(&a, b));
        let pair = pair.map(|index| of_b.remove(index));
        let compared = pair.as_ref().map(|b| (difference(&a, b), ratio(&a, b)));
        for series in [Some(a), pair].into_iter().flatten() {
            run.record(series, method(seeds));
        }
        if let Some((difference, ratio)) = compared {
            run.record(difference, method(seeds));
            run.figures.extend(ratio);
        }
    }
    for b in of_b {
        run.record(b, method(seeds));
    }
    run.complete = true;
    Ok(run)
}

/// Name of the document that holds the changes.
const CHANGES: &str = "changes.tsv";

/// A line for each change; a key that one side lacks has an empty value there.
fn written(changes: &[Change]) -> String {
    let field = |value: &Option<String>| {
        value.as_deref().unwrap_or_default().replace(['\t', '\n', '\r'], " ")
    };
    let line =
        |change: &Change| format!("{}\t{}\t{}\n", change.key, field(&change.a), field(&change.b));
    changes.iter().map(line).collect()
}

/// Every figure of one side, a sample for each seed.
fn series(
    scenario: &Scenario,
    side: &str,
    seed: u64,
    seeds: usize,
    wanted: Option<Engine>,
) -> Result<Vec<Series>, EngineError> {
    let mut all: Vec<Series> = Vec::new();
    for replication in 0..seeds as u64 {
        let found = engine::find(scenario, seed.wrapping_add(replication), wanted)?;
        if all.is_empty() {
            all = found.figures.iter().map(|figure| empty(figure, side)).collect();
        }
        for (series, figure) in all.iter_mut().zip(&found.figures) {
            series.samples.push(Sample::computed(figure.estimate.value));
        }
    }
    Ok(all)
}

fn empty(figure: &Figure, side: &str) -> Series {
    let mut labels = figure.labels.clone();
    labels.insert("scenario".into(), side.into());
    Series::new(&figure.name, labels, figure.unit)
}

fn relabelled(series: &Series, side: &str) -> Series {
    let mut labels = series.labels.clone();
    labels.insert("scenario".into(), side.into());
    Series::new(&series.name, labels, series.unit)
}

/// Whether two series are of the same figure.
fn is_pair(a: &Series, b: &Series) -> bool {
    let expected = relabelled(a, B);
    (&expected.name, &expected.labels, expected.unit) == (&b.name, &b.labels, b.unit)
}

/// B less A, seed by seed.
fn difference(a: &Series, b: &Series) -> Series {
    let mut difference = relabelled(a, DIFFERENCE);
    let pairs = a.samples.iter().zip(&b.samples);
    difference.samples = pairs.map(|(a, b)| Sample::computed(b.value - a.value)).collect();
    difference
}

/// The mean of B over the mean of A; none where A is nothing.
fn ratio(a: &Series, b: &Series) -> Option<Figure> {
    let sum = |series: &Series| series.samples.iter().map(|sample| sample.value).sum::<f64>();
    let (below, above) = (sum(a), sum(b));
    let Series { name, labels, .. } = relabelled(a, RATIO);
    let samples = a.samples.len();
    let estimate =
        Estimate { method: Method::Simulated, samples, ..Estimate::single(above / below) };
    (below > 0.0).then_some(Figure { name, labels, unit: Unit::Ratio, estimate })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Draft, Setting};
    use bitpath_measure::series::labels;

    const P3: &str = include_str!("../../../scenarios/p3.toml");

    fn p3_with(settings: &[&str]) -> (Scenario, String) {
        let settings: Vec<Setting> =
            settings.iter().map(|setting| setting.parse().unwrap()).collect();
        Draft::read(P3).unwrap().with(&settings).unwrap()
    }

    fn compared(a: &[&str], b: &[&str], replications: u16) -> Run {
        let ((a, a_text), (b, b_text)) = (p3_with(a), p3_with(b));
        let a = Side { name: "a", scenario: &a, text: &a_text };
        let b = Side { name: "b", scenario: &b, text: &b_text };
        compare(&a, &b, None, replications).unwrap()
    }

    fn value(run: &Run, name: &str, side: &str) -> Estimate {
        run.figure(name, &labels([("scenario", side)])).unwrap().estimate
    }

    #[test]
    fn only_what_differs_is_a_change_however_it_is_written() {
        let (a, _) = p3_with(&[]);
        let (b, _) = p3_with(&["pipeline.stage.nic.service=0.9 us", "seed=0"]);
        assert_eq!(changes(&a, &b), []);
        let (b, _) = p3_with(&["pipeline.stage.kernel.slots=280"]);
        let [change] = &changes(&a, &b)[..] else { panic!("one change") };
        let values = (change.a.as_deref(), change.b.as_deref());
        assert_eq!(change.key, "pipeline.stage.kernel.slots");
        assert_eq!(values, (Some("140"), Some("280")));
    }

    #[test]
    fn a_scenario_beside_itself_differs_in_nothing() {
        let exponential = "pipeline.stage.kernel.distribution=exponential";
        let run = compared(&[exponential], &[exponential], 4);
        let throughput = value(&run, "throughput", DIFFERENCE);
        assert_eq!((throughput.value, throughput.low, throughput.high), (0.0, 0.0, 0.0));
        assert_eq!(value(&run, "throughput", RATIO).value, 1.0);
        assert!(run.unsupported_figures().is_empty());
    }

    #[test]
    fn common_random_numbers_narrow_the_difference() {
        let random = ["pipeline.packets=20000", "pipeline.stage.kernel.distribution=exponential"];
        let larger = [random[0], random[1], "pipeline.stage.kernel.slots=200"];
        let run = compared(&random, &larger, 8);
        let width = |estimate: Estimate| estimate.high - estimate.low;
        let of_difference = width(value(&run, "throughput", DIFFERENCE));
        let independent = [A, B].map(|side| width(value(&run, "throughput", side)));
        assert!(of_difference < independent[0].hypot(independent[1]), "{of_difference}");
    }

    #[test]
    fn without_chance_both_run_once() {
        let run = compared(&[], &["pipeline.stage.kernel.service=1000 ns"], 8);
        assert_eq!(run.series[0].samples.len(), 1);
        assert_eq!(value(&run, "delivered", A).value, 795_771.0);
        assert!(value(&run, "throughput", RATIO).value > 1.0);
        // A loses nothing at the NIC, so there is no ratio of it.
        assert!(run.figure("dropped.nic", &labels([("scenario", RATIO)])).is_none());
    }
}
