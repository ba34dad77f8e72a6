//! A plot of traces over two axes, with interval bars and a legend.

use super::Drawing;
use super::axis::{Axis, Range};
use super::canvas::{Anchor, Canvas, LINE, text_width, trace_class};
use crate::format;

/// Height of the area between the axes [px].
const HEIGHT: f64 = 250.0;

/// Room between the title of the vertical axis and its end, where a label may stand [px].
const BELOW_TITLE: f64 = 14.0;

/// Pixels that one label of a horizontal axis needs.
const TICK_WIDTH: f64 = 62.0;

/// Pixels that one label of a vertical axis needs.
const TICK_HEIGHT: f64 = 34.0;

/// One place in a plot, with the interval of its vertical value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Lower end of the interval of `y`.
    pub low: f64,
    /// Upper end of the interval of `y`.
    pub high: f64,
}

impl Point {
    /// A place without an interval.
    #[must_use]
    pub fn exact(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }
}

/// How a trace is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Marks with interval bars.
    Marks,
    /// Marks with interval bars, joined.
    Joined,
    /// A line without marks: a course of many points.
    Line,
    /// A dashed line: a fit, not a measurement.
    Fit,
}

impl Stroke {
    fn has_marks(self) -> bool {
        matches!(self, Self::Marks | Self::Joined)
    }
}

/// One line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Its name in the legend.
    pub name: String,
    /// Its colour and mark, by number.
    pub colour: usize,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its points, in any order.
    pub points: Vec<Point>,
}

/// A plot of traces over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub traces: Vec<Trace>,
}

impl Plot {
    /// The picture, its text set for this width [px].
    #[must_use]
    pub fn draw(&self, width: f64) -> Drawing {
        let mut canvas = Canvas::new(width);
        let mut top = canvas.title(&self.title);
        top = self.draw_legend(&mut canvas, top) + LINE;
        canvas.text("axis", Anchor::Start, (0.0, top), &self.y.title);
        top += BELOW_TITLE;
        let bottom = top + HEIGHT;
        self.draw_area(&mut canvas, top, bottom);
        canvas.text("axis", Anchor::End, (width, bottom + 34.0), &self.x.title);
        Drawing::finish(canvas, bottom + 40.0, &self.title, self.description())
    }

    /// Axes and traces between two heights, or a word where there is nothing to draw.
    fn draw_area(&self, canvas: &mut Canvas, top: f64, bottom: f64) {
        let width = canvas.width();
        let points = || self.traces.iter().flat_map(|trace| &trace.points);
        let verticals = points().flat_map(|point| [point.y, point.low, point.high]);
        let rows = ((bottom - top) / TICK_HEIGHT).floor();
        let Some(y) = Range::around(&self.y, verticals, (bottom, top)) else {
            return canvas.text("label", Anchor::Start, (0.0, top + LINE), NOTHING);
        };
        let labels = y.ticks(whole(rows));
        let widest = labels.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max);
        let (left, right) = (widest + 10.0, width - 8.0);
        let Some(x) = Range::around(&self.x, points().map(|point| point.x), (left, right)) else {
            return canvas.text("label", Anchor::Start, (0.0, top + LINE), NOTHING);
        };
        y.draw_vertical(canvas, left, right, whole(rows));
        x.draw_horizontal(canvas, top, bottom, whole((right - left) / TICK_WIDTH));
        canvas.line("base", (left, bottom), (right, bottom));
        for trace in &self.traces {
            trace.draw(canvas, &x, &y);
        }
    }

    /// The names of the traces in rows below `top`; returns where they end [px].
    fn draw_legend(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let (mut x, mut y) = (0.0, top + LINE);
        for trace in &self.traces {
            let length = 26.0 + text_width(&trace.name) + 14.0;
            if x > 0.0 && x + length > canvas.width() {
                (x, y) = (0.0, y + LINE);
            }
            let middle = y - 4.0;
            if trace.stroke != Stroke::Marks {
                canvas.line(&trace.line_class(), (x, middle), (x + 20.0, middle));
            }
            if trace.stroke.has_marks() {
                canvas.mark(trace.colour, (x + 10.0, middle));
            }
            let room = canvas.width() - x - 26.0;
            canvas.fitted_text(Anchor::Start, (x + 26.0, y), &trace.name, room);
            x += length;
        }
        y
    }

    /// What the picture shows, in words.
    fn description(&self) -> String {
        let traces: Vec<_> = self.traces.iter().map(|trace| trace.in_words(self)).collect();
        let (x, y) = (&self.x.title, &self.y.title);
        format!("{y} by {x}. {}", traces.join(" "))
    }
}

impl Trace {
    fn draw(&self, canvas: &mut Canvas, x: &Range, y: &Range) {
        let mut places: Vec<(f64, f64, &Point)> = self
            .points
            .iter()
            .filter_map(|point| Some((x.place(point.x)?, y.place(point.y)?, point)))
            .collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        if self.stroke != Stroke::Marks {
            let route: Vec<_> = places.iter().map(|(x, y, _)| (*x, *y)).collect();
            canvas.path(&self.line_class(), &route);
        }
        if !self.stroke.has_marks() {
            return;
        }
        for (at, height, point) in places {
            self.draw_interval(canvas, y, at, point);
            canvas.mark(self.colour, (at, height));
        }
    }

    /// A bar from the lower to the upper end of the interval, with caps.
    fn draw_interval(&self, canvas: &mut Canvas, y: &Range, at: f64, point: &Point) {
        if point.low == point.high || point.low.is_nan() {
            return;
        }
        let Some(high) = y.place(point.high) else {
            return;
        };
        let low = y.place_or_start(point.low);
        let class = trace_class("bar", self.colour);
        canvas.line(&class, (at, low), (at, high));
        canvas.line(&class, (at - 3.0, low), (at + 3.0, low));
        canvas.line(&class, (at - 3.0, high), (at + 3.0, high));
    }

    fn line_class(&self) -> String {
        trace_class(if self.stroke == Stroke::Fit { "fit" } else { "trace" }, self.colour)
    }

    fn in_words(&self, plot: &Plot) -> String {
        let drawn = self.points.iter().filter(|point| point.y.is_finite());
        let values = || drawn.clone().map(|point| point.y);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let name = &self.name;
        if low > high {
            return format!("{name}: no values.");
        }
        let ends = [low, high].map(|value| format::value(plot.y.unit, value));
        format!("{name}: {} points from {} to {}.", self.points.len(), ends[0], ends[1])
    }
}

/// What stands in a plot without a drawable value.
pub(super) const NOTHING: &str = "No value to draw.";

/// A number of ticks; at least two.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few at most, and `as` saturates"
)]
pub(super) fn whole(number: f64) -> u32 {
    number.max(2.0) as u32
}
