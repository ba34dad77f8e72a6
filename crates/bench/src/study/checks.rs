//! Predictions held against measurements, quantity by quantity.

use bitpath_measure::run::Check;
use bitpath_measure::statistics::{Method, estimate, median};
use bitpath_measure::{Estimate, Pitfall, Run, Unit};
use bitpath_sim::host::HostScenario;
use bitpath_sim::path::Outcome;
use bitpath_sim::profile::Transport;

use super::jobs::StudyJob;
use super::rounds::job_labels;
use super::uncertainty;
use crate::probe::model::Measured;
use crate::sampling::Sampler;

/// Tolerated error of one quantity of one scenario [ratio].
const TOLERANCE: f64 = 0.15;

/// Load from which an error is taken relative to it [cores]; below, relative to one core.
const LOW_LOAD: f64 = 0.1;

/// Load of a sender that has no time to spare [cores].
const BUSY: f64 = 0.9;

/// The quantities of an outcome that are predicted and measured.
pub(super) fn quantities(job: &StudyJob, outcome: &Outcome) -> Vec<(&'static str, Unit, f64)> {
    let mut found = vec![
        ("throughput", Unit::BitsPerSecond, outcome.throughput()),
        ("receiver load", Unit::Cores, outcome.receiver_load()),
        ("sender load", Unit::Cores, outcome.sender_load()),
    ];
    if job.job.transport == Transport::Udp {
        found.push(("packets lost", Unit::Ratio, outcome.loss()));
    }
    if job.is_film() {
        let frames = outcome.frames.frames().max(1) as f64;
        found.push(("frames on time", Unit::Ratio, outcome.frames.on_time as f64 / frames));
        found.push(("frames late", Unit::Ratio, outcome.frames.late as f64 / frames));
        let gone = outcome.frames.lost + outcome.frames.broken;
        found.push(("frames lost", Unit::Ratio, gone as f64 / frames));
    }
    found
}

/// Predicts every scenario, holds it against what was measured, and keeps the simulated courses.
pub(super) fn hold(
    run: &mut Run,
    sampler: &Sampler,
    scenarios: &[(StudyJob, HostScenario)],
    measured: &Measured,
) {
    measured.doubts.iter().for_each(|doubt| run.doubt(doubt.clone()));
    for (job, scenario) in scenarios {
        let (outcome, predictions) = uncertainty::predict(sampler, job, scenario);
        for (quantity, unit, predicted) in predictions {
            let values = sampler.values(&format!("job.{quantity}"), &job_labels(job));
            let Some(measured) = estimate(&values, Method::MedianBlockBootstrap) else { continue };
            run.checks.push(check(job, quantity, unit, predicted, measured));
        }
        run.timelines.extend(outcome.timelines(&job.job.name, job.job.receive_buffer.0));
        if job.bound && outcome.sender_load() > BUSY && outcome.receiver_load() < BUSY {
            run.doubt(Pitfall::SenderBound { scenario: job.job.name.clone() });
        }
    }
}

fn check(
    job: &StudyJob,
    quantity: &str,
    unit: Unit,
    predicted: Estimate,
    measured: Estimate,
) -> Check {
    let relative = match unit {
        Unit::BitsPerSecond => true,
        Unit::Cores => measured.value >= LOW_LOAD,
        _ => false,
    };
    Check {
        scenario: job.job.name.clone(),
        quantity: quantity.into(),
        unit,
        predicted,
        measured,
        reference: if relative { measured.value } else { 1.0 },
        tolerance: TOLERANCE,
        bound: tells_something(job, unit, predicted.value, measured.value),
    }
}

/// Whether a right prediction is worth anything: not the rate of a job that nothing limits, not a
/// share that is all or nothing on both sides, not the load of a core that is simply busy or idle.
fn tells_something(job: &StudyJob, unit: Unit, predicted: f64, measured: f64) -> bool {
    let plain = |share: f64| !(ALL_OR_NOTHING..=1.0 - ALL_OR_NOTHING).contains(&share);
    match unit {
        Unit::Ratio => !(plain(predicted) && plain(measured)),
        Unit::Cores => predicted.min(measured) < BUSY && predicted.max(measured) >= LOW_LOAD,
        _ => job.bound,
    }
}

/// Share below which, or above whose complement, a share is nothing or all [ratio].
const ALL_OR_NOTHING: f64 = 0.02;

/// Median and largest magnitude of the errors of the checks that something binds [ratio].
pub(super) fn error_summary(run: &Run) -> Option<(f64, f64)> {
    let errors: Vec<f64> =
        run.checks.iter().filter(|check| check.bound).map(|check| check.error().abs()).collect();
    Some((median(&errors)?, errors.iter().copied().fold(0.0, f64::max)))
}
