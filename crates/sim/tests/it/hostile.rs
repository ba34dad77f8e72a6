//! Any text is refused in words or runs to its end.
//!
//! ```text
//! shipped scenario ──► values, keys and tables changed ──► text ──letters changed──► bounded::check
//! ```
//!
//! More cases than the default: `PROPTEST_CASES=100000 cargo test --release -p bitpath-sim --test it hostile`. The fuzz
//! target of `fuzz/` does the same with coverage as its guide.

use proptest::prelude::*;
use proptest::sample::Index;
use toml::{Table, Value};

use crate::bounded::{Fate, check};
use crate::shipped;

/// One change of a scenario's table.
#[derive(Clone, Debug)]
enum Change {
    /// Another value of whatever kind.
    Replace(Value),
    /// Another value of the same unit.
    Scale(Index),
    Remove,
    /// Once more in its array.
    Double,
    /// A key that nobody knows.
    Add(String),
}

/// One change of a text.
#[derive(Clone, Debug)]
enum Slip {
    Cut,
    Insert(String),
    Erase(usize),
}

/// Values by unit: none, little, plausible, and the most that fits.
const SCALES: &[(&str, &[&str])] = &[
    ("s", &["0 s", "1 ps", "1 ns", "700 ns", "20 us", "3 ms", "2 s", "100 s"]),
    ("B", &["0 B", "1 B", "7 B", "64 B", "1448 B", "2304 B", "64 KiB", "1 MiB", "4 GiB"]),
    ("b/s", &["0 b/s", "1 kb/s", "1 Mb/s", "2.5 Gb/s", "100 Gb/s", "100 Tb/s"]),
    ("B/s", &["0 B/s", "1 kB/s", "100 MB/s", "10 GB/s", "10000 GB/s"]),
    ("ns/B", &["0 ns/B", "0.001 ns/B", "1 ns/B", "1000 ns/B"]),
];

/// Numbers instead of a number.
const NUMBERS: &[i64] = &[0, 1, 2, 3, 8, 63, 1000, 1 << 32, i64::MAX];

/// Words that some key knows, and processes that some machine has.
const WORDS: &[&str] = &[
    "'udp'",
    "'tcp'",
    "'send'",
    "'receive'",
    "'sendfile'",
    "'zero-copy'",
    "'rdma'",
    "'exponential'",
    "'drop'",
    "'block'",
    "{ kind = 'poisson' }",
    "{ kind = 'pareto-on-off', shape = 1.1, burst = '1 ms', peak = 3.0 }",
    "{ kind = 'fixed', time = '1 us' }",
    "{ kind = 'measured', least = '1 ms' }",
    "{ kind = 'raw' }",
    "{ kind = 'raw', rate = '40 Mb/s', process = '3 ns/B' }",
    "{ kind = 'bulk', bytes = '1 MB' }",
    "{ kind = 'rtp', rate = '2 Mb/s', jitter_buffer = '5 ms', process = '10 us' }",
    "{ kind = 'operations', list = [] }",
    "{ kind = 'operations', list = [{ free = '1 B' }] }",
    "{ kind = 'operations', rate = '9 Mb/s', list = [{ read = '1 KiB' }, { process = '5 us' }, { free = '1 KiB' }] }",
    "{ kind = 'operations', rate = '9 Mb/s', list = [{ read = '1 B' }, { sleep = '3 ms' }] }",
    "{ kind = 'operations', list = [{ write = '9000 B' }, { sleep = '10 us' }] }",
    "{ kind = 'operations', list = [{ process = '1 us' }, { read = '1 B' }, { write = '64 KiB' }] }",
];

/// What no key is meant to take.
const NONSENSE: &[&str] = &[
    "-1",
    "-0.5",
    "nan",
    "inf",
    "1e308",
    "true",
    "''",
    "' '",
    "'0'",
    "'-3 ns'",
    "'1e9 ns'",
    "'7 furlongs'",
    "'\u{221e} \u{b5}s'",
    "'18446744073709551616 ps'",
    "'99999999999999999999999999999999999999999999 B'",
    "1979-05-27",
    "[]",
    "{}",
    "[1, 2]",
    "[[[]]]",
];

fn value(text: &&str) -> Value {
    format!("value = {text}").parse::<Table>().expect("a value of TOML")["value"].clone()
}

fn any_change() -> impl Strategy<Value = Change> {
    let of = |texts: &'static [&'static str]| {
        prop::sample::select(texts).prop_map(|text| Change::Replace(value(&text)))
    };
    let number = prop::sample::select(NUMBERS).prop_map(|number| Change::Replace(number.into()));
    prop_oneof![
        8 => any::<Index>().prop_map(Change::Scale),
        2 => number,
        3 => of(WORDS),
        2 => of(NONSENSE),
        1 => Just(Change::Remove),
        1 => Just(Change::Double),
        1 => "[a-z_]{0,5}".prop_map(Change::Add),
    ]
}

fn any_slip() -> impl Strategy<Value = Slip> {
    prop_oneof![
        Just(Slip::Cut),
        "[\\PC\n\t\0]{1,3}".prop_map(Slip::Insert),
        (1..9_usize).prop_map(Slip::Erase),
    ]
}

/// The nodes of a value, itself and its children first to last.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Table(table) => table.values().map(count).sum(),
        Value::Array(values) => values.iter().map(count).sum(),
        _ => 0,
    }
}

/// Changes the node that so many others come before; true once it is found.
fn change(value: &mut Value, before: &mut usize, change_: &Change) -> bool {
    if *before == 0 {
        apply(value, change_);
        return true;
    }
    *before -= 1;
    match value {
        Value::Table(table) => table.iter_mut().any(|(_, value)| change(value, before, change_)),
        Value::Array(values) => values.iter_mut().any(|value| change(value, before, change_)),
        _ => false,
    }
}

fn apply(value: &mut Value, change: &Change) {
    match (change, value) {
        (Change::Replace(new), value) => *value = new.clone(),
        (Change::Scale(index), Value::String(text)) => scale(text, *index),
        (Change::Scale(index), value) => *value = NUMBERS[index.index(NUMBERS.len())].into(),
        (Change::Remove, Value::Table(table)) => {
            table.retain({
                let mut first = true;
                move |_, _| !std::mem::take(&mut first)
            });
        }
        (Change::Remove, Value::Array(values)) => drop(values.pop()),
        (Change::Double, Value::Array(values)) => values.extend_from_within(..),
        (Change::Add(key), Value::Table(table)) => drop(table.insert(key.clone(), 1.into())),
        (_, value) => *value = Value::Array(vec![value.clone()]),
    }
}

/// Another quantity of the same unit.
fn scale(text: &mut String, index: Index) {
    let unit = text.rsplit(' ').next().unwrap_or_default();
    let same = SCALES.iter().filter(|(of, _)| unit.ends_with(of)).max_by_key(|(of, _)| of.len());
    if let Some((_, values)) = same {
        *text = values[index.index(values.len())].into();
    }
}

/// A shipped scenario after some changes.
fn any_scenario() -> impl Strategy<Value = String> {
    let changes = prop::collection::vec((any::<Index>(), any_change()), 0..5);
    (prop::sample::select(shipped::texts()), changes).prop_map(|(text, changes)| {
        let mut scenario = Value::Table(text.parse().expect("a shipped scenario"));
        for (place, change_) in changes {
            let mut before = 1 + place.index(count(&scenario).max(2) - 1);
            change(&mut scenario, &mut before, &change_);
        }
        toml::to_string(&scenario).expect("a table can be written")
    })
}

/// A shipped scenario, comments and all, after some slips of the pen.
fn any_text() -> impl Strategy<Value = String> {
    let slips = prop::collection::vec((any::<Index>(), any_slip()), 1..4);
    (prop::sample::select(shipped::texts()), slips).prop_map(|(text, slips)| {
        slips.into_iter().fold(text, |mut text, (place, slip)| {
            let letters: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = letters.get(place.index(letters.len().max(1))).copied().unwrap_or(0);
            match slip {
                Slip::Cut => text.truncate(at),
                Slip::Insert(letters) => text.insert_str(at, &letters),
                Slip::Erase(count) => {
                    let end = text[at..]
                        .char_indices()
                        .nth(count)
                        .map_or(text.len(), |(end, _)| at + end);
                    text.replace_range(at..end, "");
                }
            }
            text
        })
    })
}

proptest! {
    #[test]
    fn a_scenario_with_changed_values_is_refused_or_runs_to_its_end(text in any_scenario()) {
        prop_assert_eq!(check(&text).err(), None);
    }

    #[test]
    fn a_scenario_with_slips_of_the_pen_is_refused_or_runs_to_its_end(text in any_text()) {
        prop_assert_eq!(check(&text).err(), None);
    }
}

#[test]
fn every_shipped_scenario_runs_and_conserves() {
    for text in shipped::texts() {
        assert_eq!(check(&text), Ok(Fate::Ran), "{text}");
    }
}
