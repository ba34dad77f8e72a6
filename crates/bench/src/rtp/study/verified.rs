//! Every input received, and what was played held against what was sent.

use std::fs;
use std::ops::Range;

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Unit};
use serde_json::Value;

use super::cases::{Files, shown, words};
use super::program::Program;
use crate::BenchError;
use crate::rtp::suite::verification::verify;
use crate::rtp::suite::{FIRST_NUMBER, UNIT_BYTES};
use crate::sitting::Sitting;

/// Rings of the receiver: one that plays what is in the way, and the paper's that overwrites it.
const RINGS: [&str; 2] = ["keep", "overwrite"];

/// What is kept of a run beside the units that are not known or lost [packets].
const COUNTS: [&str; 4] = ["late", "duplicates", "overwritten", "early"];

/// Receives every input on both rings.
pub(super) fn verify_all(
    program: &Program,
    files: &Files,
    sitting: &mut Sitting<'_>,
) -> Result<(), BenchError> {
    let sent = fs::read(&files.audio).map_err(|error| BenchError::Suite {
        benchmark: shown(&files.audio),
        reason: error.to_string(),
    })?;
    let all = files.inputs.len() * RINGS.len();
    for (done, (input, path)) in files.inputs.iter().enumerate() {
        for (ring, name) in RINGS.into_iter().enumerate() {
            let (path, played) = (shown(path), shown(&files.played));
            let mut arguments = words(&["receive", "--input", &path, "--output", &played]);
            if name == "overwrite" {
                arguments.push("--overwrite".into());
            }
            let received = received(program, &arguments, files, &sent)?;
            if input.lossless && name == "keep" && received.units != received.sent {
                let reason = format!("{} of {} units were played", received.units, received.sent);
                return Err(BenchError::Suite { benchmark: arguments.join(" "), reason });
            }
            received.keep(input.name, name, sitting);
            sitting.steps.tell((done * RINGS.len() + ring + 1) as f64 / all as f64)?;
        }
    }
    Ok(())
}

/// A verified run.
struct Received {
    sent: u64,
    units: u64,
    counts: [f64; COUNTS.len()],
}

/// Runs the receiver and checks what it played.
fn received(
    program: &Program,
    arguments: &[String],
    files: &Files,
    sent: &[u8],
) -> Result<Received, BenchError> {
    let failed = |reason: String| BenchError::Suite { benchmark: arguments.join(" "), reason };
    let lines = program.lines(arguments)?;
    let line = lines.last().ok_or_else(|| failed("it said nothing".into()))?;
    let (heard_of, lost) =
        units(line).ok_or_else(|| failed(format!("it does not say which units: {line}")))?;
    let played = fs::read(&files.played).map_err(|error| failed(error.to_string()))?;
    verify(sent, &played, heard_of.clone(), &lost).map_err(|why| failed(why.to_string()))?;
    Ok(Received {
        sent: sent.len().div_ceil(UNIT_BYTES) as u64,
        units: heard_of.end - heard_of.start - lost.len() as u64,
        counts: COUNTS.map(|count| line[count].as_f64().unwrap_or(0.0)),
    })
}

/// The units that the receiver knows of, and those that it lost, by their places from 0.
fn units(line: &Value) -> Option<(Range<u64>, Vec<u64>)> {
    let place = |number: &Value| number.as_u64()?.checked_sub(FIRST_NUMBER);
    let heard_of = place(&line["first"])?..place(&line["behind_last"])?;
    let lost = line["lost"].as_array()?.iter().map(place).collect::<Option<Vec<u64>>>()?;
    (lost.len() as u64 <= heard_of.end.checked_sub(heard_of.start)?).then_some((heard_of, lost))
}

impl Received {
    fn keep(&self, input: &str, ring: &str, sitting: &mut Sitting<'_>) {
        let lost = (self.sent - self.units) as f64;
        let counts = COUNTS.into_iter().zip(self.counts);
        for (name, value) in [("sent", self.sent as f64), ("lost", lost)].into_iter().chain(counts)
        {
            sitting.run.figures.push(Figure {
                name: format!("rtp.units.{name}"),
                labels: labels([("input", input), ("ring", ring)]),
                unit: Unit::Packets,
                estimate: Estimate::single(value),
            });
        }
    }
}
