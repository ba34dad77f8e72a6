//! How source files, manifests and lint settings look.

use toml::{Table, Value};

use crate::tree::{self, crate_of, expect_none};

/// Lines of a file before its tests; what is longer holds more than one thing.
const MAX_LINES: usize = 800;

/// Names that say nothing of what a file holds; `mod` stands for `mod.rs`.
const BANNED_NAMES: &[&str] =
    &["common", "helper", "helpers", "misc", "mod", "shared", "util", "utils"];

/// Crates that may hold `unsafe`.
const UNSAFE_CRATES: &[&str] = &["platform", "capi"];

/// How code that opens something unsafe begins, after the keyword; apart from it, so that this
/// file does not find itself.
const AFTER_UNSAFE: &[&str] = &[
    " {",
    " fn ",
    " impl ",
    " impl<",
    " trait ",
    " extern ",
    "(no_mangle",
    "(export_name",
    "(link",
];

/// Crates without clock, socket, file, thread or hash order; `report` gives the same bytes for the
/// same record.
const PURE_CRATES: &[&str] = &["measure", "proto", "media", "sim", "report"];

/// Keys of a pure crate's clippy.toml that make it pure.
const PURITY_KEYS: &[&str] = &["disallowed-methods", "disallowed-types"];

/// What those keys forbid at least.
const FORBIDDEN_IN_PURE: &[&str] = &[
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::env::var",
    "std::fs::File",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::thread::scope",
    "std::thread::sleep",
    "std::thread::spawn",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
];

/// Lints that guard an invariant, and the crates whose sources may name them to switch them off.
const GUARDS: &[(&str, &[&str])] = &[
    ("unsafe_code", UNSAFE_CRATES),
    ("clippy::print_stdout", &["cli"]),
    ("clippy::print_stderr", &["cli"]),
    ("clippy::disallowed_methods", &[]),
    ("clippy::disallowed_types", &[]),
    ("clippy::iter_over_hash_type", &[]),
];

#[test]
fn every_file_says_what_it_is() {
    let mut complaints = Vec::new();
    for (path, text) in tree::texts(&[".rs"]) {
        let first = text.lines().next().unwrap_or_default();
        let says = first.strip_prefix("//!").is_some_and(|header| header.trim().len() > 2);
        if !says {
            complaints.push(format!("{path}: begin with a `//!` line that says what the file is"));
        }
    }
    expect_none(&complaints);
}

#[test]
fn no_file_is_too_long() {
    let mut complaints = Vec::new();
    for (path, text) in tree::texts(&[".rs"]) {
        let lines = lines_before_tests(&text);
        if lines > MAX_LINES {
            complaints.push(format!(
                "{path}: {lines} lines before its tests, at most {MAX_LINES}: split it by topic"
            ));
        }
    }
    expect_none(&complaints);
}

fn lines_before_tests(text: &str) -> usize {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines().count()
}

#[test]
fn names_say_what_is_inside() {
    let mut complaints = Vec::new();
    for path in tree::files().iter().filter(|path| path.ends_with(".rs")) {
        let parts = path.trim_end_matches(".rs").split('/');
        for part in parts.filter(|part| BANNED_NAMES.contains(part)) {
            complaints.push(format!(
                "{path}: `{part}` does not say what is inside; name it by its topic (and write foo.rs + foo/, not foo/mod.rs)"
            ));
        }
    }
    expect_none(&complaints);
}

#[test]
fn unsafe_stays_in_platform_and_capi() {
    let mut complaints = Vec::new();
    for (path, text) in tree::texts(&[".rs"]) {
        if crate_of(&path).is_some_and(|name| UNSAFE_CRATES.contains(&name)) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            if opens_unsafe(line) {
                complaints.push(format!(
                    "{path}:{}: unsafe code belongs in platform (or capi), behind a safe function",
                    index + 1
                ));
            }
        }
    }
    expect_none(&complaints);
}

fn opens_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    AFTER_UNSAFE.iter().any(|next| code.contains(&["unsafe", next].concat()))
}

#[test]
fn lints_that_guard_an_invariant_stay_on() {
    let mut complaints = Vec::new();
    for (path, text) in tree::texts(&[".rs"]) {
        // Examples, benchmarks and tests may print and read files: nobody builds on them.
        let Some(name) = crate_of(&path).filter(|_| path.contains("/src/")) else { continue };
        for (lint, allowed_in) in GUARDS {
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            if !allowed_in.contains(&name) && code.into_iter().any(|line| line.contains(lint)) {
                complaints.push(format!(
                    "{path}: {lint} guards an invariant of ARCHITECTURE.md; do without switching it off"
                ));
            }
        }
    }
    expect_none(&complaints);
}

#[test]
fn every_member_inherits_the_lints_and_describes_itself() {
    let mut complaints = Vec::new();
    for (folder, manifest) in tree::members() {
        let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
        if lints != Some(&Value::Boolean(true)) {
            complaints.push(format!("{folder}/Cargo.toml: add `[lints]` with `workspace = true`"));
        }
        for key in ["version", "edition", "rust-version", "license"] {
            let inherited = manifest["package"].get(key).and_then(|value| value.get("workspace"));
            if inherited != Some(&Value::Boolean(true)) {
                complaints.push(format!("{folder}/Cargo.toml: write `{key}.workspace = true`"));
            }
        }
        let description = manifest["package"].get("description").and_then(Value::as_str);
        if !description.is_some_and(is_sentence) {
            complaints.push(format!(
                "{folder}/Cargo.toml: `description` is one sentence on what the crate promises"
            ));
        }
    }
    expect_none(&complaints);
}

fn is_sentence(text: &str) -> bool {
    text.split_whitespace().count() >= 4 && text.ends_with('.') && !text.contains("TODO")
}

/// Parsed clippy.toml of every pure crate that exists, by its path; one without it is an error.
fn pure_settings() -> Vec<(String, Table)> {
    let exists = |name: &&&str| tree::root().join("crates").join(name).is_dir();
    let read = |name: &&str| {
        let path = format!("crates/{name}/clippy.toml");
        let table = tree::read(&path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        (path, table)
    };
    PURE_CRATES.iter().filter(exists).map(read).collect()
}

#[test]
fn pure_crates_forbid_clock_socket_file_thread_and_hash_order() {
    let mut complaints = Vec::new();
    let settings = pure_settings();
    let (first_path, first) = &settings[0];
    for (path, table) in &settings {
        for key in PURITY_KEYS {
            if table.get(*key) != first.get(*key) {
                complaints.push(format!(
                    "{path}: `{key}` differs from {first_path}; the pure crates share it"
                ));
            }
        }
        for item in FORBIDDEN_IN_PURE.iter().filter(|item| !forbids(table, item)) {
            complaints.push(format!("{path}: forbid {item} again"));
        }
    }
    expect_none(&complaints);
}

#[test]
fn every_clippy_toml_repeats_the_root_keys() {
    let root: Table = tree::read("clippy.toml").parse().unwrap();
    let mut complaints = Vec::new();
    for (path, text) in tree::texts(&["clippy.toml"]) {
        let settings: Table = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        for (key, value) in root.iter().filter(|(key, value)| settings.get(*key) != Some(*value)) {
            complaints.push(format!(
                "{path}: repeat `{key} = {value}`: this file replaces the root clippy.toml"
            ));
        }
    }
    expect_none(&complaints);
}

fn forbids(settings: &Table, item: &str) -> bool {
    let lists = PURITY_KEYS.iter().filter_map(|key| settings.get(*key)?.as_array());
    lists.flatten().any(|entry| entry.get("path").and_then(Value::as_str) == Some(item))
}

#[test]
fn unsafe_is_told_from_words_that_look_like_it() {
    let keyword = "unsafe";
    for code in ["{ *pointer }", "fn read() {", "impl Send for X {}", "extern \"C\" {"] {
        assert!(opens_unsafe(&format!("    let x = {keyword} {code}")), "{code}");
    }
    assert!(opens_unsafe(&format!("#[{keyword}(no_mangle)]")));
    assert!(!opens_unsafe("    // unsafe { in a comment }"));
    assert!(!opens_unsafe("#![deny(unsafe_code)]"));
}

#[test]
fn tests_do_not_count_as_lines() {
    let text = "//! A.\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
    assert_eq!(lines_before_tests(text), 3);
}
