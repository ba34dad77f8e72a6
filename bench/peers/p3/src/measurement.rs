//! How a program of this folder is called and what it prints: `PROGRAM packets repeats`, and one
//! line of JSON with the counts of a run and the processor time of all runs.

use std::hint::black_box;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::Counts;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Packets of a run.
    packets: u64,
    /// Runs, one after the other.
    repeats: u32,
}

impl Measurement {
    /// From the arguments that are left.
    ///
    /// # Panics
    /// When they are not two numbers, the second above zero.
    pub fn from_arguments(arguments: &mut impl Iterator<Item = String>) -> Self {
        let mut number = || arguments.next().and_then(|text| text.parse().ok());
        let (packets, repeats) = (number().expect("packets"), number().expect("repeats"));
        assert!(repeats > 0, "at least one run");
        Self { packets, repeats: u32::try_from(repeats).expect("repeats") }
    }

    /// Runs, and prints what came out.
    ///
    /// # Panics
    /// When two runs differ.
    pub fn print(self, run: impl Fn(u64) -> Counts) {
        let start = processor_time();
        let counts = run(black_box(self.packets));
        for _ in 1..self.repeats {
            assert_eq!(run(black_box(self.packets)), counts, "runs are alike");
        }
        let seconds = (processor_time() - start).as_secs_f64();
        let Counts { delivered, nic_drops, kernel_drops } = counts;
        println!(
            "{{\"delivered\": {delivered}, \"nic_drops\": {nic_drops}, \
             \"kernel_drops\": {kernel_drops}, \"cpu_seconds\": {seconds}}}"
        );
    }
}

/// Processor time of all threads of this process.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("Linux has this clock").into()
}
