//! Records and profiles of measurements: held against each other, and merged.

use std::fs;
use std::path::Path;

use bitpath_measure::series::labels;
use bitpath_measure::{Method, Run, Sample, Series, Unit};

use crate::invocation::{Ended, Invocation, in_workspace, names};
use crate::turns::beside_others;

/// A record of a latency with these samples, in a folder.
fn record(folder: &Path, id: &str, tool: &str, values: &[f64]) -> Run {
    let mut run = Run::begin(tool, id, "2026-01-01T00:00:00Z", 0);
    let of = labels([("pages", "huge"), ("working_set_bytes", "4096")]);
    let mut series = Series::new("memory.latency", of, Unit::Nanoseconds);
    series.samples = values.iter().map(|value| Sample::computed(*value)).collect();
    run.record(series, Method::MedianBlockBootstrap);
    run.complete = true;
    fs::write(folder.join(format!("{id}.json")), serde_json::to_string(&run).unwrap()).unwrap();
    run
}

fn compare(a: &Path, b: &Path) -> Ended {
    Invocation::new().with(["compare"]).with([a, b]).run()
}

fn merge(out: &Path, ids: &[&str]) -> Ended {
    Invocation::new().with(["runs", "--out"]).with([out]).with(["merge"]).with(ids).run()
}

#[test]
fn two_records_are_held_against_each_other() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    record(out.path(), "a", "probe", &[1.0, 1.1, 0.9, 1.05, 0.95, 1.02]);
    record(out.path(), "b", "probe", &[1.0, 1.2, 0.8, 1.07, 0.91, 1.01]);
    let ended = compare(&out.path().join("a.json"), &out.path().join("b.json"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("1 of 1 figures of A and B agree"), "{}", ended.stdout);
}

#[test]
fn two_profiles_are_held_against_each_other_and_a_scenario_is_not() {
    let _turn = beside_others();
    let diablo = in_workspace("data/hosts/diablo.toml");
    let stealth = in_workspace("data/hosts/stealth.toml");
    let ended = Invocation::new().with(["compare", "--json"]).with([&diablo, &stealth]).run();
    let run = ended.record();
    assert_eq!((run.tool.as_str(), ended.code), ("agreement", 0));
    for side in ["A", "B"] {
        assert!(run.figure("cpu.clock", &labels([("scenario", side)])).is_some(), "{side}");
    }
    compare(&diablo, &in_workspace("scenarios/p3.toml")).refused(&["one is a scenario"]);
    let set = Invocation::new().with(["compare"]).with([&diablo, &stealth]);
    set.with(["--set", "cpu.cores=2"]).run().refused(&["--set cpu.cores=2", "is a measurement"]);
}

#[test]
fn repeated_runs_become_one_record_with_all_their_samples() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    let a = record(out.path(), "a", "probe", &[1.0, 2.0, 3.0]);
    let b = record(out.path(), "b", "probe", &[4.0, 5.0]);
    let ended = merge(out.path(), &["a", "b"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let files = names(out.path());
    assert_eq!(files, ["a-merged.html", "a-merged.json", "a.json", "b.json"]);
    let text = fs::read_to_string(out.path().join("a-merged.json")).unwrap();
    let merged: Run = serde_json::from_str(&text).unwrap();
    let samples = [a.series[0].samples.clone(), b.series[0].samples.clone()].concat();
    assert_eq!(merged.series[0].samples, samples);
    assert_eq!(merged.unsupported_figures(), [""; 0]);
}

#[test]
fn runs_of_different_experiments_are_not_merged() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    record(out.path(), "a", "probe", &[1.0]);
    record(out.path(), "b", "study", &[1.0]);
    merge(out.path(), &["a", "b"]).refused(&["the tool is probe in the one and study"]);
    merge(out.path(), &["a", "a"]).refused(&["record a was given twice"]);
    merge(out.path(), &["a", "c"]).refused(&["0 records", "`c`"]);
    assert_eq!(names(out.path()), ["a.json", "b.json"]);
}
