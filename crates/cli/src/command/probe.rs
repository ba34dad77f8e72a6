//! `bitpath probe`: what the model must know of this host.

use std::process::ExitCode;

use bitpath_bench::study::Scope;
use bitpath_results::Store;

use super::study::{keep, measure};
use crate::arguments::Probe;
use crate::failure::Failure;

/// Measures, keeps the record, and writes the profile beside it.
pub(crate) fn run(wanted: &Probe) -> Result<ExitCode, Failure> {
    let (run, code) = measure(&wanted.measuring, Scope::Probe)?;
    super::print(&run, wanted.measuring.json)?;
    keep(&run, &wanted.measuring)?;
    if let Some(profile) = run.documents.iter().find(|document| document.name == "host.toml") {
        let path = Store::new(&wanted.measuring.out).save_beside(&run.id, "toml", &profile.text)?;
        eprintln!("profile {}", path.display());
    }
    Ok(code)
}
