//! What this test process may do, and how it gives that up.

use std::fs::{self, Permissions};
use std::io::{Write, stderr};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// User and group without rights and without files.
const NOBODY: u32 = 65_534;

/// Says on the terminal, past the harness's capture, why a test did nothing.
pub(crate) fn skipped(test: &str, why: &str) {
    stderr().write_all(format!("{test}: skipped: {why}\n").as_bytes()).unwrap();
}

/// Whether these programs can be started; says which of them cannot.
pub(crate) fn programs(test: &str, names: &[&str]) -> bool {
    let startable = |name: &&&str| {
        let mut help = Command::new(name);
        help.arg("--help").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        help.status().is_ok()
    };
    let missing = names.iter().find(|name| !startable(name));
    if let Some(name) = missing {
        skipped(test, &format!("{name} is not installed"));
    }
    missing.is_none()
}

/// Whether this process has root's rights.
pub(crate) fn root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// A folder that anybody may enter and this user owns.
pub(crate) fn open_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A user without root's rights: nobody where this process is root, else whoever runs it.
pub(crate) struct PlainUser {
    folder: TempDir,
}

impl PlainUser {
    /// Prepares a home: a copy of the program that nobody can start and a folder for its files.
    pub(crate) fn new() -> Self {
        let folder = open_folder();
        fs::copy(env!("CARGO_BIN_EXE_bitpath"), folder.path().join("bitpath")).unwrap();
        let user = Self { folder };
        user.own_folder("home");
        user
    }

    /// The program.
    pub(crate) fn program(&self) -> PathBuf {
        self.folder.path().join("bitpath")
    }

    /// A folder that this user may write to.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn own_folder(&self, name: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir(&path).unwrap();
        self.give(&path);
    }

    /// Makes a file or a folder this user's.
    pub(crate) fn give(&self, path: &Path) {
        if root() {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// What starts a command as this user.
    pub(crate) fn prefix() -> Vec<String> {
        let setpriv = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
        if root() { setpriv.map(String::from).to_vec() } else { Vec::new() }
    }
}
