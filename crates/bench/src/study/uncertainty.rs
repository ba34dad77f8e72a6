//! What is not known of a prediction: the spread of this host's costs, through the model.
//!
//! Each cost is varied alone by its own spread, up and down, and the deviations of the prediction
//! are added in squares, as uncertainties of independent inputs are (JCGM 100:2008, section 5.1).

use bitpath_measure::Labels;
use bitpath_measure::series::labels;
use bitpath_measure::statistics::{median, quantile};
use bitpath_measure::{Estimate, Unit};
use bitpath_sim::answer::Parameter;
use bitpath_sim::host::HostScenario;
use bitpath_sim::path::{self, Outcome};
use bitpath_sim::profile::Transport;

use super::checks::quantities;
use super::jobs::StudyJob;
use crate::probe::{stack, wake};
use crate::sampling::Sampler;

/// The costs that are varied.
const COSTS: [Parameter; 4] =
    [Parameter::StackSend, Parameter::StackReceive, Parameter::WakeUp, Parameter::Decode];

/// Predicts every quantity of a job with its interval, and the outcome that they are read from.
pub(super) fn predict(
    sampler: &Sampler,
    job: &StudyJob,
    scenario: &HostScenario,
) -> (Outcome, Vec<(&'static str, Unit, Estimate)>) {
    let outcome = path::run(scenario);
    let middle = quantities(job, &outcome);
    let mut below = vec![0.0; middle.len()];
    let mut above = vec![0.0; middle.len()];
    for cost in COSTS {
        let spread = spread(sampler, cost, job.job.transport);
        let varied = [1.0 + spread, 1.0 / (1.0 + spread)]
            .map(|factor| cost.improved(scenario, factor).map(|varied| path::run(&varied)));
        let [Some(cheap), Some(dear)] = varied else { continue };
        let [cheap, dear] = [cheap, dear].map(|outcome| quantities(job, &outcome));
        for (index, (_, _, value)) in middle.iter().enumerate() {
            let (a, b) = (cheap[index].2 - value, dear[index].2 - value);
            below[index] += a.min(b).min(0.0).powi(2);
            above[index] += a.max(b).max(0.0).powi(2);
        }
    }
    let estimates = middle.into_iter().enumerate().map(|(index, (quantity, unit, value))| {
        let low = within(unit, value - below[index].sqrt());
        let high = within(unit, value + above[index].sqrt());
        (quantity, unit, Estimate { low, high, ..Estimate::simulated(value) })
    });
    let estimates = estimates.collect();
    (outcome, estimates)
}

/// A sum of deviations, kept to what the unit can be: a share or a core's load is at most one.
fn within(unit: Unit, value: f64) -> f64 {
    let most = if matches!(unit, Unit::Ratio | Unit::Cores) { 1.0 } else { f64::INFINITY };
    value.clamp(0.0, most)
}

/// How far a cost of this host is from its median at another time [ratio]: half of the span that
/// four of five samples lie in, in the median over its series. The interval of the median itself
/// would be narrower, but it speaks of this study's minutes only.
fn spread(sampler: &Sampler, cost: Parameter, transport: Transport) -> f64 {
    let spreads: Vec<f64> = series(cost, transport)
        .into_iter()
        .filter_map(|(name, labels)| {
            let values = sampler.values(&name, &labels);
            let [low, middle, high] = [0.1, 0.5, 0.9].map(|fraction| quantile(&values, fraction));
            Some((high? - low?) / 2.0 / middle.filter(|middle| *middle > 0.0)?)
        })
        .collect();
    median(&spreads).unwrap_or(0.0)
}

/// The series that a cost was measured in.
fn series(cost: Parameter, transport: Transport) -> Vec<(String, Labels)> {
    let sizes = stack::sizes(transport);
    let stack = |side: &str| {
        let of_size =
            |bytes: &usize| ("stack.cost".to_owned(), stack::cost_labels(transport, side, *bytes));
        sizes.iter().map(of_size).collect()
    };
    match cost {
        Parameter::StackSend => stack("send"),
        Parameter::StackReceive => stack("receive"),
        Parameter::Decode => vec![("decode.frame_rate".to_owned(), labels([("frame", "all")]))],
        _ => ["sender", "receiver"]
            .map(|side| (format!("stack.wake.{side}"), wake::ARRIVALS[0].labels()))
            .to_vec(),
    }
}
