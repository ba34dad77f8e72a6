//! Where a series has warmed up: the marginal standard error rule (MSER, White 1997).

use super::{median, quantile};

/// Samples to leave out at the front, at most half of them.
///
/// The cut is the one that makes the standard error of the mean of the rest smallest: a cold
/// start raises the variance more than its few samples lower the error. So do single late samples of a
/// steady series: where the samples before the cut are mostly like those behind it, all are kept.
#[must_use]
pub fn steady_from(values: &[f64]) -> usize {
    let cut = least_error(values);
    let (before, behind) = values.split_at(cut);
    let middle = quantile(behind, 0.25).zip(quantile(behind, 0.75));
    let alike = median(before)
        .zip(middle)
        .is_some_and(|(before, (low, high))| (low..=high).contains(&before));
    if alike { 0 } else { cut }
}

fn least_error(values: &[f64]) -> usize {
    let mut best = (0, f64::INFINITY);
    for cut in 0..=values.len() / 2 {
        let rest = &values[cut..];
        let Some(mean) = super::mean(rest) else { break };
        let count = rest.len() as f64;
        let error = rest.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count * count);
        if error < best.1 {
            best = (cut, error);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::steady_from;

    #[test]
    fn a_cold_start_is_cut() {
        let values = [90.0, 40.0, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1];
        assert_eq!(steady_from(&values), 2);
    }

    #[test]
    fn a_late_sample_is_no_cold_start() {
        let values = [10.0, 10.1, 9.9, 90.0, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9];
        assert_eq!(super::least_error(&values), 4);
        assert_eq!(steady_from(&values), 0);
    }

    #[test]
    fn a_steady_series_is_kept_whole() {
        assert_eq!(steady_from(&[5.0; 20]), 0);
        assert_eq!(steady_from(&[]), 0);
    }
}
