//! A part of the probe as points: series to be filled, and how one sample of each is taken.
//!
//! ```text
//! points ──► the one with the fewest samples, any among equals ──► one sample ──► wide still? ──┐
//!   ▲                                                                                           │
//!   └── until each is known well enough, or the budget is spent ◄───────────────────────────────┘
//! ```
//!
//! So all points are sampled in turns, in another order each time: a slow spell of the machine meets all of
//! them, and not one alone (docs/measuring.md). The first turn alone follows the order given, so that a
//! short budget leaves out what comes last.

use std::fmt;

use bitpath_measure::statistics::{Method, estimate};
use bitpath_measure::{Labels, Pitfall};
use bitpath_platform::clock::monotonic_ns;
use rand::SeedableRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::BenchError;
use crate::sampling::{Bed, Sampler};
use crate::steps::Steps;

/// One sample of a point, taken on a test bed.
type Sample<'a, B> = Box<dyn FnMut(&mut B, &mut Sampler) -> Result<(), BenchError> + 'a>;

/// A series to be filled.
pub struct Point<'a, B> {
    name: &'static str,
    labels: Labels,
    sample: Sample<'a, B>,
}

impl<B> fmt::Debug for Point<'_, B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what())
    }
}

impl<'a, B> Point<'a, B> {
    /// The series of this name and labels, which `sample` adds one value to; it may fill others beside
    /// it.
    pub fn new(
        name: &'static str,
        labels: Labels,
        sample: impl FnMut(&mut B, &mut Sampler) -> Result<(), BenchError> + 'a,
    ) -> Self {
        Self { name, labels, sample: Box::new(sample) }
    }
}

/// How long to sample, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Time for all points together [s].
    pub budget_s: f64,
    /// Fewest samples of a point.
    pub least: usize,
    /// Most samples of a point.
    pub most: usize,
    /// Half width of an interval that is narrow enough, relative to its value [ratio].
    pub half_width: f64,
}

impl Effort {
    /// As well as a budget allows.
    #[must_use]
    pub fn of(budget_s: f64) -> Self {
        Self { budget_s, least: LEAST_SAMPLES, most: MOST_SAMPLES, half_width: HALF_WIDTH }
    }

    /// The same with a part of the budget.
    #[must_use]
    pub fn share(self, part: f64) -> Self {
        Self { budget_s: self.budget_s * part, ..self }
    }
}

/// Fewest samples from which a median has an interval.
const LEAST_SAMPLES: usize = 5;

/// Samples above which an interval narrows too slowly to wait for it.
const MOST_SAMPLES: usize = 40;

/// Half width that tells 10 % from nothing.
const HALF_WIDTH: f64 = 0.03;

/// What is known of a point.
#[derive(Clone, Copy, Debug)]
struct Known {
    samples: usize,
    /// Relative half width of the interval [ratio].
    half_width: f64,
    /// The system refused it.
    refused: bool,
}

impl Known {
    fn of<B>(point: &Point<'_, B>, sampler: &Sampler) -> Self {
        let values = sampler.values(point.name, &point.labels);
        let found = estimate(&values, Method::MedianBlockBootstrap);
        let half_width = found.map_or(f64::INFINITY, |found| found.relative_half_width());
        let samples = sampler.samples(point.name, &point.labels);
        Self { samples, half_width, refused: false }
    }

    fn wants_more(&self, effort: &Effort) -> bool {
        let wide = self.half_width > effort.half_width && self.samples < effort.most;
        !self.refused && (self.samples < effort.least || wide)
    }
}

/// Samples all points in turns until each is known well enough or the budget is spent. What the system
/// refuses to measure is left out; the doubts say so.
///
/// # Errors
/// When the test bed is gone or the user asked to stop.
pub fn sample_all<B: Bed>(
    bed: &mut B,
    points: &mut [Point<'_, B>],
    sampler: &mut Sampler,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Vec<Pitfall>, BenchError> {
    let mut order = ChaCha8Rng::seed_from_u64(ORDER_SEED);
    let mut known: Vec<Known> = points.iter().map(|point| Known::of(point, sampler)).collect();
    let mut doubts = Vec::new();
    let start_ns = monotonic_ns();
    while let Some(next) = next(&known, effort, &mut order) {
        let spent_s = (monotonic_ns() - start_ns) as f64 / 1e9;
        if spent_s >= effort.budget_s {
            doubts.extend(doubt_of_budget(points, &known, effort));
            steps.ended("time budget spent");
            return Ok(doubts);
        }
        steps.tell((spent_s / effort.budget_s).max(done(&known, effort)))?;
        let point = &mut points[next];
        match (point.sample)(bed, sampler) {
            Ok(()) => known[next] = Known::of(point, sampler),
            Err(error) if error.refusal() => {
                doubts.push(Pitfall::NotMeasured { what: point.what(), reason: error.to_string() });
                known[next].refused = true;
            }
            Err(error) => return Err(error),
        }
    }
    steps.ended("intervals narrow enough");
    Ok(doubts)
}

/// One turn alone: a sample of every point, in an order drawn anew, for what measures other things between
/// its turns.
///
/// # Errors
/// Those of the samples.
pub fn take_turn<B: Bed>(
    bed: &mut B,
    points: &mut [Point<'_, B>],
    sampler: &mut Sampler,
    order: &mut ChaCha8Rng,
) -> Result<(), BenchError> {
    points.shuffle(order);
    points.iter_mut().try_for_each(|point| (point.sample)(bed, sampler))
}

/// Seed of the shuffled order; what is measured does not depend on it.
const ORDER_SEED: u64 = 2004;

impl<B> Point<'_, B> {
    /// Name and labels in words.
    fn what(&self) -> String {
        let labels: Vec<String> =
            self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{} ({})", self.name, labels.join(", "))
    }
}

/// One of the points with the fewest samples among those that want more; the first where it has none.
fn next(known: &[Known], effort: &Effort, order: &mut ChaCha8Rng) -> Option<usize> {
    let wanting = || known.iter().enumerate().filter(|(_, point)| point.wants_more(effort));
    let fewest = wanting().map(|(_, point)| point.samples).min()?;
    let next: Vec<usize> =
        wanting().filter(|(_, point)| point.samples == fewest).map(|(index, _)| index).collect();
    if fewest == 0 { next.first().copied() } else { next.choose(order).copied() }
}

/// Share of the points that want no more [ratio].
fn done(known: &[Known], effort: &Effort) -> f64 {
    let done = known.iter().filter(|point| !point.wants_more(effort)).count();
    done as f64 / known.len().max(1) as f64
}

/// What the end of the budget left unknown, and how wide the widest interval is.
fn doubt_of_budget<B>(points: &[Point<'_, B>], known: &[Known], effort: &Effort) -> Vec<Pitfall> {
    let measured = || points.iter().zip(known).filter(|(_, known)| known.samples >= effort.least);
    let left = known.iter().filter(|known| known.samples == 0 && !known.refused).count();
    let widest = measured().max_by(|(_, a), (_, b)| a.half_width.total_cmp(&b.half_width));
    let mut doubts = Vec::new();
    if let Some((point, known)) = widest.filter(|(_, known)| known.half_width > effort.half_width) {
        let (what, half_width) = (point.what(), known.half_width);
        doubts.push(Pitfall::BudgetEnded { what, half_width, wanted: effort.half_width });
    }
    if left > 0 {
        let what = format!("{left} of {} points of {}", points.len(), points[0].name);
        doubts.push(Pitfall::SmallSample { what, samples: 0 });
    }
    doubts
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use bitpath_measure::series::labels;
    use bitpath_measure::{Run, Unit};
    use bitpath_platform::PlatformError;

    use super::*;

    /// A test bed that is nowhere.
    struct Nowhere;

    impl Bed for Nowhere {
        fn speed(&mut self) -> Result<f64, BenchError> {
            Ok(1.0)
        }

        fn pids(&self) -> Vec<u32> {
            vec![std::process::id()]
        }
    }

    const EFFORT: Effort = Effort { budget_s: 600.0, least: 5, most: 9, half_width: 0.03 };

    /// A point whose values go round; each of its samples is noted by name.
    fn point<'a>(
        name: &'static str,
        values: &'a [f64],
        order: &'a RefCell<Vec<&'static str>>,
    ) -> Point<'a, Nowhere> {
        Point::new(name, labels([]), move |bed, sampler| {
            let value = values[sampler.samples(name, &labels([])) % values.len()];
            let ((), beside) = sampler.beside(bed, |_| Ok(()))?;
            sampler.add(name, &labels([]), Unit::Seconds, value, &beside);
            order.borrow_mut().push(name);
            Ok(())
        })
    }

    fn sampled(points: &mut [Point<'_, Nowhere>], sampler: &mut Sampler) -> Vec<Pitfall> {
        let mut watcher = |_: crate::progress::Progress<'_>| {};
        let mut steps = Steps::new(&mut watcher, 1);
        steps.begin("points").unwrap();
        sample_all(&mut Nowhere, points, sampler, &EFFORT, &mut steps).unwrap()
    }

    #[test]
    fn points_take_turns_until_each_is_known_well_enough() {
        let order = RefCell::new(Vec::new());
        let mut points = [point("steady", &[2.0], &order), point("wild", &[1.0, 2.0, 9.0], &order)];
        assert_eq!(sampled(&mut points, &mut Sampler::begin()), []);
        let order = order.borrow();
        assert_eq!(order[..2], ["steady", "wild"]);
        // Turn by turn until the steady one is known; the wild one goes on to the most.
        for turn in order[..2 * EFFORT.least].chunks(2) {
            assert_ne!(turn[0], turn[1]);
        }
        assert_eq!(order.iter().filter(|name| **name == "steady").count(), EFFORT.least);
        assert_eq!(order.iter().filter(|name| **name == "wild").count(), EFFORT.most);
    }

    #[test]
    fn a_turn_samples_every_point_once_whatever_is_known_of_it() {
        let order = RefCell::new(Vec::new());
        let mut points = [point("steady", &[2.0], &order), point("wild", &[1.0, 9.0], &order)];
        let (mut sampler, mut shuffled) = (Sampler::begin(), ChaCha8Rng::seed_from_u64(0));
        for turn in 1..=EFFORT.most + 1 {
            take_turn(&mut Nowhere, &mut points, &mut sampler, &mut shuffled).unwrap();
            for name in ["steady", "wild"] {
                assert_eq!(sampler.samples(name, &labels([])), turn);
            }
        }
        let firsts: Vec<&str> = order.borrow().iter().step_by(2).copied().collect();
        assert!(["steady", "wild"].iter().all(|name| firsts.contains(name)), "{firsts:?}");
    }

    #[test]
    fn what_the_system_refuses_is_named_and_the_rest_goes_on() {
        let order = RefCell::new(Vec::new());
        let refuse = |_: &mut Nowhere, _: &mut Sampler| -> Result<(), BenchError> {
            Err(PlatformError::NeedsRoot { what: "a namespace" }.into())
        };
        let of = labels([("path", "veth")]);
        let mut points = [Point::new("refused", of, refuse), point("steady", &[2.0], &order)];
        let doubts = sampled(&mut points, &mut Sampler::begin());
        let what = "refused (path=veth)".to_owned();
        let reason = "a namespace needs root".to_owned();
        assert_eq!(doubts, [Pitfall::NotMeasured { what, reason }]);
        assert_eq!(order.borrow().len(), EFFORT.least);
    }

    #[test]
    fn a_test_bed_that_is_gone_ends_the_part() {
        let gone = |_: &mut Nowhere, _: &mut Sampler| -> Result<(), BenchError> {
            Err(PlatformError::Interrupted { what: "an answer".into() }.into())
        };
        let mut points = [Point::new("gone", labels([]), gone)];
        let mut watcher = |_: crate::progress::Progress<'_>| {};
        let mut steps = Steps::new(&mut watcher, 1);
        let mut sampler = Sampler::begin();
        let ended = sample_all(&mut Nowhere, &mut points, &mut sampler, &EFFORT, &mut steps);
        assert!(ended.unwrap_err().interrupted());
    }

    #[test]
    fn samples_of_an_earlier_sitting_count() {
        let order = RefCell::new(Vec::new());
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        let mut sampler = Sampler::begin();
        sampler.add_alone("steady", &labels([]), Unit::Seconds, &[2.0, 2.0, 2.0]);
        sampler.finish(&mut run);
        let mut sampler = Sampler::go_on(&run);
        sampled(&mut [point("steady", &[2.0], &order)], &mut sampler);
        assert_eq!(order.borrow().len(), EFFORT.least - 3);
    }

    #[test]
    fn a_spent_budget_says_what_is_unknown() {
        let order = RefCell::new(Vec::new());
        let points = [point("first", &[1.0], &order), point("second", &[1.0], &order)];
        let known = [
            Known { samples: 6, half_width: 0.2, refused: false },
            Known { samples: 0, half_width: f64::INFINITY, refused: false },
        ];
        let doubts = doubt_of_budget(&points, &known, &EFFORT);
        assert!(matches!(&doubts[0], Pitfall::BudgetEnded { half_width: 0.2, .. }), "{doubts:?}");
        let what = "1 of 2 points of first".to_owned();
        assert_eq!(doubts[1..], [Pitfall::SmallSample { what, samples: 0 }]);
    }
}
