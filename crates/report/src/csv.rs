//! Raw samples and figures as comma-separated values, [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)
//! but for the line end, which is a bare line feed.
//!
//! Numbers are written in full, in the unit of their row, without prefixes: this is for programs.
//! Labels stand in one field as `key=value;key=value`; a backslash precedes `;`, `=` and `\` that
//! belong to a key or value.

use bitpath_measure::run::{Cell, Column, Figure, label_text};
use bitpath_measure::{Run, Sample, Series};

use crate::format;

/// Every sample of a run, a row each, in the order of the record.
#[must_use]
pub fn samples(run: &Run) -> String {
    let header = "series,labels,unit,value,at_s,machine_speed,other_load_cores\n";
    let rows = run
        .series
        .iter()
        .flat_map(|series| series.samples.iter().map(move |sample| sample_row(series, sample)));
    std::iter::once(header.to_owned()).chain(rows).collect()
}

/// The points of a sweep, a row each: a column for each series, its unit in the header.
#[must_use]
pub fn points(run: &Run) -> String {
    let header = row(&run.series.iter().map(point_title).collect::<Vec<_>>());
    let count = run.series.iter().map(|series| series.samples.len()).min().unwrap_or(0);
    let rows = (0..count).map(|point| {
        let field = |series: &Series| point_field(series, series.samples[point].value);
        row(&run.series.iter().map(field).collect::<Vec<_>>())
    });
    std::iter::once(header).chain(rows).collect()
}

/// The line of titles of a table.
#[must_use]
pub fn header(columns: &[Column]) -> String {
    row(&columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>())
}

/// One line of a table; an empty cell is an empty field.
#[must_use]
pub fn line(cells: &[Cell]) -> String {
    let field = |cell: &Cell| match cell {
        Cell::Number(value) => value.to_string(),
        Cell::Words(text) => text.clone(),
        Cell::Empty => String::new(),
    };
    row(&cells.iter().map(field).collect::<Vec<_>>())
}

/// Every figure of a run, a row each, in the order of the record.
#[must_use]
pub fn figures(run: &Run) -> String {
    let header = "name,labels,unit,value,low,high,confidence,samples,method\n";
    let rows = run.figures.iter().map(figure_row);
    std::iter::once(header.to_owned()).chain(rows).collect()
}

fn sample_row(series: &Series, sample: &Sample) -> String {
    row(&[
        series.name.clone(),
        label_text(&series.labels),
        series.unit.symbol().into(),
        sample.value.to_string(),
        sample.at_s.to_string(),
        sample.machine_speed.to_string(),
        sample.other_load_cores.to_string(),
    ])
}

fn figure_row(figure: &Figure) -> String {
    let estimate = &figure.estimate;
    row(&[
        figure.name.clone(),
        label_text(&figure.labels),
        figure.unit.symbol().into(),
        estimate.value.to_string(),
        estimate.low.to_string(),
        estimate.high.to_string(),
        estimate.confidence.to_string(),
        estimate.samples.to_string(),
        format::method(estimate.method).into(),
    ])
}

fn point_title(series: &Series) -> String {
    if series.labels.contains_key("words") {
        series.name.clone()
    } else {
        format!("{} [{}]", series.name, series.unit.symbol())
    }
}

fn point_field(series: &Series, value: f64) -> String {
    let is_word = series.labels.contains_key("words");
    if is_word { format::varied(series, value) } else { value.to_string() }
}

fn row(fields: &[String]) -> String {
    let quoted: Vec<_> = fields.iter().map(|field| quote(field)).collect();
    quoted.join(",") + "\n"
}

/// A field in quotes where its text would otherwise end it; quotes within are doubled.
fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Unit;
    use bitpath_measure::series::labels;

    #[test]
    fn quotes_commas_and_newlines_stay_within_their_field() {
        assert_eq!(quote("a \"b\", c\nd"), "\"a \"\"b\"\", c\nd\"");
        assert_eq!(quote("plain"), "plain");
    }

    #[test]
    fn a_line_has_a_field_for_each_title_and_nothing_in_an_empty_one() {
        let columns = [Column::numbers("at_ns"), Column::words("cause"), Column::words("flow")];
        assert_eq!(header(&columns), "at_ns,cause,flow\n");
        let cells = [Cell::Number(1.5), Cell::Empty, Cell::Words("a, b".into())];
        assert_eq!(line(&cells), "1.5,,\"a, b\"\n");
    }

    #[test]
    fn points_are_rows_under_names_with_units() {
        let mut run = Run::begin("sweep", "sweep", "", 0);
        for (name, unit, values) in [
            ("transport", Unit::Count, [0.0, 1.0]),
            ("throughput", Unit::BitsPerSecond, [0.5, 1e9]),
        ] {
            let mut series = Series::new(name, labels([]), unit);
            series.samples = values.map(Sample::computed).into();
            run.series.push(series);
        }
        run.series[0].labels.insert("words".into(), "udp,tcp".into());
        assert_eq!(points(&run), "transport,throughput [b/s]\nudp,0.5\ntcp,1000000000\n");
    }

    #[test]
    fn a_number_keeps_every_digit() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 1);
        let mut series = Series::new("x", labels([]), Unit::Nanoseconds);
        let value = 0.1 + 0.2;
        series.samples =
            vec![Sample { value, at_s: 1.5, machine_speed: 1.0, other_load_cores: 0.0 }];
        run.series.push(series);
        assert_eq!(samples(&run).lines().nth(1), Some("x,,ns,0.30000000000000004,1.5,1,0"));
    }
}
