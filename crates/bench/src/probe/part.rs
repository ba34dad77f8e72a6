//! The parts of a probe, and the plan that a record keeps of them.

use std::path::PathBuf;

use bitpath_measure::Run;
use serde::{Deserialize, Serialize};

/// One part of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// What the model must know of this host.
    Model,
    /// Bandwidth and latency of memory by working set.
    Memory,
    /// Throughput, cost and latency of UDP and TCP.
    Stack,
    /// Clocks and the kernel's small operations.
    Clock,
    /// What three processes pass on to each other, by channel.
    Pipeline,
    /// What clips are, and what it costs to decode them.
    Decode,
}

/// What to measure and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The parts, in this order.
    pub parts: Vec<Part>,
    /// Time for all of them [s].
    pub budget_s: f64,
    /// Clips to send and decode; without one, one is made.
    pub clips: Vec<PathBuf>,
    /// Agent at the other end of the stack's flows; without one, both ends are here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Processors of a pipeline's source, filter and sink; without them, some are chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<[usize; 3]>,
}

/// Name of the plan among a record's documents.
pub const PLAN: &str = "probe.toml";

impl Part {
    /// All parts, in the order in which a probe of the whole host takes them.
    pub const ALL: [Self; 6] =
        [Self::Model, Self::Clock, Self::Memory, Self::Stack, Self::Pipeline, Self::Decode];

    /// The name in records and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Memory => "memory",
            Self::Stack => "stack",
            Self::Clock => "clock",
            Self::Decode => "decode",
            Self::Pipeline => "pipeline",
        }
    }

    /// Its weight in a common budget: what its points cost beside those of the others.
    fn weight(self) -> f64 {
        match self {
            Self::Model => 1.0,
            Self::Memory => 1.5,
            Self::Stack => 2.0,
            Self::Clock | Self::Decode => 0.5,
            Self::Pipeline => 1.0,
        }
    }

    /// Its steps.
    #[must_use]
    pub fn steps(self) -> usize {
        match self {
            Self::Model => 6,
            Self::Stack => 2,
            Self::Clock | Self::Decode | Self::Memory | Self::Pipeline => 1,
        }
    }

    /// Time that earlier sittings spent on it [s].
    #[must_use]
    pub fn spent(self, run: &Run) -> f64 {
        run.steps.iter().filter(|step| step.name == self.name()).map(|step| step.seconds).sum()
    }
}

impl Plan {
    /// The plan that a record was made by; none where it is not of a probe.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        let document = run.documents.iter().find(|document| document.name == PLAN)?;
        toml::from_str(&document.text).ok()
    }

    /// The plan as text.
    #[must_use]
    pub fn text(&self) -> String {
        toml::to_string(self)
            .unwrap_or_else(|error| format!("# the plan cannot be written: {error}"))
    }

    /// A part's share of the budget [s].
    #[must_use]
    pub fn budget_of(&self, part: Part) -> f64 {
        let all: f64 = self.parts.iter().map(|part| part.weight()).sum();
        self.budget_s * part.weight() / all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_again_from_its_record() {
        let clips = vec![PathBuf::from("film.mpg")];
        let (parts, peer) = (Part::ALL.to_vec(), Some("host:7777".into()));
        let plan = Plan { parts, budget_s: 60.0, clips, peer, cores: Some([0, 1, 0]) };
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        assert_eq!(Plan::of(&run), None);
        run.documents.push(bitpath_measure::run::Document { name: PLAN.into(), text: plan.text() });
        assert_eq!(Plan::of(&run), Some(plan));
    }

    #[test]
    fn the_parts_share_the_budget() {
        let (parts, clips) = (Part::ALL.to_vec(), Vec::new());
        let plan = Plan { parts, budget_s: 60.0, clips, peer: None, cores: None };
        let shares: f64 = Part::ALL.iter().map(|part| plan.budget_of(*part)).sum();
        assert!((shares - 60.0).abs() < 1e-9);
        let alone = Plan { parts: vec![Part::Memory], ..plan };
        assert!((alone.budget_of(Part::Memory) - 60.0).abs() < 1e-9);
    }
}
