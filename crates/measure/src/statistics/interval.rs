//! Student's t intervals of arithmetic and geometric means.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Estimate, Method, mean};

/// Mean of independent `values` with its t interval; `None` without a value.
///
/// A single value has an interval without bounds.
#[must_use]
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Estimate> {
    let centre = mean(values)?;
    let half_width = half_width(values, centre, confidence);
    Some(Estimate {
        value: centre,
        low: centre - half_width,
        high: centre + half_width,
        confidence,
        samples: values.len(),
        method: Method::MeanStudentT,
    })
}

/// Geometric mean of positive `values` with the t interval of their logarithms.
///
/// `None` without a value or with one that is not positive, of which there is no logarithm.
#[must_use]
pub fn geometric_mean_interval(values: &[f64], confidence: f64) -> Option<Estimate> {
    if values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let of_logarithms = mean_interval(&logarithms, confidence)?;
    Some(Estimate { method: Method::GeometricMeanStudentT, ..of_logarithms.mapped(f64::exp) })
}

fn half_width(values: &[f64], centre: f64, confidence: f64) -> f64 {
    if values.len() < 2 {
        return f64::INFINITY;
    }
    let freedom = (values.len() - 1) as f64;
    let variance = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / freedom;
    quantile(freedom, confidence) * (variance / values.len() as f64).sqrt()
}

/// How many standard errors wide half of Student's t interval is.
pub(super) fn quantile(freedom: f64, confidence: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom)
        .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + confidence / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_t_interval() {
        // n = 5, mean 3, s = 1.5811, t(0.975, 4) = 2.7764: half width 1.9632.
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        assert!((interval.high - interval.value - 1.9632).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn the_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        let interval = geometric_mean_interval(&[2.0, 0.5], 0.95).unwrap();
        assert!((interval.value - 1.0).abs() < 1e-12);
        assert!(interval.low < 1.0 && interval.high > 1.0);
        assert_eq!(geometric_mean_interval(&[1.0, 0.0], 0.95), None);
    }
}
