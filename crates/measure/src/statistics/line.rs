//! A straight line through points, with Student's t intervals of its slope and of what it predicts
//! (Draper and Smith, *Applied Regression Analysis*, chapter 1).

use super::interval::quantile;
use super::{CONFIDENCE, Estimate, Method, mean};

/// y = mean of y + slope (x - mean of x).
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    points: usize,
    mean_x: f64,
    mean_y: f64,
    slope: f64,
    /// Sum of the squared distances of x from its mean.
    spread: f64,
    /// Standard deviation of the points from the line [unit of y].
    deviation: f64,
    /// Quantile of Student's t for the interval.
    quantile: f64,
}

impl Line {
    /// The line of least squares through points (x, y); none through fewer than three, or where all
    /// have the same x.
    #[must_use]
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let (mean_x, mean_y) = (mean(&xs)?, mean(&ys)?);
        let spread: f64 = xs.iter().map(|x| (x - mean_x).powi(2)).sum();
        if points.len() < 3 || spread <= 0.0 {
            return None;
        }
        let common: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = common / spread;
        let squares: f64 =
            points.iter().map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
        let freedom = (points.len() - 2) as f64;
        Some(Self {
            points: points.len(),
            mean_x,
            mean_y,
            slope,
            spread,
            deviation: (squares / freedom).sqrt(),
            quantile: quantile(freedom, CONFIDENCE),
        })
    }

    /// The slope [unit of y by unit of x].
    #[must_use]
    pub fn slope(&self) -> Estimate {
        self.estimate(self.slope, self.deviation / self.spread.sqrt())
    }

    /// What one more point at `x` would be [unit of y].
    #[must_use]
    pub fn at(&self, x: f64) -> Estimate {
        let far = (x - self.mean_x).powi(2) / self.spread;
        let error = self.deviation * (1.0 + 1.0 / self.points as f64 + far).sqrt();
        self.estimate(self.mean_y + self.slope * (x - self.mean_x), error)
    }

    fn estimate(&self, value: f64, error: f64) -> Estimate {
        let half_width = self.quantile * error;
        Estimate {
            value,
            low: value - half_width,
            high: value + half_width,
            confidence: CONFIDENCE,
            samples: self.points,
            method: Method::Line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_regression() {
        // x 1 to 5, y 2, 4, 5, 4, 5: slope 0.6, s^2 = 0.8, t(0.975, 3) = 3.1824, Sxx = 10.
        let line =
            Line::through(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)]).unwrap();
        let slope = line.slope();
        assert!((slope.value - 0.6).abs() < 1e-12);
        assert!((slope.high - 0.6 - 3.1824 * (0.08_f64).sqrt()).abs() < 1e-3, "{slope:?}");
        // At 6 the error is sqrt(0.8 (1 + 1/5 + 9/10)).
        let next = line.at(6.0);
        assert!((next.value - 5.8).abs() < 1e-12);
        assert!((next.high - next.value - 3.1824 * 1.68_f64.sqrt()).abs() < 1e-3, "{next:?}");
    }

    #[test]
    fn two_points_and_points_above_each_other_have_no_line() {
        assert_eq!(Line::through(&[(1.0, 2.0), (2.0, 3.0)]), None);
        assert_eq!(Line::through(&[(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)]), None);
    }
}
