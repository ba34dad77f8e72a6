//! P3 by the engines of bitpath, named by the first argument: `exact`, `events` or `fleet`.

use bitpath_measure::Picos;
use bitpath_sim::pipeline::fleet::{self, Fleet};
use bitpath_sim::pipeline::{Outcome, Pipeline, events, exact};
use bitpath_sim::scenario::{Scenario, Subject};
use p3::{Counts, Measurement};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let engine = arguments.next().expect("an engine");
    let engine = match engine.as_str() {
        "exact" => |pipeline| exact::run(&pipeline, 0),
        "events" => |pipeline| events::run(&pipeline, 0),
        "fleet" => by_fleet,
        other => panic!("{other}: known are exact, events and fleet"),
    };
    let golden = golden_case();
    Measurement::from_arguments(&mut arguments)
        .print(|packets| counts(&engine(Pipeline { packets, ..golden.clone() })));
}

/// One host on the timing wheel, every event by way of the wheel.
fn by_fleet(pipeline: Pipeline) -> Outcome {
    let fleet = Fleet { pipeline, hosts: 1, spread: Picos(0), lookahead: Picos(0) };
    fleet::run(&fleet, 0).expect("one host is not too many").remove(0)
}

fn golden_case() -> Pipeline {
    let scenario = Scenario::parse(include_str!("../../../../scenarios/p3.toml"))
        .expect("the golden case is sound");
    let Subject::Pipeline(pipeline) = scenario.subject else {
        panic!("the golden case is a pipeline")
    };
    pipeline
}

fn counts(outcome: &Outcome) -> Counts {
    let [nic_drops, kernel_drops, _] = outcome.drops[..] else { panic!("P3 has three stages") };
    Counts { delivered: outcome.delivered, nic_drops, kernel_drops }
}
