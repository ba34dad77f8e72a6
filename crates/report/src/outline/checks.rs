//! Predictions held against measurements, of the host or of a publication.

use bitpath_measure::run::{Check, Verdict};
use bitpath_measure::statistics::median;
use bitpath_measure::{Run, Unit};

use super::answer::word;
use super::{Block, FULL_WIDTH};
use crate::format::{self, Scale};
use crate::plots::{self, Reference};
use crate::table::{Cell, Table, Tone};

/// How far off the predictions are [ratio].
#[derive(Clone, Copy, Debug)]
pub(super) struct Errors {
    median: f64,
    worst: f64,
    count: usize,
}

impl Errors {
    /// Of these checks; `None` where none has an error that is a number.
    pub(super) fn of<'a>(checks: impl Iterator<Item = &'a Check>) -> Option<Self> {
        let errors: Vec<f64> =
            checks.map(|check| check.error().abs()).filter(|error| !error.is_nan()).collect();
        let worst = errors.iter().copied().fold(0.0, f64::max);
        Some(Self { median: median(&errors)?, worst, count: errors.len() })
    }

    /// Both in a few characters.
    pub(super) fn both(self) -> String {
        format!("{}, {}", format::percent(self.median), format::percent(self.worst))
    }

    fn sentence(self) -> String {
        let (median, worst) = (format::percent(self.median), format::percent(self.worst));
        format!("median error {median}, worst error {worst} over {} checks", self.count)
    }
}

/// Whether the error is a part of the value it is held against; that of a share or a limit is not.
fn is_relative(check: &Check) -> bool {
    check.reference.total_cmp(&check.measured.value).is_eq()
}

/// Number of checks within their tolerance.
pub(super) fn passed(run: &Run) -> usize {
    run.checks.iter().filter(|check| check.verdict() == Verdict::Pass).count()
}

/// The title of the section.
pub(super) fn title(run: &Run) -> &'static str {
    match Reference::of(run) {
        Reference::Measured => "Predicted against measured",
        Reference::Published => "Predicted against published",
    }
}

/// The summary, the picture and the table.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let Some(plot) = plots::predictions(run) else {
        return Vec::new();
    };
    let mut blocks = vec![
        Block::Paragraph(summary(run)),
        Block::picture(FULL_WIDTH, &caption(run), |width| plot.draw(width)),
    ];
    let is_mixed = run.checks.iter().any(|check| check.bound != run.checks[0].bound);
    for (bound, heading) in [(true, BOUND), (false, PACED)] {
        let checks: Vec<_> = run.checks.iter().filter(|check| check.bound == bound).collect();
        if checks.is_empty() {
            continue;
        }
        if is_mixed || !bound {
            blocks.push(Block::Heading(heading.into()));
        }
        blocks.push(Block::Table(table(&checks, Reference::of(run))));
    }
    blocks
}

/// How to read the picture.
fn caption(run: &Run) -> String {
    let reference = Reference::of(run);
    let bar = match reference {
        Reference::Measured => "; the bar is what the measurement's interval leaves open",
        Reference::Published => "",
    };
    format!(
        "Error relative to the {} value or, for a share such as load or loss, to the whole{bar}. \
         Shaded: the tolerance of each prediction and, stronger, that of the median of all (10 %).",
        reference.word()
    )
}

/// Over checks that tell something of the host, and over those that tell little.
const BOUND: &str = "Where the host or the link binds";
const PACED: &str = "Where only the sender's pace binds";

fn summary(run: &Run) -> String {
    let published = Reference::of(run) == Reference::Published;
    let of_all = Errors::of(run.checks.iter().filter(|check| !published || is_relative(check)));
    let bound = Errors::of(run.checks.iter().filter(|check| check.bound));
    let verdicts = format!("{} of {} within tolerance", passed(run), run.checks.len());
    let all = of_all
        .map_or_else(|| "No error is a number".into(), |errors| sentence_case(&errors.sentence()));
    if published {
        return format!("{all}, shares and limits aside; {verdicts}.");
    }
    let where_bound = bound.map_or_else(
        || {
            "Nothing but the sender's pace bound any of them: a paced job predicts itself."
                .to_owned()
        },
        |errors| format!("Where the host or the link binds: {}.", errors.sentence()),
    );
    format!("{all}; {verdicts}. {where_bound}")
}

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn table(checks: &[&Check], reference: Reference) -> Table {
    let held_against = format!(">{}", reference.word());
    let titles =
        ["scenario", "quantity", ">predicted", &held_against, ">error", ">allowed", "verdict"];
    let mut table = Table::new(&titles);
    for check in checks {
        table.push(row(check));
    }
    table
}

fn row(check: &Check) -> Vec<Cell> {
    let larger = check.predicted.value.abs().max(check.measured.value.abs());
    let scale = Scale::of(check.unit, larger);
    let verdict = check.verdict();
    let tone = if verdict == Verdict::Pass { Tone::Pass } else { Tone::Fail };
    vec![
        check.scenario.clone().into(),
        check.quantity.clone().into(),
        format::in_scale(check.unit, scale, &check.predicted).into(),
        format::in_scale(check.unit, scale, &check.measured).into(),
        format::signed_percent(check.error()).into(),
        format::value(Unit::Ratio, check.tolerance).into(),
        Cell { text: word(verdict).into(), tone },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Estimate;

    fn check(predicted: f64, measured: f64, reference: f64) -> Check {
        Check {
            scenario: "raw-udp".into(),
            quantity: "throughput".into(),
            unit: Unit::BitsPerSecond,
            predicted: Estimate::single(predicted),
            measured: Estimate::single(measured),
            reference,
            tolerance: 0.25,
            bound: true,
        }
    }

    #[test]
    fn an_error_that_is_no_number_does_not_spoil_the_median() {
        let checks = [check(110.0, 100.0, 100.0), check(0.0, 0.0, 0.0), check(70.0, 100.0, 100.0)];
        let errors = Errors::of(checks.iter()).unwrap();
        assert_eq!(errors.both(), "20.0 %, 30.0 %");
    }

    #[test]
    fn a_validation_holds_the_model_against_what_was_published() {
        for (tool, word) in [("study", "measured"), ("validate", "published")] {
            let mut run = Run::begin(tool, "a", "", 0);
            run.checks.push(check(110.0, 100.0, 100.0));
            assert_eq!(title(&run), format!("Predicted against {word}"));
            assert!(caption(&run).contains(&format!("relative to the {word} value")));
            let Some(Block::Table(table)) = blocks(&run).pop() else { panic!("a table") };
            assert_eq!(table.columns[3].title, word);
        }
    }

    #[test]
    fn shares_and_limits_do_not_enter_the_errors_of_a_validation() {
        let mut run = Run::begin("validate", "a", "", 0);
        // A value, a limit of 0.9, and a share of the whole.
        run.checks = vec![check(110.0, 100.0, 100.0), check(0.8, 0.0, 1.0), check(0.5, 0.2, 1.0)];
        let found = summary(&run);
        assert!(
            found.starts_with("Median error 10.0 %, worst error 10.0 % over 1 checks, shares"),
            "{found}"
        );
        run.tool = "study".into();
        assert!(summary(&run).contains("worst error 80.0 % over 3 checks"), "{}", summary(&run));
    }

    #[test]
    fn predicted_and_measured_share_their_prefix() {
        let cells = row(&check(950e6, 1.1e9, 1.1e9));
        assert_eq!(cells[2].text, "0.950 Gb/s");
        assert_eq!(cells[3].text, "1.10 Gb/s");
    }
}
