//! Clocks: monotonic time, processor time, the time stamp counter and absolute sleeps.
//!
//! All readings are nanoseconds since a start that is fixed while the machine runs; only
//! differences mean something.

mod offset;
mod source;

pub use offset::{Offset, tsc_offset};
pub use source::Source;

use std::sync::LazyLock;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use crate::PlatformError;

/// Time since boot without the time suspended [ns], slewed by NTP.
#[must_use]
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// Time since boot by the bare hardware clock [ns], which no NTP slews.
#[must_use]
pub fn monotonic_raw_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC_RAW)
}

/// Processor time of the calling thread, user and system [ns].
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time of all threads of this process, user and system [ns].
#[must_use]
pub fn process_cpu_ns() -> u64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Resolution that the kernel states for the monotonic clock [ns].
#[must_use]
pub fn resolution_ns() -> u64 {
    ClockId::CLOCK_MONOTONIC.res().map_or(0, nanoseconds)
}

/// Smallest step that is not zero between neighbouring readings of the monotonic clock [ns], out
/// of `readings`; 0 when the clock never moved.
#[must_use]
pub fn observed_step_ns(readings: usize) -> u64 {
    let mut last = monotonic_ns();
    let mut smallest = u64::MAX;
    for _ in 0..readings {
        let now = monotonic_ns();
        if now > last {
            smallest = smallest.min(now - last);
        }
        last = now;
    }
    if smallest == u64::MAX { 0 } else { smallest }
}

/// Sleeps until the monotonic clock reads `deadline_ns`; a signal does not end the sleep.
///
/// The deadline is absolute, so lateness does not add up over a series of sleeps.
pub fn sleep_until(deadline_ns: u64) {
    let deadline = TimeSpec::from_duration(Duration::from_nanos(deadline_ns));
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &deadline) == Err(Errno::EINTR) {}
}

/// Sets how late the kernel may wake the calling thread from a sleep so as to serve several timers
/// at once [ns]; 50 000 unless set (prctl(2), `PR_SET_TIMERSLACK`). At least 1.
///
/// # Errors
/// The kernel's.
pub fn set_timer_slack_ns(slack_ns: u32) -> Result<(), PlatformError> {
    set_timerslack(slack_ns.max(1).into())
        .map_err(|errno| PlatformError::system("set the timer slack", errno))
}

/// The time of day in UTC as RFC 3339 writes it, in whole seconds.
#[must_use]
pub fn utc_now_rfc3339() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time stamp counter [cycles], where the processor has one that runs at a constant rate
/// whatever the core does; it counts at that rate, not at the core's.
///
/// All earlier instructions have been executed when it is read (`rdtscp`).
#[must_use]
pub fn tsc() -> Option<u64> {
    INVARIANT_TSC.then(read_tsc)
}

/// Rate of the time stamp counter, measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TscRate {
    /// The rate [Hz].
    pub hz: f64,
    /// Distance of the two windows that agree best [ratio].
    pub disagreement: f64,
}

/// Measures the rate of the time stamp counter against `CLOCK_MONOTONIC_RAW` in `windows`
/// neighbouring windows of `window` each, and takes the mean of the two that agree best: a window
/// that the hypervisor cut into does not count. `None` without an invariant counter.
#[must_use]
pub fn calibrate_tsc(window: Duration, windows: usize) -> Option<TscRate> {
    tsc()?;
    let mut rates: Vec<f64> = (0..windows.max(2)).map(|_| tsc_rate_over(window)).collect();
    rates.sort_by(f64::total_cmp);
    let best = rates.windows(2).min_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])))?;
    let hz = f64::midpoint(best[0], best[1]);
    Some(TscRate { hz, disagreement: (best[1] - best[0]) / hz })
}

/// Rate of the counter against `CLOCK_MONOTONIC_RAW` over one window [Hz]; none without an invariant
/// counter.
#[must_use]
pub fn tsc_rate_hz(window: Duration) -> Option<f64> {
    tsc().map(|_| tsc_rate_over(window))
}

/// Rate of the counter over one window [Hz].
fn tsc_rate_over(window: Duration) -> f64 {
    let (start_cycles, start_ns) = simultaneous();
    sleep_until(monotonic_ns().saturating_add(nanos_of(window)));
    let (end_cycles, end_ns) = simultaneous();
    let elapsed_ns = end_ns.saturating_sub(start_ns).max(1);
    end_cycles.wrapping_sub(start_cycles) as f64 / elapsed_ns as f64 * 1e9
}

/// Counter [cycles] and raw clock [ns] read together: of a few pairs the one whose counter readings
/// around the clock's lie closest, because nothing came between them.
fn simultaneous() -> (u64, u64) {
    let pair = || {
        let before = read_tsc();
        let nanos = monotonic_raw_ns();
        let spread = read_tsc().wrapping_sub(before);
        (spread, before.wrapping_add(spread / 2), nanos)
    };
    let (_, cycles, nanos) = (1..SIMULTANEOUS_TRIES)
        .map(|_| pair())
        .fold(pair(), |best, next| if next.0 < best.0 { next } else { best });
    (cycles, nanos)
}

/// A duration in whole nanoseconds [ns], at most what 64 bits hold.
pub(crate) fn nanos_of(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads a clock [ns]. The clocks of this file exist since Linux 2.6.28 and cannot fail to be read.
pub(crate) fn read(clock: ClockId) -> u64 {
    clock.now().map_or(0, nanoseconds)
}

/// A time of the kernel [ns]; it is never negative for the clocks of this file.
fn nanoseconds(time: TimeSpec) -> u64 {
    time.tv_sec().unsigned_abs() * 1_000_000_000 + time.tv_nsec().unsigned_abs()
}

/// Whether the counter runs at a constant rate in every power state (CPUID 8000_0007h) and can be
/// read by `rdtscp` (8000_0001h).
#[cfg(target_arch = "x86_64")]
static INVARIANT_TSC: LazyLock<bool> = LazyLock::new(|| {
    let cpuid = raw_cpuid::CpuId::new();
    let invariant =
        cpuid.get_advanced_power_mgmt_info().is_some_and(|info| info.has_invariant_tsc());
    let readable = cpuid
        .get_extended_processor_and_feature_identifiers()
        .is_some_and(|features| features.has_rdtscp());
    invariant && readable
});

#[cfg(not(target_arch = "x86_64"))]
static INVARIANT_TSC: LazyLock<bool> = LazyLock::new(|| false);

#[cfg(target_arch = "x86_64")]
fn read_tsc() -> u64 {
    let mut processor = 0;
    // SAFETY: `rdtscp` only writes the given word; callers checked that the processor has it.
    unsafe { core::arch::x86_64::__rdtscp(&raw mut processor) }
}

#[cfg(not(target_arch = "x86_64"))]
fn read_tsc() -> u64 {
    0
}

/// Pairs of readings out of which the closest is taken: enough that one is undisturbed.
const SIMULTANEOUS_TRIES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_at_or_after_its_deadline() {
        let deadline = monotonic_ns() + 200_000;
        sleep_until(deadline);
        assert!(monotonic_ns() >= deadline);
    }

    #[test]
    fn a_deadline_in_the_past_does_not_sleep() {
        sleep_until(0);
    }

    #[test]
    fn the_timer_slack_is_that_of_the_calling_thread() {
        std::thread::spawn(|| {
            set_timer_slack_ns(0).unwrap();
            assert_eq!(nix::sys::prctl::get_timerslack().unwrap(), 1);
        })
        .join()
        .unwrap();
        assert_ne!(nix::sys::prctl::get_timerslack().unwrap(), 1);
    }

    #[test]
    fn processor_time_grows_with_work() {
        let (thread, process) = (thread_cpu_ns(), process_cpu_ns());
        while thread_cpu_ns() == thread {
            std::hint::spin_loop();
        }
        assert!(process_cpu_ns() > process);
    }

    #[test]
    fn the_clock_moves_in_steps_no_finer_than_it_states() {
        let step = observed_step_ns(10_000);
        assert!(step >= resolution_ns() && resolution_ns() > 0, "{step}");
    }

    #[test]
    fn the_counter_rate_is_that_of_a_processor() {
        let Some(rate) = calibrate_tsc(Duration::from_millis(2), 5) else {
            return;
        };
        assert!((1e8..1e11).contains(&rate.hz), "{rate:?}");
        assert!(rate.disagreement >= 0.0);
        let first = tsc().unwrap();
        assert!(tsc().unwrap() >= first);
    }

    #[test]
    fn the_time_of_day_is_written_in_utc_seconds() {
        let now = utc_now_rfc3339();
        assert_eq!(now.len(), 20);
        assert!(now.parse::<jiff::Timestamp>().is_ok() && now.ends_with('Z'), "{now}");
    }
}
