//! Clocks, timers and the small operations of the kernel.

use std::time::Duration;

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Unit};
use bitpath_platform::clock::Source;
use bitpath_platform::{clock, latency};

use crate::BenchError;
use crate::sampling::Sampler;

/// Samples of each operation, each a mean over many calls.
const SAMPLES: usize = 15;

/// Calls in a sample: long beside the clock's step, short beside a disturbance.
const CALLS: u32 = 2000;

/// Single events in a distribution.
const EVENTS: usize = 200;

/// Length of the sleeps whose lateness is sampled [ns]: about a message's time at a film's pace.
const SLEEP_NS: u64 = 200_000;

/// Steps of its clock that a run must last at least.
const LEAST_TICKS: f64 = 1000.0;

/// Step of a clock from which it is a coarse one [ns].
const COARSE_NS: f64 = 1000.0;

/// Samples everything on the calling thread, and wake-ups between two processors. Returns the
/// doubts about the clock.
///
/// # Errors
/// When a processor cannot be used.
pub fn measure(sampler: &mut Sampler, cpus: (usize, usize)) -> Result<Vec<Pitfall>, BenchError> {
    let none = Labels::new();
    let mut nanos = |name: &str, labels: &Labels, values: &[f64]| {
        sampler.add_alone(name, labels, Unit::Nanoseconds, values);
    };
    for source in [Source::Monotonic, Source::ThreadCpu, Source::Tsc] {
        let costs = latency::clock_read_ns(source, SAMPLES, CALLS);
        nanos("clock.cost", &labels([("clock", source.name())]), &costs);
    }
    nanos("clock.step", &none, &[clock::observed_step_ns(100_000) as f64]);
    nanos("timer.lateness", &none, &latency::timer_lateness_ns(EVENTS, SLEEP_NS));
    nanos("timer.cost", &none, &timer_cost_ns());
    nanos("syscall.cost", &none, &latency::system_call_ns(SAMPLES, CALLS));
    nanos("context_switch.cost", &none, &latency::context_switch_ns(cpus.1, SAMPLES, 500)?);
    if cpus.0 != cpus.1 {
        nanos("wake_up.latency", &none, &latency::wake_up_ns(cpus.0, cpus.1, EVENTS)?);
    }
    if let Some(rate) = clock::calibrate_tsc(Duration::from_millis(20), 5) {
        sampler.add_alone("clock.tsc_rate", &none, Unit::Hertz, &[rate.hz]);
    }
    Ok(clock_doubts(sampler))
}

/// Holds the shortest runs of this part, those of the cheapest operations, against the clock's step.
fn clock_doubts(sampler: &Sampler) -> Vec<Pitfall> {
    let none = Labels::new();
    let step_ns = sampler.median("clock.step", &none).unwrap_or(1.0).max(1.0);
    let cheapest = [
        ("reading the clock", sampler.median("clock.cost", &labels([("clock", "monotonic")]))),
        ("a system call", sampler.median("syscall.cost", &none)),
    ];
    let mut doubts = Vec::new();
    for (what, cost_ns) in cheapest {
        let run_ns = cost_ns.unwrap_or(0.0) * f64::from(CALLS);
        if run_ns / step_ns < LEAST_TICKS {
            doubts.push(Pitfall::RunTooShort { what: what.into(), ticks: run_ns / step_ns });
        }
        if step_ns > COARSE_NS {
            doubts.push(Pitfall::CoarseClock { step_ns, run_ns });
        }
    }
    doubts
}

/// Processor time of one sleep until a given time [ns], a mean over some sleeps a sample.
fn timer_cost_ns() -> Vec<f64> {
    const SLEEPS: u32 = 20;
    let sample = |_| {
        let before = clock::thread_cpu_ns();
        for _ in 0..SLEEPS {
            clock::sleep_until(clock::monotonic_ns() + SLEEP_NS);
        }
        (clock::thread_cpu_ns() - before) as f64 / f64::from(SLEEPS)
    };
    (0..SAMPLES).map(sample).collect()
}
