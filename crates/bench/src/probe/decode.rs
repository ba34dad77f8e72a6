//! Decoding, clip by clip: what each clip is, and what it costs to decode it on one thread and on more
//! (sysSIM tables 9 and 10).
//!
//! ```text
//! clips ──┬─► stream, types and sizes of frames, compression       facts, read once
//!         ├─► cycles a byte by type of frame, on one thread        [TSC cycles/B]
//!         └─► a whole pass on 1 to n threads                       [s, frames/s, ns/B]
//! ```

mod conclusion;
mod cost;
mod player;
mod stream;

use std::path::{Path, PathBuf};

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Unit};
use bitpath_platform::codec::{self, CodecError, MAX_THREADS};

use crate::BenchError;
use crate::clip;
use crate::probe::points::{Effort, Point, sample_all};
use crate::sampling::Sampler;
use crate::steps::Steps;
pub use conclusion::conclude;
pub use cost::{Passes, fit, passes};
use player::Player;
use stream::Stream;

/// Time of a whole pass [s].
pub const TIME: &str = "decode.time";

/// Frames decoded in a second of it [frames/s].
pub const FRAME_RATE: &str = "decode.frame_rate";

/// Processor time of all threads for a compressed byte [ns/B].
pub const CPU: &str = "decode.cpu";

/// Cycles for a compressed byte on one thread [TSC cycles/B].
pub const CYCLES: &str = "decode.cycles_per_byte";

/// Devices that decode [count], with what they are.
pub const HARDWARE: &str = "decode.hardware";

/// Samples all clips; without one, a clip that is made in `scratch`. `counter_hz` is the rate of the time stamp
/// counter, where it is invariant. Returns the doubts.
///
/// # Errors
/// When a clip cannot be used, with its name; when the worker is gone, or the user asked to stop.
pub fn sample(
    program: &Path,
    clips: &[PathBuf],
    scratch: &Path,
    counter_hz: Option<f64>,
    sampler: &mut Sampler,
    effort: &Effort,
    steps: &mut Steps<'_>,
) -> Result<Vec<Pitfall>, BenchError> {
    note_hardware(sampler);
    let cycles = counter_hz.map(|tsc_hz| Pitfall::TscCycles { tsc_hz });
    let mut doubts: Vec<Pitfall> = cycles.into_iter().collect();
    let clips = match clips {
        [] => match made(scratch, &mut doubts)? {
            Some(clip) => vec![clip],
            None => return Ok(doubts),
        },
        given => given.to_vec(),
    };
    // All of them before any is measured: a name that is mistyped costs no time.
    let names = names(&clips);
    let mut streams = Vec::new();
    for (path, name) in clips.iter().zip(names) {
        let stream = Stream::read(path, name)?;
        stream.note(sampler);
        streams.push(stream);
        steps.tell(0.0)?;
    }
    let mut player = Player::open(program)?;
    for stream in &streams {
        player.load(&stream.path)?;
    }
    let threads = player.cpus.len().min(MAX_THREADS);
    let mut points: Vec<_> = streams.iter().flat_map(|stream| points(stream, threads)).collect();
    doubts.extend(sample_all(&mut player, &mut points, sampler, effort, steps)?);
    Ok(doubts)
}

/// The clip that is made where none is given; none, and a doubt, in a build that cannot decode.
fn made(scratch: &Path, doubts: &mut Vec<Pitfall>) -> Result<Option<PathBuf>, BenchError> {
    match clip::prepare(None, scratch) {
        Ok(made) => {
            doubts.extend(made.synthetic.map(|clip| Pitfall::SyntheticClip { clip }));
            Ok(Some(made.path))
        }
        Err(BenchError::Codec(error @ CodecError::NotBuilt)) => {
            doubts.push(Pitfall::NoDecoder { reason: error.to_string() });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What each clip is called: its file's name, or its path where two files have the same.
fn names(clips: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = |path: &PathBuf| {
        let alone = clips.iter().filter(|other| short(other) == short(path)).count() == 1;
        short(path).filter(|_| alone).unwrap_or_else(|| path.display().to_string())
    };
    clips.iter().map(name).collect()
}

/// Devices that decode, unless an earlier sitting has looked for them.
fn note_hardware(sampler: &mut Sampler) {
    let found = codec::hardware();
    let devices = if found.is_empty() {
        "none".to_owned()
    } else {
        let device =
            |found: &codec::Hardware| format!("{} {}", found.interface, found.device.display());
        found.iter().map(device).collect::<Vec<_>>().join(", ")
    };
    let of = labels([("device", &devices)]);
    if sampler.samples(HARDWARE, &of) == 0 {
        sampler.add_alone(HARDWARE, &of, Unit::Count, &[found.len() as f64]);
    }
}

/// A clip's points: by type of frame on one thread, and whole passes on all numbers of threads.
fn points(stream: &Stream, threads: usize) -> Vec<Point<'_, Player>> {
    let passes = (1..=threads).map(|threads| whole_passes(stream, threads));
    std::iter::once(by_frame(stream)).chain(passes).collect()
}

fn by_frame(stream: &Stream) -> Point<'_, Player> {
    let of = |frame: &str| -> Labels {
        let mut of = stream.labels.clone();
        of.extend(labels([("frame", frame), ("threads", "1")]));
        of
    };
    Point::new(CYCLES, of("all"), move |player: &mut Player, sampler: &mut Sampler| {
        let (times, beside) = sampler.beside(player, |player| player.times(&stream.path))?;
        for (frame, bytes, cycles) in cost::by_kind(&times) {
            sampler.add(CYCLES, &of(frame), Unit::TscCyclesPerByte, cycles / bytes, &beside);
        }
        Ok(())
    })
}

fn whole_passes(stream: &Stream, threads: usize) -> Point<'_, Player> {
    let mut of = stream.labels.clone();
    of.insert("threads".into(), threads.to_string());
    Point::new(TIME, of.clone(), move |player: &mut Player, sampler: &mut Sampler| {
        let (used, beside) = sampler.beside(player, |player| player.pass(&stream.path, threads))?;
        let seconds = used.elapsed_ns.max(1) as f64 / 1e9;
        let cost = used.cpu_ns as f64 / used.bytes.max(1) as f64;
        sampler.add(TIME, &of, Unit::Seconds, seconds, &beside);
        sampler.add(FRAME_RATE, &of, Unit::FramesPerSecond, used.calls as f64 / seconds, &beside);
        sampler.add(CPU, &of, Unit::NanosecondsPerByte, cost, &beside);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_of_the_same_name_are_told_apart_by_their_path() {
        let clips = ["a/film.mpg", "b/film.mpg", "a/other.mpg"].map(PathBuf::from);
        assert_eq!(names(&clips), ["a/film.mpg", "b/film.mpg", "other.mpg"]);
    }

    #[test]
    fn a_machine_without_hardware_that_decodes_says_so() {
        let mut sampler = Sampler::begin();
        for _ in 0..2 {
            note_hardware(&mut sampler);
        }
        if codec::hardware().is_empty() {
            assert_eq!(sampler.samples(HARDWARE, &labels([("device", "none")])), 1);
        }
    }
}
