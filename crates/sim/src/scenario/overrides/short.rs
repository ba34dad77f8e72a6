//! Short keys: the end of a dotted key is enough where it is the end of one key only.
//!
//! ```text
//! receive_buffer ──► machine.flow.film.receive_buffer
//! ```
//!
//! What begins with a table of the file is a whole key: `machine.line.rate`.

use super::{Draft, Setting, SettingError};
use crate::scenario::Scenario;

impl Draft {
    /// The settings with their keys in full.
    pub(super) fn in_full(&self, settings: &[Setting]) -> Result<Vec<Setting>, SettingError> {
        if settings.iter().all(|setting| self.begins(setting)) {
            return Ok(settings.to_vec());
        }
        let known: Vec<String> =
            Scenario::parse(&self.text)?.keys().into_iter().map(|(key, _)| key).collect();
        let in_full = |setting: &Setting| {
            if self.begins(setting) { Ok(setting.clone()) } else { setting.in_full(&known) }
        };
        settings.iter().map(in_full).collect()
    }

    /// Whether a setting begins with something that stands in the file.
    fn begins(&self, setting: &Setting) -> bool {
        setting.path.first().is_some_and(|first| self.table.contains_key(first))
    }
}

impl Setting {
    /// The same with its whole key. One that is the end of no key stays as it is.
    fn in_full(&self, known: &[String]) -> Result<Self, SettingError> {
        let end = format!(".{}", self.key);
        let fitting: Vec<&str> =
            known.iter().map(String::as_str).filter(|key| key.ends_with(&end)).collect();
        match fitting[..] {
            [] => Ok(self.clone()),
            [key] => {
                let path = super::path_of(key).unwrap_or_else(|| self.path.clone());
                Ok(Self { key: key.into(), path, ..self.clone() })
            }
            _ => Err(SettingError::Unknown {
                setting: self.written.clone(),
                missing: format!("one {}", self.key),
                near: format!("there are {}", fitting.join(", ")),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILM: &str = include_str!("../../../../../scenarios/mpeg-sw.toml");
    const P3: &str = include_str!("../../../../../scenarios/p3.toml");

    fn keys(text: &str, setting: &str) -> Result<String, String> {
        let draft = Draft::read(text).unwrap();
        let settings = draft.in_full(&[setting.parse().unwrap()]);
        settings.map(|found| found[0].key().to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_end_of_one_key_is_enough() {
        assert_eq!(
            keys(FILM, "receive_buffer=16 KiB").unwrap(),
            "machine.flow.film.receive_buffer"
        );
        assert_eq!(keys(FILM, "line.rate=1 Gb/s").unwrap(), "machine.line.rate");
        assert_eq!(keys(P3, "kernel.slots=9").unwrap(), "pipeline.stage.kernel.slots");
        assert_eq!(keys(FILM, "machine.cpu.cores=2").unwrap(), "machine.cpu.cores");
        assert_eq!(keys(FILM, "job.decode=1 ns/B").unwrap(), "machine.flow.film.job.decode");
        assert_eq!(keys(FILM, "seed=7").unwrap(), "seed");
        let draft = Draft::read(FILM).unwrap();
        let (scenario, _) = draft.with(&["segment=1234 B".parse().unwrap()]).unwrap();
        let keys = scenario.keys();
        let segment = keys.iter().find(|(key, _)| key == "machine.line.segment").unwrap();
        assert!(segment.1.contains("1234"), "{segment:?}");
    }

    #[test]
    fn the_end_of_several_keys_is_refused_with_all_of_them() {
        let message = keys(P3, "slots=9").unwrap_err();
        assert!(
            message.contains("no one slots") && message.contains("stage.nic.slots"),
            "{message}"
        );
        assert_eq!(keys(P3, "nothing=9").unwrap(), "nothing");
    }
}
