//! `bitpath simulate` with settings, questions and replications.

use std::fs;

use bitpath_measure::run::RemedyOutcome;
use bitpath_measure::series::labels;
use bitpath_sim::scenario::{Scenario, Subject};

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::simulate::host_scenario;
use crate::turns::beside_others;

fn p3(arguments: &[&str]) -> Ended {
    let file = in_workspace("scenarios/p3.toml");
    Invocation::new().with(["simulate"]).with([file]).with(arguments).run()
}

fn host(arguments: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host.toml");
    fs::write(&file, host_scenario()).unwrap();
    Invocation::new().with(["simulate"]).with([file]).with(arguments).run()
}

#[test]
fn a_setting_replaces_a_value_and_the_record_holds_the_scenario_as_it_ran() {
    let _turn = beside_others();
    for key in ["pipeline.stage.1.slots", "pipeline.stage.kernel.slots"] {
        let run = p3(&["--json", "--set", &format!("{key}=280"), "--set", "seed=3"]).record();
        let dropped = run.figure("dropped.kernel", &labels([])).unwrap().estimate.value;
        assert!(dropped > 0.0 && dropped < 204_229.0, "{dropped}");
        let scenario = Scenario::parse(&run.documents[0].text).unwrap();
        let Subject::Pipeline(pipeline) = scenario.subject else { panic!("a pipeline") };
        assert_eq!((run.seed, pipeline.stages[1].slots), (3, 280));
    }
}

#[test]
fn a_value_of_a_host_scenario_needs_no_quotes() {
    let _turn = beside_others();
    let set = ["--json", "--set", "link.rate=100 Mb/s", "--set", "job.message=958 B"];
    let run = host(&set).record();
    let throughput = run.figure("throughput", &labels([])).unwrap().estimate.value;
    // A frame of 1000 B every 80 us.
    assert!((throughput / (958.0 * 8.0 / 80e-6) - 1.0).abs() < 0.05, "{throughput}");
}

#[test]
fn a_mistaken_setting_is_named_and_not_a_place_in_the_file() {
    let _turn = beside_others();
    for (setting, words) in [
        (
            "job.recieve_buffer=1 MiB",
            &["`recieve_buffer`", "nearest keys are job.receive_buffer"][..],
        ),
        ("job.message=70000 B", &["a message of 70 kB does not fit a UDP datagram"]),
        ("job.duration=1 ns", &["a duration of 1 ns", "allowed are 1 ms to"]),
        ("link.rate=fast", &["`fast` is not a bit rate"]),
        ("host.decode.video9.clip=x", &["no host.decode.video9", "video1"]),
        ("job.message", &["is no setting: write key=value"]),
    ] {
        let ended = host(&["--set", setting]);
        ended.refused(words);
        ended.refused(&["--set", setting]);
        assert!(!ended.stderr.contains("host.toml:"), "{}", ended.stderr);
    }
}

#[test]
fn the_bottleneck_of_p3_and_what_would_free_it_are_in_the_report() {
    let _turn = beside_others();
    let arguments = ["--set", "pipeline.packets=50000", "--bottleneck", "--remedies"];
    let ended = p3(&arguments);
    for words in [
        "The bottleneck is the time that stage kernel takes",
        "stage.user.slots",
        "a faster stage kernel",
    ] {
        assert!(ended.stdout.contains(words), "no `{words}` in:\n{}", ended.stdout);
    }
    assert!(!ended.stdout.contains("Line rate"), "{}", ended.stdout);
    let run = p3(&[&arguments[..], &["--json"]].concat()).record();
    let job = &run.answer.unwrap().jobs[0];
    assert_eq!((job.elasticities.len(), job.remedies.len()), (7, 6));
    let gains: Vec<f64> = job.remedies.iter().map(|remedy| remedy.predicted_gain.value).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b), "{gains:?}");
}

#[test]
fn a_limited_link_is_named_and_a_faster_one_proposed() {
    let _turn = beside_others();
    let limited = ["--set", "link.rate=50 Mb/s", "--set", "job.duration=100 ms", "--json"];
    let run = host(&[&limited[..], &["--remedies"]].concat()).record();
    let job = &run.answer.unwrap().jobs[0];
    assert_eq!((job.bottleneck.as_str(), job.elasticities.len()), ("link.rate", 0));
    assert_eq!(job.remedies[0].name, "faster link");
    assert_eq!(job.remedies[0].outcome, RemedyOutcome::NotTried);
}

#[test]
fn replications_end_at_the_precision_and_say_so() {
    let _turn = beside_others();
    let random = [
        "--set",
        "pipeline.packets=5000",
        "--set",
        "pipeline.arrivals.distribution=exponential",
        "--json",
    ];
    let run = p3(&[&random[..], &["--precision", "1%"]].concat()).record();
    let throughput = run.figure("throughput", &labels([])).unwrap().estimate;
    assert!(throughput.samples >= 3 && throughput.relative_half_width() <= 0.01);
    assert!(run.steps[0].ended.contains("known to 1 %"), "{:?}", run.steps);
    let run = p3(&[&random[..], &["--replications", "4"]].concat()).record();
    assert_eq!(run.figure("loss", &labels([])).unwrap().estimate.samples, 4);
    assert!(run.unsupported_figures().is_empty());

    let once = p3(&["--precision", "1%", "--set", "pipeline.packets=5000"]);
    assert!(once.stdout.contains("1 replication") && once.stdout.contains("nothing is random"));
    p3(&["--precision", "100%"]).refused(&["is no precision", "1% or 0.01"]);
    p3(&["--replications", "0"]).refused(&["1..=10000"]);
}
