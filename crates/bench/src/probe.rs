//! The probe: this host measured part by part, each within its share of a time budget.
//!
//! ```text
//!                    ┌─ model      what the simulator must know ──► host profile (TOML)
//!                    ├─ clock      clocks, the kernel's small operations
//!                    ├─ memory     bandwidth and latency by working set ──► levels
//! facts ──► parts ───┼─ stack      flows of UDP and TCP                                     ──► Run
//!                    ├─ pipeline   three processes and what joins them
//!                    └─ decode     clips
//!                         points ──► Sampler, in turns ──► figures with intervals
//! ```
//!
//! A part that was interrupted goes on with its samples: they are in the record.

pub mod clock;
pub mod copy;
pub mod decode;
pub mod flow;
pub mod memory;
pub mod model;
pub mod part;
pub mod pipeline;
pub mod points;
pub mod profile;
pub mod socket_memory;
pub mod stack;
pub mod wake;

use std::path::PathBuf;

use bitpath_measure::run::Document;
use bitpath_measure::{Pitfall, Run};
use bitpath_platform::counters::Counters;

use crate::BenchError;
use crate::clip;
use crate::progress::Watcher;
use crate::sampling::Sampler;
use crate::sitting::Sitting;
use crate::steps::Steps;
use crate::testbed::Testbed;
pub use part::{Part, Plan};
use points::Effort;

/// What a probe needs beside its plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that is started as worker, with the argument `worker`.
    pub program: PathBuf,
    /// Folder for the clip that is made where none is given.
    pub scratch: PathBuf,
    /// What to measure.
    pub plan: Plan,
    /// Identifier of the record.
    pub id: String,
    /// The record to go on with; its own plan is followed.
    pub earlier: Option<Run>,
}

/// Measures what the plan says. The record is of use however the probe ended; where an error ended it,
/// that is given back, too.
#[must_use]
pub fn run(options: &Options, watcher: Watcher<'_>) -> (Run, Option<BenchError>) {
    let plan = options.earlier.as_ref().and_then(Plan::of).unwrap_or_else(|| options.plan.clone());
    let steps = Steps::new(watcher, 2 + plan.parts.iter().map(|part| part.steps()).sum::<usize>());
    let mut sitting = match &options.earlier {
        None => Sitting::begin("probe", &options.id, SEED, steps),
        Some(earlier) => Sitting::go_on(earlier, profile::is_own, steps),
    };
    let outcome = parts(options, &plan, &mut sitting);
    let (mut run, error) = sitting.close(outcome);
    conclude(&mut run);
    (run, error)
}

/// Adds what the figures of a probe's record say together.
pub fn conclude(run: &mut Run) {
    clock::conclude(run);
    clock::doubt(run);
    memory::conclude(run);
    flow::conclude(run);
    pipeline::conclude(run);
    decode::conclude(run);
}

/// Seed of a probe: it moves nothing but the order of measurements, and is recorded.
const SEED: u64 = 0;

fn parts(options: &Options, plan: &Plan, sitting: &mut Sitting<'_>) -> Result<(), BenchError> {
    sitting.read_facts()?;
    sitting.keep(Document { name: part::PLAN.into(), text: plan.text() });
    if let Err(reason) = Counters::open() {
        let what = "Cycles of the core, instructions and cache misses".into();
        sitting.run.doubt(Pitfall::NotMeasured { what, reason: reason.to_string() });
    }
    let counter_hz = tsc_hz(&sitting.run);
    for &part in &plan.parts {
        let effort = Effort::of(plan.budget_of(part) - part.spent(&sitting.run));
        let Options { program, scratch, .. } = options;
        match part {
            Part::Model => model_part(options, plan, &effort, sitting)?,
            Part::Stack => {
                // The beds are opened before the part's time begins.
                sitting.steps.begin("the test beds")?;
                let mut beds = flow::Beds::open(program, plan.peer.as_deref())?;
                let bytes = memory_bytes(&sitting.run);
                sampled(part, sitting, |sampler, steps| {
                    flow::sample(&mut beds, bytes, sampler, &effort, steps)
                })?;
            }
            Part::Clock => sampled(part, sitting, |sampler, steps| {
                clock::sample(counter_hz, sampler, &effort, steps)
            })?,
            Part::Memory => {
                let bytes = memory_bytes(&sitting.run);
                sampled(part, sitting, |sampler, steps| {
                    memory::sample(bytes, sampler, &effort, steps)
                })?;
            }
            Part::Pipeline => sampled(part, sitting, |sampler, steps| {
                pipeline::sample(program, plan.cores, sampler, &effort, steps)
            })?,
            Part::Decode => sampled(part, sitting, |sampler, steps| {
                decode::sample(program, &plan.clips, scratch, counter_hz, sampler, &effort, steps)
            })?,
        }
    }
    Ok(())
}

/// A part of one step: its samples, and its doubts in the record.
fn sampled(
    part: Part,
    sitting: &mut Sitting<'_>,
    sample: impl FnOnce(&mut Sampler, &mut Steps<'_>) -> Result<Vec<Pitfall>, BenchError>,
) -> Result<(), BenchError> {
    sitting.steps.begin(part.name())?;
    let doubts = sample(&mut sitting.sampler, &mut sitting.steps)?;
    doubts.into_iter().for_each(|doubt| sitting.run.doubt(doubt));
    Ok(())
}

fn memory_bytes(run: &Run) -> u64 {
    run.environment.as_ref().map_or(0, |facts| facts.memory_bytes)
}

/// Rate of the time stamp counter as the facts have it [Hz], where it is invariant.
fn tsc_hz(run: &Run) -> Option<f64> {
    run.environment.as_ref()?.clock.tsc_hz
}

/// The model's part, unless an earlier sitting has made the profile.
fn model_part(
    options: &Options,
    plan: &Plan,
    effort: &Effort,
    sitting: &mut Sitting<'_>,
) -> Result<(), BenchError> {
    let Sitting { run, sampler, steps, .. } = sitting;
    if run.documents.iter().any(|document| document.name == model::PROFILE) {
        return Ok(());
    }
    steps.begin("the clip")?;
    let clip = clip::or_doubt(plan.clips.first().map(PathBuf::as_path), &options.scratch, run)?;
    steps.begin("the test bed")?;
    let mut bed = Testbed::open(&options.program)?;
    let measured = model::first_look(&mut bed, sampler, clip.as_ref(), effort, steps)?;
    steps.begin("the profile")?;
    model::profile(&bed, sampler, clip.as_ref(), &measured, run)?;
    measured.doubts.into_iter().for_each(|doubt| run.doubt(doubt));
    bed.pitfalls.drain(..).for_each(|pitfall| run.doubt(pitfall));
    Ok(())
}
