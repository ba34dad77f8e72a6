//! Short keys: the end of a dotted key is enough where it is the end of one key only.
//!
//! ```text
//! receive_buffer ──► machine.flow.film.receive_buffer
//! ```

use super::{Draft, Setting, SettingError};
use crate::scenario::Scenario;

/// What a full key begins with.
const FIRST_PARTS: [&str; 8] =
    ["title", "seed", "interval", "pipeline", "machine", "host", "job", "link"];

impl Draft {
    /// The settings with their keys in full.
    pub(super) fn in_full(&self, settings: &[Setting]) -> Result<Vec<Setting>, SettingError> {
        if settings.iter().all(Setting::is_full) {
            return Ok(settings.to_vec());
        }
        let known: Vec<String> =
            Scenario::parse(&self.text)?.keys().into_iter().map(|(key, _)| key).collect();
        settings.iter().map(|setting| setting.in_full(&known)).collect()
    }
}

impl Setting {
    fn is_full(&self) -> bool {
        self.path.first().is_some_and(|first| FIRST_PARTS.contains(&first.as_str()))
    }

    /// The same with its whole key. One that is the end of no key stays as it is.
    fn in_full(&self, known: &[String]) -> Result<Self, SettingError> {
        if self.is_full() {
            return Ok(self.clone());
        }
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
