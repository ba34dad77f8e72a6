//! What a call costs: the call itself, and each pass over its bytes at the speed of the cache that
//! holds them, of the core, or of the core's share of the memory controller.
//!
//! ```text
//! read           socket ──► user buffer                    1 pass
//! read + write   page cache ──► user buffer ──► socket     2 passes, the second one from what was just read
//! ```

use super::core::Running;
use super::description::{CopyPath, Direction};
use super::engine::Machine;

/// Work of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// Time of the core [ps].
    pub(super) time: u64,
    /// Whether it copies from or to memory, which all cores share.
    pub(super) in_memory: bool,
}

impl Machine<'_> {
    /// A call that moves so many bytes between a process and its socket.
    pub(super) fn call(&self, process: usize, bytes: u64, now: u64) -> Call {
        let of = &self.setup.flows[process];
        let without_copy = |time| Call { time, in_memory: false };
        match of.copies {
            CopyPath::TwoCopy if of.direction == Direction::Receive => {
                let all = self.journal.kernel.level() + self.journal.user.level() + bytes;
                let cached = self.setup.memory.direct_cache_access;
                let pass = self.pass(process, bytes, cached.then_some(all), now);
                Call { time: of.stack.call + pass.time, ..pass }
            }
            CopyPath::TwoCopy => {
                let first = self.pass(process, bytes, None, now);
                let second = self.pass(process, bytes, Some(2 * bytes), now);
                Call { time: 2 * of.stack.call + first.time + second.time, ..first }
            }
            CopyPath::Sendfile => without_copy(of.stack.call),
            CopyPath::ZeroCopy => without_copy(of.stack.call + of.stack.pin),
            CopyPath::Rdma => without_copy(0),
        }
    }

    /// One pass over bytes of which so many are in use at a time; none where they are in no cache.
    fn pass(&self, process: usize, bytes: u64, in_use: Option<u64>, now: u64) -> Call {
        let memory = &self.setup.memory;
        let fits = |in_use: u64| memory.caches.iter().find(|(size, _)| *size >= in_use);
        let cache = in_use.and_then(fits);
        let byte = cache.map_or_else(|| self.memory_byte(process, now), |(_, byte)| *byte);
        Call { time: (bytes * byte) >> 16, in_memory: cache.is_none() }
    }

    /// Time of a byte from memory: a core's own speed, or its share of the controller's [1/65536 ps].
    fn memory_byte(&self, process: usize, now: u64) -> u64 {
        let own_core = self.processes[process].core;
        let others = self.cores.iter().enumerate().filter(|(index, core)| {
            let copies = |other: usize| self.processes[other].copies;
            *index != own_core && matches!(core.running, Running::Process(other) if copies(other))
        });
        let sharing = 1 + others.count() as u64;
        let memory = &self.setup.memory;
        let controller = if self.bus.is_busy(now) {
            memory.beside_card_byte_65536
        } else {
            memory.controller_byte_65536
        };
        memory.core_byte_65536.max(controller * sharing)
    }
}
