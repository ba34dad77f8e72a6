//! `bitpath study`: the whole loop.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bitpath_bench::BenchError;
use bitpath_bench::study::{self, Budget, Options};
use bitpath_measure::Run;
use bitpath_platform::{clock, interrupt};
use bitpath_results::Store;
use tempfile::TempDir;

use crate::arguments::Study;
use crate::failure::Failure;
use crate::progress::Bar;

/// Seed of a study: it moves nothing but the order of measurements, and is recorded.
const SEED: u64 = 0;

/// Exit code of an interrupted run, as shells have it for SIGINT.
const INTERRUPTED: u8 = 130;

/// What every measurement needs before it begins.
pub(super) struct Prepared {
    /// Where its record goes.
    pub(super) store: Store,
    /// This program, which is its own worker.
    pub(super) program: PathBuf,
    /// A folder that vanishes with this value.
    pub(super) scratch: TempDir,
}

impl Prepared {
    /// The folder of the records is there and can be written to, and Ctrl-C keeps what was measured.
    pub(super) fn new(out: &Path) -> Result<Self, Failure> {
        let cannot = |action| move |source| Failure::Start { action, source };
        let store = Store::new(out);
        store.prepare()?;
        interrupt::install()?;
        let scratch = tempfile::tempdir().map_err(cannot("make a temporary folder"))?;
        let program = std::env::current_exe().map_err(cannot("find this program"))?;
        Ok(Self { store, program, scratch })
    }

    /// A free identifier of a record of this tool that begins now.
    pub(super) fn id(&self, tool: &str) -> String {
        let now = clock::utc_now_rfc3339();
        let stamp: String = now.chars().filter(char::is_ascii_alphanumeric).take(15).collect();
        self.store.free_id(&format!("{stamp}-{tool}"))
    }
}

/// Makes a study, keeps its record and report, and prints the answer. An interrupted study is a
/// result, too.
pub(crate) fn run(wanted: &Study) -> Result<ExitCode, Failure> {
    let prepared = Prepared::new(&wanted.out)?;
    let options = Options {
        program: prepared.program.clone(),
        clip: wanted.clip.clone(),
        scratch: prepared.scratch.path().to_owned(),
        budget: if wanted.quick { Budget::quick() } else { Budget::full() },
        id: prepared.id("study"),
        seed: SEED,
    };
    let mut bar = Bar::new();
    let run = study::run(&options, &mut |progress| bar.show(progress));
    bar.finish();
    let run = run?;
    super::print(&run, wanted.json)?;
    keep(&run, &prepared.store)?;
    Ok(code(&run))
}

/// How the process ends after this record.
pub(super) fn code(run: &Run) -> ExitCode {
    if run.complete { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) }
}

/// Prints and keeps a record, also when an error ended it, which is then given back.
pub(super) fn finish(
    (run, error): (Run, Option<BenchError>),
    json: bool,
    store: &Store,
) -> Result<ExitCode, Failure> {
    super::print(&run, json)?;
    keep(&run, store)?;
    error.map_or_else(|| Ok(code(&run)), |error| Err(error.into()))
}

/// Keeps the record and its report. What was measured is on the screen already.
pub(super) fn keep(run: &Run, store: &Store) -> Result<(), Failure> {
    let record = store.save(run)?;
    let report = store.save_beside(&run.id, "html", &bitpath_report::html::render(run))?;
    eprintln!("record  {}\nreport  {}", record.display(), report.display());
    Ok(())
}
