//! The receiver's input buffer (section III-B): packets lie in it one behind the other until they are played. At its
//! end the next goes to the beginning again, whether what lies there was played or not.
//!
//! ```text
//! │ 400 │ 401 │ 402 │...│ 21 │ 22 │ 23 │...│ 398 │ 399 │   │
//!                     ▲ next: 403 takes the place of 21
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use bitpath_proto::rtp::FIXED_HEADER_BYTES;

use super::INPUT_BYTES;

/// The buffer.
#[derive(Debug)]
pub struct InputRing {
    bytes: Box<[u8]>,
    /// Where the next packet goes, if there is room behind.
    next: usize,
    /// What lies in it, oldest first.
    places: VecDeque<Place>,
}

/// Where a packet lies, and its number once that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its bytes.
    pub range: Range<usize>,
    /// Its number, where it waits for its turn.
    pub number: Option<u64>,
}

impl Default for InputRing {
    fn default() -> Self {
        Self {
            bytes: vec![0; INPUT_BYTES].into(),
            next: 0,
            // No packet is shorter than its header, so that this never grows.
            places: VecDeque::with_capacity(INPUT_BYTES / FIXED_HEADER_BYTES + 1),
        }
    }
}

impl InputRing {
    /// Where a packet of this size would go; none where it is larger than the buffer.
    #[must_use]
    pub fn place_for(&self, bytes: usize) -> Option<Range<usize>> {
        let begin = if self.next + bytes <= self.bytes.len() { self.next } else { 0 };
        (bytes <= self.bytes.len()).then(|| begin..begin + bytes)
    }

    /// The oldest packet, where a new one at this place would overwrite it.
    #[must_use]
    pub fn in_the_way(&self, range: &Range<usize>) -> Option<&Place> {
        self.places.front().filter(|old| overlap(&old.range, range))
    }

    /// Forgets the oldest packet.
    pub fn forget_oldest(&mut self) {
        self.places.pop_front();
    }

    /// Puts a packet where nothing is in the way.
    pub fn put(&mut self, range: Range<usize>, packet: &[u8]) {
        self.bytes[range.clone()].copy_from_slice(packet);
        self.next = range.end;
        self.places.push_back(Place { range, number: None });
    }

    /// Says which number the packet has that was put last.
    pub fn number_last(&mut self, number: u64) {
        if let Some(place) = self.places.back_mut() {
            place.number = Some(number);
        }
    }

    /// A packet's bytes.
    #[must_use]
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_does_not_fit_behind_goes_to_the_beginning_and_is_in_the_way_of_the_oldest() {
        let mut ring = InputRing::default();
        for number in 0..6 {
            let range = ring.place_for(10_000).unwrap();
            assert_eq!(ring.in_the_way(&range), None);
            ring.put(range, &[7; 10_000]);
            ring.number_last(number);
        }
        let range = ring.place_for(10_000).unwrap();
        assert_eq!(range, 0..10_000);
        assert_eq!(ring.in_the_way(&range), Some(&Place { range: 0..10_000, number: Some(0) }));
        ring.forget_oldest();
        assert_eq!(ring.in_the_way(&range), None);
        assert_eq!(ring.place_for(INPUT_BYTES + 1), None);
    }
}
