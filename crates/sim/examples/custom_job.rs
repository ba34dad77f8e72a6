//! A job of one's own: what a process does, as a Rust closure, on a machine.
//!
//! Run it: `cargo run -p bitpath-sim --example custom_job`
//!
//! ```text
//! stream [B] ──read──► block of 256 KiB ──process [ps]──► free     1 ms a block, 20 ms for every hundredth
//! ```
//!
//! The machine is that of scenarios/ten-gigabit-tcp.toml: two cores, a stream at up to 10 Gb/s. A closure sees the time
//! and what its last read brought, and answers with its next step. What a process remembers is in the closure.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use bitpath_measure::{ByteCount, Picos};
use bitpath_sim::job::{Program, Seen, Step};
use bitpath_sim::machine;
use bitpath_sim::scenario::{Scenario, Subject};

const SCENARIO: &str = include_str!("../../../scenarios/ten-gigabit-tcp.toml");

const BLOCK: ByteCount = ByteCount(256 << 10);

/// What the closure does next.
enum Phase {
    Read,
    Process,
    Free,
}

/// Collects whole blocks and works on each; every hundredth takes twenty times as long.
fn compressor() -> impl FnMut(&Seen) -> Step {
    let (mut phase, mut held, mut blocks, mut reading) = (Phase::Read, 0, 0_u64, false);
    move |seen| {
        if std::mem::take(&mut reading) {
            held += seen.read.0;
            phase = if held < BLOCK.0 { Phase::Read } else { Phase::Process };
        }
        match phase {
            Phase::Read => {
                reading = true;
                Step::Read(ByteCount(BLOCK.0 - held))
            }
            Phase::Process => {
                phase = Phase::Free;
                blocks += 1;
                let milliseconds = if blocks.is_multiple_of(100) { 20 } else { 1 };
                Step::Process(Picos::from_nanos(milliseconds * 1_000_000))
            }
            Phase::Free => {
                (phase, held) = (Phase::Read, 0);
                Step::Free(BLOCK)
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Scenario::parse(SCENARIO)?;
    let Subject::Machine(subject) = scenario.subject else { return Err("no machine".into()) };
    let built_in = machine::run(&subject.machine, subject.interval, scenario.seed)?;

    // One program for each flow of the machine; this one has one.
    let programs: Vec<Box<dyn Program>> = vec![Box::new(compressor())];
    let custom = machine::run_with(&subject.machine, subject.interval, scenario.seed, programs)?;

    println!("                         reads only   compresses");
    let row = |name: &str, value: fn(&machine::Outcome) -> f64| {
        println!("{name:<22} {:12.2} {:12.2}", value(&built_in), value(&custom));
    };
    row("throughput [Gb/s]", |outcome| outcome.throughput() / 1e9);
    row("load of core 1", |outcome| outcome.load(1));
    row("closed windows", |outcome| outcome.flows[0].stalls as f64);
    row("peer waited [ms]", |outcome| outcome.flows[0].stalled.0 as f64 / 1e9);
    row("kernel latency [ms]", |outcome| outcome.kernel_latency_s() * 1e3);
    Ok(())
}
