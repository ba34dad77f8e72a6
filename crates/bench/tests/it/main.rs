//! Tests with real worker processes and real sockets.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod flow;
mod trace;

use std::path::PathBuf;

/// The program of `examples/bench_worker.rs`, which cargo builds beside the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/bench_worker");
    assert!(program.exists(), "{} is missing: run all tests of the crate", program.display());
    program
}

/// Whether namespaces can be made for a test; says why where they cannot. The plain write is not
/// captured by the test's harness.
fn namespaces_possible(test: &str) -> bool {
    use std::io::Write as _;
    let possible = bitpath_platform::namespace::can_make_namespaces();
    if let Err(error) = &possible {
        std::io::stderr().write_all(format!("{test}: skipped: {error}\n").as_bytes()).unwrap();
    }
    possible.is_ok()
}
