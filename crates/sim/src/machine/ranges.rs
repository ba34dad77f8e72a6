//! Segments beyond a hole, as ranges: what a receiver holds, and what a sender knows of it from
//! selective acknowledgements (RFC 2018).

use std::collections::BTreeMap;

/// Begin and end of a range of segments; the end is not part of it. Nothing where both are equal.
pub(super) type Range = (u64, u64);

/// A set of segment numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    /// Ends by begins; no two ranges touch.
    ends: BTreeMap<u64, u64>,
    count: u64,
}

impl Ranges {
    /// How many segments.
    pub(super) fn len(&self) -> u64 {
        self.count
    }

    /// The lowest range.
    pub(super) fn first(&self) -> Option<Range> {
        self.ends.first_key_value().map(|(begin, end)| (*begin, *end))
    }

    /// The end of the highest range; 0 where there is none.
    pub(super) fn end(&self) -> u64 {
        self.ends.last_key_value().map_or(0, |(_, end)| *end)
    }

    /// The range that a segment is in.
    pub(super) fn containing(&self, segment: u64) -> Option<Range> {
        if self.count == 0 {
            return None;
        }
        let (begin, end) = self.ends.range(..=segment).next_back()?;
        (*end > segment).then_some((*begin, *end))
    }

    /// Adds a range, and returns the one that it is part of now.
    pub(super) fn add(&mut self, (mut begin, mut end): Range) -> Range {
        while let Some((&other, &until)) = self.ends.range(..=end).next_back()
            && until >= begin
        {
            self.ends.remove(&other);
            self.count -= until - other;
            (begin, end) = (begin.min(other), end.max(until));
        }
        self.ends.insert(begin, end);
        self.count += end - begin;
        (begin, end)
    }

    /// Forgets everything before a segment.
    pub(super) fn remove_below(&mut self, segment: u64) {
        while let Some((begin, end)) = self.first().filter(|(begin, _)| *begin < segment) {
            self.ends.remove(&begin);
            self.count -= end - begin;
            if end > segment {
                self.ends.insert(segment, end);
                self.count += end - segment;
            }
        }
    }

    /// How many segments from `from` to before `to`.
    pub(super) fn within(&self, from: u64, to: u64) -> u64 {
        let before = self.containing(from).map_or(0, |(_, end)| end.min(to).saturating_sub(from));
        let begin = from.saturating_add(1);
        if begin >= to {
            return before;
        }
        let inside = self.ends.range(begin..to).map(|(begin, end)| (*end).min(to) - begin);
        before + inside.sum::<u64>()
    }

    /// The begin of the highest range that has, with those above it, at least so many segments.
    pub(super) fn begin_of_last(&self, segments: u64) -> Option<u64> {
        let mut above = 0;
        self.ends.iter().rev().find_map(|(begin, end)| {
            above += end - begin;
            (above >= segments).then_some(*begin)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_the_set_of_their_segments(
            steps in prop::collection::vec((0..60_u64, 1..5_u64, 0..10_u32), 1..80),
        ) {
            let (mut ranges, mut known) = (Ranges::default(), BTreeSet::new());
            for (begin, length, kind) in steps {
                if kind == 0 {
                    ranges.remove_below(begin);
                    known.retain(|segment| *segment >= begin);
                } else {
                    let (from, to) = ranges.add((begin, begin + length));
                    known.extend(begin..begin + length);
                    prop_assert!((from..to).all(|segment| known.contains(&segment)));
                    prop_assert!(!known.contains(&to) && (from == 0 || !known.contains(&(from - 1))));
                }
                prop_assert_eq!(ranges.len(), known.len() as u64);
                prop_assert_eq!(ranges.containing(begin).is_some(), known.contains(&begin));
                let inside = known.range(begin..begin + length).count() as u64;
                prop_assert_eq!(ranges.within(begin, begin + length), inside);
                let third = known.iter().rev().nth(2).copied();
                let last = ranges.begin_of_last(3);
                prop_assert_eq!(last.is_some(), third.is_some());
                if let (Some(last), Some(third)) = (last, third) {
                    prop_assert_eq!(ranges.containing(third).map(|range| range.0), Some(last));
                }
            }
        }
    }
}
