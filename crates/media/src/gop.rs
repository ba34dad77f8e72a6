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
        let references = self.p_frames + 1;
        let mut kinds = Vec::new();
        for reference in 0..references {
            kinds.push(if reference == 0 { FrameKind::I } else { FrameKind::P });
            // Spread the B-frames as evenly as whole numbers allow.
            let share = |upto: u32| self.b_frames * upto / references;
            let between = share(reference + 1) - share(reference);
            kinds.extend(std::iter::repeat_n(FrameKind::B, between as usize));
        }
        kinds
    }

    /// A film of `frames` frames.
    ///
    /// # Errors
    /// As [`Film::new`].
    pub fn film(&self, name: &str, frames: usize) -> Result<Film, FilmError> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
