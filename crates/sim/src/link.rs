//! The link between sender and receiver: a rate behind a bounded queue.

pub mod impairment;

use bitpath_measure::{BitRate, ByteCount, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::profile::Transport;

/// Header in front of every IP packet on Ethernet [B] (sysSIM table 1); a token bucket counts it.
const ETHERNET_HEADER: u64 = 14;

/// What the network does to packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bits of Ethernet frames a second [b/s]; none where the link never limits.
    #[serde(default, deserialize_with = "bounds::optional_rate")]
    pub rate: Option<BitRate>,
    /// Bytes of frames that wait for the link before more are dropped [B].
    #[serde(default = "default_queue", deserialize_with = "bounds::buffer")]
    pub queue: ByteCount,
    /// Time that a packet is under way [ps].
    #[serde(default)]
    pub delay: Picos,
}

/// A queue that no socket buffer overflows: then the sender waits and the link drops nothing.
fn default_queue() -> ByteCount {
    ByteCount(64 << 20)
}

impl Link {
    /// Ethernet frames of one message, headers included [B].
    #[must_use]
    pub fn frame_bytes(transport: Transport, message: ByteCount, packets: f64) -> ByteCount {
        let (header, per_message) = match transport {
            Transport::Udp => (20, 8),
            Transport::Tcp => (52, 0),
        };
        let headers = (header + ETHERNET_HEADER) as f64 * packets.ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive count"
        )]
        ByteCount(message.0 + per_message + headers as u64)
    }
}
