//! What a clip is before it is decoded: its stream, and the types and sizes of its frames.

use std::path::{Path, PathBuf};

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Unit};
use bitpath_platform::codec::{Clip, ClipFrame, FrameKind};

use crate::BenchError;
use crate::clip::MAX_CLIP;
use crate::sampling::Sampler;

/// Beginning of the names of the facts of a clip, which are read once.
pub(crate) const FACTS: &str = "decode.clip.";

/// A clip's facts.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) path: PathBuf,
    /// Clip and codec, as in every label.
    pub(super) labels: Labels,
    /// Name behind [`FACTS`], labels beside the clip's, unit, value.
    facts: Vec<(&'static str, Labels, Unit, f64)>,
}

impl Stream {
    /// Reads a clip; `name` is what it is called in labels.
    pub(super) fn read(path: &Path, name: String) -> Result<Self, BenchError> {
        let clip = Clip::open_within(path, MAX_CLIP)?;
        let labels = labels([("clip", &name), ("codec", clip.codec())]);
        Ok(Self { path: path.to_owned(), labels, facts: facts(&clip) })
    }

    /// Notes the facts, unless an earlier sitting has noted them.
    pub(super) fn note(&self, sampler: &mut Sampler) {
        for (name, more, unit, value) in &self.facts {
            let name = format!("{FACTS}{name}");
            let of = self.labels.iter().chain(more).map(|(k, v)| (k.clone(), v.clone())).collect();
            if sampler.samples(&name, &of) == 0 {
                sampler.add_alone(&name, &of, *unit, &[*value]);
            }
        }
    }
}

fn facts(clip: &Clip) -> Vec<(&'static str, Labels, Unit, f64)> {
    let none = Labels::new;
    let picture = clip.picture();
    let pixels = labels([("pixels", &picture.pixels)]);
    let seconds = clip.duration().as_secs_f64();
    let coded: f64 = clip.frames().iter().map(|frame| f64::from(frame.bytes)).sum();
    let raw = picture.bytes as f64 * clip.frames().len() as f64;
    let mut facts = vec![
        ("width", none(), Unit::Count, f64::from(clip.width())),
        ("height", none(), Unit::Count, f64::from(clip.height())),
        ("frame_rate", none(), Unit::FramesPerSecond, clip.frame_rate().per_second()),
        ("duration", none(), Unit::Seconds, seconds),
        ("bit_rate", none(), Unit::BitsPerSecond, coded * 8.0 / seconds.max(f64::MIN_POSITIVE)),
        ("picture", pixels, Unit::Bytes, picture.bytes as f64),
    ];
    if raw > 0.0 {
        facts.push(("compression", none(), Unit::Ratio, coded / raw));
    }
    facts.extend(frames(clip.frames()));
    facts
}

/// Number, mean and largest size of the frames of each type, and of all.
fn frames(frames: &[ClipFrame]) -> Vec<(&'static str, Labels, Unit, f64)> {
    let kinds = [
        ("all", None),
        ("I", Some(FrameKind::I)),
        ("P", Some(FrameKind::P)),
        ("B", Some(FrameKind::B)),
        ("other", Some(FrameKind::Other)),
    ];
    let of_kind = |(name, kind): (&str, Option<FrameKind>)| {
        let sizes = frames.iter().filter(|frame| kind.is_none_or(|kind| frame.kind == kind));
        let sizes: Vec<f64> = sizes.map(|frame| f64::from(frame.bytes)).collect();
        let mean = bitpath_measure::statistics::mean(&sizes)?;
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let of = labels([("frame", name)]);
        Some([
            ("frames", of.clone(), Unit::Frames, sizes.len() as f64),
            ("mean_frame", of.clone(), Unit::Bytes, mean),
            ("largest_frame", of, Unit::Bytes, largest),
        ])
    };
    kinds.into_iter().filter_map(of_kind).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_and_weighed_by_type() {
        let frame = |kind, bytes| ClipFrame {
            kind,
            bytes,
            key: false,
            display: None,
            presentation_ns: None,
        };
        let facts =
            frames(&[frame(FrameKind::I, 900), frame(FrameKind::B, 100), frame(FrameKind::B, 300)]);
        let value = |name: &str, frame: &str| {
            let of = labels([("frame", frame)]);
            facts.iter().find(|fact| fact.0 == name && fact.1 == of).map(|fact| fact.3)
        };
        assert_eq!(value("frames", "all"), Some(3.0));
        assert_eq!(value("mean_frame", "B"), Some(200.0));
        assert_eq!(value("largest_frame", "B"), Some(300.0));
        assert_eq!(value("frames", "P"), None, "a type that is not there has no figures");
    }
}
