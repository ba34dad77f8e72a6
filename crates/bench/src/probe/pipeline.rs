//! The pipeline: what three processes pass on to each other, by channel, number of buffers and size of
//! block (the slides on network performance, rule 8).
//!
//! ```text
//! source ══► filter ══► sink     ring | pipe | Unix socket | TCP, 1 to 8 blocks of 64 B to 1 MiB ──► [B/s]
//! source ═════════════► sink     Unix socket | TCP: what a single socket lets through ──► [B/s]
//! ```
//!
//! Of two processors the filter has one to itself, as rule 8 had it: every block goes from one core to
//! the other and back. Every stage does a trivial pass over the words of a block.

mod conclusion;
mod line;

use std::path::Path;

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Unit};
use bitpath_platform::affinity;
use bitpath_platform::channel::{Kind, Spec};

use crate::BenchError;
use crate::probe::points::{Effort, Point, sample_all};
use crate::sampling::Sampler;
use crate::steps::Steps;
pub use conclusion::conclude;
use line::{Line, Route};

/// What reaches the sink through the filter [B/s].
pub const THROUGHPUT: &str = "pipeline.throughput";

/// What reaches the sink without it [B/s].
pub const DIRECT: &str = "pipeline.direct";

/// Processor time of all stages for a byte that reaches the sink [ns/B].
pub const COST: &str = "pipeline.cost";

/// Room of a channel as the system gave it [B].
pub const ROOM: &str = "pipeline.room";

/// Numbers of blocks that a channel holds: those of rule 8's table, and twice the most of them.
const BUFFERS: [u32; 4] = [1, 2, 4, 8];

/// The most of them that rule 8's table has.
const PUBLISHED_BUFFERS: u32 = 4;

/// The smallest block [B], and how often it doubles up to 1 MiB: the rows of rule 8's table.
const SMALLEST_BLOCK: usize = 64;
const DOUBLINGS: u32 = 14;

/// Blocks that a single socket has room for: it is to be bound by nothing but itself.
const DIRECT_BUFFERS: u32 = 8;

/// Part of the budget for the sizes that are powers of four; the others are for finer curves.
const COARSE_SHARE: f64 = 0.6;

/// Shortest time of one sample [ns]: hundreds of sleeps and wake-ups, should every block need one.
const SAMPLE_NS: u64 = 10_000_000;

/// Blocks of a first try, and the most of a sample.
const FEWEST_BLOCKS: u64 = 16;
const MOST_BLOCKS: u64 = 1 << 24;

/// Most that one try may be larger than the one before: the first is too short to be trusted.
const GROWTH: u64 = 32;

/// Samples all channels: the powers of four first, then what lies between. The stages run on the given
/// processors.
///
/// # Errors
/// When a worker cannot be started or is gone, when a processor may not be used, or the user asked to
/// stop.
pub fn sample(
    program: &Path,
    cores: Option<[usize; 3]>,
    sampler: &mut Sampler,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Vec<Pitfall>, BenchError> {
    let allowed = affinity::allowed_cpus()?;
    let cpus = cores.unwrap_or_else(|| placed(&allowed));
    let mut line = Line::open(program, cpus)?;
    let mut doubts = Vec::new();
    if cpus == [cpus[0]; 3] {
        doubts.push(Pitfall::OneCore);
    }
    for (coarse, share) in [(true, COARSE_SHARE), (false, 1.0 - COARSE_SHARE)] {
        let runs = runs().into_iter().filter(|run| run.is_coarse() == coarse);
        let mut points: Vec<_> = runs.map(|run| run.point(cpus)).collect();
        doubts.extend(sample_all(&mut line, &mut points, sampler, &effort.share(share), steps)?);
    }
    doubts.extend(Kind::ALL.into_iter().filter_map(|kind| capped(kind, cpus, sampler)));
    Ok(doubts)
}

/// The largest channel of a kind that the system gave less room than was asked for.
fn capped(kind: Kind, cpus: [usize; 3], sampler: &Sampler) -> Option<Pitfall> {
    let wanted = |run: &Run| run.spec.wanted_bytes() as u64;
    let of_kind = runs().into_iter().filter(|run| run.spec.kind == kind);
    let given = of_kind.filter_map(|run| Some((run, sampler.median(ROOM, &run.labels(cpus))?)));
    let capped = given.filter(|(run, given)| *given < wanted(run) as f64);
    let (run, given) = capped.max_by_key(|(run, _)| wanted(run))?;
    let option = if kind == Kind::Pipe { "F_SETPIPE_SZ" } else { "SO_SNDBUF" };
    Some(Pitfall::BufferCapped {
        option: option.into(),
        wanted_bytes: wanted(&run),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some MiB")]
        given_bytes: given as u64,
    })
}

/// Processors of source, filter and sink: the filter on one of its own, the others together unless there
/// are three.
fn placed(allowed: &[usize]) -> [usize; 3] {
    match *allowed {
        [] => [0; 3],
        [only] => [only; 3],
        [first, second] => [first, second, first],
        [first, .., before, last] => [first, last, before],
    }
}

/// One way of passing blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    route: Route,
    spec: Spec,
}

/// All ways.
fn runs() -> Vec<Run> {
    let sizes = || (0..=DOUBLINGS).map(|doubling| SMALLEST_BLOCK << doubling);
    let mut runs = Vec::new();
    for block_bytes in sizes() {
        for kind in Kind::ALL {
            let spec = |buffers| Spec { kind, buffers, block_bytes };
            let filtered =
                BUFFERS.map(|buffers| Run { route: Route::Filtered, spec: spec(buffers) });
            runs.extend(filtered);
            if matches!(kind, Kind::Unix | Kind::Tcp) {
                runs.push(Run { route: Route::Direct, spec: spec(DIRECT_BUFFERS) });
            }
        }
    }
    // Between the powers of four only what stands beside the published table.
    runs.retain(|run| run.is_coarse() || run.spec.buffers <= PUBLISHED_BUFFERS);
    runs
}

impl Run {
    fn is_coarse(self) -> bool {
        self.spec.block_bytes.ilog2().is_multiple_of(2)
    }

    fn labels(self, cpus: [usize; 3]) -> Labels {
        let Spec { kind, buffers, block_bytes } = self.spec;
        let cpus = match self.route {
            Route::Filtered => cpus.to_vec(),
            Route::Direct => vec![cpus[0], cpus[2]],
        };
        let cores: Vec<String> = cpus.iter().map(usize::to_string).collect();
        labels([
            ("channel", kind.name()),
            ("buffers", &buffers.to_string()),
            ("block_bytes", &block_bytes.to_string()),
            ("cores", &cores.join(",")),
        ])
    }

    fn point(self, cpus: [usize; 3]) -> Point<'static, Line> {
        let labels = self.labels(cpus);
        let name = match self.route {
            Route::Filtered => THROUGHPUT,
            Route::Direct => DIRECT,
        };
        let of = labels.clone();
        let mut blocks = FEWEST_BLOCKS;
        Point::new(name, labels, move |line: &mut Line, sampler: &mut Sampler| {
            let (passed, beside) = sampler.beside(line, |line| self.once(line, &mut blocks))?;
            let bytes = passed.bytes as f64;
            let throughput = bytes / passed.elapsed_ns.max(1) as f64 * 1e9;
            sampler.add(name, &of, Unit::BytesPerSecond, throughput, &beside);
            if self.route == Route::Filtered {
                let cost = passed.cpu_ns as f64 / bytes;
                sampler.add(COST, &of, Unit::NanosecondsPerByte, cost, &beside);
                sampler.add(ROOM, &of, Unit::Bytes, passed.given_bytes as f64, &beside);
            }
            Ok(())
        })
    }

    /// Passes as many blocks as fill a sample; they are found by tries.
    fn once(self, line: &mut Line, blocks: &mut u64) -> Result<line::Passed, BenchError> {
        loop {
            let passed = line.pass(self.route, &self.spec, *blocks)?;
            if passed.elapsed_ns >= SAMPLE_NS / 2 || *blocks >= MOST_BLOCKS {
                return Ok(passed);
            }
            *blocks = more(*blocks, passed.elapsed_ns);
        }
    }
}

/// Blocks that should fill a sample, after so many have taken so long.
fn more(blocks: u64, elapsed_ns: u64) -> u64 {
    let factor = (SAMPLE_NS / elapsed_ns.max(1) + 1).clamp(2, GROWTH);
    (blocks * factor).min(MOST_BLOCKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_has_a_processor_of_its_own_where_there_are_two() {
        assert_eq!(placed(&[3]), [3, 3, 3]);
        assert_eq!(placed(&[0, 1]), [0, 1, 0]);
        assert_eq!(placed(&[0, 1, 2, 3]), [0, 3, 2]);
    }

    #[test]
    fn every_row_and_column_of_the_published_table_is_measured() {
        let runs = runs();
        for published in bitpath_sim::published::pipeline::opteron_175().unwrap() {
            let is_here = |run: &&Run| {
                run.route == Route::Filtered
                    && run.spec.buffers == published.buffers
                    && run.spec.block_bytes as u64 == published.block.0
            };
            assert_eq!(runs.iter().filter(is_here).count(), Kind::ALL.len(), "{published:?}");
        }
        let direct = runs.iter().filter(|run| run.route == Route::Direct);
        assert_eq!(direct.count(), 16);
    }

    #[test]
    fn a_channel_with_less_room_than_asked_for_is_a_doubt() {
        let mut sampler = Sampler::begin();
        let cpus = [0, 1, 0];
        assert_eq!(capped(Kind::Pipe, cpus, &sampler), None);
        for run in runs().into_iter().filter(|run| run.route == Route::Filtered) {
            let given = run.spec.wanted_bytes().min(1 << 20) as f64;
            sampler.add_alone(ROOM, &run.labels(cpus), Unit::Bytes, &[given]);
        }
        let found = capped(Kind::Pipe, cpus, &sampler);
        let (wanted_bytes, given_bytes) = (8 << 20, 1 << 20);
        let option = "F_SETPIPE_SZ".into();
        assert_eq!(found, Some(Pitfall::BufferCapped { option, wanted_bytes, given_bytes }));
    }

    #[test]
    fn a_short_try_is_followed_by_a_longer_one_within_bounds() {
        assert_eq!(more(16, 0), 16 * GROWTH);
        assert_eq!(more(16, SAMPLE_NS), 32);
        assert_eq!(more(1000, SAMPLE_NS / 4), 5000);
        assert_eq!(more(MOST_BLOCKS - 1, 1), MOST_BLOCKS);
    }
}
