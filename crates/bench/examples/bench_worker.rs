//! The program that the tests of this crate start: what `bitpath worker` and `bitpath agent` are.

use std::io::{Write, stdout};

use bitpath_bench::{BenchError, agent, worker};

fn main() -> Result<(), BenchError> {
    if std::env::args().nth(1).is_some_and(|first| first == "worker") {
        return Ok(worker::serve()?);
    }
    // Any free port, and nobody but this machine.
    agent::serve(([127, 0, 0, 1], 0).into(), |address| {
        // Whoever reads it knows of the failure by its silence.
        let _ = writeln!(stdout(), "{address}");
    })
}
