//! Whether the time stamp counters of two processors show the same: an exchange over shared memory.
//!
//! ```text
//! asker      t0 ── question ──►            t1        its own counter before and after
//! answerer                     t ── answer ──►       the other's in between
//! with the same time t lies between t0 and t1, so that the offset is at least t - t1 and at most t - t0
//! ```
//!
//! Each round trip bounds the offset; all of them together bound it better than the fastest alone.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{monotonic_ns, tsc};
use crate::PlatformError;
use crate::affinity::pin_thread;

/// How far the counter of one processor is before that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// At least so far [cycles].
    pub low_cycles: i64,
    /// At most so far [cycles].
    pub high_cycles: i64,
    /// The fastest round trip [cycles].
    pub round_trip_cycles: u64,
}

/// How far the counter of the processor `of` is before that of `to`, out of so many round trips; none
/// where there is no invariant counter, or where the two threads never ran at the same time.
///
/// # Errors
/// When a thread may not run on its processor.
pub fn tsc_offset(of: usize, to: usize, rounds: usize) -> Result<Option<Offset>, PlatformError> {
    if tsc().is_none() {
        return Ok(None);
    }
    let table = Table::default();
    let deadline_ns = monotonic_ns().saturating_add(PATIENCE_NS);
    thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let _pinned = pin_thread(of)?;
            table.answer(deadline_ns);
            Ok(())
        });
        let asked = pin_thread(to).map(|_pinned| table.ask(rounds, deadline_ns));
        table.question.store(END, Ordering::Release);
        answering.join().unwrap_or(Ok(())).and(asked)
    })
}

/// Where the two threads meet.
#[derive(Debug, Default)]
struct Table {
    /// Number of the round, from one.
    question: Line,
    /// What the other's counter showed; zero until it has answered.
    answer: Line,
}

/// A word in a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line(AtomicU64);

impl std::ops::Deref for Line {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        &self.0
    }
}

impl Table {
    fn ask(&self, rounds: usize, deadline_ns: u64) -> Option<Offset> {
        let mut found: Option<Offset> = None;
        for round in 1..=rounds as u64 {
            self.answer.store(0, Ordering::Relaxed);
            let before = tsc()?;
            self.question.store(round, Ordering::Release);
            let Some(answer) = self.wait(deadline_ns) else { break };
            let after = tsc()?;
            let low_cycles = answer.wrapping_sub(after).cast_signed();
            let high_cycles = answer.wrapping_sub(before).cast_signed();
            let this =
                Offset { low_cycles, high_cycles, round_trip_cycles: after.wrapping_sub(before) };
            found = Some(found.map_or(this, |so_far| so_far.and(this)));
        }
        found
    }

    /// The other's answer, unless it does not come in time.
    fn wait(&self, deadline_ns: u64) -> Option<u64> {
        for look in 1_u64.. {
            let answer = self.answer.load(Ordering::Acquire);
            if answer != 0 {
                return Some(answer);
            }
            if look.is_multiple_of(LOOKS) && monotonic_ns() > deadline_ns {
                return None;
            }
            spin_loop();
        }
        None
    }

    fn answer(&self, deadline_ns: u64) {
        let mut answered = 0;
        for look in 1_u64.. {
            let question = self.question.load(Ordering::Acquire);
            if question == END || look.is_multiple_of(LOOKS) && monotonic_ns() > deadline_ns {
                return;
            }
            if question != answered {
                answered = question;
                self.answer.store(tsc().unwrap_or(END), Ordering::Release);
            }
            spin_loop();
        }
    }
}

impl Offset {
    /// What both bounds leave.
    fn and(self, other: Self) -> Self {
        Self {
            low_cycles: self.low_cycles.max(other.low_cycles),
            high_cycles: self.high_cycles.min(other.high_cycles),
            round_trip_cycles: self.round_trip_cycles.min(other.round_trip_cycles),
        }
    }
}

/// Longest time for all round trips [ns]: a thousand take less than a millisecond where both threads
/// run, and a scheduler's slice each where they share a processor.
const PATIENCE_NS: u64 = 500_000_000;

/// Looks between two at the clock.
const LOOKS: u64 = 1000;

/// No number of a round, and no reading of a counter.
const END: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::allowed_cpus;

    #[test]
    fn every_round_trip_narrows_the_bounds() {
        let cpus = allowed_cpus().unwrap();
        let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
        if first == last || tsc().is_none() {
            assert!(tsc().is_some() || tsc_offset(first, last, 1).unwrap().is_none());
            return;
        }
        let offset = tsc_offset(last, first, 200).unwrap().unwrap();
        let width = offset.high_cycles - offset.low_cycles;
        assert!(width <= offset.round_trip_cycles.cast_signed(), "{offset:?}");
    }

    #[test]
    fn bounds_together_are_the_narrower_ones() {
        let wide = Offset { low_cycles: -90, high_cycles: 40, round_trip_cycles: 130 };
        let narrow = Offset { low_cycles: -30, high_cycles: 60, round_trip_cycles: 90 };
        let both = Offset { low_cycles: -30, high_cycles: 40, round_trip_cycles: 90 };
        assert_eq!(wide.and(narrow), both);
    }

    #[test]
    fn a_processor_that_is_not_there_is_named() {
        if tsc().is_some() {
            let cpu = allowed_cpus().unwrap()[0];
            assert!(tsc_offset(1023, cpu, 1).is_err() && tsc_offset(cpu, 1023, 1).is_err());
        }
    }
}
