//! What can go wrong at the edge, each error with the operation that failed and on what.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// An operation that the kernel, a program or a worker refused.
#[derive(Debug, Error)]
pub enum PlatformError {
    /// A system call failed.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// An operation on a socket failed.
    #[error("{operation} ({address}): {source}")]
    Socket {
        /// What was tried.
        operation: &'static str,
        /// Address that the socket had or was to have.
        address: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel does not offer this congestion control.
    #[error(
        "congestion control {name} is not available; this kernel offers {available} ({source})"
    )]
    CongestionControl {
        /// What was asked for.
        name: String,
        /// What there is, separated by blanks.
        available: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file of the kernel could not be read or understood.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// There was no memory for a buffer.
    #[error("no memory for a buffer of {bytes} B: {source}")]
    Memory {
        /// Size that was asked for [B].
        bytes: usize,
        /// The kernel's answer.
        source: io::Error,
    },
    /// An interface has not got a setting, or its driver does not take the value.
    #[error("{setting} of {interface}: {reason}")]
    LinkSetting {
        /// The interface.
        interface: String,
        /// The setting.
        setting: &'static str,
        /// What the driver or the kernel has against it.
        reason: String,
    },
    /// Only root may do this.
    #[error("{what} needs root")]
    NeedsRoot {
        /// What was tried.
        what: &'static str,
    },
    /// A processor that this process may not use or that is not there.
    #[error("processor {cpu} is not one of those allowed: {allowed:?}")]
    NoSuchCpu {
        /// What was asked for.
        cpu: usize,
        /// What there is.
        allowed: Vec<usize>,
    },
    /// A program is not installed.
    #[error("{program} is not installed (Debian package {package})")]
    ProgramMissing {
        /// The program.
        program: &'static str,
        /// The package that brings it.
        package: &'static str,
    },
    /// A program ran and failed.
    #[error("`{command}` failed with {status}: {stderr}")]
    Command {
        /// The whole command.
        command: String,
        /// Its exit status in words.
        status: String,
        /// What it wrote to stderr.
        stderr: String,
    },
    /// A program ran well and printed what is not understood.
    #[error("`{command}` printed something unexpected: {reason}")]
    CommandOutput {
        /// The whole command.
        command: String,
        /// What was wrong.
        reason: String,
    },
    /// A worker could not be started.
    #[error("worker {worker} could not be started from {}: {source}", program.display())]
    WorkerStart {
        /// The worker.
        worker: String,
        /// The program.
        program: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A worker ended while something was expected of it.
    #[error("worker {worker} ended ({status}) when asked {asked}; its last words: {stderr}")]
    WorkerEnded {
        /// The worker.
        worker: String,
        /// The last message to it, shortened.
        asked: String,
        /// Its exit status in words.
        status: String,
        /// The end of its stderr.
        stderr: String,
    },
    /// A worker did not answer or did not take a message in time.
    #[error("worker {worker} was silent for {waited:?} when asked {asked}")]
    WorkerSilent {
        /// The worker.
        worker: String,
        /// The last message to it, shortened.
        asked: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A peer on the network cannot be reached.
    #[error("{address} cannot be reached: {reason}")]
    PeerUnreachable {
        /// Its address as it was given.
        address: String,
        /// Why not.
        reason: String,
    },
    /// A peer on the network is gone while something was expected of it.
    #[error("{peer} is gone; it was asked {asked}")]
    PeerGone {
        /// Its address.
        peer: String,
        /// The last message to it, shortened.
        asked: String,
    },
    /// A peer on the network did not answer or did not take a message in time.
    #[error("{peer} was silent for {waited:?} when asked {asked}")]
    PeerSilent {
        /// Its address.
        peer: String,
        /// The last message to it, shortened.
        asked: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A message did not have the expected shape.
    #[error("{peer}: message not understood: {reason}; it read: {line}")]
    Message {
        /// Who sent it.
        peer: String,
        /// What was wrong.
        reason: String,
        /// The message, shortened.
        line: String,
    },
    /// A message was longer than a message may be.
    #[error("{peer}: message of more than {limit_bytes} B")]
    MessageTooLong {
        /// Who sent it.
        peer: String,
        /// The bound [B].
        limit_bytes: usize,
    },
    /// The user asked to stop while something was waited for.
    #[error("interrupted while waiting for {what}")]
    Interrupted {
        /// What was waited for.
        what: String,
    },
}

impl PlatformError {
    /// A failed system call, with the operation in words.
    pub(crate) fn system(operation: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System { operation: operation.into(), source: source.into() }
    }

    /// A file that could not be read or understood.
    pub(crate) fn file(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        Self::File { path: path.into(), reason: reason.to_string() }
    }
}
