//! `bitpath rtp`: the benchmarks of the RTP/RTCP paper, verified, timed and counted (`suite`), and the streams of a
//! capture (`analyse`).

use std::path::PathBuf;
use std::process::ExitCode;

use bitpath_bench::rtp::analysis;
use bitpath_bench::rtp::capture::Capture;
use bitpath_bench::rtp::study::{self, Options};

use super::study::{Prepared, finish};
use crate::arguments::{Rtp, RtpAnalyse, RtpSuite};
use crate::failure::Failure;
use crate::progress::Bar;

/// The suite's own program, beside this one.
const PROGRAM: &str = "bitpath-rtp";

/// Where `scripts/build-qemu-plugin` puts the plugin, from the folder of this program.
const PLUGIN: &str = "../peers/libbitpath-trace.so";

/// Does what the subcommand says.
pub(crate) fn run(wanted: &Rtp) -> Result<ExitCode, Failure> {
    match wanted {
        Rtp::Suite(suite) => run_suite(suite),
        Rtp::Analyse(wanted) => analyse(wanted),
    }
}

/// Finds the streams of a capture and prints their figures.
fn analyse(wanted: &RtpAnalyse) -> Result<ExitCode, Failure> {
    let capture = Capture::read(&wanted.capture)?;
    let found = analysis::analyse(&capture, wanted.clock_rate);
    super::print(&analysis::record(&found), wanted.json)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the suite, prints its tables and keeps the record, also when an error ended it.
fn run_suite(wanted: &RtpSuite) -> Result<ExitCode, Failure> {
    let prepared = Prepared::new(&wanted.out)?;
    let beside = |name: &str| prepared.program.with_file_name(name);
    let built = Some(beside(PLUGIN)).filter(|plugin: &PathBuf| plugin.is_file());
    let options = Options {
        program: wanted.program.clone().unwrap_or_else(|| beside(PROGRAM)),
        plugin: wanted.plugin.clone().or(built),
        input: wanted.input.clone(),
        scratch: prepared.scratch.path().to_owned(),
        runs: wanted.runs,
        id: prepared.id("rtp-suite"),
        seed: wanted.seed,
    };
    let mut bar = Bar::new();
    let outcome = study::run(&options, &mut |progress| bar.show(progress));
    bar.finish();
    finish(outcome?, wanted.json, &prepared.store)
}
