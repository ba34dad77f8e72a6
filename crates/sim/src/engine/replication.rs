//! Replications: the same scenario with one seed after the other, until the mean throughput is
//! known well enough.
//!
//! ```text
//! seed, seed + 1, ... ──► engine ──► one value of each figure a seed ──► mean with Student's t interval
//!            ▲                                                                   │
//!            └──────────────── half-width above the precision ◄──────────────────┘
//! ```
//!
//! Independent replications with a relative precision: Law, *Simulation Modeling and Analysis*,
//! section 9.4.1.

use std::str::FromStr;

use bitpath_measure::run::{Figure, Run, Step};
use bitpath_measure::statistics::{CONFIDENCE, mean_interval};
use bitpath_measure::{Method, Sample, Series};

use super::{Engine, EngineError, Findings, begin, find};
use crate::scenario::Scenario;

/// Half-width of an interval as a share of its mean [ratio], between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision(f64);

/// How often a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Precision of the throughput that is enough; none to run as often as allowed.
    pub precision: Option<Precision>,
    /// Most replications; none for [`Plan::MAX_REPLICATIONS`].
    pub at_most: Option<u16>,
}

impl Plan {
    /// Fewest replications that an interval is drawn from: with two, Student's t is 12.7.
    pub const MIN_REPLICATIONS: usize = 3;

    /// Most replications: a half-width shrinks with their root, so more do not help.
    pub const MAX_REPLICATIONS: u16 = 10_000;

    fn bound(&self) -> usize {
        usize::from(self.at_most.unwrap_or(Self::MAX_REPLICATIONS))
    }

    /// Why the replications so far are enough, if they are.
    fn ended(&self, throughput: &[f64]) -> Option<String> {
        if let Some(Precision(wanted)) = self.precision
            && throughput.len() >= Self::MIN_REPLICATIONS
            && let Some(mean) = mean_interval(throughput, CONFIDENCE)
            && mean.relative_half_width() <= wanted
        {
            return Some(format!("throughput is known to {} %", wanted * 100.0));
        }
        (throughput.len() >= self.bound()).then(|| match self.precision {
            Some(Precision(wanted)) => {
                format!("no more are allowed; throughput is not known to {} %", wanted * 100.0)
            }
            None => "as many as asked for".into(),
        })
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, factor) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim(), 0.01),
            None => (text.trim(), 1.0),
        };
        let share = number.parse::<f64>().ok().map(|number| number * factor);
        let share = share.filter(|share| *share > 0.0 && *share < 1.0);
        share.map(Self).ok_or_else(|| {
            format!("`{text}` is no precision: write a share of the throughput, such as 1% or 0.01")
        })
    }
}

/// Simulates with one seed after the other, from the scenario's own on, and records the mean of
/// every figure. What is not random runs once.
///
/// # Errors
/// When the engine that is asked for does not apply.
pub fn replicate(
    scenario: &Scenario,
    text: &str,
    wanted: Option<Engine>,
    plan: &Plan,
) -> Result<Run, EngineError> {
    if !scenario.is_random() || wanted == Some(Engine::ClosedForm) {
        let mut run = super::simulate(scenario, text, wanted)?;
        run.steps.push(step(1, "nothing is random: all replications would be the same".into()));
        return Ok(run);
    }
    let mut run = begin("simulate", scenario, text);
    let (mut series, mut throughput) = (Vec::new(), Vec::new());
    let ended = loop {
        let seed = scenario.seed.wrapping_add(throughput.len() as u64);
        let Findings { figures, timelines, .. } = find(scenario, seed, wanted)?;
        let found = figures.iter().find(|figure| figure.name == "throughput");
        throughput.push(found.map_or(f64::NAN, |figure| figure.estimate.value));
        if series.is_empty() {
            run.timelines = timelines;
            series = figures.iter().map(empty).collect();
        }
        for (series, figure) in series.iter_mut().zip(&figures) {
            series.samples.push(Sample::computed(figure.estimate.value));
        }
        if let Some(ended) = plan.ended(&throughput) {
            break ended;
        }
    };
    for series in series {
        run.record(series, method(throughput.len()));
    }
    run.steps.push(step(throughput.len(), ended));
    run.complete = true;
    Ok(run)
}

/// A single value has no interval.
pub(crate) fn method(replications: usize) -> Method {
    if replications > 1 { Method::MeanStudentT } else { Method::Single }
}

fn empty(figure: &Figure) -> Series {
    Series::new(&figure.name, figure.labels.clone(), figure.unit)
}

fn step(replications: usize, ended: String) -> Step {
    let plural = if replications == 1 { "" } else { "s" };
    Step { name: format!("{replications} replication{plural}"), seconds: 0.0, ended }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::series::labels;

    const QUEUE: &str = "seed = 5\n[pipeline]\npackets = 20_000\n\
        arrivals = { interval = \"1 us\", distribution = \"exponential\" }\n\
        [[pipeline.stage]]\nname = \"queue\"\nslots = 20\nservice = \"900 ns\"\n\
        distribution = \"exponential\"\nwhen_full = \"drop\"\n";

    fn replicated(text: &str, precision: Option<&str>, at_most: Option<u16>) -> Run {
        let precision = precision.map(|precision| precision.parse().unwrap());
        let scenario = Scenario::parse(text).unwrap();
        replicate(&scenario, text, None, &Plan { precision, at_most }).unwrap()
    }

    #[test]
    fn replications_end_when_the_throughput_is_known() {
        let run = replicated(QUEUE, Some("0.5%"), None);
        let throughput = run.figure("throughput", &labels([])).unwrap().estimate;
        assert!(throughput.relative_half_width() <= 0.005 && throughput.samples >= 3);
        assert!(run.steps[0].ended.contains("known to 0.5 %"), "{:?}", run.steps);
        assert!(run.unsupported_figures().is_empty());
        // Erlang's loss of rho 0.9 and K 20.
        let loss = run.figure("loss", &labels([])).unwrap().estimate;
        assert!((loss.value - 0.013_65).abs() < 0.006, "{loss:?}");
        let fewer = u16::try_from(throughput.samples - 1).unwrap();
        let one_fewer = replicated(QUEUE, Some("0.5%"), Some(fewer));
        assert!(one_fewer.steps[0].ended.contains("no more are allowed"), "{:?}", one_fewer.steps);
    }

    #[test]
    fn the_first_replication_is_the_scenario_itself() {
        let run = replicated(QUEUE, None, Some(4));
        let alone = super::super::simulate(&Scenario::parse(QUEUE).unwrap(), QUEUE, None).unwrap();
        for (series, figure) in run.series.iter().zip(&alone.figures) {
            assert_eq!((series.samples.len(), series.samples[0].value), (4, figure.estimate.value));
        }
    }

    #[test]
    fn what_is_not_random_runs_once_and_says_so() {
        let p3 = include_str!("../../../../scenarios/p3.toml");
        let run = replicated(p3, Some("1%"), None);
        assert!(run.steps[0].ended.contains("nothing is random"));
        assert_eq!(run.figure("delivered", &labels([])).unwrap().estimate.value, 795_771.0);
    }

    #[test]
    fn a_precision_is_a_share_or_per_cent() {
        assert_eq!("1%".parse(), "0.01".parse::<Precision>());
        for text in ["", "0", "100%", "-1%", "1 ms", "nan"] {
            assert!(text.parse::<Precision>().unwrap_err().contains("1% or 0.01"), "{text}");
        }
    }
}
