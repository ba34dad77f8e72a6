//! Tests of the report as its readers see it.

mod csv;
mod fixture;
mod hostile;
mod page;
mod pictures;
mod terminal;
