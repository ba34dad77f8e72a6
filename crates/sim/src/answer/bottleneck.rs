//! The bottleneck: the parameter with the largest elasticity of useful throughput.
//!
//! ```text
//! elasticity = ln(T(f x more) / T) / ln f
//! ```
//!
//! 1 means that throughput follows the parameter, 0 that it does not care. A resource may help
//! only from some size on (a buffer that must hold a whole frame), so several factors are tried.
//! The second-best counts: one more frame that happens to fit at a single factor is no resource.
//! Their range is its interval.

use std::cmp::Ordering;

use bitpath_measure::run::Elasticity;
use bitpath_measure::{Estimate, Method};

use super::{Parameter, Worth, worth};
use crate::host::HostScenario;

/// Factors by which a parameter is improved.
const FACTORS: [f64; 4] = [1.25, 1.5, 2.0, 4.0];

/// Throughput below which a ratio says nothing [b/s or packets/s]: one a second.
const NO_THROUGHPUT: f64 = 1.0;

/// Elasticity below which nothing limits but the job itself [ratio].
const NEGLIGIBLE: f64 = 0.05;

/// Elasticities of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// The parameter that limits.
    pub parameter: Parameter,
    /// All elasticities, the largest first.
    pub elasticities: Vec<Elasticity>,
}

/// Finds what limits the scenario.
#[must_use]
pub fn find(scenario: &HostScenario) -> Bottleneck {
    let before = worth(scenario);
    let found = Parameter::ALL.into_iter().filter_map(|parameter| {
        let improved = |factor| Some(worth(&parameter.improved(scenario, factor)?));
        Some((parameter, elasticity(parameter.name(), before, improved)?))
    });
    let (parameter, elasticities) = limiting(found, Parameter::JobRate);
    Bottleneck { parameter, elasticities }
}

/// The parameter that limits, and all elasticities, the largest first. The job's own rate counts
/// only where no resource does: to ask for less is no remedy.
pub(super) fn limiting<P: Copy + PartialEq>(
    found: impl Iterator<Item = (P, Elasticity)>,
    own_rate: P,
) -> (P, Vec<Elasticity>) {
    let mut found: Vec<(P, Elasticity)> = found.collect();
    found.sort_by(|a, b| b.1.throughput.value.total_cmp(&a.1.throughput.value));
    let limiting = found
        .iter()
        .find(|(parameter, found)| *parameter != own_rate && found.throughput.value > NEGLIGIBLE);
    let limiting = limiting.map_or(own_rate, |(parameter, _)| *parameter);
    (limiting, found.into_iter().map(|(_, elasticity)| elasticity).collect())
}

/// The elasticity to one parameter; `improved` says what a scenario with so many times as much of
/// it is worth, or nothing where it has no such parameter.
pub(super) fn elasticity(
    parameter: &str,
    before: Worth,
    improved: impl Fn(f64) -> Option<Worth>,
) -> Option<Elasticity> {
    let mut of_throughput = Vec::new();
    let mut of_loss = Vec::new();
    for factor in FACTORS {
        let better = improved(factor)?;
        let ratio = better.throughput.max(NO_THROUGHPUT) / before.throughput.max(NO_THROUGHPUT);
        of_throughput.push(ratio.ln() / factor.ln());
        of_loss.push((better.loss - before.loss) / factor.ln());
    }
    Some(Elasticity {
        parameter: parameter.into(),
        throughput: ranged(second(&of_throughput, |a, b| b.total_cmp(a)), &of_throughput),
        loss: ranged(second(&of_loss, f64::total_cmp), &of_loss),
    })
}

/// The second of the values in this order.
fn second(values: &[f64], order: impl Fn(&f64, &f64) -> Ordering) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(order);
    sorted.get(1).copied().unwrap_or(0.0)
}

/// One of several values, with the range of all as its interval.
fn ranged(value: f64, values: &[f64]) -> Estimate {
    let (low, high) = values
        .iter()
        .fold((value, value), |(low, high), value| (low.min(*value), high.max(*value)));
    Estimate { value, low, high, confidence: 1.0, samples: values.len(), method: Method::Simulated }
}

#[cfg(test)]
mod tests {
    use bitpath_measure::BitRate;

    use super::*;
    use crate::path::tests::{film, raw, scenario};

    fn named(scenario: &HostScenario) -> Parameter {
        find(scenario).parameter
    }

    #[test]
    fn an_unpaced_sender_is_its_own_bottleneck() {
        let found = find(&scenario(raw(1000)));
        assert_eq!(found.parameter, Parameter::StackSend);
        assert!((found.elasticities[0].throughput.value - 1.0).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn a_heavy_decode_is_named() {
        assert_eq!(named(&scenario(film(60.0, true))), Parameter::Decode);
    }

    #[test]
    fn a_small_buffer_is_named() {
        let mut small = scenario(film(4.0, false));
        small.job.receive_buffer = bitpath_measure::ByteCount(9216);
        assert_eq!(named(&small), Parameter::KernelBuffer);
    }

    #[test]
    fn a_limited_link_is_named() {
        let mut limited = scenario(raw(1000));
        limited.link.rate = Some(BitRate(50_000_000));
        assert_eq!(named(&limited), Parameter::LinkRate);
    }

    #[test]
    fn a_job_that_nothing_limits_limits_itself() {
        assert_eq!(named(&scenario(film(1.0, true))), Parameter::JobRate);
    }
}
