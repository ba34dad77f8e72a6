//! Timing the decoder, frame by frame.

use bitpath_platform::clock;
use bitpath_platform::codec::{Clip, Decoder};

use super::{FrameTime, Report};
use crate::BenchError;
use crate::film::kind_of;

/// Decodes the clip once with one thread.
pub(super) fn times(clip: &Clip) -> Result<Report, BenchError> {
    let mut times = Vec::with_capacity(clip.frames().len());
    let mut decoder = Decoder::new(clip.parameters())?;
    for (index, frame) in clip.frames().iter().enumerate() {
        let (cpu_ns, cycles) = (clock::thread_cpu_ns(), clock::tsc());
        decoder.decode(clip.packet(index))?;
        let tsc_cycles =
            clock::tsc().zip(cycles).map_or(0, |(after, before)| after.wrapping_sub(before));
        let cpu_ns = clock::thread_cpu_ns() - cpu_ns;
        times.push(FrameTime { kind: kind_of(frame.kind), bytes: frame.bytes, cpu_ns, tsc_cycles });
    }
    decoder.flush()?;
    Ok(Report::Decoded(times))
}
