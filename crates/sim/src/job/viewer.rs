//! The viewer of a film as a program.
//!
//! ```text
//! read ... frame complete ──► decode on the core or in a device ──► sleep until due ──► free
//! ```

use bitpath_measure::{ByteCount, Picos};
use bitpath_media::{Fate, Film, Quality};

use super::{Program, Seen, Step};
use crate::profile::NanosPerByte;

/// Shows a film: decodes each whole frame, sleeps until it is due, and gives back all that it has
/// read: the frame, and what came of frames before it that never became whole.
#[derive(Clone, Debug)]
pub struct Viewer {
    film: Film,
    decode: Decoder,
    playout_delay: Picos,
    fates: Vec<Fate>,
    /// Bytes of each frame that came.
    came: Vec<u64>,
    /// Read and not given back [B].
    held: u64,
    /// The frame on its way to the screen, and what is next for it.
    shown: Option<(usize, Phase)>,
    reading: bool,
}

/// What is next for a frame that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Decode,
    Device,
    Show,
}

/// Time that a byte takes until it is a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoder {
    /// On the core [ns/B].
    pub core: NanosPerByte,
    /// Then in a device of its own, which the process waits for [ns/B].
    pub device: NanosPerByte,
}

impl Viewer {
    /// A viewer of the first `frames` frames of a film.
    #[must_use]
    pub fn new(film: Film, frames: usize, decode: Decoder, playout_delay: Picos) -> Self {
        let (fates, came) = (vec![Fate::Lost; frames], vec![0; frames]);
        Self { film, decode, playout_delay, fates, came, held: 0, shown: None, reading: false }
    }

    fn bytes(&self, frame: usize) -> u64 {
        u64::from(self.film.frames[frame % self.film.frames.len()].bytes)
    }

    /// Notes what a read brought; a frame that is whole now is shown.
    fn came(&mut self, seen: &Seen) {
        self.held += seen.read.0;
        let Some(message) = seen.message else { return };
        let whole = self.bytes(message.frame);
        let Some(came) = self.came.get_mut(message.frame) else { return };
        let before = std::mem::replace(came, *came + message.frame_bytes());
        if before < whole && *came >= whole {
            self.shown = Some((message.frame, Phase::Decode));
        }
    }
}

impl Viewer {
    /// A picture is there: it is shown when it is due, and its bytes are given back.
    fn show(&mut self, frame: usize, now: Picos) -> Step {
        let due = Picos(self.film.rate.due(frame, 1.0).0 + self.playout_delay.0);
        if self.fates[frame] == Fate::Lost {
            self.fates[frame] = if now <= due { Fate::OnTime } else { Fate::Late };
        }
        if now < due {
            return Step::SleepUntil(due);
        }
        self.shown = None;
        Step::Free(ByteCount(std::mem::take(&mut self.held)))
    }
}

impl Program for Viewer {
    fn next(&mut self, seen: &Seen) -> Step {
        if std::mem::take(&mut self.reading) {
            self.came(seen);
        }
        let Some((frame, phase)) = self.shown else {
            self.reading = true;
            return Step::Read(ByteCount(u64::MAX));
        };
        let bytes = self.bytes(frame) as f64;
        match phase {
            Phase::Decode => {
                self.shown = Some((frame, Phase::Device));
                Step::Process(self.decode.core.of(bytes))
            }
            Phase::Device => {
                self.shown = Some((frame, Phase::Show));
                Step::SleepUntil(Picos(seen.now.0 + self.decode.device.of(bytes).0))
            }
            Phase::Show => self.show(frame, seen.now),
        }
    }

    fn quality(&self) -> Option<Quality> {
        Some(Quality::of(&self.film.looped_to(self.fates.len()).frames, &self.fates))
    }
}
