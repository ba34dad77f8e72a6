//! What became of a job on the path.

use bitpath_measure::run::Timeline;
use bitpath_measure::{Picos, Unit};
use bitpath_media::Quality;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gauge::{Course, points};

/// Drops that are kept one by one; later ones are only counted.
pub const MAX_LOGGED_DROPS: usize = 10_000;

/// Where a message was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropCause {
    /// The queue before the link was full.
    Link,
    /// The ring of the network interface was full.
    NicRing,
    /// The receive buffer of the socket was full.
    KernelBuffer,
}

/// One lost message with the state of all components (sysSIM section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drop {
    /// When [ps].
    pub at: Picos,
    /// Where.
    pub cause: DropCause,
    /// Bytes that waited for the link [B].
    pub link_queue_bytes: u64,
    /// Packets in the ring [packets].
    pub ring_packets: u64,
    /// Memory charged to the socket [B].
    pub kernel_buffer_bytes: u64,
    /// Bytes of the frame in the user's buffer [B].
    pub user_buffer_bytes: u64,
    /// Whether the receiver's core was busy.
    pub receiver_busy: bool,
}

/// Messages lost, by cause [packets].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drops {
    /// Before the link.
    pub link: u64,
    /// In the ring.
    pub nic_ring: u64,
    /// In the socket's buffer.
    pub kernel_buffer: u64,
}

impl Drops {
    /// All of them [packets].
    #[must_use]
    pub fn total(&self) -> u64 {
        self.link + self.nic_ring + self.kernel_buffer
    }

    pub(super) fn count(&mut self, cause: DropCause) {
        match cause {
            DropCause::Link => self.link += 1,
            DropCause::NicRing => self.nic_ring += 1,
            DropCause::KernelBuffer => self.kernel_buffer += 1,
        }
    }
}

/// The outcome of a job, simulated or measured, in the same terms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Messages sent [packets].
    pub sent: u64,
    /// Messages that the receiver read [packets].
    pub received: u64,
    /// Payload that the receiver read [B].
    pub received_bytes: u64,
    /// Payload of frames that were complete, or of all messages for raw data [B].
    pub useful_bytes: u64,
    /// Messages lost.
    pub drops: Drops,
    /// From the sender's start until the receiver had done its last work [ps].
    pub elapsed: Picos,
    /// From the sender's start until it had sent its last message [ps].
    pub sending: Picos,
    /// Processor time of the sender [ps].
    pub sender_busy: Picos,
    /// Processor time of the receiver [ps].
    pub receiver_busy: Picos,
    /// Times that the receiver fell asleep in its read [count].
    pub sleeps: u64,
    /// Frames by what the viewer saw of them; all zero for raw data.
    pub frames: Quality,
    /// The first drops, one by one; empty for a measured outcome.
    pub drop_log: Vec<Drop>,
    /// Length of an interval of the courses [ps].
    pub interval: Picos,
    /// Memory charged to the socket [B].
    pub kernel_buffer: Course,
    /// Bytes in the user's buffer [B].
    pub user_buffer: Course,
    /// Share of time that the receiver's core was busy, in thousandths [ratio / 1000].
    pub receiver_course: Course,
}

impl Outcome {
    /// Payload received a second [b/s].
    #[must_use]
    pub fn throughput(&self) -> f64 {
        self.received_bytes as f64 * 8.0 / self.elapsed.as_secs_f64()
    }

    /// Payload of complete frames, or of all messages for raw data, received a second [b/s].
    #[must_use]
    pub fn goodput(&self) -> f64 {
        self.useful_bytes as f64 * 8.0 / self.elapsed.as_secs_f64()
    }

    /// Share of the messages sent that were lost [ratio].
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.drops.total() as f64 / self.sent.max(1) as f64
    }

    /// Receiver's processor time over elapsed time [cores].
    #[must_use]
    pub fn receiver_load(&self) -> f64 {
        self.receiver_busy.as_secs_f64() / self.elapsed.as_secs_f64()
    }

    /// Sender's processor time over the time that it sent [cores].
    #[must_use]
    pub fn sender_load(&self) -> f64 {
        self.sender_busy.as_secs_f64() / self.sending.as_secs_f64()
    }

    /// The simulated buffers and load over time, for the record.
    #[must_use]
    pub fn timelines(&self, scenario: &str, receive_buffer_bytes: u64) -> Vec<Timeline> {
        let line = |name: &str, unit, limit, values: Vec<f64>| Timeline {
            name: name.into(),
            labels: bitpath_measure::series::labels([("scenario", scenario)]),
            unit,
            limit,
            points: points(values.into_iter(), self.interval),
        };
        let peaks = |course: &Course| course.peak.iter().map(|peak| *peak as f64).collect();
        let load =
            self.receiver_course.mean.iter().map(|thousandths| thousandths / 1000.0).collect();
        vec![
            line(
                "kernel_buffer.used",
                Unit::Bytes,
                Some(receive_buffer_bytes as f64),
                peaks(&self.kernel_buffer),
            ),
            line("user_buffer.used", Unit::Bytes, None, peaks(&self.user_buffer)),
            line("receiver.load", Unit::Ratio, Some(1.0), load),
        ]
    }
}
