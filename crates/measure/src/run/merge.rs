//! Repeated runs of one tool on one host as one record, so that what differs between times of day is in
//! its intervals.

use std::collections::BTreeMap;

use super::{Document, Figure, Run};
use crate::series::{Key, Series};
use crate::statistics::estimate;

/// Why records are not those of one experiment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Nothing to merge.
    #[error("two records or more make one; {given} was given")]
    TooFew {
        /// How many there are.
        given: usize,
    },
    /// They differ where repeated runs are the same.
    #[error(
        "{a} and {b} are not of one experiment: {what} is {of_a} in the one and {of_b} in the other"
    )]
    Differ {
        /// One record.
        a: String,
        /// The other.
        b: String,
        /// What differs.
        what: &'static str,
        /// Its value in the one.
        of_a: String,
        /// In the other.
        of_b: String,
    },
    /// The same record was given twice.
    #[error("record {id} was given twice: its samples would count twice")]
    Twice {
        /// Its id.
        id: String,
    },
}

/// All samples of several runs in one record, the earliest first, and the figures drawn from them.
///
/// Times go on from run to run, breaks left out. Warm-ups of all runs stand at the front of their series.
/// Figures that are not drawn from samples are left out: whoever drew them draws them again. Documents
/// carry the id of their run.
///
/// # Errors
/// With less than two records, one of them twice, or records of different tools, versions or hosts.
pub fn merge(id: &str, runs: &[Run]) -> Result<Run, MergeError> {
    let mut runs: Vec<&Run> = runs.iter().collect();
    runs.sort_by(|a, b| (&a.started, &a.id).cmp(&(&b.started, &b.id)));
    let (Some(first), true) = (runs.first().copied(), runs.len() > 1) else {
        return Err(MergeError::TooFew { given: runs.len() });
    };
    for pair in runs.windows(2) {
        one_experiment(pair[0], pair[1])?;
    }
    let mut merged = Run::begin(&first.tool, id, &first.started, first.seed);
    merged.version.clone_from(&first.version);
    merged.environment.clone_from(&first.environment);
    merged.complete = runs.iter().all(|run| run.complete);
    let figures = Figure::index(runs.iter().flat_map(|run| &run.figures));
    for series in merged_series(&runs) {
        let drawn = figures.get(&series.key());
        let by = drawn.and_then(|figure| estimate(&series.values(), figure.estimate.method));
        if let Some(estimate) = by {
            let Series { name, labels, unit, .. } = series.clone();
            merged.figures.push(Figure { name, labels, unit, estimate });
        }
        merged.series.push(series);
    }
    for run in runs {
        merged.duration_s += run.duration_s;
        merged.steps.extend(run.steps.iter().cloned());
        run.pitfalls.iter().for_each(|pitfall| merged.doubt(pitfall.clone()));
        merged.documents.extend(run.documents.iter().map(|document| Document {
            name: format!("{}: {}", run.id, document.name),
            text: document.text.clone(),
        }));
    }
    Ok(merged)
}

/// Whether two runs are of one tool on one host.
fn one_experiment(a: &Run, b: &Run) -> Result<(), MergeError> {
    if a.id == b.id {
        return Err(MergeError::Twice { id: a.id.clone() });
    }
    let facts = |run: &Run| {
        let of = run.environment.as_ref();
        [
            ("the tool", run.tool.clone()),
            ("the version", run.version.clone()),
            ("the processor", of.map_or_else(String::new, |of| of.cpu.model.clone())),
            ("the number of processors", of.map_or(0, |of| of.cpu.logical).to_string()),
            ("the memory", of.map_or(0, |of| of.memory_bytes).to_string()),
            ("the kernel", of.map_or_else(String::new, |of| of.system.kernel.clone())),
        ]
    };
    for ((what, of_a), (_, of_b)) in facts(a).into_iter().zip(facts(b)) {
        if of_a != of_b {
            let (a, b) = (a.id.clone(), b.id.clone());
            return Err(MergeError::Differ { a, b, what, of_a, of_b });
        }
    }
    Ok(())
}

/// Each series of any run once, in the order in which they come, with the samples of all.
fn merged_series(runs: &[&Run]) -> Vec<Series> {
    let mut merged: Vec<Series> = Vec::new();
    let mut places: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut before_s = 0.0;
    for run in runs {
        for series in &run.series {
            let place = *places.entry(series.key()).or_insert_with(|| {
                merged.push(Series::new(&series.name, series.labels.clone(), series.unit));
                merged.len() - 1
            });
            append(&mut merged[place], series, before_s);
        }
        before_s += run.duration_s;
    }
    merged
}

/// Appends the samples of a later run; its warm-up goes behind that of the earlier ones.
fn append(to: &mut Series, series: &Series, before_s: f64) {
    let mut samples = series.samples.clone();
    samples.iter_mut().for_each(|sample| sample.at_s += before_s);
    let counted = samples.split_off(series.warm_up.min(samples.len()));
    let at = to.warm_up;
    to.warm_up += samples.len();
    to.samples.splice(at..at, samples);
    to.samples.extend(counted);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Sample, Unit, labels};
    use crate::statistics::Method;

    fn run(id: &str, started: &str, values: &[f64], warm_up: usize) -> Run {
        let mut run = Run::begin("probe", id, started, 0);
        let mut series = Series::new("memory.latency", labels([]), Unit::Nanoseconds);
        series.warm_up = warm_up;
        series.samples = values.iter().map(|value| Sample::computed(*value)).collect();
        run.record(series, Method::MedianBlockBootstrap);
        run.duration_s = 10.0;
        run.complete = true;
        run
    }

    #[test]
    fn samples_of_all_runs_count_once_and_warm_ups_not_at_all() {
        let late = run("late", "2026-01-02T00:00:00Z", &[90.0, 3.0, 4.0], 1);
        let early = run("early", "2026-01-01T00:00:00Z", &[80.0, 1.0, 2.0], 1);
        let merged = merge("both", &[late, early]).unwrap();
        let series = &merged.series[0];
        assert_eq!(series.values(), [1.0, 2.0, 3.0, 4.0]);
        let all: Vec<f64> = series.samples.iter().map(|sample| sample.value).collect();
        assert_eq!(all, [80.0, 90.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((series.samples[0].at_s, series.samples[5].at_s), (0.0, 10.0));
        assert_eq!((merged.started.as_str(), merged.duration_s), ("2026-01-01T00:00:00Z", 20.0));
        assert_eq!(merged.figures[0].estimate.value, 2.5);
        assert!(merged.unsupported_figures().is_empty() && merged.complete);
    }

    #[test]
    fn records_of_different_experiments_are_named_with_what_differs() {
        let a = run("a", "2026-01-01T00:00:00Z", &[1.0], 0);
        assert_eq!(merge("m", std::slice::from_ref(&a)), Err(MergeError::TooFew { given: 1 }));
        let twice = merge("m", &[a.clone(), a.clone()]).unwrap_err().to_string();
        assert!(twice.contains("record a was given twice"), "{twice}");
        let mut other = run("b", "2026-01-02T00:00:00Z", &[1.0], 0);
        other.tool = "study".into();
        let error = merge("m", &[a, other]).unwrap_err().to_string();
        assert!(error.contains("the tool is probe in the one and study in the other"), "{error}");
    }
}
