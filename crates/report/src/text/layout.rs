//! Lines of a terminal: wrapped sentences, aligned tables, and lists of rows where a table is too
//! wide.

use crate::table::{Align, Cell, Column, Table};

/// Narrowest page that is laid out for; below it lines are longer than asked.
const MIN_WIDTH: usize = 40;

/// Letters between two columns.
const BETWEEN: usize = 2;

/// A column of words is not made narrower than this.
const MIN_COLUMN: usize = 10;

/// Stands for a space at which no line ends, until the line is written.
const NO_BREAK: &str = "\u{a0}";

/// A longer word may be cut: it is a path or worse.
const LONGEST_WORD: usize = 34;

/// Lines in the making.
#[derive(Debug)]
pub(super) struct Page {
    width: usize,
    text: String,
}

impl Page {
    /// An empty page of this many letters.
    pub(super) fn new(width: usize) -> Self {
        Self { width: width.max(MIN_WIDTH), text: String::new() }
    }

    /// The page, without a gap at its end.
    pub(super) fn finish(self) -> String {
        self.text.trim_end_matches('\n').to_owned() + "\n"
    }

    /// An empty line, unless there is one.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A title over a rule, with gaps around.
    pub(super) fn title(&mut self, title: &str) {
        self.gap();
        self.line(title);
        self.line(&"=".repeat(title.chars().count()));
    }

    /// A title within a section.
    pub(super) fn heading(&mut self, heading: &str) {
        self.gap();
        self.line(&format!("-- {} --", plain(heading)));
    }

    /// Sentences, wrapped.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.hanging("", text);
    }

    /// One item of a list, wrapped behind its mark.
    pub(super) fn item(&mut self, text: &str) {
        self.hanging("- ", text);
    }

    /// Columns where they fit, else a list of the rows; then a gap.
    pub(super) fn table(&mut self, table: &Table) {
        let natural = natural_widths(table);
        match fitted_widths(table, &natural, self.width) {
            Some(widths) => self.columns(table, &widths),
            None => self.rows_as_lists(table),
        }
        self.gap();
    }

    fn columns(&mut self, table: &Table, widths: &[usize]) {
        let titles: Vec<Cell> =
            table.columns.iter().map(|column| column.title.clone().into()).collect();
        self.row(table, &titles, widths);
        let rule: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
        self.line(&rule.join(&" ".repeat(BETWEEN)));
        for row in &table.rows {
            self.row(table, row, widths);
        }
    }

    /// One row, as many lines high as its highest cell.
    fn row(&mut self, table: &Table, cells: &[Cell], widths: &[usize]) {
        let lines = |((cell, width), column): ((&Cell, &usize), &Column)| {
            cell_lines(&plain(&cell.text), *width, column.align)
        };
        let wrapped: Vec<_> = cells.iter().zip(widths).zip(&table.columns).map(lines).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        for index in 0..height {
            let parts: Vec<String> = wrapped
                .iter()
                .zip(widths)
                .zip(&table.columns)
                .map(|((lines, width), column)| {
                    let text = lines.get(index).map_or("", String::as_str);
                    pad(text, *width, column.align)
                })
                .collect();
            self.line(parts.join(&" ".repeat(BETWEEN)).trim_end());
        }
    }

    /// Each row as its first cell, then the others behind their titles.
    fn rows_as_lists(&mut self, table: &Table) {
        for row in &table.rows {
            let mut cells = row.iter().zip(&table.columns);
            let Some((first, _)) = cells.next() else {
                continue;
            };
            let titled = |(cell, column): (&Cell, &Column)| match column.align {
                Align::Left => format!("{} {}", column.title, cell.text),
                Align::Right => format!("{} {}", column.title, cell.text).replace(' ', NO_BREAK),
            };
            let others: Vec<_> = cells.map(titled).collect();
            self.hanging("- ", &format!("{}: {}", first.text, others.join("; ")));
        }
    }

    /// Wrapped text behind a mark; later lines stand below its first letter.
    fn hanging(&mut self, mark: &str, text: &str) {
        let indent = mark.chars().count();
        for (index, line) in wrap(&plain(text), self.width - indent).iter().enumerate() {
            let before = if index == 0 { mark.to_owned() } else { " ".repeat(indent) };
            self.line(&(before + line));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&line.replace(NO_BREAK, " "));
        self.text.push('\n');
    }
}

/// The text on one line, control characters replaced: no escape sequence reaches a terminal.
///
/// The marks that turn the direction of writing go too, since they can make a line lie.
pub(super) fn plain(text: &str) -> String {
    let replace = |letter: char| match letter {
        '\t' | '\n' | '\r' => ' ',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        control if control.is_control() => '\u{fffd}',
        other => other,
    };
    text.chars().map(replace).collect()
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

fn natural_widths(table: &Table) -> Vec<usize> {
    let widest = |index: usize, title: &str| {
        let cells = table.rows.iter().filter_map(|row| row.get(index));
        cells.map(|cell| letters(&cell.text)).chain([letters(title)]).max().unwrap_or(0)
    };
    table.columns.iter().enumerate().map(|(index, column)| widest(index, &column.title)).collect()
}

/// Widths that fit the page: words are wrapped, then intervals go below their values, in every
/// column alike; `None` where that is not enough.
fn fitted_widths(table: &Table, natural: &[usize], page: usize) -> Option<Vec<usize>> {
    let least = least_widths(table, natural);
    let columns = || table.columns.iter().zip(natural).zip(&least);
    let with_numbers_folded = columns().map(|((column, natural), least)| match column.align {
        Align::Left => *natural,
        Align::Right => *least,
    });
    let with_numbers_folded = with_numbers_folded.collect();
    [natural.to_vec(), with_numbers_folded]
        .into_iter()
        .find_map(|widths| with_words_wrapped(table, widths, &least, page))
}

/// The widths with columns of words narrowed, the widest first, until they fit.
fn with_words_wrapped(
    table: &Table,
    mut widths: Vec<usize>,
    least: &[usize],
    page: usize,
) -> Option<Vec<usize>> {
    let gaps = BETWEEN * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > page {
        let narrowable = |(index, width): &(usize, &usize)| {
            table.columns[*index].align == Align::Left && **width > least[*index]
        };
        let (index, _) =
            widths.iter().enumerate().filter(narrowable).max_by_key(|(_, width)| **width)?;
        widths[index] -= 1;
    }
    Some(widths)
}

/// Widths below which a word or a number would be cut.
fn least_widths(table: &Table, natural: &[usize]) -> Vec<usize> {
    let least = |index: usize, column: &Column| {
        let cells = table.rows.iter().filter_map(|row| row.get(index));
        let parts = cells.flat_map(|cell| parts(&cell.text, column.align)).map(letters);
        let longest = parts.chain([letters(&column.title)]).max().unwrap_or(0);
        match column.align {
            Align::Left => longest.clamp(MIN_COLUMN.min(natural[index]), LONGEST_WORD),
            Align::Right => longest,
        }
    };
    table.columns.iter().enumerate().map(|(index, column)| least(index, column)).collect()
}

/// What of a cell stays on one line: a word; a number with its unit; an interval.
fn parts(text: &str, align: Align) -> Vec<&str> {
    match (align, text.find(" [")) {
        (Align::Left, _) => text.split_whitespace().collect(),
        (Align::Right, Some(bracket)) => vec![&text[..bracket], &text[bracket + 1..]],
        (Align::Right, None) => vec![text],
    }
}

/// A cell as lines of a column.
fn cell_lines(text: &str, width: usize, align: Align) -> Vec<String> {
    if align == Align::Left || letters(text) <= width {
        return wrap(text, width);
    }
    parts(text, align).into_iter().map(String::from).collect()
}

/// Lines of at most `width` letters, broken between words; a longer word is cut.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut rest = word;
        loop {
            let line = lines.len() - 1;
            let gap = usize::from(!lines[line].is_empty());
            if letters(&lines[line]) + gap + letters(rest) <= width {
                lines[line].push_str(&" ".repeat(gap));
                lines[line].push_str(rest);
                break;
            }
            if gap > 0 {
                lines.push(String::new());
                continue;
            }
            let cut = rest.char_indices().nth(width).map_or(rest.len(), |(index, _)| index);
            lines[line].push_str(&rest[..cut]);
            rest = &rest[cut..];
            lines.push(String::new());
        }
    }
    lines
}

fn pad(text: &str, width: usize, align: Align) -> String {
    match align {
        Align::Left => format!("{text:<width$}"),
        Align::Right => format!("{text:>width$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: usize, table: &Table) -> String {
        let mut page = Page::new(width);
        page.table(table);
        page.finish()
    }

    #[test]
    fn columns_stand_below_each_other() {
        let mut table = Table::new(&["name", ">value"]);
        table.push(["a", "1 ns"]);
        table.push(["long name", "1000 ns"]);
        let text =
            "name         value\n---------  -------\na             1 ns\nlong name  1000 ns\n";
        assert_eq!(page(80, &table), text);
    }

    #[test]
    fn no_line_is_longer_than_the_page() {
        let mut table = Table::new(&["name", "change", ">value"]);
        table.push([
            "interface",
            "a sentence that goes on for much longer than the page is wide",
            "1 ns",
        ]);
        for width in [40, 60, 79] {
            assert!(page(width, &table).lines().all(|line| letters(line) <= width));
        }
    }

    #[test]
    fn a_table_of_too_many_numbers_becomes_a_list() {
        let titles: Vec<String> = (0..12).map(|index| format!(">number {index}")).collect();
        let mut table = Table::new(&titles);
        table.push((0..12).map(|index| index.to_string()));
        assert!(page(60, &table).starts_with("- 0: number 1 1; number 2 2;"));
    }

    #[test]
    fn no_escape_sequence_reaches_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\nc\u{202e}d"), "a\u{fffd}[31mb c\u{fffd}d");
    }

    #[test]
    fn a_word_longer_than_the_line_is_cut() {
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("", 3), [""]);
    }
}
