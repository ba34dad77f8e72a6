//! The edge: everything that asks the kernel or the processor for something. Clocks, counters,
//! affinity, sockets, namespaces, buffers, the codec and processes; values out, no policy, no
//! printing.
//!
//! This is the only crate with `unsafe` code and the only one that makes system calls.
#![allow(
    unsafe_code,
    reason = "system calls without a safe wrapper are made here and nowhere else"
)]

pub mod affinity;
pub mod calibration;
pub mod channel;
pub mod clock;
pub mod codec;
pub mod counters;
pub mod facts;
pub mod interrupt;
pub mod latency;
pub mod link;
pub mod memory;
pub mod namespace;
pub mod noise;
pub mod process;
pub mod socket;
pub mod topology;
pub mod usage;

mod command;
mod error;

pub use error::PlatformError;
