//! Comma-separated values as a program reads them.

use bitpath_report::csv;

use crate::fixture;
use crate::hostile;

/// Fields of every row, by the rules of RFC 4180.
fn parse(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    rows
}

#[test]
fn every_figure_has_its_row() {
    insta::assert_snapshot!(csv::figures(&fixture::study()));
}

#[test]
fn every_sample_has_its_row() {
    let run = fixture::interrupted();
    insta::assert_snapshot!(csv::samples(&run));
    let samples: usize = run.series.iter().map(|series| series.samples.len()).sum();
    assert_eq!(parse(&csv::samples(&run)).len(), samples + 1);
}

#[test]
fn an_empty_run_has_headers_only() {
    let run = fixture::empty();
    assert_eq!(csv::samples(&run).lines().count(), 1);
    assert_eq!(csv::figures(&run).lines().count(), 1);
}

#[test]
fn hostile_texts_stay_in_their_fields() {
    let run = hostile::run();
    let figures = parse(&csv::figures(&run));
    assert!(figures.iter().all(|row| row.len() == 9));
    assert_eq!(figures[1][0], hostile::TEXT);
    let samples = parse(&csv::samples(&run));
    assert!(samples.iter().all(|row| row.len() == 7));
    assert_eq!(samples[1][0], hostile::TEXT);
}
