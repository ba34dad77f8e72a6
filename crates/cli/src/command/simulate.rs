//! `bitpath simulate`: a scenario file in, a record out.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use bitpath_sim::engine;
use bitpath_sim::scenario::Scenario;

use crate::arguments::Simulate;
use crate::failure::Failure;

/// Simulates the file and prints the record.
pub(crate) fn run(wanted: &Simulate) -> Result<ExitCode, Failure> {
    let path = &wanted.scenario;
    let text = read(path).map_err(|source| Failure::Read { path: path.clone(), source })?;
    let scenario = Scenario::parse(&text).map_err(|error| Failure::Scenario {
        file: path.clone(),
        text: text.clone(),
        error,
    })?;
    let run = engine::simulate(&scenario, &text, wanted.engine)?;
    super::print(&run, wanted.json)?;
    Ok(ExitCode::SUCCESS)
}

/// Largest scenario file that is read [B]: a film of a million frames, each written out, has
/// some 40 MB.
const MAX_SCENARIO: u64 = 64 << 20;

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(MAX_SCENARIO + 1).read_to_string(&mut text)?;
    if length as u64 > MAX_SCENARIO {
        return Err(io::Error::other(format!("it is larger than {MAX_SCENARIO} B")));
    }
    Ok(text)
}
