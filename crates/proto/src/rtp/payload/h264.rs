//! H.264 video: [RFC 6184](https://www.rfc-editor.org/rfc/rfc6184), packetization modes 0 and 1.
//!
//! ```text
//! NAL unit   | F | NRI |  type  | ...                        F 1 bit, must be 0; NRI 2 bits; type 5 bits
//! single     a NAL unit, types 1 to 23
//! STAP-A     | F | NRI |  24 | size: 2 B | NAL unit | size: 2 B | NAL unit | ...
//! FU-A       | F | NRI |  28 | S | E | R |  type | part of a NAL unit, without its first byte
//! ```
//!
//! All packets of an access unit, which is a picture and what belongs to it, have its timestamp (90 kHz), and the
//! last has the marker.

pub mod annex_b;
pub mod avc;
mod depacketiser;
mod packetiser;

use super::forbidden;
use crate::ProtoError;

pub use depacketiser::Depacketiser;
pub use packetiser::{Packetiser, Payloads};

/// Rate of the timestamp [Hz].
pub const CLOCK_RATE_HZ: u32 = 90_000;

/// Largest access unit that is put together [B]. The largest pictures below 8K, 36 864 macroblocks of 384 B, must be
/// compressed to a half (H.264, table A-1, levels 5.1 and 5.2): 7.1 MB.
pub const MAX_ACCESS_UNIT_BYTES: usize = 8 << 20;

/// A packet of several NAL units of one time.
const STAP_A: u8 = 24;

/// A packet of a part of a NAL unit.
const FU_A: u8 = 28;

/// First part of a NAL unit, in the second byte of an FU-A.
const START: u8 = 0x80;

/// Last part.
const END: u8 = 0x40;

/// What may be in a packet, as a session description's `packetization-mode` says it (section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketizationMode {
    /// Mode 0: NAL units as they are, so none may be larger than a packet.
    SingleNalUnit,
    /// Mode 1: STAP-A and FU-A, too.
    NonInterleaved,
}

/// What the first byte of a NAL unit says about what to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NalType {
    /// Types 1 to 23: for the decoder.
    Unit,
    /// Types 0, 30 and 31 mean nothing yet; receivers ignore them (section 5.2).
    Undefined,
    /// Types 24 to 29: packets of other forms, which are no NAL units.
    Packet(u8),
}

impl NalType {
    /// The type in the first byte of a NAL unit or payload.
    fn of(header: u8) -> Result<Self, ProtoError> {
        if header & 0x80 != 0 {
            return Err(forbidden("forbidden_zero_bit of a NAL unit", 1, "it is 0"));
        }
        Ok(match header & 0x1f {
            0 | 30 | 31 => Self::Undefined,
            packet @ 24..=29 => Self::Packet(packet),
            _ => Self::Unit,
        })
    }
}
