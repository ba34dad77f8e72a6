//! The dotted keys of a scenario: `pipeline.stage.kernel.slots`.
//!
//! A table in an array goes by its name where its neighbours have other names, else by its index,
//! counted from 0. The same keys are read from the command line and shown where two scenarios
//! differ.

use std::collections::BTreeSet;

use toml::{Table, Value};

/// Keys that name a table within an array: a stage, a clip, a kind of frame.
const NAMING_KEYS: [&str; 3] = ["name", "clip", "kind"];

/// Longest array whose values have keys of their own; a film's frames are one value.
const MAX_LISTED: usize = 64;

/// Every dotted key with its value as text, in the order of the keys.
pub(super) fn flattened(table: &Table) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, value) in table {
        flatten(&written(key), value, &mut found);
    }
    found
}

/// The name that a table of an array goes by.
pub(super) fn name_of(value: &Value) -> Option<&str> {
    NAMING_KEYS.iter().find_map(|key| value.get(key)?.as_str())
}

fn flatten(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                flatten(&format!("{path}.{}", written(key)), value, found);
            }
        }
        Value::Array(values) if is_listed(values) => {
            for (part, value) in parts(values).iter().zip(values) {
                flatten(&format!("{path}.{part}"), value, found);
            }
        }
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        other => found.push((path.to_owned(), other.to_string())),
    }
}

fn is_listed(values: &[Value]) -> bool {
    values.len() <= MAX_LISTED && values.iter().all(Value::is_table)
}

/// What each table of an array is called: its name where all have different ones.
pub(super) fn parts(values: &[Value]) -> Vec<String> {
    let names: Option<Vec<&str>> = values.iter().map(name_of).collect();
    let different = |names: &Vec<&str>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    match names.filter(different) {
        Some(names) => names.into_iter().map(written).collect(),
        None => (0..values.len()).map(|index| index.to_string()).collect(),
    }
}

/// A part of a key as TOML writes it: in quotes where it is no bare key.
fn written(part: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !part.is_empty() && part.chars().all(bare) {
        part.to_owned()
    } else {
        Value::from(part).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        flattened(&text.parse().unwrap()).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn tables_of_an_array_go_by_name_where_names_differ() {
        let stages = "stage = [{ name = \"nic\", slots = 1 }, { name = \"user.1\", slots = 2 }]";
        assert_eq!(
            keys(stages),
            [
                "stage.nic.name",
                "stage.nic.slots",
                "stage.\"user.1\".name",
                "stage.\"user.1\".slots"
            ]
        );
        let alike = "stage = [{ name = \"a\" }, { name = \"a\" }]";
        assert_eq!(keys(alike), ["stage.0.name", "stage.1.name"]);
    }

    #[test]
    fn a_long_array_is_one_value() {
        let frames = format!("frames = [{}]", "{ bytes = 1 },".repeat(MAX_LISTED + 1));
        assert_eq!(keys(&frames), ["frames"]);
    }
}
