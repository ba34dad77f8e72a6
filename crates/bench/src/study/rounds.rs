//! Measuring in rounds: the probe for a first look, from which the jobs' rates are chosen; then every
//! job in shuffled order with a pass of the probe between every few of them, until the jobs are known
//! well enough. So most of the probe's samples are of the same minutes as the jobs.

use bitpath_measure::statistics::{Method, estimate};
use bitpath_measure::{ByteCount, Labels, Pitfall, Unit, series::labels};
use bitpath_platform::clock::monotonic_ns;
use bitpath_sim::profile::{SocketMemory, Transport};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::jobs::StudyJob;
use super::steps::Steps;
use crate::BenchError;
use crate::clip::StudyClip;
use crate::probe::{decode, host, memory, socket_memory, stack, wake};
use crate::sampling::Sampler;
use crate::testbed::Testbed;
use crate::worker::FrameTime;

/// How long to measure, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Time for the probe alone [s].
    pub probe_s: f64,
    /// Time for the rounds with jobs [s].
    pub jobs_s: f64,
    /// Fewest rounds of each.
    pub least_rounds: usize,
    /// Half width of an interval that is narrow enough, relative to its value [ratio].
    pub half_width: f64,
    /// Pairs of runs, with and without, for each remedy that is tried.
    pub remedy_pairs: usize,
}

impl Budget {
    /// A study of about two minutes.
    #[must_use]
    pub fn full() -> Self {
        Self { probe_s: 10.0, jobs_s: 82.0, least_rounds: 5, half_width: 0.03, remedy_pairs: 3 }
    }

    /// A study of about half a minute.
    #[must_use]
    pub fn quick() -> Self {
        Self { probe_s: 6.0, jobs_s: 13.0, least_rounds: 1, half_width: 0.05, remedy_pairs: 1 }
    }
}

/// What the rounds brought beside the samples.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) socket_memory: SocketMemory,
    pub(super) decoded: Vec<Vec<FrameTime>>,
    pub(super) doubts: Vec<Pitfall>,
    order: ChaCha8Rng,
}

/// Jobs between two passes of the probe: a pass takes a second, a job nearly one, so that a fifth of
/// the time is the probe's and a machine that changes its speed does so in both.
const JOBS_BETWEEN_PROBES: usize = 4;

/// Rounds of the memory's probe: enough for a median with its interval.
const MEMORY_ROUNDS: u32 = 5;

/// Seed of the shuffled order; what is measured does not depend on it.
const ORDER_SEED: u64 = 2004;

/// The probe alone: facts of the kernel once, then rounds of everything that varies.
pub(super) fn probe(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    budget: &Budget,
    steps: &mut Steps<'_>,
) -> Result<Measured, BenchError> {
    steps.begin("clocks, timers, system calls")?;
    let clock_doubts = host::measure(sampler, bed.cpus)?;
    let socket_memory = socket_memory::measure(bed, "this study")?;
    steps.begin("memory")?;
    for round in 0..MEMORY_ROUNDS {
        for working_set in memory::WORKING_SETS {
            memory::measure(sampler, working_set)?;
        }
        steps.tell(f64::from(round + 1) / f64::from(MEMORY_ROUNDS))?;
    }
    steps.begin("protocol stack and decoder")?;
    bed.open_tcp(stack::PROBE_BUFFERS)?;
    let order = ChaCha8Rng::seed_from_u64(ORDER_SEED);
    let mut measured = Measured { socket_memory, decoded: Vec::new(), doubts: clock_doubts, order };
    probe_round(bed, sampler, clip, &mut measured)?;
    sampler.end_warm_up("stack.");
    sampler.end_warm_up("decode.");
    measured.decoded.clear();
    let start_ns = monotonic_ns();
    for round in 0.. {
        probe_round(bed, sampler, clip, &mut measured)?;
        let spent = seconds_since(start_ns) / budget.probe_s;
        steps.tell(spent.min(1.0))?;
        let widest = widest_cost(sampler);
        if round + 1 >= budget.least_rounds.max(3) && widest <= budget.half_width {
            steps.ended(&format!("intervals narrow enough: +-{:.1} %", widest * 100.0));
            break;
        }
        if spent >= 1.0 {
            steps.ended(&format!("time budget spent: widest interval +-{:.1} %", widest * 100.0));
            let what = "the cost of a call".to_owned();
            measured.doubts.push(Pitfall::BudgetEnded {
                what,
                half_width: widest,
                wanted: budget.half_width,
            });
            break;
        }
    }
    Ok(measured)
}

/// One pass over all message sizes, the wake-ups and the decoder.
fn probe_round(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    measured: &mut Measured,
) -> Result<(), BenchError> {
    bed.open_udp(stack::PROBE_BUFFERS)?;
    let mut sizes: Vec<(Transport, usize)> =
        stack::UDP_SIZES.map(|bytes| (Transport::Udp, bytes)).to_vec();
    sizes.extend(stack::TCP_SIZES.map(|bytes| (Transport::Tcp, bytes)));
    sizes.shuffle(&mut measured.order);
    for (transport, bytes) in sizes {
        match transport {
            Transport::Udp => {
                let charge = measured.socket_memory.charge(ByteCount(bytes as u64)).0;
                stack::udp_slice(bed, sampler, bytes, charge)?;
            }
            Transport::Tcp => stack::tcp_slice(bed, sampler, bytes)?,
        }
    }
    let cost = |side: &str, bytes| {
        sampler.median("stack.cost", &stack::cost_labels(Transport::Udp, side, bytes))
    };
    // A byte of payload: what is left is the processing of packets (sysSIM section 4.1.3).
    let smallest = cost("send", 1);
    let plain = cost("send", wake::WAKE_MESSAGE).zip(cost("receive", wake::WAKE_MESSAGE));
    if let Some(send_ns) = smallest {
        let transport = labels([("transport", "udp")]);
        let rate = 1e9 / send_ns;
        sampler.add_alone("stack.packet_rate", &transport, Unit::PacketsPerSecond, &[rate]);
    }
    if let Some((send_ns, receive_ns)) = plain {
        wake::long_slice(bed, sampler, send_ns, receive_ns)?;
        wake::short_slice(bed, sampler, send_ns, receive_ns)?;
    }
    if let Some(clip) = clip {
        measured.decoded.push(decode::pass(bed, sampler, &clip.path)?);
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

/// Rounds of the probe and every job, until every job's throughput is known well enough.
pub(super) fn jobs(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    jobs: &[StudyJob],
    budget: &Budget,
    measured: &mut Measured,
    steps: &mut Steps<'_>,
) -> Result<(), BenchError> {
    if jobs.is_empty() {
        return Ok(());
    }
    steps.begin("the jobs on real sockets")?;
    let start_ns = monotonic_ns();
    for round in 1.. {
        let mut order: Vec<&StudyJob> = jobs.iter().collect();
        order.shuffle(&mut measured.order);
        for some in order.chunks(JOBS_BETWEEN_PROBES) {
            bed.open_tcp(stack::PROBE_BUFFERS)?;
            probe_round(bed, sampler, clip, measured)?;
            for job in some {
                one_job(bed, sampler, clip, job)?;
                steps.tell((seconds_since(start_ns) / budget.jobs_s).min(1.0))?;
            }
        }
        if round >= budget.least_rounds && seconds_since(start_ns) >= budget.jobs_s {
            steps.ended(&format!("time budget spent after {round} rounds"));
            break;
        }
        if round >= budget.least_rounds.max(3) && widest_job(sampler, jobs) <= budget.half_width {
            steps.ended(&format!("intervals narrow enough after {round} rounds"));
            break;
        }
    }
    Ok(())
}

fn seconds_since(start_ns: u64) -> f64 {
    (monotonic_ns() - start_ns) as f64 / 1e9
}

fn one_job(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    job: &StudyJob,
) -> Result<(), BenchError> {
    let film = clip.filter(|_| job.is_film()).map(|clip| clip.path.as_path());
    let (outcome, beside) = sampler.beside(bed, |bed| crate::job::run(bed, &job.job, film))?;
    for (quantity, unit, value) in super::checks::quantities(job, &outcome) {
        sampler.add(&format!("job.{quantity}"), &job_labels(job), unit, value, &beside);
    }
    Ok(())
}

/// Labels of a job's series.
pub(super) fn job_labels(job: &StudyJob) -> Labels {
    labels([("scenario", &job.job.name)])
}

fn widest_job(sampler: &Sampler, jobs: &[StudyJob]) -> f64 {
    let width = |job: &StudyJob| {
        let values = sampler.values("job.throughput", &job_labels(job));
        estimate(&values, Method::MedianBlockBootstrap)
            .map_or(f64::INFINITY, |found| found.relative_half_width())
    };
    jobs.iter().map(width).fold(0.0, f64::max)
}
