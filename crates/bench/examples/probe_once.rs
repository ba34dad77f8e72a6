//! One measurement of ours at a time, for scripts/bench-probe, which runs other tools in between.
//!
//! ```text
//! standard input, a line each                       standard output, a line of JSON each
//! flow tcp|udp MESSAGE_BYTES                        bytes_per_second, sender_ns_per_byte, receiver_ns_per_byte, lost
//! ping tcp|udp MESSAGE_BYTES                        round_trip_ns (median)
//! memory read|write|copy MIX WORKING_SET_BYTES      bytes_per_second (median)
//! ```

use std::error::Error;
use std::io::{Write, stdin, stdout};

use bitpath_bench::here::Here;
use bitpath_bench::probe::memory::Arena;
use bitpath_bench::testbed::{Direction, Testbed};
use bitpath_bench::worker::{self, Buffers, FlowOrder, FlowSetup, PingOrder};
use bitpath_measure::statistics::median;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::memory::Pages;
use bitpath_platform::memory::kernels::{MIXES, Operation};
use bitpath_sim::profile::Transport;
use serde_json::{Value, json};

/// Buffers of both ends [B]: those that the other tools are told to take, too.
const BUFFERS: Buffers = Buffers { receive: 4 << 20, send: 4 << 20 };

/// Length of one transfer or one series of passes over memory [ns]: that of the other tools.
const TRANSFER_NS: f64 = 1e9;

/// Messages whose time says how many fill a transfer.
const TRIAL_MESSAGES: u64 = 2000;

/// Round trips of one measurement.
const PINGS: u64 = 20_000;

/// Largest working set that is asked for [B].
const LARGEST_SET: usize = 256 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).is_some_and(|first| first == "worker") {
        return Ok(worker::serve()?);
    }
    let mut bed = Testbed::over_loopback(&std::env::current_exe()?)?;
    let mut arena = Arena::take(&Here::new()?.cpus[..1], LARGEST_SET, Pages::Usual)?;
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match words.as_slice() {
            ["flow", transport, bytes] => flow(&mut bed, named(transport)?, bytes.parse()?)?,
            ["ping", transport, bytes] => ping(&mut bed, named(transport)?, bytes.parse()?)?,
            ["memory", operation, mix, bytes] => {
                memory(&mut arena, operation, mix, bytes.parse()?)?
            }
            _ => return Err(format!("`{line}` is nothing that can be measured").into()),
        };
        let mut output = stdout();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn named(transport: &str) -> Result<Transport, String> {
    let known =
        [Transport::Tcp, Transport::Udp].into_iter().find(|known| known.name() == transport);
    known.ok_or_else(|| format!("`{transport}` is neither tcp nor udp"))
}

fn flow(bed: &mut Testbed, transport: Transport, bytes: usize) -> Result<Value, Box<dyn Error>> {
    bed.open_flow(&FlowSetup::plain(transport, BUFFERS))?;
    let (trial, _) = bed.transfer(&FlowOrder::plain(bytes, TRIAL_MESSAGES), Direction::Forward)?;
    let message_ns = trial.elapsed_ns.max(1) as f64 / TRIAL_MESSAGES as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive count")]
    let messages = (TRANSFER_NS / message_ns) as u64;
    let order = FlowOrder::plain(bytes, messages.max(TRIAL_MESSAGES));
    let (sent, received) = bed.transfer(&order, Direction::Forward)?;
    Ok(json!({
        "bytes_per_second": received.bytes as f64 / received.elapsed_ns as f64 * 1e9,
        "sender_ns_per_byte": sent.cpu_ns as f64 / sent.bytes as f64,
        "receiver_ns_per_byte": received.cpu_ns as f64 / received.bytes.max(1) as f64,
        "lost": 1.0 - received.bytes as f64 / sent.bytes as f64,
    }))
}

fn ping(bed: &mut Testbed, transport: Transport, bytes: usize) -> Result<Value, Box<dyn Error>> {
    let setup = FlowSetup { no_delay: true, ..FlowSetup::plain(transport, BUFFERS) };
    bed.open_flow(&setup)?;
    let order = PingOrder { message_bytes: bytes, count: PINGS };
    let times = bed.pings(order, Direction::Forward)?.round_trip_ns;
    let times: Vec<f64> = times.into_iter().map(|time| time as f64).collect();
    Ok(json!({ "round_trip_ns": median(&times) }))
}

fn memory(
    arena: &mut Arena,
    operation: &str,
    mix: &str,
    bytes: usize,
) -> Result<Value, Box<dyn Error>> {
    let operations = [Operation::Read, Operation::Write, Operation::Copy];
    let operation = operations.into_iter().find(|known| known.name() == operation);
    let operation = operation.ok_or("read, write or copy")?;
    let mix = MIXES.into_iter().find(|known| known.name() == mix).ok_or("no such mix")?;
    if bytes > LARGEST_SET {
        return Err(format!("a working set is at most {LARGEST_SET} B").into());
    }
    let start_ns = monotonic_ns();
    let mut rates = Vec::new();
    while ((monotonic_ns() - start_ns) as f64) < TRANSFER_NS {
        rates.push(arena.bandwidth(operation, mix, bytes, false)?.bytes_per_second);
    }
    Ok(json!({ "bytes_per_second": median(&rates) }))
}
