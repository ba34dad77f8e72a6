//! `bitpath sweep`: a table over a grid, the same whether or not it was interrupted.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;

use crate::invocation::{Ended, Invocation, Started, in_workspace, names};
use crate::processes;
use crate::turns::beside_others;

/// Twenty points, each of which takes a noticeable time.
const GRID: [&str; 4] = [
    "--vary",
    "pipeline.stage.kernel.slots=20..400:log10",
    "--vary",
    "pipeline.stage.user.slots=16,32",
];

fn sweep(out: &Path, arguments: &[&str]) -> Invocation {
    let file = in_workspace("scenarios/p3.toml");
    Invocation::new().with(["sweep", "--out"]).with([out]).with([file]).with(arguments)
}

fn finished(out: &Path, arguments: &[&str]) -> Ended {
    let ended = sweep(out, arguments).run();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.left, [""; 0]);
    ended
}

/// Starts the sweep and waits until some of its points are kept.
fn under_way(out: &Path) -> Started {
    let started = sweep(out, &GRID).start();
    let points = out.join("points.jsonl");
    processes::until("some points", || {
        let lines = fs::read(&points).map_or(0, |text| text.split(|byte| *byte == b'\n').count());
        (lines > 4).then_some(())
    });
    started
}

#[test]
fn every_combination_is_in_the_table_and_the_files() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    let few = ["--set", "pipeline.packets=2000"];
    let ended = finished(out.path(), &[&GRID[..], &few].concat());
    assert!(ended.stdout.starts_with("20 points; the highest throughput is "), "{}", ended.stdout);
    let files = ["loss.svg", "points.jsonl", "sweep.csv", "sweep.parquet", "throughput.svg"];
    assert_eq!(names(out.path()), files);
    let csv = fs::read_to_string(out.path().join("sweep.csv")).unwrap();
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(header.starts_with("pipeline.stage.kernel.slots [count],pipeline.stage.user.slots"));
    assert!(header.contains(",loss [ratio],throughput [packets/s]"), "{header}");
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), 20);
    assert!(rows[0].starts_with("20,16,") && rows[19].starts_with("400,32,"), "{csv}");
    let picture = fs::read_to_string(out.path().join("throughput.svg")).unwrap();
    assert!(picture.contains("pipeline.stage.user.slots 16: 10 points"), "{picture}");
    assert_eq!(&fs::read(out.path().join("sweep.parquet")).unwrap()[..4], b"PAR1");
}

#[test]
fn a_sweep_killed_in_its_midst_is_gone_on_with_to_the_same_table() {
    let _turn = beside_others();
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let started = under_way(killed.path());
    started.signal(Signal::SIGKILL);
    assert_eq!(started.end().code, 137);
    let kept = fs::read(killed.path().join("points.jsonl")).unwrap();
    let newlines = kept.iter().filter(|byte| **byte == b'\n').count();
    assert!((4..=20).contains(&newlines), "killed in its midst: {newlines} lines");
    let again = finished(killed.path(), &[&GRID[..], &["--resume"]].concat());
    let at_once = finished(whole.path(), &GRID);
    assert_eq!(again.stdout, at_once.stdout);
    for file in ["sweep.csv", "sweep.parquet", "throughput.svg", "loss.svg"] {
        let read = |folder: &Path| fs::read(folder.join(file)).unwrap();
        assert!(read(killed.path()) == read(whole.path()), "{file} differs");
    }
    // What was kept is still there: the points went on behind it.
    let whole_lines = kept.iter().rposition(|byte| *byte == b'\n').unwrap();
    let points = fs::read(killed.path().join("points.jsonl")).unwrap();
    assert_eq!(points[..whole_lines], kept[..whole_lines]);
}

#[test]
fn ctrl_c_leaves_points_to_go_on_with() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    let started = under_way(out.path());
    started.signal_group(Signal::SIGINT);
    let ended = started.end();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("of 20 points are kept in"), "{}", ended.stderr);
    assert!(ended.stderr.contains("--resume"), "{}", ended.stderr);
    finished(out.path(), &[&GRID[..], &["--resume"]].concat());
}

#[test]
fn points_of_another_sweep_are_not_gone_on_with() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    let small = ["--set", "pipeline.packets=100", "--vary", "seed=1,2"];
    finished(out.path(), &small);
    sweep(out.path(), &small).run().refused(&["points.jsonl holds points already", "--resume"]);
    for (arguments, word) in [
        (["--set", "pipeline.packets=200", "--vary", "seed=1,2"], "another scenario"),
        (["--set", "pipeline.packets=100", "--vary", "seed=1,3"], "another grid of values"),
    ] {
        let ended = sweep(out.path(), &[&arguments[..], &["--resume"]].concat()).run();
        ended.refused(&["points.jsonl cannot be gone on with", word]);
    }
}

#[test]
fn a_grid_that_cannot_be_simulated_is_refused_before_it_begins() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (arguments, words) in [
        (&["--vary", "seed=1..9"][..], &["does not say its spacing", "key=a..b:logN"][..]),
        (&["--vary", "pipeline.packets=0,1"], &["pipeline.packets=0", "allowed are 1 to"]),
        (&["--vary", "pipeline.pakets=1"], &["`pakets`", "pipeline.packets"]),
        (
            &["--vary", "seed=1..2000:lin2000", "--vary", "pipeline.packets=1..2000:lin2000"],
            &["at most 1000000 points", "4000000"],
        ),
        (&[], &["--vary <KEY=VALUES>"]),
    ] {
        sweep(&out, arguments).run().refused(words);
        assert!(!out.exists());
    }
}
