//! `bitpath runs`: the records of earlier runs, listed, shown and exported.

use std::io::Write;
use std::process::ExitCode;

use bitpath_measure::Run;
use bitpath_results::Store;

use crate::arguments::{Form, Runs, RunsAction};
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
        RunsAction::Merge { ids } => merge(&store, ids),
        RunsAction::Export { id, form } => export(&store.find(id)?, *form),
    }
}

/// Keeps one record of all of them, and prints it.
fn merge(store: &Store, ids: &[String]) -> Result<ExitCode, Failure> {
    let runs = ids.iter().map(|id| store.find(id)).collect::<Result<Vec<Run>, _>>()?;
    let first = runs.iter().map(|run| run.id.as_str()).min().unwrap_or_default();
    let mut merged =
        bitpath_measure::run::merge(&store.free_id(&format!("{first}-merged")), &runs)?;
    bitpath_bench::probe::conclude(&mut merged);
    super::print(&merged, false)?;
    super::study::keep(&merged, store)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints one record in another form.
fn export(run: &Run, form: Form) -> Result<ExitCode, Failure> {
    let text = match form {
        Form::Samples => bitpath_report::csv::samples(run),
        Form::Figures => bitpath_report::csv::figures(run),
        Form::Page => bitpath_report::html::render(run),
        Form::Picture => {
            let plot = bitpath_report::plots::predictions(run);
            plot.ok_or_else(|| Failure::NoPicture { id: run.id.clone() })?
                .draw(super::PICTURE_WIDTH)
                .file()
        }
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
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
