//! Memory and caches as written: what a core copies, and what all of them share.

use bitpath_measure::{ByteCount, ByteRate, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;

/// Memory, and the caches before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Most that all cores together copy, the card's transfers taken off [B/s].
    #[serde(deserialize_with = "bounds::byte_rate")]
    pub controller: ByteRate,
    /// What one core copies where the bytes are in no cache.
    pub core: CoreCopy,
    /// The caches of a core, the smallest first.
    #[serde(default, deserialize_with = "bounds::caches")]
    pub caches: Vec<Cache>,
    /// Whether what the card receives is in the last cache, not in memory (direct cache access).
    #[serde(default)]
    pub direct_cache_access: bool,
}

/// What one core alone copies from and to memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CoreCopy {
    /// As measured.
    Rate {
        /// Payload, each byte counted once [B/s].
        #[serde(deserialize_with = "bounds::byte_rate")]
        rate: ByteRate,
    },
    /// So many cache lines under way at a time, each for so long.
    Credits {
        /// Line fill buffers: 10 to 12 in most cores of the last twenty years [lines].
        #[serde(deserialize_with = "bounds::budget")]
        credits: u32,
        /// Latency of memory [ps].
        #[serde(deserialize_with = "bounds::service")]
        latency: Picos,
    },
}

/// One level of cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// What it holds [B].
    #[serde(deserialize_with = "bounds::buffer")]
    pub size: ByteCount,
    /// Copying within it, each byte counted once [B/s].
    #[serde(deserialize_with = "bounds::byte_rate")]
    pub copy: ByteRate,
}

/// A cache line [B].
const LINE: f64 = 64.0;

impl CoreCopy {
    /// Payload a second [B/s].
    #[must_use]
    pub fn rate(self) -> ByteRate {
        match self {
            Self::Rate { rate } => rate,
            Self::Credits { credits, latency } => {
                ByteRate(f64::from(credits) * LINE / latency.as_secs_f64())
            }
        }
    }
}
