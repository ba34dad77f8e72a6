//! The compound packets of a participant, [RFC 3550 section 6.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.1).
//!
//! ```text
//! | SR or RR, 31 blocks at most | SDES: CNAME | XR: our clock, answers to those of others | BYE, at the end |
//! ```

use super::{Session, items};
use crate::ProtoError;
use crate::rtcp::xr::Delay;
use crate::rtcp::{MAX_COUNT, ReportBlock, Writer};

// Sizes of what a compound is made of [B]: RFC 3550 sections 6.4 to 6.6, RFC 3611 sections 2, 4.4 and 4.5.
const SR_BYTES: usize = 28;
const RR_BYTES: usize = 8;
const REPORT_BLOCK_BYTES: usize = 24;
const SDES_HEADER_BYTES: usize = 4;
const XR_BYTES: usize = 8;
const REFERENCE_TIME_BYTES: usize = 12;
const DLRR_BYTES: usize = 4;
const DELAY_BYTES: usize = 12;
const BYE_BYTES: usize = 8;

/// Most reference times that a report answers: those of as many sources as it has blocks for.
const MAX_DELAYS: usize = MAX_COUNT;

/// Size of a report without blocks, with a goodbye or without: what the first one, and the last, will have [B].
pub(super) fn smallest_bytes(cname: &str) -> usize {
    RR_BYTES + description_bytes(cname) + BYE_BYTES
}

/// Size of our SDES [B]: the source, the item, and one to four ends.
fn description_bytes(cname: &str) -> usize {
    SDES_HEADER_BYTES + 4 + (2 + cname.len() + 1).next_multiple_of(4)
}

impl Session {
    /// Everything of a report but the blocks and answers, of which it has as many as there is room for [B].
    fn fixed_bytes(&self) -> usize {
        let extended = XR_BYTES + REFERENCE_TIME_BYTES + DLRR_BYTES;
        let goodbyes = BYE_BYTES + 4 * self.abandoned.len();
        SR_BYTES + description_bytes(&self.config.cname) + extended + goodbyes
    }

    pub(super) fn check_room(&self, buffer: &[u8]) -> Result<(), ProtoError> {
        let (needed, room) = (self.fixed_bytes(), buffer.len());
        if room < needed {
            return Err(ProtoError::NoRoom { what: "RTCP report", needed, room });
        }
        Ok(())
    }

    pub(super) fn write_report(
        &mut self,
        now_ns: u64,
        buffer: &mut [u8],
        goodbye: bool,
    ) -> Result<usize, ProtoError> {
        let room = buffer.len() - self.fixed_bytes();
        let mut blocks = [ReportBlock::default(); MAX_COUNT];
        let most = MAX_COUNT.min(room / REPORT_BLOCK_BYTES);
        let count = self.sources.take_blocks(now_ns, &mut blocks[..most]);
        let mut writer = Writer::new(buffer);
        self.write_first(now_ns, &blocks[..count], &mut writer)?;
        writer.source_description(&[(self.ssrc, &items(&self.config.cname))])?;
        self.write_clocks(now_ns, room - count * REPORT_BLOCK_BYTES, &mut writer)?;
        if goodbye {
            writer.goodbye(&[self.ssrc], b"")?;
        }
        // Behind the goodbye there is no name any more to take leave of.
        self.used = !goodbye;
        Ok(writer.written_bytes())
    }

    /// SR for who sent data lately, RR for the others (section 6.4).
    fn write_first(
        &self,
        now_ns: u64,
        blocks: &[ReportBlock],
        writer: &mut Writer<'_>,
    ) -> Result<(), ProtoError> {
        let info = self.sender.info(now_ns, self.ntp_timestamp(now_ns));
        match info.filter(|_| self.counts(now_ns).we_sent) {
            Some(info) => writer.sender_report(self.ssrc, &info, blocks),
            None => writer.receiver_report(self.ssrc, blocks),
        }
    }

    /// Our clock, unless an SR has it already, and answers to the clocks of others, where there are any.
    fn write_clocks(
        &mut self,
        now_ns: u64,
        room: usize,
        writer: &mut Writer<'_>,
    ) -> Result<(), ProtoError> {
        let mut delays = [Delay::default(); MAX_DELAYS];
        let most = MAX_DELAYS.min(room / DELAY_BYTES);
        let count = self.sources.take_delays(now_ns, &mut delays[..most]);
        let tells_time = self.config.reference_times && !self.counts(now_ns).we_sent;
        if !tells_time && count == 0 {
            return Ok(());
        }
        let mut report = writer.extended_report(self.ssrc)?;
        if tells_time {
            report.reference_time(self.ntp_timestamp(now_ns))?;
        }
        if count > 0 { report.delays(&delays[..count]) } else { Ok(()) }
    }

    /// Goodbye for the identifiers that we gave up (section 8.2).
    pub(super) fn write_abandoned(&mut self, buffer: &mut [u8]) -> Result<usize, ProtoError> {
        let mut writer = Writer::new(buffer);
        let abandoned = std::mem::take(&mut self.abandoned);
        writer.receiver_report(abandoned[0], &[])?;
        writer.source_description(&[(abandoned[0], &items(&self.config.cname))])?;
        writer.goodbye(&abandoned, b"")?;
        Ok(writer.written_bytes())
    }
}
