//! Outliers by the median absolute deviation, which the outliers themselves cannot move.

use super::median;

/// Modified z-score beyond which a value is an outlier (Iglewicz and Hoaglin 1993, section 3).
const THRESHOLD: f64 = 3.5;

/// Median absolute deviation of a standard normal variable, which scales it to the deviation.
const NORMAL_MAD: f64 = 0.6745;

/// Indices of the values that lie further from the median than a normal sample would.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(centre) = median(values) else { return Vec::new() };
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let Some(spread) = median(&deviations).filter(|spread| *spread > 0.0) else {
        return Vec::new();
    };
    let is_outlier = |deviation: f64| NORMAL_MAD * deviation / spread > THRESHOLD;
    (0..values.len()).filter(|index| is_outlier(deviations[*index])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_run_is_found() {
        assert_eq!(outliers(&[10.0, 10.1, 9.9, 10.05, 25.0, 9.95]), [4]);
    }

    #[test]
    fn equal_values_have_no_outliers() {
        assert_eq!(outliers(&[1.0; 10]), [0usize; 0]);
        assert_eq!(outliers(&[]), [0usize; 0]);
    }
}
