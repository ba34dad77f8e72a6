//! Simulations that would take for ever: refused at once, with how large they are and what to do.

use std::fs;

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::turns::beside_others;

/// A trillion packets: the most that a scenario may ask for.
const TRILLION: [&str; 2] = ["--set", "pipeline.packets=1000000000000"];

fn p3(tool: &str, arguments: &[&str]) -> Ended {
    let file = in_workspace("scenarios/p3.toml");
    Invocation::new().with([tool]).with([file]).with(arguments).run()
}

#[test]
fn a_trillion_packets_are_refused_at_once_with_the_ways_out() {
    let _turn = beside_others();
    let words = ["p3.toml", "about 1,000,000,000,000 packets", "--limit 1e12", "--limit none"];
    let others = ["pipeline.packets"];
    for engine in ["exact", "events"] {
        let ended = p3("simulate", &[&TRILLION[..], &["--engine", engine]].concat());
        ended.refused(&words);
        ended.refused(&others);
    }
    p3("compare", &TRILLION).refused(&words);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let vary = ["--vary", "pipeline.packets=1000,1000000000000", "--out", out];
    p3("sweep", &vary).refused(&["p3.toml, pipeline.packets=1000000000000: this is about"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // The bound looks at no packet.
    let bound = p3("simulate", &[&TRILLION[..], &["--engine", "closed-form"]].concat());
    assert_eq!(bound.code, 0, "{}", bound.stderr);
}

#[test]
fn a_machine_that_runs_for_a_day_is_refused_at_once() {
    let _turn = beside_others();
    let file = in_workspace("scenarios/ten-gigabit-tcp.toml");
    let day = ["--set", "machine.duration=86400 s"];
    let run = |limit: &[&str]| {
        Invocation::new().with(["simulate"]).with([&file]).with(day).with(limit).run()
    };
    // Ten gigabits a second fill 813 thousand frames of 1538 B.
    run(&[]).refused(&["ten-gigabit-tcp.toml: this is about 70,200,000,000 packets, about"]);
    run(&["--limit", "10G"]).refused(&[
        "machine.duration asks for about 70,200,000,000 packets, more than --limit 1e10",
    ]);
}

#[test]
fn a_limit_accepts_what_is_within_it() {
    let _turn = beside_others();
    for (limit, code) in [("1e6", 0), ("1M", 0), ("none", 0), ("999_999", 2), ("999k", 2)] {
        let ended = p3("simulate", &["--limit", limit]);
        assert_eq!(ended.code, code, "{limit}: {}", ended.stderr);
    }
    p3("simulate", &["--limit", "999k"])
        .refused(&["pipeline.packets asks for about 1,000,000 packets", "--limit 9.99e5"]);
    p3("simulate", &["--limit", "lots"]).refused(&["`lots` is no number of packets", "10G"]);
    let twice = ["--set", "pipeline.stage.user.distribution=exponential", "--limit", "2M"];
    assert_eq!(p3("compare", &[&twice[..], &["--replications", "2"]].concat()).code, 0);
    p3("compare", &[&twice[..], &["--replications", "3"]].concat())
        .refused(&["about 3,000,000 packets"]);
}
