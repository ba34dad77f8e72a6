//! Clips as films: what the codec indexes, in the words of the model.

use bitpath_media::{Film, Frame, FrameRate};
use bitpath_platform::codec::{self, Clip};

use crate::BenchError;

/// The kind of a frame in the model; a picture of another type is predicted like a P-frame.
#[must_use]
pub fn kind_of(kind: codec::FrameKind) -> bitpath_media::FrameKind {
    match kind {
        codec::FrameKind::I => bitpath_media::FrameKind::I,
        codec::FrameKind::P | codec::FrameKind::Other => bitpath_media::FrameKind::P,
        codec::FrameKind::B => bitpath_media::FrameKind::B,
    }
}

/// The film of a clip, frame for frame.
///
/// # Errors
/// When the clip's frames are no film.
pub fn film_of(name: &str, clip: &Clip) -> Result<Film, BenchError> {
    let frames =
        clip.frames().iter().map(|frame| Frame { kind: kind_of(frame.kind), bytes: frame.bytes });
    let rate =
        FrameRate { frames: clip.frame_rate().numerator, seconds: clip.frame_rate().denominator };
    Ok(Film::new(name, rate, frames.collect())?)
}
