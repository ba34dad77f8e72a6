//! The suite run as a whole: inputs made, the benchmarks verified, timed, and counted on the core model, beside what
//! the paper printed.
//!
//! ```text
//! audio ──► send ──► carry ──► receive ──► verify
//!             │                   │
//!             ├───────────────────┴──► times, in turns [ns a packet] ──┐
//!             └──► QEMU ──► core model [cycles by function] ───────────┼──► Run
//!                                            the paper's tables ───────┘
//! ```

mod cases;
mod counted;
mod program;
mod published;
mod verified;

use std::path::PathBuf;

use bitpath_measure::Run;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::qemu::Tracer;
use crate::BenchError;
use crate::here::Here;
use crate::progress::Watcher;
use crate::sitting::Sitting;
use crate::steps::Steps;
use cases::Case;
use program::Program;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The suite's program.
    pub program: PathBuf,
    /// What traces a program under QEMU; without it, nothing is counted.
    pub plugin: Option<PathBuf>,
    /// The audio; without one, noise as long as the paper's.
    pub input: Option<PathBuf>,
    /// Folder for the files between the programs.
    pub scratch: PathBuf,
    /// How often each benchmark is started to be timed.
    pub runs: u32,
    /// Identifier of the record.
    pub id: String,
    /// What chance on the network is made from.
    pub seed: u64,
}

/// Steps: facts, inputs, verification, times, the core model.
const STEPS: usize = 5;

/// Runs the suite. The record is of use however it ended; where an error ended it that is given back, too.
///
/// # Errors
/// What stands in the way of a first result.
pub fn run(
    options: &Options,
    watcher: Watcher<'_>,
) -> Result<(Run, Option<BenchError>), BenchError> {
    let mut sitting =
        Sitting::begin("rtp-suite", &options.id, options.seed, Steps::new(watcher, STEPS));
    let outcome = stages(options, &mut sitting);
    match sitting.close(outcome) {
        (run, Some(error)) if run.figures.is_empty() => Err(error),
        ended => Ok(ended),
    }
}

fn stages(options: &Options, sitting: &mut Sitting<'_>) -> Result<(), BenchError> {
    sitting.read_facts()?;
    let program = Program::new(&options.program, &options.scratch);
    sitting.steps.begin("the inputs")?;
    let files = cases::Files::make(&program, options, &mut sitting.steps)?;
    sitting.steps.begin("verification")?;
    verified::verify_all(&program, &files, sitting)?;
    sitting.steps.begin("times")?;
    let mut cases = cases::all(&files);
    let mut here = Here::new()?;
    time(&program, &mut cases, options, &mut here, sitting)?;
    sitting.steps.begin("the core model")?;
    sitting.run.figures.extend(published::figures()?);
    match &options.plugin {
        Some(plugin) => {
            counted::count_all(&Tracer::new(plugin), &options.program, &cases, &here, sitting)
        }
        None => {
            sitting.steps.ended("nothing is counted: there is no plugin for QEMU");
            Ok(())
        }
    }
}

/// Starts every benchmark as often as told, in shuffled order, each time for a sample.
fn time(
    program: &Program,
    cases: &mut [Case],
    options: &Options,
    here: &mut Here,
    sitting: &mut Sitting<'_>,
) -> Result<(), BenchError> {
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..cases.len()).collect();
    for round in 0..options.runs {
        order.shuffle(&mut random);
        for case in &order {
            cases[*case].sample(program, here, &mut sitting.sampler)?;
        }
        sitting.steps.tell(f64::from(round + 1) / f64::from(options.runs))?;
    }
    Ok(())
}
