//! What a sender sends: memory or a file in memory, cycled through message by message.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitpath_platform::memory::Buffer;
use bitpath_platform::memory::file::MemoryFile;

use crate::BenchError;
use crate::worker::FlowOrder;

/// Sources that were made, so that no transfer waits for one.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// By whether they are files and by size [B].
    made: BTreeMap<(bool, usize), Arc<Source>>,
    /// Messages sent so far [count]: the next transfer goes on behind them, where a large source is not
    /// in any cache.
    sent: u64,
}

/// Bytes to send.
#[derive(Debug)]
pub(super) enum Source {
    Memory(Buffer),
    File(MemoryFile),
}

impl Sources {
    /// The source of an order, made once.
    pub(super) fn of(&mut self, order: &FlowOrder) -> Result<Arc<Source>, BenchError> {
        let (is_file, bytes) = (order.path.reads_file(), order.cycle_bytes());
        if let Some(source) = self.made.get(&(is_file, bytes)) {
            return Ok(Arc::clone(source));
        }
        let others: usize = self.made.keys().map(|(_, bytes)| bytes).sum();
        if others > 0 && others + bytes > KEPT_BYTES {
            self.made.clear();
        }
        let source = Arc::new(if is_file {
            Source::File(MemoryFile::new(bytes, &vec![FILLER; PATTERN_BYTES])?)
        } else {
            let mut memory = Buffer::new(bytes)?;
            memory.fill(FILLER);
            Source::Memory(memory)
        });
        self.made.insert((is_file, bytes), Arc::clone(&source));
        Ok(source)
    }
}

impl Sources {
    /// The message of its source with which a transfer begins; it is counted as sent.
    pub(super) fn first_message(&mut self, order: &FlowOrder) -> u64 {
        let first = self.sent;
        self.sent = self.sent.wrapping_add(order.messages);
        first
    }
}

/// The places of one stream's messages in a source.
#[derive(Debug)]
pub(super) struct Places {
    next: usize,
    message_bytes: usize,
    source_bytes: usize,
}

impl Places {
    /// Streams begin apart from each other, so that they do not send the same bytes; the first begins
    /// with this message.
    pub(super) fn new(order: &FlowOrder, first: u64, stream: usize, streams: usize) -> Self {
        let (message_bytes, source_bytes) = (order.message_bytes, order.cycle_bytes());
        let messages = source_bytes / message_bytes;
        let apart = messages * stream / streams.max(1);
        let first = usize::try_from(first % messages as u64).unwrap_or(0);
        let next = (first + apart) % messages * message_bytes;
        Self { next, message_bytes, source_bytes }
    }

    /// Where the next message begins [B].
    pub(super) fn next(&mut self) -> usize {
        let place = self.next;
        self.next += self.message_bytes;
        if self.next + self.message_bytes > self.source_bytes {
            self.next = 0;
        }
        place
    }
}

/// Most bytes of all sources that are kept together [B]: the largest and small change.
const KEPT_BYTES: usize = crate::worker::MAX_SOURCE_BYTES + (256 << 20);

/// Bytes written to a file at once [B]: they fit a second-level cache.
const PATTERN_BYTES: usize = 256 << 10;

/// What the bytes are: a page of zeros might be shared.
const FILLER: u8 = 0x5a;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::CopyPath;

    fn order(message_bytes: usize, source_bytes: usize) -> FlowOrder {
        FlowOrder { source_bytes, ..FlowOrder::plain(message_bytes, 1) }
    }

    #[test]
    fn messages_stay_within_the_source_and_use_all_of_it() {
        let mut places = Places::new(&order(300, 1000), 0, 0, 1);
        assert_eq!([0; 7].map(|_| places.next()), [0, 300, 600, 0, 300, 600, 0]);
        let mut second = Places::new(&order(300, 1000), 0, 1, 2);
        assert_eq!([0; 3].map(|_| second.next()), [300, 600, 0]);
        let mut later = Places::new(&order(300, 1000), 7, 1, 2);
        assert_eq!([0; 3].map(|_| later.next()), [600, 0, 300]);
    }

    #[test]
    fn a_source_smaller_than_a_message_is_one_message() {
        let mut places = Places::new(&order(300, 10), 5, 7, 8);
        assert_eq!([0; 3].map(|_| places.next()), [0; 3]);
    }

    #[test]
    fn a_source_is_made_once_and_files_are_apart_from_memory() {
        let mut sources = Sources::default();
        let memory = sources.of(&order(10, 4096)).unwrap();
        assert!(Arc::ptr_eq(&memory, &sources.of(&order(20, 4096)).unwrap()));
        let file = sources.of(&FlowOrder { path: CopyPath::Splice, ..order(10, 4096) }).unwrap();
        assert!(matches!((&*memory, &*file), (Source::Memory(_), Source::File(_))));
        assert_eq!(sources.made.len(), 2);
    }
}
