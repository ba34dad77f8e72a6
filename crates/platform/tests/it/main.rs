//! Tests against the real kernel: namespaces, processes and signals.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cable;
#[cfg(feature = "decode")]
mod codec;
mod link;
mod worker;
