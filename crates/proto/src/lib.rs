//! Wire formats and protocol states: bytes and time come in, bytes and deadlines go out.
//!
//! Nothing here reads a clock or a socket, and nothing allocates for a packet: parsers borrow
//! from the datagram, writers fill a buffer of the caller's.

mod error;
pub mod rtcp;
pub mod rtp;

pub use error::ProtoError;
