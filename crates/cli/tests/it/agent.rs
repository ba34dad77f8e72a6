//! The stack's part of the probe, here and with an agent: its record, and what becomes of it when the
//! peer is not there or goes.

use std::path::Path;

use bitpath_measure::{Pitfall, Run};
use nix::sys::signal::Signal;

use crate::invocation::{Ended, Invocation, Started};
use crate::turns::{alone, beside_others};

/// Processor time after which an agent is in the midst of flows [clock ticks]: half a second.
const WELL_UNDER_WAY: u64 = 50;

/// An agent at a free port, and its address.
fn agent() -> (Started, String) {
    let mut agent = Invocation::new().with(["agent", "--listen", "127.0.0.1:0"]).start();
    let said = agent.says();
    let address = said.strip_prefix("listening at ").unwrap().to_owned();
    (agent, address)
}

fn stack(out: &Path, budget: &str, peer: Option<&str>) -> Invocation {
    let probe = Invocation::new().with(["probe", "stack", "--json", "--budget", budget, "--out"]);
    let probe = probe.with([out]);
    match peer {
        Some(address) => probe.with(["--peer", address]),
        None => probe,
    }
}

fn has(run: &Run, name: &str, way: &str) -> bool {
    run.figures.iter().any(|figure| {
        figure.name == name && figure.labels.get("way").is_some_and(|found| found == way)
    })
}

/// An error ended the probe: it is shown, and the record says so.
#[track_caller]
fn stopped(ended: &Ended, words: &[&str]) -> Run {
    assert_eq!((ended.code, ended.left.as_slice()), (1, [].as_slice()), "{}", ended.stderr);
    let run = ended.record();
    let said = run.pitfalls.iter().find_map(|doubt| match doubt {
        Pitfall::Stopped { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    for word in words {
        assert!(ended.stderr.contains(word), "no `{word}` in: {}", ended.stderr);
        assert!(said.is_some_and(|reason| reason.contains(word)), "no `{word}` in: {said:?}");
    }
    assert!(!run.complete);
    assert_eq!(run.unsupported_figures(), [""; 0]);
    run
}

#[test]
fn a_probe_of_the_stack_is_a_record_and_a_report() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let ended = stack(out.path(), "20s", None).run();
    assert_eq!((ended.code, ended.left.as_slice()), (0, [].as_slice()), "{}", ended.stderr);
    let run = ended.record();
    assert!(run.complete && run.unsupported_figures().is_empty());
    let names = ["stack.throughput", "stack.latency", "stack.processing_power"];
    for name in names.into_iter().chain(["stack.theoretical_maximum"]) {
        assert!(has(&run, name, "loopback"), "{name}");
    }
    let shown = Invocation::new().with(["runs", "--out"]).with([out.path()]);
    let shown = shown.with(["show", &run.id]).run();
    for words in ["The stack: UDP and TCP flows", "By message size", "Packets of one byte"] {
        assert!(shown.stdout.contains(words), "{}", shown.stdout);
    }
    let widest = shown.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}");
}

#[test]
fn flows_to_an_agent_stand_beside_those_over_loopback() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let (remote, address) = agent();
    let ended = stack(out.path(), "12s", Some(&address)).run();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run = ended.record();
    for way in ["loopback", "peer"] {
        assert!(has(&run, "stack.throughput", way) && !has(&run, "stack.throughput", "veth"));
    }
    remote.signal(Signal::SIGTERM);
    assert_eq!(remote.end().code, 0);
}

#[test]
fn a_peer_that_is_not_there_is_named_and_the_record_says_so() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    let (remote, address) = agent();
    remote.signal(Signal::SIGINT);
    assert_eq!(remote.end().code, 0);
    let ended = stack(out.path(), "5s", Some(&address)).run();
    stopped(&ended, &[&address, "cannot be reached", "refused"]);
}

#[test]
fn a_peer_that_goes_in_the_middle_leaves_what_was_measured() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let (remote, address) = agent();
    let probe = stack(out.path(), "60s", Some(&address)).start();
    remote.until_busy(WELL_UNDER_WAY);
    remote.signal(Signal::SIGKILL);
    remote.end();
    let run = stopped(&probe.end(), &[&address, "is gone"]);
    assert!(has(&run, "stack.throughput", "peer"));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let _turn = beside_others();
    let (remote, address) = agent();
    let second = Invocation::new().with(["agent", "--listen", &address]).run();
    assert_eq!((second.code, second.stdout.as_str()), (1, ""));
    assert!(
        second.stderr.contains(&address) && second.stderr.contains("in use"),
        "{}",
        second.stderr
    );
    remote.signal(Signal::SIGINT);
    assert_eq!(remote.end().code, 0);
}
