//! A ring of blocks in memory that two processes share: no byte passes through the kernel, which is
//! asked only to put a waiting side to sleep and to wake it.
//!
//! ```text
//! page 0:  written ─ count, sleeper │ read ─ count, sleeper      a cache line or two each
//! page 1:  block 0 │ block 1 │ ... │ block n-1                   each begins at a cache line
//! ```

use std::num::NonZeroUsize;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::stat::fstat;
use nix::unistd::ftruncate;

use super::turns::{NoTurn, Turns, Word};
use super::{PATIENCE, Spec};
use crate::PlatformError;
use crate::clock::{monotonic_ns, nanos_of};

/// One side of a ring.
#[derive(Debug)]
pub(super) struct Ring {
    memory: Arc<Shared>,
    turns: Turns<Futex>,
    spec: Spec,
}

impl Ring {
    /// Memory for a ring, all zero, that no side can make smaller.
    pub(super) fn create(spec: &Spec) -> Result<OwnedFd, PlatformError> {
        let refused = |errno| PlatformError::system("make a ring in shared memory", errno);
        let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
        let file = memfd_create("bitpath-ring", flags).map_err(refused)?;
        let bytes = i64::try_from(length_of(spec)).map_err(|_| refused(Errno::EFBIG))?;
        ftruncate(&file, bytes).map_err(refused)?;
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals)).map_err(refused)?;
        Ok(file)
    }

    /// The side that fills blocks.
    pub(super) fn producer(file: impl AsFd, spec: &Spec) -> Result<Self, PlatformError> {
        let memory = Arc::new(Shared::map(file, spec)?);
        let (written, read) = (Futex::new(&memory, WRITTEN), Futex::new(&memory, READ));
        Ok(Self { memory, turns: Turns::producer(written, read, spec.buffers), spec: *spec })
    }

    /// The side that uses them.
    pub(super) fn consumer(file: impl AsFd, spec: &Spec) -> Result<Self, PlatformError> {
        let memory = Arc::new(Shared::map(file, spec)?);
        let (written, read) = (Futex::new(&memory, WRITTEN), Futex::new(&memory, READ));
        Ok(Self { memory, turns: Turns::consumer(written, read), spec: *spec })
    }

    /// Waits for this side's next block, uses it in place and gives it to the other side.
    pub(super) fn next<T>(
        &mut self,
        using: impl FnOnce(&mut [u8]) -> T,
    ) -> Result<T, PlatformError> {
        let number = self.turns.wait().map_err(|none| match none {
            NoTurn::Closed => PlatformError::system("wait for a block of a ring", Errno::EPIPE),
            NoTurn::Late => PlatformError::system("wait for a block of a ring", Errno::ETIMEDOUT),
        })?;
        let slot = usize::try_from(number % u64::from(self.spec.buffers)).unwrap_or(0);
        let start = HEADER_BYTES + slot * stride_of(&self.spec);
        debug_assert!(start + self.spec.block_bytes <= self.memory.bytes.get());
        // SAFETY: the mapping holds all blocks, and this one is this side's alone until `pass`: `Turns`
        // gives a block to one side at a time.
        let block = unsafe {
            let start = self.memory.start.cast::<u8>().add(start).as_ptr();
            slice::from_raw_parts_mut(start, self.spec.block_bytes)
        };
        let used = using(block);
        self.turns.pass();
        Ok(used)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.turns.close();
    }
}

/// The mapping.
#[derive(Debug)]
struct Shared {
    start: NonNull<libc::c_void>,
    bytes: NonZeroUsize,
}

// SAFETY: the mapping belongs to this value, and what is in it is reached through atomics or by the
// side whose turn it is.
unsafe impl Send for Shared {}

// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn map(file: impl AsFd, spec: &Spec) -> Result<Self, PlatformError> {
        let refused = |errno| PlatformError::system("map a ring", errno);
        let bytes = NonZeroUsize::new(length_of(spec)).ok_or_else(|| refused(Errno::EINVAL))?;
        let held = fstat(&file).map_err(refused)?.st_size;
        if usize::try_from(held).ok() != Some(bytes.get()) {
            let reason = format!("a ring of {held} B, expected one of {bytes} B");
            return Err(PlatformError::file("shared memory", reason));
        }
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_POPULATE;
        // SAFETY: the kernel chooses an address that nothing else uses; the file has this length and
        // its seals keep it.
        let start = unsafe { mmap(None, bytes, access, flags, file, 0) }.map_err(refused)?;
        Ok(Self { start, bytes })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped with this start and length, and nothing refers to it now. It can only fail
        // for another start or length.
        let _ = unsafe { munmap(self.start, self.bytes.get()) };
    }
}

/// A word in the header and the mark of its sleeper.
#[derive(Debug)]
struct Futex {
    memory: Arc<Shared>,
    /// Where its word begins in the mapping [B].
    at: usize,
}

impl Futex {
    fn new(memory: &Arc<Shared>, at: usize) -> Self {
        Self { memory: Arc::clone(memory), at }
    }

    /// The word itself, or the mark behind it.
    fn word(&self, index: usize) -> &AtomicU32 {
        // SAFETY: both words of a futex lie in the header, aligned to four bytes, live as long as the
        // mapping, and are reached as atomics only.
        unsafe {
            AtomicU32::from_ptr(
                self.memory.start.byte_add(self.at).cast::<u32>().add(index).as_ptr(),
            )
        }
    }

    fn call(&self, operation: i32, value: u32, until: *const libc::timespec) -> Result<(), Errno> {
        let word: *mut u32 = self.word(0).as_ptr();
        let anybody = libc::FUTEX_BITSET_MATCH_ANY;
        let unused = ptr::null::<u32>();
        // SAFETY: the word outlives the call, and the time is null or lives through it.
        let outcome = unsafe {
            libc::syscall(libc::SYS_futex, word, operation, value, until, unused, anybody)
        };
        Errno::result(outcome).map(drop)
    }
}

impl Word for Futex {
    /// Some microseconds: less than a sleep and a wake-up cost, and no more than that is taken from
    /// another stage on the same processor.
    const LOOKS: u32 = 50;

    fn load(&self) -> u32 {
        self.word(0).load(Ordering::Acquire)
    }

    fn store(&self, word: u32) {
        self.word(0).store(word, Ordering::Release);
    }

    fn sleeping(&self) -> bool {
        self.word(1).load(Ordering::Relaxed) != 0
    }

    fn set_sleeping(&self, sleeping: bool) {
        self.word(1).store(sleeping.into(), Ordering::Relaxed);
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn deadline_ns(&self) -> u64 {
        monotonic_ns().saturating_add(nanos_of(PATIENCE))
    }

    fn sleep(&self, seen: u32, deadline_ns: u64) -> bool {
        let until = libc::timespec {
            tv_sec: i64::try_from(deadline_ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(deadline_ns % 1_000_000_000).unwrap_or(0),
        };
        // The word moved, a signal came, somebody woke: all of it means to look again. Only the
        // deadline ends the wait; without the bit of another clock it is one of the monotonic clock.
        self.call(libc::FUTEX_WAIT_BITSET, seen, &raw const until) != Err(Errno::ETIMEDOUT)
    }

    fn wake(&self) {
        // It fails only for an address that is none.
        let _ = self.call(libc::FUTEX_WAKE_BITSET, 1, ptr::null());
    }
}

/// Bytes of the whole mapping [B].
fn length_of(spec: &Spec) -> usize {
    HEADER_BYTES + spec.buffers as usize * stride_of(spec)
}

/// Bytes from one block to the next [B].
fn stride_of(spec: &Spec) -> usize {
    spec.block_bytes.next_multiple_of(LINE_BYTES)
}

/// The header: a page, so that the blocks begin at one.
const HEADER_BYTES: usize = 4096;

/// Two neighbouring cache lines, which many processors fetch together.
const LINE_BYTES: usize = 128;

/// Where the count of filled blocks is [B].
const WRITTEN: usize = 0;

/// Where the count of used blocks is [B].
const READ: usize = LINE_BYTES;
