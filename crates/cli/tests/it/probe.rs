//! The parts of the probe: their records, and how one that was cut short is gone on with.

use std::path::Path;

use bitpath_measure::Run;
use nix::sys::signal::Signal;

use crate::invocation::{Ended, Invocation};
use crate::turns::alone;

/// Processor time after which memory was taken and samples are [clock ticks]: eight seconds.
const WELL_UNDER_WAY: u64 = 800;

fn memory(out: &Path, arguments: &[&str]) -> Invocation {
    Invocation::new().with(["probe", "memory", "--json", "--out"]).with([out]).with(arguments)
}

/// Samples of all series of a record.
fn samples(run: &Run) -> usize {
    run.series.iter().map(|series| series.samples.len()).sum()
}

#[track_caller]
fn sound(ended: &Ended) -> Run {
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.left, [""; 0]);
    let run = ended.record();
    assert!(run.complete && run.environment.is_some());
    assert_eq!(run.unsupported_figures(), [""; 0]);
    run
}

#[test]
fn the_memory_curve_is_a_record_with_its_levels() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let run = sound(&memory(out.path(), &["--budget", "8s"]).run());
    for name in ["memory.bandwidth", "memory.latency", "memory.level.latency"] {
        assert!(run.figures.iter().any(|figure| figure.name == name), "{name}");
    }
    let shown = Invocation::new().with(["runs", "--out"]).with([out.path()]);
    let shown = shown.with(["show", &run.id]).run();
    assert!(shown.stdout.contains("Memory by working set"), "{}", shown.stdout);
    assert!(shown.stdout.contains("Levels that the latencies show"), "{}", shown.stdout);

    let again = memory(out.path(), &["--resume", &run.id]).run();
    again.refused(&["--resume", &run.id, "it is complete"]);
}

#[test]
fn a_probe_that_was_cut_short_goes_on_with_its_samples() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let probe = memory(out.path(), &["--budget", "20s"]).start();
    probe.until_busy(WELL_UNDER_WAY);
    probe.signal(Signal::SIGINT);
    let ended = probe.end();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    let partial = ended.record();
    assert!(!partial.complete && samples(&partial) > 0);

    let whole = sound(&memory(out.path(), &["--resume", &partial.id]).run());
    assert_eq!((&whole.id, &whole.started), (&partial.id, &partial.started));
    assert!(samples(&whole) > samples(&partial));
    for series in &partial.series {
        let now = whole.series(&series.name, &series.labels).unwrap();
        assert_eq!(now.samples[..series.samples.len()], series.samples[..], "{}", series.name);
    }
}

#[test]
fn what_is_no_probe_is_not_gone_on_with() {
    let out = tempfile::tempdir().unwrap();
    let nothing = memory(out.path(), &["--resume", "2026"]).run();
    nothing.refused(&["0 records", "2026"]);
    let budget = memory(out.path(), &["--budget", "0s"]).run();
    budget.refused(&["--budget", "between 1 s"]);
}
