//! What each component of a year's host lets through to the user [b/s], by the flow of sysSIM's
//! figure 1: line, bus, memory that the card and the copy share, processor.
//!
//! ```text
//! line ──► bus ──► memory: written by the card, read and written by the copy ──► user
//!                  processor: cycles for each byte of stack and copy
//! ```

use std::str::FromStr;

use super::{Growth, TrendError, Trends};

/// A part of the way to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The network.
    Line,
    /// What the card sits on.
    Bus,
    /// Main memory.
    Memory,
    /// The processor.
    Processor,
}

/// All of them, in the order in which a byte passes; of equal ones the first binds.
pub const COMPONENTS: [Component; 4] =
    [Component::Line, Component::Bus, Component::Memory, Component::Processor];

/// What of a host the bits may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One stream: one thread of the processor, one module of memory.
    OneStream,
    /// All threads and channels of one socket.
    WholeSocket,
}

/// What each component lets through in one year [b/s].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The year.
    pub year: f64,
    /// Of [`COMPONENTS`], in their order [b/s].
    pub bits_per_second: [f64; 4],
}

/// What one component lets through, by year [b/s].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// The best so far: years and values, both rising; nothing where only the growth is known.
    steps: Vec<(f64, f64)>,
    /// Where the growth begins, and in a curve without steps a point of it.
    from: (f64, f64),
    /// Growth a year [ratio].
    growth: f64,
}

/// The four curves of an extent.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves(pub(super) [Curve; 4]);

impl Component {
    /// The name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Bus => "bus",
            Self::Memory => "memory",
            Self::Processor => "processor",
        }
    }
}

/// A growth that someone expects of a component: `line=30%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Of what.
    pub component: Component,
    /// A year [ratio].
    pub growth: f64,
}

/// Why a text is no expected growth.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no growth: write a component ({}) and its growth a year above -100 %, such as line=30%",
    COMPONENTS.map(Component::name).join(", "))]
pub struct ExpectedError {
    text: String,
}

impl FromStr for Expected {
    type Err = ExpectedError;

    fn from_str(text: &str) -> Result<Self, ExpectedError> {
        let error = || ExpectedError { text: text.into() };
        let (name, percent) = text.split_once('=').ok_or_else(error)?;
        let component = COMPONENTS.into_iter().find(|component| component.name() == name);
        let percent = percent.trim().trim_end_matches('%').trim_end().parse::<f64>();
        let allowed = |percent: &f64| *percent > -100.0 && *percent <= MOST_PERCENT;
        let percent = percent.ok().filter(allowed).ok_or_else(error)?;
        Ok(Self { component: component.ok_or_else(error)?, growth: percent / 100.0 })
    }
}

impl Limits {
    /// The component that lets the least through.
    #[must_use]
    pub fn bottleneck(&self) -> Component {
        let mut least = 0;
        for (index, limit) in self.bits_per_second.iter().enumerate() {
            if *limit < self.bits_per_second[least] {
                least = index;
            }
        }
        COMPONENTS[least]
    }
}

impl Curve {
    /// The same growth in all years, through one point.
    pub(super) fn steady(from: (f64, f64), growth: f64) -> Self {
        Self { steps: Vec::new(), from, growth }
    }

    /// The best so far, and from a year on with a growth; none before the first figure.
    pub(super) fn at(&self, year: f64) -> Option<f64> {
        let (from, value) = self.from;
        if self.steps.is_empty() || year >= from {
            return Some(value * libm::pow(1.0 + self.growth, year - from));
        }
        so_far(&self.steps, year)
    }
}

impl Curves {
    /// From the figures, extrapolated by their growth of the last years, or by one given.
    ///
    /// # Errors
    /// A series that is missing.
    pub fn of(trends: &Trends, extent: Extent, expected: &[Expected]) -> Result<Self, TrendError> {
        let curve = |component: Component| {
            let expected = expected.iter().find(|expected| expected.component == component);
            of_component(trends, component, extent, expected.map(|expected| expected.growth))
        };
        Ok(Self([
            curve(Component::Line)?,
            curve(Component::Bus)?,
            curve(Component::Memory)?,
            curve(Component::Processor)?,
        ]))
    }

    /// What each component lets through in a year; none before all of them have a figure.
    #[must_use]
    pub fn at(&self, year: f64) -> Option<Limits> {
        let mut bits_per_second = [0.0; 4];
        for (limit, curve) in bits_per_second.iter_mut().zip(&self.0) {
            *limit = curve.at(year)?;
        }
        Some(Limits { year, bits_per_second })
    }
}

fn of_component(
    trends: &Trends,
    component: Component,
    extent: Extent,
    growth: Option<f64>,
) -> Result<Curve, TrendError> {
    let series = |name: &str| trends.find(name);
    let (main, bits_per_unit) = match component {
        Component::Line => (series("network.ethernet")?, 1.0),
        Component::Bus => (series("bus.bandwidth")?, 8.0),
        Component::Memory => (series("memory.module-bandwidth")?, 8.0 / CROSSINGS),
        Component::Processor => (series("processor.clock")?, 8.0 / CYCLES_A_BYTE),
    };
    let mut steps = main.records();
    if extent == Extent::WholeSocket {
        steps = match component {
            Component::Memory => higher(&steps, &series("memory.socket-bandwidth")?.records()),
            Component::Processor => product(&steps, &series("processor.threads")?.records()),
            Component::Line | Component::Bus => steps,
        };
    }
    for (_, value) in &mut steps {
        *value *= bits_per_unit;
    }
    let (year, value) = steps.last().copied().unwrap_or_default();
    let last = year.max(main.last_year());
    let of_late = steps.iter().copied().filter(|(year, _)| *year >= last - RECENT_YEARS);
    let recent = Growth::through(of_late).map_or(0.0, |growth| growth.a_year().value);
    Ok(Curve { steps, from: (last, value), growth: growth.unwrap_or(recent) })
}

/// Whichever of two series is higher.
fn higher(one: &[(f64, f64)], other: &[(f64, f64)]) -> Vec<(f64, f64)> {
    combined(one, other, f64::max)
}

/// One series times another, which is 1 before its first figure.
fn product(one: &[(f64, f64)], other: &[(f64, f64)]) -> Vec<(f64, f64)> {
    combined(one, other, |one, other| one * if other > 0.0 { other } else { 1.0 })
}

/// Two series by the years of both; one without a figure yet counts as 0.
fn combined(
    one: &[(f64, f64)],
    other: &[(f64, f64)],
    with: impl Fn(f64, f64) -> f64,
) -> Vec<(f64, f64)> {
    let at = |steps: &[(f64, f64)], year| so_far(steps, year).unwrap_or(0.0);
    let mut years: Vec<f64> = one.iter().chain(other).map(|(year, _)| *year).collect();
    years.sort_by(f64::total_cmp);
    years.dedup();
    years.into_iter().map(|year| (year, with(at(one, year), at(other, year)))).collect()
}

/// The value of the last step up to a year; none before the first.
fn so_far(steps: &[(f64, f64)], year: f64) -> Option<f64> {
    steps.iter().take_while(|(other, _)| *other <= year).last().map(|step| step.1)
}

/// How often a received byte crosses main memory: written by the card, read and written by the copy.
pub(super) const CROSSINGS: f64 = 3.0;

/// Cycles of one end for a byte of a stream [cycles/B]: the median of the three hosts of 2004, whose
/// two ends over loopback took 12.0, 15.4 and 7.9 (sysSIM table 8: clock / TCP throughput). A receiver of
/// 2021 without offloads takes 5.6 (Cai et al., SIGCOMM 2021).
pub(super) const CYCLES_A_BYTE: f64 = 6.0;

/// Most growth a year that may be expected [%]: a hundred years of it stay within a float.
const MOST_PERCENT: f64 = 1000.0;

/// Years whose growth goes on after the last figure.
const RECENT_YEARS: f64 = 15.0;

#[cfg(test)]
mod tests {
    use super::super::SHIPPED;
    use super::*;

    fn bottleneck(extent: Extent, year: f64) -> Component {
        let trends = Trends::read(SHIPPED).unwrap();
        Curves::of(&trends, extent, &[]).unwrap().at(year).unwrap().bottleneck()
    }

    #[test]
    fn the_line_binds_first_and_in_one_stream_the_processor_since_clocks_stand_still() {
        for extent in [Extent::OneStream, Extent::WholeSocket] {
            assert_eq!(bottleneck(extent, 1990.0), Component::Line);
            assert_eq!(bottleneck(extent, 2003.0), Component::Processor);
        }
        assert_eq!(bottleneck(Extent::OneStream, 2026.0), Component::Processor);
        assert_eq!(bottleneck(Extent::WholeSocket, 2018.0), Component::Bus);
        assert_eq!(bottleneck(Extent::WholeSocket, 2020.0), Component::Memory);
    }

    #[test]
    fn a_given_growth_takes_the_place_of_the_one_of_the_last_years() {
        let trends = Trends::read(SHIPPED).unwrap();
        let doubling = ["line=100%".parse().unwrap()];
        let curves = Curves::of(&trends, Extent::OneStream, &doubling).unwrap();
        let [now, next] = [2030.0, 2031.0].map(|year| curves.at(year).unwrap().bits_per_second[0]);
        assert!((next / now - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_growth_that_is_none_is_refused_with_what_may_be_written() {
        for text in ["line", "disk=3", "line=fast", "line=-100%", "line=1e9", "line=nan"] {
            let message = text.parse::<Expected>().unwrap_err().to_string();
            assert!(
                message.contains(text) && message.contains("bus, memory, processor"),
                "{message}"
            );
        }
    }

    #[test]
    fn before_all_components_have_a_figure_there_are_no_limits() {
        let trends = Trends::read(SHIPPED).unwrap();
        assert_eq!(Curves::of(&trends, Extent::OneStream, &[]).unwrap().at(1980.0), None);
    }
}
