//! What decoding a clip costs, by kind of frame.

use std::path::Path;
use std::time::Duration;

use bitpath_measure::series::labels;
use bitpath_measure::statistics::fit_nonnegative;
use bitpath_measure::{Picos, Unit};
use bitpath_media::FrameKind;
use bitpath_sim::profile::{DecodeCost, FrameCost, NanosPerByte, Side, Sourced};

use super::{CYCLES, FRAME_RATE};
use crate::BenchError;
use crate::sampling::Sampler;
use crate::testbed::{Testbed, unexpected};
use crate::worker::{FrameTime, Order, Report};

/// Longest wait for one pass over a clip.
const PASS_PATIENCE: Duration = Duration::from_secs(120);

/// Frames of one kind that a fit of two terms needs at least.
const ENOUGH_FRAMES: usize = 8;

/// Decodes the clip once on the receiver's processor and returns the time of every frame.
///
/// # Errors
/// Those of the worker; a clip that cannot be decoded.
pub fn pass(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: &Path,
) -> Result<Vec<FrameTime>, BenchError> {
    let order = Order::Decode { clip: clip.to_owned() };
    let (times, beside) =
        sampler.beside(bed, |bed| match bed.ask(Side::Receiver, &order, PASS_PATIENCE)? {
            Report::Decoded(times) => Ok(times),
            report => Err(unexpected(Side::Receiver, &order, &report)),
        })?;
    for (kind, bytes, cycles) in by_kind(&times) {
        let frame = labels([("frame", kind)]);
        sampler.add(CYCLES, &frame, Unit::TscCyclesPerByte, cycles / bytes, &beside);
        let of_kind = times.iter().filter(|time| kind == "all" || time.kind.letter() == kind);
        sampler.add("decode.frames", &frame, Unit::Frames, of_kind.count() as f64, &beside);
    }
    let nanos: f64 = times.iter().map(|time| time.cpu_ns as f64).sum();
    let rate = times.len() as f64 / nanos * 1e9;
    sampler.add(FRAME_RATE, &labels([("frame", "all")]), Unit::FramesPerSecond, rate, &beside);
    Ok(times)
}

/// Compressed bytes [B] and cycles [TSC cycles] of all frames and of those of each type that there is.
pub(super) fn by_kind(times: &[FrameTime]) -> Vec<(&'static str, f64, f64)> {
    let total = |name: &'static str, kind: Option<FrameKind>| {
        let frames = times.iter().filter(|time| kind.is_none_or(|kind| time.kind == kind));
        let (mut bytes, mut cycles) = (0.0, 0.0);
        for frame in frames {
            bytes += f64::from(frame.bytes);
            cycles += frame.tsc_cycles as f64;
        }
        (bytes > 0.0).then_some((name, bytes, cycles))
    };
    let kinds = FrameKind::ALL.into_iter().map(|kind| total(kind.letter(), Some(kind)));
    std::iter::once(total("all", None)).chain(kinds).flatten().collect()
}

/// Fits each kind's cost for a frame and for a byte over several passes.
///
/// # Errors
/// When a kind's times cannot be fitted.
pub fn fit(name: &str, passes: &[Vec<FrameTime>], run: &str) -> Result<DecodeCost, BenchError> {
    let mut frames = Vec::new();
    for kind in FrameKind::ALL {
        let of_kind = |pass: &Vec<FrameTime>| -> Vec<FrameTime> {
            pass.iter().filter(|time| time.kind == kind).copied().collect()
        };
        let rounds: Vec<Vec<FrameTime>> = passes.iter().map(of_kind).collect();
        let Some(first) = rounds.first().filter(|round| !round.is_empty()) else { continue };
        // Too few frames tell no slope: then a byte costs the same in all of them.
        let term = |time: &FrameTime| {
            if first.len() < ENOUGH_FRAMES {
                vec![f64::from(time.bytes)]
            } else {
                vec![1.0, f64::from(time.bytes)]
            }
        };
        let terms: Vec<Vec<f64>> = first.iter().map(term).collect();
        let costs: Vec<Vec<f64>> = rounds
            .iter()
            .map(|round| round.iter().map(|time| time.cpu_ns as f64).collect())
            .collect();
        let fit = fit_nonnegative(&terms, &costs).map_err(|source| BenchError::Fit {
            what: format!("{}-frames of {name}", kind.letter()),
            source,
        })?;
        let (frame, byte) = match fit.coefficients.as_slice() {
            [byte] => (None, *byte),
            [frame, byte, ..] => (Some(*frame), *byte),
            [] => continue,
        };
        let nanos = |value: f64| Picos::from_nanos_f64(value);
        let per_frame = frame.map_or_else(
            || {
                Sourced::assumed(
                    Picos(0),
                    "too few frames of this kind to tell it from the bytes' share",
                )
            },
            |frame| {
                Sourced::measured(
                    nanos(frame.value),
                    Some((nanos(frame.low), nanos(frame.high))),
                    run,
                )
            },
        );
        let interval = (NanosPerByte(byte.low), NanosPerByte(byte.high));
        let per_byte = Sourced::measured(NanosPerByte(byte.value), Some(interval), run);
        frames.push(FrameCost { kind, per_frame, per_byte });
    }
    Ok(DecodeCost { clip: name.into(), frames })
}
