//! Files that are written as their contents come, and are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bitpath_measure::run::{Cell, Column};

use super::{StoreError, failed};
use crate::parquet_file;

/// Writes lines, each with its line end, as they come.
///
/// # Errors
/// When the file system refuses; nothing half-written is left.
pub fn write_lines(path: &Path, lines: impl Iterator<Item = String>) -> Result<(), StoreError> {
    write_whole(path, |file| {
        for line in lines {
            file.write_all(line.as_bytes())?;
        }
        Ok(())
    })
}

/// Writes a table as a Parquet file, its rows as they come.
///
/// # Errors
/// As [`write_lines`], and where two columns have one title.
pub fn write_parquet(
    path: &Path,
    columns: &[Column],
    rows: impl Iterator<Item = Vec<Cell>>,
) -> Result<(), StoreError> {
    write_whole(path, |file| parquet_file::write(file, columns, rows).map_err(io::Error::other))
}

/// Fills a file beside its place and moves it there.
pub(crate) fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), StoreError> {
    let beside = path.with_extension(format!("part-{}", std::process::id()));
    let written = File::create(&beside).and_then(|file| {
        let mut file = BufWriter::new(file);
        fill(&mut file)?;
        file.into_inner()?.sync_all()?;
        fs::rename(&beside, path)
    });
    written.map_err(|source| {
        // It is only part of a file; if it cannot be removed, the first error says more.
        let _ = fs::remove_file(&beside);
        failed("write", path, source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write_lines(&path, ["a,b\n", "1,2\n"].into_iter().map(String::from)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a,b\n1,2\n");
        let missing = folder.path().join("missing/a.csv");
        let error = write_lines(&missing, std::iter::empty()).unwrap_err().to_string();
        assert!(error.contains("cannot write") && error.contains("missing/a.csv"), "{error}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }
}
