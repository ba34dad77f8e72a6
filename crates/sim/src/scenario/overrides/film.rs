//! A film in place of every film that a scenario file holds.

use bitpath_media::Film;
use toml::{Table, Value};

use super::Draft;
use crate::scenario::{ScenarioError, general};

impl Draft {
    /// The file with this film in place of every one: each table `film`, wherever it stands. None
    /// where the file has no film.
    ///
    /// # Errors
    /// When the film cannot be written as TOML.
    pub fn with_film(mut self, film: &Film) -> Result<Option<Self>, ScenarioError> {
        let not_toml = |error: toml::ser::Error| general(&error.to_string());
        let film = Table::try_from(film).map_err(not_toml)?;
        if replaced(self.table.iter_mut().map(|(key, value)| (key.as_str(), value)), &film) == 0 {
            return Ok(None);
        }
        self.text = toml::to_string(&self.table).map_err(not_toml)?;
        Ok(Some(self))
    }
}

/// Replaces the films among these values and within them; how many there were.
fn replaced<'a>(values: impl Iterator<Item = (&'a str, &'a mut Value)>, film: &Table) -> usize {
    values.map(|(key, value)| replaced_in(key, value, film)).sum()
}

fn replaced_in(key: &str, value: &mut Value, film: &Table) -> usize {
    match value {
        Value::Table(old) if key == "film" => {
            old.clone_from(film);
            1
        }
        Value::Table(table) => {
            replaced(table.iter_mut().map(|(key, value)| (key.as_str(), value)), film)
        }
        Value::Array(values) => replaced(values.iter_mut().map(|value| ("", value)), film),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use bitpath_media::{Frame, FrameKind, FrameRate};

    use super::*;
    use crate::scenario::{Scenario, Setting, Subject};

    const VIDEO: &str = include_str!("../../../../../scenarios/mpeg-sw.toml");

    fn clip() -> Film {
        let frames = vec![Frame { kind: FrameKind::I, bytes: 4000 }; 3];
        Film::new("clip.mpg", FrameRate { frames: 30_000, seconds: 1001 }, frames).unwrap()
    }

    fn filmed(text: &str) -> Option<Draft> {
        Draft::read(text).unwrap().with_film(&clip()).unwrap()
    }

    #[test]
    fn every_film_is_replaced_and_the_text_is_that_of_what_runs() {
        let flow = VIDEO.find("[[machine.flow]]").unwrap();
        let second = VIDEO[flow..].replace("\"film\"", "\"second\"");
        let draft = filmed(&format!("{VIDEO}\n{second}")).unwrap();
        let (scenario, text) = draft.with(&[]).unwrap();
        let Subject::Machine(machine) = &scenario.subject else { panic!("a machine") };
        for flow in &machine.machine.flows {
            let crate::machine::Task::Mpeg { film, .. } = &flow.job else { panic!("a film") };
            assert_eq!(film, &clip());
        }
        assert_eq!(machine.machine.flows.len(), 2);
        assert_eq!(Scenario::parse(&text), Ok(scenario));
    }

    #[test]
    fn a_setting_counts_more_than_the_film() {
        let name: Setting = "machine.flow.film.job.film.name=other".parse().unwrap();
        let (_, text) = filmed(VIDEO).unwrap().with(&[name]).unwrap();
        assert!(text.contains("name = \"other\"") && !text.contains("clip.mpg"), "{text}");
    }

    #[test]
    fn a_file_without_a_film_has_none_to_replace() {
        assert!(filmed(include_str!("../../../../../scenarios/p3.toml")).is_none());
    }
}
