//! The steps of an experiment: their progress while they run, their length in the record.

use std::fmt;

use bitpath_measure::Run;
use bitpath_measure::run::Step;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::{PlatformError, interrupt};

use crate::BenchError;
use crate::progress::{Progress, Watcher};

/// Keeps time and tells the watcher.
pub struct Steps<'a> {
    watcher: Watcher<'a>,
    /// How many there will be, for whoever shows them.
    expected: usize,
    done: Vec<Step>,
    current: Option<(String, u64, String)>,
}

impl fmt::Debug for Steps<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Steps").field("done", &self.done).finish_non_exhaustive()
    }
}

impl<'a> Steps<'a> {
    /// None yet, of so many.
    pub fn new(watcher: Watcher<'a>, expected: usize) -> Self {
        Self { watcher, expected, done: Vec::new(), current: None }
    }

    /// The step before is over, this one begins; unless the user asked to stop.
    ///
    /// # Errors
    /// When the user asked to stop.
    pub fn begin(&mut self, name: &str) -> Result<(), BenchError> {
        self.close();
        self.current = Some((name.to_owned(), monotonic_ns(), "done".into()));
        self.tell(0.0)
    }

    /// This share of the current step is done, and it may go on unless the user asked to stop.
    ///
    /// # Errors
    /// When the user asked to stop.
    pub fn tell(&mut self, done: f64) -> Result<(), BenchError> {
        let doing = self.current.as_ref().map_or("", |current| current.0.as_str());
        (self.watcher)(Progress {
            step: self.done.len(),
            steps: self.expected.max(self.done.len() + 1),
            doing,
            done,
        });
        if interrupt::requested() {
            return Err(PlatformError::Interrupted { what: doing.into() }.into());
        }
        Ok(())
    }

    /// Why the current step ended.
    pub fn ended(&mut self, why: &str) {
        if let Some(current) = &mut self.current {
            current.2 = why.into();
        }
    }

    fn close(&mut self) {
        if let Some((name, start_ns, ended)) = self.current.take() {
            self.done.push(Step { name, seconds: (monotonic_ns() - start_ns) as f64 / 1e9, ended });
        }
    }

    /// Moves the steps into the record and names the one that was under way.
    pub fn finish(mut self, run: &mut Run) -> String {
        let under_way = self.current.as_ref().map_or_else(String::new, |current| current.0.clone());
        self.close();
        run.steps.append(&mut self.done);
        under_way
    }
}
