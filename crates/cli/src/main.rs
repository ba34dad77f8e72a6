//! The bitpath command.

fn main() {}
