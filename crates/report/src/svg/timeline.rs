//! Courses over a common time axis, stacked: buffers as areas below their limit, loads, losses.

use bitpath_measure::Unit;

use super::Drawing;
use super::axis::{Range, is_drawable};
use super::canvas::{Anchor, Canvas, LINE, text_width, trace_class};
use super::plot::{NOTHING, whole};
use crate::format;

/// Height of one course [px].
const PANEL_HEIGHT: f64 = 84.0;

/// Marked heights of a course.
const TICKS: u32 = 4;

/// Above this multiple of the largest value a limit is named, but the course is not squeezed for it.
const LIMIT_IN_SIGHT: f64 = 4.0;

/// One course.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// Unit of its values.
    pub unit: Unit,
    /// Largest value that it could take, where it is bounded.
    pub limit: Option<f64>,
    /// Time [s] and value of every point, in any order.
    pub points: Vec<(f64, f64)>,
}

/// Courses one below the other.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelinePlot {
    /// What it shows.
    pub title: String,
    /// The scenario that all courses belong to; empty where none is named.
    pub scenario: String,
    /// The courses, from the top.
    pub panels: Vec<Panel>,
}

/// A course in figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// First time [s].
    pub first_s: f64,
    /// Last time [s].
    pub last_s: f64,
    /// Smallest value.
    pub lowest: f64,
    /// Largest value.
    pub highest: f64,
    /// Mean over time of the line through the points.
    pub mean: f64,
}

impl TimelinePlot {
    /// The picture, its text set for this width [px].
    #[must_use]
    pub fn draw(&self, width: f64) -> Drawing {
        let mut canvas = Canvas::new(width);
        let mut top = canvas.title(&self.title) + 6.0;
        let Some(time) = self.time_span() else {
            canvas.text("label", Anchor::Start, (0.0, top + LINE), NOTHING);
            return Drawing::finish(canvas, top + 2.0 * LINE, &self.title, NOTHING.into());
        };
        let left = self.panels.iter().map(Panel::label_width).fold(0.0, f64::max) + 10.0;
        let time = Range::linear(Unit::Seconds, time, (left, width - 8.0));
        let last = self.panels.len().saturating_sub(1);
        for (index, panel) in self.panels.iter().enumerate() {
            top = panel.draw(&mut canvas, &time, (left, top), index, index == last);
        }
        canvas.text("axis", Anchor::End, (width, top + 32.0), "time");
        Drawing::finish(canvas, top + 38.0, &self.title, self.description())
    }

    /// First and last time of all courses [s].
    fn time_span(&self) -> Option<(f64, f64)> {
        let times = self.panels.iter().flat_map(|panel| panel.drawable().map(|point| point.0));
        times.fold(None, |span: Option<(f64, f64)>, at| {
            let (first, last) = span.unwrap_or((at, at));
            Some((first.min(at), last.max(at)))
        })
    }

    fn description(&self) -> String {
        self.panels.iter().map(Panel::in_words).collect::<Vec<_>>().join(" ")
    }
}

impl Panel {
    /// Draws the course below `top`; returns where it ends [px].
    fn draw(
        &self,
        canvas: &mut Canvas,
        time: &Range,
        (left, top): (f64, f64),
        index: usize,
        last: bool,
    ) -> f64 {
        let right = canvas.width() - 8.0;
        let above = top + LINE + 9.0;
        let bottom = above + PANEL_HEIGHT;
        let title = self.title_with_limit();
        canvas.fitted_text(Anchor::Start, (0.0, top + LINE - 3.0), &title, canvas.width());
        let y = Range::linear(self.unit, self.span(), (bottom, above));
        y.draw_vertical(canvas, left, right, TICKS);
        if last {
            time.draw_horizontal(canvas, above, bottom, whole((right - left) / 62.0));
        } else {
            for tick in time.ticks(whole((right - left) / 62.0)) {
                canvas.line("grid", (tick.at, above), (tick.at, bottom));
            }
        }
        let route = outline(&self.places(time, &y));
        canvas.area(&trace_class("area", index), &route, y.place_or_start(0.0));
        canvas.path(&trace_class("course", index), &route);
        if let Some(at) = self.limit_in_sight().and_then(|limit| y.place(limit)) {
            canvas.line("limit", (left, at), (right, at));
        }
        canvas.line("base", (left, bottom), (right, bottom));
        bottom + if last { 0.0 } else { 10.0 }
    }

    fn drawable(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let both = |(at, value): &(f64, f64)| is_drawable(*at) && is_drawable(*value);
        self.points.iter().copied().filter(both)
    }

    /// The course in figures; `None` where no point is a pair of numbers.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        let points = self.sorted();
        let (first, last) = (points.first()?, points.last()?);
        let span = last.0 - first.0;
        let area = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
        let mean = if span > 0.0 {
            points.windows(2).map(area).sum::<f64>() / span
        } else {
            points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64
        };
        let values = || points.iter().map(|point| point.1);
        Some(Summary {
            first_s: first.0,
            last_s: last.0,
            lowest: values().fold(f64::INFINITY, f64::min),
            highest: values().fold(f64::NEG_INFINITY, f64::max),
            mean,
        })
    }

    fn sorted(&self) -> Vec<(f64, f64)> {
        let mut points: Vec<_> = self.drawable().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    /// The points as places [px], by time.
    fn places(&self, time: &Range, y: &Range) -> Vec<(f64, f64)> {
        self.sorted()
            .into_iter()
            .filter_map(|(at, value)| Some((time.place(at)?, y.place(value)?)))
            .collect()
    }

    fn largest(&self) -> f64 {
        self.drawable().map(|point| point.1).fold(0.0, f64::max)
    }

    fn smallest(&self) -> f64 {
        self.drawable().map(|point| point.1).fold(0.0, f64::min)
    }

    /// Lowest and highest value on the axis.
    fn span(&self) -> (f64, f64) {
        let largest = self.limit_in_sight().unwrap_or(0.0).max(self.largest());
        // An empty course still gets an axis: one of its unit.
        let high = if largest > 0.0 { largest * 1.08 } else { 1.0 };
        (self.smallest(), high)
    }

    fn limit_in_sight(&self) -> Option<f64> {
        let in_sight =
            |limit: &f64| is_drawable(*limit) && *limit <= self.largest() * LIMIT_IN_SIGHT;
        self.limit.filter(in_sight)
    }

    fn title_with_limit(&self) -> String {
        let Some(limit) = self.limit else {
            return self.title.clone();
        };
        let text = format::value(self.unit, limit);
        let place = if self.limit_in_sight().is_some() { "dashed" } else { "above the picture" };
        format!("{} \u{b7} limit {text}, {place}", self.title)
    }

    fn label_width(&self) -> f64 {
        let range = Range::linear(self.unit, self.span(), (0.0, 1.0));
        range.ticks(TICKS).iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max)
    }

    fn in_words(&self) -> String {
        let count = self.drawable().count();
        if count == 0 {
            return format!("{}: no values.", self.title);
        }
        let ends = [self.smallest(), self.largest()].map(|value| format::value(self.unit, value));
        format!("{}: {count} points between {} and {}.", self.title_with_limit(), ends[0], ends[1])
    }
}

/// The same line with at most four points in each column of pixels: the first, the lowest, the
/// highest and the last, which are all that a reader could tell apart.
fn outline(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut short = Vec::new();
    for column in places.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        if column.len() <= 4 {
            short.extend_from_slice(column);
            continue;
        }
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).max_by(by_height);
        let highest = (0..column.len()).min_by(by_height);
        let mut kept = [Some(0), lowest, highest, Some(column.len() - 1)];
        kept.sort_unstable();
        let mut previous = None;
        for index in kept.into_iter().flatten() {
            if previous.replace(index) != Some(index) {
                short.push(column[index]);
            }
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_points_shrink_to_what_pixels_show() {
        let places: Vec<_> =
            (0..1_000_000).map(|index| (f64::from(index) / 2000.0, f64::from(index % 7))).collect();
        let short = outline(&places);
        assert!(short.len() <= 4 * 500, "{}", short.len());
        assert!(short.iter().any(|point| point.1 == 6.0));
        assert_eq!((short.first(), short.last()), (places.first(), places.last()));
    }

    #[test]
    fn a_limit_far_above_does_not_squeeze_the_course() {
        let points = vec![(0.0, 10.0), (1.0, 20.0)];
        let mut panel =
            Panel { title: "used".into(), unit: Unit::Bytes, limit: Some(40.0), points };
        assert_eq!(panel.limit_in_sight(), Some(40.0));
        panel.limit = Some(4096.0);
        assert_eq!(panel.limit_in_sight(), None);
        assert!(panel.title_with_limit().ends_with("limit 4 KiB, above the picture"));
    }
}
