//! RTCP (section III-C): what the receiver knows becomes a report, and the number of members says when the next
//! one goes.

use bitpath_proto::ProtoError;
use bitpath_proto::rtcp::{Budget, Counts, Minimum, ReportBlock, Writer};
use bitpath_proto::rtp::{Packet, Reception};

use super::receiver::ticks;
use super::{REPORT_BYTES, SSRC};
use crate::rtp::capture::Capture;

/// Who reports.
const REPORTER: u32 = 0x2004_0161;

/// Bandwidth of the session [b/s]: G.711 with the headers of RTP, UDP and IP, 50 times a second.
const SESSION_BITS_PER_SECOND: u64 = 80_000;

/// The last report of the benchmark and the time to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastReport {
    /// Bytes of the report [B].
    pub bytes: usize,
    /// Time to the next, before it is made random [ns].
    pub interval_ns: u64,
}

/// Reports on the source behind every packet, as if it were time to, with `members` in the session.
#[derive(Debug)]
pub struct Control {
    reception: Reception,
    budget: Budget,
    counts: Counts,
    average_bytes: f64,
    buffer: [u8; REPORT_BYTES],
}

impl Control {
    /// Begins a session with so many members, one of which sends.
    ///
    /// # Errors
    /// Never for the bandwidth that it has.
    pub fn new(members: u32) -> Result<Self, ProtoError> {
        Ok(Self {
            reception: Reception::new(1),
            budget: Budget::new(SESSION_BITS_PER_SECOND, Minimum::Fixed)?,
            counts: Counts { members, senders: 1, we_sent: false },
            average_bytes: REPORT_BYTES as f64,
            buffer: [0; REPORT_BYTES],
        })
    }

    /// Counts a packet; one that is none is passed over.
    pub fn on_datagram(&mut self, at_ns: u64, datagram: &[u8]) {
        if let Ok(packet) = Packet::parse(datagram) {
            self.reception.on_packet(&packet, ticks(at_ns));
        }
    }

    /// Makes a report of what came so far.
    ///
    /// # Errors
    /// When the report does not fit its buffer.
    pub fn report(&mut self) -> Result<LastReport, ProtoError> {
        let block = report_block(&mut self.reception);
        let bytes = receiver_report(&mut self.buffer, &block)?;
        self.average_bytes += (bytes as f64 - self.average_bytes) / 16.0;
        let interval_ns = interval(&self.budget, self.counts, self.average_bytes);
        Ok(LastReport { bytes, interval_ns })
    }

    /// The report that was made last.
    #[must_use]
    pub fn last(&self) -> &[u8] {
        &self.buffer
    }
}

/// Reports behind every packet that arrived, and gives the last report.
///
/// # Errors
/// When a report does not fit its buffer.
#[inline(never)]
pub fn reports(arrivals: &Capture, members: u32) -> Result<Option<LastReport>, ProtoError> {
    let mut control = Control::new(members)?;
    let mut last = None;
    for (datagram, bytes) in arrivals.datagrams() {
        control.on_datagram(datagram.at_ns, bytes);
        last = Some(control.report()?);
    }
    Ok(last)
}

#[inline(never)]
fn report_block(reception: &mut Reception) -> ReportBlock {
    ReportBlock::new(SSRC, reception.report(), 0, 0)
}

#[inline(never)]
fn receiver_report(buffer: &mut [u8], block: &ReportBlock) -> Result<usize, ProtoError> {
    let mut writer = Writer::new(buffer);
    writer.receiver_report(REPORTER, std::slice::from_ref(block))?;
    Ok(writer.written_bytes())
}

#[inline(never)]
fn interval(budget: &Budget, counts: Counts, average_bytes: f64) -> u64 {
    budget.deterministic_interval_ns(counts, average_bytes, false)
}

#[cfg(test)]
mod tests {
    use bitpath_proto::rtcp::{Compound, RtcpPacket};
    use bitpath_proto::rtp::Header;

    use super::*;

    #[test]
    fn a_report_says_what_came_and_more_members_report_more_rarely() {
        let mut control = Control::new(1000).unwrap();
        for sequence in [1, 2, 4, 5] {
            let mut packet = [0; 12];
            Header::new(0, sequence, 0, SSRC).write_header(&mut packet).unwrap();
            control.on_datagram(0, &packet);
        }
        let last = control.report().unwrap();
        let compound = Compound::parse(&control.last()[..last.bytes]).unwrap();
        let Some(Ok(RtcpPacket::ReceiverReport(report))) = compound.packets().next() else {
            panic!("no receiver report");
        };
        let block = report.blocks().next().unwrap();
        assert_eq!((block.ssrc, block.cumulative_lost, block.extended_highest), (SSRC, 1, 5));
        assert_eq!(block.fraction_lost, 51, "a fifth, in 256ths");
        let few = Control::new(2).unwrap().report().unwrap();
        assert_eq!(few.interval_ns, 5_000_000_000);
        assert!(last.interval_ns > 100_000_000_000, "{last:?}");
    }
}
