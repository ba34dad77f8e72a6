//! RTP control protocol, [RFC 3550 section 6](https://www.rfc-editor.org/rfc/rfc3550#section-6), with the
//! extended reports of [RFC 3611](https://www.rfc-editor.org/rfc/rfc3611).
//!
//! ```text
//! datagram ──► compound ──► SR, RR ────► report blocks ──► losses, jitter [ticks], round trip [1/65 536 s]
//!                      ├──► SDES, BYE ─► members ──► interval [ns] ──► scheduler ──► report, goodbye or wait [ns]
//!                      └──► XR ────────► losses one by one, quality of a call
//! report blocks, items, sources ──► writer ──► datagram
//! ```

mod app;
mod bye;
mod compound;
mod interval;
pub mod ntp;
mod report;
mod round_trip;
mod scheduler;
mod sdes;
mod writer;
pub mod xr;

pub use app::App;
pub use bye::Goodbye;
pub use compound::{Compound, Packets, RtcpPacket};
pub use interval::{Budget, Counts, Minimum, randomised_ns};
pub use report::{ReceiverReport, ReportBlock, SenderInfo, SenderReport, clamp_cumulative_lost};
pub use round_trip::round_trip;
pub use scheduler::{Scheduler, Timer};
pub use sdes::{Item, Items, SourceDescription};
pub use writer::Writer;

use crate::ProtoError;

/// Bytes that every packet of a compound begins with [B] ([RFC 3550 section 6.4.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.4.1)).
pub const HEADER_BYTES: usize = 4;

/// Most report blocks, chunks or sources of one packet: five bits count them.
pub const MAX_COUNT: usize = 31;

// Packet types, RFC 3550 section 12.1 and RFC 3611 section 6.1.
const SENDER_REPORT: u8 = 200;
const RECEIVER_REPORT: u8 = 201;
const SOURCE_DESCRIPTION: u8 = 202;
const GOODBYE: u8 = 203;
const APPLICATION: u8 = 204;
const EXTENDED_REPORT: u8 = 207;

/// The bit of the first byte that says that padding ends the packet (section 6.4.1).
const PADDING_BIT: u8 = 0x20;

/// The word that begins at byte `at`.
#[inline]
fn word<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cold]
fn short(what: &'static str, needed: usize, found: usize) -> ProtoError {
    ProtoError::Short { what, needed, found }
}

#[cold]
fn forbidden(what: &'static str, found: usize, rule: &'static str) -> ProtoError {
    ProtoError::Forbidden { what, found: found as u64, rule }
}
