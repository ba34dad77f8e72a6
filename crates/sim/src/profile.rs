//! The host profile: what a probe writes and the model reads. Every value carries its source.
//!
//! ```text
//! cost of one call [ns] = per call + per packet x packets + per split x splits + per byte x bytes
//! ```
//!
//! A packet is what the stack handles at a time: for UDP an IP fragment; for TCP a pass down the
//! stack, of which a call makes at most one and small calls share one (Nagle's rule). A call is
//! split where its bytes need more than one packet on the wire: fragmenting costs something once before
//! it costs something for each, cutting segments at the first two cuts.

mod figures;
mod socket_memory;
mod sourced;
mod stack;
mod wake;

pub use socket_memory::{PacketMemory, SocketMemory};
pub use sourced::{Source, Sourced};
pub use stack::{CallCost, CallSize, Directions, NanosPerByte, Stack, Transport};
pub use wake::{Wake, WakeCost, WakeError, WakeUp};

use bitpath_measure::{BitRate, ByteCount, ByteRate, Hertz, Picos};
use bitpath_media::FrameKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;

/// Everything that the model knows of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostProfile {
    /// The host's name.
    pub name: String,
    /// The processors.
    pub cpu: Cpu,
    /// What it costs to wake a sleeping receiver, by how long it slept.
    #[schemars(with = "Vec<WakeCost>")]
    pub wake: Wake,
    /// What the path between sender and receiver is made of.
    pub path: Path,
    /// Costs of the protocol stack.
    pub stack: Stack,
    /// How much socket buffer a packet takes.
    pub socket_memory: SocketMemory,
    /// Copy bandwidth by working set, from the smallest.
    #[serde(default)]
    pub copy: Vec<CopyBandwidth>,
    /// Decoding costs by clip.
    #[serde(default)]
    pub decode: Vec<DecodeCost>,
}

impl HostProfile {
    /// The profile that a text holds (TOML); none where it holds something else.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        toml::from_str(text).ok()
    }
}

/// The processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// Cores that sender and receiver may use [cores].
    pub cores: Sourced<u32>,
    /// Rate of the counter that cycles are counted by [Hz].
    pub clock: Sourced<Hertz>,
    /// A system call that does nothing [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub system_call: Sourced<Picos>,
    /// A switch between two threads of one core [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub context_switch: Sourced<Picos>,
    /// Processor time of one sleep until a given time, and of what the work behind it takes longer [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub timer_sleep: Sourced<Picos>,
    /// How late such a sleep ends [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub timer_lateness: Sourced<Picos>,
}

/// What lies between the two sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// What it is.
    pub kind: PathKind,
    /// Largest IP packet [B].
    pub mtu: Sourced<ByteCount>,
    /// Processor time of the receive half of the stack below the socket, a packet [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub softirq_per_packet: Sourced<Picos>,
    /// Whose core spends it.
    pub softirq_on: Side,
    /// Descriptors in the receive ring [packets]; none where there is no device.
    #[serde(default)]
    pub ring: Option<Sourced<u32>>,
    /// Line rate [b/s]; none where nothing limits it.
    #[serde(default)]
    pub line_rate: Option<Sourced<BitRate>>,
}

/// Kinds of path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathKind {
    /// A real network interface.
    Nic,
    /// A pair of virtual interfaces between two network namespaces.
    Veth,
    /// The loopback interface.
    Loopback,
}

/// One end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The sending process and its core.
    Sender,
    /// The receiving process and its core.
    Receiver,
}

/// Copy bandwidth at one working set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyBandwidth {
    /// Source and destination together [B].
    pub working_set: ByteCount,
    /// Payload copied, each byte counted once [B/s].
    pub bandwidth: Sourced<ByteRate>,
}

/// What decoding one clip costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecodeCost {
    /// The clip.
    pub clip: String,
    /// What a frame costs more when its player slept before it [ps].
    #[serde(default = "DecodeCost::no_rest", deserialize_with = "bounds::sourced_cost")]
    pub after_sleep: Sourced<Picos>,
    /// Costs by kind of frame.
    pub frames: Vec<FrameCost>,
}

/// Decoding cost of one kind of frame: a picture's share that does not depend on its size, and a
/// byte's share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameCost {
    /// The kind.
    pub kind: FrameKind,
    /// For each frame [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub per_frame: Sourced<Picos>,
    /// For each compressed byte [ns/B].
    pub per_byte: Sourced<NanosPerByte>,
}

impl DecodeCost {
    /// What a frame costs more behind a sleep where nobody measured it: nothing [ps].
    #[must_use]
    pub fn no_rest() -> Sourced<Picos> {
        Sourced::assumed(
            Picos(0),
            "not known: a frame costs the same whether its player slept or not",
        )
    }

    /// Time to decode one frame [ps]; a kind that the clip did not have costs nothing.
    #[must_use]
    pub fn of(&self, kind: FrameKind, bytes: u32) -> Picos {
        let cost = self.frames.iter().find(|cost| cost.kind == kind);
        cost.map_or(Picos(0), |cost| {
            Picos(cost.per_frame.value.0 + cost.per_byte.value.of(f64::from(bytes)).0)
        })
    }
}
