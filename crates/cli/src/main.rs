//! The `bitpath` command: arguments to calls, results to the report.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this crate is the one that prints")]

mod arguments;
mod budget;
mod command;
mod cores;
mod failure;
mod limit;
mod live;
mod progress;
mod table;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Study(wanted) => command::study::run(&wanted),
        Command::Probe(wanted) => command::probe::run(&wanted),
        Command::Tune(wanted) => command::tune::run(&wanted),
        Command::Rtp(wanted) => command::rtp::run(&wanted),
        Command::Simulate(wanted) => command::simulate::run(&wanted),
        Command::Compare(wanted) => command::compare::run(&wanted),
        Command::Sweep(wanted) => command::sweep::run(&wanted),
        Command::Validate(wanted) => command::validate::run(&wanted),
        Command::Trends(wanted) => command::trends::run(&wanted),
        Command::Runs(wanted) => command::runs::run(&wanted),
        Command::Agent(wanted) => command::agent::run(&wanted),
        Command::Worker => command::worker::run(),
        Command::Keeper => command::worker::keep(),
    };
    outcome.unwrap_or_else(|failure| failure.show())
}
