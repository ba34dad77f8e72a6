//! The clip of a study: the user's, or one that is made here.

use std::path::{Path, PathBuf};

use bitpath_measure::{ByteCount, Pitfall, Run};
use bitpath_media::Film;
use bitpath_platform::codec::{Clip, CodecError, SynthSpec, synthesize};

use crate::BenchError;
use crate::film::film_of;

/// Most compressed video that a study holds [B]: parent and both workers each keep a copy, and
/// all of them together stay below 200 MiB.
pub(crate) const MAX_CLIP: ByteCount = ByteCount(32 << 20);

/// Length of the clip that is made here [s].
const SYNTH_SECONDS: u32 = 12;

/// What that clip is, in words.
const SYNTH_WORDS: &str = "MPEG-1, 352x288, 25 frames/s, I:P:B 1:4:10, made by bitpath";

/// A clip ready for jobs.
#[derive(Debug)]
pub struct StudyClip {
    /// Its file.
    pub path: PathBuf,
    /// Its frames.
    pub film: Film,
    /// What it is, where it was made here.
    pub synthetic: Option<String>,
    /// What it is, for people.
    pub description: String,
}

/// Opens the clip, or makes one in `folder` where none is given.
///
/// # Errors
/// When the file is no clip that can be decoded, or none can be made.
pub fn prepare(given: Option<&Path>, folder: &Path) -> Result<StudyClip, BenchError> {
    let (path, synthetic) = match given {
        Some(path) => (path.to_owned(), None),
        None => {
            let path = folder.join("bitpath-clip.mpg");
            synthesize(&path, &SynthSpec::video1(SYNTH_SECONDS))?;
            (path, Some(SYNTH_WORDS.to_owned()))
        }
    };
    let clip = Clip::open_within(&path, MAX_CLIP)?;
    let name =
        path.file_name().map_or_else(|| "clip".into(), |name| name.to_string_lossy().into_owned());
    let film = film_of(&name, &clip)?;
    let description = format!(
        "{name}: {} {}x{}, {:.2} frames/s, {} frames, {}",
        clip.codec(),
        clip.width(),
        clip.height(),
        film.rate.per_second(),
        film.frames.len(),
        film.bit_rate(),
    );
    Ok(StudyClip { path, film, synthetic, description })
}

/// Refuses what is no clip that can be decoded.
///
/// # Errors
/// Those of the clip, with its name.
pub fn check(path: &Path) -> Result<(), BenchError> {
    Ok(Clip::open_within(path, MAX_CLIP).map(drop)?)
}

/// The clip as [`prepare`] gives it; none and a doubt where this build cannot decode and none was asked
/// for.
///
/// # Errors
/// As [`prepare`].
pub fn or_doubt(
    given: Option<&Path>,
    folder: &Path,
    run: &mut Run,
) -> Result<Option<StudyClip>, BenchError> {
    match prepare(given, folder) {
        Ok(clip) => {
            if let Some(words) = &clip.synthetic {
                run.doubt(Pitfall::SyntheticClip { clip: words.clone() });
            }
            Ok(Some(clip))
        }
        Err(BenchError::Codec(error @ CodecError::NotBuilt)) if given.is_none() => {
            run.doubt(Pitfall::NoDecoder { reason: error.to_string() });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
