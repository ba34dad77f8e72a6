//! Memory of one kind for every processor, touched first by the processor that uses it, and kernels run
//! over it by one or by all of them at a time.

use std::sync::Barrier;
use std::thread;

use bitpath_platform::PlatformError;
use bitpath_platform::affinity::pin_thread;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::counters::{Counters, Counts};
use bitpath_platform::memory::kernels::{self, Mix, Operation};
use bitpath_platform::memory::{Buffer, Pages};

use super::SAMPLE_NS;
use crate::BenchError;
use crate::here::{joined, on_cpu};

/// A buffer for each processor.
#[derive(Debug)]
pub struct Arena {
    places: Vec<Place>,
}

/// A processor and its buffer.
#[derive(Debug)]
struct Place {
    cpu: usize,
    buffer: Buffer,
}

impl Arena {
    /// Takes memory for the largest working set of the first processor; where all work together, each
    /// has its part of a set.
    ///
    /// # Errors
    /// When the memory cannot be had, or a processor may not be used.
    pub fn take(cpus: &[usize], largest: usize, pages: Pages) -> Result<Self, BenchError> {
        let place = |(index, &cpu): (usize, &usize)| {
            let bytes = if index == 0 { largest } else { largest / cpus.len() };
            Place::take(cpu, bytes, pages)
        };
        let places = cpus.iter().enumerate().map(place).collect::<Result<_, _>>()?;
        Ok(Self { places })
    }

    /// Payload a second of an operation by a mix [B/s], that of all processors together where all work.
    ///
    /// # Errors
    /// When a processor may not be used any more.
    ///
    /// # Panics
    /// When the working set is larger than what was taken.
    pub fn bandwidth(
        &mut self,
        operation: Operation,
        mix: Mix,
        working_set: usize,
        all: bool,
    ) -> Result<Moved, BenchError> {
        let workers = if all { self.places.len() } else { 1 };
        let share = working_set / workers;
        let together = Barrier::new(workers);
        let work = |place: &mut Place| {
            let pinned = pin_thread(place.cpu);
            // Also where a processor is refused, so that the others do not wait for ever.
            together.wait();
            let _pinned = pinned?;
            let (to, from) = halves(operation, &mut place.buffer[..share]);
            Ok(moved(|| kernels::run(operation, mix, to, from)))
        };
        // They count the threads that are started from now on.
        let counters = Counters::open().ok();
        let moved: Result<Vec<Moved>, PlatformError> = thread::scope(|scope| {
            let work = &work;
            let places = self.places[..workers].iter_mut();
            let hands: Vec<_> = places.map(|place| scope.spawn(move || work(place))).collect();
            hands.into_iter().map(joined).collect()
        });
        let mut all = Moved::default();
        for Moved { bytes, bytes_per_second, .. } in moved? {
            all.bytes += bytes;
            all.bytes_per_second += bytes_per_second;
        }
        all.counts = counters.map(|counters| counters.read()).transpose()?;
        Ok(all)
    }
}

/// What one sample moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Payload of all tries [B].
    pub bytes: usize,
    /// Payload a second of the last, the longest [B/s].
    pub bytes_per_second: f64,
    /// What the processor counted of all tries, where it counts.
    pub counts: Option<Counts>,
}

impl Place {
    /// Memory that its processor touches first, so that it is near to it.
    fn take(cpu: usize, bytes: usize, pages: Pages) -> Result<Self, PlatformError> {
        Ok(Self { cpu, buffer: on_cpu(cpu, || Buffer::of(bytes, pages))? })
    }
}

/// Destination and source within a working set: all of it is read or written, or one half copied to the
/// other.
fn halves(operation: Operation, set: &mut [u8]) -> (&mut [u8], &[u8]) {
    match operation {
        Operation::Read => (&mut [], set),
        Operation::Write => (set, &[]),
        Operation::Copy => {
            let (to, from) = set.split_at_mut(set.len() / 2);
            (to, from)
        }
    }
}

/// An operation repeated for the length of a sample; the tries before it warm the caches.
fn moved(mut operation: impl FnMut() -> usize) -> Moved {
    let (mut repeats, mut before) = (1, 0);
    loop {
        let start_ns = monotonic_ns();
        let mut bytes = 0;
        for _ in 0..repeats {
            bytes += operation();
        }
        let elapsed_ns = monotonic_ns() - start_ns;
        if elapsed_ns >= SAMPLE_NS {
            let bytes_per_second = bytes as f64 / elapsed_ns as f64 * 1e9;
            return Moved { bytes: before + bytes, bytes_per_second, counts: None };
        }
        before += bytes;
        repeats *= 4;
    }
}

#[cfg(test)]
mod tests {
    use bitpath_platform::affinity::allowed_cpus;

    use super::*;

    #[test]
    fn all_processors_move_their_part_of_a_set() {
        let cpus = allowed_cpus().unwrap();
        let mut arena = Arena::take(&cpus, 1 << 16, Pages::Usual).unwrap();
        assert_eq!(arena.places.len(), cpus.len());
        for (operation, all) in [(Operation::Read, false), (Operation::Copy, true)] {
            let moved = arena.bandwidth(operation, Mix::Scalar, 1 << 16, all).unwrap();
            assert!(moved.bytes_per_second.is_finite() && moved.bytes_per_second > 0.0);
            // A copy's payload is half of its set.
            assert_eq!(moved.bytes % (1 << 15), 0, "{moved:?}");
        }
    }

    #[test]
    fn a_processor_that_is_refused_is_named_and_stops_nobody() {
        let first = allowed_cpus().unwrap()[0];
        let refused = Arena::take(&[first, 1023], 1 << 16, Pages::Usual).unwrap_err();
        assert!(refused.to_string().contains("1023"), "{refused}");
    }

    #[test]
    fn a_copy_has_half_of_the_set_for_each_end() {
        let mut set = [0; 64];
        assert_eq!(halves(Operation::Copy, &mut set).0.len(), 32);
        assert_eq!(halves(Operation::Read, &mut set).1.len(), 64);
        assert_eq!(halves(Operation::Write, &mut set).0.len(), 64);
    }
}
