//! Interrupts of one processor: those of devices and timers, and the deferred work behind them.
//!
//! ```text
//!            CPU0   CPU1
//!   41:      1149      0   virtio3-rx       /proc/interrupts
//! NET_RX:    3987   5976                    /proc/softirqs
//! ```

use std::fs;

use crate::PlatformError;

/// What interrupted one processor, at one moment or between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuInterrupts {
    /// Interrupts of devices, timers and other processors [count].
    pub interrupts: u64,
    /// Runs of deferred work of every kind [count].
    pub softirqs: u64,
    /// Those of them that received packets (`NET_RX`) [count].
    pub net_receive_softirqs: u64,
}

impl CpuInterrupts {
    /// The processor's count since boot.
    ///
    /// # Errors
    /// When the kernel does not tell, or not about this processor.
    pub fn now(cpu: usize) -> Result<Self, PlatformError> {
        let count = |path: &str, row: Option<&str>| {
            let text =
                fs::read_to_string(path).map_err(|error| PlatformError::file(path, error))?;
            let unknown = || PlatformError::file(path, format!("no column CPU{cpu}"));
            column_sum(&text, cpu, row).ok_or_else(unknown)
        };
        Ok(Self {
            interrupts: count(INTERRUPTS, None)?,
            softirqs: count(SOFTIRQS, None)?,
            net_receive_softirqs: count(SOFTIRQS, Some("NET_RX"))?,
        })
    }

    /// What came since an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
            softirqs: self.softirqs.saturating_sub(earlier.softirqs),
            net_receive_softirqs: self
                .net_receive_softirqs
                .saturating_sub(earlier.net_receive_softirqs),
        }
    }
}

/// Sum of a processor's column over all rows, or over those of a name; `None` without such a
/// column. Rows with fewer numbers than there are processors count no processor's interrupts.
fn column_sum(text: &str, cpu: usize, name: Option<&str>) -> Option<u64> {
    let mut lines = text.lines();
    let cpus: Vec<&str> = lines.next()?.split_whitespace().collect();
    let column = cpus.iter().position(|title| *title == format!("CPU{cpu}"))?;
    let rows = lines.filter_map(|line| line.split_once(':'));
    let rows = rows.filter(|(row, _)| name.is_none_or(|name| row.trim() == name));
    let count = |(_, numbers): (&str, &str)| {
        let counts: Vec<u64> =
            numbers.split_whitespace().map_while(|number| number.parse().ok()).collect();
        if counts.len() < cpus.len() { 0 } else { counts[column] }
    };
    Some(rows.map(count).sum())
}

const INTERRUPTS: &str = "/proc/interrupts";
const SOFTIRQS: &str = "/proc/softirqs";

#[cfg(test)]
mod tests {
    use super::*;

    /// Processor 1 is offline: it has no column.
    const TEXT: &str = "           CPU0       CPU2\n 24:  1  20  IO-APIC 5-edge ACPI:Ged\nLOC:  300  4000  Local timer interrupts\nERR:   7\n";

    #[test]
    fn a_processor_has_its_own_column() {
        assert_eq!(column_sum(TEXT, 0, None), Some(301));
        assert_eq!(column_sum(TEXT, 2, None), Some(4020));
        assert_eq!(column_sum(TEXT, 2, Some("LOC")), Some(4000));
        assert_eq!(column_sum(TEXT, 1, None), None);
        assert_eq!(column_sum("", 0, None), None);
    }

    #[test]
    fn this_machine_has_been_interrupted() {
        let cpu = crate::affinity::allowed_cpus().unwrap()[0];
        let before = CpuInterrupts::now(cpu).unwrap();
        assert!(before.interrupts > 0 && before.softirqs > 0, "{before:?}");
        let later = CpuInterrupts::now(cpu).unwrap();
        assert!(later.interrupts >= before.interrupts && later.softirqs >= before.softirqs);
        assert_eq!(before.since(&later).net_receive_softirqs, 0);
    }

    #[test]
    fn a_processor_that_is_not_there_is_named() {
        let error = CpuInterrupts::now(9999).unwrap_err().to_string();
        assert_eq!(error, "/proc/interrupts: no column CPU9999");
    }
}
