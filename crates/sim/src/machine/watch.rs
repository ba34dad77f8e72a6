//! A machine that somebody watches: it runs from one look to the next, and may be changed in between.

use bitpath_measure::{ByteCount, Picos};

use super::assemble::Assembled;
use super::check::MachineError;
use super::core::{Busy, Core, Running};
use super::description::Machine as Description;
use super::engine::Machine;
use super::outcome::{Cause, Outcome};
use super::setup::{Flow, Setup};

/// What somebody sees who looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Simulated time.
    pub now: Picos,
    /// Bytes before the line, both ways [B].
    pub line: ByteCount,
    /// Frames in the rings [frames].
    pub ring_frames: u64,
    /// Memory charged to all sockets [B].
    pub kernel_buffer: ByteCount,
    /// Bytes in all user buffers [B].
    pub user_buffer: ByteCount,
    /// Time that each core spent so far, its burst under way included.
    pub cores: Vec<Busy>,
    /// Packets lost so far, by [`Cause::ALL`] [packets].
    pub drops: [u64; 4],
    /// Payload delivered so far [B].
    pub delivered: ByteCount,
    /// Segments sent again so far [packets].
    pub retransmitted: u64,
    /// Whether nothing more will happen.
    pub ended: bool,
}

/// What the watcher wants next.
#[derive(Clone, Debug)]
pub enum Next {
    /// Run until this time and show again.
    Until(Picos),
    /// Go on with these values from now on: the same cores, queues and flows.
    Change(Box<Description>),
    /// End here.
    Stop,
}

/// Runs a machine and asks `watcher` after each look what is next.
///
/// # Errors
/// When values do not go together; a change like that ends the run too.
pub fn watch(
    description: &Description,
    interval: Picos,
    seed: u64,
    watcher: &mut dyn FnMut(&Look) -> Next,
) -> Result<Outcome, MachineError> {
    let Assembled { setup, jobs, programs } = Assembled::of(description, interval, seed)?;
    let mut machine = Machine::new(setup, &jobs, programs);
    machine.begin();
    let mut look = machine.look(0, false);
    loop {
        match watcher(&look) {
            Next::Until(time) => {
                let more = machine.run_until(time.0);
                look = machine.look(time.0, !more);
            }
            Next::Change(description) => {
                let next = Assembled::of(&description, interval, seed)?.setup;
                machine.accepts(&next)?;
                machine.change(next);
            }
            Next::Stop => return Ok(machine.finish()),
        }
    }
}

impl Machine<'_> {
    /// Whether a machine under way can go on as `next`.
    fn accepts(&self, next: &Setup) -> Result<(), MachineError> {
        let now = &self.setup;
        let alike = |(now, next): (&Flow, &Flow)| {
            (now.direction, now.reliable, now.segment)
                == (next.direction, next.reliable, next.segment)
        };
        let what = if now.cores.count != next.cores.count {
            "number of cores"
        } else if now.nic.queues != next.nic.queues {
            "number of queues"
        } else if now.flows.len() != next.flows.len() {
            "number of flows"
        } else if !now.flows.iter().zip(&next.flows).all(alike) {
            "transport, direction and segment of a flow"
        } else {
            return Ok(());
        };
        Err(MachineError::Fixed { what })
    }

    fn look(&mut self, now: u64, ended: bool) -> Look {
        let mut drops = [0; 4];
        let (mut delivered, mut retransmitted) = (0, 0);
        for flow in &self.flows {
            for cause in Cause::ALL {
                drops[cause as usize] += flow.counts.drops[cause as usize];
            }
            delivered += flow.counts.delivered_bytes;
            retransmitted += flow.sender.retransmitted;
        }
        Look {
            now: Picos(now),
            line: ByteCount(self.inward.queued_bytes(now) + self.outward.queued_bytes(now)),
            ring_frames: self.journal.ring.level(),
            kernel_buffer: ByteCount(self.journal.kernel.level()),
            user_buffer: ByteCount(self.journal.user.level()),
            cores: self.cores.iter().map(|core| self.busy(core, now)).collect(),
            drops,
            delivered: ByteCount(delivered),
            retransmitted,
            ended,
        }
    }

    /// What a core spent so far. A burst is booked at its end, which may be long after a look.
    fn busy(&self, core: &Core, now: u64) -> Busy {
        let (mut busy, under_way) = (core.busy, now.saturating_sub(core.began));
        match core.running {
            Running::Idle | Running::Waking => {}
            Running::Softirq(_) | Running::Reaping => busy.softirq += under_way,
            Running::Process(process) if self.processes[process].own => busy.user += under_way,
            Running::Process(_) => busy.kernel += under_way,
        }
        busy
    }
}
