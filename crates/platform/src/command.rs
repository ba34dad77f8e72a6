//! Running the few system programs that do what has no simple system call.

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::{Command, Output, Stdio};

use crate::PlatformError;

/// A program and the Debian package that brings it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
}

pub(crate) const IP: Program = Program { name: "ip", package: "iproute2" };
pub(crate) const TC: Program = Program { name: "tc", package: "iproute2" };
pub(crate) const ETHTOOL: Program = Program { name: "ethtool", package: "ethtool" };
const NSENTER: Program = Program { name: "nsenter", package: "util-linux" };
const UNSHARE: Program = Program { name: "unshare", package: "util-linux" };

impl Program {
    /// Runs it here; answers what it printed.
    pub(crate) fn run(self, arguments: &[&str]) -> Result<String, PlatformError> {
        execute(self, self, arguments)
    }

    /// Runs it in the network namespace of a process.
    pub(crate) fn run_in_network_of(
        self,
        pid: u32,
        arguments: &[&str],
    ) -> Result<String, PlatformError> {
        let pid = pid.to_string();
        let mut all = vec!["--target", &pid, "--net", "--", self.name];
        all.extend(arguments);
        execute(NSENTER, self, &all)
    }

    /// Runs it in a network namespace of its own, which vanishes with it.
    pub(crate) fn run_in_new_network(self, arguments: &[&str]) -> Result<String, PlatformError> {
        let mut all = vec!["--net", "--", self.name];
        all.extend(arguments);
        execute(UNSHARE, self, &all)
    }
}

/// Runs `outer`, which may start `inner`; a program that is not there is named.
fn execute(outer: Program, inner: Program, arguments: &[&str]) -> Result<String, PlatformError> {
    let missing = |program: Program| PlatformError::ProgramMissing {
        program: program.name,
        package: program.package,
    };
    let command = || format!("{} {}", outer.name, arguments.join(" "));
    let output = Command::new(outer.name)
        .args(arguments)
        .env("PATH", search_path())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(Output { status, stdout, .. }) if status.success() => {
            Ok(String::from_utf8_lossy(&stdout).into_owned())
        }
        Ok(Output { status, .. }) if status.code() == Some(NOT_FOUND) => Err(missing(inner)),
        Ok(Output { status, stderr, .. }) => Err(PlatformError::Command {
            command: command(),
            status: status.to_string(),
            stderr: String::from_utf8_lossy(&stderr).trim().to_owned(),
        }),
        // The search says "denied" for a program that is nowhere when it met a closed directory.
        Err(error)
            if [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied]
                .contains(&error.kind()) =>
        {
            Err(missing(outer))
        }
        Err(error) => Err(PlatformError::system(format!("run `{}`", command()), error)),
    }
}

/// The user's search path with the system administrator's, which users and `su` often lack.
fn search_path() -> OsString {
    let mut path = env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin");
    path
}

/// Exit code by which `nsenter` and `unshare` say that the program to start is not there.
const NOT_FOUND: i32 = 127;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let absent = Program { name: "bitpath-no-such-program", package: "nowhere" };
        let error = absent.run(&[]).unwrap_err().to_string();
        assert_eq!(error, "bitpath-no-such-program is not installed (Debian package nowhere)");
    }

    #[test]
    fn a_failure_names_the_command_its_status_and_its_words() {
        let shell = Program { name: "sh", package: "dash" };
        let error = shell.run(&["-c", "echo so what >&2; exit 3"]).unwrap_err().to_string();
        assert!(error.starts_with("`sh -c echo so what"), "{error}");
        assert!(error.contains("exit status: 3") && error.ends_with(": so what"), "{error}");
    }
}
