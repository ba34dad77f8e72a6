//! The ratio of two alternatives from paired ratios: Hodges and Lehmann's estimate (1963) with the
//! interval of Wilcoxon's signed-rank test.
//!
//! Where chance orders the two within each pair, the sign of each logarithm is a fair coin when they
//! are equal, and the coins are independent: whatever the noise does, however long it lasts, the
//! test keeps its error rate. A t test needs independent samples for that.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Estimate, Method};

/// The ratio with its interval; `None` for ratios of which one is not positive, and where there are
/// too few for an interval of this confidence.
#[must_use]
pub fn signed_rank_interval(ratios: &[f64], confidence: f64) -> Option<Estimate> {
    if ratios.iter().any(|ratio| !(ratio.is_finite() && *ratio > 0.0)) {
        return None;
    }
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let mut means = walsh_averages(&logarithms);
    let rank = lowest_rank(ratios.len(), confidence)?;
    let last = means.len().checked_sub(1)?;
    let mut ranked = |rank: usize| means.select_nth_unstable_by(rank, f64::total_cmp).1.exp();
    let (low, high) = (ranked(rank), ranked(last - rank));
    let middle = (ranked(last / 2) * ranked(last - last / 2)).sqrt();
    Some(Estimate {
        value: middle,
        low,
        high,
        confidence,
        samples: ratios.len(),
        method: Method::SignedRank,
    })
}

/// Means of all pairs, each value with itself included.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let of = |index: usize| values[index..].iter().map(move |other| (values[index] + other) / 2.0);
    (0..values.len()).flat_map(of).collect()
}

/// Place, from 0, of the interval's lower end among the sorted means (Hollander and Wolfe,
/// Nonparametric Statistical Methods, section 3.3), by the normal approximation of the statistic,
/// whose tails are heavier than its own.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank of at least 1, below the number of means"
)]
fn lowest_rank(samples: usize, confidence: f64) -> Option<usize> {
    let count = samples as f64;
    let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
    let quantile = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
    let rank = count * (count + 1.0) / 4.0 - quantile * deviation;
    (rank >= 1.0).then(|| rank as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_hollander_and_wolfe() {
        // Depression scale of nine patients, differences (their table 3.1): estimate -0.46. Their
        // exact interval of 96.1 % is -0.786 to -0.010, the sixth mean from each end; the
        // approximation takes the fifth.
        let differences: [f64; 9] =
            [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010];
        let found = signed_rank_interval(&differences.map(f64::exp), 0.961).unwrap();
        let expected = [(found.value, -0.460), (found.low, -0.8060), (found.high, 0.0350)];
        assert!(
            expected.iter().all(|(found, value)| (found.ln() - value).abs() < 1e-9),
            "{found:?}"
        );
    }

    #[test]
    fn too_few_pairs_have_no_interval() {
        assert_eq!(signed_rank_interval(&[1.0; 4], 0.95), None);
        assert_eq!(signed_rank_interval(&[], 0.95), None);
        assert_eq!(signed_rank_interval(&[1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0.95), None);
    }

    proptest! {
        #[test]
        fn the_inverse_ratios_have_the_inverse_interval(values in prop::collection::vec(0.1..10.0f64, 8..60)) {
            let inverse: Vec<f64> = values.iter().map(|value| 1.0 / value).collect();
            let (there, back) = (signed_rank_interval(&values, 0.95).unwrap(), signed_rank_interval(&inverse, 0.95).unwrap());
            prop_assert!(there.low <= there.value && there.value <= there.high);
            prop_assert!((there.value * back.value - 1.0).abs() < 1e-9);
            prop_assert!((there.low * back.high - 1.0).abs() < 1e-9);
        }
    }
}
