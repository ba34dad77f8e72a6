//! Clocks and costs: the verdict on the time stamp counter, and tables of clocks, operations, sleeps and
//! gaps.

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Run};

use super::Block;
use crate::format;
use crate::table::{Table, figures_named, side_by_side};

/// What is known of a clock, and the titles.
const CLOCKS: [(&str, &str); 3] = [
    ("clock.resolution", "resolution, stated"),
    ("clock.observed_step", "smallest step seen"),
    ("clock.cost", "cost of a reading"),
];

/// A label; an empty one is none.
type Label = (&'static str, &'static str);

/// Operations: name, the label that tells two of a name apart, and what they are called.
const OPERATIONS: [(&str, Label, &str); 7] = [
    ("syscall.cost", ("", ""), "system call"),
    ("context_switch.cost", ("", ""), "context switch, with a byte over a pipe"),
    ("timer.cost", ("", ""), "sleep until a given time, processor time"),
    ("wake_up.latency", ("cores", "same"), "wake-up on the same core"),
    ("wake_up.latency", ("", ""), "wake-up on another core"),
    ("clock.page_fault", ("pages", "small"), "page fault, 4 KiB"),
    ("clock.page_fault", ("pages", "huge"), "page fault, huge page"),
];

/// What takes a processor away, and the titles.
const GAPS: [(&str, &str); 7] = [
    ("clock.gaps", "gaps"),
    ("clock.gap_share", "of the time"),
    ("clock.gap_longest", "longest in 50 ms"),
    ("clock.interrupts", "interrupts"),
    ("clock.interrupt_time", "as accounted"),
    ("clock.switches", "switches"),
    ("clock.steal", "steal"),
];

/// Parts of a distribution, and the titles.
const QUANTILES: [(&str, &str); 4] =
    [("0.5", "median"), ("0.9", "90 %"), ("0.99", "99 %"), ("1", "longest")];

/// Whether the record has this part; a study samples some of its series alone.
fn is_one(run: &Run) -> bool {
    run.figures.iter().any(|figure| figure.name == "clock.observed_step")
}

/// Whether a figure of this record is shown here.
pub(super) fn shows(run: &Run, figure: &Figure) -> bool {
    let name = figure.name.as_str();
    let own = name.starts_with("clock.") || name == "timer.lateness";
    let operation = OPERATIONS.iter().any(|(operation, ..)| *operation == name);
    is_one(run) && (own || operation)
}

/// The verdict, then the tables.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    if !is_one(run) {
        return Vec::new();
    }
    let mut blocks: Vec<Block> = verdict(run).into_iter().map(Block::Paragraph).collect();
    let clocks = figures_named(run, &CLOCKS.map(|(name, _)| name));
    blocks.push(Block::Table(side_by_side(&clocks, &CLOCKS)));
    let titled = [
        ("Operations", operations(run)),
        ("How late a sleep ends", sleeps(run)),
        ("What takes a processor away from a thread that only reads the clock", gaps(run)),
    ];
    for (title, table) in titled.into_iter().filter(|(_, table)| !table.rows.is_empty()) {
        blocks.push(Block::Heading(title.into()));
        blocks.push(Block::Table(table));
    }
    blocks
}

/// Whether the time stamp counter may be used, and why.
fn verdict(run: &Run) -> Option<String> {
    let usable = run.figure("clock.tsc.usable", &Labels::new())?.estimate.value > 0.0;
    let conditions = figures_named(run, &["clock.tsc.fits"]);
    let named = |fits: bool| -> Vec<&str> {
        let of = conditions.iter().filter(|figure| (figure.estimate.value > 0.0) == fits);
        of.filter_map(|figure| figure.labels.get("condition").map(String::as_str)).collect()
    };
    let verdict = if usable {
        format!("The time stamp counter may be used as a clock: it is {}.", named(true).join(", "))
    } else {
        format!(
            "The time stamp counter should not be used as a clock: it is not {}.",
            named(false).join(", nor ")
        )
    };
    let sentences =
        std::iter::once(verdict).chain(spread(run)).chain(offset(run)).chain(source(run));
    Some(sentences.collect::<Vec<_>>().join(" "))
}

/// How far the rates of different windows lie apart.
fn spread(run: &Run) -> Option<String> {
    let spread = run.figure("clock.tsc.spread", &Labels::new())?.estimate.value;
    Some(format!("Its rate differs by {:.2} parts in a million between windows.", spread * 1e6))
}

/// Between which bounds the counters of two processors differ, of the pair with the widest ones.
fn offset(run: &Run) -> Option<String> {
    let lows = figures_named(run, &["clock.tsc.offset_low"]);
    let bounds = |low: &&Figure| {
        let high = run.figure("clock.tsc.offset_high", &low.labels)?;
        Some((low.estimate.value, high.estimate.value, high.unit))
    };
    let widest = lows.iter().filter_map(bounds).max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    let (low, high, unit) = widest?;
    let (low, high) = (format::value(unit, low), format::value(unit, high));
    Some(format!("Between processors it differs by no less than {low} and no more than {high}."))
}

/// What the kernel takes its own time from.
fn source(run: &Run) -> Option<String> {
    let source = &run.environment.as_ref()?.clock.source;
    Some(format!("The kernel's own clock source is {source}."))
}

/// An operation each row.
fn operations(run: &Run) -> Table {
    let mut table = Table::new(&["operation", ">time", ">samples"]);
    for (name, of, title) in OPERATIONS {
        let of = if of == ("", "") { Labels::new() } else { labels([of]) };
        let is_it = |figure: &&Figure| figure.name == name && figure.labels == of;
        if let Some(figure) = run.figures.iter().find(is_it) {
            let time = format::estimate(figure.unit, &figure.estimate);
            table.push([title.to_owned(), time, figure.estimate.samples.to_string()]);
        }
    }
    table
}

/// A row for each length and slack, a column for each part of the distribution.
fn sleeps(run: &Run) -> Table {
    let titles = ["sleep", "slack"].map(str::to_owned).into_iter();
    let titles = titles.chain(QUANTILES.map(|(_, title)| format!(">{title}")));
    let mut table = Table::new(&titles.chain([">sleeps".to_owned()]).collect::<Vec<_>>());
    let nanos = |figure: &Figure, key: &str| {
        figure.labels.get(key).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    let mut medians = figures_named(run, &["clock.lateness"]);
    medians.retain(|figure| figure.labels.get("quantile").is_some_and(|part| part == "0.5"));
    medians.sort_by(|a, b| {
        let order = |key| nanos(a, key).total_cmp(&nanos(b, key));
        order("sleep_ns").then(order("slack_ns"))
    });
    for median in medians {
        let part = |(part, _): (&str, &str)| {
            let mut of = median.labels.clone();
            of.insert("quantile".into(), part.into());
            let value = |figure: &Figure| format::value(figure.unit, figure.estimate.value);
            run.figure("clock.lateness", &of).map_or_else(|| "-".into(), value)
        };
        let length = |key| format::value(median.unit, nanos(median, key));
        let row = [length("sleep_ns"), length("slack_ns")].into_iter().chain(QUANTILES.map(part));
        table.push(row.chain([median.estimate.samples.to_string()]).collect::<Vec<_>>());
    }
    table
}

/// A processor each row.
fn gaps(run: &Run) -> Table {
    let titles = GAPS.map(|(_, title)| format!(">{title}"));
    let titles =
        ["processor".to_owned(), ">median".into(), ">99 %".into()].into_iter().chain(titles);
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for figure in figures_named(run, &["clock.gaps"]) {
        let cpu = figure.labels.get("cpu").cloned().unwrap_or_default();
        let value = |name: &str, of: &Labels| {
            let value = |figure: &Figure| format::value(figure.unit, figure.estimate.value);
            run.figure(name, of).map_or_else(|| "-".to_owned(), value)
        };
        let part =
            |part: &str| value("clock.gap_length", &labels([("cpu", &cpu), ("quantile", part)]));
        let row = [cpu.clone(), part("0.5"), part("0.99")].into_iter();
        table
            .push(row.chain(GAPS.map(|(name, _)| value(name, &figure.labels))).collect::<Vec<_>>());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::{Estimate, Unit};

    fn figure(name: &str, of: Labels, unit: Unit, value: f64) -> Figure {
        Figure { name: name.into(), labels: of, unit, estimate: Estimate::single(value) }
    }

    #[test]
    fn the_verdict_names_its_reasons() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        assert_eq!(verdict(&run), None);
        let fits = |condition: &str, value| {
            figure("clock.tsc.fits", labels([("condition", condition)]), Unit::Count, value)
        };
        run.figures = vec![
            fits("invariant", 1.0),
            fits("steady", 0.0),
            figure("clock.tsc.spread", Labels::new(), Unit::Ratio, 4e-4),
            figure("clock.tsc.usable", Labels::new(), Unit::Count, 0.0),
        ];
        let said = verdict(&run).unwrap();
        assert!(said.contains("should not be used as a clock: it is not steady."), "{said}");
        assert!(said.contains("400.00 parts in a million"), "{said}");
        run.figures[1].estimate = Estimate::single(1.0);
        run.figures[3].estimate = Estimate::single(1.0);
        let said = verdict(&run).unwrap();
        assert!(said.contains("may be used as a clock: it is invariant, steady."), "{said}");
    }

    #[test]
    fn a_study_s_own_series_stay_where_they_were() {
        let mut run = Run::begin("study", "a", "2026-01-01T00:00:00Z", 0);
        let of = labels([("clock", "tsc")]);
        run.figures.push(figure("clock.cost", of.clone(), Unit::Nanoseconds, 10.0));
        assert!(blocks(&run).is_empty() && !shows(&run, &run.figures[0]));
        run.figures.push(figure("clock.observed_step", of, Unit::Nanoseconds, 1.0));
        assert!(!blocks(&run).is_empty() && shows(&run, &run.figures[0]));
    }
}
