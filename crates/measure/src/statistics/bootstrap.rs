//! Percentile intervals from a moving-block bootstrap, which keeps neighbours together.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Estimate, Method, quantile};

/// Resamples behind an interval: the 2.5 % tail then rests on 25 of them.
const RESAMPLES: usize = 1000;

/// Seed of the resampling, fixed so that a summary recomputed from its samples is the same.
const SEED: u64 = 0x0b17_9a74;

/// Block length that covers the correlation of neighbours, at least 1 and at most a quarter of
/// the samples.
///
/// An autoregressive process of first order with lag-1 correlation r forgets over about
/// (1 + r) / (1 - r) samples.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the number of samples"
)]
pub fn block_length(values: &[f64]) -> usize {
    let correlation = lag_one_correlation(values).clamp(0.0, 0.95);
    let length = ((1.0 + correlation) / (1.0 - correlation)).ceil() as usize;
    length.clamp(1, (values.len() / 4).max(1))
}

fn lag_one_correlation(values: &[f64]) -> f64 {
    let Some(mean) = super::mean(values) else { return 0.0 };
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let covariance: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if variance > 0.0 { covariance / variance } else { 0.0 }
}

/// The statistic of `values` with a percentile interval over resamples of whole blocks.
///
/// `None` without a value. With one value the interval is that value: it says nothing, and the
/// number of samples in the estimate shows it.
#[must_use]
pub fn bootstrap_interval(
    values: &[f64],
    block: usize,
    confidence: f64,
    statistic: impl Fn(&[f64]) -> f64,
) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let block = block.clamp(1, values.len());
    let mut resample = Vec::with_capacity(values.len() + block);
    let mut statistics = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        resample.clear();
        while resample.len() < values.len() {
            let start = random.random_range(0..=values.len() - block);
            resample.extend_from_slice(&values[start..start + block]);
        }
        resample.truncate(values.len());
        statistics.push(statistic(&resample));
    }
    let tail = (1.0 - confidence) / 2.0;
    Some(Estimate {
        value: statistic(values),
        low: quantile(&statistics, tail)?,
        high: quantile(&statistics, 1.0 - tail)?,
        confidence,
        samples: values.len(),
        method: Method::MedianBlockBootstrap,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::median;
    use proptest::prelude::*;

    fn median_interval(values: &[f64]) -> Estimate {
        bootstrap_interval(values, block_length(values), 0.95, |sample| median(sample).unwrap())
            .unwrap()
    }

    #[test]
    fn correlated_neighbours_get_longer_blocks() {
        let slow: Vec<f64> = (0..100).map(|i| f64::from(i / 10)).collect();
        let quick: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!(block_length(&slow) > 10);
        assert_eq!(block_length(&quick), 1);
    }

    #[test]
    fn intervals_cover_the_true_median_about_as_often_as_they_say() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let covered = (0..300)
            .filter(|_| {
                let values: Vec<f64> = (0..40).map(|_| random.random::<f64>()).collect();
                let interval = median_interval(&values);
                interval.low <= 0.5 && 0.5 <= interval.high
            })
            .count();
        assert!((265..=300).contains(&covered), "{covered} of 300");
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median_and_lies_in_the_range(values in prop::collection::vec(0.0..1e9f64, 1..60)) {
            let interval = median_interval(&values);
            let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, m), v| (l.min(*v), m.max(*v)));
            prop_assert!(least <= interval.low && interval.high <= most);
            prop_assert!(interval.low <= interval.high);
        }
    }
}
