//! Axes: from values in a unit to places in pixels, and the ticks in between.

use bitpath_measure::Unit;

use super::canvas::{Anchor, Canvas};
use crate::format::Scale;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences take equal lengths; the axis begins at zero, one of years with the first.
    Linear,
    /// Equal ratios take equal lengths; only positive values have a place.
    Logarithmic,
}

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What is on it.
    pub title: String,
    /// Unit of its values.
    pub unit: Unit,
    /// How they are spread.
    pub spacing: Spacing,
}

/// Largest magnitude that a plot shows: the arithmetic of its places stays finite up to here.
const MAX_DRAWN: f64 = 1e30;

/// Room left beside the outermost points of a logarithmic axis, as a factor.
const LOG_MARGIN: f64 = 1.2;

/// Most powers of two between the smallest and the largest value with a place, rounded up.
const MAX_POWERS: u32 = 200;

/// Longest step between the powers that are marked; with it a handful of ticks spans any range.
const MAX_STRIDE: u32 = 100;

/// Whether a value can have a place on a linear axis.
pub(super) fn is_drawable(value: f64) -> bool {
    value.is_finite() && value.abs() <= MAX_DRAWN
}

/// Values from low to high along pixels from start to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    unit: Unit,
    spacing: Spacing,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

/// A marked place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Where [px].
    pub(super) at: f64,
    /// The value with its unit.
    pub(super) label: String,
}

impl Range {
    /// Exactly from low to high, evenly spread.
    pub(super) fn linear(unit: Unit, (low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { unit, spacing: Spacing::Linear, low, high, start, end }
    }

    /// Wide enough for every value that has a place on the axis; `None` where none has.
    pub(super) fn around(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        (start, end): (f64, f64),
    ) -> Option<Self> {
        let Axis { unit, spacing, .. } = *axis;
        let drawn = values.filter(|value| spacing.has_place(*value));
        let ends = drawn.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = ends?;
        Some(match spacing {
            Spacing::Linear if unit == Unit::Year => Self::linear(unit, (low, high), (start, end)),
            Spacing::Linear => {
                Self::linear(unit, (low.min(0.0), high.max(0.0) * 1.06), (start, end))
            }
            Spacing::Logarithmic => {
                Self { unit, spacing, low: low / LOG_MARGIN, high: high * LOG_MARGIN, start, end }
            }
        })
    }

    /// The place of a value [px]; `None` where it has none.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !self.spacing.has_place(value) {
            return None;
        }
        let fraction = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        Some(self.start + fraction.clamp(0.0, 1.0) * (self.end - self.start))
    }

    /// The place of a value, or of the nearest end where it has none [px].
    pub(super) fn place_or_start(&self, value: f64) -> f64 {
        self.place(value).unwrap_or(self.start)
    }

    /// At most about `wanted` round places, from the low end.
    pub(super) fn ticks(&self, wanted: u32) -> Vec<Tick> {
        let values = match self.spacing {
            Spacing::Linear => self.linear_ticks(wanted),
            Spacing::Logarithmic => self.logarithmic_ticks(wanted),
        };
        let shared = Scale::of(self.unit, self.high.abs().max(self.low.abs()));
        let label = |value: f64| match self.spacing {
            Spacing::Linear => shared.tick(value),
            Spacing::Logarithmic => Scale::of(self.unit, value).tick(value),
        };
        let tick = |value: f64| Some(Tick { at: self.place(value)?, label: label(value) });
        values.into_iter().filter_map(tick).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten; of a power of two for bytes.
    ///
    /// More than wanted where they would be fewer than three: one tick alone shows no scale.
    fn linear_ticks(&self, wanted: u32) -> Vec<f64> {
        let denser = [1, 2, 4].map(|factor| self.evenly_spaced(wanted.max(1) * factor));
        let enough = denser.iter().position(|ticks| ticks.len() > 2).unwrap_or(0);
        denser.into_iter().nth(enough).unwrap_or_default()
    }

    fn evenly_spaced(&self, wanted: u32) -> Vec<f64> {
        let rough = (self.high - self.low) / f64::from(wanted);
        let step = if self.unit == Unit::Bytes { power_of_two(rough) } else { one_two_five(rough) };
        let first = (self.low / step - 1e-9).ceil();
        (0..=wanted + 1)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|value| *value <= self.high * (1.0 + 1e-9))
            .collect()
    }

    /// Powers of ten, with 2 and 5 between where there is room; powers of two for bytes.
    fn logarithmic_ticks(&self, wanted: u32) -> Vec<f64> {
        let bytes = self.unit == Unit::Bytes;
        let base = if bytes { 2.0 } else { 10.0 };
        let dense = (!bytes).then(|| self.powers(base, 1, &[1.0, 2.0, 5.0]));
        let sparse = (1..=MAX_STRIDE).map(|stride| self.powers(base, stride, &[1.0]));
        let fits = |ticks: &Vec<f64>| ticks.len() <= wanted as usize;
        match dense.into_iter().chain(sparse).find(fits) {
            Some(ticks) if ticks.len() > 1 => ticks,
            _ => self.linear_ticks(wanted),
        }
    }

    /// The multiples of every `stride`-th power of `base` within the range.
    fn powers(&self, base: f64, stride: u32, multiples: &[f64]) -> Vec<f64> {
        let stride = f64::from(stride);
        let first = (self.low.ln() / base.ln() / stride).floor();
        (0..=MAX_POWERS)
            .map(|index| base.powf((first + f64::from(index)) * stride))
            .take_while(|power| *power <= self.high)
            .flat_map(|power| multiples.iter().map(move |multiple| power * multiple))
            .filter(|value| (self.low..=self.high).contains(value))
            .collect()
    }

    /// Lines and labels of a vertical axis, the grid reaching from left to right [px].
    pub(super) fn draw_vertical(&self, canvas: &mut Canvas, left: f64, right: f64, wanted: u32) {
        for Tick { at, label } in self.ticks(wanted) {
            canvas.line("grid", (left, at), (right, at));
            canvas.text("tick", Anchor::End, (left - 6.0, at + 4.0), &label);
        }
    }

    /// Lines and labels of a horizontal axis, the grid reaching from top to bottom [px].
    pub(super) fn draw_horizontal(&self, canvas: &mut Canvas, top: f64, bottom: f64, wanted: u32) {
        for Tick { at, label } in self.ticks(wanted) {
            canvas.line("grid", (at, top), (at, bottom));
            let half = super::canvas::text_width(&label) / 2.0;
            let anchor = if at + half > canvas.width() { Anchor::End } else { Anchor::Middle };
            canvas.text("tick", anchor, (at, bottom + 15.0), &label);
        }
    }
}

impl Spacing {
    fn has_place(self, value: f64) -> bool {
        is_drawable(value) && (self == Self::Linear || value >= 1.0 / MAX_DRAWN)
    }
}

/// The next 1, 2 or 5 times a power of ten.
fn one_two_five(rough: f64) -> f64 {
    let power = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= rough * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// The next power of two; at least one byte.
fn power_of_two(rough: f64) -> f64 {
    2.0_f64.powf(rough.log2().ceil()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(spacing: Spacing, unit: Unit, values: &[f64], wanted: u32) -> Vec<String> {
        let axis = Axis { title: String::new(), unit, spacing };
        let range = Range::around(&axis, values.iter().copied(), (0.0, 100.0));
        range.map_or(Vec::new(), |range| {
            range.ticks(wanted).into_iter().map(|tick| tick.label).collect()
        })
    }

    #[test]
    fn linear_ticks_are_round_and_begin_at_zero() {
        let ticks = labels(Spacing::Linear, Unit::BytesPerSecond, &[8.3e9], 5);
        assert_eq!(ticks, ["0", "2 GB/s", "4 GB/s", "6 GB/s", "8 GB/s"]);
    }

    #[test]
    fn years_begin_with_the_first() {
        let ticks = labels(Spacing::Linear, Unit::Year, &[1984.0, 2035.0], 6);
        assert_eq!(ticks, ["1990", "2000", "2010", "2020", "2030"]);
    }

    #[test]
    fn ticks_of_bytes_are_powers_of_two() {
        let ticks = labels(Spacing::Linear, Unit::Bytes, &[212_992.0], 4);
        assert_eq!(ticks, ["0", "64 KiB", "128 KiB", "192 KiB"]);
        let ticks = labels(Spacing::Logarithmic, Unit::Bytes, &[1.0, 65_507.0], 6);
        assert_eq!(ticks, ["1 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB"]);
    }

    #[test]
    fn logarithmic_ticks_are_denser_in_a_short_span() {
        let ticks = labels(Spacing::Logarithmic, Unit::Nanoseconds, &[600.0, 40_000.0], 8);
        assert_eq!(ticks, ["500 ns", "1 us", "2 us", "5 us", "10 us", "20 us"]);
        let ticks = labels(Spacing::Logarithmic, Unit::Nanoseconds, &[10.0, 1e9], 5);
        assert_eq!(ticks, ["100 ns", "10 us", "1 ms", "100 ms"]);
    }

    #[test]
    fn a_single_value_still_has_an_axis() {
        for spacing in [Spacing::Linear, Spacing::Logarithmic] {
            assert!(labels(spacing, Unit::Nanoseconds, &[845.0], 5).len() > 1);
        }
        assert!(!labels(Spacing::Linear, Unit::Nanoseconds, &[0.0], 5).is_empty());
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        let odd = [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e300];
        assert!(labels(Spacing::Logarithmic, Unit::Nanoseconds, &odd, 5).is_empty());
        let huge = [f64::NAN, -f64::INFINITY, 1e30, -1e30];
        assert!(labels(Spacing::Linear, Unit::Nanoseconds, &huge, 5).len() > 1);
    }
}
