//! The HTML page.

use bitpath_measure::Run;
use bitpath_report::html;

use crate::fixture;

/// The page without its style sheet, each picture replaced by its title: pictures have their own
/// snapshots.
fn skeleton(run: &Run) -> String {
    let page = html::render(run);
    let (before, rest) = page.split_once("<style>").expect("sound markup");
    let (_, mut rest) = rest.split_once("</style>").expect("sound markup");
    let mut text = before.to_owned();
    while let Some((start, picture)) = rest.split_once("<svg") {
        let (picture, end) = picture.split_once("</svg>\n").expect("sound markup");
        let (_, title) = picture.split_once("<title>").expect("sound markup");
        let (title, _) = title.split_once("</title>").expect("sound markup");
        text.push_str(&format!("{start}[picture: {title}]"));
        rest = end;
    }
    text + rest
}

#[test]
fn a_study_shows_every_section() {
    insta::assert_snapshot!(skeleton(&fixture::study()));
}

#[test]
fn an_interrupted_run_says_so_at_the_top() {
    let page = skeleton(&fixture::interrupted());
    let notice = page.find("Partial record.").unwrap();
    assert!(notice < page.find("<main>").unwrap());
    insta::assert_snapshot!(page);
}

#[test]
fn an_empty_run_has_no_empty_sections() {
    let page = skeleton(&fixture::empty());
    assert_eq!(page.matches("<section").count(), 1);
    insta::assert_snapshot!(page);
}

#[test]
fn the_page_needs_no_network_and_no_script() {
    let page = html::render(&fixture::study());
    for needle in ["http:", "https:", "src=", "url(", "@import", "<script", "<link"] {
        assert!(!page.contains(needle), "{needle}");
    }
}

#[test]
fn the_same_record_gives_the_same_page() {
    assert_eq!(html::render(&fixture::study()), html::render(&fixture::study()));
}

#[test]
fn samples_beyond_the_bound_are_counted_but_not_shown() {
    let mut run = fixture::empty();
    let mut series = fixture::study().series.swap_remove(0);
    let sample = series.samples[0];
    series.samples = vec![sample; 30_000];
    run.series.push(series);
    let page = html::render(&run);
    assert!(page.contains("30000 samples, the first 20000 shown"));
    assert_eq!(page.matches("<tr>").count(), 20_001);
}
