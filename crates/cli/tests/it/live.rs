//! `bitpath simulate --live`: lines where there is no terminal, a screen where there is one.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use bitpath_measure::Run;

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::turns::beside_others;

/// Enters the alternate screen of a terminal, and leaves it (xterm's control sequences).
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

/// A word of the screen's last line.
const SHOWN: &str = "pause";

fn simulate(file: &str, arguments: &[&str]) -> Ended {
    let file = in_workspace(&format!("scenarios/{file}"));
    Invocation::new().with(["simulate"]).with([file]).with(arguments).run()
}

/// What the program writes to a terminal of its own, on which `typed` is typed once it shows its
/// screen; and the exit code.
fn on_a_terminal(typed: &str, arguments: &str) -> (String, Option<i32>) {
    let program = env!("CARGO_BIN_EXE_bitpath");
    let file = in_workspace("scenarios/mpeg-sw.toml");
    let live = format!("'{program}' simulate '{}' --live {arguments}", file.display());
    let mut script = Command::new("script");
    script.args(["-qec", &format!("stty cols 90 rows 30; {live}"), "/dev/null"]);
    script.env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
    let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut screen) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
    let mut written = Vec::new();
    while !String::from_utf8_lossy(&written).contains(SHOWN) {
        let mut part = [0; 4096];
        let length = screen.read(&mut part).unwrap();
        assert!(length > 0, "no screen: {}", String::from_utf8_lossy(&written));
        written.extend_from_slice(&part[..length]);
    }
    keyboard.write_all(typed.as_bytes()).unwrap();
    screen.read_to_end(&mut written).unwrap();
    let code = script.wait().unwrap().code();
    (String::from_utf8_lossy(&written).into_owned(), code)
}

#[test]
fn without_a_terminal_there_are_lines_and_then_the_report() {
    let _turn = beside_others();
    let ended = simulate("mpeg-sw.toml", &["--live"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let (lines, report) = ended.stdout.split_once("\n\n").unwrap();
    let last = lines.lines().rfind(|line| line.contains(" s  line ")).unwrap();
    assert!(last.contains("ring 0 frames") && last.contains("delivered 1.0"), "{last}");
    assert!(report.contains("frames.on_time") && !ended.stdout.contains('\u{1b}'), "{report}");
}

#[test]
fn to_be_watched_changes_no_record() {
    let _turn = beside_others();
    let live = simulate("mpeg-sw.toml", &["--live", "--json"]);
    assert!(live.stderr.contains("kernel buffer"), "{}", live.stderr);
    assert_eq!(live.record(), simulate("mpeg-sw.toml", &["--json"]).record());
}

#[test]
fn what_has_no_machine_cannot_be_watched() {
    let _turn = beside_others();
    simulate("p3.toml", &["--live"]).refused(&["--live watches a [machine]", "[pipeline]"]);
    simulate("mpeg-sw.toml", &["--live", "--engine", "events"]).refused(&["cannot be used with"]);
}

#[test]
fn a_key_ends_the_view_and_gives_the_terminal_back() {
    let _turn = beside_others();
    // Letter q, Escape, and Ctrl-C, which ends a command that is being written, too.
    for (typed, ends) in [(" q", 0), ("\u{1b}", 0), (":machine\u{3}", 130)] {
        let (written, code) = on_a_terminal(typed, "");
        let (screen, report) = written.rsplit_once(LEAVE).unwrap();
        // Blanks are not written where nothing was.
        assert!(screen.contains(ENTER) && screen.contains("throughput"), "{screen}");
        assert!(report.contains("was interrupted during the simulation"), "{report}");
        assert_eq!(code, Some(ends));
    }
}

#[test]
fn a_change_is_made_and_a_mistaken_one_is_not() {
    let _turn = beside_others();
    let typed = ":machine.nic.ring=0\remachine.nic.rinx\u{7f}g=70\rq";
    let (written, _) = on_a_terminal(typed, "--json");
    let (_, record) = written.rsplit_once(LEAVE).unwrap();
    let record = &record[record.find('{').unwrap()..=record.rfind('}').unwrap()];
    let run: Run = serde_json::from_str(record).unwrap();
    let settings = run.events.iter().filter_map(|event| event.labels.get("setting"));
    assert_eq!(settings.collect::<Vec<_>>(), ["machine.nic.ring=70"]);
    assert!(!run.complete);
}
