//! What a session knows, as values for who shows or records it.

use super::{Sent, Session};
use crate::rtcp::{ReportBlock, ntp};
use crate::rtp::sources::{LastReport, Source};
use crate::rtp::{Anchor, Refusals, Sources};

/// One source as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceStatistics<'a> {
    /// Its identifier.
    pub ssrc: u32,
    /// Canonical name, as its sender wrote it.
    pub cname: Option<&'a [u8]>,
    /// Whether it is believed in, and has not left.
    pub member: bool,
    /// Whether it sent data lately.
    pub sender: bool,
    /// Packets that were taken, duplicates included [packets].
    pub packets: u64,
    /// Their payload [B].
    pub payload_bytes: u64,
    /// Packets of the run that should have come [packets].
    pub expected: u64,
    /// Packets of the run that were lost, fewer for duplicates [packets].
    pub lost: i64,
    /// Part of the packets between our last two reports that were lost [1/256]; none before the first.
    pub fraction_lost: Option<u8>,
    /// Interarrival jitter [ticks].
    pub jitter_ticks: u32,
    /// The same [ns].
    pub jitter_ns: u64,
    /// Round-trip time to it and back [ns], by its last answer.
    pub round_trip_ns: Option<u64>,
    /// Runs of numbers that began after the first.
    pub restarts: u64,
    /// Packets on probation, or far from the run [packets].
    pub refused: u64,
    /// Its last SR.
    pub last_sr: Option<LastReport>,
    /// What it last reported of our data.
    pub about_us: Option<ReportBlock>,
}

impl Session {
    /// Every source that was heard, by its identifier.
    pub fn statistics(&self) -> impl Iterator<Item = SourceStatistics<'_>> {
        self.sources.iter().map(|source| self.statistics_of(source))
    }

    fn statistics_of<'a>(&self, source: &'a Source) -> SourceStatistics<'a> {
        let reception = source.reception();
        let jitter_ticks = reception.jitter_ticks();
        SourceStatistics {
            ssrc: source.ssrc(),
            cname: source.cname(),
            member: source.is_member(),
            sender: source.is_sender(),
            packets: source.packets(),
            payload_bytes: source.payload_bytes(),
            expected: reception.expected(),
            lost: reception.expected().cast_signed() - reception.received().cast_signed(),
            fraction_lost: source.reported().map(|report| report.fraction_lost),
            jitter_ticks,
            jitter_ns: self.config.clock_rate.ns(jitter_ticks),
            round_trip_ns: source.round_trip_ns(),
            restarts: reception.restarts(),
            refused: reception.refused(),
            last_sr: source.last_sr(),
            about_us: source.about_us(),
        }
    }

    /// Time since the Unix era [ns] at which a source sampled what has this timestamp, by its last SR: what brings
    /// the media of one participant in step (section 5.1).
    #[must_use]
    pub fn sampled_unix_ns(&self, ssrc: u32, timestamp: u32) -> Option<u64> {
        let info = self.sources.get(ssrc)?.last_sr()?.info;
        let ns = ntp::to_unix_ns(info.ntp_timestamp);
        let anchor = Anchor { ns, timestamp: info.rtp_timestamp };
        Some(anchor.ns_at(timestamp, self.config.clock_rate))
    }

    /// The sources.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// What was sent under the identifier of now.
    #[must_use]
    pub fn sent(&self) -> Sent {
        self.sender.sent()
    }

    /// How often, and why, datagrams were not taken.
    #[must_use]
    pub fn refusals(&self) -> Refusals {
        self.refusals
    }

    /// How often we took another identifier, because somebody else had ours.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.collisions
    }
}
