//! Elements of a picture as text: every number with one digit behind the point, every text escaped.

use std::fmt::Write;

/// Height of a line of text [px].
pub(super) const LINE: f64 = 17.0;

/// Width of a letter of a label [px]; generous, as the reader's font is not known.
const LETTER: f64 = 6.7;

/// Width of a letter of a title [px].
const TITLE_LETTER: f64 = 8.0;

/// Where a text's anchor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// A picture in the making.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    width: f64,
    body: String,
}

impl Canvas {
    /// An empty canvas of this width [px].
    pub(super) fn new(width: f64) -> Self {
        Self { width, body: String::new() }
    }

    /// Its width [px].
    pub(super) fn width(&self) -> f64 {
        self.width
    }

    /// Width and elements.
    pub(super) fn into_parts(self) -> (f64, String) {
        (self.width, self.body)
    }

    /// A straight line.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        self.add(&format!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// A rectangle by two opposite corners.
    pub(super) fn rect(&mut self, class: &str, a: (f64, f64), b: (f64, f64)) {
        let (x, y) = (px(a.0.min(b.0)), px(a.1.min(b.1)));
        let (width, height) = (px((a.0 - b.0).abs()), px((a.1 - b.1).abs()));
        self.add(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// A line through points; nothing for fewer than two.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        if points.len() > 1 {
            self.add(&format!("<path class=\"{class}\" d=\"{}\"/>", route(points)));
        }
    }

    /// The area between a line through points and a level [px].
    pub(super) fn area(&mut self, class: &str, points: &[(f64, f64)], level: f64) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return;
        };
        let (start, end, level) = (px(first.0), px(last.0), px(level));
        let route = route(points);
        self.add(&format!(
            "<path class=\"{class}\" d=\"{route}L{end},{level}L{start},{level}Z\"/>"
        ));
    }

    /// A text; its anchor is on its base line.
    pub(super) fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let (x, y) = (px(at.0), px(at.1));
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = escape(text);
        self.add(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    /// A text that is cut to a width [px], with the whole of it as a tooltip where it was cut.
    pub(super) fn fitted_text(&mut self, anchor: Anchor, at: (f64, f64), text: &str, width: f64) {
        let short = fit(text, width);
        if short == text {
            self.text("label", anchor, at, text);
        } else {
            self.add(&format!("<g><title>{}</title>", escape(text)));
            self.text("label", anchor, at, &short);
            self.add("</g>");
        }
    }

    /// The title over the picture, in as many lines as it takes; returns where they end [px].
    pub(super) fn title(&mut self, title: &str) -> f64 {
        let mut y = 0.0;
        for line in wrap(title, self.width / TITLE_LETTER) {
            y += LINE;
            self.text("title", Anchor::Start, (0.0, y - 3.0), &line);
        }
        y
    }

    /// A mark of the shape and colour of the trace with this number.
    pub(super) fn mark(&mut self, trace: usize, at: (f64, f64)) {
        let (x, y) = at;
        let class = format!("mark c{}", trace % COLOURS);
        match trace % 4 {
            0 => self.dot(&class, at),
            1 => self.rect(&class, (x - 3.5, y - 3.5), (x + 3.5, y + 3.5)),
            2 => self.closed(&class, &[(x, y - 4.8), (x + 4.6, y + 3.6), (x - 4.6, y + 3.6)]),
            _ => self.closed(&class, &[(x, y - 5.0), (x + 5.0, y), (x, y + 5.0), (x - 5.0, y)]),
        }
    }

    /// A round dot.
    pub(super) fn dot(&mut self, class: &str, at: (f64, f64)) {
        let (x, y) = (px(at.0), px(at.1));
        self.add(&format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>"));
    }

    /// A filled shape with these corners.
    pub(super) fn closed(&mut self, class: &str, corners: &[(f64, f64)]) {
        self.add(&format!("<path class=\"{class}\" d=\"{}Z\"/>", route(corners)));
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

/// Number of colours that the style sheet has for traces.
const COLOURS: usize = 6;

/// The class of a line in the colour of the trace with this number.
pub(super) fn trace_class(kind: &str, trace: usize) -> String {
    format!("{kind} c{}", trace % COLOURS)
}

/// Width that a label takes [px].
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().map(|_| LETTER).sum()
}

/// The text, or its beginning with an ellipsis where the whole is wider [px].
pub(super) fn fit(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.into();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if text_width(&short) + 2.0 * LETTER > width {
            break;
        }
        short.push(letter);
    }
    short.trim_end().to_owned() + "\u{2026}"
}

/// Lines of at most so many letters, broken between words.
fn wrap(text: &str, letters: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if (line.chars().count() + word.chars().count()) as f64 + 1.0 <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fit(word, letters * LETTER)),
        }
    }
    lines
}

/// A text that is safe between tags and in quoted attributes, in HTML and in XML.
///
/// What XML 1.0 does not allow at all (most control characters) becomes the replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

fn route(points: &[(f64, f64)]) -> String {
    let mut route = String::new();
    for (index, point) in points.iter().enumerate() {
        let verb = if index == 0 { 'M' } else { 'L' };
        let _infallible = write!(route, "{verb}{},{}", px(point.0), px(point.1));
    }
    route
}

/// A coordinate with at most one digit behind the point; what is no number goes to the edge.
fn px(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    if !tenths.is_finite() || tenths == 0.0 {
        return "0".into();
    }
    tenths.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escape("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
        assert_eq!(escape("a\u{0}b\u{1b}c\nd"), "a\u{fffd}b\u{fffd}c d");
    }

    #[test]
    fn coordinates_are_short_and_never_infinite() {
        assert_eq!(px(1.0 / 3.0), "0.3");
        assert_eq!(px(-0.01), "0");
        assert_eq!(px(f64::NAN), "0");
        assert_eq!(px(f64::INFINITY), "0");
    }

    #[test]
    fn a_long_label_is_cut_and_a_short_one_kept() {
        assert_eq!(fit("kernel", 100.0), "kernel");
        assert_eq!(fit("kernel buffer", 60.0), "kernel\u{2026}");
    }

    #[test]
    fn a_title_is_broken_between_words() {
        assert_eq!(wrap("one two three", 8.0), ["one two", "three"]);
    }
}
