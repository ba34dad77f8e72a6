//! What is a mean over many calls: readings of clocks, the kernel's small operations, page faults.

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Unit};
use bitpath_platform::PlatformError;
use bitpath_platform::clock::{self, Source};
use bitpath_platform::latency;
use bitpath_platform::memory::{Pages, fault};

use crate::here::Here;
use crate::probe::points::Point;
use crate::sampling::{Bed, Sampler};

/// Time to read a clock [ns].
pub(super) const READING: &str = "clock.cost";

/// Time of a system call that does next to nothing [ns].
pub(super) const SYSTEM_CALL: &str = "syscall.cost";

/// Time of a switch between two threads, with a byte over a pipe [ns].
pub(super) const CONTEXT_SWITCH: &str = "context_switch.cost";

/// Processor time of one sleep until a given time [ns].
pub(super) const TIMER: &str = "timer.cost";

/// Time of a page fault [ns].
const PAGE_FAULT: &str = "clock.page_fault";

/// Calls in a sample: long beside the clock's step, short beside a disturbance.
pub(super) const CALLS: u32 = 2000;

/// Round trips between two threads in a sample.
const ROUND_TRIPS: u32 = 500;

/// Sleeps in a sample, and their length [ns]: a sample takes some five milliseconds.
const SLEEPS: u32 = 20;
const SLEEP_NS: u64 = 200_000;

/// Small and huge pages that a sample touches.
const SMALL_PAGES: usize = 512;
const HUGE_PAGES: usize = 4;

/// Clocks that bitpath itself reads beside every measurement.
const OWN_CLOCKS: [Source; 3] = [Source::Monotonic, Source::ThreadCpu, Source::Tsc];

/// All points of costs.
pub(super) fn points<B: Bed + 'static>(here: &Here) -> Vec<Point<'static, B>> {
    let mut points = readings(here, &Source::ALL);
    points.extend(operations(here));
    points.extend(page_faults(here));
    points
}

/// Those that the model needs.
pub(super) fn of_model<B: Bed + 'static>(here: &Here) -> Vec<Point<'static, B>> {
    let mut points = readings(here, &OWN_CLOCKS);
    points.extend(operations(here));
    points
}

fn readings<B: Bed + 'static>(here: &Here, sources: &[Source]) -> Vec<Point<'static, B>> {
    let there = sources.iter().copied().filter(|source| source.now().is_some());
    let reading = |source: Source| {
        let of = labels([("clock", source.name())]);
        cost(here, READING, of, move || Ok(latency::clock_read_ns(source, 1, CALLS)))
    };
    there.map(reading).collect()
}

fn operations<B: Bed + 'static>(here: &Here) -> [Point<'static, B>; 3] {
    let none = Labels::new;
    let cpu = here.first();
    let switches = move || latency::context_switch_ns(cpu, 1, ROUND_TRIPS);
    [
        cost(here, SYSTEM_CALL, none(), || Ok(latency::system_call_ns(1, CALLS))),
        cost(here, CONTEXT_SWITCH, none(), switches),
        cost(here, TIMER, none(), || Ok(vec![sleep_ns()])),
    ]
}

fn page_faults<B: Bed + 'static>(here: &Here) -> [Point<'static, B>; 2] {
    let sizes = [(Pages::Small, "small", SMALL_PAGES), (Pages::Huge, "huge", HUGE_PAGES)];
    sizes.map(|(pages, name, count)| {
        cost(here, PAGE_FAULT, labels([("pages", name)]), move || page_fault_ns(pages, count))
    })
}

/// A point whose samples are taken on the processor for work of one thread, whatever bed they stand
/// beside.
fn cost<B: Bed + 'static>(
    here: &Here,
    name: &'static str,
    of: Labels,
    mut measure: impl FnMut() -> Result<Vec<f64>, PlatformError> + Send + 'static,
) -> Point<'static, B> {
    let here = here.clone();
    Point::new(name, of.clone(), move |bed: &mut B, sampler: &mut Sampler| {
        let (values, beside) = sampler.beside(bed, |_| here.run(&mut measure))?;
        for value in values {
            sampler.add(name, &of, Unit::Nanoseconds, value, &beside);
        }
        Ok(())
    })
}

/// Processor time of a sleep [ns].
fn sleep_ns() -> f64 {
    let before_ns = clock::thread_cpu_ns();
    for _ in 0..SLEEPS {
        clock::sleep_until(clock::monotonic_ns() + SLEEP_NS);
    }
    (clock::thread_cpu_ns() - before_ns) as f64 / f64::from(SLEEPS)
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
