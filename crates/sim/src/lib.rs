//! The simulator of the path of bytes through a host.
//!
//! No clock, no file, no thread: a result is a function of scenario and seed.

pub mod answer;
mod bounds;
pub mod compare;
pub mod engine;
mod gauge;
pub mod hardware;
pub mod host;
pub mod job;
pub mod link;
pub mod machine;
pub mod path;
pub mod pipeline;
pub mod profile;
pub mod published;
pub mod scenario;
mod table;
pub mod trends;
