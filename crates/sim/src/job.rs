//! The job: what the user's two processes do. The same value runs in the simulator and, by
//! `bench::job`, on real sockets with a real decoder.
//!
//! ```text
//! sender:    write a message [B] ──► sleep until the next is due
//! receiver:  read ──► process ──► sleep until the frame is due ──► free
//! ```

mod listener;
mod operations;
mod program;
mod programs;
mod schedule;
mod viewer;

pub use listener::Listener;
pub use operations::{Operation, Operations};
pub use program::{Program, Seen, Step};
pub use programs::{Reader, Writer};
pub use schedule::{Message, Schedule, frame_time};
pub use viewer::{Decoder, Viewer};

use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_media::Film;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::profile::{NanosPerByte, Transport};

/// How often a paced sender of raw data wakes up: short beside any buffer that it fills, long
/// beside the timer's lateness.
pub const PACE_TICK: Picos = Picos(1_000_000_000);

/// Header that each message of a frame begins with: frame number and position, four bytes each.
pub const FRAME_HEADER: ByteCount = ByteCount(8);

/// Largest payload of a UDP datagram over IPv4 [B] (RFC 768: 65535 less both headers).
pub const MAX_DATAGRAM: ByteCount = ByteCount(65_507);

/// Smallest message of a film: eight times its header.
pub(crate) const MIN_FILM_MESSAGE: ByteCount = ByteCount(64);

/// Values of a job that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// A message that no datagram holds.
    #[error(
        "job {name}: a message of {message} does not fit a UDP datagram; at most {MAX_DATAGRAM}"
    )]
    Datagram {
        /// The job.
        name: String,
        /// Its message size.
        message: ByteCount,
    },
    /// A message that hardly holds a frame's header.
    #[error(
        "job {name}: a message of {message} is too small for a film's frames; at least {MIN_FILM_MESSAGE}"
    )]
    Header {
        /// The job.
        name: String,
        /// Its message size.
        message: ByteCount,
    },
    /// A film over TCP.
    #[error("job {name}: films travel over UDP (sysSIM table 2); set transport = \"udp\"")]
    FilmOverTcp {
        /// The job.
        name: String,
    },
}

/// What a sender and a receiver do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name in results.
    pub name: String,
    /// How the bytes travel.
    pub transport: Transport,
    /// Bytes in one send or receive call, except the last of a frame [B].
    #[serde(deserialize_with = "bounds::message")]
    pub message: ByteCount,
    /// Receive buffer of the socket as the kernel accounts it (twice what SO_RCVBUF asked for) [B].
    #[serde(deserialize_with = "bounds::socket_buffer")]
    pub receive_buffer: ByteCount,
    /// Send buffer of the socket as the kernel accounts it [B].
    #[serde(deserialize_with = "bounds::socket_buffer")]
    pub send_buffer: ByteCount,
    /// For how long the sender sends [ps].
    #[serde(deserialize_with = "bounds::duration")]
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
        #[serde(default, deserialize_with = "bounds::optional_rate")]
        rate: Option<BitRate>,
        /// Receiver's own work [ns/B].
        process: NanosPerByte,
    },
    /// MPEG_hw and MPEG_sw: frames at their times.
    Mpeg {
        /// The film.
        film: Film,
        /// How many times as fast as the film's own rate [ratio].
        #[serde(deserialize_with = "bounds::speed")]
        speed: f64,
        /// Whether the receiver's processor decodes (MPEG_sw) or a device does (MPEG_hw).
        software_decode: bool,
        /// From a frame's time at the sender until it is due at the receiver [ps].
        #[serde(deserialize_with = "bounds::wait")]
        playout_delay: Picos,
    },
}

impl Job {
    /// RAW with this message size: as much as possible, and nothing done with it.
    #[must_use]
    pub fn raw(
        name: &str,
        transport: Transport,
        message: ByteCount,
        buffer: ByteCount,
        duration: Picos,
    ) -> Self {
        let work = Work::Raw { rate: None, process: NanosPerByte(0.0) };
        Self {
            name: name.into(),
            transport,
            message,
            receive_buffer: buffer,
            send_buffer: buffer,
            duration,
            work,
        }
    }

    /// Why this job cannot be done, where two of its values do not go together.
    ///
    /// # Errors
    /// Messages that are too large for a datagram, or too small for a frame's header; a film over
    /// a byte stream.
    pub fn check(&self) -> Result<(), JobError> {
        let (name, message) = (self.name.clone(), self.message);
        if self.transport == Transport::Udp && message > MAX_DATAGRAM {
            return Err(JobError::Datagram { name, message });
        }
        if matches!(self.work, Work::Mpeg { .. }) {
            if self.transport == Transport::Tcp {
                return Err(JobError::FilmOverTcp { name });
            }
            if message < MIN_FILM_MESSAGE {
                return Err(JobError::Header { name, message });
            }
        }
        Ok(())
    }

    /// Time between two messages of raw data [ps]; none for a film and for as much as possible.
    #[must_use]
    pub fn message_interval(&self) -> Option<f64> {
        let Work::Raw { rate: Some(rate), .. } = &self.work else { return None };
        Some(self.message.0 as f64 * 8.0 / rate.0 as f64 * 1e12)
    }

    /// Frames that the sender sends in the job's time, none for raw data.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded by the film's own bound"
    )]
    pub fn frames(&self) -> usize {
        match &self.work {
            Work::Raw { .. } => 0,
            Work::Mpeg { film, speed, .. } => {
                let frames =
                    (self.duration.as_secs_f64() * film.rate.per_second() * speed).floor() as usize;
                frames.clamp(1, bitpath_media::film::MAX_FRAMES)
            }
        }
    }
}
