//! Copy, read and write bandwidth at a few working sets, one in each level of the hierarchy: what the
//! model needs.

use std::hint::black_box;

use bitpath_measure::Unit;
use bitpath_measure::series::labels;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::memory::{self, Buffer};

use crate::BenchError;
use crate::sampling::Sampler;

/// Working sets [B]: within a first-level, a second-level and a third-level cache, and beyond.
/// A copy divides its working set between source and destination. The largest keeps the whole
/// study below 200 MiB.
pub const WORKING_SETS: [usize; 4] = [16 << 10, 512 << 10, 8 << 20, 64 << 20];

/// Shortest time of one sample [ns]: tens of thousands of clock steps.
const SAMPLE_NS: u64 = 3_000_000;

/// Samples the three operations once at one working set.
///
/// # Errors
/// When the memory cannot be had.
pub fn measure(sampler: &mut Sampler, working_set: usize) -> Result<(), BenchError> {
    let mut buffer = Buffer::new(working_set)?;
    let (to, from) = buffer.split_at_mut(working_set / 2);
    let copy = rate(|| memory::copy(to, from));
    let read = rate(|| memory::read_sum(&buffer));
    let write = rate(|| memory::write_fill(&mut buffer, 0x5a));
    for (operation, rate) in [("copy", copy), ("read", read), ("write", write)] {
        let labels = labels([("op", operation), ("working_set_bytes", &working_set.to_string())]);
        sampler.add_alone("copy.bandwidth", &labels, Unit::BytesPerSecond, &[rate]);
    }
    Ok(())
}

/// Payload bytes a second of an operation, repeated for the length of a sample [B/s].
fn rate(mut operation: impl FnMut() -> usize) -> f64 {
    operation();
    let (start_ns, mut bytes) = (monotonic_ns(), 0);
    loop {
        bytes += black_box(operation());
        let elapsed_ns = monotonic_ns() - start_ns;
        if elapsed_ns >= SAMPLE_NS {
            return bytes as f64 / elapsed_ns as f64 * 1e9;
        }
    }
}
