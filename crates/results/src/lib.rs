//! Run records kept in a folder, one JSON file each.
//!
//! A record is written beside its place and moved there, so that a file with a record's name is
//! always a whole record. The points of a sweep are kept as Parquet, too. Long tables go to a file
//! of their own, as they come.

mod parquet_file;
mod table;

pub use table::{write_lines, write_parquet};

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bitpath_measure::Run;
use bitpath_measure::run::SCHEMA;
use parquet::errors::ParquetError;

/// Largest record that is read [B]: a long study has some megabytes.
const MAX_RECORD: u64 = 1 << 30;

/// A folder of records.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Why a record could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("cannot {action} {path}: {source}")]
    File {
        /// What was to be done.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is no record.
    #[error("{path} is no run record: {reason}")]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The record was written by a later version.
    #[error("{path} has schema {schema}, this version reads up to {SCHEMA}: use a later bitpath")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema number.
        schema: u64,
    },
    /// No or more than one record has such a name.
    #[error(
        "{found} records in {folder} have an id that begins with `{id}`; `bitpath runs list` shows them"
    )]
    NotOne {
        /// The folder.
        folder: PathBuf,
        /// The beginning of an id.
        id: String,
        /// How many there are.
        found: usize,
    },
}

impl Store {
    /// The records of a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// An id that begins with `wish` and that no record of the folder has.
    #[must_use]
    pub fn free_id(&self, wish: &str) -> String {
        let taken = |id: &str| self.path(id, "json").exists();
        if !taken(wish) {
            return wish.to_owned();
        }
        (2_u64..)
            .map(|number| format!("{wish}-{number}"))
            .find(|id| !taken(id))
            .unwrap_or_else(|| wish.to_owned())
    }

    /// Makes sure that records can be written, before anything is measured for them.
    ///
    /// # Errors
    /// When the folder cannot be made or written to.
    pub fn prepare(&self) -> Result<(), StoreError> {
        self.make()?;
        let trial = self.folder.join(format!(".trial-{}", std::process::id()));
        File::create(&trial)
            .map_err(|source| failed("write to the folder", &self.folder, source))?;
        fs::remove_file(&trial)
            .map_err(|source| failed("write to the folder", &self.folder, source))
    }

    /// Writes a record and returns its file.
    ///
    /// # Errors
    /// When the file system refuses; nothing half-written is left.
    pub fn save(&self, run: &Run) -> Result<PathBuf, StoreError> {
        let path = self.path(&run.id, "json");
        let text = serde_json::to_string_pretty(run).map_err(|error| StoreError::NotARecord {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        self.write(&path, text.as_bytes())?;
        Ok(path)
    }

    /// Writes the series of a sweep as a Parquet file, a column each, and returns the file.
    ///
    /// # Errors
    /// As [`Self::save`], and where the series are no table.
    pub fn save_parquet(&self, run: &Run) -> Result<PathBuf, StoreError> {
        let path = self.path(&run.id, "parquet");
        let not_a_table = |error: ParquetError| StoreError::NotARecord {
            path: path.clone(),
            reason: error.to_string(),
        };
        let (columns, rows) = parquet_file::points(run).map_err(not_a_table)?;
        self.make()?;
        write_parquet(&path, &columns, rows)?;
        Ok(path)
    }

    /// Writes a text beside a record, for example its report, and returns its file.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn save_beside(
        &self,
        id: &str,
        extension: &str,
        text: &str,
    ) -> Result<PathBuf, StoreError> {
        let path = self.path(id, extension);
        self.write(&path, text.as_bytes())?;
        Ok(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.make()?;
        table::write_whole(path, |file| file.write_all(bytes))
    }

    fn make(&self) -> Result<(), StoreError> {
        fs::create_dir_all(&self.folder)
            .map_err(|source| failed("make the folder", &self.folder, source))
    }

    /// Every record of the folder, or why it cannot be read, in the order of their names.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Result<Run, StoreError>>, StoreError> {
        Ok(self.files()?.iter().map(|path| read(path)).collect())
    }

    /// The one record whose id begins with `id`.
    ///
    /// # Errors
    /// When there is none or more than one, or when it cannot be read.
    pub fn find(&self, id: &str) -> Result<Run, StoreError> {
        let files = self.files()?;
        let name = |path: &PathBuf| {
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
        };
        if let Some(path) = files.iter().find(|path| name(path) == id) {
            return read(path);
        }
        let fitting: Vec<&PathBuf> =
            files.iter().filter(|path| name(path).starts_with(id)).collect();
        match fitting.as_slice() {
            [path] => read(path),
            _ => Err(StoreError::NotOne {
                folder: self.folder.clone(),
                id: id.into(),
                found: fitting.len(),
            }),
        }
    }

    fn files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let refused = |source| failed("read the folder", &self.folder, source);
        if !self.folder.exists() {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(refused)? {
            let path = entry.map_err(refused)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    fn path(&self, id: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{id}.{extension}"))
    }
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::File { action, path: path.to_owned(), source }
}

/// Reads one record.
/// The record that a file holds.
///
/// # Errors
/// When it cannot be read, or is no record, or one of a later version.
pub fn read(path: &Path) -> Result<Run, StoreError> {
    let not_a_record = |reason: String| StoreError::NotARecord { path: path.to_owned(), reason };
    let size = fs::metadata(path).map_err(|source| failed("read", path, source))?.len();
    if size > MAX_RECORD {
        return Err(not_a_record(format!("it has {size} B, more than any record")));
    }
    let text = fs::read_to_string(path).map_err(|source| failed("read", path, source))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| not_a_record(error.to_string()))?;
    let schema = value.get("schema").and_then(serde_json::Value::as_u64);
    match schema {
        None => Err(not_a_record("it has no schema number".into())),
        Some(schema) if schema > u64::from(SCHEMA) => {
            Err(StoreError::Newer { path: path.to_owned(), schema })
        }
        Some(_) => serde_json::from_value(value).map_err(|error| not_a_record(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> Run {
        Run::begin("study", id, "2026-01-01T00:00:00Z", 0)
    }

    #[test]
    fn a_saved_record_is_found_by_the_beginning_of_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&folder.path().join("runs"));
        store.prepare().unwrap();
        store.save(&run("2026-a")).unwrap();
        store.save(&run("2026-b")).unwrap();
        assert_eq!(store.find("2026-a").unwrap(), run("2026-a"));
        assert_eq!(store.find("2026-b").unwrap().id, "2026-b");
        assert!(store.find("2026").unwrap_err().to_string().starts_with("2 records"));
        assert!(store.find("2025").unwrap_err().to_string().starts_with("0 records"));
        assert_eq!(store.list().unwrap().len(), 2);
        assert_eq!(store.free_id("2026-a"), "2026-a-2");
    }

    #[test]
    fn what_is_no_record_is_named_and_the_others_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        store.save(&run("good")).unwrap();
        fs::write(folder.path().join("a.json"), "{}").unwrap();
        fs::write(folder.path().join("b.json"), "{\"schema\": 999}").unwrap();
        let listed = store.list().unwrap();
        let errors: Vec<String> =
            listed.iter().filter_map(|run| run.as_ref().err().map(ToString::to_string)).collect();
        assert!(
            errors[0].contains("a.json is no run record: it has no schema number"),
            "{errors:?}"
        );
        assert!(errors[1].contains("b.json has schema 999"), "{errors:?}");
        assert_eq!(listed.iter().filter(|run| run.is_ok()).count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named_before_anything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Store::new(&file.join("runs")).prepare().unwrap_err().to_string();
        assert!(
            error.starts_with("cannot make the folder") && error.contains("file/runs"),
            "{error}"
        );
    }

    #[test]
    fn nothing_half_written_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        fs::create_dir(folder.path().join("a.json")).unwrap();
        fs::write(folder.path().join("a.json/occupied"), "").unwrap();
        assert!(store.save(&run("a")).is_err());
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["a.json"]);
    }
}
