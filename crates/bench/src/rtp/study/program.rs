//! A program of the suite, ours or another's: started with its arguments, its lines read, killed when it takes too
//! long.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::BenchError;

/// Time for a program: a slow library takes a second for a run of the paper's input.
const LIMIT: Duration = Duration::from_secs(120);

/// Time between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(5);

/// The program, and a folder for what it says.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    scratch: PathBuf,
}

impl Program {
    pub(super) fn new(path: &Path, scratch: &Path) -> Self {
        Self { path: path.to_owned(), scratch: scratch.to_owned() }
    }

    /// Runs it to its end and returns its lines, one a run.
    pub(super) fn lines(&self, arguments: &[String]) -> Result<Vec<Value>, BenchError> {
        let failed = |reason: String| BenchError::Suite {
            benchmark: format!("{} {}", self.path.display(), arguments.join(" ")),
            reason,
        };
        // Files, for nobody reads a pipe while it runs.
        let [said, lines] = ["stderr", "stdout"].map(|name| self.scratch.join(name));
        let status =
            self.run(arguments, &said, &lines).map_err(|error| failed(error.to_string()))?;
        let read =
            |path: &Path| fs::read_to_string(path).map_err(|error| failed(error.to_string()));
        if !status.success() {
            return Err(failed(format!("{status}: {}", read(&said)?.trim())));
        }
        let line = |line: &str| {
            serde_json::from_str(line)
                .map_err(|error| failed(format!("its line `{line}`: {error}")))
        };
        read(&lines)?.lines().map(line).collect()
    }

    fn run(&self, arguments: &[String], said: &Path, lines: &Path) -> io::Result<ExitStatus> {
        let mut child = Command::new(&self.path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(File::create(lines)?)
            .stderr(File::create(said)?)
            .spawn()?;
        ended(&mut child)
    }
}

/// Waits for a program, and kills it when it takes too long.
fn ended(child: &mut Child) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            let why = format!("it did not end within {} s", LIMIT.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(script: &str) -> Result<Vec<Value>, BenchError> {
        let scratch = tempfile::tempdir().unwrap();
        let arguments = ["-c".to_owned(), script.to_owned()];
        Program::new(Path::new("/bin/sh"), scratch.path()).lines(&arguments)
    }

    #[test]
    fn every_line_is_a_run() {
        let found = lines(r#"echo '{"packets": 1}'; echo '{"packets": 2}'"#).unwrap();
        assert_eq!(
            found.iter().map(|line| line["packets"].as_u64()).collect::<Vec<_>>(),
            [Some(1), Some(2)]
        );
    }

    #[test]
    fn a_program_that_fails_or_talks_otherwise_is_named_with_its_words() {
        let failed = lines("echo no such codec >&2; exit 3").unwrap_err().to_string();
        assert!(
            failed.starts_with("/bin/sh -c echo") && failed.ends_with("no such codec"),
            "{failed}"
        );
        let other = lines("echo hello").unwrap_err().to_string();
        assert!(other.contains("its line `hello`"), "{other}");
    }
}
