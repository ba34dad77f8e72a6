//! Prints docs/reference/scenario.md: every key of a scenario file.

use std::io::{Result, Write, stdout};

fn main() -> Result<()> {
    stdout().write_all(bitpath_sim::scenario::reference().as_bytes())
}
