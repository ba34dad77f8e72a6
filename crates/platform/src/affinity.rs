//! Which processors a thread may run on, and keeping it on one.

use std::fs;
use std::marker::PhantomData;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::PlatformError;

/// The calling thread stays on one processor as long as this lives; then it may run where it
/// could before. It belongs to the thread that made it.
#[derive(Debug)]
#[must_use = "the thread is released when this is dropped; `keep` holds it for good"]
pub struct Pinned {
    before: CpuSet,
    /// Not sendable: another thread would restore its own affinity, not that of this one.
    thread: PhantomData<*const ()>,
}

impl Pinned {
    /// Keeps the thread where it is for the rest of its life.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Fails only when every earlier processor went offline; then the kernel has moved the
        // thread already and there is nothing to restore.
        let _ = sched_setaffinity(CALLING_THREAD, &self.before);
    }
}

/// A physical core: hardware threads with the same core share its units and caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Core {
    /// Socket of the core.
    pub package: u32,
    /// Number of the core in its socket.
    pub core: u32,
}

/// Processors that the calling thread may run on, in ascending order.
///
/// # Errors
/// The kernel's, which has more processors than 1024 as its only cause.
pub fn allowed_cpus() -> Result<Vec<usize>, PlatformError> {
    Ok(members(&affinity()?))
}

/// Moves the calling thread to a processor and keeps it there.
///
/// # Errors
/// When the thread may not run on it, with those that it may.
pub fn pin_thread(cpu: usize) -> Result<Pinned, PlatformError> {
    let before = affinity()?;
    let refused = || PlatformError::NoSuchCpu { cpu, allowed: members(&before) };
    if !before.is_set(cpu).is_ok_and(|allowed| allowed) {
        return Err(refused());
    }
    let mut only = CpuSet::new();
    only.set(cpu).map_err(|_| refused())?;
    sched_setaffinity(CALLING_THREAD, &only)
        .map_err(|errno| PlatformError::system(format!("pin to processor {cpu}"), errno))?;
    Ok(Pinned { before, thread: PhantomData })
}

/// The core that a processor belongs to, where the kernel says so.
#[must_use]
pub fn core_of(cpu: usize) -> Option<Core> {
    let read = |name: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
        fs::read_to_string(path).ok()?.trim().parse().ok()
    };
    Some(Core { package: read("physical_package_id")?, core: read("core_id")? })
}

fn affinity() -> Result<CpuSet, PlatformError> {
    sched_getaffinity(CALLING_THREAD)
        .map_err(|errno| PlatformError::system("read the allowed processors", errno))
}

fn members(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).is_ok_and(|member| member)).collect()
}

/// Process id 0 means the calling thread to the scheduler's calls.
const CALLING_THREAD: Pid = Pid::from_raw(0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_until_released() {
        let before = allowed_cpus().unwrap();
        let last = *before.last().unwrap();
        let pinned = pin_thread(last).unwrap();
        assert_eq!(allowed_cpus().unwrap(), [last]);
        assert_eq!(nix::sched::sched_getcpu().unwrap(), last);
        drop(pinned);
        assert_eq!(allowed_cpus().unwrap(), before);
    }

    #[test]
    fn a_kept_pin_outlives_its_guard() {
        let first = allowed_cpus().unwrap()[0];
        std::thread::spawn(move || {
            pin_thread(first).unwrap().keep();
            assert_eq!(allowed_cpus().unwrap(), [first]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_that_is_not_there_is_named_with_those_that_are() {
        for cpu in [1023, 5000] {
            let error = pin_thread(cpu).unwrap_err().to_string();
            assert!(error.contains(&cpu.to_string()) && error.contains('['), "{error}");
        }
    }
}
