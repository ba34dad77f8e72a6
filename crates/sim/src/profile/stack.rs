//! What the protocol stack costs, by transport and direction.

use std::fmt;
use std::str::FromStr;

use bitpath_measure::{ByteCount, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;

use super::Sourced;

/// Header bytes in front of the payload of one IP packet [B] (sysSIM table 1).
const IP_HEADER: u64 = 20;
/// UDP's own header [B].
const UDP_HEADER: u64 = 8;
/// TCP's own header with the time stamp option that Linux always negotiates [B].
const TCP_HEADER: u64 = 32;

/// How full the segments of small writes are on average [ratio]. Nagle's rule lets a part of a
/// segment go as soon as nothing is unacknowledged, so not all are full: costs of 64- and 512-byte
/// writes over a path without delay lie on one line for two thirds.
const NAGLE_FILL: f64 = 2.0 / 3.0;

/// A transport protocol.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Datagrams; what does not fit is lost.
    Udp,
    /// A byte stream; what does not fit waits.
    Tcp,
}

impl Transport {
    /// The name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }

    /// Packets that the stack handles for one call with this many bytes [packets].
    #[must_use]
    pub fn packets(self, bytes: ByteCount, mtu: ByteCount) -> f64 {
        match self {
            Self::Udp if self.splits(bytes, mtu) == 0.0 => 1.0,
            // Fragments but the last carry a multiple of eight bytes (RFC 791, section 3.2).
            Self::Udp => {
                let fragment = (mtu.0.saturating_sub(IP_HEADER) & !7).max(8);
                (bytes.0 + UDP_HEADER).div_ceil(fragment) as f64
            }
            Self::Tcp => (bytes.0 as f64 / (segment(mtu) as f64 * NAGLE_FILL)).min(1.0),
        }
    }
}

impl Transport {
    /// How often the bytes of a call are cut: a datagram once, a stream at each segment after its first, of
    /// which those behind the third cost no more than their bytes (measured between 1 and 46 segments).
    #[must_use]
    pub fn splits(self, bytes: ByteCount, mtu: ByteCount) -> f64 {
        match self {
            Self::Udp => f64::from(u8::from(bytes.0 + UDP_HEADER + IP_HEADER > mtu.0)),
            Self::Tcp => {
                let segments = bytes.0.div_ceil(segment(mtu));
                segments.saturating_sub(1).min(MOST_SPLITS) as f64
            }
        }
    }
}

/// Cuts of a stream's call that cost something.
const MOST_SPLITS: u64 = 2;

/// Payload of a whole TCP segment [B].
fn segment(mtu: ByteCount) -> u64 {
    mtu.0.saturating_sub(IP_HEADER + TCP_HEADER).max(1)
}

/// Costs of both transports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// UDP.
    pub udp: Directions,
    /// TCP.
    pub tcp: Directions,
}

impl Stack {
    /// The costs of one transport.
    #[must_use]
    pub fn of(&self, transport: Transport) -> &Directions {
        match transport {
            Transport::Udp => &self.udp,
            Transport::Tcp => &self.tcp,
        }
    }

    /// The costs of one transport, to change them.
    pub fn of_mut(&mut self, transport: Transport) -> &mut Directions {
        match transport {
            Transport::Udp => &mut self.udp,
            Transport::Tcp => &mut self.tcp,
        }
    }
}

/// Costs of the two ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Directions {
    /// Of one send call, all that runs in its context included.
    pub send: CallCost,
    /// Of one receive call that finds its data waiting.
    pub receive: CallCost,
}

/// Processor time of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallCost {
    /// For the call itself [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub per_call: Sourced<Picos>,
    /// For each packet [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub per_packet: Sourced<Picos>,
    /// For each cut of a call whose bytes do not fit one packet, at most two in a stream [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub per_split: Sourced<Picos>,
    /// For each byte [ns/B].
    pub per_byte: Sourced<NanosPerByte>,
}

/// What a call is charged for: the factors of the four terms of [`CallCost`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallSize {
    /// Packets [packets].
    pub packets: f64,
    /// Cuts that cost something.
    pub splits: f64,
    /// Bytes [B].
    pub bytes: f64,
}

impl CallSize {
    /// The size of a call with this many bytes.
    #[must_use]
    pub fn new(transport: Transport, bytes: ByteCount, mtu: ByteCount) -> Self {
        Self {
            packets: transport.packets(bytes, mtu),
            splits: transport.splits(bytes, mtu),
            bytes: bytes.0 as f64,
        }
    }

    /// The factors in the order call, packet, split, byte.
    #[must_use]
    pub fn terms(&self) -> [f64; 4] {
        [1.0, self.packets, self.splits, self.bytes]
    }
}

impl CallCost {
    /// Processor time of a call [ps].
    #[must_use]
    pub fn of(&self, size: CallSize) -> Picos {
        let per_packet = self.per_packet.value.as_nanos_f64() * size.packets;
        let per_split = self.per_split.value.as_nanos_f64() * size.splits;
        let per_byte = self.per_byte.value.0 * size.bytes;
        Picos::from_nanos_f64(
            self.per_call.value.as_nanos_f64() + per_packet + per_split + per_byte,
        )
    }
}

/// Processor time for a byte [ns/B]; written `0.05 ns/B`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct NanosPerByte(pub f64);

impl NanosPerByte {
    /// Time for this many bytes [ps].
    #[must_use]
    pub fn of(self, bytes: f64) -> Picos {
        Picos::from_nanos_f64(self.0 * bytes)
    }

    /// The same on a processor so many times as fast.
    #[must_use]
    pub fn at(self, speed: f64) -> Self {
        Self(self.0 / speed)
    }
}

/// A hundred times what the slowest decoder of the papers needs [ns/B].
const MOST: f64 = 1e5;

impl fmt::Display for NanosPerByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns/B", self.0)
    }
}

impl FromStr for NanosPerByte {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().strip_suffix("ns/B").map(|number| number.trim().parse::<f64>());
        match number {
            Some(Ok(value)) if (0.0..=MOST).contains(&value) => Ok(Self(value)),
            _ => Err(format!(
                "`{text}` is not a time for a byte: write a number from 0 to {MOST}, then ns/B"
            )),
        }
    }
}

impl Serialize for NanosPerByte {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NanosPerByte {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for NanosPerByte {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NanosPerByte".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "a time for a byte: a number and ns/B" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_cut_into_fragments_of_1480_bytes() {
        let packets = |bytes| Transport::Udp.packets(ByteCount(bytes), ByteCount(1500));
        assert_eq!(
            [packets(1), packets(1472), packets(1473), packets(65_507)],
            [1.0, 1.0, 2.0, 45.0]
        );
        assert_eq!(Transport::Udp.packets(ByteCount(65_507), ByteCount(65_536)), 1.0);
    }

    #[test]
    fn small_writes_share_a_segment_and_large_ones_make_one_pass() {
        let packets = |bytes| Transport::Tcp.packets(ByteCount(bytes), ByteCount(1500));
        assert!((packets(362) - 0.375).abs() < 1e-9);
        assert_eq!([packets(1448), packets(65_536)], [1.0, 1.0]);
    }

    #[test]
    fn a_datagram_is_cut_once_and_a_stream_at_its_first_segments() {
        let splits =
            |transport: Transport, bytes| transport.splits(ByteCount(bytes), ByteCount(1500));
        assert_eq!(
            [1472, 1473, 65_507].map(|bytes| splits(Transport::Udp, bytes)),
            [0.0, 1.0, 1.0]
        );
        let stream = [1, 1448, 1449, 2897, 65_536].map(|bytes| splits(Transport::Tcp, bytes));
        assert_eq!(stream, [0.0, 0.0, 1.0, 2.0, 2.0]);
    }

    #[test]
    fn costs_add_up() {
        let assumed = |nanos| Sourced::assumed(Picos::from_nanos(nanos), "test");
        let per_byte = Sourced::assumed(NanosPerByte(0.5), "test");
        let cost = CallCost {
            per_call: assumed(100),
            per_packet: assumed(1000),
            per_split: assumed(50),
            per_byte,
        };
        let size = CallSize::new(Transport::Udp, ByteCount(2000), ByteCount(1500));
        assert_eq!(cost.of(size), Picos::from_nanos(3150));
    }
}
