//! `bitpath simulate`: a scenario file in, the same record out every time.

use std::fs;

use bitpath_measure::series::labels;
use bitpath_measure::{ByteCount, Picos, Run};
use bitpath_sim::host::HostScenario;
use bitpath_sim::job::Job;
use bitpath_sim::link::Link;
use bitpath_sim::profile::{HostProfile, Transport};
use bitpath_sim::scenario::{Scenario, Subject};

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::turns::beside_others;

/// Half a second of raw data over UDP on a host of round figures, as a scenario file.
pub(crate) fn host_scenario() -> String {
    let host: HostProfile =
        toml::from_str(include_str!("../../../sim/tests/round-host.toml")).unwrap();
    let job = Job::raw(
        "raw-udp",
        Transport::Udp,
        ByteCount(1000),
        ByteCount(425_984),
        Picos(500_000_000_000),
    );
    let link = Link { queue: ByteCount(1 << 20), ..Link::default() };
    let scenario = HostScenario { host, job, link, interval: Picos(100_000_000_000) };
    let subject = Subject::Host(Box::new(scenario));
    Scenario { title: "round".into(), seed: 1, subject }.write().unwrap()
}

fn simulated(arguments: &[&str]) -> Ended {
    let ended = Invocation::new().with(["simulate"]).with(arguments).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.left, [""; 0]);
    ended
}

fn value(run: &Run, name: &str) -> f64 {
    run.figure(name, &labels([])).unwrap_or_else(|| panic!("no {name}")).estimate.value
}

#[test]
fn every_engine_that_counts_finds_the_golden_counts() {
    let _turn = beside_others();
    let p3 = in_workspace("scenarios/p3.toml");
    let p3 = p3.to_str().unwrap();
    for (arguments, engine) in [
        (&[p3, "--json"][..], "exact"),
        (&[p3, "--json", "--engine", "exact"], "exact"),
        (&[p3, "--json", "--engine", "events"], "events"),
    ] {
        let run = simulated(arguments).record();
        let counts = ["offered", "delivered", "dropped.nic", "dropped.kernel", "dropped.user"];
        assert_eq!(
            counts.map(|name| value(&run, name)),
            [1_000_000.0, 795_771.0, 0.0, 204_229.0, 0.0]
        );
        assert!(run.figures.iter().all(|figure| figure.labels["engine"] == engine));
        assert!(run.complete && run.environment.is_none());
        assert_eq!(run.documents[0].text, fs::read_to_string(p3).unwrap());
    }
}

#[test]
fn the_closed_form_names_the_stage_that_binds() {
    let _turn = beside_others();
    let p3 = in_workspace("scenarios/p3.toml");
    let run = simulated(&[p3.to_str().unwrap(), "--json", "--engine", "closed-form"]).record();
    assert_eq!(run.figures.len(), 1);
    // A packet every 1300 ns.
    let bound = value(&run, "throughput.bound.kernel");
    assert!((bound * 1300e-9 - 1.0).abs() < 1e-9, "{bound}");
}

#[test]
fn two_simulations_print_the_same_bytes() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let host = folder.path().join("host.toml");
    fs::write(&host, host_scenario()).unwrap();
    for file in [in_workspace("scenarios/p3.toml"), host] {
        for engine in [&[][..], &["--engine", "events"], &["--engine", "closed-form"]] {
            let arguments = [&[file.to_str().unwrap(), "--json"], engine].concat();
            assert_eq!(simulated(&arguments).stdout, simulated(&arguments).stdout);
        }
    }
}

#[test]
fn a_job_on_a_host_is_simulated_by_events_and_bounded_in_closed_form() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.toml");
    fs::write(&file, host_scenario()).unwrap();
    let file = file.to_str().unwrap();
    let run = simulated(&[file, "--json"]).record();
    // A message every 3 us for half a second, and the last call that began in time.
    let counts = ["sent", "received", "dropped.link", "dropped.kernel_buffer"];
    assert_eq!(counts.map(|name| value(&run, name)), [166_667.0, 166_667.0, 0.0, 0.0]);
    assert_eq!(value(&run, "sender.load"), 1.0);
    let courses: Vec<&str> = run.timelines.iter().map(|course| course.name.as_str()).collect();
    assert_eq!(courses, ["kernel_buffer.used", "user_buffer.used", "receiver.load"]);

    let bound = simulated(&[file, "--json", "--engine", "closed-form"]).record();
    assert!((value(&bound, "throughput.bound.sender") / (8000.0 / 3e-6) - 1.0).abs() < 1e-9);
}

#[test]
fn an_engine_that_does_not_apply_says_why_and_which_does() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.toml");
    fs::write(&file, host_scenario()).unwrap();
    let ended = Invocation::new().with(["simulate", "--engine", "exact"]).with([&file]).run();
    ended.refused(&["does not apply to a job on a host", "waking the receiver", "--engine events"]);
    let ended = Invocation::new().with(["simulate", "--engine", "wheel"]).with([&file]).run();
    ended.refused(&["`wheel` is no engine: allowed are closed-form, exact, events"]);
}

#[test]
fn a_trace_holds_a_track_for_each_component_and_an_instant_for_each_drop() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let scenario = in_workspace("scenarios/mpeg-sw.toml");
    // A tenth of the buffer, so that datagrams are lost.
    let small = "machine.flow.film.receive_buffer=6 KiB";
    let arguments = ["simulate", "--json", "--set", small, "--trace"];
    let ended = Invocation::new().with(arguments).with([&trace, &scenario]).run();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run = ended.record();
    let written: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&trace).unwrap()).unwrap();
    let events = written["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    let points: usize = run.timelines.iter().map(|timeline| timeline.points.len()).sum();
    assert_eq!((of("C"), of("i")), (points, run.events.len()));
    assert!(of("i") > 0 && of("C") > 0);
    for event in events {
        let is_number = |key: &str| event[key].is_number();
        assert!(event["name"].is_string() && is_number("pid") && is_number("tid"), "{event}");
        let is_metadata = event["ph"] == "M";
        assert!(is_metadata || event["ts"].as_f64().is_some_and(|ts| ts >= 0.0), "{event}");
        assert!(event["ph"] != "C" || event["args"]["value"].is_number(), "{event}");
        assert!(event["ph"] != "i" || event["s"] == "p", "{event}");
    }
    let summary = format!(
        "trace {}: {points} counter points on {} tracks, {} instants, from 0 to ",
        trace.display(),
        run.timelines.len(),
        run.events.len()
    );
    assert!(ended.stderr.starts_with(&summary), "{}", ended.stderr);
    let lost = value(&run, "dropped.kernel_buffer");
    let drops = run.events.iter().filter(|event| event.name == "drop").count();
    assert_eq!(drops as f64, lost);
}
