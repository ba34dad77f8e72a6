//! RTP data transfer, [RFC 3550](https://www.rfc-editor.org/rfc/rfc3550).
//!
//! ```text
//! datagram ──► packet ──► sequence ──► jitter ──► jitter buffer ──► payload ──► units of media
//!                         [losses]    [ticks]    [packets]
//! units of media ──► payload ──► header ──► datagram
//!
//! session: sources, headers and RTCP together
//! ```

mod clock;
mod extension;
mod header;
pub mod jitter;
pub mod jitter_buffer;
mod packet;
pub mod payload;
pub mod reception;
mod refusal;
pub mod sequence;
pub mod session;
pub mod sources;

pub use clock::{Anchor, ClockRate};
pub use extension::{Element, Elements, Extension};
pub use header::Header;
pub use jitter_buffer::JitterBuffer;
pub use packet::Packet;
pub use reception::Reception;
pub use refusal::{Refusals, Refused};
pub use session::Session;
pub use sources::Sources;

/// The version that is spoken ([RFC 3550 section 5.1](https://www.rfc-editor.org/rfc/rfc3550#section-5.1)).
pub const VERSION: u8 = 2;

/// Bytes that every header has [B].
pub const FIXED_HEADER_BYTES: usize = 12;

/// Most contributing sources of one packet: four bits count them.
pub const MAX_CSRCS: usize = 15;
