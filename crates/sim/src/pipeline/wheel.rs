//! A hierarchical timing wheel: pending events of many components, earliest first.
//!
//! ```text
//! set ──► level 2 ──► level 1 ──► level 0: 4096 ticks ──► current tick, sorted ──► pop
//! [ps, id]     a slot's events move down when its time comes       ▲ late: set into it
//! ```
//!
//! Scheme 6 and 7 of Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987),
//! with a total order: events of one tick are sorted when it comes. An event lies on the level of
//! the highest digit, in base 4096, in which its tick differs from the current one. So no slot
//! wraps around, and the first occupied one of the lowest level holds what is next.
//!
//! The events of a slot lie in blocks of two cache lines, not in a list through the components:
//! with 10^5 components such a list is one cache miss an event, each waiting for the one before.
//! The links of the blocks lie apart and stay in the cache, so that the blocks of a slot come from
//! memory at the same time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use bitpath_measure::Picos;

/// Pending events: a time and an id each, taken in the order of time, then of id.
///
/// An id has one event pending at a time, and none may be set before the event taken last.
#[derive(Debug)]
pub struct Wheel {
    /// A tick is 2 to this power [ps].
    tick_bits: u32,
    /// The tick whose events are being taken.
    now: u64,
    levels: Vec<Level>,
    blocks: Blocks,
    /// Events of the current tick, the last one next.
    current: Vec<Key>,
    /// Events set into the current tick after it was sorted.
    late: BinaryHeap<Reverse<Key>>,
}

/// Order within one tick: the time since its begin [ps] in the upper half, then the id.
type Key = u64;

/// Slots of one digit, and which of them are occupied.
#[derive(Clone, Debug)]
struct Level {
    slots: Vec<Slot>,
    occupied: [u64; 64],
    /// Which words of `occupied` are not zero.
    words: u64,
}

/// A list of blocks: only the first of them is not full.
#[derive(Clone, Copy, Debug)]
struct Slot {
    block: u32,
    /// Events in the first block.
    filled: u32,
}

/// All blocks of events, each linked to the next of its slot or of the free ones.
#[derive(Debug)]
struct Blocks {
    events: Vec<Events>,
    next: Vec<u32>,
    free: u32,
}

/// The events of one block: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Events {
    times: [u64; BLOCK],
    ids: [u32; BLOCK],
}

/// Memory that an event takes [B]: its share of a block and of the block's link, rounded up, and
/// its key while its tick is current. The slots come once.
pub const BYTES_AN_EVENT: usize =
    (size_of::<Events>() + size_of::<u32>()).div_ceil(BLOCK) + size_of::<Key>();

impl Wheel {
    /// An empty wheel for ids below `ids`, with a mean time `spacing` from one event to the next.
    ///
    /// The spacing sets the tick and moves speed only.
    #[must_use]
    pub fn new(ids: usize, spacing: Picos) -> Self {
        let events = (ids as u64 / 4).clamp(EVENTS_A_TICK.0, EVENTS_A_TICK.1);
        let tick = spacing.0.saturating_mul(events).max(1);
        let tick_bits = tick.ilog2().min(MAX_TICK_BITS);
        let levels = (u64::BITS - tick_bits).div_ceil(DIGIT_BITS) as usize;
        let slots = ids.min(levels << DIGIT_BITS);
        Self {
            tick_bits,
            now: 0,
            levels: vec![Level::new(); levels],
            blocks: Blocks::with_capacity(ids / BLOCK + slots),
            current: Vec::new(),
            late: BinaryHeap::new(),
        }
    }

    /// Sets an event of this id.
    #[inline]
    pub fn set(&mut self, id: u32, time: Picos) {
        if time.0 >> self.tick_bits <= self.now {
            self.late.push(Reverse(self.key(id, time.0)));
        } else {
            self.place(id, time.0);
        }
    }

    /// Takes the earliest event; of those at one time the one with the least id.
    ///
    /// `soon` hears of several ids that will be taken next, before the first of them is: what they
    /// need can be fetched from memory at once.
    #[inline]
    pub fn pop(&mut self, soon: impl FnMut(u32)) -> Option<(u32, Picos)> {
        if self.current.is_empty() && self.late.is_empty() {
            self.advance();
            self.current.iter().map(|key| id_of(*key)).for_each(soon);
        }
        let is_late = match (self.late.peek(), self.current.last()) {
            (Some(Reverse(late)), Some(current)) => late < current,
            (late, _) => late.is_some(),
        };
        let key =
            if is_late { self.late.pop().map(|Reverse(key)| key) } else { self.current.pop() };
        key.map(|key| self.event(key))
    }

    /// Memory that it holds [B].
    #[must_use]
    pub fn bytes(&self) -> usize {
        let events = self.blocks.events.capacity() * size_of::<Events>();
        let links = self.blocks.next.capacity() * size_of::<u32>();
        let slots = (self.levels.len() * SLOTS) * size_of::<Slot>();
        let tick = (self.current.capacity() + self.late.capacity()) * size_of::<Key>();
        events + links + slots + self.levels.len() * size_of::<Level>() + tick
    }

    #[inline]
    fn key(&self, id: u32, time: u64) -> Key {
        let since = time.saturating_sub(self.now << self.tick_bits);
        since << 32 | u64::from(id)
    }

    #[inline]
    fn event(&self, key: Key) -> (u32, Picos) {
        (id_of(key), Picos((self.now << self.tick_bits) + (key >> 32)))
    }

    /// Goes to the next tick that has events, and sorts them.
    fn advance(&mut self) {
        while self.current.is_empty() && self.descend() {}
        self.current.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Empties the next occupied slot into lower levels and the current tick.
    fn descend(&mut self) -> bool {
        let found = (0..).zip(&mut self.levels).find_map(|(level, slots)| {
            slots.take_first().map(|(digit, slot)| (level * DIGIT_BITS, digit, slot))
        });
        let Some((shift, digit, Slot { mut block, mut filled })) = found else { return false };
        self.now = (self.now >> shift & !DIGIT | digit as u64) << shift;
        self.blocks.touch(block);
        while block != NONE {
            let (Events { times, ids }, next) = self.blocks.take(block);
            for (id, time) in ids.iter().zip(&times).take(filled as usize) {
                self.place(*id, *time);
            }
            (block, filled) = (next, FULL);
        }
        true
    }

    #[inline]
    fn place(&mut self, id: u32, time: u64) {
        let tick = time >> self.tick_bits;
        let Some(highest) = (tick ^ self.now).checked_ilog2() else {
            return self.current.push(self.key(id, time));
        };
        let level = highest / DIGIT_BITS;
        let slot = self.levels[level as usize].occupy(lowest_digit(tick >> (level * DIGIT_BITS)));
        self.blocks.append(slot, id, time);
    }
}

impl Level {
    fn new() -> Self {
        Self { slots: vec![EMPTY; SLOTS], occupied: [0; 64], words: 0 }
    }

    #[inline]
    fn occupy(&mut self, digit: usize) -> &mut Slot {
        let word = digit / 64;
        self.occupied[word] |= 1 << (digit % 64);
        self.words |= 1 << word;
        &mut self.slots[digit]
    }

    /// Takes the events of the first occupied slot, and its digit.
    fn take_first(&mut self) -> Option<(usize, Slot)> {
        if self.words == 0 {
            return None;
        }
        let word = self.words.trailing_zeros() as usize;
        let bits = &mut self.occupied[word];
        let digit = word * 64 + bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        self.words &= !(u64::from(*bits == 0) << word);
        Some((digit, std::mem::replace(&mut self.slots[digit], EMPTY)))
    }
}

impl Blocks {
    fn with_capacity(blocks: usize) -> Self {
        Self { events: Vec::with_capacity(blocks), next: Vec::with_capacity(blocks), free: NONE }
    }

    #[inline]
    fn append(&mut self, slot: &mut Slot, id: u32, time: u64) {
        if slot.filled == FULL {
            *slot = Slot { block: self.give(slot.block), filled: 0 };
        }
        let (events, place) = (&mut self.events[slot.block as usize], slot.filled as usize);
        (events.times[place], events.ids[place]) = (time, id);
        slot.filled += 1;
    }

    /// A block in front of `next`: a used one, so that the memory in use stays small.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "fewer blocks than ids, which have 32 bits"
    )]
    fn give(&mut self, next: u32) -> u32 {
        let block = self.free;
        if block == NONE {
            self.events.push(Events { times: [0; BLOCK], ids: [0; BLOCK] });
            self.next.push(next);
            return self.next.len() as u32 - 1;
        }
        self.free = std::mem::replace(&mut self.next[block as usize], next);
        block
    }

    /// Brings all blocks of a slot into the cache, at the same time.
    fn touch(&self, mut block: u32) {
        while block != NONE {
            let events = &self.events[block as usize];
            black_box((events.times[0], events.ids[BLOCK - 1]));
            block = self.next[block as usize];
        }
    }

    /// The events of a block, which is free then, and the block behind it.
    #[inline]
    fn take(&mut self, block: u32) -> (Events, u32) {
        let next = std::mem::replace(&mut self.next[block as usize], self.free);
        self.free = block;
        (self.events[block as usize], next)
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is the id")]
fn id_of(key: Key) -> u32 {
    key as u32
}

#[inline]
fn lowest_digit(number: u64) -> usize {
    (number & DIGIT) as usize
}

/// A slot without events: the next one takes a new block.
const EMPTY: Slot = Slot { block: NONE, filled: FULL };

/// No block.
const NONE: u32 = u32::MAX;

/// Events in a block: 12 B each, two cache lines.
const BLOCK: usize = FULL as usize;

/// Events in a block that takes no more.
const FULL: u32 = 10;

/// Bits of a digit: 64 words of 64 bits say which slots are occupied, and one word which of those.
const DIGIT_BITS: u32 = 12;

/// Slots of a level.
const SLOTS: usize = 1 << DIGIT_BITS;

/// The bits of the lowest digit.
const DIGIT: u64 = SLOTS as u64 - 1;

/// Events that a tick should hold, a quarter of the ids within these: with fewer slots are walked for
/// nothing, with more sorting costs.
const EVENTS_A_TICK: (u64, u64) = (64, 256);

/// Longest tick, 4.3 ms: a time within it is half a key.
const MAX_TICK_BITS: u32 = 32;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Delays from none to hours, each order of magnitude as likely as the others.
    fn any_delay() -> impl Strategy<Value = u64> {
        (0..54_u32, any::<u64>()).prop_map(|(bits, random)| random & ((1 << bits) - 1))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn events_come_in_the_order_of_time_and_id(
            spacing in any_delay(),
            delays in prop::collection::vec(prop::collection::vec(any_delay(), 0..4), 1..300),
        ) {
            let mut wheel = Wheel::new(64, Picos(spacing));
            let (mut sorted, mut idle) = (BTreeSet::new(), (0..64).collect::<Vec<u32>>());
            let mut now = 0;
            for delays in delays {
                for delay in delays.into_iter().take(idle.len()) {
                    let id = idle.swap_remove(delay.count_ones() as usize % idle.len());
                    wheel.set(id, Picos(now + delay));
                    sorted.insert((now + delay, id));
                }
                let next = sorted.pop_first();
                prop_assert_eq!(wheel.pop(|_| ()), next.map(|(time, id)| (id, Picos(time))));
                if let Some((time, id)) = next {
                    now = time;
                    idle.push(id);
                }
            }
            while let Some((time, id)) = sorted.pop_first() {
                prop_assert_eq!(wheel.pop(|_| ()), Some((id, Picos(time))));
            }
            prop_assert_eq!(wheel.pop(|_| ()), None);
        }
    }

    #[test]
    fn the_last_instants_of_64_bits_are_in_order() {
        for spacing in [0, 1, 1 << 20, u64::MAX] {
            let mut wheel = Wheel::new(4, Picos(spacing));
            for (id, time) in [(3, u64::MAX), (2, u64::MAX), (1, 0), (0, u64::MAX - 1)] {
                wheel.set(id, Picos(time));
            }
            let taken: Vec<u32> =
                std::iter::from_fn(|| wheel.pop(|_| ())).map(|(id, _)| id).collect();
            assert_eq!(taken, [1, 0, 2, 3]);
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_events() {
        let mut wheel = Wheel::new(1000, Picos(1000));
        (0..1000).for_each(|id| wheel.set(id, Picos(u64::from(id) * 997)));
        let blocks = wheel.blocks.events.capacity();
        for _ in 0..1_000_000 {
            let (id, now) = wheel.pop(|_| ()).unwrap();
            wheel.set(id, Picos(now.0 + 1 + now.0 * 7919 % 2_000_000));
        }
        assert_eq!(wheel.blocks.events.capacity(), blocks);
        assert!(wheel.bytes() < 1000 * 128 + wheel.levels.len() * SLOTS * 10);
    }
}
