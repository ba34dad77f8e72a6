//! Where samples are taken: conditions are set up anew for each sample, also where they did not
//! change, so that equal values are treated equally.
//!
//! ```text
//! Setup ─► processors, interfaces, sockets ─► warm-up ─► one slice ─► values of the quantities
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

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
use crate::testbed::{Testbed, unexpected};
use crate::worker::{Order, Report, SliceUse, TransferOrder};

/// Argument by which the program keeps settings of interfaces ([`bitpath_platform::link::keep`]).
pub const KEEPER: &str = "keeper";

/// Length of the slice of a stream that is measured [ns]: short, so that both values of a pair meet
/// the same machine, and hundreds of thousands of steps of its clock.
const SLICE_NS: f64 = 20e6;

/// Part of a slice that warms the connection up before: it comes out of slow start.
const WARM_UP_PART: f64 = 0.5;

/// How much longer a try may be than the one before, while the right length is looked for.
const GROWTH: f64 = 8.0;

/// Tries after which it is long enough in any case: a slice then holds 10^9 messages.
const MOST_TRIES: usize = 10;

/// Bursts of UDP in one slice.
const BURSTS: usize = 12;

/// Most datagrams in a burst: their memory then fits the second-level cache.
const MOST_IN_BURST: usize = 256;

/// What the kernel may book for a packet of a datagram [B]: a page for what it carries.
const PACKET_CHARGE: usize = 4096;

/// Payload that a packet of a datagram carries at least [B].
const PACKET_PAYLOAD: usize = 1400;

/// Datagrams of a sample of latency, and the time between two of them [ns]: long beside any latency.
const PACED: u64 = 150;
const PACED_GAP_NS: u64 = 200_000;

/// Time that copies of memory are made for a sample [ns].
const COPY_NS: u64 = 5_000_000;

/// Longest wait for a slice.
const SLICE_PATIENCE: Duration = Duration::from_secs(20);

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

/// Messages of one slice at one value, as far as they are known to fill it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    messages: f64,
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
        match self.measure {
            Measure::Tcp => bed.open_tcp(setup.buffers).map(drop),
            Measure::Udp | Measure::Latency => bed.open_udp(setup.buffers).map(drop),
            Measure::MemoryCopy => Ok(()),
        }
    }

    /// One sample under conditions that are set up: the values of the measure's quantities.
    pub(super) fn sample(
        &mut self,
        setup: &Setup,
        pace: &mut Pace,
    ) -> Result<Vec<f64>, BenchError> {
        match (&mut self.ground, self.measure) {
            (Ground::Here(here), _) => copies(here, setup),
            (Ground::Path(bed), Measure::Udp) => bursts(bed, setup),
            (Ground::Path(bed), Measure::Latency) => latency(bed, setup),
            (Ground::Path(bed), _) => stream(bed, setup, pace),
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

/// A slice of a TCP stream, after some of it that does not count.
fn stream(bed: &mut Testbed, setup: &Setup, pace: &mut Pace) -> Result<Vec<f64>, BenchError> {
    if pace.messages == 0.0 {
        pace.messages = 1.0;
        for _ in 0..MOST_TRIES {
            if transfer(bed, setup, pace)?.1.elapsed_ns * 2 > slice_ns() {
                break;
            }
        }
    }
    transfer(bed, setup, &mut Pace { messages: pace.messages * WARM_UP_PART })?;
    let (sent, received) = transfer(bed, setup, pace)?;
    let bytes = received.bytes as f64;
    let cost = (sent.cpu_ns + received.cpu_ns) as f64 / bytes;
    let throughput = bytes * 8e9 / received.elapsed_ns as f64;
    let waits = (sent.sleeps + received.sleeps).max(1) as f64;
    Ok(vec![cost, throughput, bytes / waits])
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a constant")]
fn slice_ns() -> u64 {
    SLICE_NS as u64
}

/// Sends and receives so many messages, and learns from it how many fill a slice.
fn transfer(
    bed: &mut Testbed,
    setup: &Setup,
    pace: &mut Pace,
) -> Result<(SliceUse, SliceUse), BenchError> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of what fits into a slice"
    )]
    let messages = pace.messages.max(1.0) as u64;
    let message_bytes = setup.message_bytes;
    let order = TransferOrder { transport: Transport::Tcp, message_bytes, messages, gap_ns: 0 };
    let (to_sender, to_receiver) = (Order::Burst(order), Order::Drain(order));
    match bed.ask_both(&to_sender, &to_receiver, SLICE_PATIENCE)? {
        (Report::Slice(sent), Report::Slice(received)) if received.bytes > 0 => {
            let factor = SLICE_NS / received.elapsed_ns.max(1) as f64;
            pace.messages = messages as f64 * factor.min(GROWTH);
            Ok((sent, received))
        }
        (Report::Slice(_), _) => Err(BenchError::NothingArrived { job: "a TCP stream".into() }),
        (report, _) => Err(unexpected(Side::Sender, &to_sender, &report)),
    }
}

/// Bursts that fit the receive buffer, each drained when it is there.
fn bursts(bed: &mut Testbed, setup: &Setup) -> Result<Vec<f64>, BenchError> {
    let message_bytes = setup.message_bytes;
    let charge = (message_bytes / PACKET_PAYLOAD + 1) * PACKET_CHARGE;
    let messages = (setup.buffers.receive / charge).clamp(1, MOST_IN_BURST) as u64;
    let order = TransferOrder { transport: Transport::Udp, message_bytes, messages, gap_ns: 0 };
    let (mut cpu_ns, mut bytes) = (0, 0);
    for burst in 0..=BURSTS {
        let sent = slice(bed, Side::Sender, &Order::Burst(order))?;
        let received = slice(bed, Side::Receiver, &Order::Drain(order))?;
        // The first one warms up.
        if burst > 0 {
            cpu_ns += sent.cpu_ns + received.cpu_ns;
            bytes += received.bytes;
        }
    }
    if bytes == 0 {
        return Err(BenchError::NothingArrived { job: "a burst of UDP".into() });
    }
    Ok(vec![cpu_ns as f64 / bytes as f64])
}

fn slice(bed: &mut Testbed, side: Side, order: &Order) -> Result<SliceUse, BenchError> {
    match bed.ask(side, order, SLICE_PATIENCE)? {
        Report::Slice(used) => Ok(used),
        report => Err(unexpected(side, order, &report)),
    }
}

/// The median way of datagrams to a receiver that had time to fall asleep.
fn latency(bed: &mut Testbed, setup: &Setup) -> Result<Vec<f64>, BenchError> {
    let order = TransferOrder {
        transport: Transport::Udp,
        message_bytes: setup.message_bytes,
        messages: PACED,
        gap_ns: PACED_GAP_NS,
    };
    let (to_sender, to_receiver) = (Order::SendPaced(order), Order::ReceivePaced(order));
    let (sent, woken) = match bed.ask_both(&to_sender, &to_receiver, SLICE_PATIENCE)? {
        (Report::Paced(sent), Report::Woken(woken)) => (sent, woken),
        (report, _) => return Err(unexpected(Side::Sender, &to_sender, &report)),
    };
    let ways = sent.iter().zip(&woken.at_ns);
    let ways: Vec<f64> = ways.map(|(out, at)| at.saturating_sub(out.began_ns) as f64).collect();
    let way = median(&ways).filter(|way| *way > 0.0);
    let nothing = || BenchError::NothingArrived { job: "paced datagrams".into() };
    way.map(|way| vec![way]).ok_or_else(nothing)
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
