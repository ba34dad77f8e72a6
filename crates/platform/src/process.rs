//! Worker processes: the measuring and the measured run apart, each with its own processor, its
//! own network namespace and its own accounts.
//!
//! ```text
//! parent  Worker::send ──► stdin, one JSON value a line ──► WorkerSide::receive  child
//!         Worker::receive ◄── stdout, one JSON value a line ◄── WorkerSide::send
//!         last words ◄── stderr
//! ```
//!
//! A peer on another machine is talked to in the same way over a [`Channel`], and outlives us.
//!
//! A worker never outlives its parent: it reads the end of its stdin and leaves, and where it is
//! too busy to read, the kernel kills it when the parent dies. Only a lasting one stays for as long
//! as it takes to tidy up behind a parent that is gone.

mod channel;
mod last_words;
mod lines;
mod side;

pub use channel::Channel;
pub use side::{Incoming, WorkerSide};

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{getppid, setsid};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::PlatformError;
use crate::clock::{monotonic_ns, nanos_of, sleep_until};
use crate::interrupt;
use last_words::LastWords;
use lines::{Filled, Lines, encode, shortened, wait_for};

/// A child process that answers messages. It is killed when this is dropped, unless it is a
/// lasting one, which is told to end and waited for.
#[derive(Debug)]
pub struct Worker {
    name: String,
    lasting: bool,
    child: Child,
    /// Closed to tell the worker to end.
    input: Option<ChildStdin>,
    output: ChildStdout,
    lines: Lines,
    last_words: LastWords,
    /// The last message to it, shortened, for errors.
    asked: String,
}

impl Worker {
    /// Starts a program as a worker; the name is for messages.
    ///
    /// The kernel kills the worker when the *thread* that started it ends, so a thread that lives
    /// as long as the worker must start it. Ctrl-C does not reach the worker: the parent decides.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn(name: &str, program: &Path, arguments: &[&str]) -> Result<Self, PlatformError> {
        Self::start(name, program, arguments, false)
    }

    /// Starts a program as a worker that tidies up: no signal to its parent, to the parent's group
    /// or from the terminal reaches it. It learns from the end of its stdin that the parent has
    /// ended, however that came about.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn_lasting(
        name: &str,
        program: &Path,
        arguments: &[&str],
    ) -> Result<Self, PlatformError> {
        Self::start(name, program, arguments, true)
    }

    fn start(
        name: &str,
        program: &Path,
        arguments: &[&str],
        lasting: bool,
    ) -> Result<Self, PlatformError> {
        let failed = |source: io::Error| PlatformError::WorkerStart {
            worker: name.into(),
            program: program.into(),
            source,
        };
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if lasting {
            detach(&mut command);
        } else {
            tie_to_parent(&mut command);
        }
        let mut child = command.spawn().map_err(failed)?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = child.stdin.take().ok_or_else(missing).map_err(failed)?;
        let output = child.stdout.take().ok_or_else(missing).map_err(failed)?;
        let errors = child.stderr.take().ok_or_else(missing).map_err(failed)?;
        set_nonblocking(&input).map_err(failed)?;
        Ok(Self {
            name: name.into(),
            lasting,
            child,
            input: Some(input),
            output,
            lines: Lines::default(),
            last_words: LastWords::listen(errors).map_err(failed)?,
            asked: "to start".into(),
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends one message.
    ///
    /// # Errors
    /// When the worker has ended, or has not taken the message within ten seconds.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), PlatformError> {
        let line = encode(&self.name, message)?;
        self.asked = shortened(&line);
        let deadline_ns = monotonic_ns() + nanos_of(SEND_PATIENCE);
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            let Some(input) = &mut self.input else {
                return Err(self.ended());
            };
            match input.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let writable = wait_for(&*input, PollFlags::POLLOUT, deadline_ns);
                    self.check(writable, deadline_ns, SEND_PATIENCE)?;
                }
                Err(_) => return Err(self.ended()),
            }
        }
        Ok(())
    }

    /// Receives the next message, waiting at most `timeout`.
    ///
    /// # Errors
    /// When the worker has ended, was silent, sent something else than a `T`, or when the user
    /// asked to stop meanwhile ([`interrupt::requested`]).
    pub fn receive<T: DeserializeOwned>(&mut self, timeout: Duration) -> Result<T, PlatformError> {
        let deadline_ns = monotonic_ns().saturating_add(nanos_of(timeout));
        loop {
            if let Some(message) = self.lines.take(&self.name)? {
                return Ok(message);
            }
            let readable = wait_for(&self.output, PollFlags::POLLIN, deadline_ns);
            if self.check(readable, deadline_ns, timeout)?
                && self.lines.fill(&self.name, &self.output)? == Filled::Closed
            {
                return Err(self.ended());
            }
        }
    }

    /// Tells the worker to end and waits for it; past `timeout` it is killed.
    ///
    /// # Errors
    /// When it did not end by itself in time or did not end well.
    pub fn finish(mut self, timeout: Duration) -> Result<(), PlatformError> {
        self.asked = "to end".into();
        self.input = None;
        match self.wait(timeout) {
            Some(status) if status.success() => Ok(()),
            Some(_) => Err(self.ended()),
            None => Err(self.silent(timeout)),
        }
    }

    /// Whether a wait brought something; silence past the deadline and Ctrl-C are errors.
    fn check(
        &self,
        ready: Result<bool, Errno>,
        deadline_ns: u64,
        timeout: Duration,
    ) -> Result<bool, PlatformError> {
        let ready = ready
            .map_err(|errno| PlatformError::system(format!("wait for {}", self.name), errno))?;
        // Before the answer: answers that are always there at once must not hide the wish to stop.
        if interrupt::requested() {
            return Err(PlatformError::Interrupted { what: format!("worker {}", self.name) });
        }
        if ready {
            return Ok(true);
        }
        if monotonic_ns() >= deadline_ns {
            return Err(self.silent(timeout));
        }
        Ok(false)
    }

    fn silent(&self, waited: Duration) -> PlatformError {
        let (worker, asked) = (self.name.clone(), self.asked.clone());
        PlatformError::WorkerSilent { worker, asked, waited }
    }

    /// The error of a worker that is gone or has closed its pipes, with what is known of its end.
    fn ended(&mut self) -> PlatformError {
        self.input = None;
        let status = match self.wait(END_PATIENCE) {
            Some(status) => status.to_string(),
            None => "still running, its pipe closed".into(),
        };
        PlatformError::WorkerEnded {
            worker: self.name.clone(),
            asked: self.asked.clone(),
            status,
            stderr: self.last_words.text(END_PATIENCE),
        }
    }

    /// Waits for the process to end, at most `timeout`.
    fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline_ns = monotonic_ns().saturating_add(nanos_of(timeout));
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if monotonic_ns() < deadline_ns => {
                    sleep_until(monotonic_ns() + WAIT_STEP_NS);
                }
                _ => return None,
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.lasting {
            self.input = None;
            if self.wait(TIDY_PATIENCE).is_some() {
                return;
            }
        }
        // Both fail only when the process has been waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has the kernel kill the child when the thread that starts it dies, and keeps Ctrl-C from it.
fn tie_to_parent(command: &mut Command) {
    let parent = nix::unistd::getpid();
    let prepare = move || {
        set_pdeathsig(Signal::SIGKILL)?;
        // The parent may have died before the line above: then nobody would ever kill the child.
        if getppid() != parent {
            return Err(io::Error::from(Errno::ESRCH));
        }
        // SAFETY: no handler is installed; an ignored signal stays ignored over exec.
        unsafe { signal(Signal::SIGINT, SigHandler::SigIgn)? };
        Ok(())
    };
    // SAFETY: between fork and exec `prepare` makes system calls only: it allocates nothing and
    // takes no lock.
    unsafe { command.pre_exec(prepare) };
}

/// Takes the child out of its parent's session, so that neither the terminal nor a signal to the
/// parent's group ends it, and has it ignore polite requests to end.
fn detach(command: &mut Command) {
    let prepare = || {
        setsid()?;
        for polite in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            // SAFETY: no handler is installed; an ignored signal stays ignored over exec.
            unsafe { signal(polite, SigHandler::SigIgn)? };
        }
        Ok(())
    };
    // SAFETY: between fork and exec `prepare` makes system calls only: it allocates nothing and
    // takes no lock.
    unsafe { command.pre_exec(prepare) };
}

/// Lets writes to a worker that does not read return instead of waiting for ever.
fn set_nonblocking(input: &ChildStdin) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(input.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(input.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Longest wait for a worker to take a message: it reads at once or is stuck.
const SEND_PATIENCE: Duration = Duration::from_secs(10);

/// Longest wait for the exit status and the last words of a worker whose pipe is closed.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// Longest wait for a lasting worker to tidy up: a driver may take seconds to change its rings.
const TIDY_PATIENCE: Duration = Duration::from_secs(10);

/// How often an ending process is looked at [ns].
const WAIT_STEP_NS: u64 = 1_000_000;
