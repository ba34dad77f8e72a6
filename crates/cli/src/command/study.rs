//! `bitpath study`: the whole loop.

use std::process::ExitCode;

use bitpath_bench::study::{self, Budget, Options, Scope};
use bitpath_measure::Run;
use bitpath_platform::{clock, interrupt};
use bitpath_results::Store;

use crate::arguments::{Measuring, Study};
use crate::failure::Failure;
use crate::progress::Bar;

/// Seed of a study: it moves nothing but the order of measurements, and is recorded.
const SEED: u64 = 0;

/// Exit code of an interrupted run, as shells have it for SIGINT.
const INTERRUPTED: u8 = 130;

/// Makes a study, keeps its record and report, and prints the answer.
pub(crate) fn run(wanted: &Study) -> Result<ExitCode, Failure> {
    let (run, code) = measure(&wanted.measuring, Scope::Study)?;
    super::print(&run, wanted.measuring.json)?;
    keep(&run, &wanted.measuring)?;
    Ok(code)
}

/// Measures with a progress bar. An interrupted run is a result, too.
pub(super) fn measure(wanted: &Measuring, scope: Scope) -> Result<(Run, ExitCode), Failure> {
    let store = Store::new(&wanted.out);
    store.prepare()?;
    interrupt::install()?;
    let scratch = tempfile::tempdir()
        .map_err(|source| Failure::Start { action: "make a temporary folder", source })?;
    let stamp: String =
        clock::utc_now_rfc3339().chars().filter(char::is_ascii_alphanumeric).take(15).collect();
    let options = Options {
        program: std::env::current_exe()
            .map_err(|source| Failure::Start { action: "find this program", source })?,
        clip: wanted.clip.clone(),
        scratch: scratch.path().to_owned(),
        budget: if wanted.quick { Budget::quick() } else { Budget::full() },
        scope,
        id: store.free_id(&format!("{stamp}-{}", scope.name())),
        seed: SEED,
    };
    let mut bar = Bar::new();
    let run = study::run(&options, &mut |progress| bar.show(progress));
    bar.finish();
    let run = run?;
    let code = if run.complete { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) };
    Ok((run, code))
}

/// Keeps the record and its report. What was measured is on the screen already.
pub(super) fn keep(run: &Run, wanted: &Measuring) -> Result<(), Failure> {
    let store = Store::new(&wanted.out);
    let record = store.save(run)?;
    let report = store.save_beside(&run.id, "html", &bitpath_report::html::render(run))?;
    eprintln!("record  {}\nreport  {}", record.display(), report.display());
    Ok(())
}
