//! Clocks and costs: what a clock can tell, what the kernel's small operations take, and what takes a
//! processor away unasked.
//!
//! ```text
//! clocks: resolution, step, cost ─┐
//! system call, switch, page fault ┼──► points, in turns ──► series [ns, Hz, ratio]
//! sleeps and wake-ups, one by one ┤                             │
//! gaps in a spinning thread ──────┤                             └──► quantiles; may the counter be used?
//! counter: rate, offset of cores ─┘
//! ```

mod conclusion;
mod costs;
mod doubt;
mod events;

use std::time::Duration;

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Unit};
use bitpath_platform::PlatformError;
use bitpath_platform::clock::{self, Source};

use crate::BenchError;
use crate::here::Here;
use crate::probe::points::{Effort, Point, sample_all};
use crate::sampling::{Bed, Sampler};
use crate::steps::Steps;
pub use conclusion::conclude;
pub use doubt::doubt;
pub(crate) use events::{LATENESS, sleep_of_model};

/// Resolution that the kernel states [ns].
pub const RESOLUTION: &str = "clock.resolution";

/// Smallest step that a clock was seen to make [ns].
pub const OBSERVED_STEP: &str = "clock.observed_step";

/// Whether the time stamp counter says that it runs at one rate whatever the core does [count]: 0 or 1.
pub const INVARIANT: &str = "clock.tsc_invariant";

/// Rate of the counter over windows of one length [Hz].
pub const TSC_RATE: &str = "clock.tsc_rate";

/// How far one processor's counter is before another's at least [TSC cycles].
pub const OFFSET_LOW: &str = "clock.tsc_offset_low";

/// And at most [TSC cycles].
pub const OFFSET_HIGH: &str = "clock.tsc_offset_high";

/// Windows over which the counter's rate is taken [ms]: a rate that drifts differs between them.
const RATE_WINDOWS_MS: [u64; 2] = [10, 50];

/// Round trips between two counters in a sample.
const OFFSET_ROUNDS: usize = 1000;

/// Most processors of which each is looked at alone.
const MOST_CPUS: usize = 16;

/// Time in which a clock is watched for its steps [ns]: five ticks of the slowest usual kernel.
const STEP_WINDOW_NS: u64 = 50_000_000;

/// Shares of the budget: what is a mean over many calls, and what is watched one by one.
const COSTS_SHARE: f64 = 0.4;
const EVENTS_SHARE: f64 = 0.6;

/// Samples everything. `counter_hz` is the rate of the time stamp counter, where it is invariant.
///
/// # Errors
/// When no processor can be used, or the user asked to stop.
pub fn sample(
    counter_hz: Option<f64>,
    sampler: &mut Sampler,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Vec<Pitfall>, BenchError> {
    let mut here = Here::new()?;
    read_once(sampler, counter_hz);
    steps.tell(0.0)?;
    let mut costs = costs::points(&here);
    costs.extend(counter(&here));
    let costs_effort = effort.share(COSTS_SHARE);
    let mut doubts = sample_all(&mut here, &mut costs, sampler, &costs_effort, steps)?;
    let mut events = events::points(&here, counter_hz);
    let events_effort = events::effort(&effort.share(EVENTS_SHARE));
    doubts.extend(sample_all(&mut here, &mut events, sampler, &events_effort, steps)?);
    Ok(doubts)
}

/// What does not vary, unless an earlier sitting has read it.
fn read_once(sampler: &mut Sampler, counter_hz: Option<f64>) {
    let none = Labels::new();
    if sampler.samples(INVARIANT, &none) > 0 {
        return;
    }
    let invariant = if clock::tsc().is_some() { 1.0 } else { 0.0 };
    sampler.add_alone(INVARIANT, &none, Unit::Count, &[invariant]);
    for source in Source::ALL {
        let of = labels([("clock", source.name())]);
        if let Some(stated) = source.resolution_ns() {
            sampler.add_alone(RESOLUTION, &of, Unit::Nanoseconds, &[stated as f64]);
        }
        let a_step_ns =
            if source == Source::Tsc { counter_hz.map(|hz| 1e9 / hz) } else { Some(1.0) };
        let step = source.observed_step(STEP_WINDOW_NS).zip(a_step_ns);
        if let Some((step, a_step_ns)) = step {
            sampler.add_alone(OBSERVED_STEP, &of, Unit::Nanoseconds, &[step as f64 * a_step_ns]);
        }
    }
}

/// The points that the model needs, a sample each a round: the same series as this part's, which fills them
/// further.
///
/// # Errors
/// When the system does not say which processors may be used.
pub(crate) fn of_model<B: Bed + 'static>() -> Result<Vec<Point<'static, B>>, BenchError> {
    let here = Here::new()?;
    let mut points = costs::of_model(&here);
    points.extend(events::of_model(&here));
    Ok(points)
}

/// The counter's rate, and how far it is the same on all processors.
fn counter(here: &Here) -> Vec<Point<'static, Here>> {
    if clock::tsc().is_none() {
        return Vec::new();
    }
    let cpu = here.first();
    let others = here.cpus.iter().skip(1).take(MOST_CPUS);
    RATE_WINDOWS_MS.into_iter().map(rate).chain(others.map(|&other| offset(other, cpu))).collect()
}

/// The counter's rate over windows of a length.
fn rate(window_ms: u64) -> Point<'static, Here> {
    let of = labels([("window_ms", &window_ms.to_string())]);
    Point::new(TSC_RATE, of.clone(), move |here: &mut Here, sampler: &mut Sampler| {
        let window = Duration::from_millis(window_ms);
        let measure = |here: &mut Here| here.run(|| Ok(clock::tsc_rate_hz(window)));
        let (rate, beside) = sampler.beside(here, measure)?;
        if let Some(hz) = rate {
            sampler.add(TSC_RATE, &of, Unit::Hertz, hz, &beside);
        }
        Ok(())
    })
}

/// How far a processor's counter is before another's.
fn offset(of: usize, to: usize) -> Point<'static, Here> {
    let pair = labels([("of", &of.to_string()), ("to", &to.to_string())]);
    Point::new(OFFSET_LOW, pair.clone(), move |here: &mut Here, sampler: &mut Sampler| {
        let measure = |_: &mut Here| Ok(clock::tsc_offset(of, to, OFFSET_ROUNDS)?);
        let (found, beside) = sampler.beside(here, measure)?;
        let found = found.ok_or_else(|| PlatformError::File {
            path: format!("processors {of} and {to}").into(),
            reason: "their threads never ran at the same time".into(),
        })?;
        for (name, cycles) in [(OFFSET_LOW, found.low_cycles), (OFFSET_HIGH, found.high_cycles)] {
            sampler.add(name, &pair, Unit::TscCycles, cycles as f64, &beside);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_s_points_are_points_of_this_part() {
        let here = Here::new().unwrap();
        let mut own = costs::points::<Here>(&here);
        own.extend(events::points(&here, None));
        let own: Vec<String> = own.iter().map(|point| format!("{point:?}")).collect();
        let of_model = of_model::<Here>().unwrap();
        for name in of_model.iter().map(|point| format!("{point:?}")) {
            assert!(own.contains(&name), "{name} is not among {own:?}");
        }
        assert!(of_model.len() >= 6);
    }
}
