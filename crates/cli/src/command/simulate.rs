//! `bitpath simulate`: a scenario file in; a record, and whatever tables and traces are wanted, out.

use std::fs;
use std::process::ExitCode;

use bitpath_measure::Run;
use bitpath_measure::run::{course_columns, course_rows, event_columns, event_row};
use bitpath_report::trace;
use bitpath_sim::answer::{Questions, answer};
use bitpath_sim::engine::{self, Engine, Findings, Plan};
use bitpath_sim::machine;
use bitpath_sim::scenario::{Scenario, Subject};

use super::scenario;
use crate::arguments::Simulate;
use crate::failure::Failure;
use crate::limit::{self, Work};
use crate::live;
use crate::table::TableFile;

/// Simulates the file, answers what is asked, and prints the record.
pub(crate) fn run(wanted: &Simulate) -> Result<ExitCode, Failure> {
    let (mut scenario, text) = match &wanted.clip {
        Some(clip) => scenario::load_with_clip(&wanted.scenario, &wanted.set, clip)?,
        None => scenario::load(&wanted.scenario, &wanted.set)?,
    };
    prepare(wanted, &mut scenario)?;
    if wanted.live {
        let (run, code) = live::watch(&scenario, &text, wanted.json)?;
        show(&run, wanted)?;
        return Ok(code);
    }
    limit::agree(wanted.bound.limit, &[work(wanted, &scenario)])?;
    let mut run = simulate(wanted, &scenario, &text)?;
    let questions = questions(wanted);
    run.answer = questions.any().then(|| answer(&scenario, questions));
    show(&run, wanted)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses tables that the scenario has nothing for, and keeps what the others need.
fn prepare(wanted: &Simulate, scenario: &mut Scenario) -> Result<(), Failure> {
    let bound_only = wanted.engine == Some(Engine::ClosedForm);
    let subject = subject(scenario);
    if wanted.courses.is_some() && (bound_only || subject == "[pipeline]") {
        return Err(Failure::NoCourses {
            subject: if bound_only { "closed form" } else { subject },
        });
    }
    match &mut scenario.subject {
        _ if wanted.incidents.is_none() => Ok(()),
        Subject::Machine(machine) => {
            machine.keep_incidents = MOST_INCIDENTS;
            Ok(())
        }
        Subject::Pipeline(_) | Subject::Host(_) => Err(Failure::NoIncidents { subject }),
    }
}

fn subject(scenario: &Scenario) -> &'static str {
    match scenario.subject {
        Subject::Pipeline(_) => "[pipeline]",
        Subject::Machine(_) => "[machine]",
        Subject::Host(_) => "[host]",
    }
}

/// Drops and stalls that a table may hold: half a gigabyte of memory until they are written.
const MOST_INCIDENTS: usize = 10_000_000;

fn questions(wanted: &Simulate) -> Questions {
    Questions { elasticities: wanted.bottleneck, remedies: wanted.remedies }
}

/// The runs that the command asks for: replications, and those that an answer is drawn from.
fn work(wanted: &Simulate, scenario: &Scenario) -> Work {
    let least = Plan::MIN_REPLICATIONS.try_into().unwrap_or(u16::MAX);
    let plan = wanted.plan().filter(|_| scenario.is_random());
    let replications = plan.map_or(1, |plan| match plan {
        Plan { precision: None, at_most } => at_most.unwrap_or(Plan::MAX_REPLICATIONS),
        Plan { precision: Some(_), at_most } => at_most.unwrap_or(least).min(least),
    });
    let answer = if questions(wanted).any() { RUNS_OF_AN_ANSWER } else { 0 };
    Work {
        name: wanted.scenario.display().to_string(),
        scenario: scenario.clone(),
        engine: wanted.engine,
        runs: u32::from(replications) + answer,
    }
}

/// Runs of an answer, about: a dozen parameters relieved by four factors, and a dozen remedies.
const RUNS_OF_AN_ANSWER: u32 = 60;

fn simulate(wanted: &Simulate, scenario: &Scenario, text: &str) -> Result<Run, Failure> {
    if let Some(plan) = wanted.plan() {
        return Ok(engine::replicate(scenario, text, wanted.engine, &plan)?);
    }
    let findings = engine::find(scenario, scenario.seed, wanted.engine)?;
    if let Some(table) = &wanted.incidents {
        write_incidents(table, &findings)?;
    }
    Ok(engine::record(scenario, text, &findings))
}

fn write_incidents(table: &TableFile, findings: &Findings) -> Result<(), Failure> {
    let events = findings.incidents.iter().map(machine::event);
    let rows = events.map(|event| event_row(&event, &machine::STATE));
    table.write(&event_columns(&machine::STATE), rows)?;
    let (kept, total) = (findings.incidents.len(), findings.incidents_in_all);
    let whole = kept as u64 == total;
    let count = if whole { total.to_string() } else { format!("the first {kept} of {total}") };
    eprintln!("incidents {table}: {count} drops and stalls");
    Ok(())
}

/// Writes the courses and the trace where they are wanted, and prints the record.
fn show(run: &Run, wanted: &Simulate) -> Result<(), Failure> {
    if let Some(table) = &wanted.courses {
        table.write(&course_columns(), run.timelines.iter().flat_map(course_rows))?;
        eprintln!("courses {table}: {} components", run.timelines.len());
    }
    if let Some(path) = &wanted.trace {
        fs::write(path, trace::render(run))
            .map_err(|source| Failure::Write { path: path.clone(), source })?;
        eprintln!("trace {}: {}", path.display(), trace::summary(run));
    }
    super::print(run, wanted.json)
}
