//! Ctrl-C keeps what was measured; nothing survives the program, not even its sudden death.

use std::fs;
use std::path::Path;

use bitpath_measure::{Pitfall, Run};
use nix::sys::signal::Signal;

use crate::invocation::{Ended, Invocation, Started, names};
use crate::processes::{self, Process};
use crate::turns::alone;

/// Processor time after which workers are in the midst of the probe [clock ticks]: a second.
const WELL_UNDER_WAY: u64 = 100;

/// A partial record was printed and kept, and nothing is left.
#[track_caller]
fn partial(ended: &Ended, out: &Path) -> Run {
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert_eq!(ended.left, [""; 0]);
    let run = ended.record();
    assert!(!run.complete && run.environment.is_some());
    let interrupted = |doubt: &&Pitfall| matches!(doubt, Pitfall::Interrupted { .. });
    assert_eq!(run.pitfalls.iter().filter(interrupted).count(), 1);
    assert!(run.steps.iter().any(|step| step.name == "the test bed"));
    assert_eq!(run.unsupported_figures(), [""; 0]);
    let id = &run.id;
    assert_eq!(names(out), [format!("{id}.html"), format!("{id}.json")]);
    let kept = fs::read_to_string(out.join(format!("{id}.json"))).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&kept).unwrap(), run);
    let page = fs::read_to_string(out.join(format!("{id}.html"))).unwrap();
    assert!(page.contains("Partial record"));
    run
}

fn started(out: &Path) -> Started {
    Invocation::new().quick("study", out).start()
}

fn under_way(workers: &[Process]) -> bool {
    workers.iter().all(|worker| worker.ticks >= WELL_UNDER_WAY)
}

#[test]
fn ctrl_c_in_a_study_keeps_what_was_measured() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let study = started(out.path());
    study.until_workers(under_way);
    study.signal_group(Signal::SIGINT);
    let run = partial(&study.end(), out.path());
    assert!(run.series.iter().any(|series| series.name == "stack.cost"));
    let shown = Invocation::new().with(["runs", "--out"]).with([out.path()]);
    let shown = shown.with(["show", &run.id]).run();
    assert!(shown.code == 0 && shown.stdout.starts_with("Partial record"), "{}", shown.stdout);
    let picture = Invocation::new().with(["runs", "--out"]).with([out.path()]);
    let picture = picture.with(["export", &run.id, "--form", "picture"]).run();
    picture.refused(&[&run.id, "holds no predictions"]);
}

#[test]
fn ctrl_c_while_the_test_bed_is_built_leaves_a_record_too() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let study = started(out.path());
    study.until_workers(|_| true);
    study.signal_group(Signal::SIGINT);
    partial(&study.end(), out.path());
}

#[test]
fn a_polite_request_to_end_is_as_good_as_ctrl_c() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let study = started(out.path());
    study.until_workers(under_way);
    study.signal(Signal::SIGTERM);
    partial(&study.end(), out.path());
}

#[test]
fn workers_die_with_a_killed_study() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let study = started(out.path());
    let workers = study.until_workers(under_way);
    study.signal(Signal::SIGKILL);
    processes::until("the workers to be gone", || {
        workers.iter().all(|worker| processes::gone(worker.pid)).then_some(())
    });
    let ended = study.end();
    assert_eq!((ended.code, ended.stdout.as_str()), (137, ""));
    assert_eq!(names(out.path()), [""; 0]);
}

#[test]
fn a_killed_worker_ends_the_study_with_its_name() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let study = started(out.path());
    let workers = study.until_workers(under_way);
    processes::kill(workers[0].pid);
    let ended = study.end();
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("worker") && ended.stderr.contains("signal: 9"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.left, [""; 0]);
}
