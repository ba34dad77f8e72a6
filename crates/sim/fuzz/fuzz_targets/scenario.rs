//! Any text is refused in words or runs to its end, and what must hold of a run holds.
#![no_main]

#[path = "../../tests/it/bounded.rs"]
mod bounded;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(wrong) = bounded::check(text) {
        panic!("{wrong}\n{text}");
    }
});
