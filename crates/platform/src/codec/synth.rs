//! A clip made here, for a study without one: MPEG-1 with the frame pattern of the 2004 study.

use std::path::Path;

use bitpath_measure::BitRate;

use super::{CodecError, FrameRate, backend};

/// What clip to make. Every group of [`SynthSpec::GOP_FRAMES`] frames has 1 I, 4 P and 10 B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SynthSpec {
    /// Width [pixels], a multiple of 16 for whole macroblocks.
    pub width: u32,
    /// Height [pixels], a multiple of 16.
    pub height: u32,
    /// One of the rates that MPEG-1 knows (ISO 11172-2, table 2-D.2).
    pub frame_rate: FrameRate,
    /// Mean rate of the compressed video [b/s].
    pub bit_rate: BitRate,
    /// Least time that the clip plays [s]; it is made longer to end with a whole group.
    pub seconds: u32,
    /// Another seed is another texture, of the same statistics.
    pub seed: u64,
}

impl SynthSpec {
    /// Frames in a group of pictures [frames]: 1 + 4 + 10, table 2 of the 2004 sysSIM study.
    pub const GOP_FRAMES: u32 = 15;

    /// Longest clip that is made [s]: an hour is 405 MB at 0.9 Mb/s, within what a clip may hold.
    pub const MAX_SECONDS: u32 = 3600;

    /// Largest width and height [pixels]: MPEG-1 has 12 bits for each (ISO 11172-2, 2.4.3.2).
    pub const MAX_SIDE: u32 = 4080;

    /// Lowest and highest mean rate [b/s]: below, not even skipped macroblocks fit; above, the
    /// rate has no room in its 18 bits of 400 b/s (ISO 11172-2, 2.4.3.2).
    pub const BIT_RATES: (BitRate, BitRate) = (BitRate(10_000), BitRate(104_857_200));

    /// The study's `video1.mpg` in small: 352x288 at 25 frames/s and 0.9 Mb/s (sysSIM 2004,
    /// table 9) with I:P:B of 1:4:10 (table 2). 0.9 Mb/s is read as 0.9·10⁶ b/s.
    #[must_use]
    pub fn video1(seconds: u32) -> Self {
        Self {
            width: 352,
            height: 288,
            frame_rate: FrameRate { numerator: 25, denominator: 1 },
            bit_rate: BitRate(900_000),
            seconds,
            seed: 2004,
        }
    }

    /// Frames in the clip [frames]: `seconds` of them, rounded up to whole groups.
    #[must_use]
    pub fn frames(&self) -> u32 {
        let rate = u64::from(self.frame_rate.numerator);
        let frames =
            (u64::from(self.seconds) * rate).div_ceil(self.frame_rate.denominator.max(1).into());
        let groups = frames.div_ceil(Self::GOP_FRAMES.into());
        u32::try_from(groups * u64::from(Self::GOP_FRAMES)).unwrap_or(u32::MAX)
    }

    /// Names the first value that no clip can be made with.
    fn check(&self) -> Result<(), CodecError> {
        for (name, side) in [("width", self.width), ("height", self.height)] {
            if side == 0 || side > Self::MAX_SIDE || !side.is_multiple_of(16) {
                let most = Self::MAX_SIDE;
                return Err(wrong(format!(
                    "{name} is {side}, not a multiple of 16 from 16 to {most}"
                )));
            }
        }
        if self.seconds == 0 || self.seconds > Self::MAX_SECONDS {
            let (seconds, most) = (self.seconds, Self::MAX_SECONDS);
            return Err(wrong(format!("{seconds} s is not from 1 to {most} s")));
        }
        let (least, most) = Self::BIT_RATES;
        if self.bit_rate < least || self.bit_rate > most {
            return Err(wrong(format!("{} is not from {least} to {most}", self.bit_rate)));
        }
        Ok(())
    }
}

fn wrong(reason: String) -> CodecError {
    CodecError::BadSpec { reason }
}

/// Writes a clip as `spec` says to `path`, as an MPEG-1 program stream; what was there before is
/// replaced, and a clip that could not be finished is removed.
///
/// The pictures are computed, so the same `spec` and the same libavcodec on the same kind of
/// processor give the same bytes.
///
/// # Errors
/// [`CodecError::BadSpec`] for a size, length or rate that MPEG-1 does not have,
/// [`CodecError::NotRegular`] when something else than a file is at `path`, and
/// [`CodecError::Unwritable`] when the file cannot be written.
pub fn synthesize(path: &Path, spec: &SynthSpec) -> Result<(), CodecError> {
    spec.check()?;
    backend::synthesize(path, spec)
}

#[cfg(test)]
mod tests {
    use super::{BitRate, CodecError, SynthSpec};

    #[test]
    fn clips_end_with_a_whole_group() {
        assert_eq!(SynthSpec::video1(1).frames(), 30);
        assert_eq!(SynthSpec::video1(3).frames(), 75);
        assert_eq!(SynthSpec::video1(10).frames(), 255);
    }

    #[test]
    fn absurd_clips_are_refused_by_name() {
        let good = SynthSpec::video1(1);
        for (spec, word) in [
            (SynthSpec { width: 0, ..good }, "width"),
            (SynthSpec { height: 8192, ..good }, "height"),
            (SynthSpec { width: 350, ..good }, "width"),
            (SynthSpec { seconds: 0, ..good }, "0 s"),
            (SynthSpec { bit_rate: BitRate(0), ..good }, "0 b/s"),
            (SynthSpec { seconds: u32::MAX, ..good }, "3600"),
        ] {
            let reason = match spec.check() {
                Err(CodecError::BadSpec { reason }) => reason,
                other => format!("{other:?}"),
            };
            assert!(reason.contains(word), "{reason}");
        }
    }
}
