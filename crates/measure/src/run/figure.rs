//! Figures drawn from samples, and courses over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::{Labels, Unit};
use crate::statistics::Estimate;

/// One number with its interval, unit and conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Dotted name of the quantity; with its labels the same as its series', where it has one.
    pub name: String,
    /// The conditions.
    pub labels: Labels,
    /// The unit of the estimate.
    pub unit: Unit,
    /// The value and its interval.
    pub estimate: Estimate,
}

/// How one quantity went over time, simulated or measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Dotted name of the quantity, for example `kernel_buffer.used`.
    pub name: String,
    /// The conditions: scenario, engine, ...
    pub labels: Labels,
    /// The unit of the values.
    pub unit: Unit,
    /// Largest value that it could take, where it is bounded: a buffer's size.
    pub limit: Option<f64>,
    /// Time [s] and value of every point.
    pub points: Vec<(f64, f64)>,
}
