//! `bitpath rtp suite`: the programs over files, as a user runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::rights::skipped;
use crate::turns::beside_others;

/// Audio of a hundred units and a half [B].
const AUDIO_BYTES: usize = 160 * 100 + 80;

fn suite(folder: &Path, arguments: &[&str]) -> Ended {
    let audio = folder.join("audio");
    let bytes: Vec<u8> = (0..AUDIO_BYTES).map(|at| (at * 7 / 160 + at).to_le_bytes()[0]).collect();
    fs::write(&audio, bytes).unwrap();
    let suite = ["rtp", "suite", "--runs", "1", "--json", "--out"];
    let begun = Invocation::new().with(suite).with([folder]).with(["--input"]).with([&audio]);
    begun.with(["--program", env!("CARGO_BIN_EXE_bitpath-rtp")]).with(arguments).run()
}

#[test]
fn every_input_is_verified_and_every_benchmark_timed() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let ended = suite(folder.path(), &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = ended.record();
    let named = |name: &str| record.figures.iter().filter(|figure| figure.name == name).count();
    // Six inputs on two rings; the sender, three inputs of the receiver, and the reports.
    assert_eq!((named("rtp.units.lost"), named("rtp.cost")), (12, 5));
    let played = |ring: &str, input: &str| {
        let lost = record.figures.iter().find(|figure| {
            figure.name == "rtp.units.lost"
                && figure.labels["ring"] == ring
                && figure.labels["input"] == input
        });
        lost.unwrap().estimate.value == 0.0
    };
    for input in ["R_input1", "R_input2", "R_input3", "duplication", "burst"] {
        assert!(played("keep", input), "{input}");
    }
}

#[test]
fn functions_are_counted_where_qemu_is() {
    let test = "functions_are_counted_where_qemu_is";
    let built = Command::new(in_workspace("scripts/build-qemu-plugin")).output().unwrap();
    let qemu = Command::new("qemu-x86_64").arg("--version").output();
    if !built.status.success() || qemu.is_err() {
        skipped(test, "qemu-x86_64 or gcc is missing");
        return;
    }
    let _turn = beside_others();
    let plugin = String::from_utf8(built.stdout).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ended = suite(folder.path(), &["--plugin", plugin.trim()]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = ended.record();
    let of = |name: &str, key: &str, value: &str| {
        let all = record.figures.iter().filter(|figure| figure.name == name);
        all.filter(|figure| figure.labels.get(key).is_some_and(|of| of == value))
            .map(|figure| figure.estimate.value)
            .collect::<Vec<f64>>()
    };
    // Of each benchmark with its input on both cores, shares of functions are a whole.
    let shares: f64 = ["paper", "today"]
        .iter()
        .flat_map(|core| of("rtp.core.function_share", "core", core))
        .sum();
    assert!((shares - 10.0).abs() < 1e-6, "{shares}");
    let encapsulate = of("rtp.core.function_instructions", "function", "encapsulate");
    assert!(encapsulate.iter().all(|count| *count > 101.0 * 20.0), "{encapsulate:?}");
}

#[test]
fn a_program_that_is_none_and_audio_that_is_missing_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, named) in [
        (["--program", "/nowhere/rtp"], "/nowhere/rtp"),
        (["--program", "/bin/false"], "/bin/false"),
        (["--input", "/nowhere/audio"], "/nowhere/audio"),
    ] {
        let begun = Invocation::new().with(["rtp", "suite", "--runs", "1", "--out"]);
        let ended = begun.with([PathBuf::from(folder.path())]).with(arguments).run();
        assert_ne!(ended.code, 0, "{arguments:?}");
        assert!(ended.stderr.contains(named), "{arguments:?}: {}", ended.stderr);
    }
}
