//! Least squares of a cost over a few known terms, with coefficients that cannot be negative.
//!
//! ```text
//! cost of one call [ns] = per call x 1 + per packet x packets + per byte x bytes
//! ```
//!
//! Relative residuals are minimised: a call of 400 ns and one of 40 000 ns count alike.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{CONFIDENCE, Estimate, Method, median, quantile, trimmed_mean};

/// Coefficients of the terms, each with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// One estimate a term, in cost per unit of the term.
    pub coefficients: Vec<Estimate>,
    /// Median of the relative residuals' magnitudes [ratio].
    pub median_residual: f64,
}

/// Why there is no fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// Fewer rows than terms.
    #[error("{rows} rows cannot fix {terms} coefficients")]
    TooFewRows {
        /// Rows given.
        rows: usize,
        /// Coefficients wanted.
        terms: usize,
    },
    /// A cost that is not positive, or not finite.
    #[error("the cost in row {row} is not a positive number")]
    Cost {
        /// Its index, from 0.
        row: usize,
    },
}

/// Fits the trimmed mean of each row's cost over `rounds`, each with one cost a row of `terms`; the
/// intervals are percentiles over refits of resampled rounds.
///
/// A round is one pass over all rows in one short time: resampling whole rounds keeps a slow
/// spell of the machine together.
///
/// # Errors
/// With fewer rows than terms, or a cost that is not a positive number.
pub fn fit_nonnegative(terms: &[Vec<f64>], rounds: &[Vec<f64>]) -> Result<Fit, FitError> {
    let width = terms.first().map_or(0, Vec::len);
    if terms.len() < width || width == 0 || rounds.is_empty() {
        return Err(FitError::TooFewRows { rows: terms.len(), terms: width });
    }
    for costs in rounds {
        if let Some(row) = costs.iter().position(|cost| !(*cost > 0.0 && cost.is_finite())) {
            return Err(FitError::Cost { row });
        }
    }
    let all: Vec<usize> = (0..rounds.len()).collect();
    let typical = means(rounds, &all);
    let values = solve_nonnegative(terms, &typical);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let refits: Vec<Vec<f64>> = (0..REFITS)
        .map(|_| {
            let drawn: Vec<usize> =
                all.iter().map(|_| random.random_range(0..rounds.len())).collect();
            solve_nonnegative(terms, &means(rounds, &drawn))
        })
        .collect();
    let coefficients =
        (0..width).map(|term| with_interval(values[term], &refits, term, rounds.len())).collect();
    let residuals: Vec<f64> = terms
        .iter()
        .zip(&typical)
        .map(|(row, cost)| (dot(row, &values) / cost - 1.0).abs())
        .collect();
    Ok(Fit { coefficients, median_residual: median(&residuals).unwrap_or(0.0) })
}

/// Refits behind an interval: its 2.5 % tails then rest on five of them each.
const REFITS: usize = 200;

/// Seed of the resampling, fixed so that a fit recomputed from its samples is the same.
const SEED: u64 = 0x0b17_9a74;

/// The trimmed mean of each row's cost over the chosen rounds.
fn means(rounds: &[Vec<f64>], chosen: &[usize]) -> Vec<f64> {
    let rows = rounds.first().map_or(0, Vec::len);
    let of_row =
        |row: usize| -> Vec<f64> { chosen.iter().map(|round| rounds[*round][row]).collect() };
    (0..rows).map(|row| trimmed_mean(&of_row(row)).unwrap_or(f64::NAN)).collect()
}

fn with_interval(value: f64, refits: &[Vec<f64>], term: usize, rounds: usize) -> Estimate {
    let values: Vec<f64> = refits.iter().map(|coefficients| coefficients[term]).collect();
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Estimate {
        value,
        low: quantile(&values, tail).unwrap_or(value).min(value),
        high: quantile(&values, 1.0 - tail).unwrap_or(value).max(value),
        confidence: CONFIDENCE,
        samples: rounds,
        method: Method::LeastSquares,
    }
}

/// Least squares by relative error: every cost counts as one.
fn solve_nonnegative(terms: &[Vec<f64>], costs: &[f64]) -> Vec<f64> {
    let relative = |(row, cost): (&Vec<f64>, &f64)| row.iter().map(|term| term / cost).collect();
    let rows: Vec<Vec<f64>> = terms.iter().zip(costs).map(relative).collect();
    nonnegative_least_squares(&rows, &vec![1.0; rows.len()])
}

/// Coefficients, none negative, whose products with `rows` are nearest to `values` in squares.
///
/// The best of the least-squares solutions over every subset of terms that has no negative
/// coefficient: with a handful of terms this is the exact optimum.
#[must_use]
pub fn nonnegative_least_squares(rows: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let mut best = (vec![0.0; width], f64::INFINITY);
    for subset in 1_u32..1 << width {
        let chosen: Vec<usize> = (0..width).filter(|term| subset >> term & 1 == 1).collect();
        let Some(solution) = solve(rows, values, &chosen) else { continue };
        if solution.iter().any(|coefficient| *coefficient < 0.0) {
            continue;
        }
        let mut coefficients = vec![0.0; width];
        chosen.iter().zip(&solution).for_each(|(term, value)| coefficients[*term] = *value);
        let miss = |(row, value): (&Vec<f64>, &f64)| (value - dot(row, &coefficients)).powi(2);
        let error = rows.iter().zip(values).map(miss).sum();
        if error < best.1 {
            best = (coefficients, error);
        }
    }
    best.0
}

/// Least squares of `rows` x coefficients = `values` over the chosen terms, by Gaussian elimination of
/// the normal equations; `None` where they are singular.
fn solve(rows: &[Vec<f64>], values: &[f64], chosen: &[usize]) -> Option<Vec<f64>> {
    let size = chosen.len();
    let product = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let mut matrix: Vec<Vec<f64>> =
        chosen.iter().map(|a| chosen.iter().map(|b| product(*a, *b)).collect()).collect();
    for (row, term) in matrix.iter_mut().zip(chosen) {
        row.push(rows.iter().zip(values).map(|(row, value)| row[*term] * value).sum());
    }
    for pivot in 0..size {
        let largest = (pivot..size)
            .max_by(|a, b| matrix[*a][pivot].abs().total_cmp(&matrix[*b][pivot].abs()))?;
        matrix.swap(pivot, largest);
        if matrix[pivot][pivot].abs() < f64::MIN_POSITIVE {
            return None;
        }
        let pivot_row = matrix[pivot].clone();
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = matrix[row][pivot] / pivot_row[pivot];
            matrix[row]
                .iter_mut()
                .zip(&pivot_row)
                .for_each(|(value, above)| *value -= factor * above);
        }
    }
    Some((0..size).map(|row| matrix[row][size] / matrix[row][row]).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of (call, packets, bytes) for a few message sizes.
    fn rows() -> Vec<Vec<f64>> {
        [1.0, 64.0, 512.0, 1472.0, 4096.0, 16384.0, 65507.0]
            .map(|bytes: f64| vec![1.0, (bytes / 1480.0).ceil(), bytes])
            .to_vec()
    }

    fn costs(per_call: f64, per_packet: f64, per_byte: f64) -> Vec<f64> {
        rows()
            .iter()
            .map(|row| per_call * row[0] + per_packet * row[1] + per_byte * row[2])
            .collect()
    }

    #[test]
    fn known_coefficients_are_found() {
        let fit = fit_nonnegative(&rows(), &[costs(1400.0, 1600.0, 0.05)]).unwrap();
        for (found, known) in fit.coefficients.iter().zip([1400.0, 1600.0, 0.05]) {
            assert!((found.value / known - 1.0).abs() < 0.02, "{found:?} is not {known}");
        }
        assert!(fit.median_residual < 1e-3);
    }

    #[test]
    fn a_term_that_costs_nothing_is_zero_and_not_negative() {
        let fit = fit_nonnegative(&rows(), &[costs(500.0, 0.0, 0.1)]).unwrap();
        assert!(fit.coefficients.iter().all(|c| c.low >= 0.0));
        assert!(fit.coefficients[1].value < 5.0, "{fit:?}");
    }

    #[test]
    fn too_few_rows_and_bad_costs_are_named() {
        let terms = vec![vec![1.0, 2.0]];
        assert_eq!(
            fit_nonnegative(&terms, &[vec![1.0]]),
            Err(FitError::TooFewRows { rows: 1, terms: 2 })
        );
        let terms = vec![vec![1.0], vec![1.0]];
        assert_eq!(fit_nonnegative(&terms, &[vec![1.0, f64::NAN]]), Err(FitError::Cost { row: 1 }));
    }
}
