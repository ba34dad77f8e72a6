//! `bitpath tune`: one knob turned, and what becomes better.

use std::process::ExitCode;

use bitpath_bench::tune::{self, Options};

use super::study::{Prepared, finish};
use crate::arguments::Tune;
use crate::failure::Failure;
use crate::progress::Bar;

/// Turns the knob, prints the verdicts and keeps the record, also when an error ended the loop.
pub(crate) fn run(wanted: &Tune) -> Result<ExitCode, Failure> {
    let prepared = Prepared::new(&wanted.out)?;
    let options = Options {
        program: prepared.program.clone(),
        knob: wanted.knob.clone(),
        fixed: wanted.set.clone(),
        measure: wanted.measure,
        budget_s: wanted.budget.seconds,
        margin: wanted.margin.share,
        id: prepared.id("tune"),
        seed: wanted.seed,
    };
    let mut bar = Bar::new();
    let outcome = tune::run(&options, &mut |progress| bar.show(progress));
    bar.finish();
    finish(outcome?, wanted.json, &prepared.store)
}
