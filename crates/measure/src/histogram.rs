//! Distributions of times over nine orders of magnitude in bounded memory.

use hdrhistogram::Histogram as LogLinear;

/// Significant digits kept: two, so a bucket is at most 1 % wide.
const DIGITS: u8 = 2;

/// Largest value kept apart [ns]: one minute; longer ones count as this.
const MAX_NANOS: u64 = 60_000_000_000;

/// A log-linear histogram of times [ns].
#[derive(Clone, Debug)]
pub struct TimeHistogram(LogLinear<u64>);

impl Default for TimeHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeHistogram {
    /// An empty histogram, from 1 ns to a minute.
    ///
    /// # Panics
    /// Never: the bounds are constants that the histogram accepts.
    #[must_use]
    pub fn new() -> Self {
        Self(LogLinear::new_with_bounds(1, MAX_NANOS, DIGITS).expect("constant bounds are valid"))
    }

    /// Counts one time [ns].
    pub fn record(&mut self, nanos: u64) {
        self.0.saturating_record(nanos.clamp(1, MAX_NANOS));
    }

    /// Times counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time that a fraction of all does not exceed [ns], within 1 %; 0 when empty.
    #[must_use]
    pub fn quantile(&self, fraction: f64) -> u64 {
        self.0.value_at_quantile(fraction)
    }

    /// Bucket upper bound [ns] and count of every bucket that is not empty.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_percent() {
        let mut histogram = TimeHistogram::new();
        (1..=1_000_000).for_each(|nanos| histogram.record(nanos));
        let median = histogram.quantile(0.5) as f64;
        assert!((median / 500_000.0 - 1.0).abs() < 0.01, "{median}");
        assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), 1_000_000);
    }

    #[test]
    fn absurd_times_are_counted_at_the_ends() {
        let mut histogram = TimeHistogram::new();
        histogram.record(0);
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 2);
    }
}
