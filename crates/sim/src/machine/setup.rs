//! A machine in numbers: what the engine adds up, without units of its own choosing.
//!
//! Times are picoseconds, sizes bytes. Every cost is of one core's time.

use super::description::{Arrivals, CopyPath, Direction};
use super::tcp::Timer;

/// The cores.
#[derive(Clone, Debug)]
pub(super) struct Cores {
    pub(super) count: usize,
    /// Time slice of one process where another waits.
    pub(super) quantum: u64,
    /// Switch from one process to another.
    pub(super) context_switch: u64,
    /// One interrupt, until its poll is scheduled.
    pub(super) interrupt: u64,
    /// From making a process runnable until its idle core runs it.
    pub(super) wake_latency: u64,
    /// Cost of waking a process, to whoever wakes it.
    pub(super) wake: u64,
}

/// The network card and its driver.
#[derive(Clone, Debug)]
pub(super) struct Nic {
    pub(super) queues: usize,
    /// Descriptors of one receive ring [frames].
    pub(super) ring: usize,
    /// Bytes that all rings together hold.
    pub(super) buffer: u64,
    /// Longest wait of a received frame for its interrupt (`rx-usecs`).
    pub(super) moderation_time: u64,
    /// Frames that bring the interrupt at once (`rx-frames`); 0 for no such limit.
    pub(super) moderation_frames: u32,
    /// Packets that one run of the softirq may handle before it is deferred (`netdev_budget`).
    pub(super) budget: u32,
    /// Longest run of the softirq (`netdev_budget_usecs`).
    pub(super) budget_time: u64,
    /// Taking back a buffer that was sent.
    pub(super) completion: u64,
}

/// The bus between card and memory.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    /// Whether both ways share it.
    pub(super) shared: bool,
    /// Time of a frame beside its bytes.
    pub(super) frame: u64,
    /// Time of a byte, in 1/65536 ps.
    pub(super) byte_65536: u64,
    /// Payload of a packet of the bus, and its header with a write and with what a read brings.
    pub(super) piece: u64,
    pub(super) write_header: u64,
    pub(super) read_header: u64,
    /// Bytes of one read request, and the time from one to the next with all of them under way.
    pub(super) request: u64,
    pub(super) request_time: u64,
}

/// One way of the network between machine and peer.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// Time of a byte on the line, in 1/65536 ps.
    pub(super) byte_65536: u64,
    /// Bytes that wait for the line before more are dropped.
    pub(super) queue: u64,
    pub(super) delay: u64,
    pub(super) jitter: u64,
    /// Chances of a packet in 2^-64: to be lost, to arrive twice, to be overtaken.
    pub(super) loss: u64,
    pub(super) duplicated: u64,
    pub(super) overtaken: u64,
    /// How much longer those are under way.
    pub(super) overtaken_delay: u64,
    pub(super) bursts: Option<Bursts>,
}

/// Periods of losses: chances of a packet in 2^-64.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) loss: u64,
}

impl Way {
    /// Whether every packet arrives once, after the same delay.
    pub(super) fn is_perfect(&self) -> bool {
        self.loss | self.duplicated | self.overtaken | self.jitter == 0 && self.bursts.is_none()
    }

    /// Time of so many bytes on the line [ps].
    pub(super) fn time_of(&self, bytes: u64) -> u64 {
        // At a kilobit a second a large datagram takes more than 2^64 / 65536 ps.
        let time = u128::from(bytes) * u128::from(self.byte_65536);
        u64::try_from(time >> 16).unwrap_or(u64::MAX)
    }
}

/// Memory and caches; times of a byte copied, in 1/65536 ps.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// One core alone, from and to memory.
    pub(super) core_byte_65536: u64,
    /// The controller that all cores share: alone, and while the card transfers.
    pub(super) controller_byte_65536: u64,
    pub(super) beside_card_byte_65536: u64,
    /// Sizes of the caches and copying within them, the smallest first.
    pub(super) caches: Vec<(u64, u64)>,
    /// Whether what the card receives is in the last cache.
    pub(super) direct_cache_access: bool,
}

/// Costs of the stack for one flow's transport.
#[derive(Clone, Debug, Default)]
pub(super) struct StackCosts {
    /// Softirq, a frame.
    pub(super) frame: u64,
    /// Softirq, a buffer that goes up to the socket (one or many frames).
    pub(super) delivery: u64,
    /// Softirq, an acknowledgement received.
    pub(super) acknowledgement: u64,
    /// A call that reads or writes.
    pub(super) call: u64,
    /// A frame, or what the card cuts frames from, on its way down.
    pub(super) transmit: u64,
    /// Pinning the pages of one call without a copy.
    pub(super) pin: u64,
}

/// One flow and the process at its end.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) direction: Direction,
    pub(super) reliable: bool,
    pub(super) copies: CopyPath,
    /// Whether the card speaks its TCP.
    pub(super) offloaded: bool,
    /// Payload that segments are merged to on the way up, or cut from on the way down; 0 for neither.
    pub(super) merge: u64,
    /// Payload of a full frame.
    pub(super) segment: u64,
    /// Headers of a frame on the line.
    pub(super) headers: u64,
    /// What a frame's payload takes of a socket buffer over its own size, for each frame.
    pub(super) overhead: u64,
    pub(super) receive_buffer: u64,
    pub(super) send_buffer: u64,
    /// Most that the process holds.
    pub(super) user_buffer: u64,
    pub(super) timer: Timer,
    pub(super) stack: StackCosts,
    pub(super) core: usize,
    /// Most segments that the peer sends.
    pub(super) limit: u64,
    pub(super) arrivals: Arrivals,
}

/// Everything.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// When the peers stop sending and processes stop writing.
    pub(super) end: u64,
    /// Length of a line of the log.
    pub(super) interval: u64,
    /// Drops and stalls that the log keeps.
    pub(super) keep_incidents: usize,
    pub(super) seed: u64,
    pub(super) cores: Cores,
    pub(super) nic: Nic,
    pub(super) bus: Bus,
    pub(super) inward: Way,
    pub(super) outward: Way,
    pub(super) memory: Memory,
    pub(super) flows: Vec<Flow>,
}

impl Setup {
    /// The queue that a flow is spread to (RSS).
    pub(super) fn queue_of(&self, flow: usize) -> usize {
        flow % self.nic.queues
    }

    /// The core that polls a queue.
    pub(super) fn core_of(&self, queue: usize) -> usize {
        queue % self.cores.count
    }
}
