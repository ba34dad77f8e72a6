//! Checks of the house that cargo has no command for: `cargo test -p xtask` runs them.
//!
//! ```text
//! Cargo.toml of every crate ──► layers ─────┐
//! *.rs, clippy.toml ──────────► tidy ───────┤
//! *.md, every text ───────────► documents ──┼──► complaints: file, what is wrong, what to do
//! scripts/setup ──────────────► setup ──────┘
//! ```

#[cfg(test)]
mod tree;

#[cfg(test)]
mod layers;

#[cfg(test)]
mod tidy;

#[cfg(test)]
mod documents;

#[cfg(test)]
mod setup;

fn main() {}
