//! A table of texts, before it is laid out for a terminal or marked up for a page.

use bitpath_measure::Run;
use bitpath_measure::run::Figure;

use crate::format;

/// On which side the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Names and sentences.
    Left,
    /// Numbers.
    Right,
}

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// What stands in it.
    pub(crate) title: String,
    /// The side of its cells.
    pub(crate) align: Align,
}

/// What a cell's text means for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing.
    Plain,
    /// Good news.
    Pass,
    /// Bad news.
    Fail,
}

/// One cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// What it says.
    pub(crate) text: String,
    /// Its colour.
    pub(crate) tone: Tone,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), tone: Tone::Plain }
    }
}

impl Cell {
    /// What stands before the interval; all where there is none.
    pub(crate) fn value(&self, column: &Column) -> &str {
        self.interval(column)
            .map_or(&self.text, |interval| self.text[..self.text.len() - interval.len()].trim_end())
    }

    /// The interval behind a number: `[830, 861]`.
    pub(crate) fn interval(&self, column: &Column) -> Option<&str> {
        let is_number = column.align == Align::Right && self.text.ends_with(']');
        let start = self.text.find(" [").filter(|_| is_number)?;
        Some(&self.text[start + 1..])
    }
}

/// Rows under columns; every row has as many cells as there are columns.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The columns, from the left.
    pub(crate) columns: Vec<Column>,
    /// The rows, from the top.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table; a title that begins with `>` makes a column of numbers.
    pub(crate) fn new<T: AsRef<str>>(titles: &[T]) -> Self {
        let column = |title: &T| match title.as_ref().strip_prefix('>') {
            Some(title) => Column { title: title.into(), align: Align::Right },
            None => Column { title: title.as_ref().into(), align: Align::Left },
        };
        Self { columns: titles.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Names and their values, a row each.
    pub(crate) fn of_pairs(titles: [&str; 2], pairs: Vec<(String, String)>) -> Self {
        let mut table = Self::new(&titles);
        for (name, value) in pairs {
            table.push([name, value]);
        }
        table
    }
}

/// Figures in a grid: the row by one label, the column by all others.
///
/// Rows whose labels are numbers come in the order of the numbers, before all others.
pub(crate) fn grid(figures: &[&Figure], row_key: &str, row_title: &str) -> Table {
    let rows = row_labels(figures, row_key);
    let mut columns: Vec<String> = Vec::new();
    for figure in figures {
        let column = column_label(figure, row_key);
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let titles: Vec<String> = std::iter::once(row_title.to_owned())
        .chain(columns.iter().map(|column| format!(">{column}")))
        .collect();
    let mut table = Table::new(&titles);
    for row in rows {
        let cell = |column: &String| {
            let is_here = |figure: &&&Figure| {
                row_label(figure, row_key) == row && column_label(figure, row_key) == *column
            };
            figures.iter().find(is_here).map_or_else(|| "-".into(), |figure| written(figure))
        };
        let cells = std::iter::once(row_name(&row)).chain(columns.iter().map(cell));
        table.push(cells.collect::<Vec<_>>());
    }
    table
}

/// Figures side by side: a row for each set of labels, a column for each name.
pub(crate) fn side_by_side(figures: &[&Figure], names: &[(&str, &str)]) -> Table {
    let present = |(name, _): &&(&str, &str)| figures.iter().any(|figure| figure.name == *name);
    let names: Vec<_> = names.iter().filter(present).collect();
    let titles: Vec<String> = std::iter::once(String::from("of"))
        .chain(names.iter().map(|(_, title)| format!(">{title}")))
        .collect();
    let mut table = Table::new(&titles);
    let mut seen = Vec::new();
    for labels in figures.iter().map(|figure| &figure.labels) {
        if seen.contains(&labels) {
            continue;
        }
        seen.push(labels);
        let cell = |(name, _): &&(&str, &str)| {
            let is_here = |figure: &&&Figure| figure.name == *name && figure.labels == *labels;
            figures.iter().find(is_here).map_or_else(|| "-".into(), |figure| written(figure))
        };
        let of: Vec<_> = labels.values().rev().cloned().collect();
        let first = if of.is_empty() { "-".into() } else { of.join(" ") };
        table.push(std::iter::once(first).chain(names.iter().map(cell)).collect::<Vec<_>>());
    }
    table
}

/// The figures of a run by these names, in the order of the record.
pub(crate) fn figures_named<'a>(run: &'a Run, names: &[&str]) -> Vec<&'a Figure> {
    run.figures.iter().filter(|figure| names.contains(&figure.name.as_str())).collect()
}

/// A label's value; nothing where the figure has no such label.
pub(crate) fn label<'a>(figure: &'a Figure, key: &str) -> &'a str {
    figure.labels.get(key).map_or("", String::as_str)
}

fn written(figure: &Figure) -> String {
    format::estimate(figure.unit, &figure.estimate)
}

fn row_label(figure: &Figure, key: &str) -> String {
    figure.labels.get(key).cloned().unwrap_or_default()
}

fn row_name(label: &str) -> String {
    if label.is_empty() { "-".into() } else { format::label_size(label) }
}

/// Every label but the row's, the last first: transport stands before side.
fn column_label(figure: &Figure, row_key: &str) -> String {
    let others = figure.labels.iter().rev().filter(|(key, _)| *key != row_key);
    others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
}

fn row_labels(figures: &[&Figure], key: &str) -> Vec<String> {
    let mut rows: Vec<_> = figures.iter().map(|figure| row_label(figure, key)).collect();
    rows.sort_by(|left, right| match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (a, b) => b.is_ok().cmp(&a.is_ok()).then_with(|| left.cmp(right)),
    });
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::series::labels;
    use bitpath_measure::{Estimate, Unit};

    fn cost(side: &str, bytes: &str, nanos: f64) -> Figure {
        Figure {
            name: "stack.cost".into(),
            labels: labels([("side", side), ("transport", "udp"), ("message_bytes", bytes)]),
            unit: Unit::Nanoseconds,
            estimate: Estimate::single(nanos),
        }
    }

    #[test]
    fn sizes_are_sorted_as_numbers_and_gaps_are_marked() {
        let figures =
            [cost("send", "1024", 3.0), cost("send", "64", 1.0), cost("receive", "64", 2.0)];
        let table = grid(&figures.iter().collect::<Vec<_>>(), "message_bytes", "message");
        let texts: Vec<Vec<_>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| cell.text.as_str()).collect())
            .collect();
        assert_eq!(texts, [["64 B", "1.00 ns", "2.00 ns"], ["1 KiB", "3.00 ns", "-"]]);
        let titles: Vec<_> = table.columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(titles, ["message", "udp send", "udp receive"]);
    }

    #[test]
    fn a_row_without_its_label_comes_last() {
        let mut odd = cost("send", "64", 1.0);
        odd.labels.remove("message_bytes");
        let figures = [odd, cost("send", "8", 1.0)];
        let table = grid(&figures.iter().collect::<Vec<_>>(), "message_bytes", "message");
        assert_eq!(table.rows[1][0].text, "-");
    }
}
