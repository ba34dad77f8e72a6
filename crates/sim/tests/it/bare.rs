//! The machine without costs that tests begin with.

use bitpath_measure::Picos;
use bitpath_sim::job::Operation;
use bitpath_sim::machine::{self, Flow, Machine, Outcome, Task};
use bitpath_sim::scenario::{Scenario, Subject};

/// The machine of `bare-machine.toml`: two cores, one flow of datagrams of eight bytes.
pub(crate) fn machine() -> Machine {
    let text = include_str!("../bare-machine.toml");
    match Scenario::parse(text).map(|scenario| scenario.subject) {
        Ok(Subject::Machine(scenario)) => scenario.machine,
        other => panic!("bare-machine.toml holds a machine, not {other:?}"),
    }
}

/// A job of these operations; the peer of a receiving flow sends as its first job did.
pub(crate) fn operations(flow: &Flow, list: Vec<Operation>) -> Task {
    let rate = match &flow.job {
        Task::Raw { rate, .. } => *rate,
        _ => None,
    };
    Task::Operations { rate, list }
}

/// What becomes of a machine whose values go together.
pub(crate) fn run(machine: &Machine, seed: u64) -> Outcome {
    machine::run(machine, Picos::SECOND, seed).expect("the values go together")
}
