//! The choice of engine, and the record of a simulation.

mod replication;
pub mod size;

pub(crate) use replication::method;
pub use replication::{Plan, Precision, replicate};

use std::str::FromStr;

use bitpath_measure::run::{Document, Figure, Run, Timeline};
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Pitfall, Unit};

use crate::host::HostScenario;
use crate::machine::{self, Incident, KEPT_INCIDENTS, Machine, MachineError, MachineScenario};
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
    /// Cores, timers and windows of a machine feed back all the time.
    #[error(
        "the exact recursion does not apply to a machine: its cores and windows feed back; use --engine events, or closed-form for a bound"
    )]
    OnlyEvents,
    /// Values that do not go together.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Nothing happens any more, and a process is not done.
    #[error("deadlock: the process of flow {flow} {waits}, and nothing is left that could end it")]
    Deadlock {
        /// The flow.
        flow: String,
        /// What it waits for.
        waits: String,
    },
}

/// What one run of an engine gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Its numbers, each labelled with the engine.
    pub figures: Vec<Figure>,
    /// Its courses over time.
    pub timelines: Vec<Timeline>,
    /// Drops and stalls of a machine, one by one, as many as its scenario keeps.
    pub incidents: Vec<Incident>,
    /// Drops and stalls of a machine in all [count].
    pub incidents_in_all: u64,
}

impl Findings {
    /// Findings of an engine that knows no single drops.
    fn of(figures: Vec<Figure>, timelines: Vec<Timeline>) -> Self {
        Self { figures, timelines, incidents: Vec::new(), incidents_in_all: 0 }
    }
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
    let findings = find(scenario, scenario.seed, wanted)?;
    Ok(record(scenario, text, &findings))
}

/// The record of what one run gives. However many drops and stalls the scenario keeps, the first
/// [`KEPT_INCIDENTS`] of them are in the record.
#[must_use]
pub fn record(scenario: &Scenario, text: &str, findings: &Findings) -> Run {
    let mut run = begin("simulate", scenario, text);
    run.figures.clone_from(&findings.figures);
    run.timelines.clone_from(&findings.timelines);
    let kept = findings.incidents.len().min(KEPT_INCIDENTS);
    run.events = machine::events(&findings.incidents[..kept]);
    run.pitfalls.extend(left_out(kept, findings.incidents_in_all));
    run.complete = true;
    run
}

/// The doubt about a record that does not hold every drop and stall.
#[must_use]
pub fn left_out(kept: usize, total: u64) -> Option<Pitfall> {
    let kept = kept as u64;
    (kept < total).then_some(Pitfall::IncidentsLeftOut { kept, total })
}

/// Runs a scenario with this seed instead of its own.
///
/// # Errors
/// When the engine that is asked for does not apply.
pub fn find(
    scenario: &Scenario,
    seed: u64,
    wanted: Option<Engine>,
) -> Result<Findings, EngineError> {
    match &scenario.subject {
        Subject::Pipeline(pipeline) => {
            let figures = pipeline_figures(pipeline, seed, wanted.unwrap_or(Engine::Exact));
            Ok(Findings::of(figures, Vec::new()))
        }
        Subject::Machine(scenario) => machine_findings(scenario, seed, wanted),
        Subject::Host(host) => host_findings(host, wanted.unwrap_or(Engine::Events)),
    }
}

/// The record of a simulation that begins.
#[must_use]
pub fn begin(tool: &str, scenario: &Scenario, text: &str) -> Run {
    let mut run = Run::begin(tool, "simulation", "", scenario.seed);
    run.documents.push(Document { name: "scenario.toml".into(), text: text.into() });
    run
}

/// One figure of an engine.
pub(crate) fn figure(engine: Engine, name: &str, unit: Unit, value: f64) -> Figure {
    let labels = labels([("engine", engine.name())]);
    Figure { name: name.into(), labels, unit, estimate: Estimate::simulated(value) }
}

/// The closed form's one figure: a bound, named after what sets it.
fn bound_by(binding: &str, unit: Unit, value: f64) -> Figure {
    figure(Engine::ClosedForm, &format!("throughput.bound.{binding}"), unit, value)
}

fn pipeline_figures(pipeline: &Pipeline, seed: u64, engine: Engine) -> Vec<Figure> {
    let figure = |name: &str, unit, value| figure(engine, name, unit, value);
    let outcome = match engine {
        Engine::ClosedForm => {
            let bound = closed_form::bound(pipeline);
            return vec![bound_by(
                &bound.binding,
                Unit::PacketsPerSecond,
                bound.packets_per_second,
            )];
        }
        Engine::Exact => exact::run(pipeline, seed),
        Engine::Events => events::run(pipeline, seed),
    };
    let offered = pipeline.packets as f64;
    let mut figures = vec![
        figure("offered", Unit::Packets, offered),
        figure("delivered", Unit::Packets, outcome.delivered as f64),
    ];
    for (stage, drops) in pipeline.stages.iter().zip(&outcome.drops) {
        figures.push(figure(&format!("dropped.{}", stage.name), Unit::Packets, *drops as f64));
    }
    let dropped: u64 = outcome.drops.iter().sum();
    figures.extend([
        figure("loss", Unit::Ratio, dropped as f64 / offered),
        figure("throughput", Unit::PacketsPerSecond, outcome.throughput()),
        figure("finished", Unit::Seconds, outcome.finished.as_secs_f64()),
    ]);
    figures
}

fn host_findings(scenario: &HostScenario, engine: Engine) -> Result<Findings, EngineError> {
    let figure = |name: &str, unit, value| figure(engine, name, unit, value);
    match engine {
        Engine::Exact => return Err(EngineError::FeedsBack),
        Engine::ClosedForm => {
            let bound = path::bound(scenario);
            let figure = bound_by(bound.binding, Unit::BitsPerSecond, bound.bits_per_second);
            return Ok(Findings::of(vec![figure], Vec::new()));
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
    let counts = counts.map(|(name, count)| figure(name, Unit::Packets, count as f64));
    let frames = outcome.frames;
    let quality = [
        ("frames.on_time", frames.on_time),
        ("frames.late", frames.late),
        ("frames.lost", frames.lost),
        ("frames.broken", frames.broken),
    ];
    let quality = quality.into_iter().filter(|_| frames.frames() > 0);
    let quality = quality.map(|(name, count)| figure(name, Unit::Frames, count as f64));
    let rates = [
        figure("loss", Unit::Ratio, outcome.loss()),
        figure("throughput", Unit::BitsPerSecond, outcome.throughput()),
        figure("goodput", Unit::BitsPerSecond, outcome.goodput()),
        figure("sender.load", Unit::Cores, outcome.sender_load()),
        figure("receiver.load", Unit::Cores, outcome.receiver_load()),
    ];
    let figures = counts.into_iter().chain(quality).chain(rates).collect();
    let timelines = outcome.timelines(&scenario.job.name, scenario.job.receive_buffer.0);
    Ok(Findings::of(figures, timelines))
}

/// What is wrong where a machine came to its end and a process did not.
#[must_use]
pub fn deadlock(machine: &Machine, outcome: &machine::Outcome) -> Option<EngineError> {
    let (flow, waits) = outcome.stuck.clone()?;
    Some(EngineError::Deadlock { flow: machine.flow_name(flow).into(), waits })
}

fn machine_findings(
    scenario: &MachineScenario,
    seed: u64,
    wanted: Option<Engine>,
) -> Result<Findings, EngineError> {
    let machine = &scenario.machine;
    match wanted {
        Some(Engine::Exact) => return Err(EngineError::OnlyEvents),
        Some(Engine::ClosedForm) => {
            let bound = machine::closed_form::bound(machine)?;
            let figure = bound_by(&bound.binding, Unit::BitsPerSecond, bound.bits_per_second);
            return Ok(Findings::of(vec![figure], Vec::new()));
        }
        Some(Engine::Events) | None => {}
    }
    let outcome = scenario.run(seed)?;
    if let Some(deadlock) = deadlock(machine, &outcome) {
        return Err(deadlock);
    }
    Ok(Findings {
        figures: machine::figures(machine, &outcome),
        timelines: machine::timelines(machine, &outcome),
        incidents: outcome.log,
        incidents_in_all: outcome.incidents,
    })
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
