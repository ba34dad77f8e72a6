//! Run records as people read them: text for a terminal, CSV, SVG pictures and one HTML page.
//!
//! ```text
//!                      ┌──► outline: sections of sentences, tables, pictures ──┬──► text
//! Run (value [unit]) ──┤        ▲                                              └──► html
//!                      ├──► plots ──► svg
//!                      └──► csv
//! ```
//!
//! Everything is a function from a record to a string. Nothing here measures, reads a clock or a
//! file, or prints; the same record gives the same bytes on every machine.

pub mod csv;
pub mod format;
pub mod html;
mod outline;
pub mod plots;
pub mod svg;
mod table;
pub mod text;
pub mod trace;
