//! What became of a machine's flows, and what it did over time (sysSIM section 3.4, table 5).

use bitpath_measure::Picos;
use bitpath_media::Quality;

use super::core::Busy;
use crate::gauge::Course;

/// Where and why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The queue before the line was full, or chance lost it.
    Link,
    /// The ring was full while the bus had not moved its packets yet, or the interrupt waited.
    NicBuffer,
    /// The ring was full of packets that the core had no time for.
    Cpu,
    /// The receive buffer of the socket was full.
    KernelBuffer,
}

impl Cause {
    /// All of them, in the order of the path.
    pub const ALL: [Self; 4] = [Self::Link, Self::NicBuffer, Self::Cpu, Self::KernelBuffer];

    /// Its name in figures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::NicBuffer => "nic_buffer",
            Self::Cpu => "cpu",
            Self::KernelBuffer => "kernel_buffer",
        }
    }
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A packet was lost.
    Drop(Cause),
    /// The receiver's window closed and the sender waits.
    Stall,
}

/// A drop or a stall with the state of every component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// When.
    pub at: Picos,
    /// What happened.
    pub trouble: Trouble,
    /// Whose packet [flow].
    pub flow: usize,
    /// Frames in the rings [frames].
    pub ring_frames: u64,
    /// Memory charged to the flow's socket [B].
    pub kernel_buffer_bytes: u64,
    /// Bytes in the process's buffer [B].
    pub user_buffer_bytes: u64,
    /// Cores that work.
    pub busy_cores: u32,
}

/// What became of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// Packets that the sending end put on the way [packets].
    pub sent: u64,
    /// Payload that the receiving process read, or that arrived at the peer in order [B].
    pub delivered_bytes: u64,
    /// Datagrams or reads that brought it [count].
    pub reads: u64,
    /// Packets lost, by cause [packets].
    pub drops: [u64; 4],
    /// Packets that the line doubled [packets].
    pub doubled: u64,
    /// Segments sent more than once [packets].
    pub retransmitted: u64,
    /// Segments that came twice [packets].
    pub duplicates: u64,
    /// Timeouts that fired [count].
    pub timeouts: u64,
    /// Times that the peer's window closed [count], and for how long in all.
    pub stalls: u64,
    /// How long the sending end waited for the window.
    pub stalled: Picos,
    /// What the viewer saw; all zero without a film.
    pub frames: Quality,
    /// When the last payload was delivered.
    pub finished: Picos,
}

/// What became of everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowOutcome>,
    /// When the last work ended.
    pub elapsed: Picos,
    /// What each core spent its time on.
    pub cores: Vec<Busy>,
    /// Interrupts of the card [count].
    pub interrupts: u64,
    /// Runs of the softirq that were deferred to its process [count].
    pub deferred: u64,
    /// Switches between processes [count].
    pub switches: u64,
    /// The first drops and stalls, one by one.
    pub log: Vec<Incident>,
    /// Drops and stalls in all, those that the log does not hold included [count].
    pub incidents: u64,
    /// Length of an interval of the courses.
    pub interval: Picos,
    /// Frames in the rings.
    pub ring: Course,
    /// Memory charged to all sockets [B].
    pub kernel_buffer: Course,
    /// Bytes in all user buffers [B].
    pub user_buffer: Course,
    /// Cores at work.
    pub load: Course,
    /// A process that is not done though nothing is left that could happen: its flow, and what it
    /// waits for.
    pub stuck: Option<(usize, String)>,
}

impl Outcome {
    /// Payload delivered a second, of all flows, until the last of it was [b/s].
    #[must_use]
    pub fn throughput(&self) -> f64 {
        let bytes: u64 = self.flows.iter().map(|flow| flow.delivered_bytes).sum();
        bytes as f64 * 8.0 / self.delivered_until().as_secs_f64()
    }

    /// When the last payload was delivered, or the last work ended where none was: what follows it, such
    /// as a late acknowledgement, slows no stream.
    #[must_use]
    pub fn delivered_until(&self) -> Picos {
        let last = self.flows.iter().map(|flow| flow.finished).max().unwrap_or_default();
        if last > Picos(0) { last } else { self.elapsed }
    }

    /// Packets that all sending ends put on the way [packets].
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.flows.iter().map(|flow| flow.sent).sum()
    }

    /// Share of them that was lost [ratio].
    #[must_use]
    pub fn loss(&self) -> f64 {
        let lost: u64 = Cause::ALL.into_iter().map(|cause| self.drops(cause)).sum();
        lost as f64 / self.sent().max(1) as f64
    }

    /// Packets lost to one cause, of all flows [packets].
    #[must_use]
    pub fn drops(&self, cause: Cause) -> u64 {
        self.flows.iter().map(|flow| flow.drops[cause as usize]).sum()
    }

    /// Mean time that a byte lay in the kernel's buffers (Little's law) [s]; 0 where
    /// nothing was delivered.
    #[must_use]
    pub fn kernel_latency_s(&self) -> f64 {
        if self.throughput() == 0.0 {
            return 0.0;
        }
        let mean = self.kernel_buffer.mean.iter().sum::<f64>()
            / self.kernel_buffer.mean.len().max(1) as f64;
        mean * 8.0 / self.throughput()
    }

    /// Time of one core over elapsed time [cores].
    #[must_use]
    pub fn load(&self, core: usize) -> f64 {
        self.cores[core].total() as f64 / self.elapsed.0 as f64
    }
}
