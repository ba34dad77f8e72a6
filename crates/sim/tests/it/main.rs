//! What the simulator promises of every scenario, held against scenarios that nobody wrote by hand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agreement;
mod bare;
mod bounded;
mod deadlocks;
mod hostile;
mod more_resources;
mod shipped;
