//! Frames of a film as they come: put together, decoded, waited for, freed.

use bitpath_media::{Fate, Film};
use bitpath_platform::clock::{monotonic_ns, sleep_until};
use bitpath_platform::codec::Decoder;
use bitpath_sim::job::{FRAME_HEADER, Work, frame_time};

use crate::BenchError;
use crate::worker::{JobOrder, ReceivedJob, State};

/// The receiver of a film: one frame under way, and what became of the others.
pub(super) struct FrameReader {
    film: Film,
    speed: f64,
    start_ns: u64,
    playout_delay_ns: u64,
    decoder: Option<Decoder>,
    /// The frame under way, its bytes, and how many of them have come.
    frame: usize,
    bytes: Vec<u8>,
    filled: usize,
    fates: Vec<Fate>,
    useful_bytes: u64,
    undecodable: u64,
    last_done_ns: Option<u64>,
}

impl FrameReader {
    pub(super) fn new(state: &mut State, order: &JobOrder) -> Result<Self, BenchError> {
        let Work::Mpeg { film, speed, software_decode, playout_delay } = &order.job.work else {
            return Err(crate::worker::not_open("a film"));
        };
        let clip = order
            .clip
            .as_deref()
            .filter(|_| *software_decode)
            .map(|path| state.clip(path))
            .transpose()?;
        let decoder = clip.map(|clip| Decoder::new(clip.parameters())).transpose()?;
        Ok(Self {
            bytes: vec![0; film.largest_frame() as usize],
            film: film.clone(),
            speed: *speed,
            start_ns: order.start_ns,
            playout_delay_ns: playout_delay.0 / 1000,
            decoder,
            frame: 0,
            filled: 0,
            fates: vec![Fate::Lost; order.job.frames()],
            useful_bytes: 0,
            undecodable: 0,
            last_done_ns: None,
        })
    }

    /// Takes one message. A frame whose successor begins before it is complete is lost.
    pub(super) fn take(&mut self, message: &[u8]) -> Result<(), BenchError> {
        let header = usize::try_from(FRAME_HEADER.0).unwrap_or(0);
        let Some((frame, position)) = read_header(message) else { return Ok(()) };
        if frame >= self.fates.len() || frame < self.frame {
            return Ok(());
        }
        if frame > self.frame {
            (self.frame, self.filled) = (frame, 0);
        }
        let carried = &message[header..];
        if let Some(place) = self.bytes.get_mut(position..position + carried.len()) {
            place.copy_from_slice(carried);
            self.filled += carried.len();
        }
        if self.filled == self.whole() { self.complete() } else { Ok(()) }
    }

    fn whole(&self) -> usize {
        self.film.frames[self.frame % self.film.frames.len()].bytes as usize
    }

    /// Decodes the frame, sees whether it is in time, and sleeps until it is due.
    fn complete(&mut self) -> Result<(), BenchError> {
        let whole = self.whole();
        if let Some(decoder) = &mut self.decoder
            && decoder.decode(&self.bytes[..whole]).is_err()
        {
            self.undecodable += 1;
        }
        let now_ns = monotonic_ns();
        let due_ns = self.start_ns
            + frame_time(&self.film, self.frame, self.speed).0 / 1000
            + self.playout_delay_ns;
        self.fates[self.frame] = if now_ns <= due_ns { Fate::OnTime } else { Fate::Late };
        self.useful_bytes += whole as u64;
        self.last_done_ns = Some(now_ns);
        if now_ns < due_ns {
            sleep_until(due_ns);
        }
        (self.frame, self.filled) = (self.frame + 1, 0);
        Ok(())
    }

    pub(super) fn last_done_ns(&self) -> Option<u64> {
        self.last_done_ns
    }

    pub(super) fn finish(self, received: &mut ReceivedJob) {
        received.useful_bytes = self.useful_bytes;
        received.undecodable = self.undecodable;
        received.fates = self.fates;
    }
}

/// Frame number and position; none where the message is too short for them.
fn read_header(message: &[u8]) -> Option<(usize, usize)> {
    let (frame, rest) = message.split_first_chunk::<4>()?;
    let (position, _) = rest.split_first_chunk::<4>()?;
    let number = |bytes: &[u8; 4]| usize::try_from(u32::from_be_bytes(*bytes)).ok();
    Some((number(frame)?, number(position)?))
}
