//! The JSON Schema is published, and records of every released schema open for ever.

use bitpath_measure::Run;

#[test]
fn the_schema_of_a_run_is_the_published_one() {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Run)).unwrap();
    insta::assert_snapshot!(schema);
}

#[test]
fn a_record_of_schema_1_opens() {
    let text = include_str!("../records/schema-1.json");
    let run: Run = serde_json::from_str(text).unwrap();
    assert_eq!(run.schema, 1);
    assert!(run.unsupported_figures().is_empty());
    assert_eq!(serde_json::from_str::<Run>(&serde_json::to_string(&run).unwrap()).unwrap(), run);
}
