//! What the pipeline's figures say together: the best block of each channel, its share of what a single
//! socket lets through, and its gain over the Opteron of 2008.

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Labels, Run, Unit};
use bitpath_platform::channel::Kind;
use bitpath_sim::published::pipeline::{HOST, ONE_SOCKET, opteron_175};

use super::{DIRECT, THROUGHPUT};

/// Adds to the record's figures, where it has a pipeline: `pipeline.published` [B/s], the Opteron's
/// table; for each channel `pipeline.best` [B/s] and `pipeline.best_block` [B], `pipeline.of_single`
/// [ratio] to the best single socket here, and `pipeline.gain` [ratio] over the Opteron's best; for a
/// single socket `pipeline.single` [B/s] and its gain.
pub fn conclude(run: &mut Run) {
    let published = published();
    let best_then = published.iter().map(|figure| figure.estimate.value).fold(0.0, f64::max);
    let single = best(run, |figure| figure.name == DIRECT);
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let is_of = |figure: &Figure| {
            figure.name == THROUGHPUT && label(figure, "channel") == Some(kind.name())
        };
        let Some(best) = best(run, is_of) else { continue };
        let of = labels([("channel", kind.name())]);
        let at = best.labels.get("buffers").cloned().unwrap_or_default();
        let block = label(best, "block_bytes").and_then(|bytes| bytes.parse().ok());
        let at_best = [of.clone(), labels([("buffers", &at)])].into_iter().flatten().collect();
        found.push(figure("best", &of, Unit::BytesPerSecond, best.estimate));
        found.extend(
            block.map(|bytes| figure("best_block", &at_best, Unit::Bytes, Estimate::single(bytes))),
        );
        found.extend(single.map(|single| ratio("of_single", &of, best, single.estimate.value)));
        found.push(ratio("gain", &of, best, best_then));
    }
    if let Some(single) = single {
        let socket = label(single, "channel").unwrap_or_default();
        let of = labels([("channel", &format!("single {socket}"))]);
        found.push(figure("best", &of, Unit::BytesPerSecond, single.estimate));
        found.push(ratio("gain", &of, single, ONE_SOCKET.0));
    }
    if !found.is_empty() {
        run.figures.extend(published);
        run.figures.extend(found);
    }
}

/// The Opteron's table; without it, where it cannot be read, nothing stands beside ours.
fn published() -> Vec<Figure> {
    let passed = opteron_175().unwrap_or_default();
    let filtered = passed.iter().map(|passed| {
        let labels = labels([
            ("host", HOST),
            ("buffers", &passed.buffers.to_string()),
            ("block_bytes", &passed.block.0.to_string()),
        ]);
        let estimate = Estimate::single(passed.throughput.0);
        figure("published", &labels, Unit::BytesPerSecond, estimate)
    });
    filtered.collect()
}

/// The largest of some figures.
fn best(run: &Run, among: impl Fn(&Figure) -> bool) -> Option<&Figure> {
    let all = run.figures.iter().filter(|figure| among(figure));
    all.max_by(|a, b| a.estimate.value.total_cmp(&b.estimate.value))
}

fn label<'a>(figure: &'a Figure, key: &str) -> Option<&'a str> {
    figure.labels.get(key).map(String::as_str)
}

fn figure(name: &str, labels: &Labels, unit: Unit, estimate: Estimate) -> Figure {
    Figure { name: format!("pipeline.{name}"), labels: labels.clone(), unit, estimate }
}

/// A figure as a multiple of a value.
fn ratio(name: &str, labels: &Labels, of: &Figure, to: f64) -> Figure {
    figure(name, labels, Unit::Ratio, of.estimate.scaled(1.0 / to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(name: &str, channel: &str, block: &str, value: f64) -> Figure {
        let labels = labels([("channel", channel), ("buffers", "2"), ("block_bytes", block)]);
        let estimate = Estimate::single(value);
        Figure { name: name.into(), labels, unit: Unit::BytesPerSecond, estimate }
    }

    #[test]
    fn a_channel_is_compared_with_a_single_socket_and_with_the_opteron() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        conclude(&mut run);
        assert!(run.figures.is_empty(), "no pipeline, no conclusions");
        run.figures = vec![
            measured(THROUGHPUT, "ring", "4096", 3.65e9),
            measured(THROUGHPUT, "ring", "65536", 7.3e9),
            measured(DIRECT, "tcp", "65536", 1.46e9),
        ];
        conclude(&mut run);
        let value = |name: &str, channel: &str| {
            let figure = run.figure(&format!("pipeline.{name}"), &labels([("channel", channel)]));
            figure.map(|figure| (figure.estimate.value * 1e3).round() / 1e3)
        };
        assert_eq!(value("best_block", "ring"), Some(65_536.0));
        assert_eq!(value("of_single", "ring"), Some(5.0));
        assert_eq!(value("gain", "ring"), Some(20.0));
        assert_eq!(value("gain", "single tcp"), Some(1.776));
        assert_eq!(value("best", "pipe"), None);
        let published = run.figures.iter().filter(|figure| figure.name == "pipeline.published");
        assert_eq!(published.count(), 45);
    }
}
