//! A stage of a pipeline: it takes blocks, does a trivial pass over them, and sends them on.
//!
//! ```text
//! source: fills every word with the block's number ──► filter: inverts every word ──► sink: adds all words
//! ```
//!
//! What a stage is follows from its channels: without an incoming one it is the source, without an
//! outgoing one the sink. Words have 8 bytes.

use bitpath_platform::channel::{Offer, Place, Reader, Spec, Writer};
use bitpath_platform::clock;
use bitpath_platform::usage::ThreadUsage;

use super::spin::spin_until;
use super::{Report, SliceUse, StageOrder, StageUse, not_open};
use crate::BenchError;

/// The channels of one stage.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    offer: Option<Offer>,
    incoming: Option<Reader>,
    outgoing: Option<Writer>,
}

impl Channels {
    /// Makes the incoming channel, in place of an earlier one.
    pub(super) fn offer(&mut self, spec: &Spec) -> Result<Report, BenchError> {
        self.incoming = None;
        let place = self.offer.insert(Offer::new(spec)?).place()?;
        Ok(Report::Offered { place })
    }

    /// Joins the outgoing channel, in place of an earlier one.
    pub(super) fn join(&mut self, spec: &Spec, place: &Place) -> Result<Report, BenchError> {
        self.outgoing = None;
        let writer = self.outgoing.insert(Writer::join(spec, place)?);
        Ok(Report::Joined { given_bytes: writer.given_bytes() as u64 })
    }

    /// Takes who has joined the incoming channel.
    pub(super) fn accept(&mut self) -> Result<Report, BenchError> {
        let offer = self.offer.take().ok_or_else(|| not_open("a channel"))?;
        self.incoming = Some(offer.accept()?);
        Ok(Report::Done)
    }

    /// Passes so many blocks. The channels are closed afterwards: the other stages of a pipeline that
    /// fails are told so.
    pub(super) fn stream(&mut self, order: &StageOrder) -> Result<Report, BenchError> {
        let (mut incoming, mut outgoing) = (self.incoming.take(), self.outgoing.take());
        if incoming.is_none() {
            spin_until(order.start_ns);
        }
        let before = ThreadUsage::now();
        let began_ns = clock::monotonic_ns();
        let mut pass = Pass::default();
        for number in 0..order.blocks {
            if number % BLOCKS_A_LOOK == 0 {
                check_pace(began_ns, number, order.blocks)?;
            }
            match (&mut incoming, &mut outgoing) {
                (None, Some(outgoing)) => outgoing.send(|block| pass.fill(block, number))?,
                (Some(incoming), None) => incoming.receive(|block| pass.add(block))?,
                (Some(incoming), Some(outgoing)) => {
                    let pass_on = |from: &[u8]| outgoing.send(|to| pass.invert(from, to));
                    incoming.receive(pass_on)??;
                }
                (None, None) => return Err(not_open("a channel")),
            }
        }
        let ended_ns = clock::monotonic_ns();
        let used = ThreadUsage::now().since(&before);
        let usage = SliceUse {
            calls: order.blocks,
            bytes: pass.bytes,
            cpu_ns: used.cpu_ns,
            elapsed_ns: used.elapsed_ns,
            sleeps: used.voluntary_switches,
        };
        Ok(Report::Stage(StageUse { began_ns, ended_ns, sum: pass.sum, usage }))
    }
}

/// Longest time that a stage takes for all of its blocks [ns]: hundreds of times what they should take. A
/// channel that stalls again and again, as TCP does with room for less than a segment, is given up.
const LONGEST_NS: u64 = 5_000_000_000;

/// Blocks between two looks at the clock: a look costs less than a hundredth of them.
const BLOCKS_A_LOOK: u64 = 16;

/// Whether the blocks still come fast enough to wait for all of them.
fn check_pace(began_ns: u64, number: u64, blocks: u64) -> Result<(), BenchError> {
    if clock::monotonic_ns() - began_ns < LONGEST_NS {
        return Ok(());
    }
    let seconds = LONGEST_NS / 1_000_000_000;
    let reason = format!("the channel stalls: {number} of {blocks} blocks in {seconds} s");
    Err(BenchError::Worker { worker: "worker".into(), task: "pass blocks on".into(), reason })
}

/// What a stage does with blocks, and what it did so far.
#[derive(Debug, Default)]
struct Pass {
    bytes: u64,
    /// Sum of the words that the sink should get (source) or got (sink), modulo 2⁶⁴.
    sum: u64,
}

impl Pass {
    fn fill(&mut self, block: &mut [u8], number: u64) {
        let words = block.as_chunks_mut().0;
        words.fill(number.to_ne_bytes());
        self.sum = self.sum.wrapping_add((!number).wrapping_mul(words.len() as u64));
        self.bytes += block.len() as u64;
    }

    fn invert(&mut self, from: &[u8], to: &mut [u8]) {
        for (to, from) in to.as_chunks_mut().0.iter_mut().zip(from.as_chunks().0) {
            *to = (!u64::from_ne_bytes(*from)).to_ne_bytes();
        }
        self.bytes += from.len() as u64;
    }

    fn add(&mut self, block: &[u8]) {
        for word in block.as_chunks().0 {
            self.sum = self.sum.wrapping_add(u64::from_ne_bytes(*word));
        }
        self.bytes += block.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_platform::channel::Kind;
    use std::thread;

    fn place(report: Report) -> Place {
        match report {
            Report::Offered { place } => place,
            other => panic!("{other:?}"),
        }
    }

    fn stage(report: Report) -> StageUse {
        match report {
            Report::Stage(stage) => stage,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_word_passes_the_filter_and_reaches_the_sink() {
        let order = StageOrder { blocks: 100, start_ns: 0 };
        for kind in Kind::ALL {
            let spec = Spec { kind, buffers: 2, block_bytes: 4096 };
            let [mut source, mut filter, mut sink] = [(); 3].map(|()| Channels::default());
            let before = place(filter.offer(&spec).unwrap());
            let behind = place(sink.offer(&spec).unwrap());
            source.join(&spec, &before).unwrap();
            filter.join(&spec, &behind).unwrap();
            filter.accept().unwrap();
            sink.accept().unwrap();
            let (sent, passed, got) = thread::scope(|scope| {
                let filtering = scope.spawn(|| stage(filter.stream(&order).unwrap()));
                let adding = scope.spawn(|| stage(sink.stream(&order).unwrap()));
                let sent = stage(source.stream(&order).unwrap());
                (sent, filtering.join().unwrap(), adding.join().unwrap())
            });
            assert_eq!(sent.sum, got.sum, "{spec}");
            assert_eq!([sent, passed, got].map(|stage| stage.usage.bytes), [409_600; 3], "{spec}");
            assert!(got.ended_ns > sent.began_ns, "{spec}");
        }
    }

    #[test]
    fn a_channel_that_stalls_is_given_up() {
        let now_ns = clock::monotonic_ns();
        assert!(check_pace(now_ns, 16, 1536).is_ok());
        let error = check_pace(now_ns - LONGEST_NS, 16, 1536).unwrap_err();
        assert!(error.refusal(), "the rest of a probe goes on");
        assert!(error.to_string().contains("16 of 1536 blocks in 5 s"), "{error}");
    }

    #[test]
    fn a_stage_that_fails_ends_the_others() {
        let order = StageOrder { blocks: 100, start_ns: 0 };
        for kind in Kind::ALL {
            let spec = Spec { kind, buffers: 1, block_bytes: 64 };
            let [mut source, mut sink] = [(); 2].map(|()| Channels::default());
            let place = place(sink.offer(&spec).unwrap());
            source.join(&spec, &place).unwrap();
            sink.accept().unwrap();
            drop(source);
            assert!(sink.stream(&order).is_err(), "{spec}");
            assert!(Channels::default().stream(&order).is_err());
        }
    }
}
