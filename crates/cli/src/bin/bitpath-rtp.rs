//! The RTP suite's programs: each one benchmark over files, started by `bitpath rtp suite`, by callgrind or by QEMU.
//! Small, so that what is counted is the benchmark. Any other library's program that takes the same
//! arguments and prints the same lines can stand in its place (docs/reference/rtp-suite.md).
#![allow(clippy::print_stdout, reason = "this crate is the one that prints")]

use std::error::Error;
use std::fs;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use bitpath_bench::rtp::capture::{Capture, CaptureWriter};
use bitpath_bench::rtp::suite::network;
use bitpath_bench::rtp::suite::receiver::{Receiver, Settings, receive};
use bitpath_bench::rtp::suite::sender::{Output, send};
use bitpath_bench::rtp::suite::{audio, control};
use bitpath_platform::clock::{monotonic_ns, thread_cpu_ns};
use clap::{Parser, Subcommand};
use serde_json::{Value, json};

/// Ends of the stream, as captures name them.
const ENDS: [SocketAddrV4; 2] = [
    SocketAddrV4::new(std::net::Ipv4Addr::new(10, 0, 0, 1), 5004),
    SocketAddrV4::new(std::net::Ipv4Addr::new(10, 0, 0, 2), 5004),
];

/// Room for a header and padding beside each unit in memory [B].
const PACKET_ROOM: usize = 16;

#[derive(Parser)]
#[command(name = "bitpath-rtp", version, about = "The benchmarks of the RTP suite, one by one")]
struct Arguments {
    #[command(subcommand)]
    program: Program,
}

#[derive(Subcommand)]
enum Program {
    /// Write the audio that the suite sends where the user has none.
    Audio {
        /// The file.
        #[arg(long)]
        output: PathBuf,
        /// Its size in bytes.
        #[arg(long, default_value_t = audio::PAPER_BYTES)]
        bytes: usize,
        /// What it is made from.
        #[arg(long, default_value_t = 2004)]
        seed: u64,
    },
    /// Send the audio: to memory as often as told, and once to a capture.
    Send {
        /// The audio.
        #[arg(long)]
        input: PathBuf,
        /// The capture.
        #[arg(long)]
        output: Option<PathBuf>,
        /// Times that it is done in memory, each a line with its times.
        #[arg(long, default_value_t = 1)]
        runs: u32,
    },
    /// Carry a capture over a network that reorders, loses or doubles packets.
    Carry {
        /// What the sender wrote.
        #[arg(long)]
        input: PathBuf,
        /// What arrives.
        #[arg(long)]
        output: PathBuf,
        /// Which input of the receiver it becomes: `R_input1` to 3, loss, duplication, burst.
        #[arg(long)]
        name: String,
        /// What chance is made from.
        #[arg(long, default_value_t = 2004)]
        seed: u64,
    },
    /// Receive a capture and play it: to memory as often as told, and once to a file.
    Receive {
        /// The capture.
        #[arg(long)]
        input: PathBuf,
        /// The audio.
        #[arg(long)]
        output: Option<PathBuf>,
        /// Overwrite packets that wait when the input buffer is full, as the paper does.
        #[arg(long)]
        overwrite: bool,
        /// Units that a unit waits for those that it overtook.
        #[arg(long, default_value_t = Settings::default().threshold_units)]
        threshold: u64,
        /// Times that it is done in memory, each a line with its times.
        #[arg(long, default_value_t = 1)]
        runs: u32,
    },
    /// Report on a capture behind every packet.
    Report {
        /// The capture.
        #[arg(long)]
        input: PathBuf,
        /// Members of the session.
        #[arg(long, default_value_t = 2)]
        members: u32,
        /// Times that it is done, each a line with its times.
        #[arg(long, default_value_t = 1)]
        runs: u32,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    match Arguments::parse().program {
        Program::Audio { output, bytes, seed } => {
            fs::write(&output, audio::noise(bytes, seed)).map_err(|error| at(&output, &error))
        }
        Program::Send { input, output, runs } => sender(&input, output.as_deref(), runs),
        Program::Carry { input, output, name, seed } => carry(&input, &output, &name, seed),
        Program::Receive { input, output, overwrite, threshold, runs } => {
            let settings = Settings { overwrite, threshold_units: threshold };
            receiver(&input, output.as_deref(), settings, runs)
        }
        Program::Report { input, members, runs } => reporter(&input, members, runs),
    }
}

/// An error with its file.
fn at(path: &Path, error: &std::io::Error) -> Box<dyn Error> {
    format!("{}: {error}", path.display()).into()
}

fn sender(input: &Path, output: Option<&Path>, runs: u32) -> Result<(), Box<dyn Error>> {
    let audio = fs::read(input).map_err(|error| at(input, &error))?;
    let mut memory = Vec::with_capacity(audio.len() + audio.len().div_ceil(160) * PACKET_ROOM);
    for _ in 0..runs {
        memory.clear();
        let (packets, took) = timed(|| send(&audio, &mut Output::Memory(&mut memory)));
        print_run(packets?, took, json!({}));
    }
    if let Some(output) = output {
        let mut file = CaptureWriter::create(output, ENDS[0], ENDS[1])?;
        send(&audio, &mut Output::File(&mut file))?;
        file.finish()?;
    }
    Ok(())
}

fn carry(input: &Path, output: &Path, name: &str, seed: u64) -> Result<(), Box<dyn Error>> {
    let known = network::inputs();
    let Some(network) = known.iter().find(|input| input.name == name) else {
        let names: Vec<&str> = known.iter().map(|input| input.name).collect();
        return Err(format!("--name {name}: it is none of {}", names.join(", ")).into());
    };
    let mut file = CaptureWriter::create(output, ENDS[0], ENDS[1])?;
    network::carry(&Capture::read(input)?, &network.impairment, seed, &mut file)?;
    Ok(file.finish()?)
}

fn receiver(
    input: &Path,
    output: Option<&Path>,
    settings: Settings,
    runs: u32,
) -> Result<(), Box<dyn Error>> {
    let arrivals = Capture::read(input)?;
    let room = arrivals.datagrams().map(|(_, bytes)| bytes.len()).sum();
    let mut audio = Vec::with_capacity(room);
    let mut last = None;
    for _ in 0..runs {
        audio.clear();
        let (receiver, took) = timed(|| receive(&arrivals, settings, &mut audio));
        print_run(arrivals.datagrams().len() as u64, took, of_receiver(&receiver));
        last = Some(receiver);
    }
    if let Some(output) = output {
        if last.is_none() {
            let _ = receive(&arrivals, settings, &mut audio);
        }
        fs::write(output, &audio).map_err(|error| at(output, &error))?;
    }
    Ok(())
}

/// What a receiver says of a run beside its times.
fn of_receiver(receiver: &Receiver) -> Value {
    let (counts, heard_of) = (receiver.counts(), receiver.heard_of());
    json!({
        "first": heard_of.start, "behind_last": heard_of.end, "lost": receiver.lost(),
        "late": counts.late, "duplicates": counts.duplicates, "refused": counts.refused,
        "unreadable": counts.unreadable, "overwritten": counts.overwritten, "early": counts.early,
        "jitter_ticks": receiver.reception().jitter_ticks(),
    })
}

fn reporter(input: &Path, members: u32, runs: u32) -> Result<(), Box<dyn Error>> {
    let arrivals = Capture::read(input)?;
    for _ in 0..runs {
        let (last, took) = timed(|| control::reports(&arrivals, members));
        let Some(last) = last? else { return Err("nothing arrived".into()) };
        let more = json!({ "report_bytes": last.bytes, "interval_ns": last.interval_ns });
        print_run(arrivals.datagrams().len() as u64, took, more);
    }
    Ok(())
}

/// What work takes: by the wall clock and of the processor [ns].
fn timed<T>(work: impl FnOnce() -> T) -> (T, [u64; 2]) {
    let (wall_ns, cpu_ns) = (monotonic_ns(), thread_cpu_ns());
    let done = work();
    (done, [monotonic_ns() - wall_ns, thread_cpu_ns() - cpu_ns])
}

fn print_run(packets: u64, [wall_ns, cpu_ns]: [u64; 2], more: Value) {
    let mut line = json!({ "packets": packets, "wall_ns": wall_ns, "cpu_ns": cpu_ns });
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more);
    }
    println!("{line}");
}
