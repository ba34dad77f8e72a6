//! Three workers in a row: source, filter and sink, each on its processor.
//!
//! ```text
//! source ══ blocks ══► filter ══ blocks ══► sink      or, directly:   source ══ blocks ══► sink
//! ```

use std::path::Path;
use std::time::Duration;

use bitpath_platform::channel::Spec;
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::process::Worker;

use crate::BenchError;
use crate::sampling::Bed;
use crate::testbed::{ANSWER_PATIENCE, task};
use crate::worker::{Order, Report, StageOrder, StageUse};

/// The workers.
#[derive(Debug)]
pub(super) struct Line {
    stages: [Worker; 3],
}

/// Which of the workers pass blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// All three.
    Filtered,
    /// Source and sink alone.
    Direct,
}

impl Route {
    fn stages(self) -> &'static [usize] {
        match self {
            Self::Filtered => &[SOURCE, FILTER, SINK],
            Self::Direct => &[SOURCE, SINK],
        }
    }
}

/// The stages, as they stand in a row.
const SOURCE: usize = 0;
const FILTER: usize = 1;
const SINK: usize = 2;

/// What a number of blocks took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Passed {
    /// Bytes that reached the sink [B].
    pub(super) bytes: u64,
    /// Time from the source's begin to the sink's end [ns].
    pub(super) elapsed_ns: u64,
    /// Processor time of all stages [ns].
    pub(super) cpu_ns: u64,
    /// Room of the source's side of its channel, as the system gave it [B].
    pub(super) given_bytes: u64,
}

impl Line {
    /// Starts the workers, each on its processor: those of source, filter and sink.
    pub(super) fn open(program: &Path, cpus: [usize; 3]) -> Result<Self, BenchError> {
        let start = |name| Worker::spawn(name, program, &["worker"]);
        let stages = [start("source")?, start("filter")?, start("sink")?];
        let mut line = Self { stages };
        for (stage, cpu) in cpus.into_iter().enumerate() {
            line.ask(stage, &Order::Pin { cpu })?;
        }
        Ok(line)
    }

    /// Lays channels along the route and passes so many blocks over them.
    pub(super) fn pass(
        &mut self,
        route: Route,
        spec: &Spec,
        blocks: u64,
    ) -> Result<Passed, BenchError> {
        let given_bytes = self.lay(route, spec)?;
        let order = Order::Stream(StageOrder { blocks, start_ns: monotonic_ns() + LEAD_NS });
        let stages = route.stages();
        // The sink first: whoever sends finds somebody to receive.
        for &stage in stages.iter().rev() {
            self.stages[stage].send(&order)?;
        }
        // All are heard, also where one has failed: a failure closes the channels of the others.
        let answers: Vec<_> =
            stages.iter().map(|&stage| self.answer(stage, &order, STREAM_PATIENCE)).collect();
        let used = |(answer, &stage)| match answer? {
            Report::Stage(used) => Ok(used),
            report => Err(self.unexpected(stage, &order, &report)),
        };
        let used: Vec<StageUse> =
            answers.into_iter().zip(stages).map(used).collect::<Result<_, BenchError>>()?;
        passed(&used, given_bytes)
    }

    /// Makes a channel between each two neighbours; the room of the first [B].
    fn lay(&mut self, route: Route, spec: &Spec) -> Result<u64, BenchError> {
        let mut room = None;
        for pair in route.stages().windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let offer = Order::OfferChannel(*spec);
            let place = match self.ask(to, &offer)? {
                Report::Offered { place } => place,
                report => return Err(self.unexpected(to, &offer, &report)),
            };
            let join = Order::JoinChannel { spec: *spec, place };
            let given_bytes = match self.ask(from, &join)? {
                Report::Joined { given_bytes } => given_bytes,
                report => return Err(self.unexpected(from, &join, &report)),
            };
            self.ask(to, &Order::AcceptChannel)?;
            room.get_or_insert(given_bytes);
        }
        Ok(room.unwrap_or(0))
    }

    fn ask(&mut self, stage: usize, order: &Order) -> Result<Report, BenchError> {
        self.stages[stage].send(order)?;
        self.answer(stage, order, ANSWER_PATIENCE)
    }

    fn answer(
        &mut self,
        stage: usize,
        order: &Order,
        patience: Duration,
    ) -> Result<Report, BenchError> {
        let worker = &mut self.stages[stage];
        match worker.receive(patience)? {
            Report::Failed { reason } => {
                Err(BenchError::Worker { worker: worker.name().into(), task: task(order), reason })
            }
            report => Ok(report),
        }
    }

    fn unexpected(&self, stage: usize, order: &Order, report: &Report) -> BenchError {
        let answer = format!("{report:?}").chars().take(80).collect();
        BenchError::Protocol { worker: self.stages[stage].name().into(), task: task(order), answer }
    }
}

/// What the stages say together: all that was sent has arrived, every word of it filtered or not.
fn passed(used: &[StageUse], given_bytes: u64) -> Result<Passed, BenchError> {
    let (Some(source), Some(sink)) = (used.first(), used.last()) else {
        return Ok(Passed { bytes: 0, elapsed_ns: 0, cpu_ns: 0, given_bytes });
    };
    // A filter inverts every word: what a sink adds up without one differs in a known way.
    let words = sink.usage.bytes / 8;
    let direct = 0_u64.wrapping_sub(words).wrapping_sub(source.sum);
    let wanted = if used.len() > 2 { source.sum } else { direct };
    if sink.sum != wanted {
        let reason = format!("the words add up to {}, not to {wanted}", sink.sum);
        let task = "receive what was sent".into();
        return Err(BenchError::Worker { worker: "sink".into(), task, reason });
    }
    Ok(Passed {
        bytes: sink.usage.bytes,
        elapsed_ns: sink.ended_ns.saturating_sub(source.began_ns),
        cpu_ns: used.iter().map(|stage| stage.usage.cpu_ns).sum(),
        given_bytes,
    })
}

impl Bed for Line {
    /// The source's and the filter's processor at the same time; the sink's is one of them, or as good.
    fn speed(&mut self) -> Result<f64, BenchError> {
        for stage in [SOURCE, FILTER] {
            self.stages[stage].send(&Order::Speed)?;
        }
        let mut slowest = f64::INFINITY;
        for stage in [SOURCE, FILTER] {
            match self.answer(stage, &Order::Speed, ANSWER_PATIENCE)? {
                Report::Speed { throughput, .. } => slowest = throughput.min(slowest),
                report => return Err(self.unexpected(stage, &Order::Speed, &report)),
            }
        }
        Ok(slowest)
    }

    fn pids(&self) -> Vec<u32> {
        self.stages.iter().map(Worker::pid).chain([std::process::id()]).collect()
    }
}

/// Time from the order to the source's begin [ns]: the others have read theirs by then.
const LEAD_NS: u64 = 500_000;

/// Longest wait for a stage: longer than a channel waits for a block, so that a stage says itself what
/// it waited for.
const STREAM_PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::SliceUse;

    fn stage(sum: u64) -> StageUse {
        let usage = SliceUse { bytes: 32, cpu_ns: 5, ..SliceUse::default() };
        StageUse { began_ns: 100, ended_ns: 300, sum, usage }
    }

    #[test]
    fn words_that_were_lost_or_changed_are_no_sample() {
        // Four words of value 7: inverted, their sum is that of 4 times !7.
        let inverted = (!7_u64).wrapping_mul(4);
        let filtered = passed(&[stage(inverted), stage(0), stage(inverted)], 64).unwrap();
        assert_eq!((filtered.bytes, filtered.elapsed_ns, filtered.cpu_ns), (32, 200, 15));
        assert_eq!(passed(&[stage(inverted), stage(28)], 64).unwrap().cpu_ns, 10);
        for wrong in [27, inverted] {
            let error = passed(&[stage(inverted), stage(wrong)], 64).unwrap_err().to_string();
            assert!(error.contains("the sink could not receive what was sent"), "{error}");
        }
    }
}
