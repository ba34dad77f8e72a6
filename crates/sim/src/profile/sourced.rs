//! A value with where it comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, its interval where it was measured, and its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value that the model uses.
    pub value: T,
    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<T>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<T>,
    /// What kind of knowledge it is.
    pub source: Source,
    /// The run, the paper and table, or the reason.
    pub from: String,
}

/// What a value rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Measured on the host itself.
    Measured,
    /// Printed in a paper or a data sheet.
    Published,
    /// Assumed for want of better.
    Assumed,
}

impl<T> Sourced<T> {
    /// A value that is assumed, and why.
    #[must_use]
    pub fn assumed(value: T, why: &str) -> Self {
        Self { value, low: None, high: None, source: Source::Assumed, from: why.into() }
    }

    /// A measured value with its interval, and the run that measured it.
    #[must_use]
    pub fn measured(value: T, interval: Option<(T, T)>, run: &str) -> Self {
        let (low, high) = interval.map_or((None, None), |(low, high)| (Some(low), Some(high)));
        Self { value, low, high, source: Source::Measured, from: run.into() }
    }
}
