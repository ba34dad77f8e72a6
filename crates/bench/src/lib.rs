//! Experiments on live hosts.
//!
//! ```text
//! study ──► probe ──► host profile ──► sim ──► predicted ──┐
//!    │                                                     ├──► checks ──► answer ──► Run
//!    └────► job (the same value, real sockets) ► measured ─┘
//! ```
//!
//! What is measured runs in worker processes of its own, pinned to their processors; this crate's
//! parent half only tells them what to do and draws conclusions.

pub mod agent;
pub mod clip;
mod error;
pub mod film;
pub mod here;
pub mod job;
pub mod probe;
pub mod progress;
pub mod rtp;
pub mod sampling;
pub mod sitting;
pub mod steps;
pub mod study;
pub mod sweep;
pub mod testbed;
pub mod tune;
pub mod worker;

pub use error::BenchError;
