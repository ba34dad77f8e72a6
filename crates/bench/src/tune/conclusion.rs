//! What the samples say: ratios pair by pair, verdicts with their intervals, and the rule.

use bitpath_measure::run::{Answer, Figure};
use bitpath_measure::statistics::{Finding, Method, largest_difference};
use bitpath_measure::{Estimate, Labels, Pitfall, Run, Sample, Series, Unit};

use super::measure::{Better, Quantity};
use super::rule::Rule;
use super::{Comparison, Options, value_labels};

/// The series of the ratios to the first value.
const RATIO: &str = "tune.ratio";

/// The decided ratio with the interval of its decision; its verdict is one of its labels.
const EFFECT: &str = "tune.effect";

/// The smallest difference that matters.
const MARGIN: &str = "tune.margin";

/// What is said of one value and one quantity.
struct Said<'a> {
    value: usize,
    quantity: &'a Quantity,
    verdict: &'static str,
    interval: Option<Estimate>,
}

/// Adds ratios, effects and the answer to the record.
pub(super) fn conclude(run: &mut Run, options: &Options, comparison: &Comparison) {
    let mut said = Vec::new();
    for (value, quantity, decision) in &comparison.decisions {
        let ratios = comparison.ratios(*value, *quantity);
        let quantity = &options.measure.quantities()[*quantity];
        let verdict = verdict(quantity, decision.finding());
        let mut labels = value_labels(options, *value);
        labels.insert("quantity".into(), short(quantity).into());
        record_ratios(run, quantity, &labels, &ratios);
        if let Some(estimate) = decision.interval() {
            let labels = verdict_labels(&labels, verdict);
            run.figures.push(Figure { name: EFFECT.into(), labels, unit: Unit::Ratio, estimate });
        }
        if decision.finding() == Finding::Open {
            let what = format!("{} of {}", short(quantity), options.knob.values[*value].text);
            run.doubt(match decision.interval() {
                Some(interval) => Pitfall::BudgetEnded {
                    what,
                    half_width: largest_difference(&interval),
                    wanted: options.margin,
                },
                None => Pitfall::SmallSample { what, samples: ratios.len() },
            });
        }
        said.push(Said { value: *value, quantity, verdict, interval: decision.interval() });
    }
    run.figures.push(Figure {
        name: MARGIN.into(),
        labels: Labels::new(),
        unit: Unit::Ratio,
        estimate: Estimate::single(options.margin),
    });
    let mut sentences = vec![headline(options, &said), rule(options, &said)];
    sentences.extend(resolution(options, &said));
    let line_rate_bits_per_second = Estimate::single(0.0);
    run.answer = Some(Answer { sentences, jobs: Vec::new(), line_rate_bits_per_second });
}

/// The ratios as a series, each at the time of the value's own sample.
fn record_ratios(run: &mut Run, quantity: &Quantity, labels: &Labels, ratios: &[f64]) {
    let mut own = labels.clone();
    own.remove("quantity");
    let times = run.series(quantity.name, &own).map(|series| series.samples.clone());
    let mut series = Series::new(RATIO, labels.clone(), Unit::Ratio);
    let samples = times.unwrap_or_default();
    series.samples = ratios
        .iter()
        .zip(samples)
        .map(|(ratio, beside)| Sample { at_s: beside.at_s, ..Sample::computed(*ratio) })
        .collect();
    run.record(series, Method::MedianBlockBootstrap);
}

fn verdict_labels(labels: &Labels, verdict: &str) -> Labels {
    let mut labels = labels.clone();
    labels.insert("verdict".into(), verdict.into());
    labels
}

/// The name of a quantity without that of the tool.
fn short(quantity: &Quantity) -> &'static str {
    quantity.name.trim_start_matches("tune.")
}

fn verdict(quantity: &Quantity, finding: Finding) -> &'static str {
    match (finding, quantity.better) {
        (Finding::Same, _) => "no difference",
        (Finding::Open, _) | (_, None) => "undecided",
        (Finding::Above, Some(Better::Higher)) | (Finding::Below, Some(Better::Lower)) => "better",
        (Finding::Above, Some(Better::Lower)) | (Finding::Below, Some(Better::Higher)) => "worse",
    }
}

/// Each value against the first, in words.
fn headline(options: &Options, said: &[Said<'_>]) -> String {
    let values = &options.knob.values;
    let of_value = |value: usize| {
        let words: Vec<String> = said
            .iter()
            .filter(|said| said.value == value)
            .map(|said| format!("{} {}", said.verdict, in_words(said.quantity, said.verdict)))
            .collect();
        format!("{}: {}", values[value].text, words.join(", "))
    };
    let others: Vec<String> = (1..values.len()).map(of_value).collect();
    let first = &values[0].text;
    format!("{} against {first}: {}.", options.knob.name, others.join("; "))
}

/// A verdict's preposition: better cost, no difference in cost.
fn in_words(quantity: &Quantity, verdict: &str) -> String {
    let between = if verdict == "no difference" { "in " } else { "" };
    format!("{between}{}", short(quantity))
}

/// Which of the eight rules speaks about it, and what it has to say.
fn rule(options: &Options, said: &[Said<'_>]) -> String {
    let rule = Rule::of(options.knob.values[0].turn, options.measure);
    let differs = said.iter().any(|said| ["better", "worse"].contains(&said.verdict));
    let (number, words, because) = (rule.number, rule.words(), rule.because);
    if differs {
        format!("Rule {number} explains it, {words}: {because}.")
    } else {
        format!("Rule {number} speaks about it, {words}: {because}. Here that does not show.")
    }
}

/// The smallest difference that these samples can show, quantity by quantity: half of the widest
/// interval of a ratio. `None` before the first look.
fn resolution(options: &Options, said: &[Said<'_>]) -> Option<String> {
    let of_quantity = |quantity: &Quantity| {
        let intervals = said.iter().filter(|said| said.quantity == quantity);
        let halves = intervals.filter_map(|said| said.interval).map(|found| found.high / found.low);
        let widest = halves.map(|whole| whole.sqrt() - 1.0).max_by(f64::total_cmp)?;
        Some(format!("{:.1} % of {}", widest * 100.0, short(quantity)))
    };
    let shown: Vec<String> = options.measure.quantities().iter().filter_map(of_quantity).collect();
    let sentence =
        || format!("Differences below {} are too small for these samples.", shown.join(" and "));
    (!shown.is_empty()).then(sentence)
}

#[cfg(test)]
mod tests {
    use bitpath_measure::statistics::signed_rank_interval;

    use super::super::Measure;
    use super::*;

    fn concluded(knob: &str, factor: f64) -> Run {
        let options = Options {
            program: "bitpath".into(),
            knob: knob.parse().unwrap(),
            fixed: Vec::new(),
            measure: Measure::Tcp,
            budget_s: 60.0,
            margin: 0.05,
            id: "tune".into(),
            seed: 0,
        };
        let mut comparison = Comparison::new(&options);
        let mut run = Run::begin("tune", "tune", "", 0);
        for value in 0..2 {
            for (at, quantity) in options.measure.quantities().iter().enumerate() {
                let labels = value_labels(&options, value);
                let mut series = Series::new(quantity.name, labels, quantity.unit);
                let value_of = |block: u32| {
                    let factor = if value == 0 { 1.0 } else { factor };
                    factor
                        * (100.0 + f64::from(block * 7 % 5) + f64::from(block % 3) * value as f64)
                };
                comparison.samples[value][at] = (0..40).map(value_of).collect();
                series.samples = (0..40).map(value_of).map(Sample::computed).collect();
                run.series.push(series);
            }
        }
        comparison.look(1.0);
        conclude(&mut run, &options, &comparison);
        run
    }

    #[test]
    fn an_effect_is_recomputed_from_its_ratios() {
        let run = concluded("message_bytes=64,1448", 1.5);
        assert_eq!(run.unsupported_figures(), [""; 0]);
        let effects: Vec<_> = run.figures.iter().filter(|figure| figure.name == EFFECT).collect();
        assert_eq!(effects.len(), 2);
        for (effect, verdict) in effects.into_iter().zip(["worse", "better"]) {
            assert_eq!(effect.labels["verdict"], verdict);
            let mut labels = effect.labels.clone();
            labels.remove("verdict");
            let ratios: Vec<f64> =
                run.series(RATIO, &labels).unwrap().samples.iter().map(|s| s.value).collect();
            let confidence = effect.estimate.confidence;
            assert_eq!(signed_rank_interval(&ratios, confidence), Some(effect.estimate));
        }
    }

    #[test]
    fn verdicts_and_their_rule_are_said_in_words() {
        let sentences = concluded("message_bytes=64,1448", 1.5).answer.unwrap().sentences;
        assert_eq!(sentences[0], "message_bytes against 64: 1448: worse cost, better throughput.");
        assert!(sentences[1].starts_with("Rule 2 explains it, reduce packet count"));
        assert!(sentences[2].starts_with("Differences below 0."), "{sentences:?}");
        assert!(sentences[2].ends_with(" % of throughput are too small for these samples."));
        let sentences = concluded("gro=on,on", 1.0).answer.unwrap().sentences;
        let same = "gro against on: on: no difference in cost, no difference in throughput.";
        assert_eq!(sentences[0], same);
        assert!(sentences[1].ends_with("Here that does not show."));
    }
}
