//! The job: what the user's two processes do. The same value runs in the simulator and, by
//! `bench::job`, on real sockets with a real decoder.
//!
//! ```text
//! sender:    write a message [B] ──► sleep until the next is due
//! receiver:  read ──► process ──► sleep until the frame is due ──► free
//! ```

use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_media::Film;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::profile::{NanosPerByte, Transport};

/// How often a paced sender of raw data wakes up: short beside any buffer that it fills, long
/// beside the timer's lateness.
pub const PACE_TICK: Picos = Picos(1_000_000_000);

/// What a sender and a receiver do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name in results.
    pub name: String,
    /// How the bytes travel.
    pub transport: Transport,
    /// Bytes in one send or receive call, except the last of a frame [B].
    pub message: ByteCount,
    /// Receive buffer of the socket as the kernel accounts it (twice what SO_RCVBUF asked for) [B].
    pub receive_buffer: ByteCount,
    /// Send buffer of the socket as the kernel accounts it [B].
    pub send_buffer: ByteCount,
    /// For how long the sender sends [ps].
    pub duration: Picos,
    /// What is sent and what the receiver does with it.
    pub work: Work,
}

/// The work of the two processes (sysSIM table 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Work {
    /// RAW: a constant rate, or as much as possible; the receiver may work on every byte.
    Raw {
        /// Payload a second [b/s]; none means as much as possible.
        rate: Option<BitRate>,
        /// Receiver's own work [ns/B].
        process: NanosPerByte,
    },
    /// MPEG_hw and MPEG_sw: frames at their times.
    Mpeg {
        /// The film.
        film: Film,
        /// How many times as fast as the film's own rate [ratio].
        speed: f64,
        /// Whether the receiver's processor decodes (MPEG_sw) or a device does (MPEG_hw).
        software_decode: bool,
        /// From a frame's time at the sender until it is due at the receiver [ps].
        playout_delay: Picos,
    },
}

impl Job {
    /// RAW with this message size: as much as possible, and nothing done with it.
    #[must_use]
    pub fn raw(name: &str, transport: Transport, message: ByteCount, buffer: ByteCount, duration: Picos) -> Self {
        let work = Work::Raw { rate: None, process: NanosPerByte(0.0) };
        Self { name: name.into(), transport, message, receive_buffer: buffer, send_buffer: buffer, duration, work }
    }

    /// Frames that the sender sends in the job's time, none for raw data.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the film's own bound")]
    pub fn frames(&self) -> usize {
        match &self.work {
            Work::Raw { .. } => 0,
            Work::Mpeg { film, speed, .. } => {
                let frames = (self.duration.as_secs_f64() * film.rate.per_second() * speed).floor() as usize;
                frames.clamp(1, bitpath_media::film::MAX_FRAMES)
            }
        }
    }
}
