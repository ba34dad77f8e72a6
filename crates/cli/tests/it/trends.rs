//! `bitpath trends`: forty years of components, from the shipped figures or one's own.

use std::fs;
use std::path::Path;

use crate::invocation::{Ended, Invocation, in_workspace};

fn trends(folder: &Path, arguments: &[&str]) -> Ended {
    Invocation::new().with(["trends", "--out"]).with([folder]).with(arguments).run()
}

#[test]
fn the_verdict_is_printed_and_table_and_pictures_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let ended = trends(folder.path(), &["--until", "2030"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for said in ["holds by its own growth", "processor 2001 to 2007", "bus.bandwidth", "2029"] {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
    let table = fs::read_to_string(folder.path().join("trends.csv")).unwrap();
    // 1984 to 2030 under a header.
    assert_eq!(table.lines().count(), 1 + 47);
    for name in ["of-one-stream.svg", "of-a-whole-socket.svg", "by-its-own-growth.svg"] {
        assert!(fs::read_to_string(folder.path().join(name)).unwrap().contains("</svg>"), "{name}");
    }
}

#[test]
fn altered_figures_change_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    for entry in in_workspace("data/trends").read_dir().unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, data.join(path.file_name().unwrap())).unwrap();
    }
    let answer = || {
        let ended = trends(folder.path(), &["--json", "--data", data.to_str().unwrap()]);
        ended.record().answer.unwrap().sentences
    };
    let before = answer();
    let network = data.join("network.csv");
    let text = fs::read_to_string(&network).unwrap();
    fs::write(&network, text.replace("802.3ae 10GBASE,10000,", "802.3ae 10GBASE,1000,")).unwrap();
    assert_ne!(before, answer());
}

#[test]
fn mistakes_are_named_with_what_may_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    for (arguments, named) in [
        (&["--growth", "disk=3%"][..], "a component (line, bus, memory, processor)"),
        (&["--until", "1066"], "1984..=2100"),
        (&["--data", "/nowhere"], "cannot read /nowhere"),
        (&["--data", empty], "no series network.ethernet"),
    ] {
        let ended = trends(folder.path(), arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(named), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn a_measured_host_stands_beside_its_curves() {
    let folder = tempfile::tempdir().unwrap();
    let diablo = fs::read_to_string(in_workspace("data/hosts/diablo.toml")).unwrap();
    let measured = folder.path().join("host.toml");
    let named = diablo.replace("\"sysSIM table 6: 2166", "\"20040701T120000-probe: 2166");
    fs::write(&measured, named).unwrap();
    let ended = trends(folder.path(), &["--profile", measured.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("diablo of 2004: its memory lets"), "{}", ended.stdout);
    let picture = fs::read_to_string(folder.path().join("of-one-stream.svg")).unwrap();
    assert!(picture.contains("processor of diablo"), "no mark in the picture");

    let undated = in_workspace("data/hosts/diablo.toml");
    let ended = trends(folder.path(), &["--profile", undated.to_str().unwrap()]);
    ended.refused(&["--profile", "do not name the record"]);
    let scenario = in_workspace("scenarios/p3.toml");
    let ended = trends(folder.path(), &["--profile", scenario.to_str().unwrap()]);
    ended.refused(&["p3.toml", "no host's profile"]);
}
