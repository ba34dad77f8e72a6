//! `bitpath agent`: the other end of a probe that another machine makes.

use std::process::ExitCode;

use crate::arguments::Agent;
use crate::failure::Failure;

/// Serves one peer at a time until SIGINT or SIGTERM.
pub(crate) fn run(wanted: &Agent) -> Result<ExitCode, Failure> {
    bitpath_bench::agent::serve(wanted.listen, |address| eprintln!("listening at {address}"))?;
    Ok(ExitCode::SUCCESS)
}
