//! `bitpath validate`: the model against the published tables.

use std::process::ExitCode;

use bitpath_sim::published;

use crate::arguments::Validate;
use crate::failure::Failure;

/// Predicts every point of the sets that are wanted and prints the record. The exit code says
/// whether every point and criterion is within its tolerance.
pub(crate) fn run(wanted: &Validate) -> Result<ExitCode, Failure> {
    let names: Vec<&str> = if wanted.set.is_empty() {
        published::NAMES.to_vec()
    } else {
        wanted.set.iter().map(String::as_str).collect()
    };
    let sets = names.into_iter().map(published::run).collect::<Result<Vec<_>, _>>()?;
    let passed = sets.iter().all(published::Set::passes);
    super::print(&published::record(&sets), wanted.json)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
