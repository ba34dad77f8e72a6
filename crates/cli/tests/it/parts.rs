//! The pipeline, the clocks and the decoder as parts of the probe: what their records hold, that a clip's
//! statistics are ffprobe's, and what is refused.

use std::path::{Path, PathBuf};

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Run};
use nix::sys::signal::Signal;

use crate::invocation::{Invocation, Started};
use crate::processes::{self, Process};
use crate::turns::{alone, beside_others};

/// Processor time after which a stage has passed many blocks [clock ticks]: three tenths of a second.
const WELL_UNDER_WAY: u64 = 30;

fn part(name: &str, budget: &str, out: &Path) -> Invocation {
    Invocation::new().with(["probe", name, "--json", "--budget", budget, "--out"]).with([out])
}

fn shown(run: &Run, out: &Path) -> String {
    let runs = Invocation::new().with(["runs", "--out"]).with([out]);
    runs.with(["show", &run.id]).run().stdout
}

#[track_caller]
fn value(run: &Run, name: &str, of: &Labels) -> f64 {
    let figure = run.figure(name, of);
    figure.unwrap_or_else(|| panic!("no {name} {of:?}")).estimate.value
}

#[test]
fn every_channel_of_the_pipeline_stands_beside_the_opteron() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let run = part("pipeline", "6s", out.path()).run().sound();
    for channel in ["ring", "pipe", "unix", "tcp"] {
        let of = labels([("channel", channel)]);
        assert!(value(&run, "pipeline.gain", &of) > 0.0);
        let smallest = labels([("channel", channel), ("block_bytes", "64"), ("buffers", "1")]);
        assert!(value(&run, "pipeline.throughput", &smallest) > 0.0);
    }
    let report = shown(&run, out.path());
    for words in ["A pipeline of three processes", "-- Over ring --", "2008: 4 blocks"] {
        assert!(report.contains(words), "no `{words}` in {report}");
    }
}

/// Started, with all three stages at work.
fn pipeline_at_work(out: &Path) -> (Started, Vec<Process>) {
    let probe = part("pipeline", "60s", out).start();
    let stages = processes::until("the stages to be at work", || {
        let stages = probe.workers();
        let busy = stages.iter().all(|stage| stage.ticks >= WELL_UNDER_WAY);
        (stages.len() == 3 && busy).then_some(stages)
    });
    (probe, stages)
}

#[test]
fn ctrl_c_in_a_pipeline_keeps_what_was_measured() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let (probe, _) = pipeline_at_work(out.path());
    probe.signal_group(Signal::SIGINT);
    let ended = probe.end();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert_eq!(ended.left, [""; 0]);
    let run = ended.record();
    assert!(!run.complete && run.series.iter().any(|series| series.name == "pipeline.throughput"));
}

#[test]
fn a_stage_that_dies_is_named_and_what_was_measured_is_kept() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let (probe, stages) = pipeline_at_work(out.path());
    processes::kill(stages[1].pid);
    let ended = probe.end();
    assert!(ended.code != 0 && ended.stderr.contains("signal: 9"), "{}", ended.stderr);
    assert_eq!(ended.left, [""; 0]);
    let run = ended.record();
    assert!(!run.complete && run.series.iter().any(|series| series.name == "pipeline.throughput"));
    assert!(run.pitfalls.iter().any(|doubt| matches!(doubt, Pitfall::Stopped { .. })));
}

#[test]
fn a_processor_that_is_not_there_is_named() {
    let _turn = beside_others();
    let out = tempfile::tempdir().unwrap();
    let ended = part("pipeline", "1s", out.path()).with(["--cores", "0,999,0"]).run();
    assert!(ended.code != 0 && ended.stderr.contains("processor 999"), "{}", ended.stderr);
    assert_eq!(ended.left, [""; 0]);
    let wrong = part("pipeline", "1s", out.path()).with(["--cores", "0,1"]).run();
    wrong.refused(&["--cores", "source, filter and sink"]);
}

#[test]
fn the_clocks_have_a_verdict_with_its_reasons() {
    let _turn = alone();
    let out = tempfile::tempdir().unwrap();
    let run = part("clock", "4s", out.path()).run().sound();
    for (name, of) in [
        ("clock.cost", labels([("clock", "boottime")])),
        ("syscall.cost", Labels::new()),
        ("context_switch.cost", Labels::new()),
        ("wake_up.latency", labels([("cores", "same")])),
        ("clock.page_fault", labels([("pages", "small")])),
        ("clock.lateness", labels([("slack_ns", "1"), ("quantile", "0.99")])),
    ] {
        assert!(value(&run, name, &of) > 0.0, "{name}");
    }
    let report = shown(&run, out.path());
    for words in ["Clocks and costs", "as a clock: it is", "How late a sleep ends"] {
        assert!(report.contains(words), "no `{words}` in {report}");
    }
}

#[cfg(feature = "decode")]
mod decode {
    use std::fs;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::rights::programs;

    /// Clips with B-frames, a codec each.
    const CLIPS: [(&str, &str, &str); 4] = [
        ("one.mpg", "mpeg1video", "-c:v mpeg1video -bf 2 -g 15"),
        ("two.mpg", "mpeg2video", "-c:v mpeg2video -bf 2 -g 12 -f vob"),
        ("avc.mp4", "h264", "-c:v libx264 -bf 3 -g 30 -preset fast"),
        ("hevc.mp4", "hevc", "-c:v libx265 -preset fast -x265-params log-level=none:bframes=3"),
    ];

    fn output(program: &str, arguments: &str, path: &Path) -> String {
        let mut command = Command::new(program);
        let output = command.args(arguments.split(' ')).arg(path).stdin(Stdio::null()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn made(folder: &Path, name: &str, codec: &str) -> PathBuf {
        let path = folder.join(name);
        let source = "-v error -nostdin -f lavfi -i testsrc2=size=320x240:rate=25:duration=3";
        output("ffmpeg", &format!("{source} {codec}"), &path);
        path
    }

    /// Sizes of the frames of a type, as ffprobe shows them [B].
    fn probed(path: &Path, kind: &str) -> Vec<f64> {
        let frames = "-v error -select_streams v:0 -show_entries frame=pict_type,pkt_size -of json";
        let text: serde_json::Value =
            serde_json::from_str(&output("ffprobe", frames, path)).unwrap();
        let frames = text["frames"].as_array().unwrap().iter();
        let of_kind = frames.filter(|frame| kind == "all" || frame["pict_type"] == kind);
        of_kind.map(|frame| frame["pkt_size"].as_str().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn statistics_of_four_codecs_are_ffprobes() {
        let _turn = alone();
        if !programs("statistics_of_four_codecs_are_ffprobes", &["ffmpeg", "ffprobe"]) {
            return;
        }
        let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let clips = CLIPS.map(|(name, _, codec)| made(folder.path(), name, codec));
        let run = part("decode", "4s", out.path()).with(&clips).run().sound();
        for (path, (name, codec, _)) in clips.iter().zip(CLIPS) {
            for kind in ["I", "P", "B", "all"] {
                let of = labels([("clip", name), ("codec", codec), ("frame", kind)]);
                let sizes = probed(path, kind);
                assert!(!sizes.is_empty(), "{name} has {kind}-frames");
                let count = sizes.len() as f64;
                assert_eq!(value(&run, "decode.clip.frames", &of), count, "{of:?}");
                let (sum, largest) =
                    (sizes.iter().sum::<f64>(), sizes.iter().copied().fold(0.0, f64::max));
                assert!((value(&run, "decode.clip.mean_frame", &of) - sum / count).abs() < 1e-6);
                assert_eq!(value(&run, "decode.clip.largest_frame", &of), largest, "{of:?}");
                assert!(value(&run, "decode.cycles_per_byte", &of) >= 0.0);
            }
            let alone = labels([("clip", name), ("threads", "1")]);
            assert!(value(&run, "decode.time", &alone) > 0.0);
            // A picture of 4:2:0 has a byte and a half for a pixel.
            let raw = 75.0 * 320.0 * 240.0 * 1.5;
            let coded: f64 = probed(path, "all").iter().sum();
            let compression = value(&run, "decode.clip.compression", &labels([("clip", name)]));
            assert!((compression - coded / raw).abs() < 1e-9, "{name}: {compression}");
        }
        let report = shown(&run, out.path());
        for words in ["320x240", "Frames by type", "Decoders in hardware"] {
            assert!(report.contains(words), "no `{words}` in {report}");
        }
    }

    #[test]
    fn clips_that_cannot_be_decoded_are_refused_before_anything_is_measured() {
        let test = "clips_that_cannot_be_decoded_are_refused_before_anything_is_measured";
        if !programs(test, &["ffmpeg"]) {
            return;
        }
        let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| folder.path().join(name);
        let good = made(folder.path(), "good.mp4", CLIPS[2].2);
        let whole = fs::read(&good).unwrap();
        let faststart = made(folder.path(), "front.mp4", "-c:v libx264 -movflags +faststart");
        let front = fs::read(faststart).unwrap();
        fs::write(at("cut.mp4"), &front[..front.len() * 3 / 4]).unwrap();
        fs::write(at("headless.mp4"), &whole[..whole.len() / 2]).unwrap();
        fs::write(at("empty.mpg"), "").unwrap();
        output("ffmpeg", "-v error -nostdin -f lavfi -i sine=duration=1", &at("sound.wav"));
        for (name, words) in [
            ("cut.mp4", "truncated"),
            ("headless.mp4", "truncated"),
            ("empty.mpg", "not a media file"),
            ("sound.wav", "no video stream"),
            ("missing.mpg", "no such file"),
        ] {
            // The bad one behind a good one: nothing of the good one is measured either.
            let clips = [good.clone(), at(name)];
            let ended = part("decode", "4s", &out.path().join("runs")).with(clips).run();
            ended.refused(&[name, words]);
        }
        assert!(!out.path().join("runs").exists());
    }
}
