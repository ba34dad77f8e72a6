//! What the threads of a transfer did, added up.

use std::thread;

use bitpath_platform::affinity;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::counters::{Counters, Counts};
use bitpath_platform::usage::{CpuInterrupts, ThreadUsage};

use crate::BenchError;
use crate::worker::{FlowUse, SOCKET_TIMEOUT};

/// One thread's share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Counts; times and switches are zero until [`Tally::end`].
    pub(super) counts: FlowUse,
    began: ThreadUsage,
    ended_ns: u64,
}

impl Tally {
    /// Begins now.
    pub(super) fn begin() -> Self {
        Self { began: ThreadUsage::now(), ..Self::default() }
    }

    /// Ends now, or at an earlier time [ns] where the last wait brought nothing. What never began
    /// cost nothing.
    pub(super) fn end(mut self, quiet_since_ns: Option<u64>) -> Self {
        if self.began == ThreadUsage::default() {
            return self;
        }
        let now = ThreadUsage::now();
        let used = now.since(&self.began);
        self.ended_ns = quiet_since_ns.unwrap_or(now.elapsed_ns).max(self.began.elapsed_ns);
        self.counts.cpu_ns = used.cpu_ns;
        self.counts.user_ns = used.user_ns;
        self.counts.system_ns = used.system_ns;
        self.counts.voluntary_switches = used.voluntary_switches;
        self.counts.involuntary_switches = used.involuntary_switches;
        self
    }
}

/// Runs one thread for each stream, or the only stream on this one, and adds up.
pub(super) fn on_each<S: Sync>(
    streams: &[S],
    work: impl Fn(usize, &S) -> Result<Tally, BenchError> + Sync,
) -> Result<FlowUse, BenchError> {
    if let [only] = streams {
        return Ok(sum(&[work(0, only)?]));
    }
    let work = &work;
    let tallies = thread::scope(|scope| {
        let start = |(index, stream)| scope.spawn(move || work(index, stream));
        let threads: Vec<_> = streams.iter().enumerate().map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(crate::worker::not_open("a thread that panicked")))
        };
        threads.into_iter().map(join).collect::<Result<Vec<Tally>, BenchError>>()
    })?;
    Ok(sum(&tallies))
}

/// Counts of all threads; the time from the first beginning to the last end.
fn sum(tallies: &[Tally]) -> FlowUse {
    let mut all = FlowUse::default();
    for Tally { counts, .. } in tallies {
        all.messages += counts.messages;
        all.bytes += counts.bytes;
        all.packets += counts.packets;
        all.calls += counts.calls;
        all.cpu_ns += counts.cpu_ns;
        all.user_ns += counts.user_ns;
        all.system_ns += counts.system_ns;
        all.voluntary_switches += counts.voluntary_switches;
        all.involuntary_switches += counts.involuntary_switches;
        all.completions += counts.completions;
        all.copied_completions += counts.copied_completions;
        all.drops += counts.drops;
    }
    // A stream that never heard anything has no beginning.
    let busy = || tallies.iter().filter(|tally| tally.counts.calls > 0);
    let began_ns = busy().map(|tally| tally.began.elapsed_ns).min().unwrap_or(0);
    let ended_ns = busy().map(|tally| tally.ended_ns).max().unwrap_or(0);
    all.elapsed_ns = ended_ns.saturating_sub(began_ns);
    all
}

/// Counts the interrupts of this side's processor beside a transfer, and what the processor itself counts
/// of it where it does.
pub(super) fn with_counters(
    cpu: Option<usize>,
    transfer: impl FnOnce() -> Result<FlowUse, BenchError>,
) -> Result<FlowUse, BenchError> {
    let cpu = match cpu {
        Some(cpu) => cpu,
        None => affinity::allowed_cpus()?.first().copied().unwrap_or(0),
    };
    let counters = Counters::open().ok();
    let before = CpuInterrupts::now(cpu)?;
    let mut used = transfer()?;
    if let Some(counters) = counters {
        let Counts { cycles, instructions, cache_misses } = counters.read()?;
        (used.cycles, used.instructions, used.cache_misses) = (cycles, instructions, cache_misses);
    }
    let CpuInterrupts { interrupts, softirqs, .. } = CpuInterrupts::now(cpu)?.since(&before);
    (used.interrupts, used.softirqs) = (interrupts, softirqs);
    Ok(used)
}

/// How long a receiving call has brought nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Silence {
    since_ns: Option<u64>,
}

impl Silence {
    /// Something came.
    pub(super) fn broken(&mut self) {
        self.since_ns = None;
    }

    /// A call waited in vain; whether that has gone on for longer than `patience_ns`.
    pub(super) fn longer_than(&mut self, patience_ns: u64) -> bool {
        let timeout_ns = u64::try_from(SOCKET_TIMEOUT.as_nanos()).unwrap_or(0);
        let now_ns = monotonic_ns();
        let since_ns = *self.since_ns.get_or_insert_with(|| now_ns.saturating_sub(timeout_ns));
        now_ns - since_ns > patience_ns
    }

    /// Since when nothing has come [ns].
    pub(super) fn since_ns(&self) -> Option<u64> {
        self.since_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_and_time_is_from_the_first_to_the_last() {
        let tally = |began_ns, ended_ns, calls| Tally {
            counts: FlowUse { calls, bytes: 10 * calls, cpu_ns: 5, ..FlowUse::default() },
            began: ThreadUsage { elapsed_ns: began_ns, ..ThreadUsage::default() },
            ended_ns,
        };
        let all = sum(&[tally(100, 200, 1), tally(150, 400, 2), tally(1, 900, 0)]);
        assert_eq!((all.calls, all.bytes, all.cpu_ns, all.elapsed_ns), (3, 30, 15, 300));
    }

    #[test]
    fn an_error_of_any_stream_is_the_error_of_all() {
        let work = |index: usize, _: &()| {
            if index == 2 {
                Err(crate::worker::not_open("it"))
            } else {
                Ok(Tally::begin().end(None))
            }
        };
        assert!(on_each(&[(); 2], work).is_ok());
        assert!(on_each(&[(); 3], work).unwrap_err().to_string().ends_with("it is not open"));
    }

    #[test]
    fn silence_counts_the_wait_that_found_it() {
        let mut silence = Silence::default();
        assert!(silence.longer_than(1_000_000));
        silence.broken();
        assert_eq!(silence.since_ns(), None);
        assert!(!silence.longer_than(u64::MAX) && silence.since_ns().is_some());
    }
}
