//! One sitting: a record that is begun, filled step by step, and closed, whatever ends it.
//!
//! ```text
//! begin ──► facts ──► steps, each with samples ──► close: series and figures, doubts, length ──► Run
//! ```

use bitpath_measure::run::{Document, Figure};
use bitpath_measure::{Pitfall, Run};
use bitpath_platform::{clock, facts};

use crate::BenchError;
use crate::sampling::Sampler;
use crate::steps::Steps;

/// A record under way.
#[derive(Debug)]
pub struct Sitting<'a> {
    /// What is known so far beside the samples.
    pub run: Run,
    /// The samples so far.
    pub sampler: Sampler,
    /// The steps so far.
    pub steps: Steps<'a>,
    start_ns: u64,
}

impl<'a> Sitting<'a> {
    /// Begins a record of a tool now.
    #[must_use]
    pub fn begin(tool: &str, id: &str, seed: u64, steps: Steps<'a>) -> Self {
        Self {
            run: Run::begin(tool, id, &clock::utc_now_rfc3339(), seed),
            sampler: Sampler::begin(),
            steps,
            start_ns: clock::monotonic_ns(),
        }
    }

    /// Goes on with a record that was cut short: its samples, its documents, its doubts as far as they
    /// are not found again, and the figures to be kept that are not drawn from samples.
    #[must_use]
    pub fn go_on(earlier: &Run, kept: impl Fn(&Figure) -> bool, steps: Steps<'a>) -> Self {
        let mut run = earlier.clone();
        run.complete = false;
        run.series.clear();
        run.figures.retain(kept);
        run.pitfalls.retain(|doubt| !found_again(doubt));
        let sampler = Sampler::go_on(earlier);
        Self { run, sampler, steps, start_ns: clock::monotonic_ns() }
    }

    /// Keeps a document in place of any of its name.
    pub fn keep(&mut self, document: Document) {
        self.run.documents.retain(|other| other.name != document.name);
        self.run.documents.push(document);
    }

    /// The first step: what the system says of this host.
    ///
    /// # Errors
    /// When the user asked to stop.
    pub fn read_facts(&mut self) -> Result<(), BenchError> {
        self.steps.begin("facts about this host")?;
        let environment = facts::environment();
        if let Some(hypervisor) = environment.system.hypervisor.clone() {
            self.run.doubt(Pitfall::Virtualised { hypervisor });
        }
        self.run.environment = Some(environment);
        Ok(())
    }

    /// Closes the record. One that the user interrupted is not complete but valid: it holds what was
    /// measured until then. So does one that an error ended, which is given back beside it.
    #[must_use]
    pub fn close(self, outcome: Result<(), BenchError>) -> (Run, Option<BenchError>) {
        let Self { mut run, sampler, steps, start_ns } = self;
        let step = steps.finish(&mut run);
        sampler.finish(&mut run);
        run.duration_s += (clock::monotonic_ns() - start_ns) as f64 / 1e9;
        match outcome {
            Ok(()) => {
                run.complete = true;
                (run, None)
            }
            Err(error) if error.interrupted() => {
                run.doubt(Pitfall::Interrupted { step });
                (run, None)
            }
            Err(error) => {
                run.doubt(Pitfall::Stopped { step, reason: error.to_string() });
                (run, Some(error))
            }
        }
    }
}

/// Doubts that are drawn anew when the record is closed.
fn found_again(doubt: &Pitfall) -> bool {
    matches!(
        doubt,
        Pitfall::Interrupted { .. }
            | Pitfall::Stopped { .. }
            | Pitfall::BudgetEnded { .. }
            | Pitfall::SmallSample { .. }
    )
}
