//! Figures drawn from samples, and courses over time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::{Key, Labels, Unit};
use crate::statistics::Estimate;

/// One number with its interval, unit and conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Dotted name of the quantity; with its labels the same as its series', where it has one.
    pub name: String,
    /// The conditions.
    pub labels: Labels,
    /// The unit of the estimate.
    pub unit: Unit,
    /// The value and its interval.
    pub estimate: Estimate,
}

impl Figure {
    /// What tells it from every other figure; that of its series, where it has one.
    #[must_use]
    pub fn key(&self) -> Key<'_> {
        (&self.name, &self.labels, self.unit)
    }

    /// Figures by their keys; of several under one key, the first.
    pub(crate) fn index<'a>(
        figures: impl IntoIterator<Item = &'a Self>,
    ) -> BTreeMap<Key<'a>, &'a Self> {
        let mut index = BTreeMap::new();
        for figure in figures {
            index.entry(figure.key()).or_insert(figure);
        }
        index
    }
}

/// How one quantity went over time, simulated or measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Dotted name of the quantity, for example `kernel_buffer.used`.
    pub name: String,
    /// The conditions: scenario, engine, ...
    pub labels: Labels,
    /// The unit of the values.
    pub unit: Unit,
    /// Largest value that it could take, where it is bounded: a buffer's size.
    pub limit: Option<f64>,
    /// Time [s] and value of every point.
    pub points: Vec<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_figures_under_one_key_the_index_holds_the_first() {
        let figure = |unit, value| Figure {
            name: "clock.step".into(),
            labels: Labels::new(),
            unit,
            estimate: Estimate::single(value),
        };
        let (ns, cycles) = (Unit::Nanoseconds, Unit::TscCycles);
        let figures = [figure(ns, 1.0), figure(ns, 2.0), figure(cycles, 3.0)];
        let index = Figure::index(&figures);
        assert_eq!(index.len(), 2);
        assert_eq!(index[&figures[1].key()].estimate.value, 1.0);
        assert_eq!(index[&figures[2].key()].estimate.value, 3.0);
    }
}
