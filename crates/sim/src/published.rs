//! Published measurements that the model is held against: `data/published` recomputed.
//!
//! ```text
//! data/published/*.csv ──► constants, fitted on the rows that a set names ──► model ──► predicted ──┐
//!          └────────────────────── the other rows ──────────────────────────────────► published ──┴─► error
//! ```
//!
//! Every prediction is computed by the simulator from inputs and constants; [`Set::fitted`] says
//! which constants came from which rows. A row that a constant was fitted on alone shows nothing,
//! and is left out or named there.

mod driver;
mod host_stack_2021;
pub mod hosts;
mod hosts_2004;
mod mpeg_2004;
mod pcie_2018;
pub mod pipeline;
mod queues;
mod record;
pub mod rtp_suite;
mod vod_2009;

pub use record::record;

use bitpath_measure::Unit;
use bitpath_measure::statistics::FitError;

use crate::table::TableError;

/// Names of the sets, in the order in which they are shown.
pub const NAMES: [&str; 8] = [
    "hosts-2004",
    "mpeg-2004",
    "driver-throughput",
    "driver-cpu-shares",
    "host-stack-2021",
    "pcie-2018",
    "vod-2009",
    "queues",
];

/// One published set with its predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Its name, one of [`NAMES`].
    pub name: &'static str,
    /// Paper and table.
    pub source: &'static str,
    /// Which constants were fitted on which rows, and what the set cannot show, in words.
    pub fitted: Vec<String>,
    /// Predictions beside what was published.
    pub points: Vec<Point>,
    /// What the errors of the set must fulfil together.
    pub criteria: Vec<Criterion>,
}

/// One quantity, predicted and published.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What it was measured on: host, transport, size, ...
    pub name: String,
    /// The quantity: `throughput`, `share`, ...
    pub quantity: &'static str,
    /// Unit of both values.
    pub unit: Unit,
    /// What the model says.
    pub predicted: f64,
    /// What was printed.
    pub published: f64,
    /// Tolerated magnitude of the error [ratio].
    pub tolerance: f64,
    /// What the error is taken relative to.
    pub scale: Scale,
}

/// What an error is taken relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The published value.
    Relative,
    /// The whole, of which both values are shares: 0.01 is one point.
    Share,
}

/// A figure of the whole set that must not exceed its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// What it is.
    pub name: &'static str,
    /// What it came to [ratio].
    pub value: f64,
    /// The most that it may be [ratio].
    pub limit: f64,
}

/// Why a set could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PublishedError {
    /// A name that no set has.
    #[error("there is no set `{name}`: allowed are {}", NAMES.join(", "))]
    NoSet {
        /// The name.
        name: String,
    },
    /// A table that cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A name that no host has.
    #[error("there is no host `{name}`: known are {}", hosts::NAMES.join(", "))]
    NoHost {
        /// The name.
        name: String,
    },
    /// A host file that is no profile.
    #[error("{file} is no host profile: {reason}")]
    Host {
        /// The file.
        file: &'static str,
        /// Why.
        reason: String,
    },
    /// A clip that is no film.
    #[error(transparent)]
    Film(#[from] bitpath_media::FilmError),
    /// Rows that fix no constants.
    #[error("{what} could not be fitted: {reason}")]
    Fit {
        /// The constants.
        what: String,
        /// Why.
        reason: FitError,
    },
}

impl Point {
    /// Predicted less published, relative to the scale [ratio].
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.predicted - self.published) / self.reference()
    }

    /// Whether the error is within the tolerance.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.error().abs() <= self.tolerance
    }

    /// The value that the difference is taken relative to.
    #[must_use]
    pub fn reference(&self) -> f64 {
        match self.scale {
            Scale::Relative => self.published,
            Scale::Share => 1.0,
        }
    }
}

impl Criterion {
    /// Whether the value is within the limit.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.value <= self.limit
    }
}

impl Set {
    /// Whether every point and every criterion is within its tolerance.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.points.iter().all(Point::passes) && self.criteria.iter().all(Criterion::passes)
    }

    /// Mean magnitude of the errors [ratio]; zero without points.
    #[must_use]
    pub fn mean_error(&self) -> f64 {
        let sum: f64 = self.points.iter().map(|point| point.error().abs()).sum();
        sum / self.points.len().max(1) as f64
    }

    /// The point with the largest error.
    #[must_use]
    pub fn worst(&self) -> Option<&Point> {
        self.points.iter().max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()))
    }
}

/// Computes the set of this name.
///
/// # Errors
/// When no set has the name, or its tables do not hold what it needs.
pub fn run(name: &str) -> Result<Set, PublishedError> {
    match name {
        "hosts-2004" => hosts_2004::set(),
        "mpeg-2004" => mpeg_2004::set(),
        "driver-throughput" => driver::throughput(),
        "driver-cpu-shares" => driver::cpu_shares(),
        "host-stack-2021" => host_stack_2021::set(),
        "pcie-2018" => pcie_2018::set(),
        "vod-2009" => vod_2009::set(),
        "queues" => queues::set(),
        _ => Err(PublishedError::NoSet { name: name.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes a set and fails with every point that is out of its tolerance.
    pub(super) fn assert_within_tolerance(name: &str) -> Set {
        let set = run(name).unwrap();
        assert_eq!((set.name, NAMES.contains(&name)), (name, true));
        let failed: Vec<String> = set
            .points
            .iter()
            .filter(|point| !point.passes())
            .map(|point| format!("{} {}: {:+.3}", point.name, point.quantity, point.error()))
            .collect();
        assert!(failed.is_empty(), "{failed:#?}");
        assert!(set.passes(), "{:#?}", set.criteria);
        assert!(!set.points.is_empty() && !set.fitted.is_empty());
        set
    }

    #[test]
    fn a_set_that_does_not_exist_is_refused_with_those_that_do() {
        let message = run("hosts").unwrap_err().to_string();
        assert!(message.contains("`hosts`") && message.contains("pcie-2018"), "{message}");
    }

    #[test]
    fn the_error_of_a_share_is_in_points_and_of_anything_else_relative() {
        let mut point = Point {
            name: "a".into(),
            quantity: "share",
            unit: Unit::Ratio,
            predicted: 0.22,
            published: 0.2,
            tolerance: 0.03,
            scale: Scale::Share,
        };
        assert!((point.error() - 0.02).abs() < 1e-12 && point.passes());
        point.scale = Scale::Relative;
        assert!((point.error() - 0.1).abs() < 1e-12 && !point.passes());
    }
}
