//! A chain of bounded stages, each with one server: the path of a packet in its purest form.
//!
//! ```text
//! arrivals ──► [stage: slots, service] ──► [stage: slots, service] ──► ... ──► delivered
//!                 full: drop                  full: drop, or block the stage before
//! ```
//!
//! A packet holds a slot of its stage until it leaves the stage behind it, its service included
//! (model.md, golden case P3). A stage that blocks keeps the packet of the stage before in that
//! stage's slot and its server idle until one of its own slots is free: blocking after service.
//!
//! The three engines read the same description and draw the same random numbers, so they agree
//! packet for packet wherever they apply. A fleet is many such chains at once, by events.

mod arrivals;
pub mod closed_form;
mod draws;
pub mod events;
pub mod exact;
pub mod fleet;
mod timetable;
pub mod wheel;

pub use arrivals::{Arrivals, ArrivalsError, FilmArrivals};

use bitpath_measure::Picos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use arrivals::WrittenPipeline;

/// Most stages in one pipeline; the path of a packet through a host has five.
pub const MAX_STAGES: usize = 16;

/// A chain of stages and what arrives at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenPipeline")]
pub struct Pipeline {
    /// Packets offered [packets].
    pub packets: u64,
    /// When they arrive.
    pub arrivals: Arrivals,
    /// The stages, in the order in which packets pass them.
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
}

/// How a time is distributed around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Always the mean.
    #[default]
    Constant,
    /// Exponential: Poisson arrivals, memoryless service.
    Exponential,
}

/// One server with its slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Name in results.
    pub name: String,
    /// Packets that it holds, the one in service included [packets].
    #[serde(deserialize_with = "bounds::slots")]
    pub slots: usize,
    /// Time that its server takes for a packet, or the mean of it [ps].
    #[serde(deserialize_with = "bounds::service")]
    pub service: Picos,
    /// How the service times are distributed.
    #[serde(default)]
    pub distribution: Distribution,
    /// A packet that takes another time, at regular counts.
    #[serde(default)]
    pub exception: Option<Exception>,
    /// What happens to a packet that finds all slots taken.
    pub when_full: WhenFull,
}

/// Every so-many-th packet that the stage accepts takes this time instead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// Packets from one exception to the next [packets].
    #[serde(deserialize_with = "bounds::packets")]
    pub every: u64,
    /// Time that it takes [ps].
    #[serde(deserialize_with = "bounds::service")]
    pub service: Picos,
}

/// What a full stage does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// The packet is lost.
    Drop,
    /// The packet stays where it is, and the stage before waits.
    Block,
}

/// What became of the packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Packets that left the last stage [packets].
    pub delivered: u64,
    /// Packets lost at the entry of each stage [packets].
    pub drops: Vec<u64>,
    /// When the last packet left [ps].
    pub finished: Picos,
    /// Sum of all departure times, modulo 2^64 [ps]: two engines that agree on it and on the
    /// counts agree on every packet.
    pub departure_sum: u64,
}

impl Outcome {
    /// Packets delivered a second, from the first arrival on [packets/s].
    #[must_use]
    pub fn throughput(&self) -> f64 {
        self.delivered as f64 / self.finished.as_secs_f64()
    }
}

impl Stage {
    /// Mean time that the server takes for a packet [ps].
    #[must_use]
    pub fn mean_service(&self) -> f64 {
        let usual = self.service.0 as f64;
        self.exception.map_or(usual, |exception| {
            usual + (exception.service.0 as f64 - usual) / exception.every as f64
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bitpath_measure::{BitRate, ByteCount};
    use bitpath_media::{Film, Frame, FrameKind, FrameRate};
    use proptest::prelude::*;

    use super::*;
    use crate::scenario::{Scenario, Subject};

    fn stage(name: &str, slots: usize, service: u64, when_full: WhenFull) -> Stage {
        let service = Picos::from_nanos(service);
        Stage {
            name: name.into(),
            slots,
            service,
            distribution: Distribution::Constant,
            exception: None,
            when_full,
        }
    }

    /// The golden case P3 of model.md.
    pub(crate) fn p3(packets: u64) -> Pipeline {
        let scenario = Scenario::parse(include_str!("../../../scenarios/p3.toml")).unwrap();
        let Subject::Pipeline(pipeline) = scenario.subject else { panic!("p3 is a pipeline") };
        Pipeline { packets, ..pipeline }
    }

    /// A single queue with Poisson arrivals, exponential service of 1 us and `slots` places.
    fn m_m_1_k(load: f64, slots: usize) -> Pipeline {
        let service = Stage {
            distribution: Distribution::Exponential,
            ..stage("queue", slots, 1000, WhenFull::Drop)
        };
        let interval = Picos::from_nanos_f64(1000.0 / load);
        let arrivals = Arrivals::Renewal { interval, distribution: Distribution::Exponential };
        Pipeline { packets: 4_000_000, arrivals, stages: vec![service] }
    }

    fn any_stage() -> impl Strategy<Value = Stage> {
        (
            1..6_usize,
            1..400_u64,
            any::<bool>(),
            any::<bool>(),
            prop::option::of((1..9_u64, 1..900_u64)),
        )
            .prop_map(|(slots, service, random, blocks, exception)| Stage {
                name: "stage".into(),
                slots,
                service: Picos(service),
                distribution: if random {
                    Distribution::Exponential
                } else {
                    Distribution::Constant
                },
                exception: exception
                    .map(|(every, service)| Exception { every, service: Picos(service) }),
                when_full: if blocks { WhenFull::Block } else { WhenFull::Drop },
            })
    }

    /// Small pipelines in which queues fill, block and drop.
    pub(crate) fn any_pipeline() -> impl Strategy<Value = Pipeline> {
        let stages = prop::collection::vec(any_stage(), 1..6);
        (1..400_u64, any_arrivals(), stages).prop_map(|(packets, arrivals, mut stages)| {
            stages[0].when_full = WhenFull::Drop;
            Pipeline { packets, arrivals, stages }
        })
    }

    fn any_arrivals() -> impl Strategy<Value = Arrivals> {
        let renewal = (1..300_u64, any::<bool>()).prop_map(|(interval, random)| {
            let distribution =
                if random { Distribution::Exponential } else { Distribution::Constant };
            Arrivals::Renewal { interval: Picos(interval), distribution }
        });
        prop_oneof![renewal, any_film().prop_map(Arrivals::Film)]
    }

    /// Films whose frames come every 250 ps to 10 ns and take the link as long, or longer.
    fn any_film() -> impl Strategy<Value = FilmArrivals> {
        let frames = prop::collection::vec(1..3000_u32, 1..8);
        (frames, 100_000_000..4_000_000_000_u32, 1..900_u64, 0..200_u64).prop_map(
            |(frames, rate, message, headers)| {
                let frame = |bytes| Frame { kind: FrameKind::I, bytes };
                let rate = FrameRate { frames: rate, seconds: 1 };
                let frames = frames.into_iter().map(frame).collect();
                FilmArrivals {
                    film: Film::new("any", rate, frames).unwrap(),
                    speed: 1.0,
                    message: ByteCount(message),
                    headers: ByteCount(headers),
                    rate: BitRate(10_000_000_000_000),
                    duration: Picos::SECOND,
                }
            },
        )
    }

    #[test]
    fn p3_has_its_golden_counts_by_both_engines() {
        for outcome in [exact::run(&p3(1_000_000), 0), events::run(&p3(1_000_000), 0)] {
            assert_eq!(outcome.delivered, 795_771);
            assert_eq!(outcome.drops, [0, 204_229, 0]);
        }
        let long = exact::run(&p3(20_000_000), 0);
        assert_eq!((long.delivered, long.drops[1]), (15_911_171, 4_088_829));
    }

    #[test]
    fn m_m_1_k_loses_what_theory_says() {
        // Erlang: (1 - rho) rho^K / (1 - rho^(K+1)).
        for (load, loss) in [(0.9, 0.013_651), (1.1, 0.105_113)] {
            let outcome = exact::run(&m_m_1_k(load, 20), 1);
            let measured = outcome.drops[0] as f64 / 4e6;
            assert!((measured / loss - 1.0).abs() < 0.02, "rho {load}: {measured}, not {loss}");
        }
    }

    #[test]
    fn random_streams_are_the_same_for_both_engines() {
        let pipeline = Pipeline { packets: 50_000, ..m_m_1_k(0.95, 7) };
        assert_eq!(exact::run(&pipeline, 9), events::run(&pipeline, 9));
        assert_ne!(exact::run(&pipeline, 9), exact::run(&pipeline, 10));
    }
}
