//! A machine as written in a scenario file: every component with its parameters and units.

use bitpath_measure::{BitRate, ByteCount, ByteRate, Picos};
use bitpath_media::Film;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::job::Operation;
use crate::profile::{NanosPerByte, Transport};

/// A host that faces a network, its peers, and what its processes do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// For how long peers and processes send [ps].
    #[serde(deserialize_with = "bounds::duration")]
    pub duration: Picos,
    /// The cores.
    pub cpu: Cpu,
    /// The network card and its driver.
    pub nic: Nic,
    /// The bus between card and memory.
    pub bus: Bus,
    /// The memory that all cores share.
    pub memory: Memory,
    /// The line to the peers, both ways alike.
    pub line: Line,
    /// What the protocol stack costs.
    pub stack: Stack,
    /// The flows, each with a process at its end.
    #[serde(rename = "flow", deserialize_with = "bounds::flows")]
    pub flows: Vec<Flow>,
}

/// One experiment with a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineScenario {
    /// The machine.
    pub machine: Machine,
    /// Length of the intervals of the courses over time [ps].
    pub interval: Picos,
}

impl Machine {
    /// The name of the so-many-th flow.
    #[must_use]
    pub fn flow_name(&self, index: usize) -> &str {
        let mut names =
            self.flows.iter().flat_map(|flow| std::iter::repeat_n(flow.name.as_str(), flow.count));
        names.nth(index).unwrap_or_default()
    }

    /// Whether another seed can give another result.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.line.loss > 0.0 || self.flows.iter().any(|flow| flow.arrivals != Arrivals::Constant)
    }
}

/// The cores and what the kernel spends on sharing them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// How many [cores].
    #[serde(deserialize_with = "bounds::cores")]
    pub cores: usize,
    /// Time slice of a process where another waits [ps].
    #[serde(deserialize_with = "bounds::service")]
    pub quantum: Picos,
    /// Switch between two processes [ps].
    pub context_switch: Picos,
    /// One interrupt of the card [ps].
    pub interrupt: Picos,
    /// Waking a process, for whoever wakes it [ps].
    pub wake: Picos,
    /// From waking a process until its idle core runs it [ps].
    pub wake_latency: Picos,
}

/// The network card and its driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Receive queues, each polled by one core; flows are spread over them (RSS) [queues].
    #[serde(deserialize_with = "bounds::cores")]
    pub queues: usize,
    /// Descriptors of one receive ring [frames].
    #[serde(deserialize_with = "bounds::slots")]
    pub ring: usize,
    /// Longest wait for the interrupt of a received frame (`rx-usecs`) [ps].
    pub moderation_time: Picos,
    /// Frames that bring the interrupt at once (`rx-frames`); 0 for no such limit [frames].
    pub moderation_frames: u32,
    /// Packets of one softirq run (`net.core.netdev_budget`) [packets].
    #[serde(deserialize_with = "bounds::budget")]
    pub budget: u32,
    /// Longest softirq run (`net.core.netdev_budget_usecs`) [ps].
    pub budget_time: Picos,
    /// Payload that segments are merged to (GRO) and cut from (TSO); 0 for neither [B].
    pub merge: ByteCount,
}

/// The bus between card and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Time for each frame beside its bytes [ps].
    pub frame: Picos,
    /// Payload a second [b/s].
    #[serde(deserialize_with = "bounds::rate")]
    pub rate: BitRate,
}

/// The memory that all cores share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Most that all cores together copy [B/s].
    #[serde(deserialize_with = "bounds::byte_rate")]
    pub controller: ByteRate,
}

/// The line to the peers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Bits of Ethernet frames, preamble and gap included, a second [b/s].
    #[serde(deserialize_with = "bounds::rate")]
    pub rate: BitRate,
    /// Buffer of the router before it [B].
    #[serde(deserialize_with = "bounds::buffer")]
    pub queue: ByteCount,
    /// Time under way, each way [ps].
    pub delay: Picos,
    /// Packets lost at random, each way [ratio].
    #[serde(default, deserialize_with = "bounds::share")]
    pub loss: f64,
    /// Payload of a full frame [B].
    #[serde(deserialize_with = "bounds::message")]
    pub segment: ByteCount,
    /// All else of a frame: headers, checksum, preamble, gap [B].
    pub headers: ByteCount,
}

/// What the protocol stack costs on this host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Softirq, for each frame received [ps].
    pub frame: Picos,
    /// Softirq, for each buffer that goes up to a socket [ps].
    pub delivery: Picos,
    /// Softirq, for each acknowledgement received [ps].
    pub acknowledgement: Picos,
    /// A call that reads or writes, without its bytes [ps].
    pub call: Picos,
    /// Each buffer that goes down to the card [ps].
    pub transmit: Picos,
    /// Pinning the pages of one call that does not copy [ps].
    pub pin: Picos,
    /// Copying by one core alone [B/s].
    #[serde(deserialize_with = "bounds::byte_rate")]
    pub copy: ByteRate,
    /// What the kernel charges a socket for a frame beside its payload [B].
    pub overhead: ByteCount,
}

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
        bytes: ByteCount,
    },
    /// MPEG_hw and MPEG_sw: frames at their times, decoded by a device or by the core.
    Mpeg {
        /// The film.
        film: Film,
        /// Decoding by the core [ns/B]; 0 for a device that decodes.
        #[serde(default)]
        decode: NanosPerByte,
        /// From a frame's time at the sender until it is due [ps].
        playout_delay: Picos,
    },
    /// An RTP receiver: packets wait in a jitter buffer and are played at their times.
    Rtp {
        /// Payload a second [b/s].
        #[serde(deserialize_with = "bounds::rate")]
        rate: BitRate,
        /// Depth of the jitter buffer [ps].
        jitter_buffer: Picos,
        /// Work on a packet [ps].
        process: Picos,
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
