//! The probe: what the model must know of this host, measured part by part.
//!
//! ```text
//! clocks, system call, switch [ns] ─┐
//! copy bandwidth [B/s] ─────────────┤
//! stack: burst and drain [ns/call] ─┼──► Sampler (series) ──► fits ──► host profile (TOML)
//! wake-ups [ns] ────────────────────┤
//! decoder [ns/frame] ───────────────┘
//! ```

pub mod decode;
pub mod host;
pub mod levels;
pub mod memory;
pub mod profile;
pub mod socket_memory;
pub mod stack;
pub mod wake;
