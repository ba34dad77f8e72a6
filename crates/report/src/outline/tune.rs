//! A knob turned: every value with what was measured, its ratio to the first value, and the verdict.

use bitpath_measure::run::Figure;
use bitpath_measure::statistics::{FALSE_ALARMS, MISSES};
use bitpath_measure::{Labels, Run};

use super::Block;
use crate::format;
use crate::table::Table;

const RATIO: &str = "tune.ratio";
const EFFECT: &str = "tune.effect";
const MARGIN: &str = "tune.margin";

/// Whether the record is that of a knob that was turned.
pub(super) fn is_one(run: &Run) -> bool {
    run.tool == "tune"
}

/// A row for each value and quantity, and what the intervals are.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    if !is_one(run) {
        return Vec::new();
    }
    let knob = measured(run).next().map_or("value", |figure| label(figure, "knob"));
    let mut table =
        Table::new(&["quantity", &format!(">{knob}"), ">measured", ">over the first", "verdict"]);
    for figure in measured(run) {
        let effect = effect(run, figure);
        let verdict = effect.map_or_else(
            || if label(figure, "place") == "1" { "the first" } else { "-" },
            |effect| label(effect, "verdict"),
        );
        table.push([
            format::words(quantity(figure)),
            label(figure, "value").to_owned(),
            format::estimate(figure.unit, &figure.estimate),
            effect.map_or_else(|| "-".into(), |effect| format::factor(&effect.estimate)),
            verdict.to_owned(),
        ]);
    }
    vec![Block::Table(table), Block::Paragraph(note(run))]
}

/// Figures of single values, quantity by quantity.
fn measured(run: &Run) -> impl Iterator<Item = &Figure> {
    let others = [RATIO, EFFECT, MARGIN];
    run.figures.iter().filter(move |figure| {
        figure.name.starts_with("tune.") && !others.contains(&figure.name.as_str())
    })
}

fn quantity(figure: &Figure) -> &str {
    figure.name.trim_start_matches("tune.")
}

fn label<'a>(figure: &'a Figure, key: &str) -> &'a str {
    figure.labels.get(key).map_or("-", String::as_str)
}

/// The decided ratio of the same value and quantity.
fn effect<'a>(run: &'a Run, figure: &Figure) -> Option<&'a Figure> {
    let mut labels: Labels = figure.labels.clone();
    labels.insert("quantity".into(), quantity(figure).into());
    run.figure(EFFECT, &labels)
}

/// How sure the ratios are, and what counts as no difference.
fn note(run: &Run) -> String {
    let effects = || run.figures.iter().filter(|figure| figure.name == EFFECT);
    let confidence = effects().map(|figure| figure.estimate.confidence).fold(1.0, f64::min);
    let margin = run.figure(MARGIN, &Labels::new()).map_or(0.0, |figure| figure.estimate.value);
    if effects().next().is_none() {
        return "There were too few blocks for a look at the ratios.".into();
    }
    format!(
        "Ratios are of pairs within a block. Their intervals are those of the look that decided, of at least {:.2} % confidence: all looks together raise a false alarm in {} of runs, and take a difference of {} for none in {}.",
        // Rounded down: 100 % there is not.
        (confidence * 1e4).floor() / 100.0,
        format::percent(FALSE_ALARMS),
        format::percent(margin),
        format::percent(MISSES)
    )
}

#[cfg(test)]
mod tests {
    use bitpath_measure::series::labels;
    use bitpath_measure::{Estimate, Unit};

    use super::*;
    use crate::text;

    #[test]
    fn every_value_has_a_row_with_its_verdict() {
        let mut run = Run::begin("tune", "tune", "", 0);
        let of = |value: &str, place: &str| {
            labels([("knob", "message_bytes"), ("value", value), ("place", place)])
        };
        let mut figure = |name: &str, unit, labels, estimate| {
            run.figures.push(Figure { name: name.into(), labels, unit, estimate });
        };
        for (value, place, cost) in [("64", "1", 24.0), ("1448", "2", 6.0)] {
            let cost = Estimate::single(cost);
            figure("tune.cost", Unit::NanosecondsPerByte, of(value, place), cost);
        }
        let mut decided = of("1448", "2");
        decided.extend(labels([("quantity", "cost"), ("verdict", "better")]));
        let ratio = Estimate { low: 0.2, high: 0.3, confidence: 0.999, ..Estimate::single(0.25) };
        figure(RATIO, Unit::Ratio, decided.clone(), ratio);
        figure(EFFECT, Unit::Ratio, decided, ratio);
        figure(MARGIN, Unit::Ratio, Labels::new(), Estimate::single(0.05));
        run.complete = true;
        let text = text::render(&run, 100);
        for words in [
            "cost                 64  24.0 ns/B                      -  the first",
            "cost               1448  6.00 ns/B  0.250x [0.200, 0.300]  better",
            "99.90 % confidence: all looks",
            "in 1.0 % of runs",
        ] {
            assert!(text.contains(words), "no `{words}` in:\n{text}");
        }
        assert!(!text.contains("Other figures"), "{text}");
    }
}
