//! A process: its program, what it is doing, and what is left of it.

use crate::job::{Program, Seen, Step};

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// On a core, or waiting for one, with work left [ps].
    Runnable,
    /// In a read of at most so many bytes with nothing there [B].
    Reading(u64),
    /// In a write of so many bytes without room [B].
    Writing(u64),
    /// In a read that its own buffer of so many bytes has no room for [B].
    Full(u64),
    /// Asleep until a time.
    Sleeping,
    /// At its end.
    Stopped,
}

/// What follows a burst of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The next step.
    Step,
    /// These bytes enter the socket [B].
    Sent(u64),
}

/// One process.
pub(super) struct Process {
    pub(super) program: Box<dyn Program>,
    pub(super) seen: Seen,
    pub(super) state: State,
    pub(super) core: usize,
    /// Work left in the burst under way [ps].
    pub(super) left: u64,
    /// Whether the burst is work of the process's own, not the kernel's.
    pub(super) own: bool,
    /// Whether the burst copies.
    pub(super) copies: bool,
    pub(super) after: After,
    /// The step that it waited in, to be tried again.
    pub(super) pending: Option<Step>,
    /// Bytes in the user's buffer.
    pub(super) held: u64,
}

impl Process {
    pub(super) fn new(program: Box<dyn Program>, core: usize) -> Self {
        Self {
            program,
            seen: Seen::default(),
            state: State::Runnable,
            core,
            left: 0,
            own: false,
            copies: false,
            after: After::Step,
            pending: None,
            held: 0,
        }
    }
}
