//! Scenario files, with values set on the command line.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bitpath_sim::scenario::{Draft, Scenario, Setting, SettingError};

use crate::failure::Failure;

/// The scenario of a file with these settings, and its text as it runs.
pub(super) fn load(path: &Path, settings: &[Setting]) -> Result<(Scenario, String), Failure> {
    let refused = |source| Failure::Read { path: path.to_owned(), source };
    let text = read(path).map_err(refused)?;
    let loaded = Draft::read(&text).map_err(SettingError::File);
    loaded.and_then(|draft| draft.with(settings)).map_err(|error| match error {
        SettingError::File(error) => {
            Failure::Scenario { file: path.to_owned(), text: text.clone(), error }
        }
        other => Failure::Setting(other),
    })
}

/// Largest scenario file that is read [B]: a film of a million frames, each written out, has
/// some 40 MB.
const MAX_SCENARIO: u64 = 64 << 20;

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(MAX_SCENARIO + 1).read_to_string(&mut text)?;
    if length as u64 > MAX_SCENARIO {
        return Err(io::Error::other(format!("it is larger than {MAX_SCENARIO} B")));
    }
    Ok(text)
}
