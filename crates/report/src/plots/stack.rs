//! Flows by UDP and TCP: throughput and cost by message size, a line for each way (sysSIM figures 13
//! to 16).

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::{axis, label, points};
use crate::svg::{Plot, Spacing, Stroke, Trace};

/// Throughput, and the processor time of both sides, by message size; with the name of each for a
/// file.
#[must_use]
pub fn stack(run: &Run) -> Vec<(String, Plot)> {
    let throughput = plot(
        run,
        ("Throughput by message size", "throughput", Unit::BytesPerSecond),
        ("stack.throughput", None),
    );
    let cost = |side: &'static str, title| {
        plot(run, (title, "time per byte", Unit::NanosecondsPerByte), ("stack.cpu", Some(side)))
    };
    let named = [
        ("throughput", throughput),
        ("sender", cost("sender", "Processor time of the sender by message size")),
        ("receiver", cost("receiver", "Processor time of the receiver by message size")),
    ];
    named.into_iter().filter_map(|(name, plot)| Some((name.to_owned(), plot?))).collect()
}

fn plot(
    run: &Run,
    (title, axis_title, unit): (&str, &str, Unit),
    (name, side): (&str, Option<&str>),
) -> Option<Plot> {
    let mut traces = Vec::new();
    for transport in ["tcp", "udp"] {
        for way in ["loopback", "veth", "peer"] {
            let wanted = |figure: &&Figure| {
                figure.name == name
                    && label(figure, "vary") == Some("message_bytes")
                    && label(figure, "transport") == Some(transport)
                    && label(figure, "way") == Some(way)
                    && label(figure, "side") == side
            };
            let figures: Vec<&Figure> = run.figures.iter().filter(wanted).collect();
            let mut points = points(&figures, "message_bytes");
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            if !points.is_empty() {
                let (name, colour) = (format!("{transport} over {way}"), traces.len());
                traces.push(Trace { name, colour, stroke: Stroke::Joined, points });
            }
        }
    }
    (!traces.is_empty()).then(|| Plot {
        title: title.into(),
        x: axis("message size", Unit::Bytes, Spacing::Logarithmic),
        y: axis(axis_title, unit, Spacing::Logarithmic),
        traces,
    })
}

#[cfg(test)]
mod tests {
    use bitpath_measure::Estimate;
    use bitpath_measure::series::labels;

    use super::*;

    #[test]
    fn each_way_has_a_line_from_small_to_large_messages() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 1);
        assert!(stack(&run).is_empty());
        for (way, bytes, rate) in
            [("veth", "65536", 5e9), ("veth", "64", 1e8), ("loopback", "64", 2e8)]
        {
            let (vary, tcp) = (("vary", "message_bytes"), ("transport", "tcp"));
            run.figures.push(Figure {
                name: "stack.throughput".into(),
                labels: labels([vary, tcp, ("way", way), ("message_bytes", bytes)]),
                unit: Unit::BytesPerSecond,
                estimate: Estimate::single(rate),
            });
        }
        let plots = stack(&run);
        let names: Vec<&str> = plots[0].1.traces.iter().map(|trace| trace.name.as_str()).collect();
        assert_eq!((plots.len(), names), (1, vec!["tcp over loopback", "tcp over veth"]));
        let points = &plots[0].1.traces[1].points;
        assert_eq!([points[0].x, points[1].x], [64.0, 65_536.0]);
    }
}
