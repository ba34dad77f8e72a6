//! One end of a test bed: a worker process of ours, or an agent on another machine.

use std::time::Duration;

use bitpath_platform::PlatformError;
use bitpath_platform::process::Worker;

use crate::agent::Agent;
use crate::worker::{Order, Report};

/// Who takes orders.
#[derive(Debug)]
pub(super) enum Party {
    /// A process that this one started.
    Worker(Worker),
    /// A process on another machine.
    Agent(Agent),
}

impl Party {
    /// Its name in errors.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Worker(worker) => worker.name(),
            Self::Agent(agent) => agent.name(),
        }
    }

    /// Its process, if it is on this machine and ours.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Worker(worker) => Some(worker.pid()),
            Self::Agent(_) => None,
        }
    }

    pub(super) fn send(&mut self, order: &Order) -> Result<(), PlatformError> {
        match self {
            Self::Worker(worker) => worker.send(order),
            Self::Agent(agent) => agent.send(order),
        }
    }

    pub(super) fn receive(&mut self, patience: Duration) -> Result<Report, PlatformError> {
        match self {
            Self::Worker(worker) => worker.receive(patience),
            Self::Agent(agent) => agent.receive(patience),
        }
    }
}
