//! Extended reports, [RFC 3611](https://www.rfc-editor.org/rfc/rfc3611).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |                         SSRC of sender                        |
//! |  block type   | type-specific |  words of the block behind    |  blocks, until the packet ends
//! |   contents                                                    |
//! ```

mod block_writer;
mod loss_rle;
mod voip_metrics;

pub use block_writer::BlockWriter;
pub use loss_rle::{LossRle, Reported, ReportedNumbers};
pub use voip_metrics::VoipMetrics;

use super::{forbidden, short, word};
use crate::ProtoError;

const LOSS_RLE: u8 = 1;
const REFERENCE_TIME: u8 = 4;
const DLRR: u8 = 5;
const VOIP_METRICS: u8 = 7;

/// Bytes that every block begins with [B] (section 3).
const BLOCK_HEADER_BYTES: usize = 4;

/// Bytes of one receiver's part of a DLRR block [B] (section 4.5).
const DELAY_BYTES: usize = 12;

/// An extended report, in the bytes of its datagram (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedReport<'a> {
    ssrc: &'a [u8; 4],
    blocks: &'a [u8],
}

impl<'a> ExtendedReport<'a> {
    #[inline]
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, ProtoError> {
        let Some((ssrc, blocks)) = body.split_first_chunk() else {
            return Err(short("extended report", 4, body.len()));
        };
        Ok(Self { ssrc, blocks })
    }

    /// Source that sends the report.
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        u32::from_be_bytes(*self.ssrc)
    }

    /// Its blocks, in order.
    #[must_use]
    pub fn blocks(&self) -> Blocks<'a> {
        Blocks { rest: self.blocks }
    }
}

/// The blocks of an extended report one by one. One that contradicts itself is an error, and those behind it
/// still come; one that does not fit is an error, and the last.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Block<'a>, ProtoError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = std::mem::take(&mut self.rest);
        let Some((header, rest)) = rest.split_first_chunk::<BLOCK_HEADER_BYTES>() else {
            return Some(Err(short("header of an XR block", BLOCK_HEADER_BYTES, rest.len())));
        };
        let length = usize::from(u16::from_be_bytes([header[2], header[3]])) * 4;
        let Some((contents, rest)) = rest.split_at_checked(length) else {
            return Some(Err(short("XR block", length, rest.len())));
        };
        self.rest = rest;
        Some(Block::parse(header[0], header[1], contents))
    }
}

/// One block of an extended report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// Which packets of a source came and which did not (section 4.1).
    LossRle(LossRle<'a>),
    /// Wall clock of a receiver [1/2^32 s since 1900] (section 4.4).
    ReferenceTime(u64),
    /// What was heard of the clocks of receivers (section 4.5).
    Delays(Delays<'a>),
    /// Quality of a call (section 4.7).
    VoipMetrics(VoipMetrics),
    /// A type that is not known here, to be skipped (section 3).
    Other {
        /// Block type.
        block_type: u8,
        /// The byte behind it.
        type_specific: u8,
        /// What is behind the header, whole words.
        contents: &'a [u8],
    },
}

impl<'a> Block<'a> {
    fn parse(block_type: u8, type_specific: u8, contents: &'a [u8]) -> Result<Self, ProtoError> {
        Ok(match block_type {
            LOSS_RLE => Self::LossRle(LossRle::parse(type_specific, contents)?),
            REFERENCE_TIME => match <[u8; 8]>::try_from(contents) {
                Ok(time) => Self::ReferenceTime(u64::from_be_bytes(time)),
                Err(_) => {
                    return Err(size("size of a reference time block", contents, "it has 8 B"));
                }
            },
            DLRR => match contents.as_chunks() {
                (delays, []) => Self::Delays(Delays { delays }),
                _ => return Err(size("size of a DLRR block", contents, "it has 12 B a receiver")),
            },
            VOIP_METRICS => match contents.try_into() {
                Ok(metrics) => Self::VoipMetrics(VoipMetrics::from_bytes(metrics)),
                Err(_) => {
                    return Err(size("size of a VoIP metrics block", contents, "it has 32 B"));
                }
            },
            _ => Self::Other { block_type, type_specific, contents },
        })
    }
}

fn size(what: &'static str, contents: &[u8], rule: &'static str) -> ProtoError {
    forbidden(what, contents.len(), rule)
}

/// A DLRR block, in the bytes of its datagram (section 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays<'a> {
    delays: &'a [[u8; DELAY_BYTES]],
}

impl<'a> Delays<'a> {
    /// Its parts, one for each receiver.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Delay> + use<'a> {
        self.delays.iter().map(|bytes| Delay {
            ssrc: word(bytes, 0),
            last_rr: word(bytes, 4),
            delay_since_last_rr: word(bytes, 8),
        })
    }
}

/// What was heard of the clock of one receiver, so that it can tell its round trip by
/// [`round_trip`](super::round_trip) (section 4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// The receiver.
    pub ssrc: u32,
    /// Middle of its last reference time [1/65 536 s]; 0 where none came.
    pub last_rr: u32,
    /// Time from that block to this report [1/65 536 s].
    pub delay_since_last_rr: u32,
}

impl Delay {
    fn to_bytes(self) -> [u8; DELAY_BYTES] {
        let mut bytes = [0; DELAY_BYTES];
        bytes[..4].copy_from_slice(&self.ssrc.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.last_rr.to_be_bytes());
        bytes[8..].copy_from_slice(&self.delay_since_last_rr.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Compound, RtcpPacket, Writer};

    fn written(
        write: impl FnOnce(&mut BlockWriter<'_, '_>) -> Result<(), ProtoError>,
    ) -> Result<Vec<u8>, ProtoError> {
        let mut buffer = [0xee; 400];
        let mut writer = Writer::reduced_size(&mut buffer);
        write(&mut writer.extended_report(0x0102_0304)?)?;
        Ok(writer.written().to_vec())
    }

    fn blocks(bytes: &[u8]) -> Vec<Result<Block<'_>, ProtoError>> {
        let packet = Compound::parse_reduced_size(bytes).unwrap().packets().next();
        let Some(Ok(RtcpPacket::ExtendedReport(report))) = packet else { panic!("{packet:?}") };
        assert_eq!(report.ssrc(), 0x0102_0304);
        report.blocks().collect()
    }

    #[test]
    fn blocks_behind_one_another_are_found_and_unknown_ones_passed_over() {
        let delay = Delay { ssrc: 5, last_rr: 6, delay_since_last_rr: 7 };
        let bytes = written(|report| {
            report.reference_time(0x0102_0304_0506_0708)?;
            report.other(200, 9, &[1, 2, 3, 4])?;
            report.delays(&[delay, Delay::default()])
        })
        .unwrap();
        assert_eq!(
            bytes,
            [
                0x80, 207, 0, 13, 1, 2, 3, 4, // of source 1.2.3.4
                4, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, // reference time
                200, 9, 0, 1, 1, 2, 3, 4, // unknown
                5, 0, 0, 6, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, // delays
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ]
        );
        let found = blocks(&bytes);
        assert_eq!(found[0], Ok(Block::ReferenceTime(0x0102_0304_0506_0708)));
        let other = Block::Other { block_type: 200, type_specific: 9, contents: &[1, 2, 3, 4] };
        assert_eq!(found[1], Ok(other));
        let Ok(Block::Delays(delays)) = found[2] else { panic!("{found:?}") };
        assert_eq!(delays.iter().collect::<Vec<_>>(), [delay, Delay::default()]);
    }

    #[test]
    fn blocks_of_wrong_sizes_are_refused_and_those_behind_them_still_come() {
        for (block_type, words, what) in [
            (1, 1, "loss RLE block needs 8 B, and there are 4"),
            (4, 1, "size of a reference time block is 4: it has 8 B"),
            (4, 3, "size of a reference time block is 12: it has 8 B"),
            (5, 2, "size of a DLRR block is 8: it has 12 B a receiver"),
            (7, 7, "size of a VoIP metrics block is 28: it has 32 B"),
            (7, 9, "size of a VoIP metrics block is 36: it has 32 B"),
        ] {
            let contents = vec![0; words * 4];
            let bytes = written(|report| {
                report.other(block_type, 0, &contents)?;
                report.reference_time(1)
            })
            .unwrap();
            let found = blocks(&bytes);
            assert_eq!(found[0].unwrap_err().to_string(), what);
            assert_eq!(found[1..], [Ok(Block::ReferenceTime(1))]);
        }
    }

    #[test]
    fn a_block_beyond_its_packet_is_refused_and_the_last() {
        let mut bytes = written(|report| report.reference_time(1)).unwrap();
        bytes[11] = 3;
        assert_eq!(blocks(&bytes), [Err(short("XR block", 12, 8))]);
    }

    #[test]
    fn a_block_that_is_refused_leaves_the_report_as_it_was() {
        let bytes = written(|report| {
            report.reference_time(1)?;
            assert!(report.other(9, 0, &[1, 2, 3]).is_err());
            assert!(report.other(9, 0, &[0; 400]).is_err());
            assert!(report.delays(&[Delay::default(); 40]).is_err());
            assert!(report.loss_rle(1, 0, 16, [true]).is_err());
            assert!(report.loss_rle(1, 0, 0, std::iter::repeat(true)).is_err());
            let mixed = std::iter::repeat([true, false]).flatten();
            assert!(report.loss_rle(1, 0, 0, mixed).is_err());
            Ok(())
        });
        assert_eq!(bytes.unwrap(), written(|report| report.reference_time(1)).unwrap());
    }

    #[test]
    fn reports_end_where_the_buffer_does() {
        for room in 0..64 {
            let mut buffer = vec![0; room];
            let mut writer = Writer::reduced_size(&mut buffer);
            let Ok(mut report) = writer.extended_report(1) else {
                assert!(room < 8);
                continue;
            };
            let losses = (0..40).map(|number| number % 3 == 0);
            assert_eq!(report.loss_rle(1, 0, 0, losses).is_ok(), room >= 8 + 20, "{room} B");
            let fits = |bytes: usize| room >= bytes + if room >= 28 { 28 } else { 8 };
            assert_eq!(report.voip_metrics(&VoipMetrics::default()).is_ok(), fits(36), "{room} B");
        }
    }
}
