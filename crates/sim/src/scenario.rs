//! A scenario file: one experiment, read from TOML with the place of every mistake.
//!
//! It holds a `[pipeline]` (stages in their purest form), a `[machine]` (a host that faces a
//! network), or a `[host]` with a `[job]` and, where it limits, a `[link]` (two processes of one host).

mod keys;
mod overrides;
mod reference;

pub use overrides::{Draft, Setting, SettingError};
pub use reference::{page as reference, schema};

use std::ops::Range;

use bitpath_measure::Picos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Spanned, Table};

use crate::bounds;
use crate::host::HostScenario;
use crate::job::Job;
use crate::link::Link;
use crate::machine::{KEPT_INCIDENTS, Machine, MachineScenario};
use crate::pipeline::{Distribution, Pipeline};
use crate::profile::HostProfile;

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it shows.
    pub title: String,
    /// Seed of everything random.
    pub seed: u64,
    /// What is simulated.
    pub subject: Subject,
}

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A chain of stages.
    Pipeline(Pipeline),
    /// A job on a host.
    Host(Box<HostScenario>),
    /// A host that faces a network.
    Machine(Box<MachineScenario>),
}

/// Why a text is no scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScenarioError {
    /// What is wrong and what would be allowed.
    pub message: String,
    /// Where in the text [B]; none where it is not one place.
    pub span: Option<Range<usize>>,
}

/// One experiment: a pipeline, a machine, or a job on a host.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    /// What the scenario shows.
    #[serde(default)]
    title: String,
    /// Seed of everything random.
    #[serde(default)]
    seed: u64,
    /// Length of an interval of the courses over time; one second where it is not given [ps].
    #[serde(default, deserialize_with = "bounds::course", skip_serializing_if = "Option::is_none")]
    interval: Option<Picos>,
    /// A chain of stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pipeline: Option<Pipeline>,
    /// A host that faces a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Machine>")]
    machine: Option<Spanned<Machine>>,
    /// A host whose two processes talk to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<HostProfile>,
    /// What the two processes do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Job>")]
    job: Option<Spanned<Job>>,
    /// What lies between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// With what is wrong, what is allowed, and where.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let file: File = toml::from_str(text).map_err(|error: toml::de::Error| ScenarioError {
            message: error.message().to_owned(),
            span: error.span(),
        })?;
        let File { title, seed, interval, pipeline, machine, host, job, link } = file;
        let interval = interval.unwrap_or(Picos::SECOND);
        let subject = match (pipeline, machine, host, job) {
            (Some(pipeline), None, None, None) if link.is_none() => Subject::Pipeline(pipeline),
            (None, Some(machine), None, None) if link.is_none() => {
                let span = Some(machine.span());
                let machine = machine.into_inner();
                machine
                    .check()
                    .map_err(|error| ScenarioError { message: error.to_string(), span })?;
                let keep_incidents = KEPT_INCIDENTS;
                Subject::Machine(Box::new(MachineScenario { machine, interval, keep_incidents }))
            }
            (None, None, Some(host), Some(job)) => {
                let span = Some(job.span());
                let job = job.into_inner();
                let link = link.unwrap_or_default();
                let scenario = HostScenario { host, job, link, interval };
                scenario
                    .check()
                    .map_err(|error| ScenarioError { message: error.to_string(), span })?;
                Subject::Host(Box::new(scenario))
            }
            _ => {
                return Err(general(
                    "a scenario has either a [pipeline], or a [machine], or a [host] and a [job] and perhaps a [link]",
                ));
            }
        };
        Ok(Self { title, seed, subject })
    }

    /// The scenario as a file's text.
    ///
    /// # Errors
    /// When a value cannot be written as TOML.
    pub fn write(&self) -> Result<String, ScenarioError> {
        toml::to_string(&self.file()).map_err(|error| general(&error.to_string()))
    }

    /// Every dotted key with its value as text, defaults included: what a setting may name, and what two
    /// scenarios are compared by.
    #[must_use]
    pub fn keys(&self) -> Vec<(String, String)> {
        Table::try_from(self.file()).map_or_else(|_| Vec::new(), |table| keys::flattened(&table))
    }

    /// Whether another seed can give another result.
    #[must_use]
    pub fn is_random(&self) -> bool {
        match &self.subject {
            Subject::Pipeline(pipeline) => {
                let mut services = pipeline.stages.iter().map(|stage| stage.distribution);
                services.any(|distribution| distribution == Distribution::Exponential)
                    || pipeline.arrivals.is_random()
            }
            Subject::Host(_) => false,
            Subject::Machine(scenario) => scenario.machine.is_random(),
        }
    }

    /// The file that this scenario is read from.
    fn file(&self) -> File {
        let mut file = File {
            title: self.title.clone(),
            seed: self.seed,
            interval: None,
            pipeline: None,
            machine: None,
            host: None,
            job: None,
            link: None,
        };
        match &self.subject {
            Subject::Pipeline(pipeline) => file.pipeline = Some(pipeline.clone()),
            Subject::Machine(scenario) => {
                file.interval = Some(scenario.interval);
                file.machine = Some(Spanned::new(0..0, scenario.machine.clone()));
            }
            Subject::Host(scenario) => {
                file.interval = Some(scenario.interval);
                file.host = Some(scenario.host.clone());
                file.job = Some(Spanned::new(0..0, scenario.job.clone()));
                file.link = Some(scenario.link.clone());
            }
        }
        file
    }
}

fn general(message: &str) -> ScenarioError {
    ScenarioError { message: message.into(), span: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P3: &str = include_str!("../../../scenarios/p3.toml");

    /// The message for a file with one line of P3 replaced, and the text that it points at.
    fn mistake(line: &str, instead: &str) -> (String, String) {
        assert!(P3.contains(line));
        let text = P3.replacen(line, instead, 1);
        let error = Scenario::parse(&text).unwrap_err();
        let place = error.span.map(|span| text[span].to_owned()).unwrap_or_default();
        (error.message, place)
    }

    #[test]
    fn mistakes_are_named_with_their_place_and_what_is_allowed() {
        let (message, place) = mistake("packets =", "pakets =");
        assert!(message.contains("unknown field `pakets`, expected one of `packets`"), "{message}");
        assert_eq!(place, "pakets");
        let (message, place) = mistake("\"900 ns\"", "\"900 MB\"");
        assert!(message.contains("the unit is one of s, ms, us, ns, ps"), "{message}");
        assert_eq!(place, "\"900 MB\"");
        for (value, named) in [
            ("0", "of 0 is out of range"),
            ("-3", "-3"),
            ("99999999999", "allowed are 1 to 16777216"),
        ] {
            let (message, place) = mistake("slots = 43", &format!("slots = {value}"));
            assert!(message.contains(named), "{message}");
            assert_eq!(place, value);
        }
        assert!(
            mistake("interval = \"1200 ns\"", "interval = 1200")
                .0
                .contains("in quotes with a unit")
        );
        assert!(mistake("when_full = \"drop\"", "when_full = \"block\"").0.contains("must drop"));
    }

    #[test]
    fn a_file_of_nothing_says_what_it_needs() {
        assert!(
            Scenario::parse("title = \"a\"").unwrap_err().message.contains("either a [pipeline]")
        );
    }

    #[test]
    fn a_written_scenario_reads_as_itself() {
        let scenario = Scenario::parse(P3).unwrap();
        assert_eq!(Scenario::parse(&scenario.write().unwrap()), Ok(scenario));
    }
}
