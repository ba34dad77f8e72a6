//! Dependent loads: each says where the next one is, so that their time is the latency of what
//! holds them (sysSIM table 7).
//!
//! ```text
//! line 0 ──► line 17 ──► line 4 ──► ... ──► line 0       one random cycle through all lines
//! ```

use std::hint::black_box;

use super::{Buffer, Pages};
use crate::PlatformError;

/// A buffer whose lines form one random cycle.
#[derive(Debug)]
pub struct Chase {
    buffer: Buffer,
}

/// Bytes from one place to the next: a cache line of every processor that Linux runs on, or two.
pub const LINE_BYTES: usize = 128;

impl Chase {
    /// A cycle through all lines of so many bytes of these pages, one line at least, in the order that
    /// `random` gives: a number below its argument.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn new(
        bytes: usize,
        pages: Pages,
        mut random: impl FnMut(usize) -> usize,
    ) -> Result<Self, PlatformError> {
        let lines = (bytes / LINE_BYTES).max(1);
        let mut buffer = Buffer::of(lines * LINE_BYTES, pages)?;
        // Sattolo's shuffle gives a permutation of one cycle.
        let mut order: Vec<usize> = (0..lines).collect();
        for last in (1..lines).rev() {
            order.swap(last, random(last).min(last - 1));
        }
        for (line, next) in order.iter().enumerate() {
            let place = &mut buffer[line * LINE_BYTES..][..size_of::<usize>()];
            place.copy_from_slice(&(next * LINE_BYTES).to_ne_bytes());
        }
        Ok(Self { buffer })
    }

    /// Lines of the cycle.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.buffer.len() / LINE_BYTES
    }

    /// Follows so many loads from a place; where they end, for the next call to go on from there.
    #[must_use]
    pub fn follow(&self, from: usize, loads: usize) -> usize {
        let mut place = (from / LINE_BYTES).min(self.lines() - 1) * LINE_BYTES;
        for _ in 0..loads {
            place = self.next(place);
        }
        black_box(place)
    }

    /// The place that the load at a place brings.
    #[inline(always)]
    fn next(&self, place: usize) -> usize {
        debug_assert!(place + size_of::<usize>() <= self.buffer.len());
        // SAFETY: the first place is the begin of a line of the buffer, every line holds the begin of
        // another, and lines are aligned as the buffer is, to a page.
        unsafe { self.buffer.as_ptr().add(place).cast::<usize>().read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator that is random enough for an order.
    fn random() -> impl FnMut(usize) -> usize {
        let mut state = 1_usize;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        }
    }

    #[test]
    fn one_cycle_passes_through_all_lines() {
        let chase = Chase::new(1 << 16, Pages::Usual, random()).unwrap();
        assert_eq!(chase.lines(), (1 << 16) / LINE_BYTES);
        let mut seen = vec![false; chase.lines()];
        let mut place = 0;
        for _ in 0..chase.lines() {
            assert!(!std::mem::replace(&mut seen[place / LINE_BYTES], true), "{place}");
            place = chase.follow(place, 1);
        }
        assert_eq!(place, 0);
        assert_eq!(chase.follow(0, chase.lines()), 0);
    }

    #[test]
    fn a_place_that_is_no_line_and_a_size_below_one_still_have_a_cycle() {
        let chase = Chase::new(0, Pages::Usual, random()).unwrap();
        assert_eq!((chase.lines(), chase.follow(usize::MAX, 5)), (1, 0));
        let chase = Chase::new(10 * LINE_BYTES, Pages::Huge, random()).unwrap();
        assert_eq!(chase.follow(LINE_BYTES + 5, 3), chase.follow(LINE_BYTES, 3));
    }
}
