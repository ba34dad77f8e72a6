//! The line to the peers as written, with all that a network does to packets.

use bitpath_measure::{BitRate, ByteCount, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;

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
    #[serde(deserialize_with = "bounds::cost")]
    pub delay: Picos,
    /// Most that chance adds to it, each packet anew; packets keep their order [ps].
    #[serde(default, deserialize_with = "bounds::cost")]
    pub jitter: Picos,
    /// Packets lost at random, each way [ratio].
    #[serde(default, deserialize_with = "bounds::share")]
    pub loss: f64,
    /// Losses that come together; none where they are independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_bursts: Option<LossBursts>,
    /// Packets that arrive twice [ratio].
    #[serde(default, deserialize_with = "bounds::share")]
    pub duplicated: f64,
    /// Packets that others overtake [ratio].
    #[serde(default, deserialize_with = "bounds::share")]
    pub overtaken: f64,
    /// How much longer these are under way [ps].
    #[serde(default, deserialize_with = "bounds::cost")]
    pub overtaken_delay: Picos,
    /// Payload of a full frame [B].
    #[serde(deserialize_with = "bounds::message")]
    pub segment: ByteCount,
    /// All else of a frame: headers, checksum, preamble, gap [B].
    #[serde(deserialize_with = "bounds::extra")]
    pub headers: ByteCount,
}

/// Periods in which packets are lost more often (Gilbert 1960, Elliott 1963).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossBursts {
    /// Chance of a packet to be the first of such a period [ratio].
    #[serde(deserialize_with = "bounds::share")]
    pub begin: f64,
    /// Chance of a packet within it to be the last [ratio].
    #[serde(deserialize_with = "bounds::share")]
    pub end: f64,
    /// Chance of a packet within it to be lost [ratio].
    #[serde(deserialize_with = "bounds::share")]
    pub loss: f64,
}

impl Line {
    /// Whether chance decides over any packet.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.loss > 0.0
            || self.loss_bursts.is_some()
            || self.duplicated > 0.0
            || self.overtaken > 0.0
            || self.jitter > Picos(0)
    }
}
