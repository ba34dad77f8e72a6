//! What decoding a clip costs, by kind of frame.

use std::path::Path;
use std::time::Duration;

use bitpath_measure::series::labels;
use bitpath_measure::statistics::{FitError, Method, estimate, fit_nonnegative, trimmed_mean};
use bitpath_measure::{Estimate, Picos, Unit};
use bitpath_media::FrameKind;
use bitpath_sim::profile::{DecodeCost, FrameCost, Side, Sourced};

use super::{CYCLES, FRAME_RATE};
use crate::BenchError;
use crate::probe::profile::{measured_per_byte, measured_time};
use crate::sampling::Sampler;
use crate::testbed::{Testbed, unexpected};
use crate::worker::{FrameTime, Order, Report};

/// Longest wait for one pass over a clip.
const PASS_PATIENCE: Duration = Duration::from_secs(120);

/// Frames of one kind that a fit of two terms needs at least.
const ENOUGH_FRAMES: usize = 8;

/// Sleep before a frame [ns]: that of a player whose host is busy half of the time.
const REST_NS: u64 = 2_000_000;

/// Two passes over a clip, one after the other.
#[derive(Clone, Debug)]
pub struct Passes {
    /// Without a pause.
    plain: Vec<FrameTime>,
    /// With a sleep before every frame: what is in the caches is then older.
    rested: Vec<FrameTime>,
}

/// Decodes the clip twice on the receiver's processor, the second time as a player would that waits for frames.
///
/// # Errors
/// Those of the worker; a clip that cannot be decoded.
pub fn passes(bed: &mut Testbed, sampler: &mut Sampler, clip: &Path) -> Result<Passes, BenchError> {
    let (plain, beside) = sampler.beside(bed, |bed| pass(bed, clip, 0))?;
    for (kind, bytes, cycles) in by_kind(&plain) {
        let frame = labels([("frame", kind)]);
        sampler.add(CYCLES, &frame, Unit::TscCyclesPerByte, cycles / bytes, &beside);
        let of_kind = plain.iter().filter(|time| kind == "all" || time.kind.letter() == kind);
        sampler.add("decode.frames", &frame, Unit::Frames, of_kind.count() as f64, &beside);
    }
    let rate = 1e9 / mean_ns(&plain);
    sampler.add(FRAME_RATE, &labels([("frame", "all")]), Unit::FramesPerSecond, rate, &beside);
    let rested = pass(bed, clip, REST_NS)?;
    Ok(Passes { plain, rested })
}

fn pass(bed: &mut Testbed, clip: &Path, rest_ns: u64) -> Result<Vec<FrameTime>, BenchError> {
    let order = Order::Decode { clip: clip.to_owned(), rest_ns };
    match bed.ask(Side::Receiver, &order, PASS_PATIENCE)? {
        Report::Decoded(times) => Ok(times),
        report => Err(unexpected(Side::Receiver, &order, &report)),
    }
}

/// Mean processor time of a frame [ns].
fn mean_ns(times: &[FrameTime]) -> f64 {
    times.iter().map(|time| time.cpu_ns as f64).sum::<f64>() / times.len() as f64
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

/// Fits each kind's cost for a frame and for a byte over several passes, and what a frame behind a sleep costs more.
///
/// # Errors
/// When a kind's times cannot be fitted.
pub fn fit(name: &str, passes: &[Passes], run: &str) -> Result<DecodeCost, BenchError> {
    let mut frames = Vec::new();
    for kind in FrameKind::ALL {
        let of_kind = |pass: &Passes| -> Vec<FrameTime> {
            pass.plain.iter().filter(|time| time.kind == kind).copied().collect()
        };
        let rounds: Vec<Vec<FrameTime>> = passes.iter().map(of_kind).collect();
        if rounds.first().is_some_and(|round| !round.is_empty()) {
            let term = line(&rounds).map_err(|source| BenchError::Fit {
                what: format!("{}-frames of {name}", kind.letter()),
                source,
            })?;
            frames.push(frame_cost(kind, term, run));
        }
    }
    Ok(DecodeCost { clip: name.into(), after_sleep: after_sleep(passes, run), frames })
}

fn after_sleep(passes: &[Passes], run: &str) -> Sourced<Picos> {
    let more: Vec<f64> =
        passes.iter().map(|pass| mean_ns(&pass.rested) - mean_ns(&pass.plain)).collect();
    estimate(&more, Method::TrimmedMeanBlockBootstrap).map_or_else(DecodeCost::no_rest, |found| {
        measured_time(found.mapped(|nanos| nanos.max(0.0)), run)
    })
}

/// What a frame of one kind costs.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Whatever its size [ns]; `None` where there are too few frames to tell it from the bytes' share.
    frame: Option<Estimate>,
    /// For each byte [ns/B].
    byte: Estimate,
}

/// The line through one kind's frames, raised until they cost together what they cost.
///
/// Frames of one size scatter by a third, and a fit by relative residuals lies below their mean by
/// about the square of that.
fn line(rounds: &[Vec<FrameTime>]) -> Result<Line, FitError> {
    let first = rounds.first().map_or(&[][..], Vec::as_slice);
    let steep_only = first.len() < ENOUGH_FRAMES;
    let term = |time: &FrameTime| match f64::from(time.bytes) {
        bytes if steep_only => vec![bytes],
        bytes => vec![1.0, bytes],
    };
    let terms: Vec<Vec<f64>> = first.iter().map(term).collect();
    let costs: Vec<Vec<f64>> =
        rounds.iter().map(|round| round.iter().map(|time| time.cpu_ns as f64).collect()).collect();
    let found = fit_nonnegative(&terms, &costs)?.coefficients;
    let fitted: f64 =
        terms.iter().flat_map(|row| row.iter().zip(&found).map(|(term, of)| term * of.value)).sum();
    let sums: Vec<f64> = costs.iter().map(|round| round.iter().sum()).collect();
    let raise = trimmed_mean(&sums).map_or(1.0, |sum| sum / fitted);
    let mut raised = found.iter().rev().map(|of| of.scaled(raise));
    let byte = raised.next().unwrap_or_else(|| Estimate::single(0.0));
    Ok(Line { frame: raised.next(), byte })
}

fn frame_cost(kind: FrameKind, line: Line, run: &str) -> FrameCost {
    let unknown = "too few frames of this kind to tell it from the bytes' share";
    let per_frame = line
        .frame
        .map_or_else(|| Sourced::assumed(Picos(0), unknown), |found| measured_time(found, run));
    let per_byte = measured_per_byte(line.byte, run);
    FrameCost { kind, per_frame, per_byte }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 1000 to 60 000 B, whose costs lie a third above and below a line by turns.
    fn scattered(frames: u32) -> Vec<FrameTime> {
        let frame = |number: u32| {
            let bytes = 1000 * (1 + number / 2 % 60);
            let percent = if number.is_multiple_of(2) { 133 } else { 67 };
            let cpu_ns = u64::from((300_000 + 40 * bytes) / 100 * percent);
            FrameTime { kind: FrameKind::P, bytes, cpu_ns, tsc_cycles: 2 * cpu_ns }
        };
        (0..frames).map(frame).collect()
    }

    /// Frames of the second pass cost 50 us more.
    fn passes(frames: &[FrameTime]) -> Passes {
        let rested = |frame: &FrameTime| FrameTime { cpu_ns: frame.cpu_ns + 50_000, ..*frame };
        Passes { plain: frames.to_vec(), rested: frames.iter().map(rested).collect() }
    }

    #[test]
    fn frames_that_scatter_cost_together_what_they_cost() {
        for count in [5, 240] {
            let frames = scattered(count);
            let measured: u64 = frames.iter().map(|frame| frame.cpu_ns).sum();
            let cost = fit("clip", &[passes(&frames), passes(&frames)], "run").unwrap();
            let fitted: f64 =
                frames.iter().map(|of| cost.of(of.kind, of.bytes).as_nanos_f64()).sum();
            assert!((fitted / measured as f64 - 1.0).abs() < 1e-4, "{fitted} of {measured}");
            let more = cost.after_sleep.value.as_nanos_f64();
            assert!((more - 50_000.0).abs() < 1.0, "{more} ns behind a sleep");
        }
    }
}
