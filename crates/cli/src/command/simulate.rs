//! `bitpath simulate`: a scenario file in, a record out.

use std::fs;
use std::process::ExitCode;

use bitpath_measure::Run;
use bitpath_report::trace;
use bitpath_sim::answer::{Questions, answer};
use bitpath_sim::engine;

use super::scenario;
use crate::arguments::Simulate;
use crate::failure::Failure;
use crate::live;

/// Simulates the file, answers what is asked, and prints the record.
pub(crate) fn run(wanted: &Simulate) -> Result<ExitCode, Failure> {
    let (scenario, text) = scenario::load(&wanted.scenario, &wanted.set)?;
    if wanted.live {
        let (run, code) = live::watch(&scenario, &text, wanted.json)?;
        show(&run, wanted)?;
        return Ok(code);
    }
    let mut run = match wanted.plan() {
        Some(plan) => engine::replicate(&scenario, &text, wanted.engine, &plan)?,
        None => engine::simulate(&scenario, &text, wanted.engine)?,
    };
    let questions = Questions { elasticities: wanted.bottleneck, remedies: wanted.remedies };
    run.answer = questions.any().then(|| answer(&scenario, questions));
    show(&run, wanted)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the trace where one is wanted, and prints the record.
fn show(run: &Run, wanted: &Simulate) -> Result<(), Failure> {
    if let Some(path) = &wanted.trace {
        fs::write(path, trace::render(run))
            .map_err(|source| Failure::Write { path: path.clone(), source })?;
    }
    super::print(run, wanted.json)
}
