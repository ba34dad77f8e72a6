//! Named values one below the other, each with its interval and the band it should lie in.
//!
//! Used for predictions: the relative error of each, zero in the middle.

use bitpath_measure::Unit;

use super::Drawing;
use super::axis::{Range, is_drawable};
use super::canvas::{Anchor, Canvas, LINE, text_width};
use super::plot::{NOTHING, whole};

/// Below this width the name stands above its row instead of beside it [px].
const NARROW: f64 = 520.0;

/// Height of a name above its row [px].
const NAME_HEIGHT: f64 = 20.0;

/// The axis ends here at most; what lies beyond is drawn as an arrow at the end [ratio].
const WIDEST: f64 = 1.0;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The value [ratio].
    pub value: f64,
    /// Ends of its interval [ratio].
    pub interval: (f64, f64),
    /// The value should lie within plus and minus this [ratio].
    pub tolerance: f64,
    /// What stands at its right end.
    pub note: String,
    /// Whether it lies within.
    pub good: bool,
}

/// Rows over a common axis, zero in the middle.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPlot {
    /// What it shows.
    pub title: String,
    /// What the axis shows.
    pub axis: String,
    /// An inner band that all rows share: plus and minus this [ratio].
    pub inner: f64,
    /// The rows, from the top.
    pub rows: Vec<Row>,
}

/// Where everything stands [px].
struct Layout {
    names: f64,
    row_height: f64,
    stacked: bool,
    top: f64,
    bottom: f64,
    range: Range,
    left: f64,
    right: f64,
}

impl RowPlot {
    /// The picture, its text set for this width [px].
    #[must_use]
    pub fn draw(&self, width: f64) -> Drawing {
        let mut canvas = Canvas::new(width);
        let top = canvas.title(&self.title) + 8.0;
        if self.rows.is_empty() {
            canvas.text("label", Anchor::Start, (0.0, top + LINE), NOTHING);
            return Drawing::finish(canvas, top + 2.0 * LINE, &self.title, NOTHING.into());
        }
        let layout = self.layout(width, top);
        let ticks = whole((layout.right - layout.left) / 58.0);
        layout.range.draw_horizontal(&mut canvas, top, layout.bottom, ticks);
        self.draw_bands(&mut canvas, &layout);
        for (index, row) in self.rows.iter().enumerate() {
            row.draw(&mut canvas, &layout, index as f64);
        }
        canvas.text("axis", Anchor::End, (width, layout.bottom + 34.0), &self.axis);
        Drawing::finish(canvas, layout.bottom + 40.0, &self.title, self.description())
    }

    fn layout(&self, width: f64, top: f64) -> Layout {
        let stacked = width < NARROW;
        let widest = |text: fn(&Row) -> &str| {
            self.rows.iter().map(|row| text_width(text(row))).fold(0.0, f64::max)
        };
        let names = if stacked { width } else { widest(|row| &row.name).min(width * 0.4) };
        let left = if stacked { 14.0 } else { names + 18.0 };
        let right = width - widest(|row| &row.note).min(width * 0.3) - 14.0;
        let row_height = if stacked { 42.0 } else { 24.0 };
        let bottom = top + row_height * self.rows.len() as f64 + 6.0;
        let reach = self.reach();
        let range = Range::linear(Unit::Ratio, (-reach, reach), (left, right));
        Layout { names, row_height, stacked, top, bottom, range, left, right }
    }

    /// Half the length of the axis [ratio]: every band and, up to a limit, every value.
    fn reach(&self) -> f64 {
        let bands = self.rows.iter().map(|row| row.tolerance).chain([self.inner]);
        let ends = self.rows.iter().flat_map(|row| [row.value, row.interval.0, row.interval.1]);
        let all = bands.chain(ends).filter(|value| is_drawable(*value));
        all.map(f64::abs).fold(0.05, f64::max).min(WIDEST) * 1.1
    }

    /// In each row its tolerance, the inner band and the zero.
    fn draw_bands(&self, canvas: &mut Canvas, layout: &Layout) {
        for (index, row) in self.rows.iter().enumerate() {
            let bottom = layout.top + layout.row_height * (index as f64 + 1.0);
            // A name above its row stays clear of all this.
            let top = bottom - layout.row_height + if layout.stacked { NAME_HEIGHT } else { 0.0 };
            for tolerance in [row.tolerance, self.inner] {
                let (from, to) = layout.band(tolerance);
                canvas.rect("band", (from, top), (to, bottom));
            }
            if let Some(zero) = layout.range.place(0.0) {
                canvas.line("base", (zero, top), (zero, bottom));
            }
        }
    }

    fn description(&self) -> String {
        let rows: Vec<_> =
            self.rows.iter().map(|row| format!("{}: {}.", row.name, row.note)).collect();
        format!("{}. {}", self.axis, rows.join(" "))
    }
}

impl Layout {
    fn band(&self, tolerance: f64) -> (f64, f64) {
        (self.range.place_or_start(-tolerance), self.range.place_or_start(tolerance))
    }
}

impl Row {
    fn draw(&self, canvas: &mut Canvas, layout: &Layout, index: f64) {
        let top = layout.top + layout.row_height * index;
        let middle = top + layout.row_height * if layout.stacked { 0.74 } else { 0.5 };
        let name_at = if layout.stacked { top + 15.0 } else { middle + 4.0 };
        canvas.fitted_text(Anchor::Start, (0.0, name_at), &self.name, layout.names);
        let class = if self.good { "good" } else { "bad" };
        let end = (canvas.width(), middle + 4.0);
        canvas.text(&format!("label {class}"), Anchor::End, end, &self.note);
        let Some(at) = layout.range.place(self.value) else {
            return;
        };
        let (low, high) = self.interval;
        if let (Some(low), Some(high)) = (layout.range.place(low), layout.range.place(high)) {
            canvas.line(&format!("bar {class}"), (low, middle), (high, middle));
        }
        if self.value.abs() > WIDEST {
            let back = if self.value > 0.0 { -9.0 } else { 9.0 };
            let corners = [(at, middle), (at + back, middle - 5.0), (at + back, middle + 5.0)];
            canvas.closed(&format!("mark {class}"), &corners);
        } else {
            canvas.dot(&format!("mark {class}"), (at, middle));
        }
    }
}
