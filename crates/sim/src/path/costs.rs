//! Host profile and job brought down to the times that the engine adds up.

use bitpath_measure::{ByteCount, Picos};

use crate::host::HostScenario;
use crate::job::{Job, Work};
use crate::link::Link;
use crate::profile::{CallSize, DecodeCost, HostProfile, Side, Transport, WakeUp};

/// What one message costs on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageCost {
    /// Sender's processor time in the call [ps].
    pub(super) send: u64,
    /// The same while the window of TCP is closed: the call only copies into the send buffer, and
    /// whoever handles the acknowledgement that opens the window sends the packets [ps].
    pub(super) copy_only: u64,
    /// Receiver's processor time in the call that takes it [ps].
    pub(super) receive: u64,
    /// Receiver's processor time below the socket [ps].
    pub(super) softirq: u64,
    /// Time on the link [ps].
    pub(super) link: u64,
    /// Bytes of Ethernet frames [B].
    pub(super) frame_bytes: u64,
    /// Socket buffer that it takes [B].
    pub(super) charge: u64,
}

/// Times of everything that happens on the path.
#[derive(Clone, Debug)]
pub(super) struct Costs<'a> {
    host: &'a HostProfile,
    job: &'a Job,
    link: &'a Link,
    decode: Option<&'a DecodeCost>,
    /// A whole message, looked up for nearly every packet.
    whole: MessageCost,
}

impl<'a> Costs<'a> {
    /// The costs of a scenario.
    pub(super) fn new(scenario: &'a HostScenario) -> Self {
        let HostScenario { host, job, link, .. } = scenario;
        let decode = match &job.work {
            Work::Mpeg { film, software_decode: true, .. } => {
                host.decode.iter().find(|cost| cost.clip == film.name)
            }
            _ => None,
        };
        let mut costs = Self { host, job, link, decode, whole: MessageCost::default() };
        costs.whole = costs.compute(job.message);
        costs
    }

    /// What a message of this size costs.
    pub(super) fn message(&self, bytes: ByteCount) -> MessageCost {
        if bytes == self.job.message { self.whole } else { self.compute(bytes) }
    }

    fn compute(&self, bytes: ByteCount) -> MessageCost {
        let transport = self.job.transport;
        let size = CallSize::new(transport, bytes, self.host.path.mtu.value);
        let packets = size.packets;
        let stack = self.host.stack.of(transport);
        let on_receiver = self.host.path.softirq_on == Side::Receiver;
        let softirq = if on_receiver {
            self.host.path.softirq_per_packet.value.as_nanos_f64() * packets
        } else {
            0.0
        };
        let frame_bytes = Link::frame_bytes(transport, bytes, packets);
        let rate =
            self.link.rate.or_else(|| self.host.path.line_rate.as_ref().map(|rate| rate.value));
        let charge = match transport {
            Transport::Udp => self.host.socket_memory.charge(bytes),
            Transport::Tcp => bytes,
        };
        MessageCost {
            send: stack.send.of(size).0,
            copy_only: stack.send.per_call.value.0 + self.copy(bytes).0,
            receive: stack.receive.of(size).0,
            softirq: Picos::from_nanos_f64(softirq).0,
            link: rate.and_then(|rate| rate.time_of(frame_bytes)).unwrap_or(Picos(0)).0,
            frame_bytes: frame_bytes.0,
            charge: charge.0,
        }
    }

    /// Time to copy so many bytes from memory, at the largest working set that was measured [ps].
    fn copy(&self, bytes: ByteCount) -> Picos {
        let bandwidth = self.host.copy.last().map_or(f64::INFINITY, |copy| copy.bandwidth.value.0);
        Picos::from_nanos_f64(bytes.0 as f64 / bandwidth * 1e9)
    }

    /// Receiver's own work on a message of raw data [ps].
    pub(super) fn process(&self, bytes: u64) -> u64 {
        match &self.job.work {
            Work::Raw { process, .. } => process.of(bytes as f64).0,
            Work::Mpeg { .. } => 0,
        }
    }

    /// Receiver's own work on a frame, which it may have slept before [ps].
    pub(super) fn decode(&self, frame: usize, rested: bool) -> u64 {
        match (&self.job.work, self.decode) {
            (Work::Mpeg { film, .. }, Some(cost)) => {
                let frame = film.frames[frame % film.frames.len()];
                let more = if rested { cost.after_sleep.value.0 } else { 0 };
                cost.of(frame.kind, frame.bytes).0 + more
            }
            _ => 0,
        }
    }

    /// Costs of waking the receiver after it slept so long.
    ///
    /// The costs of a TCP stream were measured on a stream, its wake-ups within them.
    pub(super) fn wake(&self, slept: u64) -> WakeUp {
        if self.job.transport == Transport::Tcp {
            WakeUp::default()
        } else {
            self.host.wake.after(Picos(slept))
        }
    }

    /// Processor time of one sleep until a given time [ps].
    pub(super) fn timer_sleep(&self) -> u64 {
        self.host.cpu.timer_sleep.value.0
    }

    /// How late such a sleep ends [ps].
    pub(super) fn timer_lateness(&self) -> u64 {
        self.host.cpu.timer_lateness.value.0
    }

    /// Whether sender and receiver share one core.
    pub(super) fn one_core(&self) -> bool {
        self.host.cpu.cores.value < 2
    }

    /// Whether packets pass a ring and a softirq on the receiver's core, and the ring's slots.
    pub(super) fn ring(&self) -> Option<usize> {
        let on_receiver = self.host.path.softirq_on == Side::Receiver;
        on_receiver
            .then(|| self.host.path.ring.as_ref().map_or(usize::MAX, |ring| ring.value as usize))
    }

    /// Whether the link has a rate.
    pub(super) fn limited_link(&self) -> bool {
        self.whole.link > 0
    }
}
