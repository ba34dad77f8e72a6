//! Stores that are in the load/store queue: loads take their data from there.
//!
//! Kept by words of 8 bytes rather than as a queue, so that a load looks at a few words and not at
//! every store.

use super::super::trace::Access;

/// What a load finds of the stores before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing: the cache has it.
    Nothing,
    /// All of it, there at this cycle.
    All(u64),
    /// A part: it must wait until this cycle, when the stores have written the cache.
    Part(u64),
}

/// The last stores by word.
#[derive(Clone, Debug)]
pub(super) struct Stores {
    words: Vec<Word>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Address by 8.
    number: u64,
    /// The bytes that were stored, a bit each.
    bytes: u8,
    data_ready: u64,
    committed: u64,
}

impl Stores {
    pub(super) fn new() -> Self {
        Self { words: vec![Word::default(); WORDS] }
    }

    /// Notes a store, whose data is there at one cycle and written to the cache at another.
    pub(super) fn note(&mut self, access: &Access, data_ready: u64, committed: u64) {
        for (number, bytes) in words(access) {
            let word = &mut self.words[place(number)];
            // An older store of the same word that still waits is joined.
            let joined = word.number == number && word.committed > data_ready;
            let (bytes, data_ready) = if joined {
                (word.bytes | bytes, word.data_ready.max(data_ready))
            } else {
                (bytes, data_ready)
            };
            *word = Word { number, bytes, data_ready, committed };
        }
    }

    /// What a load finds that begins `now`.
    pub(super) fn look(&self, access: &Access, now: u64) -> Found {
        let (mut all, mut any) = (true, false);
        let (mut data_ready, mut committed) = (0, 0);
        for (number, bytes) in words(access) {
            let word = &self.words[place(number)];
            let waits = word.number == number && word.committed > now && word.bytes & bytes != 0;
            all &= waits && word.bytes & bytes == bytes;
            any |= waits;
            if waits {
                data_ready = data_ready.max(word.data_ready);
                committed = committed.max(word.committed);
            }
        }
        match (any, all) {
            (false, _) => Found::Nothing,
            (true, true) => Found::All(data_ready),
            (true, false) => Found::Part(committed),
        }
    }
}

/// The words of an access, each with a bit for every byte of it.
fn words(access: &Access) -> impl Iterator<Item = (u64, u8)> {
    let first = access.address;
    let last = first.saturating_add(u64::from(access.bytes).saturating_sub(1));
    (first / 8..=last / 8).map(move |number| {
        let from = first.max(number * 8) - number * 8;
        let to = last.min(number * 8 + 7) - number * 8;
        (number, (u8::MAX << from) & (u8::MAX >> (7 - to)))
    })
}

fn place(number: u64) -> usize {
    #[allow(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    let place = (number % WORDS as u64) as usize;
    place
}

/// Words that are remembered. The largest queue has some hundred stores; two that are 128 KB apart
/// share a place, and then the younger counts.
const WORDS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: u64, bytes: u32) -> Access {
        Access { address, bytes, store: false }
    }

    #[test]
    fn a_load_finds_what_was_stored_until_it_is_written() {
        let mut stores = Stores::new();
        stores.note(&access(0x1000, 8), 50, 90);
        assert_eq!(stores.look(&access(0x1000, 8), 40), Found::All(50));
        assert_eq!(stores.look(&access(0x1004, 2), 40), Found::All(50));
        assert_eq!(stores.look(&access(0x1000, 8), 90), Found::Nothing);
        assert_eq!(stores.look(&access(0x1008, 8), 40), Found::Nothing);
    }

    #[test]
    fn a_part_of_a_load_waits_for_the_cache() {
        let mut stores = Stores::new();
        stores.note(&access(0x1000, 4), 50, 90);
        assert_eq!(stores.look(&access(0x1000, 8), 40), Found::Part(90));
        assert_eq!(stores.look(&access(0x1004, 4), 40), Found::Nothing);
        assert_eq!(stores.look(&access(0x0ffc, 16), 40), Found::Part(90));
    }

    #[test]
    fn two_stores_of_one_word_are_joined() {
        let mut stores = Stores::new();
        stores.note(&access(0x1000, 4), 50, 90);
        stores.note(&access(0x1004, 4), 60, 95);
        assert_eq!(stores.look(&access(0x1000, 8), 40), Found::All(60));
    }

    #[test]
    fn the_last_word_of_all_is_one_too() {
        let mut stores = Stores::new();
        stores.note(&access(u64::MAX - 3, 8), 5, 9);
        assert_eq!(stores.look(&access(u64::MAX, 1), 1), Found::All(5));
    }
}
