//! `bitpath tune`: the record of a knob that was turned, what is refused, and that nothing is left
//! changed, however it ends.

use std::path::Path;

use bitpath_measure::{Pitfall, Run};
use bitpath_platform::namespace::can_make_namespaces;
use nix::sys::signal::Signal;

use crate::invocation::{Invocation, Started, names};
use crate::processes;
use crate::rights::skipped;
use crate::turns::{alone, beside_others};

const VERDICTS: [&str; 4] = ["better", "worse", "no difference", "undecided"];

fn tune(knob: &str, out: &Path, others: &[&str]) -> Invocation {
    Invocation::new().with(["tune", knob, "--json", "--out"]).with([out]).with(others)
}

/// Whether interfaces of a path of our own can be changed; says why not.
fn possible(test: &str) -> bool {
    let possible = can_make_namespaces();
    if let Err(error) = &possible {
        skipped(test, &error.to_string());
    }
    possible.is_ok()
}

/// The record has every value's samples, the ratios of pairs, and a verdict for each that was looked at.
#[track_caller]
fn sound(run: &Run, quantities: &[&str], values: usize) {
    assert_eq!(run.unsupported_figures(), [""; 0]);
    for quantity in quantities {
        let name = format!("tune.{quantity}");
        let samples = run.series.iter().filter(|series| series.name == name);
        let samples: Vec<usize> = samples.map(|series| series.samples.len()).collect();
        assert!(samples.len() == values && samples.iter().all(|blocks| *blocks == samples[0]));
        let of_quantity = |labels: &bitpath_measure::Labels| labels["quantity"] == *quantity;
        let ratios =
            run.series.iter().filter(|one| one.name == "tune.ratio" && of_quantity(&one.labels));
        assert_eq!(ratios.filter(|one| one.samples.len() == samples[0]).count(), values - 1);
        let effects =
            run.figures.iter().filter(|one| one.name == "tune.effect" && of_quantity(&one.labels));
        let verdicts: Vec<&str> = effects.map(|one| one.labels["verdict"].as_str()).collect();
        assert!(verdicts.iter().all(|verdict| VERDICTS.contains(verdict)), "{verdicts:?}");
        // A slow machine may have no time for a look; then the record says so.
        let few = |doubt: &Pitfall| matches!(doubt, Pitfall::SmallSample { what, .. } if what.starts_with(quantity));
        assert!(verdicts.len() == values - 1 || run.pitfalls.iter().any(few), "{verdicts:?}");
    }
    let sentences = &run.answer.as_ref().unwrap().sentences;
    assert!(sentences[1].starts_with("Rule "), "{sentences:?}");
}

#[test]
fn equal_values_are_compared_in_a_sound_record_and_nothing_is_left() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let interfaces = names("/sys/class/net".as_ref());
    let ended = tune("message_bytes=64KiB,65536", out.path(), &["--budget", "5s"]).run();
    assert_eq!((ended.code, ended.left.len()), (0, 0), "{} {:?}", ended.stderr, ended.left);
    let run = ended.record();
    assert!(run.complete && run.environment.is_some());
    sound(&run, &["cost", "throughput"], 2);
    assert_eq!(names(out.path()), [format!("{}.html", run.id), format!("{}.json", run.id)]);
    assert_eq!(names("/sys/class/net".as_ref()), interfaces);
}

#[test]
fn every_measure_has_its_quantities() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    for (measure, quantities) in [
        ("probe.stack.udp", &["cost", "throughput"][..]),
        ("probe.stack.latency", &["latency"]),
        ("probe.memory.copy", &["bandwidth"]),
    ] {
        let asked = ["--budget", "4s", "--measure", measure];
        let ended = tune("message_bytes=64,1448,8KiB", out.path(), &asked).run();
        assert_eq!((ended.code, ended.left.len()), (0, 0), "{measure}: {}", ended.stderr);
        sound(&ended.record(), quantities, 3);
    }
}

#[test]
fn every_knob_of_a_stream_can_be_turned() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    for knob in
        ["streams=1,2", "copy_path=send,sendfile", "busy_poll_us=0,0", "SO_SNDBUF=64KiB,1MiB"]
    {
        let ended = tune(knob, out.path(), &["--budget", "3s"]).run();
        assert_eq!((ended.code, ended.left.len()), (0, 0), "{knob}: {}", ended.stderr);
        sound(&ended.record(), &["cost", "throughput"], 2);
    }
}

fn keepers(started: &Started) -> Vec<i32> {
    started.helpers("keeper").iter().map(|process| process.pid).collect()
}

/// A tune of an interface's setting, well under way.
fn turning(out: &Path) -> (Started, Vec<i32>) {
    let started = tune("gro=off,on", out, &["--budget", "60s", "--margin", "0.1%"]).start();
    let keepers = processes::until("the keeper to be started", || {
        Some(keepers(&started)).filter(|keepers| !keepers.is_empty())
    });
    (started, keepers)
}

#[test]
fn a_signal_ends_a_tune_with_a_partial_record_and_its_keeper_with_it() {
    let test = "a_signal_ends_a_tune_with_a_partial_record_and_its_keeper_with_it";
    if !possible(test) {
        return;
    }
    let _turn = alone();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let out = tempfile::tempdir().unwrap();
        let (started, _) = turning(out.path());
        started.signal_group(signal);
        let ended = started.end();
        assert_eq!((ended.code, ended.left.len()), (130, 0), "{}", ended.stderr);
        let run = ended.record();
        let interrupted = |doubt: &Pitfall| matches!(doubt, Pitfall::Interrupted { .. });
        assert!(!run.complete && run.pitfalls.iter().any(interrupted));
        assert_eq!(names(out.path()).len(), 2);
    }
}

#[test]
fn the_keeper_of_a_killed_tune_ends_when_it_has_put_everything_back() {
    if !possible("the_keeper_of_a_killed_tune_ends_when_it_has_put_everything_back") {
        return;
    }
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let (started, keepers) = turning(out.path());
    started.signal(Signal::SIGKILL);
    processes::until("the keeper to be gone", || {
        keepers.iter().all(|keeper| processes::gone(*keeper)).then_some(())
    });
    assert_eq!(started.end().code, 137);
}

#[test]
fn what_the_driver_refuses_is_named_with_the_interface() {
    if !possible("what_the_driver_refuses_is_named_with_the_interface") {
        return;
    }
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    for knob in ["rx_ring=64,128", "rx_usecs=0,50"] {
        let ended = tune(knob, out.path(), &[]).run();
        let name = knob.split('=').next().unwrap();
        let expected = format!("bitpath: {name} of bitpath0: its driver does not support it");
        assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
        assert_eq!((ended.code, ended.stdout.as_str(), ended.left.len()), (1, "", 0));
        assert_eq!(names(out.path()), [""; 0]);
    }
}

#[test]
fn mistakes_are_refused_by_name() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    for (knob, others, words) in [
        ("colour=red,blue", &[][..], &["colour=red,blue", "there are message_bytes"][..]),
        ("message_bytes=64", &[], &["2 to 8 values"]),
        ("message_bytes=64,1TiB", &[], &["`1TiB`", "1 B to 4 MiB"]),
        ("gro=on,off", &["--measure", "probe.colour"], &["probe.colour", "probe.stack.tcp"]),
        ("gro=on,off", &["--measure", "probe.memory.copy"], &["gro=on", "it does nothing to"]),
        ("affinity=0:0,0:1023", &[], &["affinity=0:1023", "processor 1023 is not one of"]),
        ("gro=on,off", &["--set", "message_bytes=0"], &["`0` is no value of message_bytes"]),
        ("copy_path=send,carry", &[], &["`carry`", "send, sendfile, splice, zerocopy"]),
        ("gro=on,off", &["--budget", "0s"], &["a budget is between"]),
        ("gro=on,off", &["--margin", "5"], &["a number of per cent"]),
    ] {
        tune(knob, out.path(), others).run().refused(words);
    }
}
