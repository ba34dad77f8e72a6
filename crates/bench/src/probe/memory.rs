//! The memory curve: how fast bytes are read, written and copied, and how long a load takes, by working
//! set (sysSIM section 4.1 and figures 9 to 12; lmbench's and Cache Burst's quantities).
//!
//! ```text
//! octaves of working sets ──► bandwidth [B/s] by operation, mix, cores, pages ──┐
//!                         └─► latency [ns] of dependent loads, by pages ────────┼─► where a curve bends: eight
//!                                                                               │   points an octave
//!                                                                 levels ◄──────┘
//! ```

mod arena;
mod conclusion;
mod levels;

use std::collections::BTreeSet;

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Unit};
use bitpath_platform::clock;
use bitpath_platform::memory::Pages;
use bitpath_platform::memory::chase::Chase;
use bitpath_platform::memory::kernels::{MIXES, Mix, Operation};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::BenchError;
use crate::here::Here;
use crate::probe::points::{Effort, Point, sample_all};
use crate::sampling::{Beside, Sampler};
use crate::steps::Steps;
pub use arena::{Arena, Moved};
pub use conclusion::conclude;

/// The series of bandwidths.
pub const BANDWIDTH: &str = "memory.bandwidth";

/// The series of latencies.
pub const LATENCY: &str = "memory.latency";

/// The smallest working set [B]: a page, which fits every first-level cache.
const SMALLEST: usize = 4 << 10;

/// The largest working set [B]: beyond any cache that a processor shares out today.
const LARGEST: usize = 1 << 30;

/// Part of the memory that a working set may take at most.
const PART_OF_MEMORY: u64 = 4;

/// Points an octave where a curve bends.
const POINTS_AN_OCTAVE: u32 = 8;

/// Ratio of neighbouring points from which a curve bends between them: above what one level varies by.
const BEND: f64 = 1.1;

/// Every working set is a multiple of this [B], so that each kernel moves all of each half.
const GRAIN: usize = 512;

/// Shortest time of one sample [ns]: tens of thousands of clock steps.
const SAMPLE_NS: u64 = 2_000_000;

/// One curve, a value for each working set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Curve {
    /// Bytes a second of an operation by a mix, on one or all processors.
    Bandwidth { operation: Operation, mix: Mix, all_cores: bool, pages: Pages },
    /// Time of a dependent load.
    Latency { pages: Pages },
}

/// The processors and their memory.
struct Hierarchy {
    here: Here,
    huge: Arena,
    small: Arena,
    /// Order of the dependent loads.
    random: ChaCha8Rng,
}

impl crate::sampling::Bed for Hierarchy {
    fn speed(&mut self) -> Result<f64, BenchError> {
        self.here.speed()
    }

    fn pids(&self) -> Vec<u32> {
        self.here.pids()
    }
}

/// Samples all curves: the plain ones first, then every mix on one and on all processors, then what
/// lies between the points where the plain ones bend.
///
/// # Errors
/// When the memory cannot be had, or the user asked to stop.
pub fn sample(
    memory_bytes: u64,
    sampler: &mut Sampler,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Vec<Pitfall>, BenchError> {
    let largest = largest(memory_bytes);
    let mut bed = Hierarchy::take(largest)?;
    let sets = octaves(largest);
    let mut doubts = Vec::new();
    let mut stage = |mut points: Vec<(usize, Curve)>, part, sampler: &mut Sampler| {
        points.sort_by_key(|(working_set, _)| *working_set);
        let mut points: Vec<_> = points.into_iter().map(|(set, curve)| curve.point(set)).collect();
        doubts.extend(sample_all(&mut bed, &mut points, sampler, &effort.share(part), steps)?);
        Ok::<_, BenchError>(())
    };
    stage(every(plain(), |_| sets.clone()), PLAIN_PART, sampler)?;
    stage(every(plain(), |curve| curve.bends(&sets, sampler)), BENDS_PART, sampler)?;
    stage(every(others(), |_| sets.clone()), 1.0 - PLAIN_PART - BENDS_PART, sampler)?;
    Ok(doubts)
}

/// Every curve at its working sets.
fn every(curves: Vec<Curve>, sets: impl Fn(Curve) -> Vec<usize>) -> Vec<(usize, Curve)> {
    let of = |curve| sets(curve).into_iter().map(move |working_set| (working_set, curve));
    curves.into_iter().flat_map(of).collect()
}

/// Part of the budget for the plain curves at octaves, and for what lies between them.
const PLAIN_PART: f64 = 0.3;
const BENDS_PART: f64 = 0.35;

/// What most programs meet: the C library on one core, and latency; huge pages, because a curve of small
/// ones shows the translation of addresses too, of which latency tells.
fn plain() -> Vec<Curve> {
    let bandwidth = |operation| Curve::Bandwidth {
        operation,
        mix: Mix::Library,
        all_cores: false,
        pages: Pages::Huge,
    };
    let mut curves = OPERATIONS.map(bandwidth).to_vec();
    curves.extend([Pages::Huge, Pages::Small].map(|pages| Curve::Latency { pages }));
    curves
}

/// Every other mix on one core, every mix on all, and the C library over small pages.
fn others() -> Vec<Curve> {
    let mut curves = Vec::new();
    for operation in OPERATIONS {
        for mix in MIXES.into_iter().filter(|mix| mix.can(operation)) {
            for all_cores in [false, true] {
                curves.push(Curve::Bandwidth { operation, mix, all_cores, pages: Pages::Huge });
            }
        }
        let (mix, pages) = (Mix::Library, Pages::Small);
        curves.push(Curve::Bandwidth { operation, mix, all_cores: false, pages });
    }
    curves.retain(|curve| !plain().contains(curve));
    curves
}

const OPERATIONS: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Copy];

fn largest(memory_bytes: u64) -> usize {
    let part = usize::try_from(memory_bytes / PART_OF_MEMORY).unwrap_or(LARGEST);
    part.clamp(SMALLEST, LARGEST)
}

/// Working sets an octave apart [B].
fn octaves(largest: usize) -> Vec<usize> {
    std::iter::successors(Some(SMALLEST), |bytes| bytes.checked_mul(2))
        .take_while(|bytes| *bytes <= largest)
        .collect()
}

/// Working sets between an octave's ends, evenly on a logarithmic axis [B].
fn within(octave: usize) -> impl Iterator<Item = usize> {
    (1..POINTS_AN_OCTAVE).map(move |step| {
        let bytes = octave as f64 * 2_f64.powf(f64::from(step) / f64::from(POINTS_AN_OCTAVE));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two sizes of memory"
        )]
        let grains = (bytes / GRAIN as f64) as usize;
        grains * GRAIN
    })
}

impl Curve {
    /// Name and labels of its series at a working set.
    fn series(self, working_set: usize) -> (&'static str, Labels) {
        let bytes = working_set.to_string();
        match self {
            Self::Bandwidth { operation, mix, all_cores, pages } => {
                let cores = if all_cores { "all" } else { "1" };
                let conditions = [
                    ("op", operation.name()),
                    ("mix", mix.name()),
                    ("cores", cores),
                    ("pages", name(pages)),
                    ("working_set_bytes", &bytes),
                ];
                (BANDWIDTH, labels(conditions))
            }
            Self::Latency { pages } => {
                (LATENCY, labels([("pages", name(pages)), ("working_set_bytes", &bytes)]))
            }
        }
    }

    /// The point at a working set.
    fn point(self, working_set: usize) -> Point<'static, Hierarchy> {
        let (series, labels) = self.series(working_set);
        let of = labels.clone();
        Point::new(series, labels, move |bed: &mut Hierarchy, sampler: &mut Sampler| match self {
            Self::Bandwidth { operation, mix, all_cores, pages } => {
                let (moved, beside) = sampler.beside(bed, |bed| {
                    let arena = if pages == Pages::Huge { &mut bed.huge } else { &mut bed.small };
                    arena.bandwidth(operation, mix, working_set, all_cores)
                })?;
                let rate = moved.bytes_per_second;
                sampler.add(series, &of, Unit::BytesPerSecond, rate, &beside);
                add_counts(&moved, &of, &beside, sampler);
                Ok(())
            }
            Self::Latency { pages } => {
                let (nanos, beside) =
                    sampler.beside(bed, |bed| bed.latency_ns(working_set, pages))?;
                sampler.add(series, &of, Unit::Nanoseconds, nanos, &beside);
                Ok(())
            }
        })
    }

    /// Working sets between those of a curve's points where it bends.
    fn bends(self, sets: &[usize], sampler: &Sampler) -> Vec<usize> {
        let median = |working_set: usize| {
            let (name, labels) = self.series(working_set);
            sampler.median(name, &labels)
        };
        let bent = |pair: &&[usize]| {
            let ratio = median(pair[0]).zip(median(pair[1])).map(|(a, b)| (a / b).max(b / a));
            ratio.is_some_and(|ratio| ratio > BEND)
        };
        let between: BTreeSet<usize> =
            sets.windows(2).filter(bent).flat_map(|pair| within(pair[0])).collect();
        between.into_iter().collect()
    }
}

impl Hierarchy {
    fn take(largest: usize) -> Result<Self, BenchError> {
        let here = Here::new()?;
        Ok(Self {
            huge: Arena::take(&here.cpus, largest, Pages::Huge)?,
            small: Arena::take(&here.cpus[..1], largest, Pages::Small)?,
            here,
            random: ChaCha8Rng::seed_from_u64(LOAD_SEED),
        })
    }

    /// Time of a dependent load, in an order of its own [ns].
    fn latency_ns(&mut self, working_set: usize, pages: Pages) -> Result<f64, BenchError> {
        let Self { here, random, .. } = self;
        let mut below = |limit| random.random_range(0..limit);
        here.run(|| Ok(latency_ns(&Chase::new(working_set, pages, &mut below)?)))
    }
}

/// Instructions for a cycle, and cache misses for a byte, where the processor counts them.
fn add_counts(moved: &Moved, of: &Labels, beside: &Beside, sampler: &mut Sampler) {
    let Some(counts) = moved.counts.filter(|counts| counts.cycles > 0 && moved.bytes > 0) else {
        return;
    };
    let per_cycle = counts.instructions as f64 / counts.cycles as f64;
    let per_byte = counts.cache_misses as f64 / moved.bytes as f64;
    sampler.add("memory.instructions", of, Unit::PerCycle, per_cycle, beside);
    sampler.add("memory.cache_misses", of, Unit::PerByte, per_byte, beside);
}

/// Seed of the order of loads: any order is as good that no prefetcher guesses.
const LOAD_SEED: u64 = 1;

/// Time of one dependent load, over enough of them [ns].
fn latency_ns(chase: &Chase) -> f64 {
    let (mut loads, mut place) = (LEAST_LOADS, 0);
    loop {
        let start_ns = clock::monotonic_ns();
        place = chase.follow(place, loads);
        let elapsed_ns = clock::monotonic_ns() - start_ns;
        if elapsed_ns >= SAMPLE_NS {
            return elapsed_ns as f64 / loads as f64;
        }
        loads *= 4;
    }
}

/// Loads of the first try: fewer than fill a sample, enough to warm up.
const LEAST_LOADS: usize = 1024;

/// What pages are called in labels.
fn name(pages: Pages) -> &'static str {
    match pages {
        Pages::Usual => "usual",
        Pages::Small => "small",
        Pages::Huge => "huge",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_sets_are_octaves_up_to_a_part_of_the_memory() {
        assert_eq!(largest(64 << 30), LARGEST);
        assert_eq!(largest(1 << 30), 256 << 20);
        assert_eq!(largest(0), SMALLEST);
        let sets = octaves(1 << 20);
        assert_eq!((sets.len(), sets[0], sets[8]), (9, 4096, 1 << 20));
    }

    #[test]
    fn an_octave_holds_seven_more_sets_of_whole_grains() {
        let sets: Vec<usize> = within(8192).collect();
        assert_eq!(sets.len(), 7);
        assert!(sets.is_sorted() && sets.iter().all(|bytes| bytes % GRAIN == 0), "{sets:?}");
        assert!(sets[0] > 8192 && sets[6] < 16_384);
    }

    #[test]
    fn no_curve_is_sampled_twice() {
        let curves: Vec<Curve> = plain().into_iter().chain(others()).collect();
        for (index, curve) in curves.iter().enumerate() {
            assert!(!curves[..index].contains(curve), "{curve:?}");
        }
        assert!(curves.len() > 15);
    }
}
