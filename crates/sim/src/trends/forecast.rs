//! The forecast of 2004: the study's fastest host, grown as the study assumed (sysSIM section 1.2),
//! and the periods of bottlenecks that follow from a set of curves.

use super::limits::{CROSSINGS, Curve};
use super::{Component, Curves, Limits};

/// What the study assumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumed {
    /// Year of its fastest host.
    pub year: f64,
    /// What each component of it lets through [b/s], and its growth a year [ratio], in the order of
    /// the components.
    pub components: [(f64, f64); 4],
}

/// diablo of 2003 (sysSIM tables 6 and 8): 10 Gb/s Ethernet, V-Link of 531 MB/s, memory of 2654 MB/s, and a
/// processor whose two ends over loopback carry 2180 Mb/s. The study gives no growth of busses: they are
/// left out of its verdict, so that of its own is taken, 35 %.
pub const STUDY_2004: Assumed = Assumed {
    year: 2003.0,
    components: [
        (10e9, 0.80),
        (f64::INFINITY, 0.35),
        (2654e6 * 8.0 / CROSSINGS, 0.20),
        (2.0 * 2180e6, 0.35),
    ],
};

/// Years in which one component binds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// First and last of them.
    pub years: (f64, f64),
    /// What binds.
    pub bottleneck: Component,
}

impl Assumed {
    /// The curves, forward and back from the host's year.
    #[must_use]
    pub fn curves(&self) -> Curves {
        Curves(self.components.map(|(limit, growth)| Curve::steady((self.year, limit), growth)))
    }
}

/// What binds from one year to another, period by period.
#[must_use]
pub fn periods(curves: &Curves, from: u32, until: u32) -> Vec<Period> {
    let limits = (from..=until).filter_map(|year| curves.at(f64::from(year)));
    let mut periods: Vec<Period> = Vec::new();
    for (year, bottleneck) in limits.map(|limits: Limits| (limits.year, limits.bottleneck())) {
        match periods.last_mut() {
            Some(period) if period.bottleneck == bottleneck => period.years.1 = year,
            _ => periods.push(Period { years: (year, year), bottleneck }),
        }
    }
    periods
}

/// Whether the processor binds in the years from the study to 2007, and memory in those after, as
/// section 5 concludes.
#[must_use]
pub fn holds(periods: &[Period]) -> bool {
    let binds = |component: Component, from: f64, until: f64| {
        periods.iter().any(|period| {
            period.bottleneck == component && period.years.0 <= from && until <= period.years.1
        })
    };
    let last = periods.last().map_or(0.0, |period| period.years.1);
    binds(Component::Processor, STUDY_YEAR, LAST_OF_PROCESSOR)
        && binds(Component::Memory, LAST_OF_PROCESSOR + 1.0, last)
}

/// The year of the study, whose growth was that of the figures before it.
pub(super) const STUDY_YEAR: f64 = 2004.0;

/// The last year of which the study says that the processor binds.
const LAST_OF_PROCESSOR: f64 = 2007.0;

#[cfg(test)]
mod tests {
    use super::super::{Extent, SHIPPED, Trends};
    use super::*;

    #[test]
    fn from_its_own_growth_the_study_had_the_line_then_the_processor_until_2007_and_then_memory() {
        let found = periods(&STUDY_2004.curves(), 1984, 2020);
        let years = found.iter().map(|period| (period.years.1, period.bottleneck));
        assert_eq!(
            years.collect::<Vec<_>>(),
            [
                (2000.0, Component::Line),
                (2007.0, Component::Processor),
                (2020.0, Component::Memory)
            ]
        );
    }

    #[test]
    fn the_forecast_holds_by_its_own_growth_and_not_by_what_came() {
        let trends = Trends::read(SHIPPED).unwrap();
        assert!(holds(&periods(&STUDY_2004.curves(), 1984, 2035)));
        for extent in [Extent::OneStream, Extent::WholeSocket] {
            let curves = Curves::of(&trends, extent, &[]).unwrap();
            assert!(!holds(&periods(&curves, 1984, 2035)), "{extent:?}");
        }
    }

    #[test]
    fn a_slower_processor_binds_longer() {
        let mut slower = STUDY_2004;
        slower.components[3].0 /= 2.0;
        let found = periods(&slower.curves(), 1984, 2020);
        assert!(found[1].years.1 > 2010.0, "{found:?}");
    }
}
