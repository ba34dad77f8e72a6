//! One start of the program, with its own temporary folder and a deadline.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use bitpath_measure::Run;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::processes::{self, Process};
use crate::rights::{self, PlainUser};

/// Longest wait for a command that measures nothing; it takes a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longest wait for a quick study or probe; it takes one minute in a debug build.
const STUDY_PATIENCE: Duration = Duration::from_secs(400);

/// Variable by which all processes of one invocation are known: children inherit it.
pub(crate) const MARK: &str = "BITPATH_TEST_INVOCATION";

/// The program and how it is started.
pub(crate) struct Invocation {
    command: Vec<OsString>,
    mark: String,
    scratch: TempDir,
    patience: Duration,
}

/// A started program, leader of its own process group as it would be in a shell.
pub(crate) struct Started {
    child: Child,
    mark: String,
    scratch: TempDir,
    patience: Duration,
}

/// What became of it.
pub(crate) struct Ended {
    /// Exit code, or 128 and the signal's number as shells have it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Its processes that are still there, and files in its temporary folder.
    pub(crate) left: Vec<String>,
}

impl Invocation {
    /// The program, started as this user.
    pub(crate) fn new() -> Self {
        Self::of(Vec::new(), Path::new(env!("CARGO_BIN_EXE_bitpath")))
    }

    /// The program, started without root's rights.
    pub(crate) fn by(user: &PlainUser) -> Self {
        Self::of(PlainUser::prefix(), &user.program())
    }

    /// The program, started by another one: `prefix` ends where the program's path follows.
    pub(crate) fn of(prefix: Vec<String>, program: &Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut command: Vec<OsString> = prefix.into_iter().map(OsString::from).collect();
        command.push(program.into());
        let mark = format!("{}-{number}", std::process::id());
        let scratch = rights::open_folder();
        fs::set_permissions(scratch.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777))
            .unwrap();
        Self { command, mark, scratch, patience: PATIENCE }
    }

    /// More arguments.
    pub(crate) fn with<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// A quick measurement, its record in `out`.
    pub(crate) fn quick(self, tool: &str, out: &Path) -> Self {
        let short: &[&str] = if tool == "probe" { &["--budget", "20s"] } else { &["--quick"] };
        let mut measuring = self.with([tool, "--json", "--out"]).with([out]).with(short);
        measuring.patience = STUDY_PATIENCE;
        measuring
    }

    /// Starts it.
    pub(crate) fn start(self) -> Started {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        command.env(MARK, &self.mark).env("TMPDIR", self.scratch.path()).env_remove("COLUMNS");
        // Without a terminal and a locale, texts look the same everywhere.
        command.env("LC_ALL", "C").env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.process_group(0).spawn().unwrap();
        Started { child, mark: self.mark, scratch: self.scratch, patience: self.patience }
    }

    /// Starts it and waits for its end.
    pub(crate) fn run(self) -> Ended {
        self.start().end()
    }
}

impl Started {
    /// The worker processes that it has started.
    pub(crate) fn workers(&self) -> Vec<Process> {
        self.helpers("worker")
    }

    /// The processes of the program that it has started with this argument.
    pub(crate) fn helpers(&self, argument: &str) -> Vec<Process> {
        let mut found = processes::marked(&self.mark);
        found.retain(|process| process.arguments.last().is_some_and(|last| last == argument));
        found
    }

    /// Waits until it has both of its workers, and whatever else is asked of them.
    pub(crate) fn until_workers(&self, are: impl Fn(&[Process]) -> bool) -> Vec<Process> {
        processes::until("the workers to be started", || {
            let workers = self.workers();
            (workers.len() == 2 && are(&workers)).then_some(workers)
        })
    }

    /// Waits until it has used so much processor time itself [clock ticks].
    pub(crate) fn until_busy(&self, ticks: u64) {
        let pid = self.pid().as_raw();
        processes::until("the program to be busy", || {
            let own = processes::marked(&self.mark).into_iter().find(|own| own.pid == pid);
            own.filter(|own| own.ticks >= ticks).map(drop)
        });
    }

    /// The next line that it writes to standard error.
    pub(crate) fn says(&mut self) -> String {
        let errors = self.child.stderr.as_mut().unwrap();
        let (mut line, mut byte) = (Vec::new(), [0]);
        while errors.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }

    /// Sends a signal to it and to its group, as a terminal does.
    pub(crate) fn signal_group(&self, signal: Signal) {
        killpg(self.pid(), signal).unwrap();
    }

    /// Sends a signal to it alone.
    pub(crate) fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.pid(), signal).unwrap();
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    /// Waits for its end. Past the deadline it is killed, and the test has failed.
    pub(crate) fn end(self) -> Ended {
        let pid = self.pid();
        let (tell, told) = mpsc::channel();
        let child = self.child;
        let waiter = thread::spawn(move || tell.send(child.wait_with_output()));
        let Ok(output) = told.recv_timeout(self.patience) else {
            // It leads its own group, so nothing else is hit.
            killpg(pid, Signal::SIGKILL).unwrap();
            panic!("no end within {:?}", self.patience);
        };
        waiter.join().unwrap().unwrap();
        let mut left: Vec<String> =
            processes::marked(&self.mark).iter().map(|process| format!("{process:?}")).collect();
        left.extend(names(self.scratch.path()));
        Ended::new(output.unwrap(), left)
    }
}

impl Ended {
    fn new(output: Output, left: Vec<String>) -> Self {
        let code = output.status.code();
        Self {
            code: code.unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0)),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            left,
        }
    }

    /// The record that it printed.
    pub(crate) fn record(&self) -> Run {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }

    /// The record of a measurement that came to its end and left nothing behind.
    #[track_caller]
    pub(crate) fn sound(&self) -> Run {
        assert_eq!(self.code, 0, "{}", self.stderr);
        assert_eq!(self.left, [""; 0]);
        let run = self.record();
        assert!(run.complete && run.environment.is_some());
        assert_eq!(run.unsupported_figures(), [""; 0]);
        run
    }

    /// It refused its input in words that hold all of these, and left nothing.
    #[track_caller]
    pub(crate) fn refused(&self, words: &[&str]) {
        let said = unwrapped(&self.stderr);
        for word in words {
            assert!(said.contains(word), "no `{word}` in: {}", self.stderr);
        }
        assert!(!said.contains("panicked"), "{}", self.stderr);
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        assert_eq!(self.left, [""; 0]);
    }
}

/// A text whose lines were broken to fit a screen, in one line.
fn unwrapped(text: &str) -> String {
    let frame = |letter: char| letter.is_whitespace() || "|│×x".contains(letter);
    let words = text.split_whitespace().filter(|word| !word.chars().all(frame));
    words.collect::<Vec<_>>().join(" ")
}

/// Names of the files of a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file of the workspace.
pub(crate) fn in_workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
