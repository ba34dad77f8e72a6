//! Settings from outside a scenario file: `receive_buffer=256 KiB`.
//!
//! ```text
//! file (TOML) ──► table ──► each setting replaces one value ──► text (TOML) ──► Scenario
//! ```
//!
//! A key is written as in TOML, dots between its parts. Behind an array stands an index, counted
//! from 0, or the name of one of its tables. The end of a key is enough where only one key ends so.
//! A value is read as TOML where it is a number, a boolean, an array or a table; anything else is
//! text, so that `256 KiB` needs no quotes.

mod short;

mod film;

use std::fmt;
use std::str::FromStr;

use toml::{Table, Value};

use super::keys::{name_of, parts};
use super::{Scenario, ScenarioError};

/// One value of a scenario, set from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    key: String,
    path: Vec<String>,
    value: Value,
    written: String,
}

/// Why a setting cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// It is not `key=value`.
    #[error("`{written}` is no setting: write key=value, such as receive_buffer=\"256 KiB\"")]
    Form {
        /// What was written.
        written: String,
    },
    /// Its key leads nowhere.
    #[error("{setting}: the scenario has no {missing}; {near}")]
    Unknown {
        /// The setting.
        setting: String,
        /// The part of the key up to where it ends.
        missing: String,
        /// Keys that there are.
        near: String,
    },
    /// The scenario does not take the value.
    #[error("{setting}: {message}")]
    Refused {
        /// The setting, or all of them where no single one is to blame.
        setting: String,
        /// What is wrong, and what would be allowed.
        message: String,
    },
    /// The file holds a mistake of its own.
    #[error(transparent)]
    File(#[from] ScenarioError),
}

/// A scenario file whose values can be replaced before it is a scenario.
#[derive(Clone, Debug)]
pub struct Draft {
    text: String,
    table: Table,
}

impl Setting {
    /// The setting of one key to a text that is read like a command line's.
    ///
    /// # Errors
    /// When the key is no TOML key.
    pub fn new(key: &str, value: &str) -> Result<Self, SettingError> {
        let written = format!("{key}={value}");
        let path = path_of(key).ok_or_else(|| SettingError::Form { written: written.clone() })?;
        Ok(Self { key: key.into(), path, value: read(value), written })
    }

    /// Its dotted key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Replaces or adds the value.
    fn apply(&self, table: &mut Table) -> Result<(), SettingError> {
        let mut target = table;
        let Some((last, before)) = self.path.split_last() else { return Ok(()) };
        let mut parts = before.iter().enumerate();
        while let Some((depth, part)) = parts.next() {
            let next = target.entry(part).or_insert_with(|| Table::new().into());
            let next = match next {
                // The part behind an array chooses one of its tables.
                Value::Array(values) => {
                    let (depth, choice) = parts.next().unwrap_or((depth + 1, last));
                    chosen(values, choice).map_err(|near| self.unknown(depth, near))?
                }
                other => other,
            };
            let nowhere = || self.unknown(depth, format!("{part} is one value"));
            target = next.as_table_mut().ok_or_else(nowhere)?;
        }
        replace(target, last, self.value.clone());
        Ok(())
    }

    fn unknown(&self, depth: usize, near: String) -> SettingError {
        let missing = self.path[..=depth.min(self.path.len() - 1)].join(".");
        SettingError::Unknown { setting: self.written.clone(), missing, near }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let form = || SettingError::Form { written: text.into() };
        let (key, value) = text.split_once('=').ok_or_else(form)?;
        Self::new(key.trim(), value.trim()).map_err(|_| form())
    }
}

impl Draft {
    /// Reads a file's text.
    ///
    /// # Errors
    /// When it is no TOML.
    pub fn read(text: &str) -> Result<Self, ScenarioError> {
        let table = text.parse().map_err(|error: toml::de::Error| ScenarioError {
            message: error.message().to_owned(),
            span: error.span(),
        })?;
        Ok(Self { text: text.into(), table })
    }

    /// The scenario with these settings, the last of a key counting, and its text: that of the
    /// file where nothing is set.
    ///
    /// # Errors
    /// A mistake of the file itself, or the setting that the scenario does not take.
    pub fn with(&self, settings: &[Setting]) -> Result<(Scenario, String), SettingError> {
        if settings.is_empty() {
            return Ok((Scenario::parse(&self.text)?, self.text.clone()));
        }
        let settings = self.in_full(settings)?;
        let text = self.text_with(&settings)?;
        match Scenario::parse(&text) {
            Ok(scenario) => Ok((scenario, text)),
            Err(error) => Err(self.blame(&settings, error)),
        }
    }

    fn text_with(&self, settings: &[Setting]) -> Result<String, SettingError> {
        let mut table = self.table.clone();
        for setting in settings {
            setting.apply(&mut table)?;
        }
        toml::to_string(&table).map_err(|error| {
            SettingError::File(ScenarioError { message: error.to_string(), span: None })
        })
    }

    /// The setting without which the scenario would be good; all where there is no such one.
    fn blame(&self, settings: &[Setting], error: ScenarioError) -> SettingError {
        let base = match Scenario::parse(&self.text) {
            Ok(base) => base,
            Err(own) => return own.into(),
        };
        let good_without = |index: &usize| {
            let mut others = settings.to_vec();
            others.remove(*index);
            self.text_with(&others).is_ok_and(|text| Scenario::parse(&text).is_ok())
        };
        let Some(guilty) = (0..settings.len()).find(good_without) else {
            let setting = settings.iter().map(Setting::to_string).collect::<Vec<_>>().join(", ");
            return SettingError::Refused { setting, message: error.message };
        };
        let guilty = &settings[guilty];
        let known: Vec<String> = base.keys().into_iter().map(|(key, _)| key).collect();
        let message = if known.contains(&guilty.key) || self.holds(&guilty.path) {
            error.message
        } else {
            format!("{}; the nearest keys are {}", error.message, nearest(&guilty.key, &known))
        };
        SettingError::Refused { setting: guilty.written.clone(), message }
    }

    fn holds(&self, path: &[String]) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        let step = |value: &Value, part: &String| match value {
            Value::Array(values) => chosen(&mut values.clone(), part).ok().cloned(),
            other => other.get(part).cloned(),
        };
        let first = self.table.get(first).cloned();
        first.and_then(|first| rest.iter().try_fold(first, |at, part| step(&at, part))).is_some()
    }
}

/// The parts of a dotted key, by TOML's own rules.
fn path_of(key: &str) -> Option<Vec<String>> {
    let table: Table = format!("{key} = true").parse().ok()?;
    let (mut path, mut at) = (Vec::new(), Value::Table(table));
    while let Value::Table(table) = at {
        let mut entries = table.into_iter();
        let (part, next) = entries.next().filter(|_| entries.len() == 0)?;
        path.push(part);
        at = next;
    }
    (at == Value::Boolean(true)).then_some(path)
}

/// A value of TOML, or a text.
fn read(text: &str) -> Value {
    let table = format!("value = {text}").parse::<Table>().ok();
    let value = table.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    let is_time = |value: &Value| value.is_datetime();
    value.filter(|value| !is_time(value)).unwrap_or_else(|| Value::from(text))
}

/// One table of an array by its index or its name, or the ones that there are.
fn chosen<'a>(values: &'a mut [Value], choice: &str) -> Result<&'a mut Value, String> {
    let index = choice.parse().ok().filter(|index: &usize| *index < values.len());
    let index = index.or_else(|| values.iter().position(|value| name_of(value) == Some(choice)));
    match index {
        Some(index) => Ok(&mut values[index]),
        None => Err(format!("there are {}", parts(values).join(", "))),
    }
}

/// Puts a value where it belongs. A value with a source becomes an assumption: whatever measured
/// or published the old one does not vouch for the new one.
fn replace(table: &mut Table, key: &str, value: Value) {
    let is_sourced = |table: &Table| table.contains_key("value") && table.contains_key("source");
    if let Some(Value::Table(sourced)) = table.get_mut(key).filter(|_| !value.is_table())
        && is_sourced(sourced)
    {
        assume(sourced, value);
    } else if key == "value" && is_sourced(table) {
        assume(table, value);
    } else {
        table.insert(key.into(), value);
    }
}

fn assume(sourced: &mut Table, value: Value) {
    sourced.retain(|key, _| key != "low" && key != "high");
    sourced.insert("value".into(), value);
    sourced.insert("source".into(), "assumed".into());
    sourced.insert("from".into(), "set by hand for this run".into());
}

/// The keys that take the fewest changes of a letter to reach.
fn nearest(key: &str, known: &[String]) -> String {
    let mut ranked: Vec<(usize, &String)> =
        known.iter().map(|other| (distance(key, other), other)).collect();
    ranked.sort();
    let nearest: Vec<&str> = ranked.iter().take(NEAREST).map(|(_, key)| key.as_str()).collect();
    nearest.join(", ")
}

/// Keys that are suggested for one that does not exist.
const NEAREST: usize = 3;

/// Letters to insert, delete or replace on the way from one text to another (Levenshtein 1966).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Subject;

    const P3: &str = include_str!("../../../../scenarios/p3.toml");

    fn with(settings: &[&str]) -> Result<Scenario, SettingError> {
        let settings: Result<Vec<Setting>, _> =
            settings.iter().map(|setting| setting.parse()).collect();
        Ok(Draft::read(P3).unwrap().with(&settings?)?.0)
    }

    fn refused(settings: &[&str]) -> String {
        with(settings).unwrap_err().to_string()
    }

    #[test]
    fn a_stage_is_reached_by_index_and_by_name() {
        for key in ["pipeline.stage.1.slots", "pipeline.stage.kernel.slots"] {
            let scenario = with(&[&format!("{key}=200"), "pipeline.packets = 7"]).unwrap();
            let Subject::Pipeline(pipeline) = scenario.subject else { panic!("a pipeline") };
            assert_eq!((pipeline.stages[1].slots, pipeline.packets), (200, 7));
        }
    }

    #[test]
    fn text_needs_no_quotes_and_the_last_setting_of_a_key_counts() {
        let key = "pipeline.arrivals.interval";
        let scenario = with(&[&format!("{key}=\"1 s\""), &format!("{key}=2us")]).unwrap();
        let Subject::Pipeline(pipeline) = scenario.subject else { panic!("a pipeline") };
        assert_eq!(pipeline.arrivals.mean_interval(), 2e6);
    }

    #[test]
    fn a_key_that_the_file_leaves_out_can_be_set() {
        assert_eq!(with(&["seed=7"]).unwrap().seed, 7);
        let exception = "pipeline.stage.nic.exception={ every = 9, service = \"1 us\" }";
        assert!(with(&[exception]).is_ok());
    }

    #[test]
    fn the_text_is_that_of_the_scenario_as_it_runs() {
        let setting: Setting = "pipeline.packets=12".parse().unwrap();
        let (scenario, text) = Draft::read(P3).unwrap().with(&[setting]).unwrap();
        assert_eq!(Scenario::parse(&text), Ok(scenario));
        assert_eq!(Draft::read(P3).unwrap().with(&[]).unwrap().1, P3);
    }

    #[test]
    fn a_mistaken_setting_is_named_with_what_would_do() {
        for (setting, words) in [
            ("pipeline.packets", &["`pipeline.packets` is no setting", "key=value"][..]),
            ("=3", &["is no setting"]),
            ("a b=3", &["is no setting"]),
            ("pipeline.pakets=3", &["unknown field `pakets`", "pipeline.packets"]),
            ("pipline.packets=3", &["unknown field `pipline`", "keys are pipeline.packets"]),
            ("pipeline.stage.9.slots=3", &["no pipeline.stage.9", "nic, kernel, user"]),
            ("pipeline.stage.kernal.slots=3", &["no pipeline.stage.kernal", "kernel"]),
            ("pipeline.packets.slots=3", &["no pipeline.packets", "packets is one value"]),
            ("pipeline.packets=0", &["a number of packets of 0", "allowed are 1 to"]),
            ("pipeline.stage.nic.service=1 GB", &["`1 GB` is not a time"]),
        ] {
            let message = refused(&["seed=1", setting]);
            for word in words {
                assert!(message.contains(word), "no `{word}` in: {message}");
            }
            assert!(message.contains(setting), "{message}");
            assert!(!message.contains("seed=1"), "{message}");
        }
    }

    #[test]
    fn settings_that_only_together_are_wrong_are_all_named() {
        let block = ["pipeline.packets=0", "pipeline.stage.nic.slots=0"];
        let message = refused(&block);
        assert!(block.iter().all(|setting| message.contains(setting)), "{message}");
    }

    #[test]
    fn a_mistake_of_the_file_keeps_its_place() {
        let text = P3.replace("slots = 43", "slots = 0");
        let setting: Setting = "seed=1".parse().unwrap();
        let error = Draft::read(&text).unwrap().with(&[setting]).unwrap_err();
        let SettingError::File(error) = error else { panic!("{error}") };
        assert_eq!(&text[error.span.unwrap()], "0");
    }

    #[test]
    fn a_sourced_value_that_is_set_becomes_an_assumption() {
        let text = include_str!("../../tests/round-host.toml");
        for key in ["cpu.cores", "cpu.cores.value"] {
            let mut table: Table =
                text.replacen("\"assumed\"", "\"measured\", low = 1", 1).parse().unwrap();
            Setting::new(key, "4").unwrap().apply(&mut table).unwrap();
            let cores = &table["cpu"]["cores"];
            assert_eq!(
                (cores["value"].as_integer(), cores["source"].as_str()),
                (Some(4), Some("assumed"))
            );
            assert!(cores.get("low").is_none());
        }
    }
}
