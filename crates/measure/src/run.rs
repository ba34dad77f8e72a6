//! The run record: what every tool writes, and all that `report` and `results` read.
//!
//! A record carries its environment, every raw sample with its unit, the figures drawn from them,
//! the doubts, the scenarios as text and the schema number, so that it can be read and its summary
//! recomputed for ever.

mod answer;
mod check;
mod event;
mod figure;
mod merge;
mod rows;

pub use answer::{Answer, Elasticity, JobAnswer, Remedy, RemedyOutcome};
pub use check::{Check, Verdict};
pub use event::Event;
pub use figure::{Figure, Timeline};
pub use merge::{MergeError, merge};
pub use rows::{
    Cell, Column, Holds, course_columns, course_rows, event_columns, event_row, label_text,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::pitfall::Pitfall;
use crate::series::{Labels, Series};
use crate::statistics::estimate;

/// Number of the record's schema; raised by every change that an old reader would misread.
pub const SCHEMA: u32 = 1;

/// The record of one run of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Schema number of this record.
    pub schema: u32,
    /// Identifier, unique in a folder of records.
    pub id: String,
    /// The tool: `study`, `probe`, `simulate`, ...
    pub tool: String,
    /// Version of bitpath.
    pub version: String,
    /// Start in UTC, RFC 3339.
    pub started: String,
    /// Length of the run [s].
    pub duration_s: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether every step came to its end.
    pub complete: bool,
    /// The machine; absent for a pure simulation, which no machine changes.
    pub environment: Option<Environment>,
    /// Scenarios and profiles that the run used or made.
    pub documents: Vec<Document>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Raw samples.
    pub series: Vec<Series>,
    /// Figures drawn from them.
    pub figures: Vec<Figure>,
    /// Courses over time.
    pub timelines: Vec<Timeline>,
    /// What happened at one time; records before version 0.2 have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Predictions held against measurements.
    pub checks: Vec<Check>,
    /// What it all means.
    pub answer: Option<Answer>,
    /// Doubts.
    pub pitfalls: Vec<Pitfall>,
}

/// A text that belongs to the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Name, for example `host.toml`.
    pub name: String,
    /// The text itself.
    pub text: String,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// What was done.
    pub name: String,
    /// How long it took [s].
    pub seconds: f64,
    /// Why it ended: `interval narrow enough`, `budget spent`, `done`, ...
    pub ended: String,
}

impl Run {
    /// An empty record of a run that begins.
    #[must_use]
    pub fn begin(tool: &str, id: &str, started: &str, seed: u64) -> Self {
        Self {
            schema: SCHEMA,
            id: id.into(),
            tool: tool.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            started: started.into(),
            duration_s: 0.0,
            seed,
            complete: false,
            environment: None,
            documents: Vec::new(),
            steps: Vec::new(),
            series: Vec::new(),
            figures: Vec::new(),
            timelines: Vec::new(),
            events: Vec::new(),
            checks: Vec::new(),
            answer: None,
            pitfalls: Vec::new(),
        }
    }

    /// The series of a name and labels.
    #[must_use]
    pub fn series(&self, name: &str, labels: &Labels) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name && series.labels == *labels)
    }

    /// The first figure of a name whose labels include the given ones.
    #[must_use]
    pub fn figure(&self, name: &str, labels: &Labels) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name && includes(&figure.labels, labels))
    }

    /// Names of the figures that are drawn from a series of this record but differ from it.
    ///
    /// Empty for a sound record: the summary can be recomputed from the samples.
    #[must_use]
    pub fn unsupported_figures(&self) -> Vec<&str> {
        let differs = |figure: &&Figure| {
            let series = self.series(&figure.name, &figure.labels);
            series.is_some_and(|series| {
                estimate(&series.values(), figure.estimate.method) != Some(figure.estimate)
            })
        };
        self.figures.iter().filter(differs).map(|figure| figure.name.as_str()).collect()
    }

    /// Draws the figure of a series by `method` and keeps both; an empty series is kept alone.
    pub fn record(&mut self, series: Series, method: crate::statistics::Method) {
        if let Some(estimate) = estimate(&series.values(), method) {
            let Series { name, labels, unit, .. } = series.clone();
            self.figures.push(Figure { name, labels, unit, estimate });
        }
        self.series.push(series);
    }

    /// Adds a doubt once.
    pub fn doubt(&mut self, pitfall: Pitfall) {
        if !self.pitfalls.contains(&pitfall) {
            self.pitfalls.push(pitfall);
        }
    }
}

fn includes(labels: &Labels, wanted: &Labels) -> bool {
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Sample, Unit, labels};
    use crate::statistics::Method;

    fn series(values: &[f64]) -> Series {
        let mut series =
            Series::new("copy.bandwidth", labels([("level", "L1")]), Unit::BytesPerSecond);
        series.samples = values
            .iter()
            .map(|value| Sample {
                value: *value,
                at_s: 0.0,
                machine_speed: 1.0,
                other_load_cores: 0.0,
            })
            .collect();
        series
    }

    #[test]
    fn a_summary_is_recomputed_from_its_samples() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 1);
        run.record(series(&[1.0, 2.0, 4.0, 8.0]), Method::MedianBlockBootstrap);
        assert_eq!(run.figure("copy.bandwidth", &labels([])).unwrap().estimate.value, 3.0);
        assert!(run.unsupported_figures().is_empty());

        run.series[0].samples[1].value = 20.0;
        assert_eq!(run.unsupported_figures(), ["copy.bandwidth"]);
    }

    #[test]
    fn a_doubt_is_recorded_once() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 1);
        run.doubt(Pitfall::OneCore);
        run.doubt(Pitfall::OneCore);
        assert_eq!(run.pitfalls.len(), 1);
    }
}
