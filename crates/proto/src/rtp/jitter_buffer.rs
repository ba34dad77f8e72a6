//! The jitter buffer: packets wait in the order of their numbers until it is their turn (section III-B of the
//! RTP/RTCP benchmark paper).
//!
//! ```text
//!                next to play                      next + capacity
//!  played, late ──┬──────────────────────────────────────┬── beyond: play first
//!                 │ 12 │ 13 │    │ 15 │    │    │ 18 │   │
//! ```
//!
//! A number's place is the number itself modulo the capacity: nothing is compared with others, nothing
//! shifts, whatever the order of arrival.

/// Packets by their number, `T` whatever stands for one: its bytes, or where they lie.
#[derive(Clone, Debug)]
pub struct JitterBuffer<T> {
    slots: Box<[Option<T>]>,
    /// Number whose turn is next; `None` before the first packet.
    next: Option<u64>,
    /// Packets that wait [packets].
    waiting: usize,
    /// Packets that wait before one is played [packets].
    threshold: usize,
    /// Whether a packet was played, or given up, so that earlier ones are too late.
    playing: bool,
}

/// Why a packet was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Its turn is over.
    Late,
    /// It waits already.
    Duplicate,
    /// It is further ahead than there are places: some must be played first.
    Beyond,
}

/// Whose turn it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn<T> {
    /// This packet's.
    Played(u64, T),
    /// That of a packet that did not come in time.
    Lost(u64),
}

impl<T> JitterBuffer<T> {
    /// A buffer with places for `capacity` packets, rounded up to a power of two, of which more than `threshold`
    /// wait before one is played. The threshold is at most a place less than there are.
    #[must_use]
    pub fn new(capacity: usize, threshold: usize) -> Self {
        let places = capacity.max(1).next_power_of_two();
        Self {
            slots: (0..places).map(|_| None).collect(),
            next: None,
            waiting: 0,
            threshold: threshold.min(places - 1),
            playing: false,
        }
    }

    /// Takes a packet, or gives it back with the reason.
    ///
    /// # Errors
    /// When its turn is over, when it waits already, or when it is too far ahead.
    #[inline]
    pub fn insert(&mut self, number: u64, packet: T) -> Result<(), (Refused, T)> {
        let Some(next) = self.next else {
            self.next = Some(number);
            return self.place(number, packet);
        };
        if number < next {
            return self.before_the_first(next, number, packet);
        }
        if number - next >= self.slots.len() as u64 {
            return Err((Refused::Beyond, packet));
        }
        self.place(number, packet)
    }

    /// Until one is played, packets that the first overtook still come in time, as far as there is room for the
    /// highest that waits.
    #[cold]
    fn before_the_first(&mut self, next: u64, number: u64, packet: T) -> Result<(), (Refused, T)> {
        let places = self.slots.len() as u64;
        let highest = (next..next + places).rev().find(|number| self.holds(*number));
        if self.playing || highest.is_some_and(|highest| highest - number >= places) {
            return Err((Refused::Late, packet));
        }
        self.next = Some(number);
        self.place(number, packet)
    }

    #[inline]
    fn place(&mut self, number: u64, packet: T) -> Result<(), (Refused, T)> {
        let slot = &mut self.slots[index(number, self.slots.len())];
        if slot.is_some() {
            return Err((Refused::Duplicate, packet));
        }
        *slot = Some(packet);
        self.waiting += 1;
        Ok(())
    }

    fn holds(&self, number: u64) -> bool {
        self.slots[index(number, self.slots.len())].is_some()
    }

    /// Whose turn it is, once more packets wait than the threshold. One that has not come by then is lost.
    #[inline]
    pub fn pop(&mut self) -> Option<Turn<T>> {
        if self.waiting > self.threshold { self.pop_now() } else { None }
    }

    /// Whose turn it is, however few wait; none when none waits.
    #[inline]
    pub fn pop_now(&mut self) -> Option<Turn<T>> {
        if self.waiting > 0 { self.turn() } else { None }
    }

    /// Whose turn it is before there is a place for this number; none when there is one. Behind a gap wider
    /// than the buffer these are turns of packets that nobody waits for any more.
    #[inline]
    pub fn make_room(&mut self, number: u64) -> Option<Turn<T>> {
        let ahead = number.saturating_sub(self.next?);
        if ahead >= self.slots.len() as u64 { self.turn() } else { None }
    }

    #[inline]
    fn turn(&mut self) -> Option<Turn<T>> {
        let number = self.next?;
        self.next = Some(number + 1);
        self.playing = true;
        let Some(packet) = self.slots[index(number, self.slots.len())].take() else {
            return Some(Turn::Lost(number));
        };
        self.waiting -= 1;
        Some(Turn::Played(number, packet))
    }

    /// Takes out a packet whose bytes are no more; at its turn it is lost.
    #[inline]
    pub fn remove(&mut self, number: u64) -> Option<T> {
        let ahead = number.checked_sub(self.next?)?;
        let waits = ahead < self.slots.len() as u64;
        let packet = self.slots[index(number, self.slots.len())].take_if(|_| waits)?;
        self.waiting -= 1;
        Some(packet)
    }

    /// Number whose turn is next; none before the first packet.
    #[inline]
    #[must_use]
    pub fn next_number(&self) -> Option<u64> {
        self.next
    }

    /// Takes out everything that waits and begins with the next packet, whatever its number: the source has
    /// started again.
    pub fn restart(&mut self) {
        self.slots.iter_mut().for_each(|slot| *slot = None);
        (self.next, self.waiting, self.playing) = (None, 0, false);
    }

    /// Packets that wait [packets].
    #[inline]
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Places for packets [packets].
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }
}

/// Place of a number among a power of two of them.
#[inline]
fn index(number: u64, places: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the lower bits are asked for")]
    let low = number as usize;
    low & (places - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Turn::{Lost, Played};
    use super::*;

    /// Turns of packets that come in this order, each played as soon as it may be, and the rest at the end.
    fn turns(capacity: usize, threshold: usize, arrivals: &[u64]) -> Vec<Turn<u64>> {
        let mut buffer = JitterBuffer::new(capacity, threshold);
        let mut turns = Vec::new();
        for number in arrivals {
            turns.extend(std::iter::from_fn(|| buffer.make_room(*number)));
            let refused = buffer.insert(*number, *number).err();
            assert!(refused.is_none_or(|(why, _)| why == Refused::Late));
            turns.extend(buffer.pop());
        }
        turns.extend(std::iter::from_fn(|| buffer.pop_now()));
        turns
    }

    #[test]
    fn nothing_is_played_before_the_threshold_is_passed() {
        let mut buffer = JitterBuffer::new(8, 2);
        for (number, played) in
            [(5, None), (6, None), (7, Some(Played(5, ()))), (8, Some(Played(6, ())))]
        {
            buffer.insert(number, ()).unwrap();
            assert_eq!(buffer.pop(), played);
        }
    }

    #[test]
    fn packets_are_played_in_the_order_of_their_numbers_across_a_wrap_of_the_places() {
        let played: Vec<Turn<u64>> = (6..14).map(|number| Played(number, number)).collect();
        assert_eq!(turns(4, 2, &[6, 8, 7, 10, 9, 11, 13, 12]), played);
    }

    #[test]
    fn a_packet_that_never_comes_is_lost_once() {
        assert_eq!(
            turns(8, 1, &[1, 2, 4, 5]),
            [Played(1, 1), Played(2, 2), Lost(3), Played(4, 4), Played(5, 5)]
        );
    }

    #[test]
    fn late_packets_and_duplicates_are_given_back() {
        let mut buffer = JitterBuffer::new(8, 0);
        buffer.insert(3, 'a').unwrap();
        assert_eq!(buffer.insert(3, 'b'), Err((Refused::Duplicate, 'b')));
        assert_eq!(buffer.pop(), Some(Played(3, 'a')));
        assert_eq!(buffer.insert(3, 'c'), Err((Refused::Late, 'c')));
        assert_eq!(buffer.insert(2, 'd'), Err((Refused::Late, 'd')));
    }

    #[test]
    fn the_first_packets_may_come_in_any_order() {
        assert_eq!(turns(8, 2, &[12, 11, 10]), [Played(10, 10), Played(11, 11), Played(12, 12)]);
        let mut buffer = JitterBuffer::new(4, 3);
        buffer.insert(12, ()).unwrap();
        assert_eq!(buffer.insert(8, ()), Err((Refused::Late, ())));
        assert_eq!(buffer.insert(9, ()), Ok(()));
    }

    #[test]
    fn a_packet_beyond_the_places_waits_until_others_were_played() {
        let mut buffer = JitterBuffer::new(4, 3);
        buffer.insert(1, ()).unwrap();
        assert_eq!(buffer.insert(5, ()), Err((Refused::Beyond, ())));
        assert_eq!(buffer.make_room(5), Some(Played(1, ())));
        assert_eq!((buffer.make_room(5), buffer.insert(5, ())), (None, Ok(())));
        assert_eq!(buffer.waiting(), 1);
    }

    #[test]
    fn behind_a_gap_wider_than_the_buffer_every_missing_packet_has_its_turn() {
        let found = turns(2, 0, &[1, 6]);
        assert_eq!(found, [Played(1, 1), Lost(2), Lost(3), Lost(4), Lost(5), Played(6, 6)]);
    }

    #[test]
    fn a_packet_that_was_taken_out_is_lost_at_its_turn() {
        let mut buffer = JitterBuffer::new(4, 0);
        (7..10).for_each(|number| buffer.insert(number, number).unwrap());
        assert_eq!((buffer.remove(8), buffer.remove(8), buffer.remove(12)), (Some(8), None, None));
        let turns: Vec<Turn<u64>> = std::iter::from_fn(|| buffer.pop_now()).collect();
        assert_eq!(turns, [Played(7, 7), Lost(8), Played(9, 9)]);
    }

    #[test]
    fn a_restart_begins_anywhere() {
        let mut buffer = JitterBuffer::new(4, 0);
        buffer.insert(70_000, ()).unwrap();
        buffer.pop();
        buffer.restart();
        buffer.insert(3, ()).unwrap();
        assert_eq!(buffer.pop(), Some(Played(3, ())));
    }

    proptest! {
        #[test]
        fn every_number_has_its_turn_once_and_in_order(
            arrivals in prop::sample::subsequence((0..200).collect::<Vec<u64>>(), 0..=200).prop_shuffle(),
            (capacity, threshold) in (1_usize..300, 0_usize..100),
        ) {
            let turns = turns(capacity, threshold, &arrivals);
            let numbers: Vec<u64> =
                turns.iter().map(|turn| match turn { Played(number, _) | Lost(number) => *number }).collect();
            prop_assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
            for turn in turns {
                if let Played(number, packet) = turn {
                    prop_assert_eq!(number, packet);
                    prop_assert!(arrivals.contains(&number));
                }
            }
        }
    }
}
