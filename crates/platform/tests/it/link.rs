//! Settings of an interface: set, read back, and put back however the process ends that set them.

use std::time::Duration;

use bitpath_platform::clock::{monotonic_ns, sleep_until};
use bitpath_platform::link::{Link, Setting};
use bitpath_platform::namespace::End;
use bitpath_platform::process::Worker;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::cable::{SEGMENTED, joined, possible};
use crate::worker::{PATIENCE, ask, start};

const SWITCHES: [Setting; 3] =
    [Setting::GenericSegmentation, Setting::GenericReceive, Setting::TcpSegmentation];

fn changed(changer: &mut Worker, link: &Link, setting: Setting, value: u32) -> Value {
    let request = json!({ "link": link, "setting": setting, "value": value });
    ask(changer, &json!({ "change-link": request }))
}

fn signal(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid.try_into().unwrap()), signal).unwrap();
}

/// Looks at a setting until it has this value.
#[track_caller]
fn until(link: &Link, setting: Setting, value: u32) {
    let patience = u64::try_from(PATIENCE.as_nanos()).unwrap();
    let deadline_ns = monotonic_ns() + patience;
    while link.get(setting).unwrap() != value {
        assert!(monotonic_ns() < deadline_ns, "{} of {link:?} is not {value}", setting.name());
        sleep_until(monotonic_ns() + 1_000_000);
    }
}

/// Has another process change every offload of one end, ends that process in some way, and sees
/// that everything is as it was.
fn put_back_after(test: &str, end: impl Fn(Worker, u32)) {
    if !possible(test) {
        return;
    }
    let (_a, _b, pair) = joined(&SEGMENTED);
    let link = pair.link(End::A);
    for setting in SWITCHES {
        let before = link.get(setting).unwrap();
        let mut changer = start("changer");
        let keeper = changed(&mut changer, &link, setting, 1 - before);
        let keeper = keeper["count"].as_u64().unwrap_or_else(|| panic!("{keeper}"));
        assert_eq!(link.get(setting).unwrap(), 1 - before);
        end(changer, keeper.try_into().unwrap());
        until(&link, setting, before);
        assert_eq!(pair.link(End::B).get(setting).unwrap(), before);
    }
}

#[test]
fn settings_are_put_back_when_their_holder_is_dropped() {
    put_back_after("settings_are_put_back_when_their_holder_is_dropped", |changer, _| {
        changer.finish(PATIENCE).unwrap();
    });
}

#[test]
fn settings_are_put_back_after_a_panic() {
    put_back_after("settings_are_put_back_after_a_panic", |mut changer, _| {
        changer.send(&"panic").unwrap();
        let error = changer.receive::<Value>(PATIENCE).unwrap_err().to_string();
        assert!(error.contains("as it was asked to"), "{error}");
    });
}

#[test]
fn settings_are_put_back_after_a_polite_signal() {
    for polite in [Signal::SIGINT, Signal::SIGTERM] {
        put_back_after("settings_are_put_back_after_a_polite_signal", |mut changer, _| {
            assert_eq!(ask(&mut changer, &json!("wait-for-signal")), "waiting");
            signal(changer.pid(), polite);
            let answer: Value = changer.receive(PATIENCE).unwrap();
            assert_eq!(answer["error"], "asked to end");
            changer.finish(PATIENCE).unwrap();
        });
    }
}

#[test]
fn settings_are_put_back_when_their_holder_is_killed() {
    for sudden in [Signal::SIGTERM, Signal::SIGKILL] {
        put_back_after("settings_are_put_back_when_their_holder_is_killed", |changer, _| {
            signal(changer.pid(), sudden);
        });
    }
}

#[test]
fn settings_are_put_back_by_their_holder_when_the_keeper_is_killed() {
    let test = "settings_are_put_back_by_their_holder_when_the_keeper_is_killed";
    put_back_after(test, |changer, keeper| {
        signal(keeper, Signal::SIGKILL);
        changer.finish(PATIENCE).unwrap();
    });
}

#[test]
fn the_keeper_ignores_signals_and_ends_with_its_holder() {
    put_back_after("the_keeper_ignores_signals_and_ends_with_its_holder", |changer, keeper| {
        for ignored in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            signal(keeper, ignored);
        }
        changer.finish(Duration::from_secs(10)).unwrap();
        let gone = kill(Pid::from_raw(keeper.try_into().unwrap()), None);
        assert!(gone.is_err());
    });
}

#[test]
fn what_a_virtual_cable_has_not_got_is_refused_by_name() {
    if !possible("what_a_virtual_cable_has_not_got_is_refused_by_name") {
        return;
    }
    let (_a, _b, pair) = joined(&SEGMENTED);
    for setting in Setting::ALL.into_iter().filter(|setting| !setting.is_switch()) {
        let answer = changed(&mut start("changer"), &pair.link(End::A), setting, 64);
        let error = answer["error"].as_str().unwrap();
        let name = setting.name();
        assert_eq!(error, format!("{name} of bitpath0: its driver does not support it"));
    }
    let nowhere = Link { name: "nowhere0".into(), ..pair.link(End::A) };
    let answer = changed(&mut start("changer"), &nowhere, Setting::GenericReceive, 1);
    assert_eq!(answer["error"], "gro of nowhere0: there is no such interface");
}
