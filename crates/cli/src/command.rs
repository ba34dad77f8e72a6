//! The subcommands: each parses, calls and reports.

pub(crate) mod agent;
pub(crate) mod compare;
pub(crate) mod probe;
pub(crate) mod rtp;
pub(crate) mod runs;
mod scenario;
pub(crate) mod simulate;
pub(crate) mod study;
pub(crate) mod sweep;
pub(crate) mod trends;
pub(crate) mod tune;
pub(crate) mod validate;
pub(crate) mod worker;

use std::io::Write;
use std::path::Path;

use bitpath_measure::Run;
use bitpath_report::svg::Plot;
use bitpath_results::Store;

use crate::failure::Failure;

/// Columns of a report where the terminal does not say.
const COLUMNS: usize = 100;

/// Width of an exported picture [px]: that of a page of text.
const PICTURE_WIDTH: f64 = 760.0;

/// Prints the record as JSON or as a report.
fn print(run: &Run, json: bool) -> Result<(), Failure> {
    let text = if json {
        serde_json::to_string_pretty(run)? + "\n"
    } else {
        bitpath_report::text::render(run, columns())
    };
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(())
}

/// Keeps the columns of a record as tables, and its pictures, in a folder.
fn keep_columns<N: AsRef<str>>(
    run: &Run,
    folder: &Path,
    pictures: impl IntoIterator<Item = (N, Plot)>,
) -> Result<(), Failure> {
    let store = Store::new(folder);
    let table = store.save_beside(&run.id, "csv", &bitpath_report::csv::points(run))?;
    let parquet = store.save_parquet(run)?;
    eprintln!("table   {}\n        {}", table.display(), parquet.display());
    for (name, plot) in pictures {
        let picture = plot.draw(PICTURE_WIDTH).file();
        eprintln!("picture {}", store.save_beside(name.as_ref(), "svg", &picture)?.display());
    }
    Ok(())
}

/// Width of the terminal, from 60 to 132 columns.
fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.unwrap_or(COLUMNS).clamp(60, 132)
}
