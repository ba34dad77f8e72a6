//! Sender and receiver reports, [RFC 3550 section 6.4](https://www.rfc-editor.org/rfc/rfc3550#section-6.4).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |                         SSRC of sender                        |
//! |         NTP timestamp: seconds, and fraction below            |  SR only
//! |                 1/2^32 s of the NTP timestamp                 |  SR only
//! |                         RTP timestamp                         |  SR only
//! |           packets sent, and payload bytes sent below          |  SR only
//! |                      payload bytes sent                       |  SR only
//! |            report blocks, as many as the count says:          |
//! |   |                  SSRC of the source                       |
//! |   | fraction lost |      cumulative number of packets lost    |
//! |   |        extended highest sequence number received          |
//! |   |             interarrival jitter [ticks]                   |
//! |   |             last SR [1/65 536 s]                          |
//! |   |             delay since last SR [1/65 536 s]              |
//! |               extension that the profile defines              |
//! ```

use super::{short, word};
use crate::ProtoError;
use crate::rtp::reception::ReceptionReport;

/// Bytes of one report block [B].
pub(super) const BLOCK_BYTES: usize = 24;

/// Bytes of the sender's SSRC and what it says of itself [B].
pub(super) const SENDER_BYTES: usize = 24;

/// A sender report, in the bytes of its datagram (section 6.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderReport<'a> {
    fixed: &'a [u8; SENDER_BYTES],
    blocks: &'a [[u8; BLOCK_BYTES]],
    extension: &'a [u8],
}

impl<'a> SenderReport<'a> {
    #[inline]
    pub(super) fn parse(count: u8, body: &'a [u8]) -> Result<Self, ProtoError> {
        let Some((fixed, rest)) = body.split_first_chunk() else {
            return Err(short("sender report", SENDER_BYTES, body.len()));
        };
        let (blocks, extension) = split_blocks(count, rest)?;
        Ok(Self { fixed, blocks, extension })
    }

    /// Source that sends the report.
    #[inline]
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        word(self.fixed, 0)
    }

    /// What it says of its own sending.
    #[inline]
    #[must_use]
    pub fn sender_info(&self) -> SenderInfo {
        SenderInfo {
            ntp_timestamp: u64::from(word(self.fixed, 4)) << 32 | u64::from(word(self.fixed, 8)),
            rtp_timestamp: word(self.fixed, 12),
            packets: word(self.fixed, 16),
            payload_bytes: word(self.fixed, 20),
        }
    }

    /// What it says of sources that it hears.
    #[inline]
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = ReportBlock> + use<'a> {
        self.blocks.iter().map(ReportBlock::from_bytes)
    }

    /// What the profile adds behind the blocks (section 6.4.3).
    #[must_use]
    pub fn extension(&self) -> &'a [u8] {
        self.extension
    }
}

/// A receiver report, in the bytes of its datagram (section 6.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverReport<'a> {
    ssrc: &'a [u8; 4],
    blocks: &'a [[u8; BLOCK_BYTES]],
    extension: &'a [u8],
}

impl<'a> ReceiverReport<'a> {
    #[inline]
    pub(super) fn parse(count: u8, body: &'a [u8]) -> Result<Self, ProtoError> {
        let Some((ssrc, rest)) = body.split_first_chunk() else {
            return Err(short("receiver report", 4, body.len()));
        };
        let (blocks, extension) = split_blocks(count, rest)?;
        Ok(Self { ssrc, blocks, extension })
    }

    /// Source that sends the report.
    #[inline]
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        u32::from_be_bytes(*self.ssrc)
    }

    /// What it says of sources that it hears.
    #[inline]
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = ReportBlock> + use<'a> {
        self.blocks.iter().map(ReportBlock::from_bytes)
    }

    /// What the profile adds behind the blocks (section 6.4.3).
    #[must_use]
    pub fn extension(&self) -> &'a [u8] {
        self.extension
    }
}

type Blocks<'a> = &'a [[u8; BLOCK_BYTES]];

#[inline]
fn split_blocks(count: u8, rest: &[u8]) -> Result<(Blocks<'_>, &[u8]), ProtoError> {
    let needed = usize::from(count) * BLOCK_BYTES;
    let Some((blocks, extension)) = rest.split_at_checked(needed) else {
        return Err(short("list of report blocks", needed, rest.len()));
    };
    Ok((blocks.as_chunks().0, extension))
}

/// What a sender says of its own sending (section 6.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderInfo {
    /// Wall clock when the report was sent [1/2^32 s since 1900]; 0 where there is none.
    pub ntp_timestamp: u64,
    /// The same moment on the clock of the RTP timestamps [ticks].
    pub rtp_timestamp: u32,
    /// Packets sent since the start, modulo 2^32.
    pub packets: u32,
    /// Payload sent since the start [B], modulo 2^32.
    pub payload_bytes: u32,
}

impl SenderInfo {
    #[inline]
    pub(super) fn write(&self, ssrc: u32, place: &mut [u8; SENDER_BYTES]) {
        place[..4].copy_from_slice(&ssrc.to_be_bytes());
        place[4..12].copy_from_slice(&self.ntp_timestamp.to_be_bytes());
        place[12..16].copy_from_slice(&self.rtp_timestamp.to_be_bytes());
        place[16..20].copy_from_slice(&self.packets.to_be_bytes());
        place[20..].copy_from_slice(&self.payload_bytes.to_be_bytes());
    }
}

/// What a receiver says of one source (section 6.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportBlock {
    /// The source.
    pub ssrc: u32,
    /// Share of packets lost since the last report [1/256].
    pub fraction_lost: u8,
    /// Packets lost since the start: signed, for duplicates count against losses; 24 bits on the wire.
    pub cumulative_lost: i32,
    /// Highest sequence number, and cycles of 2^16 above it.
    pub extended_highest: u32,
    /// Interarrival jitter [ticks].
    pub jitter_ticks: u32,
    /// Middle of the NTP timestamp of the source's last SR [1/65 536 s]; 0 where none came.
    pub last_sr: u32,
    /// Time from that SR to this report [1/65 536 s].
    pub delay_since_last_sr: u32,
}

impl ReportBlock {
    /// What was received of a source, and when its last SR came; both times 0 if none did.
    #[inline]
    #[must_use]
    pub fn new(
        ssrc: u32,
        reception: ReceptionReport,
        last_sr: u32,
        delay_since_last_sr: u32,
    ) -> Self {
        Self {
            ssrc,
            fraction_lost: reception.fraction_lost,
            cumulative_lost: reception.cumulative_lost,
            extended_highest: reception.extended_highest,
            jitter_ticks: reception.jitter_ticks,
            last_sr,
            delay_since_last_sr,
        }
    }

    #[inline]
    fn from_bytes(bytes: &[u8; BLOCK_BYTES]) -> Self {
        Self {
            ssrc: word(bytes, 0),
            fraction_lost: bytes[4],
            // The shifts bring the sign of 24 bits to 32.
            cumulative_lost: (word(bytes, 4) << 8).cast_signed() >> 8,
            extended_highest: word(bytes, 8),
            jitter_ticks: word(bytes, 12),
            last_sr: word(bytes, 16),
            delay_since_last_sr: word(bytes, 20),
        }
    }

    #[inline]
    pub(super) fn write(&self, place: &mut [u8; BLOCK_BYTES]) {
        let lost = clamp_cumulative_lost(i64::from(self.cumulative_lost)).cast_unsigned();
        let losses = u32::from(self.fraction_lost) << 24 | lost & 0x00ff_ffff;
        place[..4].copy_from_slice(&self.ssrc.to_be_bytes());
        place[4..8].copy_from_slice(&losses.to_be_bytes());
        place[8..12].copy_from_slice(&self.extended_highest.to_be_bytes());
        place[12..16].copy_from_slice(&self.jitter_ticks.to_be_bytes());
        place[16..20].copy_from_slice(&self.last_sr.to_be_bytes());
        place[20..].copy_from_slice(&self.delay_since_last_sr.to_be_bytes());
    }
}

/// The nearest count of lost packets that 24 bits with a sign can carry (appendix A.3).
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "24 bits")]
pub fn clamp_cumulative_lost(lost: i64) -> i32 {
    lost.clamp(-0x80_0000, 0x7f_ffff) as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn losses_stay_within_24_bits_and_a_sign() {
        for (lost, clamped) in [
            (0, 0),
            (-2, -2),
            (8_388_607, 8_388_607),
            (8_388_608, 8_388_607),
            (-8_388_608, -8_388_608),
            (-8_388_609, -8_388_608),
            (i64::MAX, 8_388_607),
            (i64::MIN, -8_388_608),
        ] {
            assert_eq!(clamp_cumulative_lost(lost), clamped, "{lost}");
        }
    }

    #[test]
    fn a_block_carries_what_was_received() {
        let reception = ReceptionReport {
            fraction_lost: 1,
            cumulative_lost: -2,
            extended_highest: 3,
            jitter_ticks: 4,
        };
        let mut place = [0; BLOCK_BYTES];
        ReportBlock::new(9, reception, 5, 6).write(&mut place);
        let bytes =
            [0, 0, 0, 9, 1, 0xff, 0xff, 0xfe, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6];
        assert_eq!(place, bytes);
    }

    #[test]
    fn losses_that_do_not_fit_do_not_reach_the_fraction() {
        for (lost, bytes) in [
            (i32::MAX, [9, 0x7f, 0xff, 0xff]),
            (i32::MIN, [9, 0x80, 0, 0]),
            (-1, [9, 0xff, 0xff, 0xff]),
        ] {
            let mut place = [0; BLOCK_BYTES];
            ReportBlock { fraction_lost: 9, cumulative_lost: lost, ..ReportBlock::default() }
                .write(&mut place);
            assert_eq!(place[4..8], bytes);
        }
    }

    proptest! {
        #[test]
        fn a_block_is_the_same_after_it_was_read(bytes in any::<[u8; BLOCK_BYTES]>()) {
            let mut again = [0; BLOCK_BYTES];
            ReportBlock::from_bytes(&bytes).write(&mut again);
            prop_assert_eq!(again, bytes);
        }
    }
}
