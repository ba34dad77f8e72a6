//! The vocabulary of bitpath: quantities with units, samples, statistics, pitfalls, the
//! environment as facts, and the run record that every tool writes.
//!
//! ```text
//! series of samples [unit] ──► statistics ──► figure: estimate with interval [unit] ──┐
//! environment facts ───────────────────────────────────────────────────────────────────┼──► Run (JSON)
//! doubts ──► pitfalls ─────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Nothing here reads a clock, a file or a socket: values come in as arguments.

pub mod agreement;
pub mod environment;
pub mod histogram;
pub mod pitfall;
pub mod quantity;
pub mod run;
pub mod series;
pub mod statistics;

pub use environment::Environment;
pub use pitfall::Pitfall;
pub use quantity::{BitRate, ByteCount, ByteRate, Hertz, PacketCount, Picos, QuantityError};
pub use run::Run;
pub use series::{Labels, Sample, Series, Unit};
pub use statistics::{Estimate, Method};
