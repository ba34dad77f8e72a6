//! A flow as written: its transport, its buffers, when its peer sends, what its process does.

use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_media::Film;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::job::Operation;
use crate::profile::{NanosPerByte, Transport};

/// Direction of a flow's payload, seen from the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The peer sends.
    #[default]
    Receive,
    /// The machine sends.
    Send,
}

/// How payload gets from the kernel's pages to the network card, or back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyPath {
    /// The process reads into its buffer and writes from it: the paper's two copies.
    #[default]
    TwoCopy,
    /// `sendfile`: pages of the file go out as they are.
    Sendfile,
    /// `MSG_ZEROCOPY`: the process's pages are pinned and go out as they are.
    ZeroCopy,
    /// RDMA: the card reads and writes the process's memory; no core takes part.
    Rdma,
}

/// When the peer's packets leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// At even times.
    #[default]
    Constant,
    /// At random, independently of each other.
    Poisson,
    /// In bursts, lengths and gaps Pareto: sums of many such sources are self-similar
    /// (Willinger 1995).
    ParetoOnOff {
        /// Shape: from 1 (exclusive) to 2 the variance has no bound [ratio].
        #[serde(deserialize_with = "bounds::shape")]
        shape: f64,
        /// Mean length of a burst [ps].
        #[serde(deserialize_with = "bounds::service")]
        burst: Picos,
        /// Rate within a burst over the mean rate [ratio].
        #[serde(deserialize_with = "bounds::peak")]
        peak: f64,
    },
}

/// How the retransmission timer of a stream is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Timer {
    /// Always this long: a sender that does not measure the way.
    Fixed {
        /// The timeout [ps].
        #[serde(deserialize_with = "bounds::service")]
        time: Picos,
    },
    /// From round-trip times (RFC 6298).
    Measured {
        /// Shortest timeout [ps]; Linux has 200 ms.
        #[serde(deserialize_with = "bounds::service")]
        least: Picos,
    },
}

/// Linux's shortest timeout.
fn linux_timer() -> Timer {
    Timer::Measured { least: Picos(200_000_000_000) }
}

fn one() -> usize {
    1
}

/// One flow, or so many alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name in results.
    pub name: String,
    /// How many of them; their processes are spread over the cores [flows].
    #[serde(default = "one", deserialize_with = "bounds::flow_count")]
    pub count: usize,
    /// Core of the first process, from 0.
    #[serde(default)]
    pub core: usize,
    /// How the bytes travel.
    pub transport: Transport,
    /// Who sends.
    #[serde(default)]
    pub direction: Direction,
    /// How payload is moved on the host.
    #[serde(default)]
    pub copies: CopyPath,
    /// Bytes in one call, and in one datagram [B].
    #[serde(deserialize_with = "bounds::message")]
    pub message: ByteCount,
    /// Receive buffer of the socket as the kernel accounts it [B].
    #[serde(deserialize_with = "bounds::socket_buffer")]
    pub receive_buffer: ByteCount,
    /// Send buffer of the socket as the kernel accounts it [B].
    #[serde(deserialize_with = "bounds::socket_buffer")]
    pub send_buffer: ByteCount,
    /// Buffer of the process: what it has read and not given back; none for no limit [B].
    #[serde(
        default,
        deserialize_with = "bounds::optional_buffer",
        skip_serializing_if = "Option::is_none"
    )]
    pub user_buffer: Option<ByteCount>,
    /// When a receiving flow's packets leave their peer.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Timer of a stream.
    #[serde(default = "linux_timer")]
    pub timer: Timer,
    /// What the process does.
    pub job: Task,
}

/// What the process of a flow does (sysSIM table 2, and more).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// RAW: a constant rate, or as much as possible; the process may work on every byte.
    Raw {
        /// Payload a second [b/s]; none for as much as possible.
        #[serde(
            default,
            deserialize_with = "bounds::optional_rate",
            skip_serializing_if = "Option::is_none"
        )]
        rate: Option<BitRate>,
        /// The process's own work [ns/B].
        #[serde(default)]
        process: NanosPerByte,
    },
    /// Bulk: so many bytes and no more.
    Bulk {
        /// Payload [B].
        #[serde(deserialize_with = "bounds::transfer")]
        bytes: ByteCount,
    },
    /// MPEG_hw and MPEG_sw: frames at their times, decoded by a device or by the core.
    Mpeg {
        /// The film.
        film: Film,
        /// Decoding by the core [ns/B]; 0 for a device that decodes.
        #[serde(default)]
        decode: NanosPerByte,
        /// Decoding by the device, one frame at a time [ns/B]; 0 for one that is never the limit.
        #[serde(default)]
        device: NanosPerByte,
        /// From a frame's time at the sender until it is due [ps].
        #[serde(deserialize_with = "bounds::wait")]
        playout_delay: Picos,
    },
    /// An RTP receiver: packets wait in a jitter buffer and are played at their times.
    Rtp {
        /// Payload a second [b/s].
        #[serde(deserialize_with = "bounds::rate")]
        rate: BitRate,
        /// Depth of the jitter buffer [ps].
        #[serde(deserialize_with = "bounds::wait")]
        jitter_buffer: Picos,
        /// Work on a packet [ps].
        #[serde(deserialize_with = "bounds::cost")]
        process: Picos,
    },
    /// A viewer of a video server: its server's process writes at the film's bit rate. Viewers of one
    /// flow begin one after the other.
    Vod {
        /// Payload a second [b/s].
        #[serde(deserialize_with = "bounds::rate")]
        rate: BitRate,
        /// The server's own work: finding frames, making packets [ns/B].
        #[serde(default)]
        process: NanosPerByte,
    },
    /// A list of operations, repeated until the time is over.
    Operations {
        /// Payload a second that the peer of a receiving flow sends [b/s].
        #[serde(
            default,
            deserialize_with = "bounds::optional_rate",
            skip_serializing_if = "Option::is_none"
        )]
        rate: Option<BitRate>,
        /// The operations.
        list: Vec<Operation>,
    },
}

impl Task {
    /// Payload a second that it asks for [b/s]; none for as much as possible.
    #[must_use]
    pub fn rate(&self) -> Option<BitRate> {
        match self {
            Self::Raw { rate, .. } | Self::Operations { rate, .. } => *rate,
            Self::Rtp { rate, .. } | Self::Vod { rate, .. } => Some(*rate),
            Self::Mpeg { film, .. } => Some(film.bit_rate()),
            Self::Bulk { .. } => None,
        }
    }
}
