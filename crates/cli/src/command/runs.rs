//! `bitpath runs`: the records of earlier runs.

use std::io::Write;
use std::process::ExitCode;

use bitpath_results::Store;

use crate::arguments::{Runs, RunsAction};
use crate::failure::Failure;

/// Lists the records, or shows one.
pub(crate) fn run(wanted: &Runs) -> Result<ExitCode, Failure> {
    let store = Store::new(&wanted.out);
    match &wanted.action {
        RunsAction::List => list(&store),
        RunsAction::Show { id, json } => {
            super::print(&store.find(id)?, *json)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// A line a record; one that cannot be read is named and does not hide the others.
fn list(store: &Store) -> Result<ExitCode, Failure> {
    let mut output = std::io::stdout().lock();
    for run in store.list()? {
        match run {
            Ok(run) => writeln!(output, "{}", bitpath_report::text::line(&run))?,
            Err(error) => eprintln!("bitpath: {error}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}
