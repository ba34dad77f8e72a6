//! Whose turn it is at a ring of blocks: one producer, one consumer, each with a count of the blocks
//! that it has passed on.
//!
//! ```text
//! producer may fill block n   when  n - blocks of the ring < read
//! consumer may use block n    when  n < written
//! ```
//!
//! A side that must wait looks a few times and then sleeps. It says so before it looks for the last
//! time, and the other side looks whether somebody sleeps after it has counted, so that one of the
//! two sees the other: no wake-up is lost.

/// A word that one side publishes and the other waits for: a count of blocks, and whether its side
/// is gone.
pub(super) trait Word {
    /// How often the word is looked at before its waiter sleeps.
    const LOOKS: u32;

    /// The word, with all that its side wrote before (`Acquire`).
    fn load(&self) -> u32;

    /// Publishes the word, with all that was written before (`Release`).
    fn store(&self, word: u32);

    /// Whether the waiter sleeps or is about to.
    fn sleeping(&self) -> bool;

    /// The waiter's word on whether it sleeps.
    fn set_sleeping(&self, sleeping: bool);

    /// What was stored before is seen by all before anything that is loaded after (`SeqCst`).
    fn fence(&self);

    /// When a wait that begins now is to end [ns of the monotonic clock].
    fn deadline_ns(&self) -> u64;

    /// Sleeps while the word is `seen` and nobody wakes; it may wake for no reason. False once the
    /// deadline has passed.
    fn sleep(&self, seen: u32, deadline_ns: u64) -> bool;

    /// Wakes the waiter.
    fn wake(&self);
}

/// Why a side has no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// The other side is gone, and nothing of it is left.
    Closed,
    /// The deadline passed.
    Late,
}

/// One side of the ring.
#[derive(Debug)]
pub(super) struct Turns<W> {
    /// What this side publishes.
    mine: W,
    /// What it waits for.
    theirs: W,
    /// Blocks that this side has passed on.
    passed: u64,
    /// Blocks that it may be ahead of the other's count: those of the ring for the producer, none
    /// for the consumer.
    lead: u64,
}

impl<W: Word> Turns<W> {
    /// The side that fills the blocks of a ring of so many.
    pub(super) fn producer(written: W, read: W, blocks: u32) -> Self {
        Self { mine: written, theirs: read, passed: 0, lead: blocks.into() }
    }

    /// The side that uses them.
    pub(super) fn consumer(written: W, read: W) -> Self {
        Self { mine: read, theirs: written, passed: 0, lead: 0 }
    }

    /// Waits for this side's turn; the number of the block that is its own until [`Self::pass`].
    pub(super) fn wait(&self) -> Result<u64, NoTurn> {
        let stuck = count_of(self.passed.wrapping_sub(self.lead));
        for _ in 0..W::LOOKS {
            if self.theirs.load() & COUNT != stuck {
                return Ok(self.passed);
            }
            std::hint::spin_loop();
        }
        let deadline_ns = self.theirs.deadline_ns();
        self.theirs.set_sleeping(true);
        let outcome = self.sleep_past(stuck, deadline_ns);
        self.theirs.set_sleeping(false);
        outcome.map(|()| self.passed)
    }

    /// Sleeps until the other's count has moved.
    fn sleep_past(&self, stuck: u32, deadline_ns: u64) -> Result<(), NoTurn> {
        loop {
            self.theirs.fence();
            let word = self.theirs.load();
            if word & COUNT != stuck {
                return Ok(());
            }
            if word & CLOSED != 0 {
                return Err(NoTurn::Closed);
            }
            if !self.theirs.sleep(stuck, deadline_ns) {
                return Err(NoTurn::Late);
            }
        }
    }

    /// Gives the block to the other side.
    pub(super) fn pass(&mut self) {
        self.passed += 1;
        self.publish(count_of(self.passed));
    }

    /// Tells the other side that this one is gone.
    pub(super) fn close(&self) {
        self.publish(count_of(self.passed) | CLOSED);
    }

    fn publish(&self, word: u32) {
        self.mine.store(word);
        self.mine.fence();
        if self.mine.sleeping() {
            self.mine.wake();
        }
    }
}

/// The part of a number of blocks that the word holds: far more than a ring has, so that equal parts
/// are equal numbers.
#[expect(clippy::cast_possible_truncation, reason = "31 bits are kept")]
fn count_of(number: u64) -> u32 {
    number as u32 & COUNT
}

/// The bits of the count.
const COUNT: u32 = u32::MAX >> 1;

/// The bit of a side that is gone.
const CLOSED: u32 = !COUNT;

#[cfg(test)]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    /// A word whose futex is a lock and a condition, as it is in the kernel.
    #[derive(Default)]
    struct Model {
        word: AtomicU32,
        sleeping: AtomicBool,
        queue: Mutex<()>,
        woken: Condvar,
    }

    impl Word for Arc<Model> {
        const LOOKS: u32 = 1;

        fn load(&self) -> u32 {
            self.word.load(Ordering::Acquire)
        }

        fn store(&self, word: u32) {
            self.word.store(word, Ordering::Release);
        }

        fn sleeping(&self) -> bool {
            self.sleeping.load(Ordering::Relaxed)
        }

        fn set_sleeping(&self, sleeping: bool) {
            self.sleeping.store(sleeping, Ordering::Relaxed);
        }

        fn fence(&self) {
            fence(Ordering::SeqCst);
        }

        fn deadline_ns(&self) -> u64 {
            0
        }

        fn sleep(&self, seen: u32, _: u64) -> bool {
            let queue = self.queue.lock().unwrap();
            if self.word.load(Ordering::Relaxed) == seen {
                drop(self.woken.wait(queue).unwrap());
            }
            true
        }

        fn wake(&self) {
            let _queue = self.queue.lock().unwrap();
            self.woken.notify_all();
        }
    }

    /// Passes `blocks` numbers through a ring of `slots`; every interleaving of the two sides that the
    /// memory model allows is tried. A slot that both touch at once, a number that is lost or a sleep
    /// that nobody ends fails.
    fn every_interleaving(slots: u32, blocks: u64) {
        let mut model = loom::model::Builder::new();
        // Three changes of the running thread against its will; missing fences show at fewer.
        model.preemption_bound = Some(3);
        model.check(move || {
            let (written, read) = (Arc::new(Model::default()), Arc::new(Model::default()));
            let ring: Arc<Vec<UnsafeCell<u64>>> =
                Arc::new((0..slots).map(|_| UnsafeCell::new(0)).collect());
            let mut producer = Turns::producer(Arc::clone(&written), Arc::clone(&read), slots);
            let mut consumer = Turns::consumer(written, read);
            let shared = Arc::clone(&ring);
            let filling = thread::spawn(move || {
                for _ in 0..blocks {
                    let block = producer.wait().unwrap();
                    let slot = &shared[usize::try_from(block).unwrap() % shared.len()];
                    // SAFETY: the block is this side's own; the model fails where it is not.
                    slot.with_mut(|slot| unsafe { *slot = block + 1 });
                    producer.pass();
                }
                producer.close();
            });
            for expected in 0..blocks {
                let block = consumer.wait().unwrap();
                let slot = &ring[usize::try_from(block).unwrap() % ring.len()];
                // SAFETY: as above.
                assert_eq!(slot.with(|slot| unsafe { *slot }), expected + 1);
                consumer.pass();
            }
            assert_eq!(consumer.wait(), Err(NoTurn::Closed));
            filling.join().unwrap();
        });
    }

    #[test]
    fn one_block_is_never_filled_while_it_is_used_and_no_wake_up_is_lost() {
        every_interleaving(1, 2);
    }

    #[test]
    fn two_blocks_are_never_filled_while_they_are_used_and_no_wake_up_is_lost() {
        every_interleaving(2, 3);
    }

    #[test]
    fn a_producer_whose_consumer_is_gone_is_told() {
        loom::model(|| {
            let (written, read) = (Arc::new(Model::default()), Arc::new(Model::default()));
            let mut producer = Turns::producer(Arc::clone(&written), Arc::clone(&read), 1);
            let consumer = Turns::consumer(written, read);
            let leaving = thread::spawn(move || consumer.close());
            assert_eq!(producer.wait(), Ok(0));
            producer.pass();
            assert_eq!(producer.wait(), Err(NoTurn::Closed));
            leaving.join().unwrap();
        });
    }

    #[test]
    fn counts_go_on_where_their_bits_end() {
        assert_eq!(count_of(u64::from(COUNT) + 1), 0);
        assert_eq!(count_of(0_u64.wrapping_sub(8)), COUNT - 7);
        assert_eq!(COUNT & CLOSED, 0);
    }
}
