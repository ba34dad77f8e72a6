//! An RTP receiver with a jitter buffer as a program.
//!
//! ```text
//! read ──► process ──► jitter buffer ──► play at its time ──► free
//! ```

use std::collections::VecDeque;

use bitpath_measure::{ByteCount, Picos};
use bitpath_media::Quality;

use super::{Program, Seen, Step};

/// Plays packets from a jitter buffer: each waits until the first packet's way plus the buffer's
/// depth after it was sent; one that comes later than that is of no use.
#[derive(Clone, Debug, Default)]
pub struct Listener {
    depth: Picos,
    process: Picos,
    /// Way of the first packet [ps].
    way: Option<u64>,
    /// Packets that wait, with the time that each is due.
    waiting: VecDeque<(u64, ByteCount)>,
    late: u64,
    in_time: u64,
    turn: Turn,
}

/// What a listener does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// Play what is due, or read.
    #[default]
    Play,
    /// Work on what it read.
    Process,
    /// Put it into the buffer, or find it late.
    Judge,
}

impl Listener {
    /// A listener with a jitter buffer of this depth and this work on a packet.
    #[must_use]
    pub fn new(depth: Picos, process: Picos) -> Self {
        Self { depth, process, ..Self::default() }
    }

    /// Puts the packet just handled into the buffer, or counts it as late.
    fn judge(&mut self, seen: &Seen) -> bool {
        let sent = seen.message.map_or(0, |message| message.due);
        let way = *self.way.get_or_insert_with(|| seen.now.0.saturating_sub(sent));
        let due = sent + way + self.depth.0;
        if seen.now.0 > due {
            self.late += 1;
            return false;
        }
        self.in_time += 1;
        self.waiting.push_back((due, seen.read));
        true
    }

    fn read(&mut self) -> Step {
        self.turn = Turn::Process;
        Step::Read(ByteCount(u64::MAX))
    }
}

impl Program for Listener {
    fn next(&mut self, seen: &Seen) -> Step {
        match self.turn {
            Turn::Process => {
                self.turn = Turn::Judge;
                return Step::Process(self.process);
            }
            Turn::Judge => {
                self.turn = Turn::Play;
                if !self.judge(seen) {
                    return Step::Free(seen.read);
                }
            }
            Turn::Play => {}
        }
        match self.waiting.front().copied().filter(|(due, _)| *due <= seen.now.0) {
            Some((_, bytes)) => {
                self.waiting.pop_front();
                Step::Free(bytes)
            }
            None => self.read(),
        }
    }

    fn quality(&self) -> Option<Quality> {
        Some(Quality { on_time: self.in_time, late: self.late, ..Quality::default() })
    }
}
