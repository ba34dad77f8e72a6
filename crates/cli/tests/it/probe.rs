//! The parts of the probe: their records, and how one that was cut short is gone on with.

use std::path::Path;

use bitpath_measure::Run;
use nix::sys::signal::Signal;

use crate::invocation::Invocation;
use crate::turns::alone;

/// Processor time after which the facts are read and samples are taken [clock ticks]: two seconds.
const WELL_UNDER_WAY: u64 = 200;

fn probe(part: &str, out: &Path, arguments: &[&str]) -> Invocation {
    Invocation::new().with(["probe", part, "--json", "--out"]).with([out]).with(arguments)
}

/// Samples of all series of a record.
fn samples(run: &Run) -> usize {
    run.series.iter().map(|series| series.samples.len()).sum()
}

#[test]
fn the_memory_curve_is_a_record_with_its_levels() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let run = probe("memory", out.path(), &["--budget", "8s"]).run().sound();
    for name in ["memory.bandwidth", "memory.latency", "memory.level.latency"] {
        assert!(run.figures.iter().any(|figure| figure.name == name), "{name}");
    }
    let shown = Invocation::new().with(["runs", "--out"]).with([out.path()]);
    let shown = shown.with(["show", &run.id]).run();
    assert!(shown.stdout.contains("Memory by working set"), "{}", shown.stdout);
    assert!(shown.stdout.contains("Levels that the latencies show"), "{}", shown.stdout);

    let again = probe("memory", out.path(), &["--resume", &run.id]).run();
    again.refused(&["--resume", &run.id, "it is complete"]);
}

#[test]
fn a_probe_that_was_cut_short_goes_on_with_its_samples() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let started = probe("clock", out.path(), &["--budget", "15s"]).start();
    started.until_busy(WELL_UNDER_WAY);
    started.signal(Signal::SIGINT);
    let ended = started.end();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    let partial = ended.record();
    assert!(!partial.complete && samples(&partial) > 0);

    let whole = probe("clock", out.path(), &["--resume", &partial.id]).run().sound();
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
    let nothing = probe("memory", out.path(), &["--resume", "2026"]).run();
    nothing.refused(&["0 records", "2026"]);
    let budget = probe("memory", out.path(), &["--budget", "0s"]).run();
    budget.refused(&["--budget", "between 1 s"]);
}
