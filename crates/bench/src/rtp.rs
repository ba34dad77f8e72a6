//! The RTP suite: what processing RTP and RTCP costs a processor, instruction by instruction.
//!
//! ```text
//! audio ──► sender ──► capture ──► network ──► capture ──► receiver ──► audio
//!                     [packets]               [arrivals]       └──────► RTCP
//!
//! program ──► qemu ──► trace ──► instructions, accesses ──► core model ──► cycles, misses, rates
//!    └──────► functions ──► attribution ──► function of each instruction ──┘
//! ```
//!
//! It follows "Real-Time Network Processing: An Investigation" (Wu, Wong, Vassiliadis): section III, and tables
//! I to III, whose figures came from SimpleScalar.

pub mod analysis;
pub mod attribution;
pub mod capture;
pub mod core_model;
pub mod decode;
pub mod functions;
pub mod mix;
pub mod qemu;
pub mod study;
pub mod suite;
pub mod trace;
