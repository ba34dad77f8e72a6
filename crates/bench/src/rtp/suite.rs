//! The paper's three benchmarks (section III), and what stands between them.
//!
//! ```text
//! audio [B] ──► sender ──► packets ──► network ──► arrivals ──► receiver ──► audio [B], losses
//!                         [20 ms each]            [ns]    └───► control ──► reports, interval
//! ```
//!
//! The functions that the paper counts are kept whole (`inline(never)`): profilers and traces find them by name.

pub mod audio;
pub mod control;
pub mod input_ring;
pub mod network;
pub mod receiver;
pub mod sender;
pub mod verification;

/// Audio of one packet [B] (section III-A): 20 ms of G.711.
pub const UNIT_BYTES: usize = 160;

/// A tick of the media clock of G.711 [ns]: 8 kHz (RFC 3551, table 4); a byte is a tick.
pub const TICK_NS: u64 = 125_000;

/// Ticks of one packet's audio.
pub const UNIT_TICKS: u32 = 160;

/// Time of one packet's audio [ns].
pub const UNIT_NS: u64 = 20_000_000;

/// Buffer for a packet to be sent [B] (section III-A).
pub const OUTPUT_BYTES: usize = 10_000;

/// Buffer for packets that arrived [B] (section III-B).
pub const INPUT_BYTES: usize = 64 << 10;

/// Buffer for a report [B] (section III-C).
pub const REPORT_BYTES: usize = 100;

/// The sender's source.
pub const SSRC: u32 = 0x2004_0160;

/// First sequence number: the 16 bits wrap within the stream.
pub const FIRST_SEQUENCE: u16 = 50_000;

/// Number of the first unit: the first packet is counted a turn of the 16 bits ahead.
pub const FIRST_NUMBER: u64 = (1 << 16) + FIRST_SEQUENCE as u64;

/// First timestamp [ticks]: the 32 bits wrap within the stream.
pub const FIRST_TIMESTAMP: u32 = u32::MAX - 1_000_000;

/// Beginning of the stream, since 1970 [ns]: the day of the paper's workshop, so that captures are of a year that tools
/// show.
pub const START_NS: u64 = 1_100_000_000_000_000_000;
