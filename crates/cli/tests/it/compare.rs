//! `bitpath compare`: what differs between two scenarios, and what that does.

use std::fs;

use bitpath_measure::Run;
use bitpath_measure::series::labels;

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::simulate::host_scenario;
use crate::turns::beside_others;

fn compared(arguments: &[&str]) -> Ended {
    let file = in_workspace("scenarios/p3.toml");
    Invocation::new().with(["compare"]).with([file]).with(arguments).run()
}

fn value(run: &Run, name: &str, side: &str) -> f64 {
    run.figure(name, &labels([("scenario", side)])).unwrap().estimate.value
}

#[test]
fn changes_and_their_effect_stand_side_by_side() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let b = folder.path().join("b.toml");
    let p3 = fs::read_to_string(in_workspace("scenarios/p3.toml")).unwrap();
    fs::write(&b, p3.replace("1300 ns", "1100 ns").replace("1200 ns", "1.2 us")).unwrap();
    let ended = compared(&[b.to_str().unwrap()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for words in [
        "differ in one key",
        "pipeline.stage.kernel.service  1300 ns  1100 ns",
        "Nothing is random",
    ] {
        assert!(ended.stdout.contains(words), "no `{words}` in:\n{}", ended.stdout);
    }
    let run = compared(&[b.to_str().unwrap(), "--json"]).record();
    assert_eq!(value(&run, "delivered", "A"), 795_771.0);
    let difference = value(&run, "delivered", "B - A");
    assert_eq!(value(&run, "delivered", "B"), 795_771.0 + difference);
    assert!(difference > 0.0 && value(&run, "throughput", "B / A") > 1.0);
    assert_eq!(run.documents[2].text, "pipeline.stage.kernel.service\t1300 ns\t1100 ns\n");
}

#[test]
fn one_file_is_compared_with_itself_under_other_values() {
    let _turn = beside_others();
    let random = "pipeline.stage.user.distribution=exponential";
    let run = compared(&["--set", random, "--replications", "5", "--json"]).record();
    let throughput = run.figure("throughput", &labels([("scenario", "B - A")])).unwrap().estimate;
    assert_eq!(throughput.samples, 5);
    assert!(throughput.low < throughput.high);
    assert!(run.complete && run.unsupported_figures().is_empty());
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let host = folder.path().join("host.toml");
    fs::write(&host, host_scenario()).unwrap();
    compared(&[host.to_str().unwrap()]).refused(&["p3.toml", "host.toml", "nothing to compare"]);
    compared(&["--set", "pipeline.packets=0"])
        .refused(&["--set pipeline.packets=0", "allowed are"]);
    compared(&[]).refused(&["<B>"]);
}
