//! How fast the machine is at this moment: two fixed loops to run beside each sample.
//!
//! A virtual machine's speed moves from one slice of time to the next, unseen by the kernel's
//! accounts: its neighbours share the core. Throughput (independent chains that fill the core's
//! units) falls when the sibling hardware thread is busy, latency (one chain of multiplications)
//! only when the clock does.

use std::hint::black_box;
use std::time::Duration;

use crate::clock::{nanos_of, thread_cpu_ns};

/// Speed of the calling thread's processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Steps of independent chains [1/s].
    pub throughput_per_second: f64,
    /// Multiplications that each wait for the one before [1/s].
    pub latency_per_second: f64,
}

/// Runs the two loops for `slice` of processor time each. Time in which the thread was put aside
/// for another does not count: that is load, not speed.
#[must_use]
pub fn speed(slice: Duration) -> Speed {
    Speed {
        throughput_per_second: rate(slice, independent_chains),
        latency_per_second: rate(slice, dependent_chain),
    }
}

/// Runs a loop again and again until the slice is over; operations in a second of processor
/// time [1/s].
fn rate(slice: Duration, work: fn(u64) -> u64) -> f64 {
    let slice_ns = nanos_of(slice);
    let mut seed = SEED;
    let mut rounds = 0_u64;
    let start_ns = thread_cpu_ns();
    loop {
        seed = work(black_box(seed));
        rounds += 1;
        let elapsed_ns = thread_cpu_ns() - start_ns;
        if elapsed_ns >= slice_ns && elapsed_ns > 0 {
            black_box(seed);
            return (rounds * OPERATIONS) as f64 / elapsed_ns as f64 * 1e9;
        }
    }
}

/// Six chains that do not wait for each other, four of xorshifts and two of multiplications: their
/// eighteen instructions keep a core of four to six units busy longer than one step of a chain
/// takes.
fn independent_chains(seed: u64) -> u64 {
    let mut shifted = [seed, seed ^ 1, seed ^ 2, seed ^ 4];
    let mut multiplied = [seed | 1, seed | 3];
    for _ in 0..OPERATIONS / CHAINS {
        // Were the values visible, the compiler might join the chains in vectors.
        shifted = in_registers(shifted.map(|value| value ^ (value << 13) ^ (value >> 7)));
        multiplied = in_registers(multiplied.map(|value| value.wrapping_mul(FACTOR)));
    }
    shifted.into_iter().chain(multiplied).fold(0, |all, value| all ^ value)
}

/// One chain: each multiplication waits for the one before, three cycles on most cores. Chains of
/// additions would not do: today's cores fold them.
fn dependent_chain(seed: u64) -> u64 {
    let mut value = seed | 1;
    for _ in 0..OPERATIONS {
        [value] = in_registers([value.wrapping_mul(FACTOR)]);
    }
    value
}

/// Hides values from the compiler and leaves them in registers; `black_box` would pass them through
/// memory, whose latency would then be measured.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn in_registers<const N: usize>(mut values: [u64; N]) -> [u64; N] {
    for value in &mut values {
        // SAFETY: the empty text touches nothing.
        unsafe {
            std::arch::asm!(
                "/* {0} */",
                inout(reg) * value,
                options(nomem, nostack, preserves_flags, pure)
            );
        }
    }
    values
}

/// Elsewhere the values pass through memory: slower, and just as constant.
#[cfg(not(target_arch = "x86_64"))]
fn in_registers<const N: usize>(values: [u64; N]) -> [u64; N] {
    black_box(values)
}

/// Operations between two looks at the clock: some tens of microseconds, beside which the clock's
/// own cost, a system call of less than half a microsecond, is small.
const OPERATIONS: u64 = 6 * 16_384;

/// Independent chains of the throughput loop.
const CHAINS: u64 = 6;

/// Where the chains begin; any odd number that is not small.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Multiplier of Knuth's MMIX generator: odd, so that no chain ends at zero.
const FACTOR: u64 = 6_364_136_223_846_793_005;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_speeds_are_those_of_a_processor() {
        let speed = speed(Duration::from_millis(1));
        for rate in [speed.throughput_per_second, speed.latency_per_second] {
            assert!((1e6..1e12).contains(&rate), "{speed:?}");
        }
    }

    #[test]
    fn an_empty_slice_still_runs_once() {
        assert!(speed(Duration::ZERO).latency_per_second.is_finite());
    }
}
