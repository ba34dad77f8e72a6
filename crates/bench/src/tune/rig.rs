//! Where samples are taken: conditions are set up anew for each sample, also where they did not
//! change, so that equal values are treated equally.
//!
//! ```text
//! Setup ─► processors, interfaces, sockets ─► warm-up ─► one slice ─► values of the quantities
//! ```

use std::path::{Path, PathBuf};

use bitpath_measure::statistics::median;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::link::{LinkKeeper, Setting};
use bitpath_platform::memory::{self, Buffer};
use bitpath_sim::profile::{Side, Transport};

use super::knob::Setup;
use super::measure::Measure;
use crate::BenchError;
use crate::here::{Here, on_cpu};
use crate::sampling::Bed;
use crate::testbed::{Direction, Slice, Testbed};
use crate::worker::{FlowOrder, PingOrder};

/// Argument by which the program keeps settings of interfaces ([`bitpath_platform::link::keep`]).
pub const KEEPER: &str = "keeper";

/// Length of the slice of a stream that is measured [ns]: short, so that both values of a pair meet
/// the same machine, and hundreds of thousands of steps of its clock.
const SLICE_NS: f64 = 20e6;

/// One in so many messages of a slice warms the connection up before: it comes out of slow start.
const WARM_UP_SHARE: u64 = 2;

/// Least length of the warm-up [ns]: half of what is meant, so that a fast moment does not repeat it.
const LEAST_WARM_UP_NS: f64 = SLICE_NS / (2 * WARM_UP_SHARE) as f64;

/// Round trips of a sample, after a tenth as many that do not count.
const PINGS: u64 = 500;

/// Memory that a sender cycles through [B]: it fits a second-level cache.
const SOURCE_BYTES: usize = 1 << 20;

/// Time that copies of memory are made for a sample [ns].
const COPY_NS: u64 = 5_000_000;

/// What is measured on.
#[derive(Debug)]
enum Ground {
    /// Two workers and the path between them.
    Path(Box<Testbed>),
    /// A thread of this process.
    Here(Here),
}

/// The ground and who puts its settings back.
#[derive(Debug)]
pub(super) struct Rig {
    program: PathBuf,
    measure: Measure,
    /// Before the ground: settings are put back while the interfaces are there.
    keeper: Option<LinkKeeper>,
    ground: Ground,
}

impl Bed for Rig {
    fn speed(&mut self) -> Result<f64, BenchError> {
        match &mut self.ground {
            Ground::Path(bed) => bed.speed(),
            Ground::Here(here) => here.speed(),
        }
    }

    fn pids(&self) -> Vec<u32> {
        match &self.ground {
            Ground::Path(bed) => bed.pids(),
            Ground::Here(here) => here.pids(),
        }
    }
}

/// Messages of the last slice at one value; none before the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    messages: u64,
}

impl Rig {
    pub(super) fn build(program: &Path, measure: Measure) -> Result<Self, BenchError> {
        let ground = match measure {
            Measure::MemoryCopy => Ground::Here(Here::new()?),
            _ => Ground::Path(Box::new(Testbed::open(program)?)),
        };
        Ok(Self { program: program.into(), measure, keeper: None, ground })
    }

    /// Doubts about the ground itself.
    pub(super) fn doubts(&mut self) -> Vec<bitpath_measure::Pitfall> {
        match &mut self.ground {
            Ground::Path(bed) => std::mem::take(&mut bed.pitfalls),
            Ground::Here(_) => Vec::new(),
        }
    }

    /// Puts every setting back.
    pub(super) fn put_back(&mut self) -> Result<(), BenchError> {
        Ok(self.keeper.take().map_or(Ok(()), LinkKeeper::put_back)?)
    }

    /// Brings about the conditions.
    pub(super) fn set_up(&mut self, setup: &Setup) -> Result<(), BenchError> {
        let Ground::Path(bed) = &mut self.ground else { return Ok(()) };
        if let Some(cpus) = setup.cpus {
            bed.pin(cpus)?;
        }
        for &(setting, value) in &setup.link {
            let keeper = match &mut self.keeper {
                Some(keeper) => keeper,
                none => none.insert(LinkKeeper::start(&self.program, &[KEEPER])?),
            };
            keeper.set(&bed.link(sets(setting)), setting, value)?;
        }
        bed.open_flow(&setup.flow)
    }

    /// One sample under conditions that are set up: the values of the measure's quantities.
    pub(super) fn sample(
        &mut self,
        setup: &Setup,
        pace: &mut Pace,
    ) -> Result<Vec<f64>, BenchError> {
        match (&mut self.ground, self.measure) {
            (Ground::Here(here), _) => copies(here, setup),
            (Ground::Path(bed), Measure::Latency) => latency(bed, setup),
            (Ground::Path(bed), _) => slice(bed, setup, pace),
        }
    }
}

/// The side whose interface a setting is one of.
fn sets(setting: Setting) -> Side {
    match setting {
        Setting::GenericSegmentation | Setting::TcpSegmentation | Setting::TransmitRing => {
            Side::Sender
        }
        Setting::GenericReceive
        | Setting::ReceiveRing
        | Setting::ReceiveMicroseconds
        | Setting::ReceiveFrames => Side::Receiver,
    }
}

/// A slice of a flow, after some of it that does not count.
fn slice(bed: &mut Testbed, setup: &Setup, pace: &mut Pace) -> Result<Vec<f64>, BenchError> {
    let streams = setup.flow.streams as u64;
    let warm_up = (pace.messages / WARM_UP_SHARE).max(streams);
    let plain = FlowOrder::plain(setup.message_bytes, warm_up);
    let order = FlowOrder { path: setup.path, source_bytes: SOURCE_BYTES, ..plain };
    let wanted =
        Slice { length_ns: SLICE_NS, warm_up_ns: LEAST_WARM_UP_NS, least_messages: streams };
    let (sent, received) = bed.slice(&wanted, &order, Direction::Forward)?;
    if received.bytes == 0 {
        let job = format!("{} messages of {} B", sent.messages, setup.message_bytes);
        return Err(BenchError::NothingArrived { job });
    }
    pace.messages = sent.messages;
    let bytes = received.bytes as f64;
    let cost = (sent.cpu_ns + received.cpu_ns) as f64 / bytes;
    let throughput = bytes * 8e9 / received.elapsed_ns.max(1) as f64;
    let waits = (sent.voluntary_switches + received.voluntary_switches).max(1) as f64;
    let mut found = vec![cost, throughput, bytes / waits];
    if setup.flow.transport == Transport::Udp {
        found.push(1.0 - (bytes / sent.bytes.max(1) as f64).min(1.0));
    }
    Ok(found)
}

/// The median round trip.
fn latency(bed: &mut Testbed, setup: &Setup) -> Result<Vec<f64>, BenchError> {
    let order = PingOrder { message_bytes: setup.message_bytes, count: PINGS };
    bed.pings(PingOrder { count: PINGS / 10, ..order }, Direction::Forward)?;
    let pings = bed.pings(order, Direction::Forward)?;
    let times: Vec<f64> = pings.round_trip_ns.iter().map(|time| *time as f64).collect();
    let nothing = || BenchError::NothingArrived { job: "requests".into() };
    median(&times).map(|time| vec![time]).ok_or_else(nothing)
}

/// Copies of a block, again and again, on one processor.
fn copies(here: &Here, setup: &Setup) -> Result<Vec<f64>, BenchError> {
    let cpu = setup.cpus.map_or_else(|| here.cpus.first().copied().unwrap_or(0), |cpus| cpus.0);
    let bytes = setup.message_bytes;
    let copied = || {
        let mut buffer = Buffer::new(2 * bytes)?;
        let (to, from) = buffer.split_at_mut(bytes);
        memory::copy(to, from);
        let (start_ns, mut moved) = (monotonic_ns(), 0);
        loop {
            moved += std::hint::black_box(memory::copy(to, from));
            let elapsed_ns = monotonic_ns() - start_ns;
            if elapsed_ns >= COPY_NS {
                return Ok(moved as f64 / elapsed_ns as f64 * 1e9);
            }
        }
    };
    Ok(vec![on_cpu(cpu, copied)?])
}
