//! Counters of the processor, by perf events: cycles of the core, instructions, cache misses of the
//! calling thread and of those that it starts. Many virtual machines have none; then the time stamp
//! counter must do.

use std::fmt;
use std::io;

use perf_event_open::config::{Cpu, Inherit, Opts, Proc};
use perf_event_open::count::{Counter, Stat};
use perf_event_open::event::Event;
use perf_event_open::event::hw::Hardware;

use crate::PlatformError;

/// Counters that run since they were opened.
pub struct Counters {
    /// In the order of the fields of [`Counts`].
    each: [Counter; 3],
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cycles of the core, whose clock moves.
    pub cycles: u64,
    /// Instructions that were completed.
    pub instructions: u64,
    /// Loads and stores that the last-level cache did not answer.
    pub cache_misses: u64,
}

impl Counts {
    /// What was counted since an earlier reading.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            cycles: self.cycles.saturating_sub(before.cycles),
            instructions: self.instructions.saturating_sub(before.instructions),
            cache_misses: self.cache_misses.saturating_sub(before.cache_misses),
        }
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Counters").finish_non_exhaustive()
    }
}

impl Counters {
    /// Opens them for the calling thread and those that it will start: for user and kernel mode where
    /// that is allowed (`kernel.perf_event_paranoid`), else for user mode. A thread that was started counts
    /// once it has ended.
    ///
    /// # Errors
    /// Where the machine has no such counters, or nobody may use them.
    pub fn open() -> Result<Self, PlatformError> {
        Self::of(|| [Hardware::CpuCycle, Hardware::Instr, Hardware::CacheMiss])
            .map_err(|error| PlatformError::system("count cycles and cache misses", error))
    }

    fn of<E: TryInto<Event, Error = io::Error>>(events: impl Fn() -> [E; 3]) -> io::Result<Self> {
        Self::opened(events(), false).or_else(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Self::opened(events(), true),
            _ => Err(error),
        })
    }

    fn opened<E: TryInto<Event, Error = io::Error>>(
        [first, second, third]: [E; 3],
        user_only: bool,
    ) -> io::Result<Self> {
        let open = |event: E| {
            let mut options = Opts::default();
            options.exclude.kernel = user_only;
            options.inherit = Some(Inherit::NewChild);
            options.stat_format.time_enabled = true;
            options.stat_format.time_running = true;
            let counter = Counter::new(event, (Proc::CURRENT, Cpu::ALL), options)?;
            counter.enable()?;
            Ok::<_, io::Error>(counter)
        };
        Ok(Self { each: [open(first)?, open(second)?, open(third)?] })
    }

    /// What was counted so far; where the processor shares its counters out among several users, as much
    /// as it would be for all of the time.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self) -> Result<Counts, PlatformError> {
        let read = |counter: &Counter| counter.stat().map(|stat| whole(&stat));
        let [cycles, instructions, cache_misses] = &self.each;
        let counts = || {
            Ok(Counts {
                cycles: read(cycles)?,
                instructions: read(instructions)?,
                cache_misses: read(cache_misses)?,
            })
        };
        counts().map_err(|error: io::Error| PlatformError::system("read the counters", error))
    }
}

/// A count, had the counter counted all of the time.
fn whole(stat: &Stat) -> u64 {
    match (stat.time_running, stat.time_enabled) {
        (Some(running), Some(enabled)) if running > 0 => {
            let whole = u128::from(stat.count) * u128::from(enabled) / u128::from(running);
            u64::try_from(whole).unwrap_or(u64::MAX)
        }
        _ => stat.count,
    }
}

#[cfg(test)]
mod tests {
    use perf_event_open::event::sw::Software;

    use super::*;
    use crate::memory::Buffer;

    /// Every kernel with perf events counts these, also in a virtual machine.
    const SOFTWARE: [Software; 3] =
        [Software::PageFault, Software::CtxSwitch, Software::MajorPageFault];

    /// The kernel's own word for what is not there or not allowed; any other is a mistake of ours.
    fn absent(error: &io::Error) -> bool {
        use io::ErrorKind::{NotFound, PermissionDenied, Unsupported};
        matches!(error.kind(), NotFound | PermissionDenied | Unsupported)
    }

    #[test]
    fn counters_of_the_kernel_s_own_events_count_this_thread() {
        let counters = match Counters::of(|| SOFTWARE) {
            Ok(counters) => counters,
            Err(error) => return assert!(absent(&error), "{error}"),
        };
        let before = counters.read().unwrap();
        let pages = 64;
        let take = move || Buffer::of(pages * 4096, crate::memory::Pages::Small).unwrap().len();
        assert_eq!(take(), pages * 4096);
        let own = counters.read().unwrap().since(&before);
        assert!(own.cycles >= pages as u64, "{own:?}");
        assert_eq!(std::thread::spawn(take).join().unwrap(), pages * 4096);
        let with_thread = counters.read().unwrap().since(&before);
        assert!(with_thread.cycles >= own.cycles + pages as u64, "{with_thread:?}");
    }

    #[test]
    fn a_machine_without_counters_says_so_and_others_count() {
        match Counters::open() {
            Ok(counters) => {
                let before = counters.read().unwrap();
                let sum: u64 = std::hint::black_box((0..100_000_u64).sum());
                let counted = counters.read().unwrap().since(&before);
                assert!(sum > 0 && counted.cycles > 0, "{counted:?}");
                assert!(counted.instructions > 0, "{counted:?}");
            }
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with("count cycles and cache misses: "), "{error}");
            }
        }
    }
}
