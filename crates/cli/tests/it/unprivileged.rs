//! A study by a user without root's rights on one core: it completes and says what that costs.

use bitpath_measure::Pitfall;
use bitpath_platform::affinity::allowed_cpus;
use bitpath_sim::profile::PathKind;
use bitpath_sim::scenario::{Scenario, Subject};

use crate::invocation::Invocation;
use crate::rights::{PlainUser, programs, root};
use crate::turns::alone;

#[test]
fn a_study_without_root_on_one_core_completes_and_says_what_that_costs() {
    let name = "a_study_without_root_on_one_core_completes_and_says_what_that_costs";
    if !programs(name, &["taskset"]) || root() && !programs(name, &["setpriv"]) {
        return;
    }
    let _turn = alone();
    let user = PlainUser::new();
    let mut prefix = PlainUser::prefix();
    let cpu = allowed_cpus().unwrap()[0].to_string();
    prefix.extend(["taskset", "-c", cpu.as_str()].map(String::from));
    let ended = Invocation::of(prefix, &user.program()).quick("study", &user.home()).run();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.left, [""; 0]);
    let run = ended.record();
    let environment = run.environment.as_ref().unwrap();
    assert!(run.complete && !environment.root && environment.cpu.allowed.len() == 1);
    let doubts = |found: fn(&Pitfall) -> bool| run.pitfalls.iter().any(found);
    assert!(doubts(|doubt| matches!(doubt, Pitfall::OneCore)));
    assert!(doubts(|doubt| matches!(doubt, Pitfall::Loopback { .. })));
    assert!(doubts(|doubt| {
        matches!(doubt, Pitfall::NotMeasured { reason, .. } if reason.contains("needs root"))
    }));
    let document = run.documents.iter().find(|document| document.name == "raw-udp.toml").unwrap();
    let Subject::Host(scenario) = Scenario::parse(&document.text).unwrap().subject else {
        panic!("a pipeline");
    };
    assert_eq!(scenario.host.path.kind, PathKind::Loopback);
    assert_eq!(scenario.host.cpu.cores.value, 1);
    assert!(run.answer.is_some() && !run.checks.is_empty());
    assert_eq!(run.unsupported_figures(), [""; 0]);
}
