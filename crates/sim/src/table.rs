//! A table as CSV (RFC 4180, section 2): lines that begin with `#` are remarks, the first other
//! line names the columns, a field in quotes may hold commas.

use std::str::FromStr;

/// A table with named columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    file: String,
    columns: Vec<String>,
    /// Line in the file, from 1, and fields.
    rows: Vec<(usize, Vec<String>)>,
}

/// Why a table, or one of its values, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A table without a line of column names.
    #[error("{file} has no header")]
    NoHeader {
        /// The table.
        file: String,
    },
    /// A line with too few or too many fields.
    #[error("line {line} of {file} does not have {wanted} fields")]
    Fields {
        /// The table.
        file: String,
        /// The line, from 1.
        line: usize,
        /// How many fields it should have.
        wanted: usize,
    },
    /// A row that is not there.
    #[error("{file} has no row with {}", wanted.join(", "))]
    NoRow {
        /// The table.
        file: String,
        /// Columns and values.
        wanted: Vec<String>,
    },
    /// A column that is not there.
    #[error("{file} has no column {column}")]
    NoColumn {
        /// The table.
        file: String,
        /// The column.
        column: String,
    },
    /// A field that is no number.
    #[error("{file}, line {line}: `{text}` in column {column} is not a number")]
    Number {
        /// The table.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
}

/// One row of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    table: &'a Table,
    line: usize,
    fields: &'a [String],
}

impl Table {
    /// Reads the text of `file`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, TableError> {
        let file = file.to_owned();
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
            .map(|(index, line)| (index + 1, fields(line)));
        let (_, columns) =
            lines.next().ok_or_else(|| TableError::NoHeader { file: file.clone() })?;
        let rows: Vec<_> = lines.collect();
        if let Some((line, _)) = rows.iter().find(|(_, fields)| fields.len() != columns.len()) {
            return Err(TableError::Fields { file, line: *line, wanted: columns.len() });
        }
        Ok(Self { file, columns, rows })
    }

    /// The rows in the order of the file.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, fields)| Row { table: self, line: *line, fields })
    }

    /// The first row whose columns have these values.
    pub(crate) fn find(&self, wanted: &[(&str, &str)]) -> Result<Row<'_>, TableError> {
        let fits = |row: &Row<'_>| {
            wanted.iter().all(|(column, value)| row.text(column).is_ok_and(|text| text == *value))
        };
        self.rows().find(fits).ok_or_else(|| TableError::NoRow {
            file: self.file.clone(),
            wanted: wanted.iter().map(|(column, value)| format!("{column} {value}")).collect(),
        })
    }
}

impl<'a> Row<'a> {
    /// The line in the file, from 1.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// The text of a column.
    pub(crate) fn text(&self, column: &str) -> Result<&'a str, TableError> {
        let index = self.table.columns.iter().position(|name| name == column);
        let field = index.and_then(|index| self.fields.get(index));
        field.map(String::as_str).ok_or_else(|| TableError::NoColumn {
            file: self.table.file.clone(),
            column: column.into(),
        })
    }

    /// The number of a column.
    pub(crate) fn number(&self, column: &str) -> Result<f64, TableError> {
        self.parsed(column)
    }

    /// The whole number of a column.
    pub(crate) fn count(&self, column: &str) -> Result<u64, TableError> {
        self.parsed(column)
    }

    fn parsed<T: FromStr>(&self, column: &str) -> Result<T, TableError> {
        let text = self.text(column)?;
        text.parse().map_err(|_| TableError::Number {
            file: self.table.file.clone(),
            line: self.line,
            column: column.into(),
            text: text.into(),
        })
    }
}

/// The fields of one line.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields.last_mut().into_iter().for_each(|field| field.push(other)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a remark\nhost,rate\ne55,310\n\"a, b\",-\n";

    #[test]
    fn rows_are_found_by_their_values_and_numbers_are_read() {
        let table = Table::parse("t.csv", TEXT).unwrap();
        assert_eq!(table.find(&[("host", "e55")]).unwrap().number("rate"), Ok(310.0));
        assert_eq!(table.rows().nth(1).unwrap().text("host"), Ok("a, b"));
    }

    #[test]
    fn a_mistake_is_named_with_its_file_and_place() {
        let table = Table::parse("t.csv", TEXT).unwrap();
        let messages = [
            table.find(&[("host", "diablo")]).unwrap_err(),
            table.find(&[("host", "a, b")]).unwrap().number("rate").unwrap_err(),
            table.rows().next().unwrap().number("speed").unwrap_err(),
            Table::parse("t.csv", "a,b\n1\n").unwrap_err(),
            Table::parse("t.csv", "# nothing\n").unwrap_err(),
        ]
        .map(|error| error.to_string());
        let named = ["host diablo", "line 4: `-`", "column speed", "line 2 of t.csv", "no header"];
        for (message, named) in messages.iter().zip(named) {
            assert!(message.contains("t.csv") && message.contains(named), "{message}");
        }
    }
}
