//! Host profile and job brought down to the times that the engine adds up.

use bitpath_measure::{ByteCount, Picos};

use crate::host::HostScenario;
use crate::job::{Job, Work};
use crate::link::Link;
use crate::profile::{CallSize, DecodeCost, HostProfile, Side, Transport};

/// What one message costs on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCost {
    /// Sender's processor time in the call [ps].
    pub send: u64,
    /// Receiver's processor time in the call that takes it [ps].
    pub receive: u64,
    /// Receiver's processor time below the socket [ps].
    pub softirq: u64,
    /// Time on the link [ps].
    pub link: u64,
    /// Bytes of Ethernet frames [B].
    pub frame_bytes: u64,
    /// Socket buffer that it takes [B].
    pub charge: u64,
}

/// Times of everything that happens on the path.
#[derive(Clone, Debug)]
pub struct Costs<'a> {
    host: &'a HostProfile,
    job: &'a Job,
    link: &'a Link,
    decode: Option<&'a DecodeCost>,
    /// A whole message, looked up for nearly every packet.
    whole: MessageCost,
}

impl<'a> Costs<'a> {
    /// The costs of a scenario.
    #[must_use]
    pub fn new(scenario: &'a HostScenario) -> Self {
        let HostScenario { host, job, link, .. } = scenario;
        let decode = match &job.work {
            Work::Mpeg { film, software_decode: true, .. } => {
                host.decode.iter().find(|cost| cost.clip == film.name)
            }
            _ => None,
        };
        let nothing =
            MessageCost { send: 0, receive: 0, softirq: 0, link: 0, frame_bytes: 0, charge: 0 };
        let mut costs = Self { host, job, link, decode, whole: nothing };
        costs.whole = costs.compute(job.message);
        costs
    }

    /// What a message of this size costs.
    #[must_use]
    pub fn message(&self, bytes: ByteCount) -> MessageCost {
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
        let rate = self.link.rate.or(self.host.path.line_rate.as_ref().map(|rate| rate.value));
        let charge = match transport {
            Transport::Udp => self.host.socket_memory.charge(bytes),
            Transport::Tcp => bytes,
        };
        MessageCost {
            send: stack.send.of(size).0,
            receive: stack.receive.of(size).0,
            softirq: Picos::from_nanos_f64(softirq).0,
            link: rate.and_then(|rate| rate.time_of(frame_bytes)).unwrap_or(Picos(0)).0,
            frame_bytes: frame_bytes.0,
            charge: charge.0,
        }
    }

    /// Receiver's own work on a message of raw data [ps].
    #[must_use]
    pub fn process(&self, bytes: u64) -> u64 {
        match &self.job.work {
            Work::Raw { process, .. } => process.of(bytes as f64).0,
            Work::Mpeg { .. } => 0,
        }
    }

    /// Receiver's own work on a frame [ps].
    #[must_use]
    pub fn decode(&self, frame: usize) -> u64 {
        match (&self.job.work, self.decode) {
            (Work::Mpeg { film, .. }, Some(cost)) => {
                let frame = film.frames[frame % film.frames.len()];
                cost.of(frame.kind, frame.bytes).0
            }
            _ => 0,
        }
    }

    /// Costs of waking the receiver after it slept so long: sender, receiver, latency [ps].
    ///
    /// The costs of a TCP stream were measured on a stream, its wake-ups within them.
    #[must_use]
    pub fn wake(&self, slept: u64) -> [u64; 3] {
        if self.job.transport == Transport::Tcp {
            [0; 3]
        } else {
            self.host.wake.after(Picos(slept))
        }
    }

    /// Processor time of one sleep until a given time [ps].
    #[must_use]
    pub fn timer_sleep(&self) -> u64 {
        self.host.cpu.timer_sleep.value.0
    }

    /// How late such a sleep ends [ps].
    #[must_use]
    pub fn timer_lateness(&self) -> u64 {
        self.host.cpu.timer_lateness.value.0
    }

    /// Whether sender and receiver share one core.
    #[must_use]
    pub fn one_core(&self) -> bool {
        self.host.cpu.cores.value < 2
    }

    /// Whether packets pass a ring and a softirq on the receiver's core, and the ring's slots.
    #[must_use]
    pub fn ring(&self) -> Option<usize> {
        let on_receiver = self.host.path.softirq_on == Side::Receiver;
        on_receiver
            .then(|| self.host.path.ring.as_ref().map_or(usize::MAX, |ring| ring.value as usize))
    }

    /// Whether the link has a rate.
    #[must_use]
    pub fn limited_link(&self) -> bool {
        self.whole.link > 0
    }
}
