//! `scripts/setup` on machines that lack something, played by small scripts in place of the tools.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

use crate::tree;

/// A machine whose PATH holds nothing but stand-ins.
struct Machine {
    tools: BTreeMap<&'static str, String>,
}

/// What a run of the script did.
struct Outcome {
    code: i32,
    said: String,
    /// Calls of apt-get, a line each.
    apt_calls: String,
}

impl Machine {
    /// Root on a machine that has all; installing succeeds.
    fn complete() -> Self {
        let tools = [
            ("id", "echo 0".to_owned()),
            ("dpkg-query", dpkg_query("")),
            ("apt-get", "echo \"$@\" >>\"$HOME/apt-calls\"".to_owned()),
            ("rustc", "echo 'rustc 1.99.0 (abc 2026-01-01)'".to_owned()),
            ("cargo", "exit 0".to_owned()),
        ];
        Self { tools: tools.into() }
    }

    fn with(mut self, tool: &'static str, script: &str) -> Self {
        self.tools.insert(tool, script.to_owned());
        self
    }

    fn without(mut self, tool: &str) -> Self {
        self.tools.remove(tool);
        self
    }

    fn without_packages(self, missing: &str) -> Self {
        self.with("dpkg-query", &dpkg_query(missing))
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let home = TempDir::new().unwrap();
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for (tool, script) in &self.tools {
            let path = bin.join(tool);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let output = Command::new("/bin/bash")
            .arg(tree::root().join("scripts/setup"))
            .args(arguments)
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", &bin)
            .output()
            .unwrap();
        assert!(output.stdout.is_empty(), "messages go to the standard error stream");
        Outcome {
            code: output.status.code().unwrap(),
            said: String::from_utf8(output.stderr).unwrap(),
            apt_calls: fs::read_to_string(home.path().join("apt-calls")).unwrap_or_default(),
        }
    }
}

/// A dpkg-query that calls every package installed but the one named, of which it knows only the
/// leftovers of a removal; once apt-get was called with `install` it has that one too.
fn dpkg_query(missing: &str) -> String {
    format!(
        "shift 3
        for package; do
          state=installed
          if [ \"$package\" = '{missing}' ]; then
            state=config-files
            while read -r call; do case $call in *install*) state=installed;; esac; done 2>/dev/null <\"$HOME/apt-calls\"
          fi
          echo \"$package $state\"
        done
        exit 1"
    )
}

#[test]
fn a_complete_machine_is_left_alone_in_silence() {
    for arguments in [&[][..], &["--check"]] {
        let outcome = Machine::complete().run(arguments);
        assert_eq!((outcome.code, outcome.said.as_str()), (0, ""));
        assert_eq!(outcome.apt_calls, "");
    }
}

#[test]
fn check_names_what_is_missing_and_installs_nothing() {
    let machine = Machine::complete().without_packages("ethtool").without("rustc");
    let outcome = machine.run(&["--check"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("missing Debian packages: ethtool\n"), "{}", outcome.said);
    assert!(outcome.said.contains("missing: Rust 1."), "{}", outcome.said);
    assert_eq!(outcome.apt_calls, "");
}

#[test]
fn only_what_is_missing_is_installed() {
    let outcome = Machine::complete().without_packages("ethtool").run(&[]);
    assert_eq!(outcome.code, 0, "{}", outcome.said);
    let last = outcome.apt_calls.lines().last().unwrap();
    assert!(last.ends_with("install --yes --no-install-recommends ethtool"), "{last}");
}

#[test]
fn without_apt_the_packages_are_named() {
    let machine = Machine::complete().without_packages("ethtool").without("apt-get");
    let outcome = machine.run(&[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("no apt-get"), "{}", outcome.said);
    assert!(outcome.said.contains("missing Debian packages: ethtool\n"), "{}", outcome.said);
}

#[test]
fn without_dpkg_every_package_is_named() {
    let outcome = Machine::complete().without("dpkg-query").without("apt-get").run(&[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("ca-certificates") && outcome.said.contains("util-linux"));
}

#[test]
fn without_network_the_packages_and_the_command_are_named() {
    let machine = Machine::complete().without_packages("ethtool").with("apt-get", "exit 100");
    let outcome = machine.run(&[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("is there a network?"), "{}", outcome.said);
    assert!(outcome.said.contains("install --yes --no-install-recommends ethtool\n"));
    assert!(outcome.said.contains("missing Debian packages: ethtool\n"), "{}", outcome.said);
}

#[test]
fn an_apt_that_installs_nothing_is_noticed() {
    let machine = Machine::complete().without_packages("ethtool").with("apt-get", "exit 0");
    let outcome = machine.run(&[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("not everything is installed"), "{}", outcome.said);
}

#[test]
fn without_rights_the_command_for_root_is_named() {
    let machine = Machine::complete().without_packages("ethtool").with("id", "echo 1000");
    let outcome = machine.run(&[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("run as root: apt-get update && apt-get install"));
    assert_eq!(outcome.apt_calls, "");
}

#[test]
fn sudo_gives_the_rights() {
    let machine = Machine::complete()
        .without_packages("ethtool")
        .with("id", "echo 1000")
        .with("env", "shift; exec \"$@\"")
        .with("sudo", "exec \"$@\"");
    let outcome = machine.run(&[]);
    assert_eq!(outcome.code, 0, "{}", outcome.said);
    assert!(outcome.apt_calls.contains("install"), "{}", outcome.apt_calls);
}

#[test]
fn an_old_rust_counts_as_missing() {
    let machine = Machine::complete().with("rustc", "echo 'rustc 1.63.0 (abc 2022-08-08)'");
    let outcome = machine.run(&["--check"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("or newer (found 1.63)"), "{}", outcome.said);
}

#[test]
fn cargo_without_clippy_counts_as_missing() {
    let machine = Machine::complete().with("cargo", "[ \"$1\" != clippy ]");
    let outcome = machine.run(&["--check"]);
    assert_eq!(
        (outcome.code, outcome.said.as_str()),
        (1, "scripts/setup: missing: cargo clippy\n")
    );
}

#[test]
fn without_network_rust_is_named() {
    let machine = Machine::complete()
        .without("rustc")
        .with("curl", "echo 'curl: (6) no host' >&2; exit 6")
        .with("sh", "exit 0");
    let outcome = machine.run(&[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.said.contains("is there a network?"), "{}", outcome.said);
    assert!(outcome.said.contains("missing: Rust 1."), "{}", outcome.said);
}

#[test]
fn rustup_brings_a_newer_rust() {
    let rustc = "if [ -e \"$HOME/new\" ]; then echo 'rustc 1.99.0'; else echo 'rustc 1.63.0'; fi";
    let machine = Machine::complete().with("rustc", rustc);
    let outcome = machine.with("rustup", ">\"$HOME/new\"").run(&[]);
    assert_eq!(outcome.code, 0, "{}", outcome.said);
}

#[test]
fn an_unknown_option_is_refused() {
    let outcome = Machine::complete().run(&["--chekc"]);
    assert_eq!(
        (outcome.code, outcome.said.as_str()),
        (2, "scripts/setup: usage: scripts/setup [--check]\n")
    );
}
