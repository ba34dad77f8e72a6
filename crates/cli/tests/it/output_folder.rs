//! Folders that cannot take a record: said before measuring, or after it with the result printed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bitpath_platform::namespace::can_make_namespaces;

use crate::invocation::{Invocation, names};
use crate::rights::{PlainUser, open_folder, programs, root, skipped};
use crate::turns::{alone, beside_others};

#[test]
fn a_read_only_folder_is_refused_before_anything_is_measured() {
    let _turn = beside_others();
    let name = "a_read_only_folder_is_refused_before_anything_is_measured";
    if root() && !programs(name, &["setpriv"]) {
        return;
    }
    let (user, folder) = (PlainUser::new(), open_folder());
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    for (out, words) in [
        (folder.path().to_owned(), "cannot write to the folder"),
        (folder.path().join("runs"), "cannot make the folder"),
    ] {
        let ended = Invocation::by(&user).quick("study", &out).run();
        ended.refused(&[words, out.to_str().unwrap(), "Permission denied"]);
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_file_in_the_folder_s_place_is_refused_before_anything_is_measured() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    fs::write(&out, "mine").unwrap();
    for out in [out.clone(), out.join("deeper")] {
        let ended = Invocation::new().quick("study", &out).run();
        ended.refused(&["cannot make the folder", out.to_str().unwrap()]);
    }
    assert_eq!(fs::read_to_string(out).unwrap(), "mine");
}

#[test]
fn on_a_full_disk_the_result_is_printed_all_the_same() {
    let name = "on_a_full_disk_the_result_is_printed_all_the_same";
    if !programs(name, &["unshare", "mount"]) {
        return;
    }
    if let Err(error) = can_make_namespaces() {
        return skipped(name, &error.to_string());
    }
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    // A disk of 64 KiB that only this command sees; a record of a probe is larger.
    let script = "mount -t tmpfs -o size=64k tmpfs \"$1\" && shift && exec \"$@\"";
    let mut prefix: Vec<String> =
        ["unshare", "-m", "sh", "-c", script, "sh"].map(String::from).into();
    prefix.push(folder.path().to_str().unwrap().into());
    let program = Path::new(env!("CARGO_BIN_EXE_bitpath"));
    let ended = Invocation::of(prefix, program).quick("probe", folder.path()).run();
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let run = ended.record();
    assert!(run.complete && !run.series.is_empty());
    let file = folder.path().join(format!("{}.json", run.id));
    for words in ["cannot write", file.to_str().unwrap(), "No space left on device"] {
        assert!(ended.stderr.contains(words), "no `{words}` in: {}", ended.stderr);
    }
    assert_eq!(ended.left, [""; 0]);
}

#[test]
fn what_is_no_record_is_named_and_hides_no_other() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let runs = |arguments: &[&str]| {
        Invocation::new().with(["runs", "--out"]).with([folder.path()]).with(arguments).run()
    };
    fs::write(folder.path().join("broken.json"), "{").unwrap();
    fs::write(folder.path().join("later.json"), "{\"schema\": 999}").unwrap();
    let listed = runs(&["list"]);
    assert_eq!((listed.code, listed.stdout.as_str()), (0, ""));
    for words in ["broken.json is no run record", "later.json has schema 999", "use a later"] {
        assert!(listed.stderr.contains(words), "{}", listed.stderr);
    }
    runs(&["show", "broken"]).refused(&["broken.json is no run record"]);
    runs(&["show", "x"]).refused(&["0 records", "begins with `x`", "`bitpath runs list`"]);
}
