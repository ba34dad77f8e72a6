//! What a study concludes: the bottleneck of each job, what would relieve it, what line rate the
//! host would serve.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::Estimate;

/// The conclusions of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The conclusions in plain words, a sentence each.
    pub sentences: Vec<String>,
    /// One entry a job, the job of the study's question first.
    pub jobs: Vec<JobAnswer>,
    /// Line rate that one receiving core of this host would serve with full frames [b/s].
    pub line_rate_bits_per_second: Estimate,
}

/// What limits one job and what would help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobAnswer {
    /// The scenario.
    pub scenario: String,
    /// The parameter with the largest elasticity, by its dotted name.
    pub bottleneck: String,
    /// The same in plain words.
    pub bottleneck_in_words: String,
    /// Elasticities, the largest magnitude first.
    pub elasticities: Vec<Elasticity>,
    /// Remedies, the largest predicted gain first.
    pub remedies: Vec<Remedy>,
}

/// How much throughput moves with one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elasticity {
    /// Dotted name of the parameter.
    pub parameter: String,
    /// Relative change of useful throughput for a relative change towards more resource [ratio];
    /// 1 means in proportion.
    pub throughput: Estimate,
    /// The same for the share of packets lost [ratio].
    pub loss: Estimate,
}

/// One remedy of the 2004 study's table 11, applied in the model and perhaps on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// Its name.
    pub name: String,
    /// What it changes.
    pub change: String,
    /// Predicted throughput over the throughput without it [ratio].
    pub predicted_gain: Estimate,
    /// What really applying it did.
    pub outcome: RemedyOutcome,
}

/// What is known of a remedy on the real machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RemedyOutcome {
    /// It was applied and measured.
    Measured {
        /// Measured throughput over the throughput without it [ratio].
        gain: Estimate,
    },
    /// It could not be applied here.
    NotApplicable {
        /// Why.
        reason: String,
    },
    /// It was not tried in this run.
    NotTried,
}
