//! The machine as facts: what /proc, /sys, CPUID and the drivers say, nothing inferred. What
//! cannot be read is left out.

mod cpu;
mod nic;

use std::env::consts::ARCH;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use bitpath_measure::Environment;
use bitpath_measure::environment::{Clock, Load, Setting, System};
use nix::unistd::geteuid;
use procfs::{ConfigSetting, Current, LoadAverage, Meminfo};

use crate::clock;
use crate::command::{ETHTOOL, IP, Program};
use crate::topology::topology;

/// Reads everything; takes about a quarter of a second, most of it for the rate of the time stamp
/// counter. Versions of libraries are added by whoever uses them.
#[must_use]
pub fn environment() -> Environment {
    let memory = Meminfo::current().ok();
    Environment {
        system: system(),
        cpu: cpu::cpu(),
        topology: topology(),
        memory_bytes: memory.as_ref().map_or(0, |memory| memory.mem_total),
        memory_available_bytes: memory.and_then(|memory| memory.mem_available).unwrap_or(0),
        nics: nic::nics(),
        clock: clocks(),
        settings: settings(),
        load: load(),
        root: is_root(),
        versions: versions(),
    }
}

/// Whether this process has root's rights.
#[must_use]
pub fn is_root() -> bool {
    geteuid().is_root()
}

fn system() -> System {
    System {
        kernel: text("/proc/sys/kernel/osrelease").unwrap_or_default(),
        distribution: distribution().unwrap_or_default(),
        architecture: ARCH.into(),
        hypervisor: cpu::hypervisor(),
    }
}

fn distribution() -> Option<String> {
    let release = text("/etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

fn clocks() -> Clock {
    let source = text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    Clock {
        source: source.unwrap_or_default(),
        resolution_ns: clock::resolution_ns() as f64,
        observed_step_ns: clock::observed_step_ns(STEP_READINGS) as f64,
        tsc_hz: clock::calibrate_tsc(TSC_WINDOW, TSC_WINDOWS).map(|rate| rate.hz),
        tick_hz: tick_hz(),
    }
}

/// Timer interrupts a second, where the kernel shows how it was configured.
fn tick_hz() -> Option<f64> {
    match procfs::kernel_config().ok()?.get("CONFIG_HZ")? {
        ConfigSetting::Value(hz) => hz.parse().ok(),
        _ => None,
    }
}

fn settings() -> Vec<Setting> {
    let sysctl = SYSCTLS.iter().filter_map(|name| {
        let value = text(format!("/proc/sys/{}", name.replace('.', "/")))?;
        Some(Setting { name: (*name).into(), value })
    });
    let huge_pages = text("/sys/kernel/mm/transparent_hugepage/enabled")
        .map(|value| Setting { name: "transparent_hugepage".into(), value });
    sysctl.chain(huge_pages).collect()
}

fn load() -> Load {
    LoadAverage::current().map_or_else(
        |_| Load::default(),
        |load| Load { one_minute: f64::from(load.one), runnable: load.cur.into() },
    )
}

/// Versions of the programs that this crate calls, where they are installed.
fn versions() -> Vec<Setting> {
    let version = |name: &str, program: Program, argument: &str| {
        let value = program.run(&[argument]).ok()?.trim().to_owned();
        Some(Setting { name: name.into(), value })
    };
    [version("iproute2", IP, "-V"), version("ethtool", ETHTOOL, "--version")]
        .into_iter()
        .flatten()
        .collect()
}

/// A small text file without the white space around it.
fn text(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// A small text file that holds one value.
fn value<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}

/// Settings that bear on sockets, queues and sleeping receivers.
const SYSCTLS: [&str; 17] = [
    "net.core.default_qdisc",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
    "kernel.perf_event_paranoid",
];

/// Readings for the smallest step of the clock: a few milliseconds, thousands of steps of any
/// clock that is fit for measuring.
const STEP_READINGS: usize = 100_000;

/// Windows over which the time stamp counter is calibrated: the reading error of some tens of
/// nanoseconds is below 10⁻⁵ of a window.
const TSC_WINDOW: Duration = Duration::from_millis(20);
const TSC_WINDOWS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_of_this_machine_are_sane() {
        let facts = environment();
        assert!(facts.system.kernel.starts_with(|first: char| first.is_ascii_digit()));
        assert!(!facts.system.distribution.is_empty());
        assert!(facts.memory_bytes > 1 << 26 && facts.memory_available_bytes <= facts.memory_bytes);
        assert!(!facts.clock.source.is_empty() && facts.clock.observed_step_ns > 0.0);
        assert!(facts.settings.iter().any(|setting| setting.name == "net.core.rmem_max"));
        assert!(facts.load.one_minute >= 0.0 && facts.load.runnable > 0);
        assert_eq!(facts.root, is_root());
    }

    #[test]
    fn the_tick_rate_is_one_that_kernels_have() {
        if let Some(hz) = tick_hz() {
            assert!((24.0..=1200.0).contains(&hz), "{hz}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_no_fact() {
        assert_eq!(text("/sys/no/such/file"), None);
        assert_eq!(value::<u64>("/proc/sys/kernel/osrelease"), None);
    }
}
