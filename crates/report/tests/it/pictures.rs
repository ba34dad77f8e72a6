//! The pictures, as files of their own.

use bitpath_measure::Unit;
use bitpath_report::plots;
use bitpath_report::svg::{
    Axis, Drawing, Panel, Plot, Point, Row, RowPlot, Spacing, Stroke, TimelinePlot, Trace,
};

use crate::fixture;
use crate::hostile;

/// Width of the pictures in snapshots [px].
const WIDTH: f64 = 640.0;

/// Widths that a page or a phone may ask for [px], and absurd ones.
const WIDTHS: [f64; 5] = [880.0, 428.0, 340.0, 30.0, 0.0];

/// Values that have no place on any axis, and one that has.
const ODD: [f64; 8] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-320, f64::MAX, 1.0];

/// The elements alone: the style sheet is a file of its own.
fn elements(drawing: &Drawing) -> String {
    drawing.inline()
}

/// Fails where tags do not close in order or a coordinate is no number.
fn assert_sound(drawing: &Drawing) {
    let file = drawing.file();
    let (_, body) = file.split_once("</style>").expect("sound markup");
    for word in ["NaN", "\"inf", "\"-inf", ",inf", ",NaN"] {
        assert!(
            !body.contains(&format!("=\"{word}")) && !body.contains(&format!("M{word}")),
            "{body}"
        );
    }
    let mut open = Vec::new();
    for tag in file.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("sound markup");
        assert!(!text.contains('>') || tag.starts_with("style"), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("sound markup"));
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn predictions_stand_beside_their_tolerance() {
    let drawing = plots::predictions(&fixture::study()).unwrap().draw(WIDTH);
    assert_sound(&drawing);
    insta::assert_snapshot!(elements(&drawing));
}

#[test]
fn on_a_phone_names_stand_above_their_rows() {
    let drawing = plots::predictions(&fixture::study()).unwrap().draw(340.0);
    assert_sound(&drawing);
    insta::assert_snapshot!(elements(&drawing));
}

#[test]
fn each_transport_has_its_plot_of_cost() {
    let plots = plots::cost_by_size(&fixture::study());
    assert_eq!(plots.len(), 2);
    for (name, plot) in ["cost_udp", "cost_tcp"].into_iter().zip(plots) {
        let drawing = plot.draw(WIDTH);
        assert_sound(&drawing);
        insta::assert_snapshot!(name, elements(&drawing));
    }
}

#[test]
fn bandwidth_falls_from_cache_to_memory() {
    let drawing = plots::copy_bandwidth(&fixture::study()).unwrap().draw(WIDTH);
    assert_sound(&drawing);
    insta::assert_snapshot!(elements(&drawing));
}

#[test]
fn buffers_and_load_share_their_time_axis() {
    let plots = plots::timelines(&fixture::study());
    assert_eq!(plots.len(), 1);
    let drawing = plots[0].draw(WIDTH);
    assert_sound(&drawing);
    insta::assert_snapshot!(elements(&drawing));
}

#[test]
fn a_file_has_its_colours_for_light_and_dark() {
    let file = plots::predictions(&fixture::study()).unwrap().draw(WIDTH).file();
    assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(file.contains("prefers-color-scheme: dark"));
}

#[test]
fn hostile_texts_and_numbers_do_not_break_a_picture() {
    let run = hostile::run();
    for width in WIDTHS {
        assert_sound(&plots::predictions(&run).unwrap().draw(width));
        assert_sound(&plots::copy_bandwidth(&run).unwrap().draw(width));
        for plot in plots::cost_by_size(&run) {
            assert_sound(&plot.draw(width));
        }
        for plot in plots::timelines(&run) {
            assert_sound(&plot.draw(width));
        }
    }
}

#[test]
fn odd_values_do_not_break_a_plot() {
    for spacing in [Spacing::Linear, Spacing::Logarithmic] {
        for stroke in [Stroke::Marks, Stroke::Joined, Stroke::Fit] {
            let axis = || Axis { title: "t".into(), unit: Unit::Nanoseconds, spacing };
            let points = ODD
                .into_iter()
                .flat_map(|x| ODD.into_iter().map(move |y| Point { x, y, low: x, high: x }));
            let trace = Trace { name: "a".into(), colour: 7, stroke, points: points.collect() };
            let plot = Plot { title: "p".into(), x: axis(), y: axis(), traces: vec![trace] };
            assert_sound(&plot.draw(WIDTH));
        }
    }
}

#[test]
fn odd_values_do_not_break_rows_or_courses() {
    for odd in ODD {
        let row = Row {
            name: "r".into(),
            value: odd,
            interval: (odd, -odd),
            tolerance: odd,
            note: "n".into(),
            good: false,
        };
        let plot = RowPlot { title: "p".into(), axis: "a".into(), inner: odd, rows: vec![row] };
        assert_sound(&plot.draw(WIDTH));
        let panel = Panel {
            title: "p".into(),
            unit: Unit::Ratio,
            limit: Some(odd),
            points: vec![(odd, 1.0), (1.0, odd), (2.0, 2.0)],
        };
        let plot = TimelinePlot { title: "t".into(), scenario: String::new(), panels: vec![panel] };
        assert_sound(&plot.draw(WIDTH));
    }
}

#[test]
fn a_picture_of_nothing_says_so() {
    let axis = || Axis { title: "t".into(), unit: Unit::Bytes, spacing: Spacing::Linear };
    let plot = Plot { title: "p".into(), x: axis(), y: axis(), traces: Vec::new() };
    let rows = RowPlot { title: "p".into(), axis: "a".into(), inner: 0.1, rows: Vec::new() };
    let courses = TimelinePlot { title: "p".into(), scenario: String::new(), panels: Vec::new() };
    for drawing in [plot.draw(WIDTH), rows.draw(WIDTH), courses.draw(WIDTH)] {
        assert_sound(&drawing);
        assert!(drawing.inline().contains("No value to draw."));
    }
}
