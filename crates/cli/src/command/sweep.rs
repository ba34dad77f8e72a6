//! `bitpath sweep`: a scenario file and some values in; points, a table and pictures out.

use std::process::ExitCode;

use bitpath_bench::sweep::{self, Grid, Keeping, Plan};
use bitpath_platform::interrupt;

use super::scenario;
use crate::arguments::Sweep;
use crate::failure::Failure;
use crate::limit::{self, Work};
use crate::progress::Points;

/// Simulates every point, keeps table and pictures, and prints the table.
pub(crate) fn run(wanted: &Sweep) -> Result<ExitCode, Failure> {
    let (_, text) = scenario::load(&wanted.scenario, &wanted.set)?;
    let plan = Plan { text, grid: Grid::new(wanted.vary.clone())?, engine: wanted.engine };
    let (scenario, settings) = sweep::largest(&plan)?;
    let name = format!("{}, {settings}", wanted.scenario.display());
    let work = Work { name, scenario, engine: wanted.engine, runs: 1 };
    limit::agree(wanted.bound.limit, &[work])?;
    let keeping = Keeping { path: sweep::points_file(&wanted.out), resume: wanted.resume };
    interrupt::install()?;
    let mut bar = Points::new();
    let run = sweep::run(&plan, &keeping, &mut |done, points| bar.show(done, points));
    bar.finish();
    let run = run?;
    super::print(&run, wanted.json)?;
    super::keep_columns(&run, &wanted.out, bitpath_report::plots::sweep(&run))?;
    Ok(ExitCode::SUCCESS)
}
