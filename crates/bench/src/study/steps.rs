//! The steps of a study: their progress while they run, their length in the record.

use bitpath_measure::Run;
use bitpath_measure::run::Step;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::{PlatformError, interrupt};

use crate::BenchError;
use crate::progress::{Progress, Watcher};

/// Steps of a whole study.
const STEPS: usize = 9;

/// Keeps time and tells the watcher.
pub(super) struct Steps<'a> {
    watcher: Watcher<'a>,
    done: Vec<Step>,
    current: Option<(String, u64, String)>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(watcher: Watcher<'a>) -> Self {
        Self { watcher, done: Vec::new(), current: None }
    }

    /// The step before is over, this one begins; unless the user asked to stop.
    pub(super) fn begin(&mut self, name: &str) -> Result<(), BenchError> {
        self.close();
        self.current = Some((name.to_owned(), monotonic_ns(), "done".into()));
        self.tell(0.0)
    }

    /// This share of the current step is done, and the next may begin unless the user asked to
    /// stop.
    pub(super) fn tell(&mut self, done: f64) -> Result<(), BenchError> {
        let doing = self.current.as_ref().map_or("", |current| current.0.as_str());
        (self.watcher)(Progress { step: self.done.len(), steps: STEPS, doing, done });
        if interrupt::requested() {
            return Err(PlatformError::Interrupted { what: doing.into() }.into());
        }
        Ok(())
    }

    /// Why the current step ended.
    pub(super) fn ended(&mut self, why: &str) {
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
    pub(super) fn finish(mut self, run: &mut Run) -> String {
        let under_way = self.current.as_ref().map_or_else(String::new, |current| current.0.clone());
        self.close();
        run.steps = self.done;
        under_way
    }
}
