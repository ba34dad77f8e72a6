//! Every key of a scenario file as a Markdown page, from the doc comments of the types that read
//! it: the same that make the JSON Schema and the messages of mistakes.

use std::fmt::Write;

use schemars::schema_for;
use serde_json::Value;

use super::File;

/// The JSON Schema of a scenario file.
#[must_use]
pub fn schema() -> Value {
    schema_for!(File).to_value()
}

/// The reference page: a table of keys for each table of the file.
#[must_use]
pub fn page() -> String {
    let schema = schema();
    let mut page = String::from(INTRODUCTION);
    let mut seen = Vec::new();
    tables(&schema, &schema, "", &mut seen, &mut page);
    page
}

const INTRODUCTION: &str = "\
# The keys of a scenario file

Generated from the types that read the file; a test fails when this page is old. Quantities are
text with a unit: `\"1200 ns\"`, `\"64 KiB\"`, `\"10 Gb/s\"`, `\"8 GB/s\"`. A *sourced* value is a table: `value`, perhaps `low`
and `high` (its 95 % interval), `source` (`measured`, `published` or `assumed`), and `from` (the run, the paper and table, or
the reason). The column *default* says *needed* where a key has none, and is empty where the meaning says what holds without it.

Every key can be set on the command line: `--set machine.line.rate=\"1 Gb/s\"`. Behind a list stands an element's
name (`name`, `clip` or `kind`) or its place from 0: `machine.flow.<name>.message`, `pipeline.stage.<name>.slots`,
`machine.memory.caches.0.size`. The end of a key is enough where only one key that has a value ends so: `line.rate`.
";

/// A type that has its tables on the page: its reference, and where they are.
type Seen = (String, String);

/// Writes the table at `path` and then those below it, each type once.
fn tables(root: &Value, schema: &Value, path: &str, seen: &mut Vec<Seen>, page: &mut String) {
    let schema = resolved(root, schema);
    let Some(properties) = schema["properties"].as_object() else { return };
    let title = if path.is_empty() { "The file".to_owned() } else { format!("`[{path}]`") };
    let _ = write!(page, "\n## {title}\n\n{}\n\n", sentence(schema));
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for (key, value) in properties.iter().filter(|(key, value)| !is_tag(key, value)) {
        let (kind, meaning) = (kind(root, value), meaning(root, value));
        let default = default(schema, key, value);
        let _ = writeln!(page, "| `{key}` | {kind} | {default} | {meaning} |");
    }
    for (key, value) in properties {
        let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        nested(root, value, &below, seen, page);
    }
}

/// Follows a key to the tables that its value may be, or says where they are already.
fn nested(root: &Value, value: &Value, path: &str, seen: &mut Vec<Seen>, page: &mut String) {
    let name = value["$ref"].as_str();
    let value = resolved(root, value);
    if is_sourced(value) {
        return;
    }
    if let Some(name) = name.filter(|_| has_table(value)) {
        if let Some((_, first)) = seen.iter().find(|(other, _)| other == name) {
            let _ = write!(page, "\n## `[{path}]`\n\nAs `[{first}]`.\n");
            return;
        }
        seen.push((name.to_owned(), path.to_owned()));
    }
    forms(root, value, path, seen, page);
}

/// Writes the tables of all that a type may be: itself, its elements, its variants.
fn forms(root: &Value, value: &Value, path: &str, seen: &mut Vec<Seen>, page: &mut String) {
    if value["properties"].is_object() {
        tables(root, value, path, seen, page);
    }
    if value["items"].is_object() {
        nested(root, &value["items"], path, seen, page);
    }
    for variant in variants(value) {
        if let Some(tag) = variant["properties"]["kind"]["const"].as_str() {
            tables(root, variant, &format!("{path}: kind = \"{tag}\""), seen, page);
        } else {
            nested(root, variant, path, seen, page);
        }
    }
}

/// Whether a key is the tag of an enum's variant, which stands in the title of its table.
fn is_tag(key: &str, value: &Value) -> bool {
    key == "kind" && value["const"].is_string()
}

/// Whether a type has tables of its own.
fn has_table(schema: &Value) -> bool {
    schema["properties"].is_object()
        || variants(schema).any(|variant| variant["properties"].is_object())
}

/// Whether a table is a value with its source.
fn is_sourced(schema: &Value) -> bool {
    ["value", "source", "from"].iter().all(|key| schema["properties"][*key].is_object())
}

/// The schema that a reference points at.
fn resolved<'a>(root: &'a Value, value: &'a Value) -> &'a Value {
    let name = value["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    name.map_or(value, |name| &root["$defs"][name])
}

/// The alternatives of an enumeration or an optional value.
fn variants(value: &Value) -> impl Iterator<Item = &Value> {
    let lists = [&value["oneOf"], &value["anyOf"]];
    lists.into_iter().filter_map(Value::as_array).flatten().filter(|value| value["type"] != "null")
}

/// What kind of value a key takes, in a word or as the words it may be.
fn kind(root: &Value, value: &Value) -> String {
    let value = resolved(root, value);
    if is_sourced(value) {
        return format!("sourced {}", kind(root, &value["properties"]["value"]));
    }
    let words: Vec<String> = variants(value)
        .filter_map(|variant| {
            let word = &variant["const"];
            let tag = &variant["properties"]["kind"]["const"];
            word.as_str().or_else(|| tag.as_str()).map(|word| format!("`{word}`"))
        })
        .collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    if let Some(only) = variants(value).next() {
        return kind(root, only);
    }
    let list: Vec<String> = value["enum"]
        .as_array()
        .map(|words| {
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect()
        })
        .unwrap_or_default();
    if !list.is_empty() {
        return list.join(", ");
    }
    let types = &value["type"];
    let plain = types.as_str().or_else(|| types[0].as_str()).unwrap_or("value");
    match plain {
        "object" => "table".into(),
        "array" => "list".into(),
        "string" => quantity(value).unwrap_or_else(|| "text".into()),
        other => other.into(),
    }
}

/// The units of a quantity, where the text is one.
fn quantity(value: &Value) -> Option<String> {
    let words = value["description"].as_str()?;
    words.contains("a number and one of").then(|| format!("text: {words}"))
}

/// What holds where a key of this table is not given, as in a file.
fn default(schema: &Value, key: &str, value: &Value) -> String {
    let required = schema["required"].as_array();
    if required.is_some_and(|keys| keys.iter().any(|name| name == key)) {
        return "needed".into();
    }
    // A default of nothing has no text, and stands in the meaning.
    toml::Value::try_from(&value["default"])
        .map_or_else(|_| String::new(), |text| format!("`{text}`"))
}

/// What a key means: its own words, else those of its type.
fn meaning(root: &Value, value: &Value) -> String {
    let own = value["description"].as_str();
    let words = own.or_else(|| resolved(root, value)["description"].as_str()).unwrap_or_default();
    words.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn sentence(schema: &Value) -> String {
    let words = schema["description"].as_str().unwrap_or_default();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_the_book_is_this_one() {
        let written = include_str!("../../../../docs/reference/scenario.md");
        assert!(
            written == page(),
            "docs/reference/scenario.md is old: \
             cargo run -p bitpath-sim --example scenario_reference > docs/reference/scenario.md"
        );
    }

    #[test]
    fn every_key_of_the_scenarios_stands_on_the_page() {
        let page = page();
        for key in
            ["moderation_time", "netdev_budget", "copies", "sendfile", "when_full", "playout_delay"]
        {
            assert!(page.contains(key), "{key}");
        }
        assert!(!page.contains("|  |\n"), "a key without a meaning:\n{page}");
    }

    /// What stands under the title of a table.
    fn section(path: &str) -> String {
        let page = page();
        let text = page.split(&format!("\n## `[{path}]`\n")).nth(1).expect(path);
        text.split("\n## ").next().unwrap_or_default().into()
    }

    #[test]
    fn a_key_named_kind_stands_on_the_page_unless_it_is_a_tag() {
        for (path, row) in [
            ("host.path", "| `kind` | `nic`, `veth`, `loopback` | needed |"),
            ("host.decode.frames", "| `kind` | `I`, `P`, `B` | needed |"),
            ("job.work: kind = \"mpeg\".film.frames", "| `kind` | `I`, `P`, `B` | needed |"),
        ] {
            assert!(section(path).contains(row), "{path}: {}", section(path));
        }
        assert!(!section("machine.bus: kind = \"pcie\"").contains("| `kind` |"));
    }

    #[test]
    fn a_default_is_written_as_in_a_file() {
        for (path, key, default) in [
            ("machine.flow", "count", "`1`"),
            ("machine.flow", "timer", "`{ kind = \"measured\", least = \"200 ms\" }`"),
            ("machine.flow", "name", "needed"),
            ("link", "queue", "`\"64 MiB\"`"),
            ("link", "rate", ""),
        ] {
            let section = section(path);
            let row =
                section.lines().find(|line| line.starts_with(&format!("| `{key}`"))).expect(key);
            assert_eq!(row.split('|').nth(3).map(str::trim), Some(default), "{row}");
        }
    }

    #[test]
    fn a_type_that_has_its_table_is_named_where_it_comes_again() {
        for (path, first) in [
            ("host.stack.udp", "host.stack.tcp"),
            ("pipeline.arrivals.film", "job.work: kind = \"mpeg\".film"),
        ] {
            assert_eq!(section(path).trim(), format!("As `[{first}]`."));
        }
    }
}
