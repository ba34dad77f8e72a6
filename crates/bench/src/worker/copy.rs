//! Memory copied by this processor: what the stack's throughput is held against.

use std::hint::black_box;

use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::memory::{self, Buffer};

use super::{MAX_SOURCE_BYTES, Report};
use crate::BenchError;

/// Shortest time of one measurement [ns]: hundreds of thousands of clock steps.
const SLICE_NS: u64 = 10_000_000;

/// Copies one half of a working set to the other, again and again.
pub(super) fn rate(working_set_bytes: usize) -> Result<Report, BenchError> {
    let mut buffer = Buffer::new(working_set_bytes.min(MAX_SOURCE_BYTES))?;
    let middle = buffer.len() / 2;
    let (to, from) = buffer.split_at_mut(middle);
    memory::copy(to, from);
    let (start_ns, mut bytes) = (monotonic_ns(), 0);
    loop {
        bytes += black_box(memory::copy(to, from));
        let elapsed_ns = monotonic_ns() - start_ns;
        if elapsed_ns >= SLICE_NS {
            return Ok(Report::CopyRate {
                bytes_per_second: bytes as f64 / elapsed_ns as f64 * 1e9,
            });
        }
    }
}
