//! The loop that makes a network better: measure, change one parameter, measure again; until the
//! difference is decided or the budget is spent (the basic loop of the slides on network
//! performance).
//!
//! ```text
//!          ┌─► block: every value once, in random order ─► samples ─► Run
//! knob ────┤                                                 │
//!          └── next block ◄── open ── planned look ◄── ratios to the first value, pair by pair
//!                                         │
//!                                         └─► better | worse | no difference, and by which rule
//! ```
//!
//! What is turned on an interface is put back, whatever ends the loop.

mod conclusion;
mod knob;
mod measure;
mod rig;
mod rule;

pub use knob::{Fixed, Knob, KnobError, Turn, Value};
pub use measure::{Better, Measure, MeasureError, Quantity};
pub use rig::KEEPER;
pub use rule::Rule;

use std::path::PathBuf;

use bitpath_measure::run::Document;
use bitpath_measure::series::labels;
use bitpath_measure::statistics::{Decision, Finding};
use bitpath_measure::{Labels, Run};
use bitpath_platform::affinity;
use bitpath_platform::clock::monotonic_ns;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::BenchError;
use crate::progress::Watcher;
use crate::sampling::Sampler;
use crate::sitting::Sitting;
use crate::steps::Steps;
use knob::Setup;
use rig::{Pace, Rig};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that is started as worker, with the argument `worker`, and as keeper of
    /// settings, with the argument [`KEEPER`].
    pub program: PathBuf,
    /// What is turned.
    pub knob: Knob,
    /// What else is not as usual.
    pub fixed: Vec<Fixed>,
    /// What is measured.
    pub measure: Measure,
    /// Time for the blocks [s].
    pub budget_s: f64,
    /// Smallest difference that matters [ratio].
    pub margin: f64,
    /// Identifier of the record.
    pub id: String,
    /// Seed of the order within the blocks.
    pub seed: u64,
}

/// Steps of a loop: facts, the ground, each value once, the blocks.
const STEPS: usize = 4;

/// Most blocks: the interval of more would take longer to compute than to narrow.
const MOST_BLOCKS: usize = 2000;

/// Turns the knob. The record is of use however the loop ended; where an error ended it that is given
/// back, too.
///
/// # Errors
/// When the knob cannot be turned here, and whatever else stands in the way of a first sample.
pub fn run(
    options: &Options,
    watcher: Watcher<'_>,
) -> Result<(Run, Option<BenchError>), BenchError> {
    check(options)?;
    let mut sitting = Sitting::begin("tune", &options.id, options.seed, Steps::new(watcher, STEPS));
    let mut comparison = Comparison::new(options);
    let outcome = turn(options, &mut sitting, &mut comparison);
    match sitting.close(outcome) {
        (run, Some(error)) if run.series.is_empty() => Err(error),
        (mut run, error) => {
            conclusion::conclude(&mut run, options, &comparison);
            Ok((run, error))
        }
    }
}

/// Every value must make sense for what is measured, and every processor be there.
fn check(options: &Options) -> Result<(), BenchError> {
    let allowed = affinity::allowed_cpus()?;
    let fixed = options.fixed.iter().map(|fixed| (fixed.name, &fixed.value));
    let turned = options.knob.values.iter().map(|value| (options.knob.name, value));
    for (name, value) in fixed.chain(turned) {
        let refuse = |reason| {
            let knob = format!("{name}={}", value.text);
            Err(BenchError::Knob { knob, reason })
        };
        if let Some(reason) = options.measure.refuses(value.turn) {
            return refuse(reason);
        }
        if let Turn::Cpus(sender, receiver) = value.turn {
            let missing = [sender, receiver].into_iter().find(|cpu| !allowed.contains(cpu));
            if let Some(cpu) = missing {
                return refuse(format!("processor {cpu} is not one of those allowed: {allowed:?}"));
            }
        }
    }
    Ok(())
}

/// Everything that was measured, value by value, and what is decided.
struct Comparison {
    /// Samples by value, quantity and block.
    samples: Vec<Vec<Vec<f64>>>,
    /// For each value but the first, and each quantity that decides.
    decisions: Vec<(usize, usize, Decision)>,
}

impl Comparison {
    fn new(options: &Options) -> Self {
        let (values, quantities) = (options.knob.values.len(), options.measure.quantities());
        let deciding = || (0..quantities.len()).filter(|at| quantities[*at].better.is_some());
        let count = (values - 1) * deciding().count();
        let decision = || Decision::new(options.margin, count);
        let of_value = |value| deciding().map(move |quantity| (value, quantity, decision()));
        Self {
            samples: vec![vec![Vec::new(); quantities.len()]; values],
            decisions: (1..values).flat_map(of_value).collect(),
        }
    }

    /// Ratios of a value to the first one, block by block.
    fn ratios(&self, value: usize, quantity: usize) -> Vec<f64> {
        let pairs = self.samples[value][quantity].iter().zip(&self.samples[0][quantity]);
        pairs.map(|(this, first)| this / first).collect()
    }

    /// Looks where a look is due; whether all is decided.
    fn look(&mut self, budget_share: f64) -> bool {
        let mut decisions = std::mem::take(&mut self.decisions);
        for (value, quantity, decision) in &mut decisions {
            decision.look(budget_share, &self.ratios(*value, *quantity));
        }
        self.decisions = decisions;
        self.decisions.iter().all(|(.., decision)| decision.finding() != Finding::Open)
    }
}

fn turn(
    options: &Options,
    sitting: &mut Sitting<'_>,
    comparison: &mut Comparison,
) -> Result<(), BenchError> {
    sitting.keep(Document { name: "tune.txt".into(), text: command(options) });
    sitting.read_facts()?;
    let Sitting { run, sampler, steps, .. } = sitting;
    steps.begin("the test bed")?;
    let mut rig = Rig::build(&options.program, options.measure)?;
    let usual = options
        .fixed
        .iter()
        .fold(options.measure.usual(), |setup, fixed| setup.turned(fixed.value.turn));
    let setups: Vec<Setup> =
        options.knob.values.iter().map(|value| usual.turned(value.turn)).collect();
    steps.begin("each value once")?;
    // What is refused is refused now, not when the budget is half spent.
    let mut paces = vec![Pace::default(); setups.len()];
    for (setup, pace) in setups.iter().zip(&mut paces) {
        rig.set_up(setup)?;
        rig.sample(setup, pace)?;
        steps.tell(0.0)?;
    }
    steps.begin("all values in turns")?;
    blocks(options, &mut rig, &setups, &mut paces, sampler, steps, comparison)?;
    rig.doubts().into_iter().for_each(|doubt| run.doubt(doubt));
    rig.put_back()
}

/// Block by block until all is decided or the budget is spent.
fn blocks(
    options: &Options,
    rig: &mut Rig,
    setups: &[Setup],
    paces: &mut [Pace],
    sampler: &mut Sampler,
    steps: &mut Steps<'_>,
    comparison: &mut Comparison,
) -> Result<(), BenchError> {
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut order: Vec<usize> = (0..setups.len()).collect();
    let start_ns = monotonic_ns();
    for block in 1..=MOST_BLOCKS {
        order.shuffle(&mut random);
        for &value in &order {
            let one = |rig: &mut Rig| {
                rig.set_up(&setups[value])?;
                rig.sample(&setups[value], &mut paces[value])
            };
            let (found, beside) = sampler.beside(rig, one)?;
            for (at, (quantity, found)) in
                options.measure.quantities().iter().zip(found).enumerate()
            {
                let labels = value_labels(options, value);
                sampler.add(quantity.name, &labels, quantity.unit, found, &beside);
                comparison.samples[value][at].push(found);
            }
        }
        let spent_s = (monotonic_ns() - start_ns) as f64 / 1e9;
        let spent = (spent_s / options.budget_s).max(block as f64 / MOST_BLOCKS as f64).min(1.0);
        if comparison.look(spent) {
            steps.ended(&format!("decided after {block} blocks"));
            return Ok(());
        }
        if spent >= 1.0 {
            steps.ended(&format!("budget spent after {block} blocks"));
            return Ok(());
        }
        steps.tell(spent)?;
    }
    Ok(())
}

/// Labels of the series of one value. Its place tells it from an equal one.
fn value_labels(options: &Options, value: usize) -> Labels {
    labels([
        ("knob", options.knob.name),
        ("value", &options.knob.values[value].text),
        ("place", &(value + 1).to_string()),
        ("measure", options.measure.name()),
    ])
}

/// What was asked for, as it might be typed again.
fn command(options: &Options) -> String {
    let fixed =
        options.fixed.iter().map(|fixed| format!(" --set {}={}", fixed.name, fixed.value.text));
    format!(
        "bitpath tune '{}' --measure {}{} --budget {}s --margin {}% --seed {}\n",
        options.knob,
        options.measure.name(),
        fixed.collect::<String>(),
        options.budget_s,
        options.margin * 100.0,
        options.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(knob: &str, measure: Measure) -> Options {
        Options {
            program: "/no/such/program".into(),
            knob: knob.parse().unwrap(),
            fixed: Vec::new(),
            measure,
            budget_s: 1.0,
            margin: 0.05,
            id: "tune".into(),
            seed: 0,
        }
    }

    #[test]
    fn what_cannot_be_turned_is_refused_before_anything_is_started() {
        for (knob, measure, words) in [
            (
                "SO_RCVBUF=64KiB,1MiB",
                Measure::MemoryCopy,
                "receive_buffer_bytes=64KiB: it does nothing",
            ),
            ("message_bytes=64,128KiB", Measure::Udp, "at most 65507 B"),
            (
                "copy_path=send,splice",
                Measure::Udp,
                "copy_path=send: it does nothing to probe.stack.udp",
            ),
            ("affinity=0:0,0:1023", Measure::Tcp, "processor 1023 is not one of those allowed"),
        ] {
            let refused = run(&options(knob, measure), &mut |_| {}).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn equal_values_have_series_of_their_own() {
        let options = options("message_bytes=64,64", Measure::Tcp);
        assert_ne!(value_labels(&options, 0), value_labels(&options, 1));
    }

    #[test]
    fn every_quantity_that_decides_is_compared_for_every_other_value() {
        let mut comparison = Comparison::new(&options("message_bytes=1,2,3", Measure::Tcp));
        assert_eq!(comparison.decisions.len(), 2 * 2);
        comparison.samples[0][0] = vec![1.0, 2.0];
        comparison.samples[2][0] = vec![2.0, 3.0, 4.0];
        // A block that was cut short has no ratio.
        assert_eq!(comparison.ratios(2, 0), [2.0, 1.5]);
        assert!(!comparison.look(1.0));
    }
}
