//! A table in a file whose name says its form: `.csv` or `.parquet`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bitpath_measure::run::{Cell, Column};
use bitpath_report::csv;
use bitpath_results::{StoreError, write_lines, write_parquet};

/// Where a table goes, and in which form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableFile {
    path: PathBuf,
    form: Form,
}

/// Forms of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Csv,
    Parquet,
}

impl TableFile {
    /// Writes the table, its rows as they come. The file is there whole or not at all.
    pub(crate) fn write(
        &self,
        columns: &[Column],
        rows: impl Iterator<Item = Vec<Cell>>,
    ) -> Result<(), StoreError> {
        match self.form {
            Form::Csv => {
                let lines = rows.map(|row| csv::line(&row));
                write_lines(&self.path, std::iter::once(csv::header(columns)).chain(lines))
            }
            Form::Parquet => write_parquet(&self.path, columns, rows),
        }
    }
}

impl FromStr for TableFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ending = Path::new(text).extension().map(|ending| ending.to_ascii_lowercase());
        let form = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("csv") => Form::Csv,
            Some("parquet") => Form::Parquet,
            _ => {
                return Err(format!("`{text}` is no table: its name must end in .csv or .parquet"));
            }
        };
        Ok(Self { path: text.into(), form })
    }
}

impl fmt::Display for TableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_the_form() {
        for (name, form) in
            [("a.csv", Form::Csv), ("b/a.CSV", Form::Csv), ("a.b.parquet", Form::Parquet)]
        {
            assert_eq!(name.parse::<TableFile>().map(|table| table.form), Ok(form));
        }
        for name in ["a", "a.txt", ".csv", "a.csv.gz", ""] {
            let error = name.parse::<TableFile>().unwrap_err();
            assert!(error.contains(".csv or .parquet"), "{error}");
        }
    }
}
