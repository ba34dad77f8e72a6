//! Events and courses as the rows of a table, whatever the form of the file that they go to.
//!
//! ```text
//! Event    ──► at_ns, event, cause, flow, a column for each component and its unit ──┐
//! Timeline ──► time_s, component, labels, unit, value, limit ────────────────────────┴──► CSV, Parquet
//! ```

use super::{Event, Timeline};
use crate::series::{Labels, Unit};

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its title; that of a number ends in its unit.
    pub name: String,
    /// What its cells hold, where they hold anything.
    pub holds: Holds,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// [`Cell::Number`].
    Numbers,
    /// [`Cell::Words`].
    Words,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A number in the unit of its column.
    Number(f64),
    /// A text.
    Words(String),
    /// Nothing: this row has no such value.
    Empty,
}

impl Column {
    /// A column of numbers; the title ends in their unit.
    #[must_use]
    pub fn numbers(name: &str) -> Self {
        Self { name: name.into(), holds: Holds::Numbers }
    }

    /// A column of texts.
    #[must_use]
    pub fn words(name: &str) -> Self {
        Self { name: name.into(), holds: Holds::Words }
    }
}

/// Columns of events whose state is that of these components.
#[must_use]
pub fn event_columns(state: &[(&str, Unit)]) -> Vec<Column> {
    let mut columns = vec![Column::numbers("at_ns"), Column::words("event")];
    columns.extend(EVENT_LABELS.map(Column::words));
    columns.extend(
        state.iter().map(|(name, unit)| Column::numbers(&format!("{name}_{}", in_words(*unit)))),
    );
    columns
}

/// An event as a row of [`event_columns`]; what it lacks is empty.
#[must_use]
pub fn event_row(event: &Event, state: &[(&str, Unit)]) -> Vec<Cell> {
    let label = |key| event.labels.get(key).map_or(Cell::Empty, |value| Cell::Words(value.clone()));
    let value = |name| event.state.get(name).map_or(Cell::Empty, |(value, _)| Cell::Number(*value));
    let mut row = vec![Cell::Number(event.at_ns), Cell::Words(event.name.clone())];
    row.extend(EVENT_LABELS.map(label));
    row.extend(state.iter().map(|(name, _)| value(*name)));
    row
}

/// Labels of an event that have a column of their own.
const EVENT_LABELS: [&str; 2] = ["cause", "flow"];

/// Columns of the points of all courses.
#[must_use]
pub fn course_columns() -> Vec<Column> {
    vec![
        Column::numbers("time_s"),
        Column::words("component"),
        Column::words("labels"),
        Column::words("unit"),
        Column::numbers("value"),
        Column::numbers("limit"),
    ]
}

/// The points of a course as rows of [`course_columns`]; value and limit are in the row's unit.
pub fn course_rows(course: &Timeline) -> impl Iterator<Item = Vec<Cell>> {
    course.points.iter().map(|(at_s, value)| {
        vec![
            Cell::Number(*at_s),
            Cell::Words(course.name.clone()),
            Cell::Words(label_text(&course.labels)),
            Cell::Words(course.unit.symbol().into()),
            Cell::Number(*value),
            course.limit.map_or(Cell::Empty, Cell::Number),
        ]
    })
}

/// Labels as one text, `key=value;key=value`; a backslash precedes `;`, `=` and `\` that belong to
/// a key or value.
#[must_use]
pub fn label_text(labels: &Labels) -> String {
    let pair = |(key, value): (&String, &String)| format!("{}={}", escaped(key), escaped(value));
    labels.iter().map(pair).collect::<Vec<_>>().join(";")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, ';' | '=' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// A unit as the end of a title.
fn in_words(unit: Unit) -> &'static str {
    if unit == Unit::Bytes { "bytes" } else { unit.symbol() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::series::labels;

    #[test]
    fn a_title_ends_in_its_unit_and_a_stall_has_no_cause() {
        let state = [("nic_ring", Unit::Packets), ("kernel_buffer", Unit::Bytes)];
        let titles: Vec<String> =
            event_columns(&state).into_iter().map(|column| column.name).collect();
        assert_eq!(
            titles,
            ["at_ns", "event", "cause", "flow", "nic_ring_packets", "kernel_buffer_bytes"]
        );
        let stall = Event {
            at_ns: 2.5,
            name: "stall".into(),
            labels: labels([("flow", "3")]),
            state: BTreeMap::from([("kernel_buffer".into(), (9.0, Unit::Bytes))]),
        };
        let words = |text: &str| Cell::Words(text.into());
        let number = Cell::Number;
        assert_eq!(
            event_row(&stall, &state),
            [number(2.5), words("stall"), Cell::Empty, words("3"), Cell::Empty, number(9.0)]
        );
    }

    #[test]
    fn a_course_without_a_limit_has_none_in_its_rows() {
        let course = Timeline {
            name: "user_buffer.used".into(),
            labels: labels([("scenario", "a")]),
            unit: Unit::Bytes,
            limit: None,
            points: vec![(0.0, 1.0), (0.5, 2.0)],
        };
        let rows: Vec<_> = course_rows(&course).collect();
        assert_eq!((rows.len(), rows[0].len()), (2, course_columns().len()));
        assert_eq!(rows[1][4..], [Cell::Number(2.0), Cell::Empty]);
    }

    #[test]
    fn separators_within_labels_are_escaped() {
        assert_eq!(label_text(&labels([("a", "x;y=z"), ("b", "1")])), "a=x\\;y\\=z;b=1");
    }
}
