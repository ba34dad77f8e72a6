//! A host scenario: this host, this job, this link.

use bitpath_measure::Picos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::link::Link;
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
    #[serde(default = "second")]
    pub interval: Picos,
}

/// The study reported its components every second (sysSIM section 3.4).
fn second() -> Picos {
    Picos::SECOND
}
