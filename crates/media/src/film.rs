//! A film as a list of compressed frames in decode order.

use bitpath_measure::{BitRate, ByteCount, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gop::{GopModel, PictureModel};

/// Most frames in one film: a day at 60 frames/s.
pub const MAX_FRAMES: usize = 60 * 86_400;

/// How a frame was coded.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum FrameKind {
    /// Intra: needs no other frame.
    I,
    /// Predicted from the reference frame before it.
    P,
    /// Predicted from the two reference frames around it.
    B,
}

impl FrameKind {
    /// All kinds, in the order of the papers' tables.
    pub const ALL: [Self; 3] = [Self::I, Self::P, Self::B];

    /// The kind's letter.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::P => "P",
            Self::B => "B",
        }
    }
}

/// One compressed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// How it was coded.
    pub kind: FrameKind,
    /// Compressed size [B].
    pub bytes: u32,
}

/// Frames a second, as the exact fraction that a container carries (30000/1001 for NTSC).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrameRate {
    /// Frames.
    pub frames: u32,
    /// In this many seconds.
    pub seconds: u32,
}

impl FrameRate {
    /// Frames a second [frames/s].
    #[must_use]
    pub fn per_second(self) -> f64 {
        f64::from(self.frames) / f64::from(self.seconds)
    }

    /// When frame `index` is due after the first, played `speed` times as fast [ps].
    #[must_use]
    pub fn due(self, index: usize, speed: f64) -> Picos {
        let seconds = index as f64 * f64::from(self.seconds) / f64::from(self.frames) / speed;
        Picos::from_nanos_f64(seconds * 1e9)
    }
}

/// A film: its frames in decode order and their rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenFilm")]
pub struct Film {
    /// Name of the clip.
    pub name: String,
    /// Frames a second.
    pub rate: FrameRate,
    /// The frames, in the order in which they are sent and decoded.
    pub frames: Vec<Frame>,
}

/// A film as written in a file: its frames one by one, or a model of its groups of pictures by their
/// sizes or by their pictures and compression.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenFilm {
    /// Name of the clip.
    name: String,
    /// Frames a second, where the frames are written one by one.
    rate: Option<FrameRate>,
    /// The frames in decode order, or `length` with `gop` or `pictures` instead.
    frames: Option<Vec<Frame>>,
    /// A group of pictures that is repeated.
    gop: Option<GopModel>,
    /// The same by its pictures and their compression.
    pictures: Option<PictureModel>,
    /// Frames that it is repeated to [frames].
    length: Option<usize>,
}

impl TryFrom<WrittenFilm> for Film {
    type Error = FilmError;

    fn try_from(written: WrittenFilm) -> Result<Self, FilmError> {
        let WrittenFilm { name, rate, frames, gop, pictures, length } = written;
        match (rate, frames, gop, pictures, length) {
            (Some(rate), Some(frames), None, None, None) => Self::new(&name, rate, frames),
            (None, None, Some(gop), None, Some(length)) => gop.film(&name, length),
            (None, None, None, Some(pictures), Some(length)) => {
                pictures.group().film(&name, length)
            }
            _ => Err(FilmError::Written { name }),
        }
    }
}

/// Why a list of frames is no film.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilmError {
    /// No frame at all.
    #[error("film {name} has no frames")]
    Empty {
        /// The film.
        name: String,
    },
    /// More frames than are supported.
    #[error("film {name} has {frames} frames; at most {MAX_FRAMES} are supported")]
    TooLong {
        /// The film.
        name: String,
        /// Its frames.
        frames: usize,
    },
    /// A group of pictures that is longer than any film has.
    #[error(
        "film {name} has groups of {frames} frames; at most {} are supported",
        crate::gop::MAX_GROUP
    )]
    Group {
        /// The film.
        name: String,
        /// Frames of one group.
        frames: u64,
    },
    /// A frame without bytes.
    #[error("frame {index} of film {name} has no bytes")]
    EmptyFrame {
        /// The film.
        name: String,
        /// Index of the frame, from 0.
        index: usize,
    },
    /// Neither frames nor a model, or parts of both.
    #[error("film {name} needs either `rate` and `frames`, or `length` with `gop` or `pictures`")]
    Written {
        /// The film.
        name: String,
    },
    /// A frame rate of zero or over zero seconds.
    #[error("film {name} has a frame rate of {frames}/{seconds}; both must be at least 1")]
    Rate {
        /// The film.
        name: String,
        /// Frames.
        frames: u32,
        /// Seconds.
        seconds: u32,
    },
}

impl Film {
    /// A film of these frames.
    ///
    /// # Errors
    /// Without frames, with too many, with an empty one, or with a rate of zero.
    pub fn new(name: &str, rate: FrameRate, frames: Vec<Frame>) -> Result<Self, FilmError> {
        let name = name.to_owned();
        if rate.frames == 0 || rate.seconds == 0 {
            return Err(FilmError::Rate { name, frames: rate.frames, seconds: rate.seconds });
        }
        if frames.is_empty() {
            return Err(FilmError::Empty { name });
        }
        if frames.len() > MAX_FRAMES {
            return Err(FilmError::TooLong { name, frames: frames.len() });
        }
        if let Some(index) = frames.iter().position(|frame| frame.bytes == 0) {
            return Err(FilmError::EmptyFrame { name, index });
        }
        Ok(Self { name, rate, frames })
    }

    /// Compressed size of all frames [B].
    #[must_use]
    pub fn bytes(&self) -> ByteCount {
        ByteCount(self.frames.iter().map(|frame| u64::from(frame.bytes)).sum())
    }

    /// Largest frame [B].
    #[must_use]
    pub fn largest_frame(&self) -> u32 {
        self.frames.iter().map(|frame| frame.bytes).max().unwrap_or(0)
    }

    /// Playing time at normal speed [s].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.frames.len() as f64 / self.rate.per_second()
    }

    /// Mean bit rate at normal speed [b/s].
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive rate far below 2^64"
    )]
    pub fn bit_rate(&self) -> BitRate {
        BitRate((self.bytes().0 as f64 * 8.0 / self.seconds()).round() as u64)
    }

    /// Frames of one kind, and their bytes in all [B].
    #[must_use]
    pub fn of_kind(&self, kind: FrameKind) -> (usize, u64) {
        let frames = self.frames.iter().filter(|frame| frame.kind == kind);
        frames.fold((0, 0), |(count, bytes), frame| (count + 1, bytes + u64::from(frame.bytes)))
    }

    /// The film played over and over until it has `frames` frames.
    #[must_use]
    pub fn looped_to(&self, frames: usize) -> Self {
        Self { frames: self.frames.iter().copied().cycle().take(frames).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { kind: FrameKind::I, bytes: 1000 };

    #[test]
    fn a_film_knows_its_rate() {
        let film = Film::new("a", FrameRate { frames: 25, seconds: 1 }, vec![FRAME; 50]).unwrap();
        assert_eq!(film.seconds(), 2.0);
        assert_eq!(film.bit_rate(), BitRate(200_000));
        assert_eq!(film.rate.due(25, 2.0), Picos(500_000_000_000));
    }

    #[test]
    fn what_is_no_film_is_named() {
        let rate = FrameRate { frames: 25, seconds: 1 };
        assert_eq!(Film::new("a", rate, vec![]), Err(FilmError::Empty { name: "a".into() }));
        let empty = Frame { bytes: 0, ..FRAME };
        assert_eq!(
            Film::new("a", rate, vec![FRAME, empty]).unwrap_err().to_string(),
            "frame 1 of film a has no bytes"
        );
        assert!(Film::new("a", FrameRate { frames: 0, seconds: 1 }, vec![FRAME]).is_err());
    }
}
