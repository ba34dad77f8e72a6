//! Reading, writing and copying by one instruction mix each (sysSIM figures 9 to 12 did so with
//! Cache Burst 32).
//!
//! ```text
//! read   memory ──load──► register                    xor of all, so that no load is left out
//! write  register ──store──► memory
//! copy   memory ──load──► register ──store──► memory
//! ```
//!
//! Each kernel moves whole vectors where they are aligned, four an iteration, and returns the payload that
//! it moved [B]; the ends of a buffer that hold no four of them are not touched. A copy counts its
//! payload once. Loads and stores are volatile: the compiler makes neither other instructions nor a
//! call of `memcpy` of them.

use std::hint::black_box;

/// What is done with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// All bytes are loaded.
    Read,
    /// All bytes are stored.
    Write,
    /// All bytes are loaded and stored elsewhere.
    Copy,
}

/// The instructions that move the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// The C library's `memcpy` and `memset`, and sums of words that the compiler vectorises.
    Library,
    /// Words of 8 bytes.
    Scalar,
    /// Vectors of 16 bytes.
    Sse2,
    /// Vectors of 32 bytes.
    Avx2,
    /// Vectors of 64 bytes.
    Avx512,
    /// `rep movsb` and `rep stosb`: the processor's own loop.
    Rep,
    /// Stores of 16 bytes that go past the caches.
    NonTemporal,
}

/// All mixes.
pub const MIXES: [Mix; 7] =
    [Mix::Library, Mix::Scalar, Mix::Sse2, Mix::Avx2, Mix::Avx512, Mix::Rep, Mix::NonTemporal];

impl Operation {
    /// The name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
        }
    }
}

impl Mix {
    /// The name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "libc",
            Self::Scalar => "scalar",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Rep => "rep-movsb",
            Self::NonTemporal => "non-temporal",
        }
    }

    /// Whether this processor has the instructions, and the mix such an operation: there is no
    /// repeated and no non-temporal load of ordinary memory.
    #[must_use]
    pub fn can(self, operation: Operation) -> bool {
        match self {
            Self::Library | Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Self::Rep | Self::NonTemporal => operation != Operation::Read,
            #[cfg(not(target_arch = "x86_64"))]
            _ => operation != operation,
        }
    }
}

/// Moves what fits into both buffers by a mix; a read leaves `to` as it is, a write `from`. How much
/// was moved [B]: nothing where the mix cannot do it here.
pub fn run(operation: Operation, mix: Mix, to: &mut [u8], from: &[u8]) -> usize {
    if !mix.can(operation) {
        return 0;
    }
    let (to, from) = (black_box(to), black_box(from));
    match mix {
        Mix::Library => library(operation, to, from),
        Mix::Scalar => vectors::<u64>(operation, to, from),
        #[cfg(target_arch = "x86_64")]
        other => x86::run(operation, other, to, from),
        #[cfg(not(target_arch = "x86_64"))]
        _ => 0,
    }
}

fn library(operation: Operation, to: &mut [u8], from: &[u8]) -> usize {
    match operation {
        Operation::Read => super::read_sum(from),
        Operation::Write => super::write_fill(to, FILL),
        Operation::Copy => super::copy(to, from),
    }
}

/// A type whose every pattern of bits is a value.
trait Vector: Copy {}

impl Vector for u64 {}

/// Moves vectors by ordinary loads and stores. Inlined into its callers, so that each is compiled for
/// the registers that it may use.
#[inline(always)]
fn vectors<V: Vector>(operation: Operation, to: &mut [u8], from: &[u8]) -> usize {
    match operation {
        Operation::Read => read::<V>(from),
        Operation::Write => write::<V>(to, store),
        Operation::Copy => copy::<V>(to, from, store),
    }
}

#[inline(always)]
fn read<V: Vector>(from: &[u8]) -> usize {
    // SAFETY: every pattern of bits is a `V`.
    let (blocks, _) = unsafe { from.align_to::<V>() }.1.as_chunks::<UNROLLED>();
    for block in blocks {
        for vector in block {
            load(vector);
        }
    }
    size_of_val(blocks)
}

#[inline(always)]
fn write<V: Vector>(to: &mut [u8], store: impl Fn(&mut V, V)) -> usize {
    let bytes = [FILL; WIDEST];
    // SAFETY: no vector is wider than these bytes, and every pattern of bits is a `V`.
    let value = unsafe { bytes.as_ptr().cast::<V>().read_unaligned() };
    // SAFETY: as for `read`.
    let (blocks, _) = unsafe { to.align_to_mut::<V>() }.1.as_chunks_mut::<UNROLLED>();
    for block in &mut *blocks {
        for vector in block {
            store(vector, value);
        }
    }
    size_of_val(blocks)
}

#[inline(always)]
fn copy<V: Vector>(to: &mut [u8], from: &[u8], store: impl Fn(&mut V, V)) -> usize {
    // SAFETY: as for `read`.
    let (from, _) = unsafe { from.align_to::<V>() }.1.as_chunks::<UNROLLED>();
    // SAFETY: as for `read`.
    let (to, _) = unsafe { to.align_to_mut::<V>() }.1.as_chunks_mut::<UNROLLED>();
    let blocks = from.len().min(to.len());
    for (to, from) in to.iter_mut().zip(from) {
        for (to, from) in to.iter_mut().zip(from) {
            store(to, load(from));
        }
    }
    size_of_val(&from[..blocks])
}

#[inline(always)]
fn load<V: Vector>(from: &V) -> V {
    // SAFETY: a reference may be read.
    unsafe { std::ptr::from_ref(from).read_volatile() }
}

#[inline(always)]
fn store<V: Vector>(to: &mut V, value: V) {
    // SAFETY: an exclusive reference may be written.
    unsafe { std::ptr::from_mut(to).write_volatile(value) };
}

/// Vectors in an iteration: enough that counting costs nothing beside them.
const UNROLLED: usize = 4;

/// Bytes of the widest vector.
const WIDEST: usize = 64;

/// What is written: not zero, for which a cache might have a way of its own.
const FILL: u8 = 0x5a;

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The vectors of x86, each behind a function that is compiled for it.

    use std::arch::asm;
    use std::arch::x86_64::{__m128i, __m256i, __m512i, _mm_sfence, _mm_stream_si128};

    use super::{FILL, Mix, Operation, Vector, copy, vectors, write};

    impl Vector for __m128i {}
    impl Vector for __m256i {}
    impl Vector for __m512i {}

    /// By a mix that this processor has.
    pub(super) fn run(operation: Operation, mix: Mix, to: &mut [u8], from: &[u8]) -> usize {
        match mix {
            // SAFETY: `Mix::can` has found the instructions.
            Mix::Avx2 => unsafe { avx2(operation, to, from) },
            // SAFETY: as above.
            Mix::Avx512 => unsafe { avx512(operation, to, from) },
            Mix::Rep => rep(operation, to, from),
            Mix::NonTemporal => non_temporal(operation, to, from),
            Mix::Sse2 | Mix::Library | Mix::Scalar => vectors::<__m128i>(operation, to, from),
        }
    }

    #[target_feature(enable = "avx2")]
    fn avx2(operation: Operation, to: &mut [u8], from: &[u8]) -> usize {
        vectors::<__m256i>(operation, to, from)
    }

    #[target_feature(enable = "avx512f")]
    fn avx512(operation: Operation, to: &mut [u8], from: &[u8]) -> usize {
        vectors::<__m512i>(operation, to, from)
    }

    fn non_temporal(operation: Operation, to: &mut [u8], from: &[u8]) -> usize {
        let stream = |to: &mut __m128i, value| {
            // SAFETY: an exclusive reference is aligned and may be written.
            unsafe { _mm_stream_si128(to, value) }
        };
        let moved = match operation {
            Operation::Read => return 0,
            Operation::Write => write::<__m128i>(to, stream),
            Operation::Copy => copy::<__m128i>(to, from, stream),
        };
        // SAFETY: every x86-64 has SSE. What follows must see the stores, which are ordered with nothing.
        unsafe { _mm_sfence() };
        moved
    }

    fn rep(operation: Operation, to: &mut [u8], from: &[u8]) -> usize {
        let bytes = match operation {
            Operation::Read => return 0,
            Operation::Write => to.len(),
            Operation::Copy => to.len().min(from.len()),
        };
        // SAFETY: so many bytes may be written at the one and read at the other, which do not overlap;
        // the direction flag is clear, as the calling convention has it.
        unsafe {
            if operation == Operation::Write {
                asm!("rep stosb", inout("rcx") bytes => _, inout("rdi") to.as_mut_ptr() => _,
                    in("al") FILL, options(nostack, preserves_flags));
            } else {
                asm!("rep movsb", inout("rcx") bytes => _, inout("rdi") to.as_mut_ptr() => _,
                    inout("rsi") from.as_ptr() => _, options(nostack, preserves_flags));
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::Buffer;
    use super::*;

    /// Two pages and a half, which no kernel moves in whole iterations of every width.
    const BYTES: usize = 10_240;

    #[test]
    fn every_mix_copies_what_is_there_and_says_how_much() {
        let mut from = Buffer::new(BYTES).unwrap();
        for (index, byte) in from.iter_mut().enumerate() {
            *byte = u8::try_from(index % 251).unwrap();
        }
        for mix in MIXES.into_iter().filter(|mix| mix.can(Operation::Copy)) {
            let mut to = Buffer::new(BYTES).unwrap();
            assert_eq!(run(Operation::Copy, mix, &mut to, &from), BYTES, "{mix:?}");
            assert!(to[..] == from[..], "{mix:?}");
        }
    }

    #[test]
    fn every_mix_writes_its_pattern_and_a_read_changes_nothing() {
        for mix in MIXES {
            let (mut to, from) = (Buffer::new(BYTES).unwrap(), Buffer::new(BYTES).unwrap());
            if mix.can(Operation::Read) {
                assert_eq!(run(Operation::Read, mix, &mut to, &from), BYTES, "{mix:?}");
                assert!(to.iter().all(|byte| *byte == 0), "{mix:?}");
            }
            if mix.can(Operation::Write) {
                assert_eq!(run(Operation::Write, mix, &mut to, &from), BYTES, "{mix:?}");
                assert!(to.iter().all(|byte| *byte == FILL), "{mix:?}");
            }
        }
    }

    #[test]
    fn ends_that_hold_no_four_vectors_are_left_alone() {
        let (mut to, from) = (Buffer::new(BYTES).unwrap(), Buffer::new(BYTES).unwrap());
        let moved = run(Operation::Write, Mix::Scalar, &mut to[3..BYTES - 5], &from);
        assert_eq!(moved, BYTES - 32);
        assert_eq!((to[7], to[8], to[BYTES - 25], to[BYTES - 24]), (0, FILL, FILL, 0));
    }

    #[test]
    fn the_common_mixes_are_there() {
        assert!(Mix::Scalar.can(Operation::Read) && Mix::Library.can(Operation::Copy));
        assert!(!Mix::Rep.can(Operation::Read) && !Mix::NonTemporal.can(Operation::Read));
    }
}
