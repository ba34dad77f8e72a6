//! The blocks of an extended report, written behind one another into a compound.

use super::super::{Writer, forbidden};
use super::loss_rle::{self, first_reported, max_numbers, write_chunks};
use super::{
    BLOCK_HEADER_BYTES, DELAY_BYTES, DLRR, Delay, LOSS_RLE, REFERENCE_TIME, VOIP_METRICS,
    VoipMetrics,
};
use crate::ProtoError;

/// Largest thinning: it has four bits (RFC 3611 section 4.1).
const MAX_THINNING: u8 = 15;

/// Appends blocks to the extended report that is last in a compound; one that is refused leaves it as it was.
#[derive(Debug)]
pub struct BlockWriter<'w, 'b> {
    compound: &'w mut Writer<'b>,
}

impl<'w, 'b> BlockWriter<'w, 'b> {
    pub(in super::super) fn new(compound: &'w mut Writer<'b>) -> Self {
        Self { compound }
    }

    /// Appends which packets of a source came: `received` says it of each multiple of 2^`thinning` from
    /// `begin_sequence` on, in order (section 4.1).
    ///
    /// # Errors
    /// As for every block: when the buffer is too small, or a field has a value that the wire cannot carry.
    pub fn loss_rle(
        &mut self,
        ssrc: u32,
        begin_sequence: u16,
        thinning: u8,
        received: impl IntoIterator<Item = bool>,
    ) -> Result<(), ProtoError> {
        if thinning > MAX_THINNING {
            return Err(forbidden("thinning", usize::from(thinning), "it has four bits"));
        }
        let before = BLOCK_HEADER_BYTES + loss_rle::FIXED_BYTES;
        let chunks = match self.compound.room()?.get_mut(before..) {
            Some(place) => {
                let most = max_numbers(begin_sequence, thinning);
                write_chunks(place, received.into_iter(), most)?
            }
            None => None,
        };
        let Some((chunk_bytes, numbers)) = chunks else {
            return Err(self.compound.no_room(before + BLOCK_HEADER_BYTES));
        };
        let end = end_sequence(begin_sequence, thinning, numbers);
        let mut fixed = [0; loss_rle::FIXED_BYTES];
        fixed[..4].copy_from_slice(&ssrc.to_be_bytes());
        fixed[4..6].copy_from_slice(&begin_sequence.to_be_bytes());
        fixed[6..].copy_from_slice(&end.to_be_bytes());
        self.append(LOSS_RLE, thinning, &fixed, chunk_bytes)
    }

    /// Appends the wall clock of this receiver [1/2^32 s since 1900] (section 4.4).
    ///
    /// # Errors
    /// As [`BlockWriter::loss_rle`].
    pub fn reference_time(&mut self, ntp_timestamp: u64) -> Result<(), ProtoError> {
        self.append(REFERENCE_TIME, 0, &ntp_timestamp.to_be_bytes(), 0)
    }

    /// Appends what was heard of the clocks of receivers (section 4.5).
    ///
    /// # Errors
    /// As [`BlockWriter::loss_rle`].
    pub fn delays(&mut self, delays: &[Delay]) -> Result<(), ProtoError> {
        let bytes = delays.len() * DELAY_BYTES;
        let room = self.compound.room()?;
        let Some(place) = room.get_mut(BLOCK_HEADER_BYTES..BLOCK_HEADER_BYTES + bytes) else {
            return Err(self.compound.no_room(BLOCK_HEADER_BYTES + bytes));
        };
        for (place, delay) in place.as_chunks_mut().0.iter_mut().zip(delays) {
            *place = delay.to_bytes();
        }
        self.append(DLRR, 0, &[], bytes)
    }

    /// Appends the quality of a call (section 4.7).
    ///
    /// # Errors
    /// As [`BlockWriter::loss_rle`].
    pub fn voip_metrics(&mut self, metrics: &VoipMetrics) -> Result<(), ProtoError> {
        self.append(VOIP_METRICS, 0, &metrics.to_bytes(), 0)
    }

    /// Appends a block of another type; contents are whole words (section 3).
    ///
    /// # Errors
    /// As [`BlockWriter::loss_rle`].
    pub fn other(
        &mut self,
        block_type: u8,
        type_specific: u8,
        contents: &[u8],
    ) -> Result<(), ProtoError> {
        self.append(block_type, type_specific, contents, 0)
    }

    /// Writes header and contents before what lies behind them already.
    fn append(
        &mut self,
        block_type: u8,
        type_specific: u8,
        contents: &[u8],
        behind_bytes: usize,
    ) -> Result<(), ProtoError> {
        let bytes = contents.len() + behind_bytes;
        let words = u16::try_from(bytes / 4).ok().filter(|_| bytes.is_multiple_of(4));
        let Some(words) = words else {
            return Err(forbidden("size of an XR block", bytes, "whole words, 65 535 at most"));
        };
        let [high, low] = words.to_be_bytes();
        let total = BLOCK_HEADER_BYTES + bytes;
        let Some(place) = self.compound.room()?.get_mut(..total) else {
            return Err(self.compound.no_room(total));
        };
        place[..BLOCK_HEADER_BYTES].copy_from_slice(&[block_type, type_specific, high, low]);
        place[BLOCK_HEADER_BYTES..][..contents.len()].copy_from_slice(contents);
        self.compound.lengthen_last(total)
    }
}

/// The number behind the last that is reported; that of the beginning where none is.
fn end_sequence(begin: u16, thinning: u8, numbers: u32) -> u16 {
    let Some(steps) = numbers.checked_sub(1) else { return begin };
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are modulo 2^16")]
    let behind_first = ((steps << thinning) + 1) as u16;
    first_reported(begin, thinning).wrapping_add(behind_first)
}
