//! The report on a terminal.

use bitpath_report::text;

use crate::fixture;

#[test]
fn a_study_on_a_terminal_of_100_letters() {
    insta::assert_snapshot!(text::render(&fixture::study(), 100));
}

#[test]
fn a_study_on_a_narrow_terminal() {
    insta::assert_snapshot!(text::render(&fixture::study(), 60));
}

#[test]
fn an_interrupted_run_says_so_first() {
    let text = text::render(&fixture::interrupted(), 80);
    assert!(text.starts_with("Partial record."));
    insta::assert_snapshot!(text);
}

#[test]
fn an_empty_run_is_short() {
    insta::assert_snapshot!(text::render(&fixture::empty(), 80));
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for width in [60, 80, 100, 132] {
        let text = text::render(&fixture::study(), width);
        let long: Vec<_> = text.lines().filter(|line| line.chars().count() > width).collect();
        assert!(long.is_empty(), "{width}: {long:?}");
    }
}

#[test]
fn no_line_ends_in_a_blank() {
    assert!(text::render(&fixture::study(), 80).lines().all(|line| line == line.trim_end()));
}

#[test]
fn a_list_of_runs_has_a_line_for_each() {
    let lines =
        [fixture::study(), fixture::interrupted(), fixture::empty()].map(|run| text::line(&run));
    insta::assert_snapshot!(lines.join("\n"));
}
