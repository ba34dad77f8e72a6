//! The choice of engine, and the record of a simulation.

use std::str::FromStr;

use bitpath_measure::run::{Document, Figure, Run};
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Method, Unit};

use crate::host::HostScenario;
use crate::path;
use crate::pipeline::{Pipeline, closed_form, events, exact};
use crate::scenario::{Scenario, Subject};

/// One of the three ways to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A bound and what imposes it.
    ClosedForm,
    /// Departure times by recursion; where nothing feeds back.
    Exact,
    /// Events in the order of time.
    Events,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ClosedForm, Self::Exact, Self::Events];

    /// Its name on the command line and in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClosedForm => "closed-form",
            Self::Exact => "exact",
            Self::Events => "events",
        }
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.name() == text);
        found
            .ok_or_else(|| format!("`{text}` is no engine: allowed are closed-form, exact, events"))
    }
}

/// Why an engine cannot run a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The recursion needs departures that depend on nothing later.
    #[error(
        "the exact recursion does not apply to a job on a host: waking the receiver slows the sender, and socket memory comes back in parts; use --engine events"
    )]
    FeedsBack,
}

/// Simulates a scenario and returns the record. The engine is the fastest that applies, or the
/// one that is asked for.
///
/// The record holds no time and no machine: same scenario and seed, same bytes.
///
/// # Errors
/// When the engine that is asked for does not apply.
pub fn simulate(
    scenario: &Scenario,
    text: &str,
    wanted: Option<Engine>,
) -> Result<Run, EngineError> {
    let mut run = Run::begin("simulate", "simulation", "", scenario.seed);
    run.documents.push(Document { name: "scenario.toml".into(), text: text.into() });
    match &scenario.subject {
        Subject::Pipeline(pipeline) => {
            pipeline_run(&mut run, pipeline, scenario.seed, wanted.unwrap_or(Engine::Exact));
        }
        Subject::Host(host) => host_run(&mut run, host, wanted.unwrap_or(Engine::Events))?,
    }
    run.complete = true;
    Ok(run)
}

/// Adds one figure of an engine.
fn figure(run: &mut Run, engine: Engine, name: &str, unit: Unit, value: f64) {
    let estimate = Estimate { method: Method::Simulated, ..Estimate::single(value) };
    let labels = labels([("engine", engine.name())]);
    run.figures.push(Figure { name: name.into(), labels, unit, estimate });
}

fn pipeline_run(run: &mut Run, pipeline: &Pipeline, seed: u64, engine: Engine) {
    let outcome = match engine {
        Engine::ClosedForm => {
            let bound = closed_form::bound(pipeline);
            let name = format!("throughput.bound.{}", bound.binding);
            return figure(run, engine, &name, Unit::PacketsPerSecond, bound.packets_per_second);
        }
        Engine::Exact => exact::run(pipeline, seed),
        Engine::Events => events::run(pipeline, seed),
    };
    figure(run, engine, "offered", Unit::Packets, pipeline.packets as f64);
    figure(run, engine, "delivered", Unit::Packets, outcome.delivered as f64);
    for (stage, drops) in pipeline.stages.iter().zip(&outcome.drops) {
        figure(run, engine, &format!("dropped.{}", stage.name), Unit::Packets, *drops as f64);
    }
    figure(run, engine, "throughput", Unit::PacketsPerSecond, outcome.throughput());
    figure(run, engine, "finished", Unit::Seconds, outcome.finished.as_secs_f64());
}

fn host_run(run: &mut Run, scenario: &HostScenario, engine: Engine) -> Result<(), EngineError> {
    match engine {
        Engine::Exact => return Err(EngineError::FeedsBack),
        Engine::ClosedForm => {
            let bound = path::bound(scenario);
            let name = format!("throughput.bound.{}", bound.binding);
            figure(run, engine, &name, Unit::BitsPerSecond, bound.bits_per_second);
            return Ok(());
        }
        Engine::Events => {}
    }
    let outcome = path::run(scenario);
    let counts = [
        ("sent", outcome.sent),
        ("received", outcome.received),
        ("dropped.link", outcome.drops.link),
        ("dropped.nic_ring", outcome.drops.nic_ring),
        ("dropped.kernel_buffer", outcome.drops.kernel_buffer),
    ];
    for (name, count) in counts {
        figure(run, engine, name, Unit::Packets, count as f64);
    }
    let frames = outcome.frames;
    let quality = [
        ("on_time", frames.on_time),
        ("late", frames.late),
        ("lost", frames.lost),
        ("broken", frames.broken),
    ];
    for (name, count) in quality.into_iter().filter(|_| frames.frames() > 0) {
        figure(run, engine, &format!("frames.{name}"), Unit::Frames, count as f64);
    }
    figure(run, engine, "throughput", Unit::BitsPerSecond, outcome.throughput());
    figure(run, engine, "goodput", Unit::BitsPerSecond, outcome.goodput());
    figure(run, engine, "sender.load", Unit::Cores, outcome.sender_load());
    figure(run, engine, "receiver.load", Unit::Cores, outcome.receiver_load());
    run.timelines = outcome.timelines(&scenario.job.name, scenario.job.receive_buffer.0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const P3: &str = include_str!("../../../scenarios/p3.toml");

    fn value(run: &Run, name: &str) -> f64 {
        run.figures.iter().find(|figure| figure.name == name).unwrap().estimate.value
    }

    #[test]
    fn both_engines_record_the_golden_counts() {
        let scenario = Scenario::parse(P3).unwrap();
        for engine in [Engine::Exact, Engine::Events] {
            let run = simulate(&scenario, P3, Some(engine)).unwrap();
            assert_eq!(
                (value(&run, "delivered"), value(&run, "dropped.kernel")),
                (795_771.0, 204_229.0)
            );
            assert_eq!(run.figures[0].labels["engine"], engine.name());
        }
    }

    #[test]
    fn an_engine_that_does_not_exist_is_refused_with_those_that_do() {
        assert!("wheel".parse::<Engine>().unwrap_err().contains("closed-form, exact, events"));
    }
}
