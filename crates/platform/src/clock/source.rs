//! Every clock that a program may read: what the kernel says of its resolution, and the steps in which
//! it is seen to move.

use nix::time::ClockId;

use super::{monotonic_ns, nanoseconds, read, tsc};

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Time since boot, slewed by NTP.
    Monotonic,
    /// Time since boot by the bare hardware.
    MonotonicRaw,
    /// The monotonic clock as of the kernel's last tick.
    MonotonicCoarse,
    /// The time of day.
    Realtime,
    /// Time since boot with the time suspended.
    Boottime,
    /// Processor time of the process.
    ProcessCpu,
    /// Processor time of the thread.
    ThreadCpu,
    /// The time stamp counter, where it is invariant.
    Tsc,
}

impl Source {
    /// All clocks.
    pub const ALL: [Self; 8] = [
        Self::Monotonic,
        Self::MonotonicRaw,
        Self::MonotonicCoarse,
        Self::Realtime,
        Self::Boottime,
        Self::ProcessCpu,
        Self::ThreadCpu,
        Self::Tsc,
    ];

    /// Its name, as in labels.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Monotonic => "monotonic",
            Self::MonotonicRaw => "monotonic-raw",
            Self::MonotonicCoarse => "monotonic-coarse",
            Self::Realtime => "realtime",
            Self::Boottime => "boottime",
            Self::ProcessCpu => "process-cpu",
            Self::ThreadCpu => "thread-cpu",
            Self::Tsc => "tsc",
        }
    }

    /// Its reading [ns], the counter's in cycles; none where there is no such clock.
    #[must_use]
    #[inline]
    pub fn now(self) -> Option<u64> {
        self.id().map_or_else(tsc, |id| Some(read(id)))
    }

    /// Resolution that the kernel states [ns]; it states none for the counter.
    #[must_use]
    pub fn resolution_ns(self) -> Option<u64> {
        self.id()?.res().ok().map(nanoseconds)
    }

    /// Smallest step between neighbouring readings that is not zero, in the unit of the readings. It is
    /// looked for during `window_ns`; none where the clock did not move.
    #[must_use]
    pub fn observed_step(self, window_ns: u64) -> Option<u64> {
        let deadline_ns = monotonic_ns().saturating_add(window_ns);
        let mut last = self.now()?;
        let mut smallest = None;
        while monotonic_ns() < deadline_ns {
            // The clock that bounds the search is not read between the readings that are compared.
            for _ in 0..READINGS {
                let now = self.now()?;
                let step = now.saturating_sub(last);
                if step > 0 {
                    smallest = Some(smallest.map_or(step, |least: u64| least.min(step)));
                }
                last = now;
            }
        }
        smallest
    }

    /// The kernel's number; none for the counter.
    pub(crate) fn id(self) -> Option<ClockId> {
        match self {
            Self::Monotonic => Some(ClockId::CLOCK_MONOTONIC),
            Self::MonotonicRaw => Some(ClockId::CLOCK_MONOTONIC_RAW),
            Self::MonotonicCoarse => Some(ClockId::CLOCK_MONOTONIC_COARSE),
            Self::Realtime => Some(ClockId::CLOCK_REALTIME),
            Self::Boottime => Some(ClockId::CLOCK_BOOTTIME),
            Self::ProcessCpu => Some(ClockId::CLOCK_PROCESS_CPUTIME_ID),
            Self::ThreadCpu => Some(ClockId::CLOCK_THREAD_CPUTIME_ID),
            Self::Tsc => None,
        }
    }
}

/// Readings between two looks at the end of the window: some tens of microseconds.
const READINGS: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    /// Most that the kernel adjusts the rate of a clock by, for NTP [percent] (`clocksource_max_adjustment`):
    /// a tick of the coarse clock is shorter than stated by as much.
    const MOST_SLEW_PERCENT: u64 = 11;

    /// What is lost of a step between readings that are cut to whole nanoseconds [ns].
    const ROUNDING_NS: u64 = 1;

    #[test]
    fn every_clock_moves_in_steps_no_finer_than_it_states_less_the_kernels_slew() {
        for source in Source::ALL {
            let Some(before) = source.now() else {
                assert_eq!(source, Source::Tsc);
                continue;
            };
            // A tick of the coarsest kernel is 10 ms long.
            let step = source.observed_step(30_000_000).unwrap();
            let stated = source.resolution_ns().unwrap_or(1);
            let least = (stated - stated * MOST_SLEW_PERCENT / 100).saturating_sub(ROUNDING_NS);
            assert!(step >= least.max(1), "{source:?}: {step} is finer than {least} of {stated}");
            assert!(source.now().unwrap() > before, "{source:?}");
        }
    }

    #[test]
    fn the_coarse_clock_is_the_one_that_moves_by_ticks() {
        let of = |source: Source| source.resolution_ns().unwrap();
        assert!(of(Source::MonotonicCoarse) >= 1000 * of(Source::Monotonic));
        assert_eq!(Source::Tsc.resolution_ns(), None);
    }
}
