//! The path through a host: two processes, a link, a socket buffer, and the processors that all
//! of it costs.
//!
//! ```text
//! sender ──send [ps]──► link [b/s] ──► (ring, softirq [ps]) ──► socket buffer [B] ──recv [ps]──► job [ps]
//!   ▲                      │                                        │                       sleeps, decodes
//!   └── blocked when full ─┘                  UDP: full, dropped; TCP: window closed, sender waits
//! ```
//!
//! A receiver that sleeps in its read must be woken: the sender's core pays for that, and the
//! receiver runs only a latency later. That coupling is why a fast receiver slows its sender.

mod bound;
mod costs;
mod engine;
mod outcome;
mod socket_buffer;

pub use crate::gauge::Course;
pub use bound::{Bound, bound, offered, send_time};
pub use engine::run;
pub use outcome::{Drop, DropCause, Drops, MAX_LOGGED_DROPS, Outcome};

#[cfg(test)]
pub(crate) mod tests;
