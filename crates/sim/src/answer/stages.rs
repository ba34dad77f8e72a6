//! What limits a chain of stages, and what would relieve it.
//!
//! Every parameter is one of a stage, or the rate of arrivals. All runs draw the same random
//! numbers, so that chance moves the changed pipeline as it moved the given one.

use bitpath_measure::Picos;
use bitpath_measure::run::{JobAnswer, Remedy};

use super::bottleneck::{elasticity, limiting};
use super::{Questions, Worth, by_gain, predicted};
use crate::bounds::MAX_SLOTS;
use crate::pipeline::{Pipeline, exact};

/// One parameter of a pipeline; stages are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageParameter {
    /// Time that a stage's server takes for a packet.
    Service(usize),
    /// Packets that a stage holds.
    Slots(usize),
    /// The rate at which packets arrive: it limits where nothing else does.
    ArrivalRate,
}

impl StageParameter {
    /// All parameters of a pipeline, in the order in which packets pass them, arrivals last.
    #[must_use]
    pub fn all(pipeline: &Pipeline) -> Vec<Self> {
        let of_stage = |stage| [Self::Service(stage), Self::Slots(stage)];
        (0..pipeline.stages.len()).flat_map(of_stage).chain([Self::ArrivalRate]).collect()
    }

    /// Its dotted name.
    #[must_use]
    pub fn name(self, pipeline: &Pipeline) -> String {
        match self {
            Self::Service(stage) => format!("stage.{}.service", pipeline.stages[stage].name),
            Self::Slots(stage) => format!("stage.{}.slots", pipeline.stages[stage].name),
            Self::ArrivalRate => "arrivals.rate".into(),
        }
    }

    /// What it means for a user when it is the bottleneck.
    #[must_use]
    pub fn in_words(self, pipeline: &Pipeline) -> String {
        match self {
            Self::Service(stage) => {
                format!("the time that stage {} takes for a packet", pipeline.stages[stage].name)
            }
            Self::Slots(stage) => {
                format!("the number of slots of stage {}", pipeline.stages[stage].name)
            }
            Self::ArrivalRate => "nothing but the rate at which packets arrive".into(),
        }
    }

    /// The pipeline with `factor` times as much of it: more slots, packets faster served or more
    /// often there.
    #[must_use]
    pub fn improved(self, pipeline: &Pipeline, factor: f64) -> Pipeline {
        let mut improved = pipeline.clone();
        match self {
            Self::Service(stage) => {
                let stage = &mut improved.stages[stage];
                stage.service = shorter(stage.service, factor);
                if let Some(exception) = &mut stage.exception {
                    exception.service = shorter(exception.service, factor);
                }
            }
            Self::Slots(stage) => {
                let stage = &mut improved.stages[stage];
                stage.slots = more(stage.slots, factor);
            }
            Self::ArrivalRate => improved.arrivals = pipeline.arrivals.faster(factor),
        }
        improved
    }
}

/// What limits the pipeline, and the gain of each remedy where that is asked.
#[must_use]
pub fn answer(pipeline: &Pipeline, seed: u64, questions: Questions) -> JobAnswer {
    let before = worth(pipeline, seed);
    let found = StageParameter::all(pipeline).into_iter().filter_map(|parameter| {
        let improved = |factor| Some(worth(&parameter.improved(pipeline, factor), seed));
        Some((parameter, elasticity(&parameter.name(pipeline), before, improved)?))
    });
    let (limiting, elasticities) = limiting(found, StageParameter::ArrivalRate);
    JobAnswer {
        scenario: String::new(),
        bottleneck: limiting.name(pipeline),
        bottleneck_in_words: limiting.in_words(pipeline),
        elasticities,
        remedies: if questions.remedies { remedies(pipeline, before, seed) } else { Vec::new() },
    }
}

/// A faster server and a larger buffer for every stage, ranked by gain. Their counterparts in
/// table 11 of the 2004 study: more processors, memory banks or offload; cache and buffers.
fn remedies(pipeline: &Pipeline, before: Worth, seed: u64) -> Vec<Remedy> {
    let remedy = |parameter: StageParameter| {
        let (name, change, factor) = match parameter {
            StageParameter::Service(stage) => ("a faster", ("service time halved", stage), 2.0),
            StageParameter::Slots(stage) => ("a larger", ("four times the slots", stage), 4.0),
            StageParameter::ArrivalRate => return None,
        };
        let gain = worth(&parameter.improved(pipeline, factor), seed).gain_over(before);
        let name = format!("{name} stage {}", pipeline.stages[change.1].name);
        Some(predicted(name, change.0, gain))
    };
    by_gain(StageParameter::all(pipeline).into_iter().filter_map(remedy))
}

fn worth(pipeline: &Pipeline, seed: u64) -> Worth {
    let outcome = exact::run(pipeline, seed);
    let dropped: u64 = outcome.drops.iter().sum();
    Worth { throughput: outcome.throughput(), loss: dropped as f64 / pipeline.packets as f64 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn shorter(time: Picos, factor: f64) -> Picos {
    Picos(((time.0 as f64 / factor).round() as u64).max(1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn more(slots: usize, factor: f64) -> usize {
    ((slots as f64 * factor).round() as usize).min(MAX_SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::tests::p3;

    const BOTH: Questions = Questions { elasticities: true, remedies: true };

    fn elasticity_of(answer: &JobAnswer, parameter: &str) -> (f64, f64) {
        let found = answer.elasticities.iter().find(|found| found.parameter == parameter);
        let found = found.unwrap_or_else(|| panic!("no {parameter}"));
        (found.throughput.value, found.loss.value)
    }

    #[test]
    fn a_saturated_server_is_the_bottleneck_and_follows_in_proportion() {
        let mut pipeline = p3(100_000);
        pipeline.stages.truncate(2);
        pipeline.stages[1].service = Picos::from_nanos(9000);
        let answer = answer(&pipeline, 0, BOTH);
        assert_eq!(answer.bottleneck, "stage.kernel.service");
        let (throughput, loss) = elasticity_of(&answer, "stage.kernel.service");
        // Four times as fast it still takes 2250 of every 1200 ns: throughput follows all the way.
        assert!((throughput - 1.0).abs() < 0.01 && loss < -0.05, "{throughput} {loss}");
        assert!(elasticity_of(&answer, "stage.nic.service").0.abs() < 0.01);
        assert_eq!(answer.remedies[0].name, "a faster stage kernel");
        assert!((answer.remedies[0].predicted_gain.value - 2.0).abs() < 0.02);
        assert_eq!((answer.elasticities.len(), answer.remedies.len()), (5, 4));
    }

    #[test]
    fn where_nothing_else_limits_the_arrivals_do() {
        let mut pipeline = p3(20_000);
        pipeline.stages.truncate(1);
        pipeline.arrivals = pipeline.arrivals.faster(1.2 / 100.0);
        let answer = answer(&pipeline, 0, BOTH);
        assert_eq!(answer.bottleneck, "arrivals.rate");
        assert!((elasticity_of(&answer, "arrivals.rate").0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn the_kernel_and_the_pausing_user_limit_p3() {
        let answer = answer(&p3(200_000), 0, BOTH);
        let leading: Vec<&str> =
            answer.elasticities[..2].iter().map(|found| found.parameter.as_str()).collect();
        assert!(leading.contains(&"stage.kernel.service"), "{answer:?}");
        assert!(elasticity_of(&answer, "stage.kernel.slots").1 < 0.0, "{answer:?}");
    }

    #[test]
    fn the_largest_buffer_grows_no_further() {
        assert_eq!(more(MAX_SLOTS, 4.0), MAX_SLOTS);
        assert_eq!(more(43, 1.5), 65);
        assert_eq!(shorter(Picos(1), 4.0), Picos(1));
    }
}
