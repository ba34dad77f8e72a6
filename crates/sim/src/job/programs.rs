//! Processes that read or write all there is, as programs: raw data, bulk, a video server.
//!
//! ```text
//! Reader   read ──► process ──► free                          Writer   work ──► write ──► sleep until the next is due
//! ```

use bitpath_measure::{ByteCount, Picos};

use super::{Program, Seen, Step};
use crate::profile::NanosPerByte;

/// Reads as much as there is, works on it and gives it back.
#[derive(Clone, Debug)]
pub struct Reader {
    message: ByteCount,
    process: NanosPerByte,
    turn: Turn,
}

/// What a reader does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// Wait for payload.
    #[default]
    Read,
    /// Work on it.
    Process,
    /// Give it back.
    Free,
}

impl Reader {
    /// A reader of at most `message` at a time that works so long on each byte.
    #[must_use]
    pub fn new(message: ByteCount, process: NanosPerByte) -> Self {
        Self { message, process, turn: Turn::Read }
    }
}

impl Program for Reader {
    fn next(&mut self, seen: &Seen) -> Step {
        match self.turn {
            Turn::Read => {
                self.turn = if self.process.0 > 0.0 { Turn::Process } else { Turn::Free };
                Step::Read(self.message)
            }
            Turn::Process => {
                self.turn = Turn::Free;
                Step::Process(self.process.of(seen.read.0 as f64))
            }
            Turn::Free => {
                self.turn = Turn::Read;
                Step::Free(seen.read)
            }
        }
    }
}

/// Makes and writes messages, at a pace or as fast as they are taken, all or a given amount.
#[derive(Clone, Debug)]
pub struct Writer {
    /// Bytes in one write [B].
    pub message: ByteCount,
    /// Time from one write to the next [ps]; none for as fast as they are taken.
    pub pace: Option<Picos>,
    /// Bytes left to write [B]; none for as long as the job's time lasts.
    pub left: Option<ByteCount>,
    /// When the next write is due.
    pub due: Picos,
    /// Work on a message before it is written [ps].
    pub work: Picos,
    /// Whether that is done for the next one.
    pub made: bool,
}

impl Writer {
    /// A writer without work of its own that begins at once.
    #[must_use]
    pub fn new(message: ByteCount, pace: Option<Picos>, left: Option<ByteCount>) -> Self {
        Self { message, pace, left, due: Picos(0), work: Picos(0), made: false }
    }
}

impl Program for Writer {
    fn next(&mut self, seen: &Seen) -> Step {
        if seen.over && self.left.is_none() || self.left == Some(ByteCount(0)) {
            return Step::Stop;
        }
        if seen.now < self.due {
            return Step::SleepUntil(self.due);
        }
        if self.work > Picos(0) && !self.made {
            self.made = true;
            return Step::Process(self.work);
        }
        self.made = false;
        self.due = self.pace.map_or(Picos(0), |pace| Picos(self.due.0 + pace.0));
        let bytes = self.left.map_or(self.message, |left| self.message.min(left));
        if let Some(left) = &mut self.left {
            left.0 -= bytes.0;
        }
        Step::Write(bytes)
    }
}
