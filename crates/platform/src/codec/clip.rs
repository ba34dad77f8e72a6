//! A clip in memory: every compressed frame with its type, size and times.

use std::path::Path;
use std::time::Duration;

use bitpath_measure::ByteCount;
use serde::{Deserialize, Serialize};

use super::{CodecError, CodecParameters, backend};

/// Most compressed video that [`Clip::open`] holds in memory [B]: two hours at 1 Mb/s or 16
/// minutes at 8.7 Mb/s, and still less than a small host's memory.
pub const MAX_CLIP_BYTES: ByteCount = ByteCount(1 << 30);

/// Coding type of a picture, as its decoder says (ffprobe's `pict_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FrameKind {
    /// Coded alone.
    I,
    /// Predicted from one earlier picture.
    P,
    /// Predicted from both sides in display order.
    B,
    /// Of another type, or a packet that gave no picture.
    Other,
}

/// One compressed frame. Its place in [`Clip::frames`] is its place in decode order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClipFrame {
    /// Coding type of the picture.
    pub kind: FrameKind,
    /// Compressed size [B].
    pub bytes: u32,
    /// A decoder can start here.
    pub key: bool,
    /// Place in display order, from 0; none where the packet gave no picture.
    pub display: Option<u32>,
    /// When the container wants it shown [ns], on the container's own time line.
    pub presentation_ns: Option<i64>,
}

/// Frames a second as a fraction, for 29.97 is 30000/1001.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameRate {
    /// Frames [frames] in `denominator` seconds; not zero.
    pub numerator: u32,
    /// Seconds [s]; not zero.
    pub denominator: u32,
}

impl FrameRate {
    /// The rate [frames/s].
    #[must_use]
    pub fn per_second(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Time of `frames` frames, rounded down [ns]; it saturates after 584 years.
    #[must_use]
    pub fn time_of_ns(self, frames: u64) -> u64 {
        const NS_PER_S: u128 = 1_000_000_000;
        let scaled = u128::from(frames) * u128::from(self.denominator) * NS_PER_S;
        u64::try_from(scaled / u128::from(self.numerator.max(1))).unwrap_or(u64::MAX)
    }
}

/// A decoded picture as it lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureFormat {
    /// libavutil's name of the layout of its pixels, for example `yuv420p`.
    pub pixels: String,
    /// Size of a whole picture, no row longer than it need be [B].
    pub bytes: u64,
}

/// Frames and bytes of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindTotal {
    /// Frames [frames].
    pub frames: u64,
    /// Compressed size of them all [B].
    pub bytes: u64,
}

/// Frames and bytes of each type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCounts {
    /// Frames coded alone.
    pub i: KindTotal,
    /// Frames predicted from one side.
    pub p: KindTotal,
    /// Frames predicted from both sides.
    pub b: KindTotal,
    /// Frames of other types and packets that gave no picture.
    pub other: KindTotal,
}

impl KindCounts {
    /// Counts `frames` by type.
    #[must_use]
    pub fn of(frames: &[ClipFrame]) -> Self {
        let mut counts = Self::default();
        for frame in frames {
            let total = match frame.kind {
                FrameKind::I => &mut counts.i,
                FrameKind::P => &mut counts.p,
                FrameKind::B => &mut counts.b,
                FrameKind::Other => &mut counts.other,
            };
            total.frames += 1;
            total.bytes += u64::from(frame.bytes);
        }
        counts
    }
}

/// The first video stream of a file, in memory.
#[derive(Clone, Debug)]
pub struct Clip {
    pub(super) parameters: CodecParameters,
    pub(super) container: String,
    pub(super) frame_rate: FrameRate,
    pub(super) duration: Duration,
    pub(super) picture: PictureFormat,
    pub(super) frames: Vec<ClipFrame>,
    pub(super) packets: Packets,
}

impl Clip {
    /// Reads the first video stream of `path`, up to [`MAX_CLIP_BYTES`], and decodes it once to
    /// learn the type of every frame.
    ///
    /// An MP4 whose data ends before its index does is an error. A file without such an index
    /// (MPEG program and transport streams, Matroska, AVI) is read as far as it goes; a picture that
    /// is cut at its end counts as a frame, as ffprobe counts it. Frames that an MP4's edit list
    /// hides from the viewer are frames here: they are sent and decoded like the others.
    ///
    /// # Errors
    /// Every variant of [`CodecError`] that holds a path, but [`CodecError::Unwritable`].
    pub fn open(path: &Path) -> Result<Self, CodecError> {
        Self::open_within(path, MAX_CLIP_BYTES)
    }

    /// As [`Clip::open`], with another bound on the bytes that are held in memory.
    ///
    /// # Errors
    /// As [`Clip::open`].
    pub fn open_within(path: &Path, limit: ByteCount) -> Result<Self, CodecError> {
        backend::open(path, limit)
    }

    /// The frames in decode order, which is the order in the file and on the wire.
    #[must_use]
    pub fn frames(&self) -> &[ClipFrame] {
        &self.frames
    }

    /// Compressed bytes of frame `index`, in decode order.
    ///
    /// # Panics
    /// When there is no such frame, as indexing a slice does.
    #[must_use]
    pub fn packet(&self, index: usize) -> &[u8] {
        self.packets.get(index)
    }

    /// Frames and bytes by type.
    #[must_use]
    pub fn kinds(&self) -> KindCounts {
        KindCounts::of(&self.frames)
    }

    /// What a decoder needs to know before the first packet.
    #[must_use]
    pub fn parameters(&self) -> &CodecParameters {
        &self.parameters
    }

    /// libavcodec's name of the codec.
    #[must_use]
    pub fn codec(&self) -> &str {
        &self.parameters.codec
    }

    /// libavformat's name of the container; several where one demuxer reads a family.
    #[must_use]
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Width of the picture [pixels].
    #[must_use]
    pub fn width(&self) -> u32 {
        self.parameters.width
    }

    /// Height of the picture [pixels].
    #[must_use]
    pub fn height(&self) -> u32 {
        self.parameters.height
    }

    /// Frames a second.
    #[must_use]
    pub fn frame_rate(&self) -> FrameRate {
        self.frame_rate
    }

    /// What its decoded pictures are; of the first where they differ.
    #[must_use]
    pub fn picture(&self) -> &PictureFormat {
        &self.picture
    }

    /// How long the clip plays: the stream's own word, else the container's, else frames by rate.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

/// Packets end to end in one allocation: a film has 10⁵ of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Packets {
    fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

#[cfg(feature = "decode")]
impl Packets {
    pub(super) fn push(&mut self, packet: &[u8]) {
        self.bytes.extend_from_slice(packet);
        self.ends.push(self.bytes.len());
    }

    /// Bytes of all packets [B].
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::{ClipFrame, FrameKind, FrameRate, KindCounts, KindTotal};

    #[test]
    fn kinds_add_frames_and_bytes() {
        let frame = |kind, bytes| ClipFrame {
            kind,
            bytes,
            key: false,
            display: None,
            presentation_ns: None,
        };
        let counts = KindCounts::of(&[
            frame(FrameKind::I, 19),
            frame(FrameKind::P, 6),
            frame(FrameKind::B, 2),
            frame(FrameKind::B, 3),
        ]);
        assert_eq!(counts.i, KindTotal { frames: 1, bytes: 19 });
        assert_eq!(counts.p, KindTotal { frames: 1, bytes: 6 });
        assert_eq!(counts.b, KindTotal { frames: 2, bytes: 5 });
        assert_eq!(counts.other, KindTotal::default());
    }

    #[test]
    fn ntsc_frames_do_not_drift() {
        let ntsc = FrameRate { numerator: 30_000, denominator: 1001 };
        assert_eq!(ntsc.time_of_ns(30_000), 1_001_000_000_000);
        assert_eq!(ntsc.time_of_ns(1), 33_366_666);
        assert!((ntsc.per_second() - 29.97).abs() < 0.001);
    }

    #[cfg(feature = "decode")]
    #[test]
    fn packets_keep_their_bounds() {
        let mut packets = super::Packets::default();
        for packet in [&b"abc"[..], b"", b"de"] {
            packets.push(packet);
        }
        assert_eq!([packets.get(0), packets.get(1), packets.get(2)], [&b"abc"[..], b"", b"de"]);
    }
}
