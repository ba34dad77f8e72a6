//! What the documents claim, held against the tree, and what no file may hold.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use crate::tree::{self, expect_none};

/// Where packages come from; a package is named, never the place of one machine's mirror.
/// The halves keep this file from finding itself.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("registry.", "npmjs.org"),
    concat!("pypi", ".org"),
    concat!("files.", "pythonhosted.org"),
    concat!("proxy.", "golang.org"),
    concat!("deb.", "debian.org"),
    concat!("security.", "debian.org"),
    concat!("archive.", "ubuntu.com"),
    concat!("index", "-url"),
    concat!("replace", "-with"),
];

/// Folders that exist on one machine only, or that nobody may count on.
const MACHINE_FOLDERS: &[&str] =
    &[concat!("/", "work"), concat!("/", "tmp"), concat!("/", "root"), concat!("/", "home")];

/// The one source of packages that the lock file may name.
const LOCKED_SOURCE: &str = concat!("registry+https://github.com/rust-lang/crates", ".io-index");

#[test]
fn relative_links_point_to_files() {
    let mut complaints = Vec::new();
    for (path, text) in tree::texts(&[".md"]) {
        let folder = Path::new(&path).parent().unwrap_or_else(|| Path::new(""));
        for link in links(&text) {
            let target = flatten(&folder.join(&link));
            if !target.as_ref().is_some_and(|target| tree::root().join(target).exists()) {
                complaints.push(format!("{path}: the link to {link} leads nowhere; correct it"));
            }
        }
    }
    expect_none(&complaints);
}

/// Relative targets of Markdown links and HTML attributes, without their anchors.
fn links(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut links = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        for (opening, closing) in
            [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"'), ("href=\"", '"')]
        {
            for rest in without_code(line).split(opening).skip(1) {
                let target = rest.split([closing, ' ', '#']).next().unwrap_or_default();
                if !target.is_empty() && !target.contains(':') {
                    links.push(target.to_owned());
                }
            }
        }
    }
    links
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// `docs/../README.md` as `README.md`; `None` when it leaves the repository.
fn flatten(path: &Path) -> Option<PathBuf> {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => flat.pop().then_some(())?,
            Component::Normal(part) => flat.push(part),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(flat)
}

#[test]
fn papers_md_names_what_exists() {
    let text = tree::read("docs/papers.md");
    let mut complaints = Vec::new();
    for row in text.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        for reference in row.split('`').skip(1).step_by(2).filter(|code| code.contains('/')) {
            if let Err(reason) = resolve(reference) {
                complaints.push(format!(
                    "docs/papers.md: `{reference}`: {reason}; correct the row or drop it"
                ));
            }
        }
    }
    expect_none(&complaints);
}

/// Whether `path` exists, or for `path::name` holds that function, constant or type.
fn resolve(reference: &str) -> Result<(), String> {
    let (path, item) = match reference.split_once("::") {
        Some((path, item)) => (path, Some(item)),
        None => (reference, None),
    };
    if !tree::root().join(path).exists() {
        return Err(format!("there is no {path}"));
    }
    match item {
        Some(item) if !defines(&tree::read(path), item) => Err(format!("{path} has no {item}")),
        _ => Ok(()),
    }
}

fn defines(text: &str, item: &str) -> bool {
    let keywords = ["fn", "const", "struct", "enum", "type", "trait", "mod"];
    keywords.iter().any(|keyword| {
        let definition = format!("{keyword} {item}");
        let mut ends = text.match_indices(&definition).map(|(at, found)| at + found.len());
        ends.any(|end| !text[end..].starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    })
}

#[test]
fn papers_md_cites_tests_that_exist() {
    let text = tree::read("docs/papers.md");
    let mut complaints = Vec::new();
    for row in text.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let ["", section, says, module, test, ""] = cells[..] else {
            complaints.push(format!("docs/papers.md: a row has four cells: {row}"));
            continue;
        };
        if section.is_empty() || says.is_empty() || !module.contains('`') {
            complaints.push(format!(
                "docs/papers.md: a row names its section, its content and a module: {row}"
            ));
        }
        let names_a_test = test.split('`').skip(1).step_by(2).all(|name| name.contains(".rs::"));
        if !names_a_test {
            complaints.push(format!("docs/papers.md: a test is written path.rs::name: {row}"));
        }
    }
    expect_none(&complaints);
}

#[test]
fn measuring_md_describes_every_pitfall() {
    let document = tree::read("docs/measuring.md");
    let mut complaints = Vec::new();
    for variant in variants(&tree::read("crates/measure/src/pitfall.rs"), "Pitfall") {
        let name = kebab_case(&variant);
        if !document.contains(&format!("| `{name}` |")) {
            complaints.push(format!(
                "docs/measuring.md: add a row for `{name}`: what it is, how it is noticed, what to do"
            ));
        }
    }
    expect_none(&complaints);
}

/// Names of the variants of an enum, as rustfmt lays it out.
fn variants(source: &str, name: &str) -> Vec<String> {
    let body = source.split(&format!("pub enum {name} {{\n")).nth(1).expect("the enum is there");
    let body = body.split("\n}").next().unwrap();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let variants = lines.filter(|line| line.starts_with(char::is_uppercase));
    variants.map(|line| line.trim_end_matches([' ', '{', ',']).to_owned()).collect()
}

/// `CoarseClock` as `coarse-clock`, the way serde writes it.
fn kebab_case(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.extend(letter.to_lowercase());
    }
    kebab
}

#[test]
fn the_changelog_has_a_place_for_what_comes() {
    let text = tree::read("CHANGELOG.md");
    let found = text.lines().any(|line| line == "## [Unreleased]");
    assert!(found, "CHANGELOG.md: add a `## [Unreleased]` section");
}

#[test]
fn no_file_names_a_registry_or_a_machine() {
    let mut complaints = Vec::new();
    for path in tree::files().iter().filter(|path| *path != "Cargo.lock") {
        // What is not UTF-8 is a picture or a film.
        let Ok(text) = std::fs::read_to_string(tree::root().join(path)) else { continue };
        for (index, line) in text.lines().enumerate() {
            let place = format!("{path}:{}", index + 1);
            if let Some(host) = REGISTRY_HOSTS.iter().find(|host| line.contains(**host)) {
                complaints
                    .push(format!("{place}: {host}: name the package, not where it comes from"));
            }
            if let Some(folder) = machine_folder(line) {
                complaints.push(format!(
                    "{place}: {folder} is a folder of one machine: use a relative path, $HOME or a temporary folder that is asked for"
                ));
            }
        }
    }
    expect_none(&complaints);
}

/// The machine's folder that a line names as an absolute path.
fn machine_folder(line: &str) -> Option<&'static str> {
    let continues_before =
        |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || "_-./})>]*~$".contains(c));
    let continues_after =
        |text: &str| text.starts_with(|c: char| c.is_alphanumeric() || "_-.".contains(c));
    MACHINE_FOLDERS.iter().copied().find(|folder| {
        line.match_indices(folder).any(|(at, found)| {
            !continues_before(&line[..at]) && !continues_after(&line[at + found.len()..])
        })
    })
}

#[test]
fn the_lock_file_names_one_source() {
    let lock: Table = tree::read("Cargo.lock").parse().unwrap();
    for package in lock["package"].as_array().unwrap() {
        let source = package.get("source").and_then(Value::as_str).unwrap_or(LOCKED_SOURCE);
        let name = &package["name"];
        assert_eq!(source, LOCKED_SOURCE, "Cargo.lock: {name} comes from another source");
    }
}

#[test]
fn links_are_found_and_code_is_not() {
    let text = "[a](docs/a.md#top) [b](https://example.org) `[c](c.md)` [d](#here)\n\
                <img src=\"p.svg\">\n```\n[e](e.md)\n```\n";
    assert_eq!(links(text), ["docs/a.md", "p.svg"]);
    assert_eq!(flatten(Path::new("docs/../README.md")), Some(PathBuf::from("README.md")));
    assert_eq!(flatten(Path::new("docs/../../x")), None);
}

#[test]
fn a_machine_folder_is_told_from_a_name_that_holds_one() {
    for folder in MACHINE_FOLDERS {
        assert_eq!(machine_folder(&format!("cd {folder}/x")), Some(*folder));
        assert_eq!(machine_folder(&format!("\"{folder}\"")), Some(*folder));
        assert_eq!(machine_folder(&format!("https://host.org{folder}")), None);
        assert_eq!(machine_folder(&format!("{folder}able")), None);
    }
}

#[test]
fn variants_are_found_and_named_as_in_a_record() {
    let source = "pub enum P {\n    /// A doc.\n    OneCore,\n    Outliers {\n        series: X,\n    },\n}\n";
    assert_eq!(variants(source, "P"), ["OneCore", "Outliers"]);
    assert_eq!(kebab_case("OneCore"), "one-core");
}

#[test]
fn a_name_that_begins_like_another_is_not_that_one() {
    assert!(defines("fn speed() {}", "speed"));
    assert!(!defines("fn speed_of_light() {}", "speed"));
}
