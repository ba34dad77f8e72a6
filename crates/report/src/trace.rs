//! A run as a trace that ui.perfetto.dev and chrome://tracing open: a counter track for each
//! course, an instant for each event.
//!
//! The format is Chrome's
//! [trace event format](https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU)
//! in JSON, which Perfetto reads. Times are microseconds from the start of the run.

use bitpath_measure::run::{Event, Timeline};
use bitpath_measure::{Labels, Run, Unit};
use serde_json::{Value, json};

use crate::format;

/// The process that all tracks belong to: the simulated or measured host.
const HOST: u32 = 1;

/// The trace of a run, a JSON text.
#[must_use]
pub fn render(run: &Run) -> String {
    let title = format!("bitpath {} {}", run.tool, run.id);
    let named = |what: &str, name: &str| json!({ "ph": "M", "pid": HOST, "tid": HOST, "name": what, "args": { "name": name } });
    let mut events = vec![named("process_name", &title), named("thread_name", "drops and stalls")];
    events.extend(run.timelines.iter().flat_map(counters));
    events.extend(run.events.iter().map(instant));
    json!({ "displayTimeUnit": "ns", "traceEvents": events }).to_string()
}

/// What [`render`] writes, in one line.
#[must_use]
pub fn summary(run: &Run) -> String {
    let points = run.timelines.iter().flat_map(|timeline| &timeline.points);
    let ends = points.clone().map(|(at_s, _)| *at_s);
    let ends = ends.chain(run.events.iter().map(|event| event.at_ns / 1e9));
    let end = format::value(Unit::Seconds, ends.fold(0.0, f64::max));
    let (points, tracks, instants) = (points.count(), run.timelines.len(), run.events.len());
    format!(
        "{} on {}, {}, from 0 to {end}",
        counted(points, "counter point"),
        counted(tracks, "track"),
        counted(instants, "instant")
    )
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The points of one course as the values of a counter track.
fn counters(timeline: &Timeline) -> impl Iterator<Item = Value> {
    let track = format!("{} [{}]", named(&timeline.name, &timeline.labels), timeline.unit.symbol());
    timeline.points.iter().map(move |(at_s, value)| {
        json!({
            "ph": "C", "pid": HOST, "tid": HOST, "ts": at_s * 1e6, "name": track, "args": { "value": value }
        })
    })
}

fn instant(event: &Event) -> Value {
    let state: serde_json::Map<String, Value> = event
        .state
        .iter()
        .map(|(name, (value, unit))| (format!("{name} [{}]", unit.symbol()), json!(value)))
        .collect();
    json!({
        "ph": "i", "s": "p", "pid": HOST, "tid": HOST, "ts": event.at_ns / 1e3,
        "name": named(&event.name, &event.labels), "args": state
    })
}

/// A name with its labels' values.
fn named(name: &str, labels: &Labels) -> String {
    labels.values().fold(name.to_owned(), |name, value| format!("{name} {value}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bitpath_measure::series::labels;

    use super::*;

    #[test]
    fn courses_are_counters_and_drops_are_instants_in_microseconds() {
        let mut run = Run::begin("simulate", "a", "", 1);
        run.timelines.push(Timeline {
            name: "kernel_buffer.used".into(),
            labels: labels([]),
            unit: Unit::Bytes,
            limit: None,
            points: vec![(0.0, 0.0), (0.001, 1500.0)],
        });
        run.events.push(Event {
            at_ns: 1500.0,
            name: "drop".into(),
            labels: labels([("cause", "kernel_buffer")]),
            state: BTreeMap::from([("ring".to_owned(), (3.0, Unit::Packets))]),
        });
        let trace: Value = serde_json::from_str(&render(&run)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        assert_eq!(events.len(), 5);
        let second = &events[3];
        assert_eq!(
            (&second["ph"], &second["name"]),
            (&json!("C"), &json!("kernel_buffer.used [B]"))
        );
        assert_eq!((&second["ts"], &second["args"]["value"]), (&json!(1000.0), &json!(1500.0)));
        let drop = &events[4];
        assert_eq!((&drop["ph"], &drop["name"]), (&json!("i"), &json!("drop kernel_buffer")));
        assert_eq!((&drop["ts"], &drop["args"]["ring [packets]"]), (&json!(1.5), &json!(3.0)));
        let summary = "2 counter points on 1 track, 1 instant, from 0 to 1.00 ms";
        assert_eq!(super::summary(&run), summary);
    }
}
