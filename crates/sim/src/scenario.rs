//! A scenario file: one experiment, read from TOML with the place of every mistake.
//!
//! It holds either a `[pipeline]` (stages in their purest form) or a `[host]` with a `[job]` and,
//! where it limits, a `[link]`.

use std::ops::Range;

use bitpath_measure::Picos;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::host::HostScenario;
use crate::job::Job;
use crate::link::Link;
use crate::pipeline::Pipeline;
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

/// The file as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    title: String,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    interval: Option<Picos>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pipeline: Option<Pipeline>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<HostProfile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job: Option<Spanned<Job>>,
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
        let File { title, seed, interval, pipeline, host, job, link } = file;
        let subject = match (pipeline, host, job) {
            (Some(pipeline), None, None) if link.is_none() => Subject::Pipeline(pipeline),
            (None, Some(host), Some(job)) => {
                let span = Some(job.span());
                let job = job.into_inner();
                job.check().map_err(|error| ScenarioError { message: error.to_string(), span })?;
                let link = link.unwrap_or_default();
                let interval = interval.filter(|interval| interval.0 > 0).unwrap_or(Picos::SECOND);
                Subject::Host(Box::new(HostScenario { host, job, link, interval }))
            }
            _ => {
                return Err(general(
                    "a scenario has either a [pipeline], or a [host] and a [job] and perhaps a [link]",
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
        let mut file = File {
            title: self.title.clone(),
            seed: self.seed,
            interval: None,
            pipeline: None,
            host: None,
            job: None,
            link: None,
        };
        match &self.subject {
            Subject::Pipeline(pipeline) => file.pipeline = Some(pipeline.clone()),
            Subject::Host(scenario) => {
                file.interval = Some(scenario.interval);
                file.host = Some(scenario.host.clone());
                file.job = Some(Spanned::new(0..0, scenario.job.clone()));
                file.link = Some(scenario.link.clone());
            }
        }
        toml::to_string(&file).map_err(|error| general(&error.to_string()))
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
