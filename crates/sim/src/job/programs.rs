//! The built-in jobs as programs: raw data, bulk, films, RTP.
//!
//! ```text
//! Reader   read ──► process ──► free                          Writer   write ──► sleep until the next is due
//! Viewer   read ... frame complete ──► decode ──► sleep until due ──► free
//! Listener read ──► jitter buffer ──► process ──► play at its time ──► free
//! ```

use std::collections::VecDeque;

use bitpath_measure::{ByteCount, Picos};
use bitpath_media::{Fate, Film, Quality};

use super::{Program, Seen, Step};
use crate::profile::NanosPerByte;

/// Reads as much as there is, works on it and gives it back.
#[derive(Clone, Debug)]
pub struct Reader {
    /// Most bytes in one read [B].
    pub message: ByteCount,
    /// Work on each byte [ns/B].
    pub process: NanosPerByte,
    /// What comes next.
    pub phase: Phase,
}

/// Phases of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// About to read.
    Read,
    /// About to work on what it read.
    Process,
    /// About to give it back.
    Free,
}

impl Program for Reader {
    fn next(&mut self, seen: &Seen) -> Step {
        match self.phase {
            Phase::Read => {
                self.phase = if self.process.0 > 0.0 { Phase::Process } else { Phase::Free };
                Step::Read(self.message)
            }
            Phase::Process => {
                self.phase = Phase::Free;
                Step::Process(self.process.of(seen.read.0 as f64))
            }
            Phase::Free => {
                self.phase = Phase::Read;
                Step::Free(seen.read)
            }
        }
    }
}

/// Writes messages, at a pace or as fast as they are taken, all or a given amount.
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
}

impl Program for Writer {
    fn next(&mut self, seen: &Seen) -> Step {
        if seen.over && self.left.is_none() || self.left == Some(ByteCount(0)) {
            return Step::Stop;
        }
        if seen.now < self.due {
            return Step::SleepUntil(self.due);
        }
        self.due = self.pace.map_or(Picos(0), |pace| Picos(self.due.0 + pace.0));
        let bytes = self.left.map_or(self.message, |left| self.message.min(left));
        if let Some(left) = &mut self.left {
            left.0 -= bytes.0;
        }
        Step::Write(bytes)
    }
}

/// Shows a film: decodes each whole frame, sleeps until it is due, gives it back.
#[derive(Clone, Debug)]
pub struct Viewer {
    film: Film,
    decode: NanosPerByte,
    playout_delay: Picos,
    fates: Vec<Fate>,
    /// Bytes of each frame that came.
    came: Vec<u64>,
    /// The frame being shown, and how far.
    shown: Option<(usize, Phase)>,
    reading: bool,
}

impl Viewer {
    /// A viewer of the first `frames` frames of a film.
    #[must_use]
    pub fn new(film: Film, frames: usize, decode: NanosPerByte, playout_delay: Picos) -> Self {
        let (fates, came) = (vec![Fate::Lost; frames], vec![0; frames]);
        Self { film, decode, playout_delay, fates, came, shown: None, reading: false }
    }

    fn bytes(&self, frame: usize) -> u64 {
        u64::from(self.film.frames[frame % self.film.frames.len()].bytes)
    }

    /// Notes what a read brought; a frame that is whole now is shown.
    fn came(&mut self, seen: &Seen) {
        let Some(message) = seen.message else { return };
        let Some(came) = self.came.get_mut(message.frame) else { return };
        *came += message.frame_bytes();
        if *came >= self.bytes(message.frame) {
            self.shown = Some((message.frame, Phase::Process));
        }
    }
}

impl Program for Viewer {
    fn next(&mut self, seen: &Seen) -> Step {
        if std::mem::take(&mut self.reading) {
            self.came(seen);
        }
        match self.shown {
            None => {
                self.reading = true;
                Step::Read(ByteCount(u64::MAX))
            }
            Some((frame, Phase::Process)) => {
                self.shown = Some((frame, Phase::Free));
                Step::Process(self.decode.of(self.bytes(frame) as f64))
            }
            Some((frame, Phase::Free)) => {
                let due = Picos(self.film.rate.due(frame, 1.0).0 + self.playout_delay.0);
                if self.fates[frame] == Fate::Lost {
                    self.fates[frame] = if seen.now <= due { Fate::OnTime } else { Fate::Late };
                }
                if seen.now < due {
                    return Step::SleepUntil(due);
                }
                self.shown = Some((frame, Phase::Read));
                Step::Free(ByteCount(self.came[frame]))
            }
            Some((_, Phase::Read)) => {
                self.shown = None;
                self.reading = true;
                Step::Read(ByteCount(u64::MAX))
            }
        }
    }

    fn quality(&self) -> Option<Quality> {
        Some(Quality::of(&self.film.looped_to(self.fates.len()).frames, &self.fates))
    }
}

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
    phase: Option<Phase>,
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
        self.phase = Some(Phase::Process);
        Step::Read(ByteCount(u64::MAX))
    }
}

impl Program for Listener {
    fn next(&mut self, seen: &Seen) -> Step {
        match self.phase {
            Some(Phase::Process) => {
                self.phase = Some(Phase::Free);
                return Step::Process(self.process);
            }
            Some(Phase::Free) => {
                self.phase = Some(Phase::Read);
                if !self.judge(seen) {
                    return Step::Free(seen.read);
                }
            }
            Some(Phase::Read) | None => {}
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
