//! A core: softirq work first, then processes in turn; a softirq that would take the core for
//! good is deferred to a process of its own (`ksoftirqd`).

use std::collections::VecDeque;

use super::packet::Packet;

/// The process that deferred softirq work is done in.
pub(super) const KSOFTIRQD: usize = usize::MAX;

/// What a core is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Running {
    /// Nothing.
    Idle,
    /// Coming back from idle.
    Waking,
    /// The stack's work on a packet.
    Softirq(Packet),
    /// Taking back buffers that the card has sent.
    Reaping,
    /// A process.
    Process(usize),
}

/// Segments that are merged before they go up to the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Merged {
    pub(super) flow: usize,
    pub(super) bytes: u64,
    /// Whether an acknowledgement is owed at once.
    pub(super) answer: bool,
}

/// Time that a core spent [ps].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// On packets, below the sockets.
    pub softirq: u64,
    /// In calls of processes.
    pub kernel: u64,
    /// In the processes' own work.
    pub user: u64,
}

impl Busy {
    /// All of it [ps].
    #[must_use]
    pub fn total(&self) -> u64 {
        self.softirq + self.kernel + self.user
    }
}

/// One core.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) running: Running,
    /// When the burst under way began.
    pub(super) began: u64,
    pub(super) slice_end: u64,
    /// Queues that wait for their poll.
    pub(super) polls: VecDeque<usize>,
    /// Packets handled in this run of the softirq, and since when it runs.
    pub(super) handled: u32,
    pub(super) run_began: u64,
    /// Softirq work waits for its process.
    pub(super) deferred: bool,
    /// That process has the core.
    pub(super) in_ksoftirqd: bool,
    pub(super) runnable: VecDeque<usize>,
    /// The process that ran last.
    pub(super) last: Option<usize>,
    /// Time that the next burst takes longer: interrupts, wake-ups, what was sent on the way.
    pub(super) carry: u64,
    pub(super) merged: Option<Merged>,
    pub(super) busy: Busy,
    /// Switches between processes.
    pub(super) switches: u64,
}

impl Core {
    pub(super) fn new() -> Self {
        Self {
            running: Running::Idle,
            began: 0,
            slice_end: 0,
            polls: VecDeque::new(),
            handled: 0,
            run_began: 0,
            deferred: false,
            in_ksoftirqd: false,
            runnable: VecDeque::new(),
            last: None,
            carry: 0,
            merged: None,
            busy: Busy::default(),
            switches: 0,
        }
    }

    /// Whether packets may be handled now.
    pub(super) fn may_poll(&self) -> bool {
        !self.polls.is_empty() && (!self.deferred || self.in_ksoftirqd)
    }

    /// Whether the softirq has had its share and goes on as a process.
    pub(super) fn exhausted(&self, budget: u32, budget_time: u64, now: u64) -> bool {
        !self.in_ksoftirqd
            && !self.polls.is_empty()
            && (self.handled >= budget || now - self.run_began >= budget_time)
    }
}
