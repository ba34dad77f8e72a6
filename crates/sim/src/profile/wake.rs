//! Waking a receiver that sleeps in its read: the longer it slept, the deeper its processor.
//!
//! Between the packets of a stream the processor has hardly begun to sleep, or still polls; before a frame
//! it sleeps deeply. How the costs rise in between is a property of the processor, the kernel and, in a
//! guest, of the host below: it is measured at several lengths, and linear between two of them.

use bitpath_measure::Picos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sourced;
use crate::bounds;

/// Costs of a wake-up by how long the receiver slept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<WakeCost>", into = "Vec<WakeCost>")]
pub struct Wake(Vec<WakeCost>);

/// One wake-up of a receiver that sleeps in its read, after a sleep of one length: the longer it slept, the
/// deeper its processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WakeCost {
    /// How long it slept [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub slept: Sourced<Picos>,
    /// Processor time that the sender's core spends on it [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub sender: Sourced<Picos>,
    /// Processor time that the receiver spends on falling asleep and coming back [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub receiver: Sourced<Picos>,
    /// From the arrival of the packet until the receiver runs, on average [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub latency: Sourced<Picos>,
    /// How much longer or shorter that may take: latencies are spread evenly over twice this [ps].
    #[serde(deserialize_with = "bounds::sourced_cost")]
    pub jitter: Sourced<Picos>,
}

/// What one wake-up costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeUp {
    /// Processor time of the sender's core [ps].
    pub sender: u64,
    /// Processor time of the receiver [ps].
    pub receiver: u64,
    /// From the arrival of the packet until the receiver runs, on average [ps].
    pub latency: u64,
    /// How much longer or shorter that may take [ps].
    pub jitter: u64,
}

/// Why costs are no curve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WakeError {
    /// There are none.
    #[error("a wake-up needs its costs after a sleep of at least one length")]
    Empty,
    /// A sleep is not longer than the one before it.
    #[error(
        "the sleeps before a wake-up go from the shortest to the longest, each once: {0} ps comes too late"
    )]
    Order(u64),
}

impl TryFrom<Vec<WakeCost>> for Wake {
    type Error = WakeError;

    fn try_from(costs: Vec<WakeCost>) -> Result<Self, WakeError> {
        if costs.is_empty() {
            return Err(WakeError::Empty);
        }
        let late = costs.windows(2).find(|pair| pair[1].slept.value <= pair[0].slept.value);
        late.map_or(Ok(()), |pair| Err(WakeError::Order(pair[1].slept.value.0)))?;
        Ok(Self(costs))
    }
}

impl From<Wake> for Vec<WakeCost> {
    fn from(wake: Wake) -> Self {
        wake.0
    }
}

impl Wake {
    /// The costs, from the shortest sleep to the longest.
    #[must_use]
    pub fn costs(&self) -> &[WakeCost] {
        &self.0
    }

    /// Changes every cost; the lengths of sleep stay.
    pub fn change(&mut self, change: impl Fn(&mut Sourced<Picos>)) {
        for WakeCost { slept: _, sender, receiver, latency, jitter } in &mut self.0 {
            [sender, receiver, latency, jitter].into_iter().for_each(&change);
        }
    }

    /// Costs of a wake-up after a sleep. Shorter than the shortest and longer
    /// than the longest of the lengths that are known, they are those of these.
    #[must_use]
    pub fn after(&self, slept: Picos) -> WakeUp {
        let longer = self.0.partition_point(|cost| cost.slept.value < slept);
        let b = &self.0[longer.min(self.0.len() - 1)];
        let a = &self.0[longer.saturating_sub(1)];
        let (short, long) = (a.slept.value.0, b.slept.value.0);
        let way = slept.0.clamp(short, long) - short;
        let depth = way as f64 / (long - short).max(1) as f64;
        let of = |cost: fn(&WakeCost) -> &Sourced<Picos>| {
            between(cost(a).value.0, cost(b).value.0, depth)
        };
        WakeUp {
            sender: of(|cost| &cost.sender),
            receiver: of(|cost| &cost.receiver),
            latency: of(|cost| &cost.latency),
            jitter: of(|cost| &cost.jitter),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between two positive times"
)]
fn between(a: u64, b: u64, depth: f64) -> u64 {
    (a as f64 + (b as f64 - a as f64) * depth) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(slept: u64, all: u64) -> WakeCost {
        let of = |picos| Sourced::assumed(Picos(picos), "test");
        WakeCost {
            slept: of(slept),
            sender: of(all),
            receiver: of(2 * all),
            latency: of(3 * all),
            jitter: of(all),
        }
    }

    #[test]
    fn costs_rise_linearly_between_two_sleeps_and_no_further() {
        let wake = Wake::try_from(vec![cost(1000, 10), cost(2000, 20), cost(6000, 100)]).unwrap();
        let sender = |slept| wake.after(Picos(slept)).sender;
        assert_eq!(
            [0, 1000, 1500, 2000, 4000, 6000, 9000].map(sender),
            [10, 10, 15, 20, 60, 100, 100]
        );
        let middle = WakeUp { sender: 15, receiver: 30, latency: 45, jitter: 15 };
        assert_eq!(wake.after(Picos(1500)), middle);
    }

    #[test]
    fn one_length_serves_for_all() {
        let wake = Wake::try_from(vec![cost(1000, 10)]).unwrap();
        assert_eq!([0, 1000, 5000].map(|slept| wake.after(Picos(slept)).sender), [10, 10, 10]);
    }

    #[test]
    fn sleeps_out_of_order_and_none_at_all_are_refused() {
        let twice = Wake::try_from(vec![cost(1000, 10), cost(1000, 20)]);
        assert_eq!(twice, Err(WakeError::Order(1000)));
        assert_eq!(Wake::try_from(Vec::new()), Err(WakeError::Empty));
    }
}
