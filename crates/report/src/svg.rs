//! Our own small writer of SVG pictures: no library, no script, the same bytes on every machine.
//!
//! ```text
//! values [unit] ──► axis::Range ──► places [px] ──► canvas ──► Drawing ──► inline | file
//! ```
//!
//! Colours are CSS variables, so that one picture serves light and dark; every picture has a title
//! and a description for those who cannot see it, and scales by its view box.

mod axis;
mod canvas;
mod plot;
mod rows;
mod timeline;

pub use axis::{Axis, Spacing};
pub use plot::{Plot, Point, Stroke, Trace};
pub use rows::{Row, RowPlot};
pub use timeline::{Panel, Summary, TimelinePlot};

use canvas::Canvas;

/// The rules that colour a picture; a page that holds pictures includes them once.
pub const STYLE: &str = include_str!("../templates/plot.css");

/// The colours that the rules refer to, for light and dark.
pub const PALETTE: &str = include_str!("../templates/palette.css");

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// Width in which its text is set at natural size [px].
    pub width: u32,
    /// Height at that width [px].
    pub height: u32,
    title: String,
    description: String,
    body: String,
}

impl Drawing {
    /// A canvas with what it shows; the canvas' width and the given height are its view box.
    fn finish(canvas: Canvas, height: f64, title: &str, description: String) -> Self {
        let (width, body) = canvas.into_parts();
        Self {
            width: pixels(width),
            height: pixels(height),
            title: title.into(),
            description,
            body,
        }
    }

    /// The element to stand in an HTML page that includes [`PALETTE`] and [`STYLE`].
    #[must_use]
    pub fn inline(&self) -> String {
        self.element("", 0, "")
    }

    /// A file of its own, with its colours, a background and a margin.
    #[must_use]
    pub fn file(&self) -> String {
        let rules = format!("<style>\n{PALETTE}{STYLE}</style>\n");
        let paper = format!(
            "<rect class=\"paper\" x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"{}\" height=\"{}\"/>\n",
            self.width + 2 * MARGIN,
            self.height + 2 * MARGIN
        );
        self.element(" xmlns=\"http://www.w3.org/2000/svg\"", MARGIN, &(rules + &paper))
    }

    fn element(&self, namespace: &str, margin: u32, before: &str) -> String {
        let (width, height) = (self.width + 2 * margin, self.height + 2 * margin);
        let start = -i64::from(margin);
        let title = canvas::escape(&self.title);
        let description = canvas::escape(&self.description);
        format!(
            "<svg{namespace} class=\"plot\" role=\"img\" \
             viewBox=\"{start} {start} {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n{before}{}</svg>\n",
            self.body
        )
    }
}

/// Room around a picture in a file of its own [px].
const MARGIN: u32 = 16;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a picture's side is between 0 and a few thousand, and `as` saturates"
)]
fn pixels(length: f64) -> u32 {
    length.ceil() as u32
}
