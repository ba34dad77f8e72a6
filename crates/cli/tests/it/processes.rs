//! Processes of this machine, as /proc shows them.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::invocation::MARK;

/// Longest wait for a process to come or to go; it takes milliseconds, or a few seconds of
/// measuring.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time between two looks: short beside anything that is waited for.
const STEP: Duration = Duration::from_millis(2);

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) arguments: Vec<String>,
    /// Processor time that it used [clock ticks].
    pub(crate) ticks: u64,
}

/// The processes of one invocation that have not ended; a zombie has.
pub(crate) fn marked(mark: &str) -> Vec<Process> {
    let variable = format!("{MARK}={mark}");
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        entry.unwrap().file_name().to_str().and_then(|name| name.parse::<i32>().ok())
    });
    pids.filter(|pid| zero_separated(*pid, "environ").contains(&variable))
        .filter_map(process)
        .collect()
}

fn process(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The fields behind the program's name, which is in brackets and may hold blanks.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|text| text.parse::<u64>().ok());
    let ended = matches!(fields.first(), Some(&("Z" | "X")));
    (!ended).then_some(Process {
        pid,
        arguments: zero_separated(pid, "cmdline"),
        ticks: ticks(11)? + ticks(12)?,
    })
}

/// The texts of a file of a process that separates them by zeros; none when it is gone.
fn zero_separated(pid: i32, file: &str) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// Whether the process is gone or only waits to be buried.
pub(crate) fn gone(pid: i32) -> bool {
    process(pid).is_none()
}

/// Looks again and again until `look` finds something.
#[track_caller]
pub(crate) fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        sleep(STEP);
    }
}

/// Kills a process at once.
pub(crate) fn kill(pid: i32) {
    nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
}
