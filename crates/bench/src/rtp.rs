//! The RTP suite: what processing RTP and RTCP costs a processor, instruction by instruction.
//!
//! ```text
//! audio ──► sender ──► capture ──► network ──► capture ──► receiver ──► audio
//!                     [packets]               [arrivals]       └──────► RTCP
//! ```
//!
//! It follows "Real-Time Network Processing: An Investigation" (Wu, Wong, Vassiliadis), section III.

pub mod capture;
pub mod suite;
