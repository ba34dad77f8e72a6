//! Raw samples with their unit: what was read, before anything is concluded from it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::steady_from;

/// What tells one series from another of the same name: message size, transport, side, ...
pub type Labels = BTreeMap<String, String>;

/// What tells one series, or one figure, of a record from every other: name, labels and unit.
pub type Key<'a> = (&'a str, &'a Labels, Unit);

/// The unit of a number in a record.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Unit {
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Bytes a second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Bits a second.
    #[serde(rename = "b/s")]
    BitsPerSecond,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Nanoseconds of processor time for a byte.
    #[serde(rename = "ns/B")]
    NanosecondsPerByte,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Time stamp counter cycles, not core cycles: the counter runs at a constant rate.
    #[serde(rename = "TSC cycles")]
    TscCycles,
    /// Time stamp counter cycles for a byte.
    #[serde(rename = "TSC cycles/B")]
    TscCyclesPerByte,
    /// Time stamp counter cycles for a bit: the GHz that a Gb/s needs.
    #[serde(rename = "TSC cycles/b")]
    TscCyclesPerBit,
    /// Events a second.
    #[serde(rename = "Hz")]
    Hertz,
    /// Packets.
    #[serde(rename = "packets")]
    Packets,
    /// Packets a second.
    #[serde(rename = "packets/s")]
    PacketsPerSecond,
    /// Frames of video.
    #[serde(rename = "frames")]
    Frames,
    /// Frames a second.
    #[serde(rename = "frames/s")]
    FramesPerSecond,
    /// A plain count of what the name says.
    #[serde(rename = "count")]
    Count,
    /// A number without dimension; 1 is the whole.
    #[serde(rename = "ratio")]
    Ratio,
    /// Cores fully used; 1 is one core.
    #[serde(rename = "cores")]
    Cores,
    /// Events for a byte.
    #[serde(rename = "1/B")]
    PerByte,
    /// Cycles of a core, counted or modelled.
    #[serde(rename = "cycles")]
    Cycles,
    /// Instructions executed.
    #[serde(rename = "instructions")]
    Instructions,
    /// Events for a cycle of the core.
    #[serde(rename = "1/cycle")]
    PerCycle,
    /// A year of the calendar.
    #[serde(rename = "year")]
    Year,
}

impl Unit {
    /// The unit as written in tables and on axes.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::BitsPerSecond => "b/s",
            Self::Nanoseconds => "ns",
            Self::NanosecondsPerByte => "ns/B",
            Self::Seconds => "s",
            Self::TscCycles => "TSC cycles",
            Self::TscCyclesPerByte => "TSC cycles/B",
            Self::TscCyclesPerBit => "TSC cycles/b",
            Self::Hertz => "Hz",
            Self::Packets => "packets",
            Self::PacketsPerSecond => "packets/s",
            Self::Frames => "frames",
            Self::FramesPerSecond => "frames/s",
            Self::Count => "count",
            Self::Ratio => "ratio",
            Self::Cores => "cores",
            Self::PerByte => "1/B",
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::PerCycle => "1/cycle",
            Self::Year => "year",
        }
    }
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The value in the unit of its series.
    pub value: f64,
    /// When it was taken, since the run began [s].
    pub at_s: f64,
    /// Speed of the machine beside this sample, as a fraction of its median over the run.
    pub machine_speed: f64,
    /// Processor time that other processes and the hypervisor took meanwhile [cores].
    pub other_load_cores: f64,
}

impl Sample {
    /// A value that was computed: no machine read it, at no time.
    #[must_use]
    pub fn computed(value: f64) -> Self {
        Self { value, at_s: 0.0, machine_speed: 1.0, other_load_cores: 0.0 }
    }

    /// Whether others used so much of the machine that the reading says more about them.
    #[must_use]
    pub fn disturbed(&self) -> bool {
        self.other_load_cores > DISTURBING_LOAD
    }
}

/// Work of others above which a reading is disturbed [cores]: an idle system's own chores stay
/// below a tenth, a busy neighbour takes a core.
pub const DISTURBING_LOAD: f64 = 0.2;

/// Readings of one quantity under one set of conditions, in the order they were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Dotted name of the quantity, for example `stack.send.cost`.
    pub name: String,
    /// The conditions.
    pub labels: Labels,
    /// The unit of every value.
    pub unit: Unit,
    /// Readings at the front that were taken while things warmed up: kept, but not counted.
    #[serde(default)]
    pub warm_up: usize,
    /// The readings.
    pub samples: Vec<Sample>,
}

impl Series {
    /// An empty series.
    #[must_use]
    pub fn new(name: &str, labels: Labels, unit: Unit) -> Self {
        Self { name: name.into(), labels, unit, warm_up: 0, samples: Vec::new() }
    }

    /// What tells it from every other series.
    #[must_use]
    pub fn key(&self) -> Key<'_> {
        (&self.name, &self.labels, self.unit)
    }

    /// The values that count, in order: those behind the warm-up, and of these the undisturbed
    /// ones where they are at least half.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        let warm: Vec<&Sample> = self.samples.iter().skip(self.warm_up).collect();
        let calm: Vec<f64> =
            warm.iter().filter(|sample| !sample.disturbed()).map(|sample| sample.value).collect();
        if calm.len() * 2 >= warm.len() {
            calm
        } else {
            warm.iter().map(|sample| sample.value).collect()
        }
    }

    /// Moves the end of the warm-up to where the data says that the steady state begins, where
    /// there are enough readings to say it.
    pub fn find_steady_state(&mut self) {
        let values: Vec<f64> =
            self.samples.iter().skip(self.warm_up).map(|sample| sample.value).collect();
        if values.len() >= ENOUGH_FOR_STEADY_STATE {
            self.warm_up += steady_from(&values);
        }
    }
}

/// Readings below which a rule for the steady state would only follow noise.
const ENOUGH_FOR_STEADY_STATE: usize = 20;

/// Labels from pairs, for short calls.
#[must_use]
pub fn labels<const N: usize>(pairs: [(&str, &str); N]) -> Labels {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_readings_count_only_where_most_are() {
        let sample =
            |value: f64| Sample { value, at_s: 0.0, machine_speed: 1.0, other_load_cores: value };
        let mut series = Series::new("a", labels([]), Unit::Seconds);
        series.samples.extend([0.0, 0.1, 0.9].map(sample));
        assert_eq!(series.values(), [0.0, 0.1]);
        series.samples.extend([0.8, 0.7].map(sample));
        assert_eq!(series.values().len(), 5);
    }

    #[test]
    fn a_warm_up_is_kept_but_not_counted() {
        let mut series = Series::new("a", labels([]), Unit::Seconds);
        let sample = |value| Sample { value, at_s: 0.0, machine_speed: 1.0, other_load_cores: 0.0 };
        series.samples.extend([90.0, 50.0].map(sample));
        series.samples.extend((0..30).map(|i| sample(10.0 + f64::from(i % 2))));
        series.find_steady_state();
        assert_eq!((series.warm_up, series.samples.len(), series.values().len()), (2, 32, 30));
    }
}
