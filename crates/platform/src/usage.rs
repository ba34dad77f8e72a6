//! Who used how much processor time: a thread, a process, the whole machine and the others.
//!
//! ```text
//! /proc/stat, busy time of all processors [ns] ──┐
//!                                                ├──► busy - used = others [cores]
//! processor clocks of our own processes [ns] ────┘
//! ```

mod interrupts;

pub use interrupts::CpuInterrupts;

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::time::ClockId;
use nix::unistd::Pid;
use procfs::{CurrentSI, KernelStats};

use crate::PlatformError;
use crate::clock;

/// What the calling thread has used, at one moment or between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Monotonic time [ns].
    pub elapsed_ns: u64,
    /// Processor time by the thread's own clock, which counts to the nanosecond [ns].
    pub cpu_ns: u64,
    /// The part of it in user mode, which the kernel may only sample by its tick [ns].
    pub user_ns: u64,
    /// The part of it in the kernel, which the kernel may only sample by its tick [ns].
    pub system_ns: u64,
    /// Times that the thread waited of its own accord [count].
    pub voluntary_switches: u64,
    /// Times that the thread was put aside for another [count].
    pub involuntary_switches: u64,
}

impl ThreadUsage {
    /// The calling thread's use until now.
    #[must_use]
    pub fn now() -> Self {
        let elapsed_ns = clock::monotonic_ns();
        let cpu_ns = clock::thread_cpu_ns();
        let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
            return Self { elapsed_ns, cpu_ns, ..Self::default() };
        };
        Self {
            elapsed_ns,
            cpu_ns,
            user_ns: nanoseconds(usage.user_time()),
            system_ns: nanoseconds(usage.system_time()),
            voluntary_switches: usage.voluntary_context_switches().unsigned_abs(),
            involuntary_switches: usage.involuntary_context_switches().unsigned_abs(),
        }
    }

    /// What was used since an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            elapsed_ns: self.elapsed_ns.saturating_sub(earlier.elapsed_ns),
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }
}

/// How one processor spent its time [ns]; the kernel counts in ticks of 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// User mode, niced processes included [ns].
    pub user_ns: u64,
    /// Kernel on behalf of processes [ns].
    pub system_ns: u64,
    /// Idle, waiting for disks included [ns].
    pub idle_ns: u64,
    /// Hardware interrupts [ns].
    pub irq_ns: u64,
    /// Deferred interrupt work: most of a network stack's receive side [ns].
    pub softirq_ns: u64,
    /// Taken by the hypervisor for others [ns].
    pub steal_ns: u64,
}

impl CpuTime {
    /// Time in which the processor worked: all but idle and stolen [ns].
    #[must_use]
    pub fn busy_ns(&self) -> u64 {
        self.user_ns + self.system_ns + self.irq_ns + self.softirq_ns
    }

    fn combined(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            user_ns: with(self.user_ns, other.user_ns),
            system_ns: with(self.system_ns, other.system_ns),
            idle_ns: with(self.idle_ns, other.idle_ns),
            irq_ns: with(self.irq_ns, other.irq_ns),
            softirq_ns: with(self.softirq_ns, other.softirq_ns),
            steal_ns: with(self.steal_ns, other.steal_ns),
        }
    }
}

/// How all processors spent their time, at one moment or between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineUsage {
    /// Monotonic time [ns].
    pub elapsed_ns: u64,
    /// The processors that are online, in ascending order.
    pub cpus: Vec<CpuTime>,
}

impl MachineUsage {
    /// The machine's use since boot.
    ///
    /// # Errors
    /// When /proc/stat cannot be read or understood.
    pub fn now() -> Result<Self, PlatformError> {
        let stat =
            KernelStats::current().map_err(|error| PlatformError::file("/proc/stat", error))?;
        let cpus = stat.cpu_time.iter().map(|cpu| CpuTime {
            user_ns: ticks_ns(cpu.user + cpu.nice),
            system_ns: ticks_ns(cpu.system),
            idle_ns: ticks_ns(cpu.idle + cpu.iowait.unwrap_or(0)),
            irq_ns: ticks_ns(cpu.irq.unwrap_or(0)),
            softirq_ns: ticks_ns(cpu.softirq.unwrap_or(0)),
            steal_ns: ticks_ns(cpu.steal.unwrap_or(0)),
        });
        Ok(Self { elapsed_ns: clock::monotonic_ns(), cpus: cpus.collect() })
    }

    /// What was used since an earlier moment. Counters that ran backwards, as those of idle time
    /// may, count as standing still.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let cpus = self.cpus.iter().zip(&earlier.cpus);
        Self {
            elapsed_ns: self.elapsed_ns.saturating_sub(earlier.elapsed_ns),
            cpus: cpus.map(|(now, then)| now.combined(then, u64::saturating_sub)).collect(),
        }
    }

    /// All processors together.
    #[must_use]
    pub fn total(&self) -> CpuTime {
        self.cpus.iter().fold(CpuTime::default(), |sum, cpu| sum.combined(cpu, |a, b| a + b))
    }
}

/// Processor time of a process, all its threads, ended ones included [ns].
///
/// It is read from the process's own clock, which counts to the nanosecond, where /proc/PID/stat
/// counts ticks of 10 ms.
///
/// # Errors
/// When there is no such process.
pub fn process_cpu_ns(pid: u32) -> Result<u64, PlatformError> {
    let refused = |errno| PlatformError::system(format!("processor time of process {pid}"), errno);
    let id = i32::try_from(pid).map_err(|_| refused(nix::errno::Errno::ESRCH))?;
    let time = ClockId::pid_cpu_clock_id(Pid::from_raw(id)).and_then(ClockId::now);
    time.map(|time| clock::nanos_of(Duration::from(time))).map_err(refused)
}

/// What else the machine did beside some processes, between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OtherLoad {
    /// Length of the interval [ns].
    pub elapsed_ns: u64,
    /// Work of all processors, interrupts included [cores].
    pub busy_cores: f64,
    /// The part of it that the given processes did [cores].
    pub used_cores: f64,
    /// The part of it in interrupts. Most kernels charge it to the process that was interrupted
    /// as well, some (`CONFIG_IRQ_TIME_ACCOUNTING`) only here [cores].
    pub interrupt_cores: f64,
    /// Time that the hypervisor took for others [cores].
    pub steal_cores: f64,
}

impl OtherLoad {
    /// Work of others [cores]: busy less used, never negative. Over short intervals the 10 ms
    /// ticks of /proc/stat show.
    #[must_use]
    pub fn other_cores(&self) -> f64 {
        (self.busy_cores - self.used_cores).max(0.0)
    }
}

/// Watches what the machine does beside some processes.
#[derive(Clone, Debug)]
pub struct LoadWatch {
    machine: MachineUsage,
    /// Process and its processor time at the start [ns].
    processes: Vec<(u32, u64)>,
}

impl LoadWatch {
    /// Begins to watch; the processes are those whose work is not that of others.
    ///
    /// # Errors
    /// When one of the processes is gone or /proc/stat cannot be read.
    pub fn begin(processes: &[u32]) -> Result<Self, PlatformError> {
        let used = processes.iter().map(|&pid| process_cpu_ns(pid).map(|used| (pid, used)));
        Ok(Self { processes: used.collect::<Result<_, _>>()?, machine: MachineUsage::now()? })
    }

    /// The load since the beginning; it may be asked for again.
    ///
    /// # Errors
    /// As for [`LoadWatch::begin`].
    pub fn so_far(&self) -> Result<OtherLoad, PlatformError> {
        let machine = MachineUsage::now()?.since(&self.machine);
        let mut used_ns = 0;
        for &(pid, before) in &self.processes {
            used_ns += process_cpu_ns(pid)?.saturating_sub(before);
        }
        let total = machine.total();
        let cores = |nanos: u64| nanos as f64 / machine.elapsed_ns.max(1) as f64;
        Ok(OtherLoad {
            elapsed_ns: machine.elapsed_ns,
            busy_cores: cores(total.busy_ns()),
            used_cores: cores(used_ns),
            interrupt_cores: cores(total.irq_ns + total.softirq_ns),
            steal_cores: cores(total.steal_ns),
        })
    }
}

fn nanoseconds(time: TimeVal) -> u64 {
    time.num_microseconds().unsigned_abs() * 1000
}

/// Ticks of /proc/stat as time [ns].
fn ticks_ns(ticks: u64) -> u64 {
    ticks * (1_000_000_000 / procfs::ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_as_processor_time_of_its_thread_and_process() {
        let process = process_cpu_ns(std::process::id()).unwrap();
        let before = ThreadUsage::now();
        while clock::thread_cpu_ns() < before.cpu_ns + 2_000_000 {
            std::hint::spin_loop();
        }
        let used = ThreadUsage::now().since(&before);
        assert!(used.cpu_ns >= 2_000_000 && used.elapsed_ns > 0, "{used:?}");
        assert!(process_cpu_ns(std::process::id()).unwrap() - process >= 2_000_000);
    }

    #[test]
    fn waiting_counts_as_a_voluntary_switch() {
        let before = ThreadUsage::now();
        clock::sleep_until(clock::monotonic_ns() + 100_000);
        assert!(ThreadUsage::now().since(&before).voluntary_switches >= 1);
    }

    #[test]
    fn a_process_that_is_gone_is_named() {
        let error = process_cpu_ns(u32::MAX).unwrap_err().to_string();
        assert!(error.contains("4294967295") && error.contains("No such process"), "{error}");
    }

    #[test]
    fn the_machine_has_idled_and_worked_since_boot() {
        let usage = MachineUsage::now().unwrap();
        assert!(usage.total().busy_ns() > 0 && !usage.cpus.is_empty());
        let later = MachineUsage::now().unwrap().since(&usage);
        assert_eq!(later.cpus.len(), usage.cpus.len());
    }

    #[test]
    fn a_counter_that_ran_backwards_stood_still() {
        let at = |idle_ns| MachineUsage {
            elapsed_ns: idle_ns,
            cpus: vec![CpuTime { idle_ns, ..CpuTime::default() }],
        };
        assert_eq!(at(5).since(&at(9)).total().idle_ns, 0);
    }

    #[test]
    fn own_work_is_not_the_load_of_others() {
        let watch = LoadWatch::begin(&[std::process::id()]).unwrap();
        let load = watch.so_far().unwrap();
        assert!(load.used_cores > 0.0 && load.other_cores() >= 0.0, "{load:?}");
        let others = OtherLoad { busy_cores: 1.5, used_cores: 1.0, ..load };
        assert!((others.other_cores() - 0.5).abs() < 1e-12);
    }
}
