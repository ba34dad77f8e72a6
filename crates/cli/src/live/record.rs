//! The record of a machine that was watched: that of any simulation, and what was changed on the way.

use std::collections::BTreeMap;

use bitpath_measure::Pitfall;
use bitpath_measure::run::{Event, Run};
use bitpath_measure::series::labels;
use bitpath_sim::engine::{self, EngineError};
use bitpath_sim::machine::{self, Machine, Outcome};
use bitpath_sim::scenario::Scenario;

use super::steering::Change;

/// The record. Whoever left before the end has what was simulated until then.
///
/// # Errors
/// Where the machine came to its end with a process that is not done.
pub(crate) fn record(
    scenario: &Scenario,
    text: &str,
    machine: &Machine,
    seen: Seen<'_>,
) -> Result<Run, EngineError> {
    let Seen { outcome, changes, ended } = seen;
    if let Some(deadlock) = engine::deadlock(machine, outcome).filter(|_| ended) {
        return Err(deadlock);
    }
    let mut run = engine::begin("simulate", scenario, text);
    run.figures = machine::figures(machine, outcome);
    run.timelines = machine::timelines(machine, outcome);
    run.events = machine::events(&outcome.log);
    run.pitfalls.extend(engine::left_out(outcome.log.len(), outcome.incidents));
    run.events.extend(changes.iter().map(event));
    run.events.sort_by(|one, other| one.at_ns.total_cmp(&other.at_ns));
    run.complete = ended;
    if !ended {
        let step = format!("the simulation, {} of {}", outcome.elapsed, machine.duration);
        run.doubt(Pitfall::Interrupted { step });
    }
    Ok(run)
}

/// What a record is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// What became of the machine.
    pub(crate) outcome: &'a Outcome,
    /// What was changed while it ran.
    pub(crate) changes: &'a [Change],
    /// Whether it came to its end.
    pub(crate) ended: bool,
}

fn event(change: &Change) -> Event {
    Event {
        at_ns: change.at.as_nanos_f64(),
        name: "change".into(),
        labels: labels([("setting", change.setting.as_str())]),
        state: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use bitpath_measure::Picos;
    use bitpath_sim::engine;
    use bitpath_sim::machine::Next;
    use bitpath_sim::scenario::Subject;

    use super::*;

    const FILM: &str = include_str!("../../../../scenarios/mpeg-sw.toml");

    /// The record of the film, watched in looks of 7 ms until `last`.
    fn watched(last: Picos, changes: &[Change]) -> Run {
        let scenario = Scenario::parse(FILM).unwrap();
        let Subject::Machine(film) = &scenario.subject else { panic!("a machine") };
        let mut ended = false;
        let outcome = machine::watch(&film.machine, film.interval, scenario.seed, &mut |look| {
            ended = look.ended;
            let stop = ended || look.now >= last;
            if stop { Next::Stop } else { Next::Until(Picos(look.now.0 + 7_000_000_000)) }
        });
        let seen = Seen { outcome: &outcome.unwrap(), changes, ended };
        record(&scenario, FILM, &film.machine, seen).unwrap()
    }

    #[test]
    fn to_be_watched_changes_nothing() {
        let scenario = Scenario::parse(FILM).unwrap();
        let unwatched = engine::simulate(&scenario, FILM, None).unwrap();
        assert_eq!(watched(Picos(u64::MAX), &[]), unwatched);
    }

    #[test]
    fn who_leaves_before_the_end_has_the_beginning() {
        for last in [Picos(0), Picos(Picos::SECOND.0)] {
            let run = watched(last, &[]);
            assert!(!run.complete && run.pitfalls.len() == 1);
            let text = serde_json::to_string(&run).unwrap();
            assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
        }
    }

    #[test]
    fn a_change_is_an_event() {
        let setting = "machine.line.rate=1 Mb/s".to_owned();
        let run = watched(Picos(u64::MAX), &[Change { at: Picos(5_000_000), setting }]);
        let change = run.events.iter().find(|event| event.name == "change").unwrap();
        assert_eq!(
            (change.at_ns, change.labels["setting"].as_str()),
            (5000.0, "machine.line.rate=1 Mb/s")
        );
    }
}
