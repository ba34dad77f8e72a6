//! What the sender writes and when: one message after the other, from the job alone. The
//! simulated and the real sender both follow it.

use bitpath_measure::Picos;
use bitpath_media::Film;

use super::{FRAME_HEADER, Job, PACE_TICK, Work};

/// One message that the sender writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When it is due at the earliest [ps].
    pub due: u64,
    /// Bytes that the call sends, a frame's header included [B].
    pub bytes: u64,
    /// The frame that it belongs to; 0 for raw data.
    pub frame: usize,
    /// Where in its frame its first byte belongs [B].
    pub position: u64,
}

impl Message {
    /// Bytes of its frame that it carries [B].
    #[must_use]
    pub fn frame_bytes(&self) -> u64 {
        self.bytes.saturating_sub(FRAME_HEADER.0)
    }
}

/// The sender's messages in order.
#[derive(Clone, Debug)]
pub struct Schedule<'a> {
    job: &'a Job,
    /// Time between two messages of raw data [ps]; 0 for as much as possible.
    interval: f64,
    /// Messages of raw data written so far, or the frame under way.
    index: usize,
    /// Bytes of the frame already written.
    written: u64,
    frames: usize,
}

impl<'a> Schedule<'a> {
    /// The messages of a job.
    #[must_use]
    pub fn new(job: &'a Job) -> Self {
        let interval = job.message_interval().unwrap_or(0.0);
        Self { job, interval, index: 0, written: 0, frames: job.frames() }
    }

    /// Whether raw data is sent, not a film.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        matches!(self.job.work, Work::Raw { .. })
    }

    /// The next message, or none when a sender that is ready at `now` has sent all.
    pub fn next(&mut self, now: u64) -> Option<Message> {
        match &self.job.work {
            Work::Raw { .. } => self.next_raw(now),
            Work::Mpeg { film, speed, .. } => self.next_of_frame(film, *speed),
        }
    }

    /// Raw messages fall due in batches, one batch a tick of the pacing timer.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times far below 2^53 ps x 2^11"
    )]
    fn next_raw(&mut self, now: u64) -> Option<Message> {
        let exact = (self.index as f64 * self.interval) as u64;
        let due = exact - exact % PACE_TICK.0;
        if due.max(if self.interval == 0.0 { now } else { 0 }) >= self.job.duration.0 {
            return None;
        }
        self.index += 1;
        Some(Message { due, bytes: self.job.message.0, frame: 0, position: 0 })
    }

    fn next_of_frame(&mut self, film: &Film, speed: f64) -> Option<Message> {
        if self.index >= self.frames {
            return None;
        }
        let (frame, position) = (self.index, self.written);
        let left = u64::from(film.frames[frame % film.frames.len()].bytes) - position;
        let carried = left.min(self.job.message.0 - FRAME_HEADER.0);
        (self.index, self.written) =
            if carried == left { (frame + 1, 0) } else { (frame, position + carried) };
        let due = frame_time(film, frame, speed).0;
        Some(Message { due, bytes: carried + FRAME_HEADER.0, frame, position })
    }
}

/// When the sender begins to send a frame [ps].
#[must_use]
pub fn frame_time(film: &Film, frame: usize, speed: f64) -> Picos {
    film.rate.due(frame, speed)
}
