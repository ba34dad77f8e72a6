//! Scenario files, with values and films set on the command line.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bitpath_bench::BenchError;
use bitpath_bench::film::film_of;
use bitpath_platform::codec::Clip;
use bitpath_sim::job::Work;
use bitpath_sim::scenario::{Draft, Scenario, ScenarioError, Setting, SettingError, Subject};

use crate::failure::Failure;

/// The scenario of a file with these settings, and its text as it runs.
pub(super) fn load(path: &Path, settings: &[Setting]) -> Result<(Scenario, String), Failure> {
    Document::read(path)?.with(settings)
}

/// As [`load`], with the frames of a clip in place of every film of the file.
pub(super) fn load_with_clip(
    path: &Path,
    settings: &[Setting],
    clip: &Path,
) -> Result<(Scenario, String), Failure> {
    let document = Document::read(path)?;
    let name = clip.file_name().unwrap_or(clip.as_os_str()).to_string_lossy();
    let film = film_of(&name, &Clip::open(clip).map_err(BenchError::from)?)?;
    let draft = document.draft.clone().with_film(&film);
    let draft = draft.map_err(|error| document.mistake(error))?;
    let draft = draft.ok_or_else(|| Failure::NoFilm { file: path.to_owned() })?;
    let loaded = Document { draft, ..document }.with(settings)?;
    decodes(&loaded.0)?;
    Ok(loaded)
}

/// A scenario file that was read.
struct Document {
    path: PathBuf,
    text: String,
    draft: Draft,
}

impl Document {
    fn read(path: &Path) -> Result<Self, Failure> {
        let refused = |source| Failure::Read { path: path.to_owned(), source };
        let text = read(path).map_err(refused)?;
        let draft = Draft::read(&text).map_err(|error| Failure::Scenario {
            file: path.to_owned(),
            text: text.clone(),
            error,
        })?;
        Ok(Self { path: path.to_owned(), text, draft })
    }

    fn with(&self, settings: &[Setting]) -> Result<(Scenario, String), Failure> {
        self.draft.with(settings).map_err(|error| match error {
            SettingError::File(error) => self.mistake(error),
            other => Failure::Setting(other),
        })
    }

    fn mistake(&self, error: ScenarioError) -> Failure {
        Failure::Scenario { file: self.path.clone(), text: self.text.clone(), error }
    }
}

/// Whether a host that decodes by software knows what the clip costs it.
fn decodes(scenario: &Scenario) -> Result<(), Failure> {
    if let Subject::Host(scenario) = &scenario.subject
        && let Work::Mpeg { film, software_decode: true, .. } = &scenario.job.work
        && !scenario.host.decode.iter().any(|cost| cost.clip == film.name)
    {
        let known = scenario.host.decode.iter().map(|cost| cost.clip.as_str()).collect::<Vec<_>>();
        return Err(Failure::NoDecodeCost { clip: film.name.clone(), known: known.join(", ") });
    }
    Ok(())
}

/// Largest scenario file that is read [B]: a film of a million frames, each written out, has
/// some 40 MB.
const MAX_SCENARIO: u64 = 64 << 20;

pub(super) fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(MAX_SCENARIO + 1).read_to_string(&mut text)?;
    if length as u64 > MAX_SCENARIO {
        return Err(io::Error::other(format!("it is larger than {MAX_SCENARIO} B")));
    }
    Ok(text)
}
