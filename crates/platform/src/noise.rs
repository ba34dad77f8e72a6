//! What takes a processor away from a thread that only reads the clock: interrupts, other threads and,
//! in a virtual machine, the hypervisor.
//!
//! ```text
//! readings    | | | | |           | | | | | |       | | | |
//! gaps [ns]             ├─────────┤           ├─────┤            time that was not the thread's
//! ```

use std::fs;

use crate::PlatformError;
use crate::clock::{monotonic_ns, tsc};
use crate::usage::{CpuTime, MachineUsage, ThreadUsage};

/// What was seen on one processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// Time that was watched [ns].
    pub elapsed_ns: u64,
    /// Length of every gap, up to [`MOST_GAPS`] of them [ns].
    pub gaps_ns: Vec<f64>,
    /// Gaps in all [count].
    pub gaps: u64,
    /// Time in all gaps [ns].
    pub lost_ns: f64,
    /// Interrupts of this processor meanwhile, of all kinds (`/proc/interrupts`) [count].
    pub interrupts: u64,
    /// Times that another thread took the processor [count].
    pub switches: u64,
    /// How the kernel says that the processor spent the time, in ticks of 10 ms (`/proc/stat`).
    pub stat: CpuTime,
}

/// Watches for so long; the calling thread must be pinned to the processor. `counter_hz` is the rate of
/// the time stamp counter; without it the monotonic clock is read.
///
/// # Errors
/// When a file of the kernel cannot be read.
pub fn watch(cpu: usize, window_ns: u64, counter_hz: Option<f64>) -> Result<Noise, PlatformError> {
    let cycles_per_ns = counter_hz.filter(|_| tsc().is_some()).map_or(1.0, |hz| hz / 1e9);
    let now = || counter_hz.and_then(|_| tsc()).unwrap_or_else(monotonic_ns);
    let (interrupts, stat) = (interrupts_of(cpu)?, MachineUsage::now()?);
    let before = ThreadUsage::now();
    let mut noise = Noise::default();
    let (start, window) = (now(), window_ns as f64 * cycles_per_ns);
    let mut last = start;
    while (last.wrapping_sub(start) as f64) < window {
        let reading = now();
        let gap_ns = reading.wrapping_sub(last) as f64 / cycles_per_ns;
        if gap_ns > SHORTEST_GAP_NS {
            noise.add(gap_ns);
        }
        last = reading;
    }
    let used = ThreadUsage::now().since(&before);
    let stat = MachineUsage::now()?.since(&stat);
    noise.elapsed_ns = used.elapsed_ns;
    noise.switches = used.involuntary_switches;
    noise.interrupts = interrupts_of(cpu)?.saturating_sub(interrupts);
    noise.stat = stat.cpus.get(cpu).copied().unwrap_or_default();
    Ok(noise)
}

impl Noise {
    fn add(&mut self, gap_ns: f64) {
        self.gaps += 1;
        self.lost_ns += gap_ns;
        if self.gaps_ns.len() < MOST_GAPS {
            self.gaps_ns.push(gap_ns);
        }
    }
}

/// Interrupts of a processor since boot, of all kinds [count].
fn interrupts_of(cpu: usize) -> Result<u64, PlatformError> {
    const PATH: &str = "/proc/interrupts";
    let text = fs::read_to_string(PATH).map_err(|error| PlatformError::file(PATH, error))?;
    counted(&text, cpu)
        .ok_or_else(|| PlatformError::file(PATH, format!("no column of processor {cpu}")))
}

/// Sum of a processor's column. Lines that have fewer numbers than there are processors count for none
/// of them.
fn counted(text: &str, cpu: usize) -> Option<u64> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next()?.split_whitespace().collect();
    let column = columns.iter().position(|name| *name == format!("CPU{cpu}"))?;
    let count = |line: &str| {
        let numbers =
            line.split_once(':')?.1.split_whitespace().map_while(|word| word.parse().ok());
        let numbers: Vec<u64> = numbers.take(columns.len()).collect();
        (numbers.len() == columns.len()).then(|| numbers[column])
    };
    Some(lines.filter_map(count).sum())
}

/// Longest time between two readings that is still the loop's own [ns]: many times what a reading
/// costs, and less than the shortest interrupt.
const SHORTEST_GAP_NS: f64 = 300.0;

/// Most gaps that are kept one by one: hundreds of thousands a second would be another fault.
pub const MOST_GAPS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::{allowed_cpus, pin_thread};
    use crate::clock::tsc_rate_hz;
    use std::time::Duration;

    #[test]
    fn a_window_is_watched_to_its_end_by_either_clock() {
        let cpu = allowed_cpus().unwrap()[0];
        let _pinned = pin_thread(cpu).unwrap();
        for hz in [None, tsc_rate_hz(Duration::from_millis(2))] {
            let noise = watch(cpu, 2_000_000, hz).unwrap();
            assert!(noise.elapsed_ns > 1_900_000, "{noise:?}");
            assert!(noise.gaps >= noise.gaps_ns.len() as u64);
            assert!((noise.gaps_ns.iter().sum::<f64>() - noise.lost_ns).abs() < 1.0);
            assert!(noise.gaps_ns.iter().all(|gap| *gap > SHORTEST_GAP_NS));
        }
    }

    #[test]
    fn gaps_beyond_the_bound_are_counted_and_not_kept() {
        let mut noise = Noise::default();
        (0..=MOST_GAPS).for_each(|_| noise.add(1000.0));
        assert_eq!((noise.gaps, noise.gaps_ns.len()), (MOST_GAPS as u64 + 1, MOST_GAPS));
    }

    #[test]
    fn interrupts_are_those_of_one_processor() {
        let text = "           CPU0       CPU2\n  1:  5  7  IO-APIC  i8042\nLOC:  100  200  timer\nERR:  9\n";
        assert_eq!(counted(text, 0), Some(105));
        assert_eq!(counted(text, 2), Some(207));
        assert_eq!(counted(text, 1), None);
        assert_eq!(counted("", 0), None);
    }
}
