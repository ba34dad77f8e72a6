//! A prediction held against its measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::Unit;
use crate::statistics::Estimate;

/// Whether the error is within the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// It is.
    Pass,
    /// It is not.
    Fail,
}

/// One quantity of one scenario, predicted and measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The scenario.
    pub scenario: String,
    /// The quantity: `throughput`, `receiver load`, `packets dropped`, ...
    pub quantity: String,
    /// Unit of both values.
    pub unit: Unit,
    /// What the simulator said.
    pub predicted: Estimate,
    /// What the machine did.
    pub measured: Estimate,
    /// The value that the difference is taken relative to: the measured one, or for a share of a
    /// whole (load, loss) the whole itself, because a relative error of almost nothing says nothing.
    pub reference: f64,
    /// Tolerated magnitude of the error [ratio].
    pub tolerance: f64,
    /// Whether something other than the sender's own pace binds this quantity.
    pub bound: bool,
}

impl Check {
    /// Predicted less measured, relative to the reference [ratio].
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.predicted.value - self.measured.value) / self.reference
    }

    /// The interval of the error that the measurement's interval leaves open [ratio].
    #[must_use]
    pub fn error_interval(&self) -> (f64, f64) {
        let at = |measured: f64| (self.predicted.value - measured) / self.reference;
        (at(self.measured.high), at(self.measured.low))
    }

    /// Whether the error is within the tolerance.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.error().abs() <= self.tolerance { Verdict::Pass } else { Verdict::Fail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_relative_to_the_reference() {
        let mut check = Check {
            scenario: "raw-udp".into(),
            quantity: "throughput".into(),
            unit: Unit::BitsPerSecond,
            predicted: Estimate::single(110.0),
            measured: Estimate { low: 95.0, high: 105.0, ..Estimate::single(100.0) },
            reference: 100.0,
            tolerance: 0.1,
            bound: true,
        };
        assert!((check.error() - 0.1).abs() < 1e-12);
        assert!((check.error_interval().0 - 0.05).abs() < 1e-12);
        assert_eq!(check.verdict(), Verdict::Pass);
        check.predicted.value = 111.0;
        assert_eq!(check.verdict(), Verdict::Fail);
    }
}
