//! Who may depend on whom. ARCHITECTURE.md shows the same table, and a test compares them.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::tree::{self, crate_name, expect_none};

/// A crate's place in the house.
struct Layer {
    /// Height: 0 is the vocabulary, 5 the surfaces.
    level: u8,
    /// Folder under `crates/`.
    name: &'static str,
    /// Crates that it may depend on.
    may_use: &'static [&'static str],
}

const fn layer(level: u8, name: &'static str, may_use: &'static [&'static str]) -> Layer {
    Layer { level, name, may_use }
}

/// Every crate of the house, bottom first, those included that are still to come.
const LAYERS: &[Layer] = &[
    layer(0, "measure", &[]),
    layer(1, "proto", &[]),
    layer(1, "media", &["measure"]),
    layer(1, "sim", &["measure", "media"]),
    layer(2, "platform", &["measure"]),
    layer(3, "client", &["measure", "proto", "media", "platform"]),
    layer(4, "server", &["measure", "proto", "media", "platform", "client"]),
    layer(4, "load", &["measure", "proto", "media", "platform", "client"]),
    layer(4, "capi", &["client"]),
    layer(4, "bench", &["measure", "proto", "media", "sim", "platform"]),
    layer(4, "results", &["measure"]),
    layer(4, "report", &["measure"]),
    layer(5, "web", &["measure", "sim", "results", "report"]),
    layer(
        5,
        "cli",
        &[
            "measure", "proto", "media", "sim", "platform", "client", "server", "load", "bench",
            "results", "report", "web",
        ],
    ),
    layer(5, "python", &["measure", "sim", "report"]),
];

/// Dependencies within one layer: a job's frames come from `media`; `cli` starts the page's server.
const SIDEWAYS: &[(&str, &str)] = &[("sim", "media"), ("cli", "web")];

/// Crates that must not reach another even through others.
const NEVER_REACHES: &[(&str, &[&str])] = &[
    ("report", &["platform"]),
    ("results", &["platform"]),
    ("web", &["platform"]),
    ("python", &["platform"]),
    ("bench", &["server", "load"]),
];

/// Dev-dependencies beyond the table, each with its reason.
const DEV_EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// Packages that make system calls or link C: only `platform` may use them.
const SYSTEM_PACKAGES: &[&str] =
    &["ffmpeg-next", "io-uring", "libc", "nix", "raw-cpuid", "rustix", "socket2"];

/// The kinds of dependency that end up in what is built.
const BUILT: &[&str] = &["dependencies", "build-dependencies"];

fn find(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}

/// Packages that a manifest names under the tables of `kinds`, `[target.*]` included, by their
/// real names: a rename by `package` is seen through.
fn packages(manifest: &Table, workspace: &Table, kinds: &[&str]) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let scopes = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let mut packages = BTreeSet::new();
    for scope in scopes.chain([manifest]) {
        let tables = kinds.iter().filter_map(|kind| scope.get(*kind)?.as_table());
        for (key, value) in tables.flatten() {
            let inherited = value.get("workspace").is_some();
            let value = if inherited { workspace.get(key).unwrap_or(value) } else { value };
            let package = value.get("package").and_then(Value::as_str).unwrap_or(key);
            packages.insert(package.to_owned());
        }
    }
    packages
}

fn workspace_dependencies() -> Table {
    let root: Table = tree::read("Cargo.toml").parse().unwrap();
    root["workspace"]["dependencies"].as_table().unwrap().clone()
}

/// The crates of this house among `packages`, by their short names.
fn own(packages: &BTreeSet<String>) -> impl Iterator<Item = &str> {
    packages.iter().filter_map(|package| package.strip_prefix("bitpath-"))
}

/// All that `name` may reach, directly or through others.
fn reach(name: &str) -> BTreeSet<&'static str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = find(name).unwrap().may_use.to_vec();
    while let Some(next) = open.pop() {
        if reached.insert(find(next).unwrap().name) {
            open.extend(find(next).unwrap().may_use);
        }
    }
    reached
}

#[test]
fn the_table_points_down() {
    for Layer { level, name, may_use } in LAYERS {
        for used in *may_use {
            let below = find(used).unwrap_or_else(|| panic!("{used} is not in LAYERS")).level;
            let sideways = SIDEWAYS.contains(&(name, used));
            assert!(below < *level || sideways, "LAYERS: {name} -> {used} does not point down");
        }
    }
    for (name, forbidden) in NEVER_REACHES {
        for crate_ in *forbidden {
            assert!(!reach(name).contains(crate_), "LAYERS lets {name} reach {crate_}");
        }
    }
}

#[test]
fn every_crate_stands_in_the_table_under_its_name() {
    let mut complaints = Vec::new();
    for (folder, manifest) in tree::members() {
        let Some(name) = crate_name(&folder) else { continue };
        if find(name).is_none() {
            complaints.push(format!(
                "{folder}: not in LAYERS; give it a layer in xtask/src/layers.rs and ARCHITECTURE.md"
            ));
        }
        let package = manifest["package"]["name"].as_str().unwrap_or_default();
        if package != format!("bitpath-{name}") {
            complaints.push(format!("{folder}/Cargo.toml: name the package bitpath-{name}"));
        }
    }
    expect_none(&complaints);
}

#[test]
fn dependencies_point_down() {
    let workspace = workspace_dependencies();
    let mut complaints = Vec::new();
    for (folder, manifest) in tree::members() {
        let Some(layer) = crate_name(&folder).and_then(find) else { continue };
        let name = layer.name;
        for used in own(&packages(&manifest, &workspace, BUILT)) {
            if !layer.may_use.contains(&used) {
                complaints.push(format!(
                    "{folder}/Cargo.toml: {name} may not depend on {used}; it may use {:?}: move the code down, or let the caller pass a value",
                    layer.may_use
                ));
            }
        }
        for used in own(&packages(&manifest, &workspace, &["dev-dependencies"])) {
            let excepted = DEV_EXCEPTIONS.iter().any(|(from, to, _)| (*from, *to) == (name, used));
            if !layer.may_use.contains(&used) && !excepted && used != name {
                complaints.push(format!(
                    "{folder}/Cargo.toml: the tests of {name} may not use {used}; move the test up, or state the exception with its reason in DEV_EXCEPTIONS of xtask/src/layers.rs"
                ));
            }
        }
    }
    expect_none(&complaints);
}

#[test]
fn system_calls_stay_in_platform() {
    let workspace = workspace_dependencies();
    let mut complaints = Vec::new();
    for (folder, manifest) in tree::members() {
        for package in packages(&manifest, &workspace, BUILT) {
            let makes_system_calls = SYSTEM_PACKAGES.contains(&package.as_str());
            if makes_system_calls && crate_name(&folder) != Some("platform") {
                complaints.push(format!(
                    "{folder}/Cargo.toml: only platform may depend on {package}; wrap the call there and use the wrapper"
                ));
            }
        }
    }
    expect_none(&complaints);
}

#[test]
fn the_table_in_architecture_md_is_this_one() {
    let text = tree::read("ARCHITECTURE.md");
    let section = text.split("\n## Layers").nth(1).expect("ARCHITECTURE.md has a `## Layers`");
    let section = section.split("\n## ").next().unwrap();
    let written: BTreeMap<String, (String, Vec<String>)> =
        section.lines().filter_map(layer_of_row).collect();
    for Layer { level, name, may_use } in LAYERS {
        let expected = (level.to_string(), may_use.iter().map(|used| (*used).to_owned()).collect());
        assert_eq!(
            written.get(*name),
            Some(&expected),
            "ARCHITECTURE.md, `## Layers`: the row of {name} differs from LAYERS in xtask/src/layers.rs (left: the document, right: LAYERS)"
        );
    }
    assert_eq!(written.len(), LAYERS.len(), "ARCHITECTURE.md, `## Layers`: {written:?}");
}

/// Reads ``| 1 | `sim` | promise | measure, media |``; `-` stands for no crate.
fn layer_of_row(row: &str) -> Option<(String, (String, Vec<String>))> {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let ["", level, name, _promise, may_use, ""] = cells[..] else { return None };
    let name = name.strip_prefix('`')?.strip_suffix('`')?;
    let may_use = may_use.split(", ").filter(|used| *used != "-").map(str::to_owned).collect();
    Some((name.to_owned(), (level.to_owned(), may_use)))
}

#[test]
fn renamed_inherited_and_target_dependencies_are_seen() {
    let workspace: Table =
        "clock = { package = \"bitpath-platform\", path = \"x\" }".parse().unwrap();
    let manifest: Table = "
        [dependencies]
        clock.workspace = true
        serde = \"1\"
        [target.'cfg(unix)'.dependencies]
        speed = { package = \"bitpath-measure\", path = \"y\" }
        [dev-dependencies]
        bitpath-sim = \"1\"
    "
    .parse()
    .unwrap();
    let built = packages(&manifest, &workspace, BUILT);
    assert_eq!(own(&built).collect::<Vec<_>>(), ["measure", "platform"]);
    assert!(built.contains("serde"));
    let dev = packages(&manifest, &workspace, &["dev-dependencies"]);
    assert_eq!(own(&dev).collect::<Vec<_>>(), ["sim"]);
}
