//! Threads of this process, each kept on one processor, as a test bed: for what needs no other process.

use std::thread;
use std::time::Duration;

use bitpath_platform::{PlatformError, affinity, calibration};

use crate::BenchError;
use crate::sampling::Bed;

/// The processors of this process, the one for work of a single thread first.
#[derive(Clone, Debug)]
pub struct Here {
    /// The processors.
    pub cpus: Vec<usize>,
}

/// Length of each of the two calibration loops: several thousand rounds, little beside a sample.
const SPEED_SLICE: Duration = Duration::from_millis(1);

impl Here {
    /// All processors that this thread may use, the last first: the first is where most systems have
    /// their interrupts.
    ///
    /// # Errors
    /// When the system does not say which it may use.
    pub fn new() -> Result<Self, BenchError> {
        let mut cpus = affinity::allowed_cpus()?;
        cpus.reverse();
        Ok(Self { cpus })
    }

    /// The processor for work of a single thread.
    #[must_use]
    pub fn first(&self) -> usize {
        self.cpus.first().copied().unwrap_or(0)
    }

    /// Runs something on that processor.
    ///
    /// # Errors
    /// When the thread may not run there, and those of `work`.
    pub fn run<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, PlatformError> + Send,
    ) -> Result<T, BenchError> {
        Ok(on_cpu(self.first(), work)?)
    }
}

/// Runs something in a thread that stays on a processor.
///
/// # Errors
/// When it may not run there, and those of `work`.
pub fn on_cpu<T: Send>(
    cpu: usize,
    work: impl FnOnce() -> Result<T, PlatformError> + Send,
) -> Result<T, PlatformError> {
    let pinned = || {
        let _pinned = affinity::pin_thread(cpu)?;
        work()
    };
    thread::scope(|scope| joined(scope.spawn(pinned)))
}

/// What a thread returned; its panic is this thread's.
pub fn joined<T>(hand: thread::ScopedJoinHandle<'_, T>) -> T {
    hand.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Bed for Here {
    fn speed(&mut self) -> Result<f64, BenchError> {
        self.run(|| Ok(calibration::speed(SPEED_SLICE).throughput_per_second))
    }

    fn pids(&self) -> Vec<u32> {
        vec![std::process::id()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_its_processor_and_the_caller_stays_free() {
        let here = Here::new().unwrap();
        for &cpu in &here.cpus {
            assert_eq!(on_cpu(cpu, affinity::allowed_cpus).unwrap(), [cpu]);
        }
        assert_eq!(Here::new().unwrap().cpus, here.cpus);
    }
}
