//! Timing the decoder, frame by frame or as a whole.

use bitpath_platform::affinity::{Pinned, allowed_cpus, pin_thread};
use bitpath_platform::clock;
use bitpath_platform::codec::{Clip, Decoder};

use super::{FrameTime, Report, SliceUse};
use crate::BenchError;
use crate::film::kind_of;

/// Decodes the clip once with one thread that sleeps so long before each frame.
pub(super) fn times(clip: &Clip, rest_ns: u64) -> Result<Report, BenchError> {
    let _pinned = stay()?;
    let mut times = Vec::with_capacity(clip.frames().len());
    let mut decoder = Decoder::new(clip.parameters())?;
    for (index, frame) in clip.frames().iter().enumerate() {
        if rest_ns > 0 {
            clock::sleep_until(clock::monotonic_ns() + rest_ns);
        }
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

/// Keeps the thread on the last of its processors for a while.
fn stay() -> Result<Option<Pinned>, BenchError> {
    Ok(allowed_cpus()?.last().copied().map(pin_thread).transpose()?)
}

/// Decodes the clip once on so many threads. A thread alone stays on one processor; more of them go
/// where the system puts them, among those that this process may use.
pub(super) fn all(clip: &Clip, threads: usize) -> Result<Report, BenchError> {
    let _pinned = if threads == 1 { stay()? } else { None };
    let mut decoder = Decoder::on_threads(clip.parameters(), threads)?;
    let (start_ns, cpu_ns) = (clock::monotonic_ns(), clock::process_cpu_ns());
    let mut pictures = 0;
    for index in 0..clip.frames().len() {
        pictures += decoder.decode(clip.packet(index))?;
    }
    pictures += decoder.flush()?;
    Ok(Report::Slice(SliceUse {
        calls: pictures as u64,
        bytes: clip.frames().iter().map(|frame| u64::from(frame.bytes)).sum(),
        cpu_ns: clock::process_cpu_ns() - cpu_ns,
        elapsed_ns: clock::monotonic_ns() - start_ns,
        sleeps: 0,
    }))
}
