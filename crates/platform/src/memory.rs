//! Moving bytes through memory: page-aligned buffers and the kernels that copy, read and write
//! them.
//!
//! Each kernel returns the payload that it moved [B]. A copy counts its payload once, although it
//! reads and writes it; the caches may move still more.

pub mod chase;
pub mod fault;
pub mod file;
pub mod kernels;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use nix::errno::Errno;
use nix::libc::c_void;
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::PlatformError;

/// Memory that begins at a page and is present before it is used.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<c_void>,
    bytes: NonZeroUsize,
}

/// What pages memory is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// What the system takes by itself (`transparent_hugepage`).
    Usual,
    /// The smallest.
    Small,
    /// Huge ones wherever the kernel has some; their share is not promised.
    Huge,
}

// SAFETY: the mapping belongs to this value alone and to no thread.
unsafe impl Send for Buffer {}

// SAFETY: without `&mut` the memory is only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Takes memory from the kernel and has it present (`MAP_POPULATE`), every byte zero. At least
    /// one byte is taken.
    ///
    /// # Errors
    /// When the kernel has no such amount, with the amount.
    pub fn new(bytes: usize) -> Result<Self, PlatformError> {
        Self::of(bytes, Pages::Usual)
    }

    /// The same of these pages.
    ///
    /// # Errors
    /// When the kernel has no such amount, or no choice of pages, with the amount.
    pub fn of(bytes: usize, pages: Pages) -> Result<Self, PlatformError> {
        // Pages that are there cannot be chosen any more: `touch` has them present.
        let populate =
            if pages == Pages::Usual { MapFlags::MAP_POPULATE } else { MapFlags::empty() };
        let mut buffer = Self::map(bytes, pages, populate)?;
        buffer.touch();
        Ok(buffer)
    }

    /// Memory none of whose pages is there before it is used.
    fn untouched(bytes: usize, pages: Pages) -> Result<Self, PlatformError> {
        Self::map(bytes, pages, MapFlags::empty())
    }

    fn map(bytes: usize, pages: Pages, populate: MapFlags) -> Result<Self, PlatformError> {
        let refused = |errno: Errno| PlatformError::Memory { bytes, source: errno.into() };
        let length = NonZeroUsize::new(bytes).unwrap_or(NonZeroUsize::MIN);
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let flags = MapFlags::MAP_PRIVATE | populate;
        // SAFETY: the kernel chooses an address that nothing else uses.
        let start = unsafe { mmap_anonymous(None, length, access, flags) }.map_err(refused)?;
        let buffer = Self { start, bytes: length };
        buffer.choose(pages).map_err(refused)?;
        Ok(buffer)
    }

    fn choose(&self, pages: Pages) -> Result<(), Errno> {
        let advice = match pages {
            Pages::Usual => return Ok(()),
            Pages::Small => MmapAdvise::MADV_NOHUGEPAGE,
            Pages::Huge => MmapAdvise::MADV_HUGEPAGE,
        };
        // SAFETY: the mapping is this value's own, and what it holds stays as it is.
        unsafe { madvise(self.start, self.bytes.get(), advice) }
    }

    /// Writes every page: `MAP_POPULATE` is silent where memory is short, and pages that were only
    /// read are all the same page of zeros.
    fn touch(&mut self) {
        for page in self.chunks_mut(PAGE_BYTES) {
            black_box(&mut page[0]);
            page[0] = 0;
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is `bytes` long, readable, initialised to zero by the kernel, and
        // lives as long as this value.
        unsafe { slice::from_raw_parts(self.start.cast().as_ptr(), self.bytes.get()) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`, writable, and `&mut self` excludes any other access.
        unsafe { slice::from_raw_parts_mut(self.start.cast().as_ptr(), self.bytes.get()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this start and length and nothing refers to it now.
        // It can only fail for another start or length.
        let _ = unsafe { munmap(self.start, self.bytes.get()) };
    }
}

/// Copies as many bytes as fit into `to` from the front of `from`, with the C library's `memcpy`;
/// above a size of its own choice that one goes past the caches.
pub fn copy(to: &mut [u8], from: &[u8]) -> usize {
    let bytes = to.len().min(from.len());
    black_box(&mut to[..bytes]).copy_from_slice(black_box(&from[..bytes]));
    black_box(to);
    bytes
}

/// Fills all bytes with one value, with the C library's `memset`.
pub fn write_fill(to: &mut [u8], value: u8) -> usize {
    black_box(&mut *to).fill(black_box(value));
    black_box(to).len()
}

/// Reads all whole words of 8 bytes, every byte of them, in vectors where the processor has them.
///
/// The sum of the words goes where the compiler cannot see that it is not used.
#[must_use]
pub fn read_sum(from: &[u8]) -> usize {
    let words = black_box(from).as_chunks::<WORD_BYTES>().0;
    black_box(sum(words));
    words.len() * WORD_BYTES
}

/// Sum of words; wide registers are used where there are some, as `memcpy` does too.
fn sum(words: &[[u8; WORD_BYTES]]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it has AVX2.
        return unsafe { sum_avx2(words) };
    }
    sum_plain(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(words: &[[u8; WORD_BYTES]]) -> u64 {
    sum_plain(words)
}

/// Inlined into its callers, so that each is compiled for the registers that it may use.
#[inline(always)]
fn sum_plain(words: &[[u8; WORD_BYTES]]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)))
}

/// Bytes of the words that are read.
const WORD_BYTES: usize = 8;

/// The smallest page of all machines that Linux runs on [B].
const PAGE_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_a_page_and_is_zero() {
        let buffer = Buffer::new(10_000).unwrap();
        assert_eq!(buffer.as_ptr().addr() % PAGE_BYTES, 0);
        assert!(buffer.len() == 10_000 && buffer.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn memory_of_all_pages_is_there_and_zero() {
        for pages in [Pages::Usual, Pages::Small, Pages::Huge] {
            let buffer = Buffer::of(5 << 20, pages).unwrap();
            assert!(buffer.len() == 5 << 20 && buffer.iter().all(|byte| *byte == 0), "{pages:?}");
        }
    }

    #[test]
    fn a_size_that_no_machine_has_is_named() {
        let error = Buffer::new(1 << 60).unwrap_err().to_string();
        assert!(error.contains("1152921504606846976 B"), "{error}");
    }

    #[test]
    fn a_copy_counts_its_payload_once() {
        let mut from = Buffer::new(5000).unwrap();
        let mut to = Buffer::new(4000).unwrap();
        assert_eq!(write_fill(&mut from, 9), 5000);
        assert_eq!(copy(&mut to, &from), 4000);
        assert!(to.iter().all(|byte| *byte == 9));
    }

    #[test]
    fn all_words_are_summed_on_every_path() {
        let words: Vec<[u8; WORD_BYTES]> = (0..1000_u64).map(u64::to_ne_bytes).collect();
        assert_eq!(sum_plain(&words), 499_500);
        assert_eq!(sum(&words), 499_500);
        assert_eq!(read_sum(words.as_flattened()), 8000);
    }
}
