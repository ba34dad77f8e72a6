//! What the model must know of this host: facts of the kernel once, then rounds of everything that varies;
//! and the profile from all of it.

use bitpath_measure::run::Document;
use bitpath_measure::statistics::{Method, estimate};
use bitpath_measure::{ByteCount, Pitfall, Run, Unit, series::labels};
use bitpath_platform::clock::monotonic_ns;
use bitpath_sim::profile::{HostProfile, SocketMemory, Transport};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::points::{self, Effort, Point};
use super::profile::{self, Facts};
use super::{clock, copy, decode, socket_memory, stack, wake};
use crate::BenchError;
use crate::clip::StudyClip;
use crate::sampling::Sampler;
use crate::steps::Steps;
use crate::testbed::Testbed;

/// Name of the profile among a record's documents.
pub const PROFILE: &str = "host.toml";

/// What the rounds brought beside the samples.
#[derive(Debug)]
pub(crate) struct Measured {
    /// What each round samples once.
    points: Vec<Point<'static, Testbed>>,
    pub(crate) socket_memory: SocketMemory,
    pub(crate) decoded: Vec<decode::Passes>,
    pub(crate) doubts: Vec<Pitfall>,
    pub(crate) order: ChaCha8Rng,
}

/// Rounds of the memory's probe: enough for a median with its interval.
const MEMORY_ROUNDS: u32 = 5;

/// Seed of the shuffled order; what is measured does not depend on it.
const ORDER_SEED: u64 = 2004;

/// The first look: facts of the kernel once, then rounds until the costs are known well enough.
///
/// # Errors
/// Those of the workers; when the user asked to stop.
pub(crate) fn first_look(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Measured, BenchError> {
    steps.begin("socket buffers")?;
    let socket_memory = socket_memory::measure(bed, "this study")?;
    steps.begin("memory")?;
    for round in 0..MEMORY_ROUNDS {
        for working_set in copy::WORKING_SETS {
            copy::measure(sampler, working_set)?;
        }
        steps.tell(f64::from(round + 1) / f64::from(MEMORY_ROUNDS))?;
    }
    steps.begin("protocol stack, clocks and decoder")?;
    bed.open_tcp(stack::PROBE_BUFFERS)?;
    let mut measured = Measured {
        points: points_of(&socket_memory)?,
        socket_memory,
        decoded: Vec::new(),
        doubts: Vec::new(),
        order: ChaCha8Rng::seed_from_u64(ORDER_SEED),
    };
    round(bed, sampler, clip, &mut measured)?;
    sampler.end_warm_up("stack.");
    sampler.end_warm_up("decode.");
    measured.decoded.clear();
    let start_ns = monotonic_ns();
    for passes in 1.. {
        round(bed, sampler, clip, &mut measured)?;
        let spent = (monotonic_ns() - start_ns) as f64 / 1e9 / effort.budget_s;
        steps.tell(spent.min(1.0))?;
        let widest = widest_cost(sampler);
        if passes >= effort.least && widest <= effort.half_width {
            steps.ended(&format!("intervals narrow enough: +-{:.1} %", widest * 100.0));
            break;
        }
        if spent >= 1.0 {
            steps.ended(&format!("time budget spent: widest interval +-{:.1} %", widest * 100.0));
            let what = "the cost of a call".to_owned();
            measured.doubts.push(Pitfall::BudgetEnded {
                what,
                half_width: widest,
                wanted: effort.half_width,
            });
            break;
        }
    }
    Ok(measured)
}

/// The stack at all message sizes; the clocks and the kernel's small operations.
fn points_of(memory: &SocketMemory) -> Result<Vec<Point<'static, Testbed>>, BenchError> {
    let of = |transport, bytes| stack::cost_labels(transport, "send", bytes);
    let udp = stack::UDP_SIZES.map(|bytes| {
        let charge = memory.charge(ByteCount(bytes as u64)).0;
        Point::new("stack.cost", of(Transport::Udp, bytes), move |bed, sampler| {
            stack::udp_slice(bed, sampler, bytes, charge)
        })
    });
    let tcp = stack::TCP_SIZES.map(|bytes| {
        Point::new("stack.cost", of(Transport::Tcp, bytes), move |bed, sampler| {
            stack::tcp_slice(bed, sampler, bytes)
        })
    });
    Ok(udp.into_iter().chain(tcp).chain(clock::of_model()?).collect())
}

/// One pass over all points, the wake-ups and the decoder.
pub(crate) fn round(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    measured: &mut Measured,
) -> Result<(), BenchError> {
    bed.open_udp(stack::PROBE_BUFFERS)?;
    points::take_turn(bed, &mut measured.points, sampler, &mut measured.order)?;
    // A byte of payload: what is left is the processing of packets (sysSIM section 4.1.3).
    let smallest = stack::cost_labels(Transport::Udp, "send", 1);
    if let Some(send_ns) = sampler.mean("stack.cost", &smallest) {
        let transport = labels([("transport", "udp")]);
        let rate = 1e9 / send_ns;
        sampler.add_alone("stack.packet_rate", &transport, Unit::PacketsPerSecond, &[rate]);
    }
    wake::measure(bed, sampler)?;
    if let Some(clip) = clip {
        measured.decoded.push(decode::passes(bed, sampler, &clip.path)?);
    }
    Ok(())
}

/// Widest relative half width of the costs at the sizes that most traffic has [ratio].
fn widest_cost(sampler: &Sampler) -> f64 {
    let width = |transport: Transport, side: &str, bytes: usize| {
        let values = sampler.values("stack.cost", &stack::cost_labels(transport, side, bytes));
        estimate(&values, Method::MedianBlockBootstrap)
            .map_or(f64::INFINITY, |found| found.relative_half_width())
    };
    let mut widest: f64 = 0.0;
    for side in ["send", "receive"] {
        widest =
            widest.max(width(Transport::Udp, side, 1472)).max(width(Transport::Tcp, side, 4096));
    }
    widest
}

/// The profile of this host from all samples; it and its fits are kept in the record.
///
/// # Errors
/// When a cost cannot be fitted.
pub(crate) fn profile(
    bed: &Testbed,
    sampler: &Sampler,
    clip: Option<&StudyClip>,
    measured: &Measured,
    run: &mut Run,
) -> Result<HostProfile, BenchError> {
    let id = run.id.clone();
    let fit = |clip: &StudyClip| decode::fit(&clip.film.name, &measured.decoded, &id);
    let decode = clip.map(fit).transpose()?.into_iter().collect();
    let socket_memory = measured.socket_memory.clone();
    let clock_hz = super::tsc_hz(run);
    let facts = Facts { host: "this host", run: &id, clock_hz, socket_memory, decode };
    let host = profile::build(bed, sampler, facts, run)?;
    if let Some(tsc_hz) = Some(host.cpu.clock.value.0).filter(|hz| *hz > 1e9) {
        run.doubt(Pitfall::TscCycles { tsc_hz });
    }
    let text = toml::to_string(&host)
        .unwrap_or_else(|error| format!("# the profile cannot be written: {error}"));
    run.documents.push(Document { name: PROFILE.into(), text });
    Ok(host)
}
