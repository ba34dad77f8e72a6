//! What a pipeline lets through by size of block: a picture for each channel, the published one in it.

use std::collections::BTreeMap;

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::{axis, distinct, label, points};
use crate::svg::{Plot, Spacing, Stroke, Trace};

/// The channels of a record, in its order; none where it has no pipeline.
pub(crate) fn pipeline_channels(run: &Run) -> Vec<&str> {
    let through = run.figures.iter().filter(|figure| figure.name == "pipeline.throughput");
    distinct(through.filter_map(|figure| label(figure, "channel")))
}

/// Figures of a name, and of a channel where one is given, by the number of buffers.
pub(crate) fn pipeline_columns<'a>(
    run: &'a Run,
    name: &str,
    channel: Option<&str>,
) -> Vec<(u32, Vec<&'a Figure>)> {
    let mut columns: BTreeMap<u32, Vec<&Figure>> = BTreeMap::new();
    let is_wanted = |figure: &&Figure| {
        figure.name == name && (channel.is_none() || label(figure, "channel") == channel)
    };
    for figure in run.figures.iter().filter(is_wanted) {
        if let Some(buffers) = label(figure, "buffers").and_then(|text| text.parse().ok()) {
            columns.entry(buffers).or_default().push(figure);
        }
    }
    columns.into_iter().collect()
}

/// Throughput by size of block: a picture for each channel, a line for each number of buffers.
#[must_use]
pub fn pipeline(run: &Run) -> Vec<Plot> {
    let plot = |channel| {
        let here = pipeline_columns(run, "pipeline.throughput", Some(channel));
        let then = pipeline_columns(run, "pipeline.published", None);
        let traces = traces(&here, Stroke::Joined, "").chain(traces(&then, Stroke::Fit, "2008, "));
        Plot {
            title: format!("Source, filter and sink over {channel}"),
            x: axis("block", Unit::Bytes, Spacing::Logarithmic),
            y: axis("throughput", Unit::BytesPerSecond, Spacing::Logarithmic),
            traces: traces.collect(),
        }
    };
    pipeline_channels(run).into_iter().map(plot).collect()
}

/// A line for each number of buffers, of the same colour here and then.
fn traces<'a>(
    columns: &'a [(u32, Vec<&Figure>)],
    stroke: Stroke,
    of: &'a str,
) -> impl Iterator<Item = Trace> + 'a {
    columns.iter().map(move |(buffers, figures)| {
        // Here and then are not always the same numbers of buffers, which are powers of two.
        let colour = buffers.checked_ilog2().unwrap_or(0) as usize;
        let mut points = points(figures, "block_bytes");
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let blocks = if *buffers == 1 { "block" } else { "blocks" };
        Trace { name: format!("{of}{buffers} {blocks}"), colour, stroke, points }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Estimate;
    use bitpath_measure::series::labels;

    fn figure(name: &str, channel: &str, buffers: &str, block: &str, value: f64) -> Figure {
        let labels = labels([("channel", channel), ("buffers", buffers), ("block_bytes", block)]);
        let estimate = Estimate::single(value);
        Figure { name: name.into(), labels, unit: Unit::BytesPerSecond, estimate }
    }

    #[test]
    fn every_channel_has_its_picture_with_the_published_lines_in_it() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        assert!(pipeline(&run).is_empty());
        run.figures = vec![
            figure("pipeline.throughput", "ring", "2", "4096", 3e9),
            figure("pipeline.throughput", "ring", "2", "64", 1e6),
            figure("pipeline.throughput", "ring", "1", "64", 1e6),
            figure("pipeline.throughput", "tcp", "8", "64", 1e6),
            figure("pipeline.published", "", "4", "64", 1e6),
        ];
        let plots = pipeline(&run);
        let names = |plot: &Plot| -> Vec<String> {
            plot.traces.iter().map(|trace| trace.name.clone()).collect()
        };
        assert_eq!(
            plots.iter().map(names).collect::<Vec<_>>(),
            [vec!["1 block", "2 blocks", "2008, 4 blocks"], vec!["8 blocks", "2008, 4 blocks"],]
        );
        let colours = plots[1].traces.iter().map(|trace| trace.colour);
        assert_eq!(colours.collect::<Vec<_>>(), [3, 2], "a number of buffers has its colour");
        assert_eq!(plots[0].traces[1].points[0].x, 64.0, "from small to large");
    }
}
