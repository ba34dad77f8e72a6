//! Decoding: what each clip is, its frames by type with what they cost, and whole passes by number of
//! threads. A study's one clip has its costs alone.

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Run, Unit};

use super::Block;
use crate::format;
use crate::table::{Table, figures_named, side_by_side};

/// Beginning of the names of this part's figures.
pub(super) const PART: &str = "decode.";

/// Decoding of a study's clip by type of frame, and the titles.
const STUDY: [(&str, &str); 3] = [
    ("decode.cycles_per_byte", "cost"),
    ("decode.frame_rate", "rate"),
    ("decode.frames", "frames"),
];

/// Facts of a clip behind its size, and the titles.
const STREAM: [(&str, &str); 3] = [
    ("decode.clip.frame_rate", ">rate"),
    ("decode.clip.duration", ">length"),
    ("decode.clip.bit_rate", ">bit rate"),
];

/// What is known of the frames of a type, and the titles.
const FRAMES: [(&str, &str); 4] = [
    ("decode.clip.frames", ">frames"),
    ("decode.clip.mean_frame", ">mean"),
    ("decode.clip.largest_frame", ">largest"),
    ("decode.cycles_per_byte", ">cost, one thread"),
];

/// What is known of whole passes, and the titles.
const PASSES: [(&str, &str); 5] = [
    ("decode.time", ">time"),
    ("decode.speed_up", ">gain"),
    ("decode.frame_rate", ">rate"),
    ("decode.headroom", ">of the clip's own"),
    ("decode.cpu", ">processor time"),
];

/// Everything on decoding.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut study = figures_named(run, &STUDY.map(|(name, _)| name));
    study.retain(|figure| !figure.labels.contains_key("clip"));
    if !study.is_empty() {
        blocks.push(Block::Table(side_by_side(&study, &STUDY)));
    }
    let clips = clips(run);
    if !clips.is_empty() {
        blocks.push(Block::Table(streams(run, &clips)));
        let frames = clips.iter().flat_map(|of| of_frames(run, of));
        blocks.push(Block::Heading("Frames by type".into()));
        blocks.push(Block::Table(table("frame", &FRAMES, frames)));
        let passes = clips.iter().flat_map(|of| of_passes(run, of));
        blocks.push(Block::Heading("Whole passes by number of threads".into()));
        blocks.push(Block::Table(table("threads", &PASSES, passes)));
    }
    blocks.extend(hardware(run).map(Block::Paragraph));
    blocks
}

/// Labels of each clip, in the order of the record.
fn clips(run: &Run) -> Vec<Labels> {
    let clips = figures_named(run, &["decode.clip.duration"]);
    clips.into_iter().map(|figure| figure.labels.clone()).collect()
}

/// A clip each row: its stream, and how far it is compressed.
fn streams(run: &Run, clips: &[Labels]) -> Table {
    let titles = ["clip", "codec", ">size", "pixels"].into_iter();
    let titles = titles.chain(STREAM.map(|(_, title)| title)).chain([">coded", ">1 to"]);
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for of in clips {
        let number = |name: &str| run.figure(name, of).map(|figure| figure.estimate.value);
        let side = |name| number(name).map_or_else(|| "-".into(), |pixels| format!("{pixels:.0}"));
        let size = format!("{}x{}", side("decode.clip.width"), side("decode.clip.height"));
        let picture = run.figure("decode.clip.picture", of);
        let pixels = picture.and_then(|figure| figure.labels.get("pixels").cloned());
        let ratio = number("decode.clip.compression").filter(|coded| *coded > 0.0);
        let percent = |coded| format::value(Unit::Ratio, coded);
        let mut row = vec![label(of, "clip"), label(of, "codec"), size, pixels.unwrap_or_default()];
        row.extend(STREAM.map(|(name, _)| cell(run, name, of)));
        row.push(ratio.map_or_else(|| "-".into(), percent));
        row.push(ratio.map_or_else(|| "-".into(), |coded| format!("{:.0}", 1.0 / coded)));
        table.push(row);
    }
    table
}

/// A row: clip, what tells it from the clip's others, and the cells behind.
type Row = (String, String, Vec<String>);

fn table(key: &str, columns: &[(&str, &str)], rows: impl Iterator<Item = Row>) -> Table {
    let titles = ["clip", key].into_iter().chain(columns.iter().map(|(_, title)| *title));
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for (clip, of, cells) in rows {
        table.push([clip, of].into_iter().chain(cells).collect::<Vec<_>>());
    }
    table
}

fn of_frames(run: &Run, clip: &Labels) -> Vec<Row> {
    let row = |frame: &'static str| {
        let mut of = clip.clone();
        of.insert("frame".into(), frame.into());
        run.figure("decode.clip.frames", &of)?;
        let cells = FRAMES.map(|(name, _)| cell(run, name, &of));
        Some((label(clip, "clip"), frame.to_owned(), cells.into()))
    };
    ["I", "P", "B", "other", "all"].into_iter().filter_map(row).collect()
}

fn of_passes(run: &Run, clip: &Labels) -> Vec<Row> {
    let is_of =
        |figure: &&Figure| clip.iter().all(|(key, value)| figure.labels.get(key) == Some(value));
    let mut passes: Vec<u64> = figures_named(run, &["decode.time"])
        .iter()
        .filter(|figure| is_of(figure))
        .filter_map(|figure| figure.labels.get("threads")?.parse().ok())
        .collect();
    passes.sort_unstable();
    let row = |threads: u64| {
        let mut of = clip.clone();
        of.extend(labels([("threads", &threads.to_string())]));
        let cells = PASSES.map(|(name, _)| exact_cell(run, name, &of));
        (label(clip, "clip"), threads.to_string(), cells.into())
    };
    passes.into_iter().map(row).collect()
}

/// Devices that decode.
fn hardware(run: &Run) -> Option<String> {
    let figure = figures_named(run, &["decode.hardware"]).first().copied()?;
    Some(format!("Decoders in hardware: {}.", label(&figure.labels, "device")))
}

fn label(labels: &Labels, key: &str) -> String {
    labels.get(key).cloned().unwrap_or_default()
}

fn cell(run: &Run, name: &str, of: &Labels) -> String {
    run.figure(name, of).map_or_else(|| "-".into(), written)
}

/// As [`cell`], of a figure without any more labels.
fn exact_cell(run: &Run, name: &str, of: &Labels) -> String {
    let figure = run.figures.iter().find(|figure| figure.name == name && figure.labels == *of);
    figure.map_or_else(|| "-".into(), written)
}

/// A value with its unit; a share of something else, which may be many times as much, as a factor.
fn written(figure: &Figure) -> String {
    match figure.unit {
        Unit::Ratio => format::factor(&figure.estimate),
        unit => format::estimate(unit, &figure.estimate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Estimate;

    fn figure(name: &str, more: &[(&str, &str)], unit: Unit, value: f64) -> Figure {
        let mut of = labels([("clip", "a.mpg"), ("codec", "mpeg1video")]);
        of.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        Figure { name: name.into(), labels: of, unit, estimate: Estimate::single(value) }
    }

    #[test]
    fn a_clip_has_its_stream_its_frames_and_its_passes() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        assert!(blocks(&run).is_empty());
        run.figures = vec![
            figure("decode.clip.duration", &[], Unit::Seconds, 4.0),
            figure("decode.clip.width", &[], Unit::Count, 352.0),
            figure("decode.clip.height", &[], Unit::Count, 288.0),
            figure("decode.clip.compression", &[], Unit::Ratio, 0.0016),
            figure("decode.clip.frames", &[("frame", "B")], Unit::Frames, 66.0),
            figure("decode.time", &[("threads", "2")], Unit::Seconds, 0.1),
            figure(
                "decode.cycles_per_byte",
                &[("frame", "B"), ("threads", "1")],
                Unit::TscCyclesPerByte,
                90.0,
            ),
        ];
        let clips = clips(&run);
        let texts = |table: &Table| -> Vec<String> {
            table.rows.iter().flatten().map(|cell| cell.text.clone()).collect()
        };
        let stream = texts(&streams(&run, &clips));
        assert!(stream.contains(&"352x288".to_owned()) && stream.contains(&"625".to_owned()));
        let frames = &of_frames(&run, &clips[0])[0];
        assert_eq!((frames.1.as_str(), frames.2[0].as_str()), ("B", "66 frames"));
        assert!(frames.2[3].starts_with("90.0"), "{frames:?}");
        assert_eq!(of_passes(&run, &clips[0])[0].2[..2], ["100 ms", "-"]);
    }
}
