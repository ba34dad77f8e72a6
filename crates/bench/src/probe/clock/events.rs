//! Events one by one: sleeps that end late, threads that are woken, gaps in a thread that only spins.

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Unit};
use bitpath_platform::noise::{self, Noise};
use bitpath_platform::{clock, latency};

use crate::here::{Here, on_cpu};
use crate::probe::points::{Effort, Point};
use crate::sampling::{Bed, Beside, Sampler};

/// How late a sleep ended [ns].
pub(crate) const LATENESS: &str = "timer.lateness";

/// How long a woken thread took to run [ns].
pub(super) const WAKE_UP: &str = "wake_up.latency";

/// Length of a gap [ns], and how many there are a second, their share of the time and the longest of a
/// window.
pub(super) const GAP: &str = "clock.gap";
pub(super) const GAPS: &str = "clock.gaps";
pub(super) const GAP_SHARE: &str = "clock.gap_share";
pub(super) const LONGEST_GAP: &str = "clock.gap_longest";

/// What the kernel counted on the same processor meanwhile.
pub(super) const INTERRUPTS: &str = "clock.interrupts";
pub(super) const INTERRUPT_TIME: &str = "clock.interrupt_time";
pub(super) const SWITCHES: &str = "clock.switches";
pub(super) const STEAL: &str = "clock.steal";

/// Lengths of the sleeps [ns]: from a packet's time at a fast line to a frame's part.
const SLEEPS_NS: [u64; 4] = [50_000, 200_000, 1_000_000, 5_000_000];

/// Slack of the timer [ns]: Linux's default, and next to none.
const SLACKS_NS: [u32; 2] = [50_000, 1];

/// The sleep that the model knows [ns]: about a message's time at a film's pace, with the default slack.
const SLEEP_OF_MODEL: (u64, u32) = (200_000, 50_000);

/// Sleeps, and wake-ups, of one sample.
const BATCH: usize = 10;

/// Time in which one processor is watched at once [ns]: a dozen ticks of most kernels.
const WINDOW_NS: u64 = 50_000_000;

/// Most gaps of a window that the record keeps one by one; the rates count all.
const KEPT_GAPS: usize = 50;

/// Events from which a distribution shows its hundredth part.
const ENOUGH_EVENTS: usize = 100;

/// Events above which a distribution gains nothing any more.
const MOST_EVENTS: usize = 400;

/// As many events as a distribution needs, if the budget allows.
pub(super) fn effort(of: &Effort) -> Effort {
    Effort { least: ENOUGH_EVENTS, most: MOST_EVENTS, ..*of }
}

/// All points of events.
pub(super) fn points(here: &Here, counter_hz: Option<f64>) -> Vec<Point<'static, Here>> {
    let slacks = |sleep_ns| SLACKS_NS.map(|slack_ns| sleeps(here, sleep_ns, slack_ns));
    let mut points: Vec<Point<'static, Here>> = SLEEPS_NS.into_iter().flat_map(slacks).collect();
    let cpu = here.first();
    points.push(wake_ups(cpu, cpu, labels([("cores", "same")])));
    points.extend(wake_ups_across(here));
    points.extend(here.cpus.iter().take(super::MOST_CPUS).map(|&cpu| gaps(cpu, counter_hz)));
    points
}

/// Those that the model needs.
pub(super) fn of_model<B: Bed + 'static>(here: &Here) -> Vec<Point<'static, B>> {
    let (sleep_ns, slack_ns) = SLEEP_OF_MODEL;
    std::iter::once(sleeps(here, sleep_ns, slack_ns)).chain(wake_ups_across(here)).collect()
}

/// Labels of the sleep that the model knows.
pub(crate) fn sleep_of_model() -> Labels {
    let (sleep_ns, slack_ns) = SLEEP_OF_MODEL;
    sleep_labels(sleep_ns, slack_ns)
}

fn sleep_labels(sleep_ns: u64, slack_ns: u32) -> Labels {
    labels([("sleep_ns", &sleep_ns.to_string()), ("slack_ns", &slack_ns.to_string())])
}

/// Sleeps of a length with a slack.
fn sleeps<B: Bed + 'static>(here: &Here, sleep_ns: u64, slack_ns: u32) -> Point<'static, B> {
    let (here, of) = (here.clone(), sleep_labels(sleep_ns, slack_ns));
    Point::new(LATENESS, of.clone(), move |bed: &mut B, sampler: &mut Sampler| {
        let late = || {
            // The thread is one of its own and ends with the measurement: nobody else's slack moves.
            clock::set_timer_slack_ns(slack_ns)?;
            Ok(latency::timer_lateness_ns(BATCH, sleep_ns))
        };
        let (values, beside) = sampler.beside(bed, |_| here.run(late))?;
        keep(sampler, LATENESS, &of, &values, &beside);
        Ok(())
    })
}

/// Wake-ups by a thread on another processor, where there is one.
fn wake_ups_across<B: Bed + 'static>(here: &Here) -> Option<Point<'static, B>> {
    let cpu = here.first();
    let other = here.cpus.last().copied().filter(|other| *other != cpu)?;
    Some(wake_ups(other, cpu, Labels::new()))
}

/// Wake-ups of a thread by one on another processor, or on the same.
fn wake_ups<B: Bed + 'static>(waker: usize, sleeper: usize, of: Labels) -> Point<'static, B> {
    Point::new(WAKE_UP, of.clone(), move |bed: &mut B, sampler: &mut Sampler| {
        let measure = |_: &mut B| Ok(latency::wake_up_ns(waker, sleeper, BATCH)?);
        let (values, beside) = sampler.beside(bed, measure)?;
        keep(sampler, WAKE_UP, &of, &values, &beside);
        Ok(())
    })
}

fn keep(sampler: &mut Sampler, name: &str, of: &Labels, values: &[f64], beside: &Beside) {
    for value in values {
        sampler.add(name, of, Unit::Nanoseconds, *value, beside);
    }
}

/// What takes a processor away from a thread that spins.
fn gaps(cpu: usize, counter_hz: Option<f64>) -> Point<'static, Here> {
    let of = labels([("cpu", &cpu.to_string())]);
    Point::new(GAP, of.clone(), move |here: &mut Here, sampler: &mut Sampler| {
        let watch = |_: &mut Here| Ok(on_cpu(cpu, || noise::watch(cpu, WINDOW_NS, counter_hz))?);
        let (noise, beside) = sampler.beside(here, watch)?;
        keep(sampler, GAP, &of, &noise.gaps_ns[..noise.gaps_ns.len().min(KEPT_GAPS)], &beside);
        for (name, unit, value) in rates(&noise) {
            sampler.add(name, &of, unit, value, &beside);
        }
        Ok(())
    })
}

/// One window in rates.
fn rates(noise: &Noise) -> [(&'static str, Unit, f64); 7] {
    let elapsed_ns = noise.elapsed_ns.max(1) as f64;
    let rate = |count: u64| count as f64 / elapsed_ns * 1e9;
    let in_interrupts_ns = noise.stat.irq_ns + noise.stat.softirq_ns;
    let longest = noise.gaps_ns.iter().copied().fold(0.0, f64::max);
    [
        (GAPS, Unit::Hertz, rate(noise.gaps)),
        (GAP_SHARE, Unit::Ratio, noise.lost_ns / elapsed_ns),
        (LONGEST_GAP, Unit::Nanoseconds, longest),
        (INTERRUPTS, Unit::Hertz, rate(noise.interrupts)),
        (INTERRUPT_TIME, Unit::Ratio, in_interrupts_ns as f64 / elapsed_ns),
        (SWITCHES, Unit::Hertz, rate(noise.switches)),
        (STEAL, Unit::Cores, noise.stat.steal_ns as f64 / elapsed_ns),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_becomes_rates() {
        let mut noise =
            Noise { elapsed_ns: 50_000_000, gaps: 10, interrupts: 5, ..Noise::default() };
        noise.gaps_ns = vec![1000.0, 4000.0];
        noise.lost_ns = 5000.0;
        let rates = rates(&noise);
        let value = |name: &str| rates.iter().find(|rate| rate.0 == name).map(|rate| rate.2);
        assert_eq!(value(GAPS), Some(200.0));
        assert_eq!(value(GAP_SHARE), Some(1e-4));
        assert_eq!(value(LONGEST_GAP), Some(4000.0));
        assert_eq!(value(INTERRUPTS), Some(100.0));
    }
}
