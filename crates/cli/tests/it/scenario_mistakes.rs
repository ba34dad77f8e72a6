//! Mistakes in scenario files: each is named with its file, its line and what is allowed.

use std::fs;
use std::path::Path;

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::simulate::host_scenario;
use crate::turns::beside_others;

fn simulate(file: &Path) -> Ended {
    Invocation::new().with(["simulate"]).with([file]).run()
}

/// The command refuses this text with these words, and shows the place where there is one.
#[track_caller]
fn refused(text: &str, place: Option<&str>, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mistaken.toml");
    fs::write(&file, text).unwrap();
    let ended = simulate(&file);
    ended.refused(words);
    assert!(ended.stderr.contains("mistaken.toml"), "{}", ended.stderr);
    if let Some(line) = place {
        let number = 1 + text.lines().position(|candidate| candidate.trim() == line).unwrap();
        let shown = format!("mistaken.toml:{number}:");
        assert!(ended.stderr.contains(&shown), "no {shown} in: {}", ended.stderr);
        assert!(ended.stderr.contains(line), "{}", ended.stderr);
    }
}

/// The file with one line replaced.
#[track_caller]
fn replaced(text: &str, line: &str, instead: &str) -> String {
    assert!(text.lines().any(|candidate| candidate == line), "no `{line}` in:\n{text}");
    text.replacen(&format!("{line}\n"), &format!("{instead}\n"), 1)
}

#[test]
fn a_mistake_in_a_pipeline_is_named_with_its_line_and_what_is_allowed() {
    let _turn = beside_others();
    let p3 = fs::read_to_string(in_workspace("scenarios/p3.toml")).unwrap();
    let times = "one of s, ms, us, ns, ps";
    for (line, instead, words) in [
        (
            "packets = 1_000_000",
            "pakets = 1_000_000",
            &["`pakets`", "expected one of `packets`"][..],
        ),
        ("[pipeline.arrivals]", "[pipeline.departures]", &["`departures`", "`arrivals`"]),
        ("service = \"900 ns\"", "service = \"900 MB\"", &["`900 MB` is not a time", times]),
        (
            "service = \"900 ns\"",
            "service = 900",
            &["integer `900`", "in quotes with a unit", times],
        ),
        ("service = \"900 ns\"", "service = \"-900 ns\"", &["-900 ns"]),
        (
            "service = \"900 ns\"",
            "service = \"0 ns\"",
            &["a service time of 0 ps", "allowed are 1 ps to"],
        ),
        ("service = \"900 ns\"", "service = \"2 h\"", &["`2 h` is not a time", times]),
        ("slots = 43", "slots = 0", &["a number of slots of 0", "allowed are 1 to 16777216"]),
        ("slots = 43", "slots = -43", &["-43"]),
        ("slots = 43", "slots = 99999999999", &["99999999999", "allowed are 1 to 16777216"]),
        ("slots = 43", "slots = 43.0", &["floating point `43.0`"]),
        ("slots = 43", "slots = \"43\"", &["string \"43\""]),
        ("packets = 1_000_000", "packets = 0", &["a number of packets of 0", "allowed are 1 to"]),
        ("when_full = \"block\"", "when_full = \"wait\"", &["`wait`", "`drop`", "`block`"]),
        ("[pipeline]", "[pipeline", &["expected `]`"]),
    ] {
        let place = instead.trim();
        refused(&replaced(&p3, line, instead), Some(place), words);
    }
}

#[test]
fn a_mistake_in_a_job_is_named_with_its_line_and_what_is_allowed() {
    let _turn = beside_others();
    let host = host_scenario();
    for (line, instead, words) in [
        (
            "message = \"1 kB\"",
            "message = \"1 kb\"",
            &["`1 kb`", "GiB, MiB, KiB, GB, MB, kB, B"][..],
        ),
        (
            "message = \"1 kB\"",
            "message = \"0 B\"",
            &["a message of 0 B", "allowed are 1 B to 1 MiB"],
        ),
        ("message = \"1 kB\"", "message = \"9 GB\"", &["a message of 9 GB", "allowed are 1 B to"]),
        ("message = \"1 kB\"", "message = \"0.5 B\"", &["0.5 B"]),
        ("transport = \"udp\"", "transport = \"sctp\"", &["`sctp`", "`udp`", "`tcp`"]),
        ("receive_buffer = \"416 KiB\"", "receive_buffer = \"1 B\"", &["of 1 B", "allowed are"]),
        (
            "duration = \"500 ms\"",
            "duration = \"1 ns\"",
            &["a duration of 1 ns", "allowed are 1 ms to"],
        ),
        ("duration = \"500 ms\"", "duration = \"500 Mb/s\"", &["is not a time"]),
        ("kind = \"raw\"", "kind = \"cooked\"", &["`cooked`", "`raw`", "`mpeg`"]),
    ] {
        refused(&replaced(&host, line, instead), Some(instead), words);
    }
}

#[test]
fn values_that_do_not_go_together_are_named_with_what_would() {
    let _turn = beside_others();
    let p3 = fs::read_to_string(in_workspace("scenarios/p3.toml")).unwrap();
    let host = host_scenario();
    let (before_work, work) = host.split_once("[job.work]").unwrap();
    let after_work = &work[work.find("\n[").unwrap()..];
    let film = |frames: &str| {
        format!(
            "{before_work}[job.work]\nkind = \"mpeg\"\nspeed = 1.0\nsoftware_decode = false\nplayout_delay = \"40 ms\"\n\
             film = {{ name = \"video1\", rate = {{ frames = 25, seconds = 1 }}, {frames} }}\n{after_work}"
        )
    };
    let whole = film("frames = [{ kind = \"I\", bytes = 3000 }]");
    let needs = &["either a [pipeline], or a [machine], or a [host] and a [job]"][..];
    let no_film =
        &["film video1 needs either `rate` and `frames`, or `length` with `gop` or `pictures`"][..];
    for (text, words) in [
        (String::new(), needs),
        ("title = \"nothing\"\n".into(), needs),
        (before_work[..before_work.find("\n[job]").unwrap()].into(), needs),
        (format!("{p3}\n{}", &host[host.find("\n[host]").unwrap_or(0)..]), needs),
        (
            replaced(&host, "message = \"1 kB\"", "message = \"70000 B\""),
            &["a message of 70 kB does not fit a UDP datagram", "at most 65507 B"],
        ),
        (
            replaced(&whole, "transport = \"udp\"", "transport = \"tcp\""),
            &["films travel over UDP", "set transport = \"udp\""],
        ),
        (
            replaced(&whole, "message = \"1 kB\"", "message = \"9 B\""),
            &["too small for a film's frames", "at least 64 B"],
        ),
        (film("frames = []"), &["film video1 has no frames"]),
        (film("frames = [{ kind = \"I\", bytes = 0 }]"), &["frame 0 of film video1 has no bytes"]),
        (film("length = 3"), no_film),
    ] {
        refused(&text, None, words);
    }
}

#[test]
fn what_is_no_text_file_is_named() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("binary.toml"), [0xff, 0xfe, 0x00, 0x9f, 0x92, 0x96]).unwrap();
    fs::create_dir(at("folder.toml")).unwrap();
    for (name, word) in [
        ("binary.toml", "UTF-8"),
        ("folder.toml", "Is a directory"),
        ("missing.toml", "No such file"),
    ] {
        simulate(&at(name)).refused(&["cannot read", name, word]);
    }
    // Larger than any scenario, and without an end.
    simulate(Path::new("/dev/zero")).refused(&["cannot read /dev/zero", "larger than"]);
}

#[test]
fn a_file_cut_anywhere_is_refused_or_read() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let p3 = fs::read_to_string(in_workspace("scenarios/p3.toml")).unwrap();
    let file = folder.path().join("cut.toml");
    for end in (0..p3.len()).step_by(97) {
        fs::write(&file, &p3[..end]).unwrap();
        let ended = simulate(&file);
        assert!([0, 2].contains(&ended.code), "{end}: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
}
