//! A host scenario: this host, this job, this link.

use bitpath_measure::Picos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::job::{Job, JobError, Work};
use crate::link::Link;
use crate::path;
use crate::profile::HostProfile;

/// One experiment on a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostScenario {
    /// The host.
    pub host: HostProfile,
    /// The job.
    pub job: Job,
    /// The link.
    #[serde(default)]
    pub link: Link,
    /// Length of the intervals of the courses over time [ps].
    #[serde(default = "second", deserialize_with = "bounds::slice")]
    pub interval: Picos,
}

/// Values of a host's scenario that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The job by itself.
    #[error(transparent)]
    Job(#[from] JobError),
    /// Nothing that lets time pass.
    #[error(
        "job {job}: nothing holds its sender back: a call costs it no time, and the job has no rate"
    )]
    Unpaced {
        /// The job.
        job: String,
    },
}

impl HostScenario {
    /// Why this scenario cannot be, where two of its values do not go together.
    ///
    /// # Errors
    /// As [`Job::check`], and where the sender would send without end at one instant.
    pub fn check(&self) -> Result<(), HostError> {
        self.job.check()?;
        let unpaced = matches!(self.job.work, Work::Raw { rate: None, .. });
        if unpaced && path::send_time(self) == Picos(0) {
            return Err(HostError::Unpaced { job: self.job.name.clone() });
        }
        Ok(())
    }
}

/// The study reported its components every second (sysSIM section 3.4).
fn second() -> Picos {
    Picos::SECOND
}
