//! What a participant sends: the headers of its packets, and the counts that its reports carry,
//! [RFC 3550 sections 5.1 and 6.4.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.4.1).

use super::Config;
use crate::rtcp::SenderInfo;
use crate::rtp::{Anchor, ClockRate, Header};

/// What was sent under the identifier of now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets [packets].
    pub packets: u64,
    /// Their payload [B].
    pub payload_bytes: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Sender {
    payload_type: u8,
    clock_rate: ClockRate,
    sequence: u16,
    first_timestamp: u32,
    sent: Sent,
    /// When the last packet was sent, and its timestamp: what a report's two clocks are drawn from.
    last: Option<Anchor>,
}

impl Sender {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            payload_type: config.payload_type,
            clock_rate: config.clock_rate,
            sequence: config.first_sequence,
            first_timestamp: config.first_timestamp,
            sent: Sent::default(),
            last: None,
        }
    }

    #[inline]
    pub(super) fn next_header(
        &mut self,
        now_ns: u64,
        ssrc: u32,
        media_ticks: u32,
        payload_bytes: usize,
    ) -> Header<'static> {
        let timestamp = self.first_timestamp.wrapping_add(media_ticks);
        let header = Header::new(self.payload_type, self.sequence, timestamp, ssrc);
        self.sequence = self.sequence.wrapping_add(1);
        self.sent.packets += 1;
        self.sent.payload_bytes += payload_bytes as u64;
        self.last = Some(Anchor { ns: now_ns, timestamp });
        header
    }

    /// Counts belong to an identifier, numbers and timestamps go on (section 6.4.1).
    pub(super) fn count_anew(&mut self) {
        self.sent = Sent::default();
    }

    pub(super) fn sent(&self) -> Sent {
        self.sent
    }

    /// Whether a packet was sent within this time [ns].
    pub(super) fn sent_since(&self, now_ns: u64, timeout_ns: u64) -> bool {
        self.last.is_some_and(|last| now_ns.saturating_sub(last.ns) <= timeout_ns)
    }

    /// What a report says at this time, where anything was sent.
    #[expect(clippy::cast_possible_truncation, reason = "the fields have 32 bits and wrap")]
    pub(super) fn info(&self, now_ns: u64, ntp_timestamp: u64) -> Option<SenderInfo> {
        let last = self.last?;
        Some(SenderInfo {
            ntp_timestamp,
            rtp_timestamp: last.timestamp_at(now_ns, self.clock_rate),
            packets: self.sent.packets as u32,
            payload_bytes: self.sent.payload_bytes as u32,
        })
    }
}
