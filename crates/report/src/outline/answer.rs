//! The conclusions: what a list of runs shows of one, the key facts, the bottleneck of each job.

use bitpath_measure::run::{JobAnswer, Remedy, RemedyOutcome, Verdict};
use bitpath_measure::{Run, Unit};

use super::{Block, agreement, checks, comparison, probe, rtp, sweep};
use crate::format;
use crate::plots::Reference;
use crate::table::Table;

/// The run in one sentence.
pub(crate) fn headline(run: &Run) -> String {
    let sentence = run.answer.as_ref().and_then(|answer| answer.sentences.first());
    match sentence.cloned().or_else(|| probe::headline(run)) {
        Some(sentence) => sentence,
        None if !run.checks.is_empty() => {
            let passed = checks::passed(run);
            format!("{passed} of {} predictions within tolerance.", run.checks.len())
        }
        None if comparison::is_one(run) => comparison::headline(run),
        None if agreement::is_one(run) => agreement::headline(run),
        None if sweep::is_one(run) => sweep::headline(run),
        None if rtp::is_one(run) => rtp::headline(run),
        None if run.figures.is_empty() => "Nothing was measured.".into(),
        None if run.figures.len() == 1 => "One figure; no conclusion is drawn from it.".into(),
        None => format!("{} figures; no conclusion is drawn from them.", run.figures.len()),
    }
}

/// Names and values of what one looks for first.
pub(crate) fn key_facts(run: &Run) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(answer) = &run.answer {
        if let Some(job) = answer.jobs.first() {
            facts.push(("Bottleneck", job.bottleneck_in_words.clone()));
        }
        // A simulation answers for its scenario; only a study of a real host knows a line rate.
        let rate = &answer.line_rate_bits_per_second;
        if rate.value > 0.0 {
            let rate = format::estimate(Unit::BitsPerSecond, rate);
            facts.push(("Line rate one receiving core would serve", rate));
        }
    }
    // Where nothing binds, a prediction is too easy to count.
    let binding = checks::Errors::of(run.checks.iter().filter(|check| check.bound));
    if let Some(errors) = binding.or_else(|| checks::Errors::of(run.checks.iter())) {
        let verdicts = format!("{} of {}", checks::passed(run), run.checks.len());
        facts.push(("Predictions within tolerance", verdicts));
        // On paper nothing binds, and errors of limits and shares are no errors of values.
        if Reference::of(run) == Reference::Measured {
            facts.push(("Median and worst error where something binds", errors.both()));
        }
    }
    facts
}

/// For each job its bottleneck, elasticities and remedies.
pub(super) fn job_blocks(run: &Run) -> Vec<Block> {
    let jobs = || run.answer.iter().flat_map(|answer| &answer.jobs);
    let note = jobs().any(|job| !job.elasticities.is_empty());
    let note = note.then(|| Block::Paragraph(ELASTICITY.into()));
    note.into_iter().chain(jobs().flat_map(blocks_of_job)).collect()
}

/// What the numbers of the tables are.
const ELASTICITY: &str = "An elasticity is the relative change of throughput, or of loss, for a relief of \
    one parameter by 1.25 to 4 times: 1 is in proportion, 0 is no effect. The largest names the bottleneck.";

fn blocks_of_job(job: &JobAnswer) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading(job.scenario.clone()),
        Block::Paragraph(format!("Bottleneck: {} ({}).", job.bottleneck_in_words, job.bottleneck)),
    ];
    if !job.elasticities.is_empty() {
        blocks.push(Block::Table(elasticity_table(job)));
    }
    if !job.remedies.is_empty() {
        blocks.push(Block::Table(remedy_table(&job.remedies)));
    }
    blocks
}

fn elasticity_table(job: &JobAnswer) -> Table {
    let mut table = Table::new(&["relief of", ">throughput", ">loss"]);
    for elasticity in &job.elasticities {
        let (throughput, loss) = (&elasticity.throughput, &elasticity.loss);
        let cells = [elasticity.parameter.clone(), format::plain(throughput), format::plain(loss)];
        table.push(cells);
    }
    table
}

fn remedy_table(remedies: &[Remedy]) -> Table {
    let mut table = Table::new(&["remedy", "change", ">gain predicted", "gain measured"]);
    for remedy in remedies {
        let gain = format::factor(&remedy.predicted_gain);
        table.push([remedy.name.clone(), remedy.change.clone(), gain, outcome(&remedy.outcome)]);
    }
    table
}

fn outcome(outcome: &RemedyOutcome) -> String {
    match outcome {
        RemedyOutcome::Measured { gain } => format::factor(gain),
        RemedyOutcome::NotApplicable { reason } => format!("not applicable: {reason}"),
        RemedyOutcome::NotTried => "not tried".into(),
    }
}

/// The word for a verdict.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
    }
}

#[cfg(test)]
mod tests {
    use bitpath_measure::Estimate;
    use bitpath_measure::run::Check;

    use super::*;

    #[test]
    fn a_validation_has_no_error_where_something_binds() {
        for (tool, names) in [("study", 2), ("validate", 1)] {
            let mut run = Run::begin(tool, "a", "", 0);
            run.checks.push(Check {
                scenario: "vod-2009".into(),
                quantity: "interrupts, 1000 viewers over the most".into(),
                unit: Unit::Ratio,
                predicted: Estimate::single(0.8),
                measured: Estimate::single(0.0),
                reference: 1.0,
                tolerance: 0.9,
                bound: true,
            });
            assert_eq!(key_facts(&run).len(), names, "{tool}");
        }
    }
}
