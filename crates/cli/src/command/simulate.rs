//! `bitpath simulate`: a scenario file in, a record out.

use std::process::ExitCode;

use bitpath_sim::engine;
use bitpath_sim::scenario::Scenario;

use crate::arguments::Simulate;
use crate::failure::Failure;

/// Simulates the file and prints the record.
pub(crate) fn run(wanted: &Simulate) -> Result<ExitCode, Failure> {
    let path = &wanted.scenario;
    let text = std::fs::read_to_string(path)
        .map_err(|source| Failure::Read { path: path.clone(), source })?;
    let scenario = Scenario::parse(&text).map_err(|error| Failure::Scenario {
        file: path.clone(),
        text: text.clone(),
        error,
    })?;
    let run = engine::simulate(&scenario, &text, wanted.engine)?;
    super::print(&run, wanted.json)?;
    Ok(ExitCode::SUCCESS)
}
