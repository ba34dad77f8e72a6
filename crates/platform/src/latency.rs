//! What the kernel's small operations cost: a system call, a timer, a switch between threads, a
//! wake-up. Raw samples only [ns]; how many are wanted is for the caller to say.
//!
//! ```text
//! context switch, one processor:  A ── pipe ──► B ── pipe ──► A ...   half a round trip each
//! wake-up, two processors:        A writes and notes the time ──► B wakes and notes the time
//! ```

use std::hint::black_box;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use nix::sys::eventfd::EventFd;
use nix::unistd::getppid;

use crate::PlatformError;
use crate::affinity::pin_thread;
use crate::clock::{Source, monotonic_ns, read, sleep_until, tsc};

/// Time of a system call that does next to nothing (`getppid`) [ns]: each sample is the mean over
/// `calls` calls.
#[must_use]
pub fn system_call_ns(samples: usize, calls: u32) -> Vec<f64> {
    mean_cost_ns(samples, calls, || {
        getppid();
    })
}

/// Time to read a clock [ns], as [`system_call_ns`]; nothing where there is none.
#[must_use]
pub fn clock_read_ns(source: Source, samples: usize, reads: u32) -> Vec<f64> {
    match source.id() {
        Some(id) => mean_cost_ns(samples, reads, || {
            black_box(read(id));
        }),
        None if tsc().is_none() => Vec::new(),
        None => mean_cost_ns(samples, reads, || {
            black_box(tsc());
        }),
    }
}

/// How late a sleep of `sleep_ns` ends [ns], one sample a sleep.
#[must_use]
pub fn timer_lateness_ns(samples: usize, sleep_ns: u64) -> Vec<f64> {
    let sample = |_| {
        let deadline_ns = monotonic_ns() + sleep_ns;
        sleep_until(deadline_ns);
        monotonic_ns().saturating_sub(deadline_ns) as f64
    };
    (0..samples).map(sample).collect()
}

/// Time of a switch between two threads on one processor [ns]: half a round trip of one byte over
/// two pipes, so a read and a write of a byte are part of it. Each sample is the mean over
/// `round_trips`.
///
/// # Errors
/// When the threads cannot run on the processor.
pub fn context_switch_ns(
    cpu: usize,
    samples: usize,
    round_trips: u32,
) -> Result<Vec<f64>, PlatformError> {
    let refused = |error: io::Error| PlatformError::system("make a pipe", error);
    let (mut there, out) = pipe().map_err(refused)?;
    let (back, mut home) = pipe().map_err(refused)?;
    thread::scope(|scope| {
        let echo = scope.spawn(move || {
            let _pinned = pin_thread(cpu)?;
            // Ends when the other side closes its pipe.
            while pass(&mut there, &mut home).is_ok() {}
            Ok(())
        });
        let outcome = ping(cpu, samples, round_trips, (out, back));
        let echoed = echo.join().unwrap_or(Ok(()));
        echoed.and(outcome)
    })
}

/// The measuring half of [`context_switch_ns`].
fn ping(
    cpu: usize,
    samples: usize,
    round_trips: u32,
    (mut out, mut back): (PipeWriter, PipeReader),
) -> Result<Vec<f64>, PlatformError> {
    let _pinned = pin_thread(cpu)?;
    let mut times = Vec::with_capacity(samples);
    for _ in 0..samples {
        let start_ns = monotonic_ns();
        for _ in 0..round_trips {
            out.write_all(&[0])
                .and_then(|()| back.read_exact(&mut [0]))
                .map_err(|error| PlatformError::system("pass a byte", error))?;
        }
        let elapsed_ns = monotonic_ns() - start_ns;
        times.push(elapsed_ns as f64 / (2.0 * f64::from(round_trips.max(1))));
    }
    Ok(times)
}

fn pass(from: &mut PipeReader, to: &mut PipeWriter) -> io::Result<()> {
    let mut byte = [0];
    from.read_exact(&mut byte)?;
    to.write_all(&byte)
}

/// Time from the call that wakes a thread on another processor until that thread runs [ns], one
/// sample a wake-up. The waker lets the sleeper rest for [`REST_NS`] before each.
///
/// With `waker_cpu` and `sleeper_cpu` the same it measures a wake-up with a switch.
///
/// # Errors
/// When a thread cannot run on its processor.
pub fn wake_up_ns(
    waker_cpu: usize,
    sleeper_cpu: usize,
    samples: usize,
) -> Result<Vec<f64>, PlatformError> {
    let refused = |errno| PlatformError::system("make an event counter", errno);
    let (wake, woken) = (EventFd::new().map_err(refused)?, EventFd::new().map_err(refused)?);
    let woken_at_ns = AtomicU64::new(0);
    // The closure of the sleeper borrows what both share.
    let (wake, woken, woken_at_ns) = (&wake, &woken, &woken_at_ns);
    thread::scope(|scope| {
        let sleeper = scope.spawn(move || sleep_and_note(sleeper_cpu, wake, woken, woken_at_ns));
        let outcome = wake_and_note(waker_cpu, samples, wake, woken, woken_at_ns);
        let told = wake.write(END).map(drop).map_err(failed);
        let slept = sleeper.join().unwrap_or(Ok(()));
        slept.and(told).and(outcome)
    })
}

/// The sleeping half of [`wake_up_ns`]: notes when it woke and answers, until told to end. A
/// processor that it may not use is answered all the same, so that the waker does not wait.
fn sleep_and_note(
    cpu: usize,
    wake: &EventFd,
    woken: &EventFd,
    woken_at_ns: &AtomicU64,
) -> Result<(), PlatformError> {
    let pinned = pin_thread(cpu);
    while wake.read().map_err(failed)? < END {
        woken_at_ns.store(monotonic_ns(), Ordering::Release);
        woken.write(1).map_err(failed)?;
    }
    pinned.map(drop)
}

/// The waking half of [`wake_up_ns`].
fn wake_and_note(
    cpu: usize,
    samples: usize,
    wake: &EventFd,
    woken: &EventFd,
    woken_at_ns: &AtomicU64,
) -> Result<Vec<f64>, PlatformError> {
    let _pinned = pin_thread(cpu)?;
    let mut times = Vec::with_capacity(samples);
    for _ in 0..samples {
        sleep_until(monotonic_ns() + REST_NS);
        let woken_by_ns = monotonic_ns();
        wake.write(1).map_err(failed)?;
        woken.read().map_err(failed)?;
        let late_ns = woken_at_ns.load(Ordering::Acquire).saturating_sub(woken_by_ns);
        times.push(late_ns as f64);
    }
    Ok(times)
}

fn failed(errno: nix::errno::Errno) -> PlatformError {
    PlatformError::system("wake a thread", errno)
}

/// Mean time of an operation in each of `samples` series of `repeats` [ns].
fn mean_cost_ns(samples: usize, repeats: u32, operation: impl Fn()) -> Vec<f64> {
    let sample = |_| {
        let start_ns = monotonic_ns();
        for _ in 0..repeats {
            operation();
        }
        (monotonic_ns() - start_ns) as f64 / f64::from(repeats.max(1))
    };
    (0..samples).map(sample).collect()
}

/// Rest of the sleeper before each wake-up [ns]: long enough for it to be asleep and its processor
/// idle, as a receiver is that waits for a packet.
pub const REST_NS: u64 = 200_000;

/// Count by which the sleeper is told to end; single wake-ups count one.
const END: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::allowed_cpus;

    #[test]
    fn every_operation_costs_something() {
        let reads = Source::ALL.into_iter().filter(|source| source.now().is_some());
        let reads = reads.map(|source| clock_read_ns(source, 5, 100));
        for samples in reads.chain([system_call_ns(5, 100)]) {
            assert!(samples.len() == 5 && samples.iter().all(|ns| *ns > 0.0), "{samples:?}");
        }
        assert_eq!(clock_read_ns(Source::Tsc, 5, 100).is_empty(), tsc().is_none());
    }

    #[test]
    fn a_timer_is_never_early() {
        let samples = timer_lateness_ns(5, 50_000);
        assert!(samples.len() == 5 && samples.iter().all(|ns| *ns >= 0.0), "{samples:?}");
    }

    #[test]
    fn two_threads_switch_on_one_processor() {
        let cpu = allowed_cpus().unwrap()[0];
        let samples = context_switch_ns(cpu, 3, 20).unwrap();
        assert!(samples.len() == 3 && samples.iter().all(|ns| *ns > 0.0), "{samples:?}");
    }

    #[test]
    fn a_sleeper_wakes_on_any_processor() {
        let cpus = allowed_cpus().unwrap();
        for (waker, sleeper) in [(cpus[0], cpus[0]), (cpus[0], cpus[cpus.len() - 1])] {
            let samples = wake_up_ns(waker, sleeper, 3).unwrap();
            assert!(samples.len() == 3 && samples.iter().all(|ns| *ns > 0.0), "{samples:?}");
        }
    }

    #[test]
    fn a_processor_that_is_not_there_ends_the_measurement() {
        let cpu = allowed_cpus().unwrap()[0];
        assert!(context_switch_ns(1023, 1, 1).is_err());
        assert!(wake_up_ns(cpu, 1023, 1).is_err());
        assert!(wake_up_ns(1023, cpu, 1).is_err());
    }
}
