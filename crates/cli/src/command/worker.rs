//! `bitpath worker`: one end of a transfer. `bitpath keeper`: who puts settings back.

use std::process::ExitCode;

use crate::failure::Failure;

/// Serves orders until the parent is gone.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    bitpath_bench::worker::serve()?;
    Ok(ExitCode::SUCCESS)
}

/// Changes settings until the parent is gone, and puts them back.
pub(crate) fn keep() -> Result<ExitCode, Failure> {
    bitpath_platform::link::keep()?;
    Ok(ExitCode::SUCCESS)
}
