//! Tests of the `bitpath` command from outside: what is typed, what comes back, what is left.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed; what it measured is shown with --nocapture"
)]

mod agent;
#[cfg(feature = "decode")]
mod clips;
mod compare;
mod invocation;
mod limits;
mod live;
mod output_folder;
mod overrides;
mod parts;
#[cfg(feature = "decode")]
mod planted;
mod probe;
mod processes;
mod records;
mod rights;
mod rtp;
mod rtp_streams;
mod scenario_mistakes;
mod simulate;
mod stopping;
mod study;
mod sweep;
mod tables;
mod texts;
mod trends;
mod tune;
mod turns;
mod unprivileged;
