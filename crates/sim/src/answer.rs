//! What the model answers: what limits a job, and what would relieve it.

pub mod bottleneck;
mod parameter;
pub mod remedy;

pub use parameter::Parameter;

use crate::host::HostScenario;
use crate::path;

/// Useful throughput of a scenario [b/s] and the share of its messages that is lost [ratio].
fn worth(scenario: &HostScenario) -> (f64, f64) {
    let outcome = path::run(scenario);
    (outcome.goodput(), outcome.loss())
}
