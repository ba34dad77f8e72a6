//! Caches: which lines they hold, and when a line's data is there.
//!
//! ```text
//! fetch ──► il1 ──┐  miss, dirty line written back
//! load  ──► dl1 ──┴──────────────────────────────► l2 ──► (l3) ──► memory
//! ```
//!
//! Stores allocate a line, as reads do, and write it back when it is replaced. A miss that is under
//! way is waited for, not begun again; any number may be under way.

use super::settings::{CacheSettings, CoreSettings};

/// Accesses to one cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCount {
    /// All of them; those to an outer cache include lines that are written back.
    pub accesses: u64,
    /// Those that did not find their line.
    pub misses: u64,
}

impl CacheCount {
    /// What came behind an earlier count.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self { accesses: self.accesses - earlier.accesses, misses: self.misses - earlier.misses }
    }

    /// Misses by accesses \[percent\].
    #[must_use]
    pub fn miss_percent(&self) -> f64 {
        super::super::mix::percent(self.misses, self.accesses)
    }
}

/// All caches of a core.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    pub(super) instructions: Cache,
    pub(super) data: Cache,
    pub(super) outer: Outer,
}

impl Hierarchy {
    pub(super) fn new(settings: &CoreSettings) -> Self {
        Self {
            instructions: Cache::new(&settings.instruction_cache),
            data: Cache::new(&settings.data_cache),
            outer: Outer {
                levels: settings.outer_caches.iter().map(Cache::new).collect(),
                memory_cycles: settings.memory_cycles.into(),
            },
        }
    }

    /// By how many cycles an instruction's bytes come later than from a hit.
    pub(super) fn fetch_delay(&mut self, address: u64, bytes: u8, now: u64) -> u64 {
        let hit = now + self.instructions.latency_cycles;
        let span = Span { address, bytes: bytes.into(), store: false };
        self.instructions.access(span, now, &mut self.outer) - hit
    }

    /// The cycle at which the data of an access that begins `now` is there.
    pub(super) fn access(&mut self, address: u64, bytes: u32, store: bool, now: u64) -> u64 {
        self.data.access(Span { address, bytes: bytes.into(), store }, now, &mut self.outer)
    }
}

/// What is accessed at once.
#[derive(Clone, Copy)]
struct Span {
    address: u64,
    bytes: u64,
    store: bool,
}

/// The caches behind the first level, and memory.
#[derive(Clone, Debug)]
pub(super) struct Outer {
    pub(super) levels: Vec<Cache>,
    memory_cycles: u64,
}

impl Outer {
    fn read(&mut self, address: u64, now: u64) -> u64 {
        self.line(0, address, false, now)
    }

    fn write_back(&mut self, address: u64, now: u64) {
        self.line(0, address, true, now);
    }

    fn line(&mut self, level: usize, address: u64, store: bool, now: u64) -> u64 {
        let Some(cache) = self.levels.get_mut(level) else { return now + self.memory_cycles };
        let at = now + cache.latency_cycles;
        if let Some(ready) = cache.find(address, store) {
            return at.max(ready);
        }
        let at = at.max(self.line(level + 1, address, false, now));
        if let Some(replaced) = self.levels[level].fill(address, store, at) {
            self.line(level + 1, replaced, true, at);
        }
        at
    }
}

/// One cache.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    /// Set after set.
    lines: Vec<Line>,
    ways: usize,
    set_mask: u64,
    line_bits: u32,
    latency_cycles: u64,
    /// Counts uses, to know the oldest.
    clock: u64,
    pub(super) count: CacheCount,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    /// Address without the bits inside the line; [`NO_LINE`] if empty.
    number: u64,
    dirty: bool,
    /// Cycle at which its data is there.
    ready: u64,
    used: u64,
}

impl Cache {
    fn new(settings: &CacheSettings) -> Self {
        let empty = Line { number: NO_LINE, dirty: false, ready: 0, used: 0 };
        let lines = settings.bytes / settings.line_bytes;
        Self {
            lines: (0..lines).map(|_| empty).collect(),
            ways: settings.ways,
            set_mask: lines / settings.ways as u64 - 1,
            line_bits: settings.line_bytes.trailing_zeros(),
            latency_cycles: settings.latency_cycles.into(),
            clock: 0,
            count: CacheCount::default(),
        }
    }

    /// One access, of every line that it touches.
    fn access(&mut self, span: Span, now: u64, outer: &mut Outer) -> u64 {
        let line_bytes = 1 << self.line_bits;
        let mut address = span.address & !(line_bytes - 1);
        let touched = (span.address - address + span.bytes).div_ceil(line_bytes);
        let mut at = now + self.latency_cycles;
        for _ in 0..touched {
            at = at.max(self.line(address, span.store, now, outer));
            address = address.wrapping_add(line_bytes);
        }
        at
    }

    fn line(&mut self, address: u64, store: bool, now: u64, outer: &mut Outer) -> u64 {
        if let Some(ready) = self.find(address, store) {
            return ready;
        }
        let at = outer.read(address, now).max(now + self.latency_cycles);
        if let Some(replaced) = self.fill(address, store, at) {
            outer.write_back(replaced, at);
        }
        at
    }

    fn set(&mut self, number: u64) -> &mut [Line] {
        // The mask keeps the set below the number of lines, which is a usize.
        #[allow(clippy::cast_possible_truncation, reason = "below the number of lines")]
        let first = (number & self.set_mask) as usize * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// Looks a line up and counts it; when its data is there, if it is held.
    fn find(&mut self, address: u64, store: bool) -> Option<u64> {
        self.clock += 1;
        self.count.accesses += 1;
        let (number, clock) = (address >> self.line_bits, self.clock);
        let found = self.set(number).iter_mut().find(|line| line.number == number);
        if let Some(line) = found {
            line.used = clock;
            line.dirty |= store;
            return Some(line.ready);
        }
        self.count.misses += 1;
        None
    }

    /// Puts a line in the place of the oldest; the address of that one if it must be written back.
    fn fill(&mut self, address: u64, dirty: bool, ready: u64) -> Option<u64> {
        let (number, used, bits) = (address >> self.line_bits, self.clock, self.line_bits);
        let oldest = self.set(number).iter_mut().min_by_key(|line| line.used)?;
        let replaced = std::mem::replace(oldest, Line { number, dirty, ready, used });
        (replaced.dirty && replaced.number != NO_LINE).then(|| replaced.number << bits)
    }
}

/// No line has this number: a line is longer than a byte, so the numbers are shorter than addresses.
const NO_LINE: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    const KB: u64 = 1 << 10;

    fn paper() -> Hierarchy {
        Hierarchy::new(&CoreSettings::simplescalar())
    }

    #[test]
    fn a_line_comes_from_memory_once_and_then_from_the_cache() {
        let mut caches = paper();
        assert_eq!(caches.access(0x1000, 8, false, 100), 132);
        assert_eq!(caches.access(0x1008, 8, false, 200), 201);
        assert_eq!(caches.access(0x1020, 8, false, 300), 306, "the same line of 64 bytes in l2");
        assert_eq!(caches.data.count, CacheCount { accesses: 3, misses: 2 });
        assert_eq!(caches.outer.levels[0].count, CacheCount { accesses: 2, misses: 1 });
    }

    #[test]
    fn a_miss_under_way_is_waited_for() {
        let mut caches = paper();
        caches.access(0x1000, 8, false, 100);
        assert_eq!(caches.access(0x1008, 8, false, 110), 132);
    }

    #[test]
    fn two_lines_of_one_direct_mapped_place_miss_every_time() {
        let mut caches = paper();
        for round in 0..10 {
            caches.access(0, 8, false, 100 * round);
            caches.access(64 * KB, 8, false, 100 * round + 50);
        }
        assert_eq!(caches.data.count, CacheCount { accesses: 20, misses: 20 });
        assert_eq!(caches.outer.levels[0].count, CacheCount { accesses: 20, misses: 2 });
    }

    #[test]
    fn the_line_unused_for_longest_is_replaced() {
        let mut caches = Hierarchy::new(&CoreSettings {
            data_cache: CacheSettings { bytes: 64, ways: 2, line_bytes: 32, latency_cycles: 1 },
            ..CoreSettings::simplescalar()
        });
        for address in [0, 32, 0, 64, 0] {
            caches.access(address, 1, false, 0);
        }
        assert_eq!(caches.data.count.misses, 3);
        caches.access(32, 1, false, 0);
        assert_eq!(caches.data.count.misses, 4);
    }

    #[test]
    fn a_changed_line_is_written_back() {
        let mut caches = paper();
        caches.access(0, 8, true, 0);
        caches.access(64 * KB, 8, false, 0);
        caches.access(128 * KB, 8, false, 0);
        assert_eq!(caches.outer.levels[0].count, CacheCount { accesses: 4, misses: 3 });
    }

    #[test]
    fn an_access_over_an_edge_touches_both_lines() {
        let mut caches = paper();
        caches.access(28, 8, false, 0);
        caches.access(u64::MAX - 3, 8, false, 0);
        assert_eq!(caches.data.count.accesses, 4);
        assert_eq!(caches.fetch_delay(0x5000, 4, 0), 31);
        assert_eq!(caches.fetch_delay(0x5000, 4, 50), 0);
    }
}
