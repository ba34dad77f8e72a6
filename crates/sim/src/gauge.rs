//! A quantity over time: its mean and its peak in every interval (sysSIM section 3.4, table 5).

use bitpath_measure::Picos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most intervals kept; a longer run keeps its first ones.
const MAX_INTERVALS: usize = 100_000;

/// The course of one quantity, an interval a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Course {
    /// Time-weighted mean in each interval.
    pub mean: Vec<f64>,
    /// Largest value in each interval.
    pub peak: Vec<u64>,
}

/// The values of a course, each at the beginning of its interval [s].
pub(crate) fn points(values: impl Iterator<Item = f64>, interval: Picos) -> Vec<(f64, f64)> {
    let seconds = interval.as_secs_f64();
    values.enumerate().map(|(index, value)| (index as f64 * seconds, value)).collect()
}

/// A level that changes at known times.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    interval: u64,
    /// End of the interval under way.
    end: u64,
    level: u64,
    since: u64,
    /// Level x time in the current interval.
    area: u128,
    peak: u64,
    course: Course,
}

impl Gauge {
    pub(crate) fn new(interval: u64) -> Self {
        Self {
            interval: interval.max(1),
            end: interval.max(1),
            level: 0,
            since: 0,
            area: 0,
            peak: 0,
            course: Course::default(),
        }
    }

    /// The level is `level` from `now` on.
    #[inline]
    pub(crate) fn set(&mut self, now: u64, level: u64) {
        self.advance(now);
        self.level = level;
        self.peak = self.peak.max(level);
    }

    pub(crate) fn level(&self) -> u64 {
        self.level
    }

    #[inline]
    fn advance(&mut self, now: u64) {
        while now >= self.end {
            if self.course.mean.len() == MAX_INTERVALS {
                // Nothing is kept any more: no need to pass through what is left one by one.
                self.end = u64::MAX;
                break;
            }
            self.add_until(self.end);
            self.end = self.end.saturating_add(self.interval);
            self.course.mean.push(self.area as f64 / self.interval as f64);
            self.course.peak.push(self.peak);
            (self.area, self.peak) = (0, self.level);
        }
        self.add_until(now);
    }

    #[inline]
    fn add_until(&mut self, time: u64) {
        self.area += u128::from(self.level) * u128::from(time.saturating_sub(self.since));
        self.since = self.since.max(time);
    }

    /// The course until `now`; an interval that is not over is left out.
    pub(crate) fn finish(mut self, now: u64) -> Course {
        self.advance(now);
        self.course
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_weighted_by_time() {
        let mut gauge = Gauge::new(10);
        gauge.set(5, 8);
        gauge.set(12, 2);
        let course = gauge.finish(30);
        assert_eq!(course.mean, [4.0, 3.2, 2.0]);
        assert_eq!(course.peak, [8, 8, 2]);
    }
}
