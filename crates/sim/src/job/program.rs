//! What a process does, one step at a time: the job as the machine asks for it.
//!
//! ```text
//! machine ──Seen: time [ps], bytes read──► Program::next ──Step──► machine
//! ```
//!
//! The paper's job had `read`, `process`, `free` and `sleep` (sysSIM section 3.2.4); `write` is
//! the way back. A closure is a program, so a job can be written in a few lines of Rust.

use bitpath_measure::{ByteCount, Picos};
use bitpath_media::Quality;

use super::Message;

/// What a process asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait for payload and take one datagram, or up to so many bytes of a stream.
    Read(ByteCount),
    /// Send so many bytes, waiting for room.
    Write(ByteCount),
    /// Work for so long.
    Process(Picos),
    /// Sleep until a time; one that is past costs nothing.
    SleepUntil(Picos),
    /// Give back so much of the user's buffer.
    Free(ByteCount),
    /// Nothing more.
    Stop,
}

/// What a process knows when it is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The time.
    pub now: Picos,
    /// Payload of the last read.
    pub read: ByteCount,
    /// The datagram that the last read took; none for a stream.
    pub message: Option<Message>,
    /// Whether the job's time is over: peers have stopped.
    pub over: bool,
}

/// A process's program.
pub trait Program {
    /// The next step.
    fn next(&mut self, seen: &Seen) -> Step;

    /// What a viewer saw; none where the program shows no film.
    fn quality(&self) -> Option<Quality> {
        None
    }
}

impl<F: FnMut(&Seen) -> Step> Program for F {
    fn next(&mut self, seen: &Seen) -> Step {
        self(seen)
    }
}
