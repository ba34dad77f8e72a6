//! The repository as git sees it: the files that are tracked or would be.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap().to_path_buf()
}

/// Paths from the top of all files that git tracks or does not ignore, sorted.
///
/// Files that are not added yet count too: a check should speak before the commit.
pub(crate) fn files() -> Vec<String> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    let complaint = String::from_utf8_lossy(&listing.stderr);
    assert!(listing.status.success(), "these checks need a git clone: {complaint}");
    let mut files: Vec<String> = String::from_utf8(listing.stdout)
        .unwrap()
        .split_terminator('\0')
        .filter(|path| root().join(path).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files
}

/// The text of one file, by its path from the top.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Path and text of the files whose name ends in one of `endings`.
pub(crate) fn texts(endings: &[&str]) -> Vec<(String, String)> {
    let wanted = |path: &String| endings.iter().any(|ending| path.ends_with(ending));
    files().into_iter().filter(wanted).map(|path| (path.clone(), read(&path))).collect()
}

/// Folder and parsed manifest of every member of the workspace.
pub(crate) fn members() -> BTreeMap<String, toml::Table> {
    let mut members = BTreeMap::new();
    for (path, text) in texts(&["Cargo.toml"]) {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else { continue };
        if folder == "xtask" || crate_name(folder).is_some() {
            let table = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
            members.insert(folder.to_owned(), table);
        }
    }
    members
}

/// The short name of the crate in `folder`: `crates/sim` holds `sim`.
pub(crate) fn crate_name(folder: &str) -> Option<&str> {
    folder.strip_prefix("crates/").filter(|name| !name.contains('/'))
}

/// The short name of the crate that a file belongs to.
pub(crate) fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// Fails with all complaints at once, a line each.
#[track_caller]
pub(crate) fn expect_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n\n{}\n", complaints.join("\n"));
}
