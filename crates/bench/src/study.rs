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
mod steps;
mod uncertainty;

use std::path::PathBuf;

use bitpath_measure::run::Document;
use bitpath_measure::{Pitfall, Run};
use bitpath_platform::codec::CodecError;
use bitpath_platform::{clock, facts};
use bitpath_sim::host::HostScenario;
use bitpath_sim::scenario::{Scenario, Subject};

use crate::BenchError;
use crate::clip::{self, StudyClip};
use crate::probe::profile::{self, Facts};
use crate::progress::Watcher;
use crate::sampling::Sampler;
use crate::testbed::Testbed;
pub use answers::try_remedy;
pub use rounds::Budget;
use steps::Steps;

/// How far a study goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Until the host's profile.
    Probe,
    /// Until the answer.
    Study,
}

impl Scope {
    /// The tool's name in the record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Study => "study",
        }
    }
}

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
    /// How far to go.
    pub scope: Scope,
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
    let mut run =
        Run::begin(options.scope.name(), &options.id, &clock::utc_now_rfc3339(), options.seed);
    let start_ns = clock::monotonic_ns();
    let mut sampler = Sampler::begin();
    let outcome = {
        let mut steps = Steps::new(watcher);
        let outcome = stages(options, &mut run, &mut sampler, &mut steps);
        let under_way = steps.finish(&mut run);
        match outcome {
            Err(error) if error.interrupted() => {
                run.doubt(Pitfall::Interrupted { step: under_way });
                Ok(())
            }
            Err(error) => Err(error),
            Ok(()) => {
                run.complete = true;
                Ok(())
            }
        }
    };
    sampler.finish(&mut run);
    run.duration_s = (clock::monotonic_ns() - start_ns) as f64 / 1e9;
    outcome.map(|()| run)
}

fn stages(
    options: &Options,
    run: &mut Run,
    sampler: &mut Sampler,
    steps: &mut Steps<'_>,
) -> Result<(), BenchError> {
    steps.begin("facts about this host")?;
    run.environment = Some(facts::environment());
    machine_doubts(run);
    steps.begin("the clip")?;
    let clip = clip_or_doubt(options, run)?;
    steps.begin("the test bed")?;
    let mut bed = Testbed::open(&options.program)?;

    let mut measured = rounds::probe(&mut bed, sampler, clip.as_ref(), &options.budget, steps)?;
    let jobs = match options.scope {
        Scope::Probe => Vec::new(),
        Scope::Study => jobs::of_study(sampler, clip.as_ref(), &bed),
    };
    rounds::jobs(&mut bed, sampler, clip.as_ref(), &jobs, &options.budget, &mut measured, steps)?;

    steps.begin("predictions")?;
    let scenarios = predict(options, run, sampler, &bed, clip.as_ref(), &jobs, &measured)?;
    checks::hold(run, sampler, &scenarios, &measured);
    bed.pitfalls.drain(..).for_each(|pitfall| run.doubt(pitfall));
    if options.scope == Scope::Study {
        steps.begin("the answer")?;
        answers::give(run, &mut bed, &scenarios, clip.as_ref(), &options.budget, steps)?;
    }
    Ok(())
}

/// The profile from all samples, and each job on it.
fn predict(
    options: &Options,
    run: &mut Run,
    sampler: &Sampler,
    bed: &Testbed,
    clip: Option<&StudyClip>,
    jobs: &[jobs::StudyJob],
    measured: &rounds::Measured,
) -> Result<Vec<(jobs::StudyJob, HostScenario)>, BenchError> {
    let fit = |clip: &StudyClip| {
        crate::probe::decode::fit(&clip.film.name, &measured.decoded, &options.id)
    };
    let decode = clip.map(fit).transpose()?.into_iter().collect();
    let facts = Facts {
        host: "this host",
        run: &options.id,
        socket_memory: measured.socket_memory.clone(),
        decode,
    };
    let host = profile::build(bed, sampler, facts, run)?;
    if let Some(tsc_hz) = Some(host.cpu.clock.value.0).filter(|hz| *hz > 1e9) {
        run.doubt(Pitfall::TscCycles { tsc_hz });
    }
    let text = toml::to_string(&host)
        .unwrap_or_else(|error| format!("# the profile cannot be written: {error}"));
    run.documents.push(Document { name: "host.toml".into(), text });
    let mut scenarios = Vec::new();
    for job in jobs {
        let scenario = job.on(&host);
        let subject = Subject::Host(Box::new(scenario.clone()));
        let written = Scenario { title: job.job.name.clone(), seed: options.seed, subject }.write();
        let text =
            written.unwrap_or_else(|error| format!("# the scenario cannot be written: {error}"));
        run.documents.push(Document { name: format!("{}.toml", job.job.name), text });
        scenarios.push((job.clone(), scenario));
    }
    Ok(scenarios)
}

fn machine_doubts(run: &mut Run) {
    let hypervisor =
        run.environment.as_ref().and_then(|environment| environment.system.hypervisor.clone());
    if let Some(hypervisor) = hypervisor {
        run.doubt(Pitfall::Virtualised { hypervisor });
    }
}

/// The clip, or none and a doubt where this build cannot decode and none was asked for.
fn clip_or_doubt(options: &Options, run: &mut Run) -> Result<Option<StudyClip>, BenchError> {
    match clip::prepare(options.clip.as_deref(), &options.scratch) {
        Ok(clip) => {
            if let Some(words) = &clip.synthetic {
                run.doubt(Pitfall::SyntheticClip { clip: words.clone() });
            }
            Ok(Some(clip))
        }
        Err(BenchError::Codec(error @ CodecError::NotBuilt)) if options.clip.is_none() => {
            run.doubt(Pitfall::NoDecoder { reason: error.to_string() });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
