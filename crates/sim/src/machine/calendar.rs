//! One pending event for each component, the earliest first: an array that is scanned where they are
//! few, a winner tree over it where they are many.
//!
//! ```text
//!              earliest id
//!           ┌──────┴──────┐
//!         winner        winner          setting a time replays one path: log2(components) steps
//!        ┌──┴──┐       ┌──┴──┐
//!       id 0  id 1    id 2  id 3        times [ps]
//! ```
//!
//! Of events at one instant the one with the lower number goes first.

/// No event pending.
pub(super) const NEVER: u64 = u64::MAX;

/// Most components that are scanned: a scan of these takes as long as the two replays that a tree
/// needs for each event.
const SCANNED: usize = 48;

/// Times of the next events.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    times: Vec<u64>,
    /// Winners from the root at 1 down; the leaves are the components themselves. None where the
    /// times are scanned.
    winners: Vec<u32>,
    /// The component that was taken last and not set since: mostly it is set again at once, so that
    /// its path is replayed only once.
    taken: Option<usize>,
}

impl Calendar {
    /// So many components, none with an event.
    pub(super) fn new(components: usize) -> Self {
        if components <= SCANNED {
            let times = vec![NEVER; components.max(1)];
            return Self { times, winners: Vec::new(), taken: None };
        }
        Self::with_tree(components)
    }

    #[expect(clippy::cast_possible_truncation, reason = "components are bounded by the setup")]
    fn with_tree(components: usize) -> Self {
        let leaves = components.next_power_of_two().max(2);
        let mut winners = vec![0; leaves];
        // Without any event the lowest number wins everywhere.
        for node in (1..leaves).rev() {
            let left = 2 * node;
            winners[node] = if left >= leaves { (left - leaves) as u32 } else { winners[left] };
        }
        Self { times: vec![NEVER; leaves], winners, taken: None }
    }

    /// The time of a component's event.
    #[inline]
    pub(super) fn time(&self, id: usize) -> u64 {
        self.times[id]
    }

    /// Sets or moves a component's event; `NEVER` takes it away.
    #[inline]
    pub(super) fn set(&mut self, id: usize, time: u64) {
        if self.winners.is_empty() {
            self.times[id] = time;
            return;
        }
        let taken = self.taken.take();
        if let Some(other) = taken.filter(|taken| *taken != id) {
            self.replay(other);
        }
        if taken == Some(id) || self.times[id] != time {
            self.times[id] = time;
            self.replay(id);
        }
    }

    /// Replays the path from a component to the root.
    fn replay(&mut self, id: usize) {
        let leaves = self.winners.len();
        let mut node = (id + leaves) / 2;
        let (even, odd) = (id & !1, id | 1);
        let mut winner = if self.times[odd] < self.times[even] { odd } else { even };
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "an index of a component")]
            let number = winner as u32;
            self.winners[node] = number;
            if node == 1 {
                return;
            }
            let rival = self.winners[node ^ 1] as usize;
            node /= 2;
            let (low, high) = if winner < rival { (winner, rival) } else { (rival, winner) };
            winner = if self.times[high] < self.times[low] { high } else { low };
        }
    }

    /// The component with the earliest event, and its time.
    #[inline]
    fn earliest(&mut self) -> (usize, u64) {
        if self.winners.is_empty() {
            let (mut first, mut earliest) = (0, self.times[0]);
            for (id, time) in self.times.iter().enumerate().skip(1) {
                if *time < earliest {
                    (first, earliest) = (id, *time);
                }
            }
            return (first, earliest);
        }
        if let Some(taken) = self.taken.take() {
            self.replay(taken);
        }
        let id = self.winners[1] as usize;
        (id, self.times[id])
    }

    /// Whether any event is pending.
    pub(super) fn pending(&mut self) -> bool {
        self.earliest().1 != NEVER
    }

    /// The earliest event up to and including a time; it is taken away.
    #[inline]
    pub(super) fn pop_until(&mut self, end: u64) -> Option<(usize, u64)> {
        let (id, time) = self.earliest();
        if time == NEVER || time > end {
            return None;
        }
        self.times[id] = NEVER;
        self.taken = Some(id);
        Some((id, time))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_the_order_of_time_then_number(
            components in 1..100_usize,
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0..50_u64, any::<bool>()), 1..300),
        ) {
            let mut calendar = Calendar::new(components);
            let mut known: BTreeSet<(u64, usize)> = BTreeSet::new();
            for (index, time, pops) in steps {
                if pops {
                    let first = known.pop_first();
                    prop_assert_eq!(calendar.pop_until(NEVER), first.map(|(time, id)| (id, time)));
                } else {
                    let id = index.index(components);
                    known.retain(|(_, other)| *other != id);
                    known.insert((time, id));
                    calendar.set(id, time);
                    prop_assert_eq!(calendar.time(id), time);
                }
            }
        }
    }
}
