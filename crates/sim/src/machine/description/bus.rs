//! The bus between network card and memory as written: shared like PCI, or PCI Express.

use bitpath_measure::{BitRate, ByteCount, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::hardware::pcie::Link;

/// The bus between card and memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Bus {
    /// PCI and its like: one transfer at a time, whichever way.
    Shared {
        /// Time for each frame beside its bytes [ps].
        #[serde(deserialize_with = "bounds::cost")]
        frame: Picos,
        /// Bits of frames a second, both ways together [b/s].
        #[serde(deserialize_with = "bounds::rate")]
        rate: BitRate,
    },
    /// PCI Express: both ways at once; each packet of the link has its header (SIGCOMM 2018).
    Pcie {
        /// Time for each frame beside its bytes: descriptors, doorbells [ps].
        #[serde(deserialize_with = "bounds::cost")]
        frame: Picos,
        /// Generation, from 1.
        #[serde(deserialize_with = "bounds::generation")]
        generation: u8,
        /// Lanes.
        #[serde(deserialize_with = "bounds::lanes")]
        lanes: u8,
        /// Share of its bytes that acknowledgements and credits leave for packets [ratio].
        #[serde(default = "packet_share", deserialize_with = "bounds::share")]
        packet_share: f64,
        /// Most payload in a packet of the link [B].
        #[serde(deserialize_with = "bounds::message")]
        max_payload: ByteCount,
        /// Reads of the card under way at a time [reads].
        #[serde(deserialize_with = "bounds::budget")]
        in_flight: u32,
        /// From a read until its data is in the card [ps].
        #[serde(deserialize_with = "bounds::cost")]
        latency: Picos,
    },
}

fn packet_share() -> f64 {
    Link::gen3_x8().packet_share
}
