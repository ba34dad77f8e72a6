//! The study: measure this host, predict its jobs, run them, hold the two against each other, and
//! say what limits each.
//!
//! ```text
//! facts ─► clip ─► probe ─► rounds of (probe, every job once) ─► profile ─► predictions
//!                                                  │                            │
//!                                                  └────────► checks ◄──────────┘ ─► answer ─► Run
//! ```
//!
//! Jobs and probe take turns in rounds, so that a machine whose speed drifts is the same machine
//! for both.

mod answers;
mod checks;
mod jobs;
mod rounds;
mod uncertainty;

use std::path::PathBuf;

use bitpath_measure::Run;
use bitpath_measure::run::Document;
use bitpath_sim::host::HostScenario;
use bitpath_sim::profile::HostProfile;
use bitpath_sim::scenario::{Scenario, Subject};

use crate::BenchError;
use crate::clip;
use crate::probe::{clock, model};
use crate::progress::Watcher;
use crate::sitting::Sitting;
use crate::steps::Steps;
use crate::testbed::Testbed;
pub use answers::try_remedy;
pub use rounds::Budget;

/// What a study is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that is started as worker, with the argument `worker`.
    pub program: PathBuf,
    /// The clip; none has one made.
    pub clip: Option<PathBuf>,
    /// Folder for the clip that is made.
    pub scratch: PathBuf,
    /// How long to measure.
    pub budget: Budget,
    /// Identifier of the record.
    pub id: String,
    /// Seed that the record carries.
    pub seed: u64,
}

/// Makes a study. A study that the user interrupts is not complete but valid: it holds what was
/// measured until then.
///
/// # Errors
/// When the clip cannot be used or the workers cannot be started; nothing is left running then.
pub fn run(options: &Options, watcher: Watcher<'_>) -> Result<Run, BenchError> {
    let steps = Steps::new(watcher, STEPS);
    let mut sitting = Sitting::begin("study", &options.id, options.seed, steps);
    let outcome = stages(options, &mut sitting);
    match sitting.close(outcome) {
        (mut run, None) => {
            clock::doubt(&mut run);
            Ok(run)
        }
        (_, Some(error)) => Err(error),
    }
}

/// Steps of a whole study.
const STEPS: usize = 9;

fn stages(options: &Options, sitting: &mut Sitting<'_>) -> Result<(), BenchError> {
    sitting.read_facts()?;
    let Sitting { run, sampler, steps, .. } = sitting;
    let budget = &options.budget;
    steps.begin("the clip")?;
    let clip = clip::or_doubt(options.clip.as_deref(), &options.scratch, run)?;
    let clip = clip.as_ref();
    steps.begin("the test bed")?;
    let mut bed = Testbed::open(&options.program)?;
    let mut measured = model::first_look(&mut bed, sampler, clip, &budget.of_probe(), steps)?;
    let jobs = jobs::of_study(sampler, clip, &bed);
    rounds::jobs(&mut bed, sampler, clip, &jobs, budget, &mut measured, steps)?;
    steps.begin("predictions")?;
    let host = model::profile(&bed, sampler, clip, &measured, run)?;
    let scenarios = on_host(&host, jobs, run);
    checks::hold(run, sampler, &scenarios, &measured);
    bed.pitfalls.drain(..).for_each(|pitfall| run.doubt(pitfall));
    steps.begin("the answer")?;
    answers::give(run, &mut bed, &scenarios, clip, budget, steps)
}

/// Each job on the host; the scenarios are kept in the record.
fn on_host(
    host: &HostProfile,
    jobs: Vec<jobs::StudyJob>,
    run: &mut Run,
) -> Vec<(jobs::StudyJob, HostScenario)> {
    let mut scenarios = Vec::new();
    for job in jobs {
        let scenario = job.on(host);
        let subject = Subject::Host(Box::new(scenario.clone()));
        let written = Scenario { title: job.job.name.clone(), seed: run.seed, subject }.write();
        let text =
            written.unwrap_or_else(|error| format!("# the scenario cannot be written: {error}"));
        run.documents.push(Document { name: format!("{}.toml", job.job.name), text });
        scenarios.push((job, scenario));
    }
    scenarios
}
