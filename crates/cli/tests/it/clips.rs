//! Clips that cannot be used, named and refused before anything is measured or simulated; and one
//! that a simulation plays.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bitpath_sim::machine::Task;
use bitpath_sim::scenario::{Scenario, Subject};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::invocation::{Ended, Invocation, in_workspace, names};
use crate::rights::{PlainUser, open_folder, programs, root};
use crate::turns::beside_others;

/// A study of this clip refuses it, names it and says this, and keeps no record.
#[track_caller]
fn refused(invocation: Invocation, out: &Path, clip: &Path, words: &[&str]) {
    let ended = invocation.quick("study", out).with(["--clip"]).with([clip]).run();
    ended.refused(&[clip.file_name().unwrap().to_str().unwrap()]);
    ended.refused(words);
    assert_eq!(names(out), [""; 0]);
}

fn made_by_ffmpeg(folder: &Path, name: &str, arguments: &str) -> PathBuf {
    let path = folder.join(name);
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-nostdin", "-f", "lavfi"]).args(arguments.split(' '));
    let output = command.arg(&path).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

#[test]
fn a_clip_that_is_no_clip_is_refused() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("notes.mpg"), "Buy milk.\n".repeat(500)).unwrap();
    fs::write(at("nothing.mpg"), "").unwrap();
    fs::create_dir(at("folder.mpg")).unwrap();
    mkfifo(&at("pipe.mpg"), Mode::from_bits_truncate(0o600)).unwrap();
    let out = tempfile::tempdir().unwrap();
    for (name, word) in [
        ("missing.mpg", "no such file"),
        ("notes.mpg", "not a media file"),
        ("nothing.mpg", "not a media file"),
        ("folder.mpg", "a directory, a clip must be a regular file"),
        ("pipe.mpg", "a clip must be a regular file"),
    ] {
        refused(Invocation::new(), out.path(), &at(name), &[word]);
    }
}

#[test]
fn a_clip_that_may_not_be_read_is_refused() {
    let _turn = beside_others();
    if root() && !programs("a_clip_that_may_not_be_read_is_refused", &["setpriv"]) {
        return;
    }
    let (user, folder) = (PlainUser::new(), open_folder());
    let clip = folder.path().join("secret.mpg");
    fs::write(&clip, "secret").unwrap();
    fs::set_permissions(&clip, Permissions::from_mode(0o000)).unwrap();
    refused(Invocation::by(&user), &user.home(), &clip, &["cannot be read", "Permission denied"]);
}

#[test]
fn a_clip_without_video_is_refused() {
    let _turn = beside_others();
    if !programs("a_clip_without_video_is_refused", &["ffmpeg"]) {
        return;
    }
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sound = made_by_ffmpeg(folder.path(), "sound.wav", "-i sine -t 1");
    refused(Invocation::new(), out.path(), &sound, &["no video stream in this wav file"]);
}

#[test]
fn a_truncated_clip_is_refused() {
    let _turn = beside_others();
    if !programs("a_truncated_clip_is_refused", &["ffmpeg"]) {
        return;
    }
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let make = "-i testsrc=duration=2:size=176x144:rate=25 -c:v mpeg4 -movflags +faststart";
    let whole = fs::read(made_by_ffmpeg(folder.path(), "whole.mp4", make)).unwrap();
    let cut = folder.path().join("cut.mp4");
    fs::write(&cut, &whole[..whole.len() * 2 / 3]).unwrap();
    refused(Invocation::new(), out.path(), &cut, &["truncated", "of 50 frames are there"]);
}

fn simulated(scenario: &str, clip: &Path, arguments: &[&str]) -> Ended {
    let scenario = in_workspace(scenario);
    let simulate = Invocation::new().with(["simulate", "--json", "--clip"]).with([clip]);
    simulate.with([scenario]).with(arguments).run()
}

#[test]
fn a_simulation_plays_the_frames_of_a_clip_and_its_record_runs_again() {
    let _turn = beside_others();
    if !programs("a_simulation_plays_the_frames_of_a_clip_and_its_record_runs_again", &["ffmpeg"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let make = "-i testsrc=duration=2:size=176x144:rate=25 -c:v mpeg1video -bf 2 -g 12";
    let clip = made_by_ffmpeg(folder.path(), "real.mpg", make);
    let run = simulated("scenarios/mpeg-sw.toml", &clip, &[]).record();
    let text = &run.documents[0].text;
    let Subject::Machine(machine) = Scenario::parse(text).unwrap().subject else { panic!() };
    let Task::Mpeg { film, .. } = &machine.machine.flows[0].job else { panic!("a film") };
    assert_eq!((film.name.as_str(), film.frames.len()), ("real.mpg", 50));
    assert_eq!(film.rate.per_second(), 25.0);
    let again = folder.path().join("again.toml");
    fs::write(&again, text).unwrap();
    let again = Invocation::new().with(["simulate", "--json"]).with([again]).run();
    assert_eq!(again.record(), run);
}

#[test]
fn a_clip_needs_a_film_to_replace_and_must_be_one() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes.mpg");
    fs::write(&notes, "Buy milk.\n".repeat(500)).unwrap();
    let film = "scenarios/mpeg-sw.toml";
    simulated(film, &notes, &[]).refused(&["notes.mpg", "not a media file"]);
    simulated(film, &folder.path().join("no.mpg"), &[]).refused(&["no.mpg", "no such file"]);
    if !programs("a_clip_needs_a_film_to_replace_and_must_be_one", &["ffmpeg"]) {
        return;
    }
    let clip =
        made_by_ffmpeg(folder.path(), "real.mpg", "-i testsrc=duration=1:size=176x144:rate=25");
    simulated("scenarios/p3.toml", &clip, &[]).refused(&["p3.toml has no film", "kind \"mpeg\""]);
}
