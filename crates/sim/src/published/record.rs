//! The record of a validation: each point a check, each set's constants a document.

use std::fmt::Write;

use bitpath_measure::run::{Check, Document, Figure, Run};
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Unit};

use super::{Criterion, Point, Set};

/// The record of these sets. It holds no time and no machine: same data, same bytes.
#[must_use]
pub fn record(sets: &[Set]) -> Run {
    let mut run = Run::begin("validate", "validation", "", 0);
    for set in sets {
        run.documents.push(document(set));
        run.checks.extend(set.points.iter().map(|point| point_check(set, point)));
        run.checks.extend(set.criteria.iter().map(|criterion| criterion_check(set, criterion)));
        run.figures.push(mean_error(set));
    }
    run.complete = true;
    run
}

/// Where the numbers come from and what was fitted.
fn document(set: &Set) -> Document {
    let mut text = format!("{}\n{}\n", set.name, set.source);
    for line in &set.fitted {
        // Writing to a string cannot fail.
        _ = writeln!(text, "- {line}");
    }
    Document { name: format!("{}.txt", set.name), text }
}

fn point_check(set: &Set, point: &Point) -> Check {
    Check {
        scenario: set.name.into(),
        quantity: format!("{}: {}", point.name, point.quantity),
        unit: point.unit,
        predicted: Estimate::simulated(point.predicted),
        measured: Estimate::single(point.published),
        reference: point.reference(),
        tolerance: point.tolerance,
        bound: true,
    }
}

/// A limit as a check: nothing would be ideal.
fn criterion_check(set: &Set, criterion: &Criterion) -> Check {
    Check {
        scenario: set.name.into(),
        quantity: criterion.name.into(),
        unit: Unit::Ratio,
        predicted: Estimate::simulated(criterion.value),
        measured: Estimate::single(0.0),
        reference: 1.0,
        tolerance: criterion.limit,
        bound: true,
    }
}

fn mean_error(set: &Set) -> Figure {
    Figure {
        name: "validation.mean_error".into(),
        labels: labels([("set", set.name)]),
        unit: Unit::Ratio,
        estimate: Estimate { samples: set.points.len(), ..Estimate::simulated(set.mean_error()) },
    }
}

#[cfg(test)]
mod tests {
    use bitpath_measure::run::Verdict;

    use super::super::run;
    use super::*;

    #[test]
    fn every_point_and_criterion_is_a_check_with_the_same_verdict() {
        let sets = ["hosts-2004", "driver-throughput"].map(|name| run(name).unwrap());
        let record = record(&sets);
        let count: usize = sets.iter().map(|set| set.points.len() + set.criteria.len()).sum();
        assert_eq!((record.checks.len(), record.documents.len()), (count, sets.len()));
        for (check, point) in record.checks.iter().zip(&sets[0].points) {
            assert_eq!(check.verdict() == Verdict::Pass, point.passes());
            assert!((check.error() - point.error()).abs() < 1e-12);
        }
        assert!(record.documents[0].text.contains("fitted"), "{}", record.documents[0].text);
    }
}
