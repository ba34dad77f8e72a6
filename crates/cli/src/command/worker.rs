//! `bitpath worker`: one end of a transfer.

use std::process::ExitCode;

use crate::failure::Failure;

/// Serves orders until the parent is gone.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    bitpath_bench::worker::serve()?;
    Ok(ExitCode::SUCCESS)
}
