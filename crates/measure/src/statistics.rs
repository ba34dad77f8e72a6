//! From samples to estimates with intervals.
//!
//! Neighbouring samples of a shared machine correlate, so the default is a bootstrap over blocks
//! of neighbours; the t interval is for means of independent runs.

mod bootstrap;
mod decision;
mod fit;
mod interval;
mod line;
mod outliers;
mod signed_rank;
mod steady;

pub use bootstrap::{block_length, bootstrap_interval};
pub use decision::{Decision, FALSE_ALARMS, Finding, LOOKS, MISSES, largest_difference};
pub use fit::{Fit, FitError, fit_nonnegative, nonnegative_least_squares};
pub use interval::{geometric_mean_interval, mean_interval};
pub use line::Line;
pub use outliers::outliers;
pub use signed_rank::signed_rank_interval;
pub use steady::steady_from;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an estimate was made from its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Median with a percentile interval from a bootstrap over blocks of neighbouring samples.
    MedianBlockBootstrap,
    /// Mean without the least and the greatest tenth, with an interval from the same bootstrap; for costs that add up over a longer
    /// time than a sample's.
    TrimmedMeanBlockBootstrap,
    /// Mean with Student's t interval; for independent samples.
    MeanStudentT,
    /// Geometric mean with a t interval of the logarithms; for ratios.
    GeometricMeanStudentT,
    /// Hodges and Lehmann's estimate of a ratio from paired ratios, with the interval of the
    /// signed-rank test.
    SignedRank,
    /// A coefficient of a least-squares fit, with an interval from refits of resampled rounds.
    LeastSquares,
    /// The slope of a straight line through points, or a point on it, with its t interval.
    Line,
    /// A result of the simulator, with an interval from replications.
    Simulated,
    /// A single reading or a count: no interval.
    Single,
}

/// Confidence of every interval that is not labelled otherwise.
pub const CONFIDENCE: f64 = 0.95;

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The value, in the unit of what carries it.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Probability that such an interval holds the true value.
    pub confidence: f64,
    /// Number of samples behind it.
    pub samples: usize,
    /// How it was made.
    pub method: Method,
}

impl Estimate {
    /// A value without an interval.
    #[must_use]
    pub fn single(value: f64) -> Self {
        Self { value, low: value, high: value, confidence: 1.0, samples: 1, method: Method::Single }
    }

    /// A simulated value without an interval.
    #[must_use]
    pub fn simulated(value: f64) -> Self {
        Self { method: Method::Simulated, ..Self::single(value) }
    }

    /// Half the width of the interval as a fraction of the value; infinite at value zero.
    #[must_use]
    pub fn relative_half_width(&self) -> f64 {
        if self.value == 0.0 {
            f64::INFINITY
        } else {
            (self.high - self.low) / 2.0 / self.value.abs()
        }
    }

    /// Whether the two intervals share a point.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// This estimate on another scale: a function that rises, of value and both ends.
    #[must_use]
    pub fn mapped(&self, scale: impl Fn(f64) -> f64) -> Self {
        Self { value: scale(self.value), low: scale(self.low), high: scale(self.high), ..*self }
    }

    /// This estimate over another that was made apart; the interval holds every quotient of theirs.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        Self {
            value: self.value / below.value,
            low: self.low / below.high,
            high: self.high / below.low,
            confidence: self.confidence.min(below.confidence),
            samples: self.samples.min(below.samples),
            method: below.method,
        }
    }

    /// This estimate in another unit: every end multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let (a, b) = (self.low * factor, self.high * factor);
        Self { value: self.value * factor, low: a.min(b), high: a.max(b), ..*self }
    }
}

/// The estimate of `values` by `method`; `None` without a value.
///
/// Fitted and simulated figures do not come from one series: for them, and for single readings,
/// the median stands without an interval.
#[must_use]
pub fn estimate(values: &[f64], method: Method) -> Option<Estimate> {
    match method {
        Method::MedianBlockBootstrap => over_blocks(values, method, median),
        Method::TrimmedMeanBlockBootstrap => over_blocks(values, method, trimmed_mean),
        Method::MeanStudentT => mean_interval(values, CONFIDENCE),
        Method::GeometricMeanStudentT => geometric_mean_interval(values, CONFIDENCE),
        Method::SignedRank => signed_rank_interval(values, CONFIDENCE),
        Method::LeastSquares | Method::Line | Method::Simulated | Method::Single => {
            median(values).map(Estimate::single)
        }
    }
}

fn over_blocks(
    values: &[f64],
    method: Method,
    statistic: fn(&[f64]) -> Option<f64>,
) -> Option<Estimate> {
    let of_sample = |sample: &[f64]| statistic(sample).unwrap_or(f64::NAN);
    let found = bootstrap_interval(values, block_length(values), CONFIDENCE, of_sample)?;
    Some(Estimate { method, ..found })
}

/// Arithmetic mean; `None` without a value.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Arithmetic mean of what is left without the least and the greatest tenth; `None` without a value.
///
/// What takes long is the mean of many short costs, not their median, and costs are skewed: slow spells are
/// part of it. Single stalls are not.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of the length")]
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tenth = (sorted.len() as f64 * TRIMMED) as usize;
    mean(&sorted[tenth..sorted.len() - tenth])
}

/// What a trimmed mean leaves out at either end [ratio].
const TRIMMED: f64 = 0.1;

/// Median, the mean of the two middle values when their number is even; `None` without a value.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile by linear interpolation between order statistics (type 7); `None` without a value.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index between 0 and the length"
)]
pub fn quantile(values: &[f64], fraction: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = fraction.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(quantile(&[0.0, 10.0], 0.9), Some(9.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_trimmed_mean_leaves_a_tenth_out_at_either_end() {
        let values = [1e9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -1e9];
        assert_eq!(trimmed_mean(&values), Some(4.5));
        assert_eq!(trimmed_mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(trimmed_mean(&[]), None);
    }

    #[test]
    fn scaling_by_a_negative_factor_keeps_low_below_high() {
        let estimate = Estimate { low: 1.0, high: 3.0, ..Estimate::single(2.0) };
        assert_eq!((estimate.scaled(-1.0).low, estimate.scaled(-1.0).high), (-3.0, -1.0));
    }
}
