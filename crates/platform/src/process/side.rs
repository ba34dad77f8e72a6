//! The worker's side of the control channel: its stdin and stdout.

use std::io::{self, Stdin, Write};
use std::time::Duration;

use nix::poll::PollFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lines::{Filled, Lines, encode, wait_for};
use crate::PlatformError;
use crate::clock::{monotonic_ns, nanos_of};

/// The control channel as a worker sees it. Nothing else may read stdin or write stdout.
#[derive(Debug)]
pub struct WorkerSide {
    input: Stdin,
    lines: Lines,
}

/// What a worker found on its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming<T> {
    /// A message.
    Message(T),
    /// Nothing in time.
    Nothing,
    /// The end: the parent is gone or wants the worker to end.
    Closed,
}

impl WorkerSide {
    /// The channel of this process.
    #[must_use]
    pub fn from_stdio() -> Self {
        Self { input: io::stdin(), lines: Lines::default() }
    }

    /// Receives the next message; `None` means that the worker is to end.
    ///
    /// # Errors
    /// When the message is not a `T`.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, PlatformError> {
        loop {
            if let Some(message) = self.lines.take(PARENT)? {
                return Ok(Some(message));
            }
            if self.lines.fill(PARENT, &self.input)? == Filled::Closed {
                return Ok(None);
            }
        }
    }

    /// Receives the next message if one comes within `timeout`, zero to look only.
    ///
    /// # Errors
    /// When the message is not a `T`.
    pub fn receive_within<T: DeserializeOwned>(
        &mut self,
        timeout: Duration,
    ) -> Result<Incoming<T>, PlatformError> {
        let deadline_ns = monotonic_ns().saturating_add(nanos_of(timeout));
        loop {
            if let Some(message) = self.lines.take(PARENT)? {
                return Ok(Incoming::Message(message));
            }
            let readable = wait_for(&self.input, PollFlags::POLLIN, deadline_ns)
                .map_err(|errno| PlatformError::system("wait for the parent", errno))?;
            if readable && self.lines.fill(PARENT, &self.input)? == Filled::Closed {
                return Ok(Incoming::Closed);
            }
            if !readable && monotonic_ns() >= deadline_ns {
                return Ok(Incoming::Nothing);
            }
        }
    }

    /// Sends one message to the parent.
    ///
    /// # Errors
    /// When the parent is gone.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), PlatformError> {
        let line = encode(PARENT, message)?;
        let mut output = io::stdout().lock();
        output
            .write_all(&line)
            .and_then(|()| output.flush())
            .map_err(|error| PlatformError::system("answer the parent", error))
    }
}

/// How the other side is called in errors.
const PARENT: &str = "parent";
