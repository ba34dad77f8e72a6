//! A probe in one sentence: the figure of each part that one looks for first.

use bitpath_measure::Run;
use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;

use crate::format;

/// The sentence; none where the record is of another tool, or holds none of these figures.
pub(super) fn headline(run: &Run) -> Option<String> {
    let said = [wake_up(run), load(run), copy(run), packets(run), flow(run), pipeline(run)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (run.tool == "probe" && !said.is_empty()).then(|| format!("This host: {}.", said.join("; ")))
}

/// The wake-up of another core is the one without labels; that of the same core has some.
fn wake_up(run: &Run) -> Option<String> {
    let of_another =
        |figure: &&Figure| figure.name == "wake_up.latency" && figure.labels.is_empty();
    let figure = run.figures.iter().find(of_another)?;
    Some(format!("waking another core takes {}", value(figure)))
}

fn load(run: &Run) -> Option<String> {
    let level = |figure: &&Figure| has(figure, &[("pages", "huge")]);
    let levels = run.figures.iter().filter(|figure| figure.name == "memory.level.latency");
    let slowest =
        levels.filter(level).max_by(|a, b| a.estimate.value.total_cmp(&b.estimate.value))?;
    Some(format!("a load from memory takes {}", value(slowest)))
}

fn copy(run: &Run) -> Option<String> {
    let wanted = [("op", "copy"), ("mix", "libc"), ("cores", "1"), ("pages", "huge")];
    let size = |figure: &&Figure| {
        figure.labels.get("working_set_bytes").and_then(|bytes| bytes.parse::<u64>().ok())
    };
    let copies = run.figures.iter().filter(|figure| figure.name == "memory.bandwidth");
    let largest = copies.filter(|figure| has(figure, &wanted)).max_by_key(size)?;
    Some(format!("one core copies {} there", value(largest)))
}

fn packets(run: &Run) -> Option<String> {
    let wanted = labels([("transport", "udp"), ("way", "veth")]);
    let figure = run.figure("stack.processing_power", &wanted)?;
    Some(format!("its stack sends {} of UDP", value(figure)))
}

fn flow(run: &Run) -> Option<String> {
    let wanted = labels([("way", "veth"), ("streams", "1"), ("source_bytes", "1048576")]);
    let figure = run.figure("stack.clock_per_rate", &wanted)?;
    let gigahertz = figure.estimate.value;
    Some(format!("TCP of packets of 1500 B takes {gigahertz:.2} GHz for a Gb/s, both sides"))
}

fn pipeline(run: &Run) -> Option<String> {
    let figure = run.figure("pipeline.best", &labels([("channel", "ring")]))?;
    Some(format!("processes pass {} to each other through shared memory", value(figure)))
}

fn has(figure: &Figure, wanted: &[(&str, &str)]) -> bool {
    wanted.iter().all(|(key, value)| figure.labels.get(*key).is_some_and(|own| own == value))
}

fn value(figure: &Figure) -> String {
    format::value(figure.unit, figure.estimate.value)
}

#[cfg(test)]
mod tests {
    use bitpath_measure::{Estimate, Unit};

    use super::*;

    #[test]
    fn each_part_that_was_measured_says_its_figure() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        assert_eq!(headline(&run), None);
        let mut figure = |name: &str, of: &[(&str, &str)], unit, value| {
            let mut all = labels([]);
            all.extend(of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
            let estimate = Estimate::single(value);
            run.figures.push(Figure { name: name.into(), labels: all, unit, estimate });
        };
        figure("wake_up.latency", &[("cores", "same")], Unit::Nanoseconds, 3e3);
        figure("wake_up.latency", &[], Unit::Nanoseconds, 26e3);
        figure("pipeline.best", &[("channel", "ring")], Unit::BytesPerSecond, 22e9);
        let sentence = headline(&run).unwrap();
        assert_eq!(
            sentence,
            "This host: waking another core takes 26.0 us; processes pass 22.0 GB/s to each other through shared memory."
        );
        run.tool = "study".into();
        assert_eq!(headline(&run), None);
    }
}
