//! Growth: a straight line through the logarithms of the figures.
//!
//! ```text
//! log2 value = log2 value at year 0 + year x log2(1 + growth)
//! ```

use bitpath_measure::Estimate;
use bitpath_measure::statistics::Line;

use super::Series;

/// How a series grows, by all its figures of some years.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    line: Line,
    /// First and last year of the figures.
    pub years: (f64, f64),
}

impl Growth {
    /// Of the figures from one year to another; none where fewer than three are of these years.
    #[must_use]
    pub fn of(series: &Series, from: f64, to: f64) -> Option<Self> {
        let of_these = series.points.iter().filter(|point| (from..=to).contains(&point.year));
        Self::through(of_these.map(|point| (point.year, point.value)))
    }

    /// Of these years and values, the earliest first.
    pub(super) fn through(points: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let points: Vec<_> = points.map(|(year, value)| (year, libm::log2(value))).collect();
        let years = (points.first()?.0, points.last()?.0);
        Some(Self { line: Line::through(&points)?, years })
    }

    /// Growth a year [ratio]: 0.2 is a fifth more each year.
    #[must_use]
    pub fn a_year(&self) -> Estimate {
        self.line.slope().mapped(|slope| libm::exp2(slope) - 1.0)
    }

    /// What one more figure of a year would be [unit of the series].
    #[must_use]
    pub fn at(&self, year: f64) -> Estimate {
        self.line.at(year).mapped(libm::exp2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SHIPPED, Trends};
    use super::*;

    #[test]
    fn doubling_every_two_years_is_forty_one_per_cent_a_year() {
        let rows: String = (0..10)
            .map(|step| format!("r,{},x,{},MHz,s,l\n", 1980 + 2 * step, 1 << step))
            .collect();
        let text = format!("series,year,item,value,unit,source,licence\n{rows}");
        let trends = Trends::read([("processor.csv", text.as_str())]).unwrap();
        let growth = Growth::of(&trends.series[0], 1980.0, 2000.0).unwrap();
        assert!((growth.a_year().value - (2_f64.sqrt() - 1.0)).abs() < 1e-9);
        assert!((growth.at(2000.0).value / 1024e6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_2004_study_had_its_growth_from_the_years_before_it() {
        let trends = Trends::read(SHIPPED).unwrap();
        for (series, stated, within) in [
            ("memory.module-bandwidth", 0.20, 0.06),
            ("memory.module-latency", -0.05, 0.03),
            ("processor.specint", 0.35, 0.10),
        ] {
            let growth = Growth::of(trends.find(series).unwrap(), 1980.0, 2004.0).unwrap();
            assert!(
                (growth.a_year().value - stated).abs() < within,
                "{series}: {:?}",
                growth.a_year()
            );
        }
    }
}
