//! A host that faces a network: card, bus, interrupts, cores, protocol stack, sockets, processes.
//!
//! ```text
//!  peer ──► line [b/s] ──► ring [frames] ──bus [ps]──► interrupt ──► softirq [ps] ──► socket [B]
//!   ▲                                                     on a core         │
//!   │                                                                       ▼ copy [ps/B]
//!  line ◄── card ◄── socket ◄── copy, or none (sendfile, zero-copy, RDMA) ◄── process: read, work, sleep, write
//! ```
//!
//! Unlike [`crate::path`], which is two processes of one host that talk to each other, a machine's
//! peers are at the far end of a line and cost it nothing but packets. Each component is a file.

mod assemble;
mod backlog;
mod bus;
mod calendar;
mod check;
pub mod closed_form;
mod copying;
mod core;
mod description;
mod engine;
mod flow;
mod impairment;
mod journal;
mod nic;
mod outcome;
mod packet;
mod process;
mod ranges;
mod receive;
mod record;
mod roles;
mod scheduler;
mod setup;
mod socket;
mod source;
mod tcp;
mod transmit;
mod watch;
mod wire;

pub use assemble::{run, run_with};
pub use check::MachineError;
pub use core::Busy;
pub use description::{
    Arrivals, Bus, Cache, CopyPath, CoreCopy, Cpu, Direction, Flow, Line, LossBursts, Machine,
    MachineScenario, Memory, Nic, Stack, Task, Timer,
};
pub use journal::KEPT_INCIDENTS;
pub use outcome::{Cause, FlowOutcome, Incident, Outcome, Trouble};
pub use record::{STATE, event, events, figures, timelines};
pub use watch::{Look, Next, watch};

#[cfg(test)]
mod changes;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
