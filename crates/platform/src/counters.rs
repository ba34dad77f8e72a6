//! Counters of the processor, by perf events: cycles of the core, instructions, cache misses of the
//! calling thread. Many virtual machines have none; then the time stamp counter must do.

use std::fmt;
use std::io;

use perf_event_open::config::sibling;
use perf_event_open::config::{Cpu, Opts, Proc};
use perf_event_open::count::group::CounterGroup;
use perf_event_open::count::{Counter, Stat};
use perf_event_open::event::Event;
use perf_event_open::event::hw::Hardware;

use crate::PlatformError;

/// Counters that run since they were opened, for the thread that opened them.
pub struct Counters {
    group: CounterGroup,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Cycles of the core, whose clock moves.
    pub cycles: f64,
    /// Instructions that were completed.
    pub instructions: f64,
    /// Loads and stores that the last-level cache did not answer.
    pub cache_misses: f64,
}

impl Counts {
    /// What was counted since an earlier reading.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            cycles: self.cycles - before.cycles,
            instructions: self.instructions - before.instructions,
            cache_misses: self.cache_misses - before.cache_misses,
        }
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Counters").finish_non_exhaustive()
    }
}

impl Counters {
    /// Opens them for the calling thread: for user and kernel mode where that is allowed
    /// (`kernel.perf_event_paranoid`), else for user mode.
    ///
    /// # Errors
    /// Where the machine has no such counters, or nobody may use them.
    pub fn of_this_thread() -> Result<Self, PlatformError> {
        Self::of(|| [Hardware::CpuCycle, Hardware::Instr, Hardware::CacheMiss])
            .map_err(|error| PlatformError::system("count cycles and cache misses", error))
    }

    fn of<E: TryInto<Event, Error = io::Error>>(events: impl Fn() -> [E; 3]) -> io::Result<Self> {
        Self::open(events(), false).or_else(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Self::open(events(), true),
            _ => Err(error),
        })
    }

    fn open<E: TryInto<Event, Error = io::Error>>(
        [leader, second, third]: [E; 3],
        user_only: bool,
    ) -> io::Result<Self> {
        let mut options = Opts::default();
        options.exclude.kernel = user_only;
        options.stat_format.siblings = true;
        options.stat_format.time_enabled = true;
        options.stat_format.time_running = true;
        let mut of_sibling = sibling::Opts::default();
        of_sibling.exclude.kernel = user_only;
        let target = (Proc::CURRENT, Cpu::ALL);
        let mut group = CounterGroup::from(Counter::new(leader, target, options)?);
        for event in [second, third] {
            group.add(event, &of_sibling)?;
        }
        group.enable()?;
        Ok(Self { group })
    }

    /// What was counted so far; where the processor shares its counters out among several users, as much
    /// as it would be for all of the time.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self) -> Result<Counts, PlatformError> {
        let stat = self.group.leader().stat();
        let stat = stat.map_err(|error| PlatformError::system("read the counters", error))?;
        let sibling = |index: usize| stat.siblings.get(index).map_or(0, |sibling| sibling.count);
        let share = running_share(&stat);
        let [cycles, instructions, cache_misses] =
            [stat.count, sibling(0), sibling(1)].map(|count| count as f64 / share);
        Ok(Counts { cycles, instructions, cache_misses })
    }
}

/// Part of the time for which the counters counted [ratio]; 1 before they did at all.
fn running_share(stat: &Stat) -> f64 {
    match (stat.time_running, stat.time_enabled) {
        (Some(running), Some(enabled)) if running > 0 => running as f64 / enabled as f64,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use perf_event_open::event::sw::Software;

    use super::*;
    use crate::memory::Buffer;

    /// Every kernel with perf events counts these, also in a virtual machine: page faults as the leader.
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
        let buffer = Buffer::of(pages * 4096, crate::memory::Pages::Small).unwrap();
        let counted = counters.read().unwrap().since(&before);
        assert_eq!(buffer.len(), pages * 4096);
        assert!(counted.cycles >= pages as f64, "{counted:?}");
    }

    #[test]
    fn a_machine_without_counters_says_so_and_others_count() {
        match Counters::of_this_thread() {
            Ok(counters) => {
                let before = counters.read().unwrap();
                let sum: u64 = std::hint::black_box((0..100_000_u64).sum());
                let counted = counters.read().unwrap().since(&before);
                assert!(sum > 0 && counted.cycles > 0.0, "{counted:?}");
                assert!(counted.instructions > 0.0, "{counted:?}");
            }
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with("count cycles and cache misses: "), "{error}");
            }
        }
    }
}
