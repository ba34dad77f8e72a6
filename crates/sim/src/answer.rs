//! What the model answers: what limits a scenario, and what would relieve it.
//!
//! ```text
//! scenario ──► each parameter relieved ──► engine ──► elasticities ──► bottleneck ──┐
//!     └──────► each remedy applied ─────► engine ──► gains, ranked ────────────────┴──► Answer
//! ```

pub mod bottleneck;
pub mod machine;
mod parameter;
pub mod remedy;
pub mod stages;

pub use parameter::Parameter;

use bitpath_measure::Estimate;
use bitpath_measure::run::{Answer, JobAnswer, Remedy, RemedyOutcome};

use crate::host::HostScenario;
use crate::path;
use crate::scenario::{Scenario, Subject};

/// What is asked of a scenario; with either, its bottleneck is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// How much each parameter moves throughput and loss.
    pub elasticities: bool,
    /// What each remedy would gain.
    pub remedies: bool,
}

impl Questions {
    /// Whether anything is asked.
    #[must_use]
    pub fn any(self) -> bool {
        self.elasticities || self.remedies
    }
}

/// What a run is worth to its user.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Worth {
    /// Useful throughput [b/s], of a pipeline [packets/s].
    throughput: f64,
    /// Share of what was sent that was lost [ratio].
    loss: f64,
}

impl Worth {
    /// This throughput over another [ratio]; at least one of the unit each.
    fn gain_over(self, other: Self) -> f64 {
        self.throughput.max(1.0) / other.throughput.max(1.0)
    }
}

/// Answers for one scenario, by simulation.
///
/// The line rate of the answer is zero: it is a conclusion about a host that was measured.
#[must_use]
pub fn answer(scenario: &Scenario, questions: Questions) -> Answer {
    let mut job = match &scenario.subject {
        Subject::Pipeline(pipeline) => stages::answer(pipeline, scenario.seed, questions),
        Subject::Host(host) => host_answer(host, questions),
        Subject::Machine(machine) => machine::answer(machine, scenario.seed, questions),
    };
    if job.scenario.is_empty() {
        job.scenario.clone_from(&scenario.title);
    }
    if !questions.elasticities {
        job.elasticities.clear();
    }
    let line_rate_bits_per_second = Estimate::single(0.0);
    Answer { sentences: sentences(&job), jobs: vec![job], line_rate_bits_per_second }
}

fn host_answer(host: &HostScenario, questions: Questions) -> JobAnswer {
    let found = bottleneck::find(host);
    let remedies = if questions.remedies { remedy::rank(host) } else { Vec::new() };
    JobAnswer {
        scenario: host.job.name.clone(),
        bottleneck: found.parameter.name().into(),
        bottleneck_in_words: found.parameter.in_words().into(),
        elasticities: found.elasticities,
        remedies: remedies.into_iter().map(|(_, remedy)| remedy).collect(),
    }
}

/// A remedy that nobody has tried, by what it would gain.
fn predicted(name: String, change: &str, gain: f64) -> Remedy {
    let predicted_gain = Estimate::simulated(gain);
    Remedy { name, change: change.into(), predicted_gain, outcome: RemedyOutcome::NotTried }
}

/// Remedies by what they would gain, the largest first.
fn by_gain(remedies: impl Iterator<Item = Remedy>) -> Vec<Remedy> {
    let mut remedies: Vec<Remedy> = remedies.collect();
    remedies.sort_by(|a, b| b.predicted_gain.value.total_cmp(&a.predicted_gain.value));
    remedies
}

fn sentences(job: &JobAnswer) -> Vec<String> {
    let mut sentences = vec![format!("The bottleneck is {}.", job.bottleneck_in_words)];
    if let Some(best) = job.remedies.first() {
        let gain = best.predicted_gain.value;
        sentences.push(if gain > NO_GAIN {
            format!("What would free it most is {}: {gain:.2} times the throughput.", best.name)
        } else {
            "No remedy would free anything.".into()
        });
    }
    sentences
}

/// Gain below which a remedy is not worth its name [ratio].
const NO_GAIN: f64 = 1.01;

/// Worth of a job on a host.
fn worth(scenario: &HostScenario) -> Worth {
    let outcome = path::run(scenario);
    Worth { throughput: outcome.goodput(), loss: outcome.loss() }
}
