//! Changes of a machine while it runs: `machine.line.rate=1 Gb/s`.
//!
//! They are read as settings of the scenario are. A value that the machine takes only when it
//! begins is refused rather than ignored.

use std::collections::BTreeMap;

use bitpath_measure::Picos;
use bitpath_sim::machine::Machine;
use bitpath_sim::scenario::{Draft, Scenario, ScenarioError, Setting, SettingError, Subject};

/// The scenario as it is by now, and how it became that.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    draft: Draft,
    settings: Vec<Setting>,
    scenario: Scenario,
    changes: Vec<Change>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Simulated time.
    pub(crate) at: Picos,
    /// The setting as written.
    pub(crate) setting: String,
}

/// Why a change is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SteeringError {
    /// The scenario does not take it.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The machine takes it only when it begins.
    #[error("{key} is fixed once the machine runs: end this run and give it with --set")]
    Fixed {
        /// The dotted key.
        key: String,
    },
}

impl Steering {
    /// Nothing is changed yet.
    ///
    /// # Errors
    /// When the text is no scenario.
    pub(crate) fn new(scenario: &Scenario, text: &str) -> Result<Self, ScenarioError> {
        let (settings, changes) = (Vec::new(), Vec::new());
        Ok(Self { draft: Draft::read(text)?, settings, scenario: scenario.clone(), changes })
    }

    /// Changes one value at simulated time `at`, and returns the machine as it goes on.
    ///
    /// # Errors
    /// When the scenario does not take it, or not any more.
    pub(crate) fn change(&mut self, at: Picos, written: &str) -> Result<Machine, SteeringError> {
        let setting: Setting = written.parse()?;
        let mut settings = self.settings.clone();
        settings.push(setting.clone());
        let (scenario, _) = self.draft.with(&settings)?;
        let fixed = |key: String| SteeringError::Fixed { key };
        if let Some(difference) = differences(&self.scenario, &scenario).find(is_fixed) {
            return Err(fixed(difference.key));
        }
        let Subject::Machine(machine) = &scenario.subject else {
            return Err(fixed(setting.key().to_owned()));
        };
        let machine = machine.machine.clone();
        self.changes.push(Change { at, setting: setting.to_string() });
        (self.settings, self.scenario) = (settings, scenario);
        Ok(machine)
    }

    /// What was changed, in order.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// A key that two scenarios have different values of.
struct Difference {
    key: String,
    old: Option<String>,
    new: String,
}

fn differences(old: &Scenario, new: &Scenario) -> impl Iterator<Item = Difference> {
    let mut old: BTreeMap<String, String> = old.keys().into_iter().collect();
    let beside = move |(key, new): (String, String)| Difference { old: old.remove(&key), key, new };
    new.keys().into_iter().map(beside).filter(|values| values.old.as_ref() != Some(&values.new))
}

/// Whether the machine takes a value when it begins, and not anew for each packet, call and slice.
///
/// Programs and sources have their values from the beginning; so has a stream its segment and what
/// a segment is charged. A transfer by the card cannot become one by a core on its way.
fn is_fixed(difference: &Difference) -> bool {
    let Some(key) = difference.key.strip_prefix("machine.") else { return true };
    let (table, key) = key.split_once('.').unwrap_or(("", key));
    match (table, key) {
        ("cpu", key) => key == "cores" || key == "speed",
        ("nic", key) => key == "queues" || key == "offload_engine",
        ("line", key) => key == "segment",
        ("stack", key) => key == "overhead",
        ("flow", key) if key.ends_with(".copies") => {
            difference.new == "rdma" || difference.old.as_deref() == Some("rdma")
        }
        ("flow", key) => !key.ends_with(".receive_buffer") && !key.ends_with(".send_buffer"),
        ("bus" | "memory", _) | ("", "duration") => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILM: &str = include_str!("../../../../scenarios/mpeg-sw.toml");

    fn film() -> Steering {
        Steering::new(&Scenario::parse(FILM).unwrap(), FILM).unwrap()
    }

    #[test]
    fn changes_add_up_and_are_kept_with_their_time() {
        let mut film = film();
        film.change(Picos(1), "machine.line.rate=10 Mb/s").unwrap();
        let machine = film.change(Picos(2), "machine.flow.film.receive_buffer=16 KiB").unwrap();
        assert_eq!(machine.line.rate.0, 10_000_000);
        film.change(Picos(3), "machine.flow.film.copies=zero-copy").unwrap();
        assert_eq!(machine.flows[0].receive_buffer.0, 16_384);
        let setting = "machine.flow.film.receive_buffer=16 KiB".to_owned();
        assert_eq!(film.changes()[1], Change { at: Picos(2), setting });
    }

    #[test]
    fn what_cannot_be_changed_is_named_and_changes_nothing() {
        for (written, words) in [
            ("machine.cpu.cores=2", "machine.cpu.cores is fixed once the machine runs"),
            ("machine.nic.queues=2", "fixed"),
            ("machine.line.segment=1000 B", "fixed"),
            ("machine.stack.overhead=0 B", "fixed"),
            ("machine.flow.film.count=2", "fixed"),
            ("machine.flow.film.copies=rdma", "fixed"),
            ("machine.flow.film.message=1000 B", "fixed"),
            ("machine.flow.film.job.decode=9 ns/B", "machine.flow.film.job.decode is fixed"),
            ("seed=7", "seed is fixed"),
            ("machine.line.rat=1 Gb/s", "unknown field `rat`"),
            ("machine.line.rate=fast", "`fast` is not a bit rate"),
            ("machine.line.rate", "write key=value"),
            ("machine.nic.ring=0", "out of range"),
        ] {
            let mut film = film();
            let error = film.change(Picos(0), written).unwrap_err().to_string();
            assert!(error.contains(words), "no `{words}` in: {error}");
            assert!(film.changes().is_empty());
            assert!(film.change(Picos(0), "machine.nic.ring=128").is_ok());
        }
    }
}
