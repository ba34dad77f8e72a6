//! Synthetic films from a model of the group of pictures: the sysSIM study's table 9 and the
//! example of its section 4.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::film::{Film, FilmError, Frame, FrameKind, FrameRate};

/// Frames and sizes of one group of pictures, repeated for the length of the film.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GopModel {
    /// Predicted frames behind each intra frame.
    pub p_frames: u32,
    /// Bidirectional frames in the group.
    pub b_frames: u32,
    /// Size of an I-frame [B].
    pub i_bytes: u32,
    /// Size of a P-frame [B].
    pub p_bytes: u32,
    /// Size of a B-frame [B].
    pub b_bytes: u32,
    /// Frames a second.
    pub rate: FrameRate,
}

impl GopModel {
    /// The study's video1: 352x288 at 25 frames/s, frames of 19, 6 and 2 KB, with the ratio
    /// 1:4:10 of its benchmarks (tables 2 and 9; KB read as 1000 bytes).
    #[must_use]
    pub fn video1() -> Self {
        Self {
            p_frames: 4,
            b_frames: 10,
            i_bytes: 19_000,
            p_bytes: 6000,
            b_bytes: 2000,
            rate: FrameRate { frames: 25, seconds: 1 },
        }
    }

    /// Kinds of one group in decode order: each reference frame, then the B-frames it closes.
    #[must_use]
    pub fn pattern(&self) -> Vec<FrameKind> {
        let references = self.p_frames.saturating_add(1);
        let mut kinds = Vec::new();
        for reference in 0..references {
            kinds.push(if reference == 0 { FrameKind::I } else { FrameKind::P });
            // Spread the B-frames as evenly as whole numbers allow.
            let share =
                |upto: u32| u64::from(self.b_frames) * u64::from(upto) / u64::from(references);
            let between = share(reference + 1) - share(reference);
            let between = usize::try_from(between).unwrap_or(usize::MAX);
            kinds.extend(std::iter::repeat_n(FrameKind::B, between));
        }
        kinds
    }

    /// A film of `frames` frames.
    ///
    /// # Errors
    /// As [`Film::new`].
    pub fn film(&self, name: &str, frames: usize) -> Result<Film, FilmError> {
        let group = u64::from(self.p_frames) + u64::from(self.b_frames) + 1;
        if group > MAX_GROUP {
            return Err(FilmError::Group { name: name.into(), frames: group });
        }
        let size = |kind| match kind {
            FrameKind::I => self.i_bytes,
            FrameKind::P => self.p_bytes,
            FrameKind::B => self.b_bytes,
        };
        let pattern = self.pattern();
        let kinds = pattern.iter().copied().cycle().take(frames.min(crate::film::MAX_FRAMES + 1));
        Film::new(name, self.rate, kinds.map(|kind| Frame { kind, bytes: size(kind) }).collect())
    }
}

/// Most frames of one group: an hour at 60 frames/s; encoders begin a new one each few seconds.
pub const MAX_GROUP: u64 = 60 * 3600;

/// Pictures before and after compression: how the study's table 4 describes a job. Compression 1
/// throughout is raw video.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PictureModel {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Bits of a pixel before compression [b].
    pub bit_depth: u32,
    /// Predicted frames behind each intra frame.
    pub p_frames: u32,
    /// Bidirectional frames in the group.
    pub b_frames: u32,
    /// Size of an I-frame before compression over after it [ratio].
    pub i_compression: f64,
    /// The same for a P-frame [ratio].
    pub p_compression: f64,
    /// The same for a B-frame [ratio].
    pub b_compression: f64,
    /// Frames a second.
    pub rate: FrameRate,
}

impl PictureModel {
    /// The same as sizes of frames. A compression of zero makes frames that no film may have.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
    pub fn group(&self) -> GopModel {
        let bits = f64::from(self.width) * f64::from(self.height) * f64::from(self.bit_depth);
        let bytes = |compression: f64| {
            if compression > 0.0 { (bits / 8.0 / compression).round() as u32 } else { 0 }
        };
        GopModel {
            p_frames: self.p_frames,
            b_frames: self.b_frames,
            i_bytes: bytes(self.i_compression),
            p_bytes: bytes(self.p_compression),
            b_bytes: bytes(self.b_compression),
            rate: self.rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn video2_by_its_pictures_has_the_printed_frames() {
        // Table 9: 720x480 at 24 bit, I-frames of 59 KB, P-frames of 30, B-frames of 19.
        let video2 = PictureModel {
            width: 720,
            height: 480,
            bit_depth: 24,
            p_frames: 4,
            b_frames: 10,
            i_compression: 17.57,
            p_compression: 34.56,
            b_compression: 54.56,
            rate: FrameRate { frames: 30_000, seconds: 1001 },
        };
        let group = video2.group();
        assert_eq!([group.i_bytes, group.p_bytes, group.b_bytes].map(|b| b / 1000), [59, 30, 19]);
        let raw = PictureModel { i_compression: 1.0, ..video2 };
        assert_eq!(raw.group().i_bytes, 720 * 480 * 3);
        let nothing = PictureModel { i_compression: 0.0, ..raw };
        assert!(nothing.group().film("f", 9).is_err());
    }

    #[test]
    fn the_study_s_group_is_one_four_ten() {
        let letters: String =
            GopModel::video1().pattern().iter().map(|kind| kind.letter()).collect();
        assert_eq!(letters, "IBBPBBPBBPBBPBB");
        let other = GopModel { p_frames: 5, b_frames: 11, ..GopModel::video1() };
        let film = other.film("video1", 17 * 3).unwrap();
        assert_eq!(FrameKind::ALL.map(|kind| film.of_kind(kind).0), [3, 15, 33]);
    }

    #[test]
    fn video1_has_the_printed_rate() {
        // Table 9 prints 0.9 Mb/s and a mean frame of 4 KB.
        let film = GopModel::video1().film("video1", 15 * 100).unwrap();
        assert!((film.bit_rate().0 as f64 / 0.9e6 - 1.0).abs() < 0.17, "{}", film.bit_rate());
        assert_eq!(film.bytes().0 / 1500, 4200);
    }
}
