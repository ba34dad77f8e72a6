//! The worker that decodes. It may use all processors, and uses as many as it has threads.

use std::path::Path;
use std::time::Duration;

use bitpath_platform::affinity;
use bitpath_platform::process::Worker;

use crate::BenchError;
use crate::sampling::Bed;
use crate::testbed::{ANSWER_PATIENCE, task};
use crate::worker::{FrameTime, Order, Report, SliceUse};

/// The worker and its processors.
#[derive(Debug)]
pub(super) struct Player {
    worker: Worker,
    pub(super) cpus: Vec<usize>,
}

/// Longest wait for a pass over a clip: ten minutes of film at a fifth of real time.
const PASS_PATIENCE: Duration = Duration::from_secs(300);

impl Player {
    pub(super) fn open(program: &Path) -> Result<Self, BenchError> {
        let cpus = affinity::allowed_cpus()?;
        Ok(Self { worker: Worker::spawn("decoder", program, &["worker"])?, cpus })
    }

    /// Has a clip read into memory, so that no pass waits for it.
    pub(super) fn load(&mut self, clip: &Path) -> Result<(), BenchError> {
        self.ask(&Order::LoadClip { clip: clip.to_owned() }, PASS_PATIENCE).map(drop)
    }

    /// One pass on one thread, frame by frame.
    pub(super) fn times(&mut self, clip: &Path) -> Result<Vec<FrameTime>, BenchError> {
        let order = Order::Decode { clip: clip.to_owned(), rest_ns: 0 };
        match self.ask(&order, PASS_PATIENCE)? {
            Report::Decoded(times) => Ok(times),
            report => Err(self.unexpected(&order, &report)),
        }
    }

    /// One pass on so many threads; a thread alone stays on one processor.
    pub(super) fn pass(&mut self, clip: &Path, threads: usize) -> Result<SliceUse, BenchError> {
        let order = Order::DecodeAll { clip: clip.to_owned(), threads };
        match self.ask(&order, PASS_PATIENCE)? {
            Report::Slice(used) => Ok(used),
            report => Err(self.unexpected(&order, &report)),
        }
    }

    fn ask(&mut self, order: &Order, patience: Duration) -> Result<Report, BenchError> {
        self.worker.send(order)?;
        match self.worker.receive(patience)? {
            Report::Failed { reason } => {
                let worker = self.worker.name().into();
                Err(BenchError::Worker { worker, task: task(order), reason })
            }
            report => Ok(report),
        }
    }

    fn unexpected(&self, order: &Order, report: &Report) -> BenchError {
        let answer = format!("{report:?}").chars().take(80).collect();
        BenchError::Protocol { worker: self.worker.name().into(), task: task(order), answer }
    }
}

impl Bed for Player {
    fn speed(&mut self) -> Result<f64, BenchError> {
        match self.ask(&Order::Speed, ANSWER_PATIENCE)? {
            Report::Speed { throughput, .. } => Ok(throughput),
            report => Err(self.unexpected(&Order::Speed, &report)),
        }
    }

    fn pids(&self) -> Vec<u32> {
        vec![self.worker.pid(), std::process::id()]
    }
}
