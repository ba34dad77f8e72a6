//! A unit that is put together from the packets of one timestamp.
//!
//! ```text
//! bytes: | parts that are whole ............ | part under way ... |
//!                                 committed ^                     ^ end
//! a gap, a malformed packet: the part under way goes, the unit is damaged
//! ```

use super::{Arrival, Integrity, Unit};
use crate::ProtoError;

/// The unit under way. Its buffer is kept from unit to unit.
#[derive(Debug)]
pub(super) struct Assembly {
    /// What a unit is called in errors.
    what: &'static str,
    max_bytes: usize,
    bytes: Vec<u8>,
    committed: usize,
    /// Timestamp and state, while a unit is under way.
    open: Option<(u32, Integrity)>,
    /// A gap was told with a packet that belongs to no unit.
    gap_noted: bool,
}

impl Assembly {
    pub(super) fn new(what: &'static str, max_bytes: usize) -> Self {
        Self { what, max_bytes, bytes: Vec::new(), committed: 0, open: None, gap_noted: false }
    }

    /// Whether packets are missing before this one. One without payload leaves its gap to the next.
    pub(super) fn gap_before(&mut self, arrival: &Arrival<'_>) -> bool {
        let gap = arrival.after_gap || self.gap_noted;
        self.gap_noted = gap && arrival.payload.is_empty();
        gap
    }

    /// Opens the unit of a packet, which ends that of another timestamp; whether it is a new one.
    pub(super) fn begin(
        &mut self,
        timestamp: u32,
        after_gap: bool,
        out: &mut impl FnMut(Unit<'_>),
    ) -> bool {
        if self.open.is_some() && after_gap {
            self.damage();
        }
        if self.is_under_way_before(timestamp) {
            self.finish(out);
        }
        let is_new = self.open.is_none();
        if is_new {
            let integrity = if after_gap { Integrity::Doubtful } else { Integrity::Whole };
            self.open = Some((timestamp, integrity));
        }
        is_new
    }

    /// Whether a unit of another timestamp is under way.
    pub(super) fn is_under_way_before(&self, timestamp: u32) -> bool {
        self.open.is_some_and(|(of, _)| of != timestamp)
    }

    /// Adds to the part under way.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), ProtoError> {
        let needed = self.bytes.len() + bytes.len();
        if needed > self.max_bytes {
            self.damage();
            return Err(ProtoError::NoRoom { what: self.what, needed, room: self.max_bytes });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The part under way is whole.
    pub(super) fn commit(&mut self) {
        self.committed = self.bytes.len();
    }

    /// The part under way; empty between parts.
    pub(super) fn part(&self) -> &[u8] {
        &self.bytes[self.committed..]
    }

    /// Something of the unit is missing: the part under way is of no use.
    pub(super) fn damage(&mut self) {
        self.bytes.truncate(self.committed);
        if let Some((_, integrity)) = &mut self.open {
            *integrity = Integrity::Damaged;
        }
    }

    /// The format shows that nothing was lost at the edge of the unit.
    pub(super) fn dispel_doubt(&mut self) {
        if let Some((_, integrity @ Integrity::Doubtful)) = &mut self.open {
            *integrity = Integrity::Whole;
        }
    }

    /// The unit ends without a packet that says so: its end is in doubt.
    pub(super) fn finish_in_doubt(&mut self, out: &mut impl FnMut(Unit<'_>)) {
        if let Some((_, integrity @ Integrity::Whole)) = &mut self.open {
            *integrity = Integrity::Doubtful;
        }
        self.finish(out);
    }

    /// Gives the unit, where one is under way, and is ready for the next.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(Unit<'_>)) {
        if self.bytes.len() > self.committed {
            self.damage();
        }
        // Nothing and whole: packets that the format says to ignore.
        if let Some((timestamp, integrity)) = self.open.take()
            && !(self.bytes.is_empty() && integrity == Integrity::Whole)
        {
            out(Unit { timestamp, data: &self.bytes, integrity });
        }
        self.bytes.clear();
        self.committed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(assembly: &mut Assembly) -> Vec<(u32, Vec<u8>, Integrity)> {
        let mut units = Vec::new();
        assembly.finish(&mut |unit| {
            units.push((unit.timestamp, unit.data.to_vec(), unit.integrity));
        });
        units
    }

    #[test]
    fn a_part_that_is_not_committed_goes_and_damages_the_unit() {
        let mut assembly = Assembly::new("unit", 10);
        assembly.begin(1, false, &mut |_| ());
        assembly.append(&[1, 2]).unwrap();
        assembly.commit();
        assembly.append(&[3]).unwrap();
        assert_eq!(assembly.part(), [3]);
        assert_eq!(ended(&mut assembly), [(1, vec![1, 2], Integrity::Damaged)]);
        assert_eq!(ended(&mut assembly), []);
    }

    #[test]
    fn a_unit_larger_than_its_bound_is_refused_and_the_next_is_whole() {
        let mut assembly = Assembly::new("unit", 4);
        assembly.begin(1, false, &mut |_| ());
        assembly.append(&[1; 3]).unwrap();
        let refused = assembly.append(&[1; 2]).unwrap_err();
        assert_eq!(refused, ProtoError::NoRoom { what: "unit", needed: 5, room: 4 });
        let mut of_before = None;
        assembly.begin(2, false, &mut |unit| of_before = Some((unit.timestamp, unit.integrity)));
        assert_eq!(of_before, Some((1, Integrity::Damaged)));
        assembly.append(&[9; 4]).unwrap();
        assembly.commit();
        assert_eq!(ended(&mut assembly), [(2, vec![9; 4], Integrity::Whole)]);
    }

    #[test]
    fn a_gap_told_with_an_empty_packet_counts_for_the_next() {
        let mut assembly = Assembly::new("unit", 4);
        let empty = Arrival { payload: &[], timestamp: 1, marker: false, after_gap: true };
        assert!(assembly.gap_before(&empty));
        let next = Arrival { payload: &[1], after_gap: false, ..empty };
        assert!(assembly.gap_before(&next));
        assert!(!assembly.gap_before(&next));
    }
}
