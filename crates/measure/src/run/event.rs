//! Something that happened at one time: a drop, a stall, with the state of what was around it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::{Labels, Unit};

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// When, from the start of the transfer [ns].
    pub at_ns: f64,
    /// What happened: `drop`, `stall`.
    pub name: String,
    /// Where and to whom: cause, flow.
    pub labels: Labels,
    /// The state of the components at that time, each with its unit.
    pub state: BTreeMap<String, (f64, Unit)>,
}
