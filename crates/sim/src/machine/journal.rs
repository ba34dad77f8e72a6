//! The log: counts, drops with their state, and the course of every component.

use bitpath_measure::Picos;

use super::core::Core;
use super::outcome::{FlowOutcome, Incident, Outcome, Trouble};
use super::setup::Setup;
use crate::gauge::Gauge;

/// Drops and stalls that are kept one by one where nobody asks for more: enough to see how it
/// began, and a record of some megabytes.
pub const KEPT_INCIDENTS: usize = 10_000;

/// What is written down while the machine runs.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    pub(super) ring: Gauge,
    pub(super) kernel: Gauge,
    pub(super) user: Gauge,
    pub(super) load: Gauge,
    pub(super) interrupts: u64,
    pub(super) deferred: u64,
    interval: u64,
    /// Drops and stalls that are kept; later ones are only counted.
    keep: usize,
    log: Vec<Incident>,
    incidents: u64,
    last_work: u64,
}

impl Journal {
    pub(super) fn new(setup: &Setup) -> Self {
        let gauge = || Gauge::new(setup.interval);
        Self {
            ring: gauge(),
            kernel: gauge(),
            user: gauge(),
            load: gauge(),
            interrupts: 0,
            deferred: 0,
            interval: setup.interval,
            keep: setup.keep_incidents,
            log: Vec::new(),
            incidents: 0,
            last_work: 0,
        }
    }

    /// Work was done until now.
    pub(super) fn worked(&mut self, now: u64) {
        self.last_work = now;
    }

    /// Something went wrong with a flow whose kernel and user buffers hold so much.
    #[cold]
    pub(super) fn note(&mut self, flow: usize, trouble: Trouble, buffers: (u64, u64), now: u64) {
        self.incidents += 1;
        if self.log.len() < self.keep {
            self.log.push(Incident {
                at: Picos(now),
                trouble,
                flow,
                ring_frames: self.ring.level(),
                kernel_buffer_bytes: buffers.0,
                user_buffer_bytes: buffers.1,
                busy_cores: u32::try_from(self.load.level()).unwrap_or(u32::MAX),
            });
        }
    }

    pub(super) fn finish(
        self,
        flows: Vec<FlowOutcome>,
        cores: &[Core],
        stuck: Option<(usize, String)>,
    ) -> Outcome {
        let end = self.last_work.max(1);
        Outcome {
            flows,
            elapsed: Picos(end),
            cores: cores.iter().map(|core| core.busy).collect(),
            interrupts: self.interrupts,
            deferred: self.deferred,
            switches: cores.iter().map(|core| core.switches).sum(),
            log: self.log,
            incidents: self.incidents,
            interval: Picos(self.interval),
            ring: self.ring.finish(end),
            kernel_buffer: self.kernel.finish(end),
            user_buffer: self.user.finish(end),
            load: self.load.finish(end),
            stuck,
        }
    }
}
