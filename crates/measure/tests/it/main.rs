//! Tests of the record as other programs see it.

mod schema;
