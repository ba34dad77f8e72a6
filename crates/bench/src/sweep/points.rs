//! The points file: JSON lines, a header and then each point as soon as it is done.
//!
//! A sweep that ends early, by whatever means, leaves whole lines and at most one torn one, which
//! is dropped. Points may stand in any order. The file is locked while a sweep writes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use bitpath_measure::Unit;
use bitpath_measure::run::Figure;
use bitpath_sim::engine::Engine;
use serde::{Deserialize, Serialize};

use super::Grid;

/// One figure of one point: name, unit, value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading(pub String, pub Unit, pub f64);

/// Why points cannot be kept or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum PointsError {
    /// There is such a file.
    #[error("{path} holds points already: go on with it by --resume, or choose another --out", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The points are those of another sweep.
    #[error("{path} cannot be gone on with: its points are of {other}", path = path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        other: &'static str,
    },
    /// A line that is not the last is no point.
    #[error("{path}:{line} is no point of a sweep: {reason}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Another sweep writes the file.
    #[error("{path} is being written by another sweep", path = path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was to be done.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What the points depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// Version of bitpath: another one may simulate differently.
    bitpath: String,
    /// The engine that was asked for.
    engine: Option<String>,
    /// Hash of the scenario's text.
    scenario: String,
    /// Hash of the grid.
    grid: String,
    /// Points of the grid.
    points: usize,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Point<R> {
    point: usize,
    figures: R,
}

/// An open points file.
#[derive(Debug)]
pub(super) struct PointsFile {
    file: File,
    path: PathBuf,
}

impl Reading {
    /// Of a figure, its labels behind its name. A bound goes without the name of what binds, which
    /// differs from point to point; a rate over no time, where nothing arrived, is zero.
    pub(super) fn of(figure: &Figure) -> Self {
        let is_bound = figure.name.starts_with(BOUND);
        let mut name = if is_bound { BOUND.to_owned() } else { figure.name.clone() };
        for (key, value) in figure.labels.iter().filter(|(key, _)| *key != "engine") {
            name += &format!(" {key}={value}");
        }
        let value = figure.estimate.value;
        Self(name, figure.unit, if value.is_finite() { value } else { 0.0 })
    }
}

/// How the name of a closed form's figure begins.
const BOUND: &str = "throughput.bound";

impl Header {
    pub(super) fn new(text: &str, grid: &Grid, engine: Option<Engine>) -> Self {
        Self {
            bitpath: env!("CARGO_PKG_VERSION").into(),
            engine: engine.map(|engine| engine.name().into()),
            scenario: hash(text),
            grid: hash(&grid.written()),
            points: grid.points(),
        }
    }

    /// What of the other differs.
    fn differs(&self, other: &Self) -> Option<&'static str> {
        [
            (self.bitpath != other.bitpath, "another version of bitpath"),
            (self.scenario != other.scenario, "another scenario"),
            (self.grid != other.grid || self.points != other.points, "another grid of values"),
            (self.engine != other.engine, "another engine"),
        ]
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
    }
}

impl PointsFile {
    /// A new file with its header.
    pub(super) fn create(path: &Path, header: &Header) -> Result<Self, PointsError> {
        if let Some(folder) = path.parent() {
            let made = fs::create_dir_all(folder);
            made.map_err(|source| failed("make the folder", folder, source))?;
        }
        if path.exists() {
            return Err(PointsError::Exists { path: path.into() });
        }
        let mut points = Self::open(path)?;
        points.write(header)?;
        Ok(points)
    }

    /// A file that is there already, and the points that it holds; a new one where there is none.
    pub(super) fn resume(path: &Path, header: &Header) -> Result<(Self, Done), PointsError> {
        let nothing = vec![None; header.points];
        if !path.exists() {
            return Ok((Self::create(path, header)?, nothing));
        }
        let mut points = Self::open(path)?;
        let mut lines = Lines { reader: BufReader::new(&points.file), line: 0, whole: 0 };
        let kept = lines.header(path, header)?;
        let done = if kept { lines.points(path, nothing)? } else { nothing };
        let whole = lines.whole;
        points.file.set_len(whole).map_err(|source| failed("shorten", path, source))?;
        if !kept {
            points.write(header)?;
        }
        Ok((points, done))
    }

    /// Adds a point; it is in the file when this returns.
    pub(super) fn append(&mut self, point: usize, figures: &[Reading]) -> Result<(), PointsError> {
        self.write(&Point { point, figures })
    }

    fn open(path: &Path) -> Result<Self, PointsError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path);
        let file = file.map_err(|source| failed("open", path, source))?;
        file.try_lock().map_err(|_| PointsError::Locked { path: path.into() })?;
        Ok(Self { file, path: path.into() })
    }

    /// One line in one call, so that a sudden death tears at most this line.
    fn write(&mut self, line: &impl Serialize) -> Result<(), PointsError> {
        let written = serde_json::to_string(line).map_err(io::Error::from);
        let written = written.and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        written.map_err(|source| failed("write", &self.path, source))
    }
}

/// The readings of each point that is done.
type Done = Vec<Option<Vec<Reading>>>;

/// The lines of a file that is read back.
struct Lines<R> {
    reader: BufReader<R>,
    /// Lines read so far.
    line: usize,
    /// Bytes of the whole ones.
    whole: u64,
}

impl<R: io::Read> Lines<R> {
    /// The next line that ends; none at the end or where the last one is torn.
    fn next(&mut self, path: &Path) -> Result<Option<Vec<u8>>, PointsError> {
        let mut line = Vec::new();
        let read = self.reader.read_until(b'\n', &mut line);
        let length = read.map_err(|source| failed("read", path, source))?;
        self.line += 1;
        if line.last() != Some(&b'\n') {
            return Ok(None);
        }
        self.whole += length as u64;
        Ok(Some(line))
    }

    /// Whether there is a header; it must be the expected one.
    fn header(&mut self, path: &Path, expected: &Header) -> Result<bool, PointsError> {
        let Some(line) = self.next(path)? else { return Ok(false) };
        let header: Header =
            serde_json::from_slice(&line).map_err(|error| self.damaged(path, &error))?;
        match header.differs(expected) {
            Some(other) => Err(PointsError::Other { path: path.into(), other }),
            None => Ok(true),
        }
    }

    fn points(&mut self, path: &Path, mut done: Done) -> Result<Done, PointsError> {
        while let Some(line) = self.next(path)? {
            let point: Point<Vec<Reading>> =
                serde_json::from_slice(&line).map_err(|error| self.damaged(path, &error))?;
            let points = done.len();
            let place = done.get_mut(point.point);
            *place.ok_or_else(|| self.damaged(path, &format!("there are {points} points")))? =
                Some(point.figures);
        }
        Ok(done)
    }

    fn damaged(&self, path: &Path, reason: &impl ToString) -> PointsError {
        PointsError::Damaged { path: path.into(), line: self.line, reason: reason.to_string() }
    }
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> PointsError {
    PointsError::File { action, path: path.into(), source }
}

/// 64 bits of FNV-1a (draft-eastlake-fnv, section 2): tells two texts apart, no more.
fn hash(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Estimate;
    use bitpath_measure::series::labels;

    fn header() -> Header {
        let grid = Grid::new(vec!["a=1,2,3".parse().unwrap()]).unwrap();
        Header::new("text", &grid, None)
    }

    fn resumed(text: &[u8]) -> Result<Done, PointsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points");
        fs::write(&path, text).unwrap();
        PointsFile::resume(&path, &header()).map(|(_, done)| done)
    }

    #[test]
    fn a_reading_is_told_by_its_labels_but_not_by_its_engine() {
        let figure = |name: &str, value| Figure {
            name: name.into(),
            labels: labels([("core", "1"), ("engine", "events")]),
            unit: Unit::Cores,
            estimate: Estimate::single(value),
        };
        let load = Reading::of(&figure("cpu.load", 0.5));
        assert_eq!(load, Reading("cpu.load core=1".into(), Unit::Cores, 0.5));
        let nothing = Reading::of(&figure("throughput.bound.nic", f64::NAN));
        assert_eq!(nothing, Reading("throughput.bound core=1".into(), Unit::Cores, 0.0));
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // Test vectors of the draft's appendix.
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("foobar"), "85944171f73967e8");
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points");
        let reading = |value| vec![Reading("loss".into(), Unit::Ratio, value)];
        let mut points = PointsFile::create(&path, &header()).unwrap();
        points.append(2, &reading(0.1 + 0.2)).unwrap();
        points.file.write_all(b"{\"point\":1,\"fig").unwrap();
        drop(points);
        let (mut points, done) = PointsFile::resume(&path, &header()).unwrap();
        assert_eq!(done, [None, None, Some(reading(0.1 + 0.2))]);
        points.append(0, &reading(0.5)).unwrap();
        drop(points);
        let (_, done) = PointsFile::resume(&path, &header()).unwrap();
        assert_eq!(done, [Some(reading(0.5)), None, Some(reading(0.1 + 0.2))]);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let first = serde_json::to_string(&header()).unwrap();
        for (line, word) in
            [("{\"point\":9,\"figures\":[]}", "there are 3 points"), ("x", "2 is no point")]
        {
            let error = resumed(format!("{first}\n{line}\n").as_bytes()).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains(":2"), "{error}");
        }
        assert!(resumed(b"\xff\n").unwrap_err().to_string().contains(":1 is no point"));
        assert_eq!(resumed(b"").unwrap(), [None, None, None]);
    }

    #[test]
    fn two_sweeps_do_not_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points");
        let _points = PointsFile::create(&path, &header()).unwrap();
        let error = PointsFile::resume(&path, &header()).unwrap_err();
        assert!(matches!(error, PointsError::Locked { .. }), "{error}");
    }
}
