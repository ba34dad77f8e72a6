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
mod events;

use std::time::Duration;

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Unit};
use bitpath_platform::PlatformError;
use bitpath_platform::clock::{self, Source};
use bitpath_platform::latency;
use bitpath_platform::memory::Pages;
use bitpath_platform::memory::fault;

use crate::BenchError;
use crate::here::Here;
use crate::probe::points::{Effort, Point, sample_all};
use crate::sampling::Sampler;
use crate::steps::Steps;
pub use conclusion::conclude;

/// Time to read a clock [ns].
pub const COST: &str = "clock.cost";

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

/// Calls in a sample: long beside the clock's step, short beside a disturbance.
const CALLS: u32 = 2000;

/// Round trips between two threads in a sample.
const ROUND_TRIPS: u32 = 500;

/// Small and huge pages that a sample touches.
const SMALL_PAGES: usize = 512;
const HUGE_PAGES: usize = 4;

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

/// Samples everything.
///
/// # Errors
/// When no processor can be used, or the user asked to stop.
pub fn sample(
    sampler: &mut Sampler,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Vec<Pitfall>, BenchError> {
    let mut here = Here::new()?;
    let counter_hz = clock::calibrate_tsc(Duration::from_millis(20), 5).map(|rate| rate.hz);
    read_once(sampler, counter_hz);
    steps.tell(0.0)?;
    let mut costs = costs(&here);
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

/// What is a mean over many calls.
fn costs(here: &Here) -> Vec<Point<'static, Here>> {
    let none = Labels::new();
    let cpu = here.cpus.first().copied().unwrap_or(0);
    let mut points = Vec::new();
    for source in Source::ALL.into_iter().filter(|source| source.now().is_some()) {
        let of = labels([("clock", source.name())]);
        points.push(cost(COST, of, move || Ok(latency::clock_read_ns(source, 1, CALLS))));
    }
    points.push(cost("syscall.cost", none.clone(), || Ok(latency::system_call_ns(1, CALLS))));
    points.push(cost("context_switch.cost", none, move || {
        latency::context_switch_ns(cpu, 1, ROUND_TRIPS)
    }));
    for (pages, name, count) in
        [(Pages::Small, "small", SMALL_PAGES), (Pages::Huge, "huge", HUGE_PAGES)]
    {
        let of = labels([("pages", name)]);
        points.push(cost("clock.page_fault", of, move || page_fault_ns(pages, count)));
    }
    if clock::tsc().is_some() {
        points.extend(RATE_WINDOWS_MS.map(rate));
        let others = here.cpus.iter().skip(1).take(MOST_CPUS);
        points.extend(others.map(|&other| offset(other, cpu)));
    }
    points
}

/// A point whose samples are taken on the processor for work of one thread.
fn cost(
    name: &'static str,
    of: Labels,
    mut measure: impl FnMut() -> Result<Vec<f64>, PlatformError> + Send + 'static,
) -> Point<'static, Here> {
    Point::new(name, of.clone(), move |here: &mut Here, sampler: &mut Sampler| {
        let (values, beside) = sampler.beside(here, |here| here.run(&mut measure))?;
        for value in values {
            sampler.add(name, &of, Unit::Nanoseconds, value, &beside);
        }
        Ok(())
    })
}

/// Time of one fault of pages of a size [ns].
fn page_fault_ns(pages: Pages, count: usize) -> Result<Vec<f64>, PlatformError> {
    let touched = fault::touch(pages, count)?;
    // Small pages in place of a huge one: twice as many faults as pages is far beyond chance.
    if pages == Pages::Huge && touched.faults > 2 * count as u64 {
        let reason =
            format!("{} faults at {count} huge pages: the kernel has none", touched.faults);
        return Err(PlatformError::File { path: "transparent_hugepage".into(), reason });
    }
    Ok(touched.one_ns().into_iter().collect())
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
