//! Losses one by one, [RFC 3611 section 4.1](https://www.rfc-editor.org/rfc/rfc3611#section-4.1).
//!
//! ```text
//! |         SSRC of source            |
//! |    begin_seq    |     end_seq     |  first number, and the last + 1; every 2^T of them is reported
//! |     chunk       |     chunk       |  0 R length: a run of R; 1 bits: fifteen of them; 0: the end
//! ```

use std::iter::Peekable;

use super::super::{forbidden, short, word};
use crate::ProtoError;

/// Bytes before the chunks [B].
pub(super) const FIXED_BYTES: usize = 8;

/// Longest run that a chunk can carry [sequence numbers] (section 4.1.1).
const MAX_RUN: u16 = 0x3fff;

/// Sequence numbers of one vector (section 4.1.2).
const VECTOR_BITS: u16 = 15;

const VECTOR_FLAG: u16 = 0x8000;
const RUN_OF_RECEIVED_FLAG: u16 = 0x4000;

/// Most sequence numbers that a report may span (section 4.1).
const MAX_SPAN: u32 = 65_533;

/// Which packets of a source came and which did not, in the bytes of the datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRle<'a> {
    fixed: &'a [u8; FIXED_BYTES],
    thinning: u8,
    chunks: &'a [[u8; 2]],
}

impl<'a> LossRle<'a> {
    /// The chunks have to reach the end that the block says; what they say beyond is not looked at.
    pub(super) fn parse(type_specific: u8, contents: &'a [u8]) -> Result<Self, ProtoError> {
        let Some((fixed, chunks)) = contents.split_first_chunk() else {
            return Err(short("loss RLE block", FIXED_BYTES, contents.len()));
        };
        let block = Self { fixed, thinning: type_specific & 0x0f, chunks: chunks.as_chunks().0 };
        let mut covered = 0;
        for chunk in block.chunks.iter().map(|chunk| u16::from_be_bytes(*chunk)) {
            match chunk_numbers(chunk) {
                0 if chunk == 0 => break,
                0 => return Err(forbidden("run of a loss RLE chunk", 0, "one number at least")),
                numbers => covered += usize::from(numbers),
            }
        }
        if covered < block.numbers() {
            let rule = "they reach the end of the range";
            return Err(forbidden("count of numbers in loss RLE chunks", covered, rule));
        }
        Ok(block)
    }

    /// Source that is reported on.
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        word(self.fixed, 0)
    }

    /// First sequence number of the range.
    #[must_use]
    pub fn begin_sequence(&self) -> u16 {
        u16::from_be_bytes([self.fixed[4], self.fixed[5]])
    }

    /// Sequence number behind the range.
    #[must_use]
    pub fn end_sequence(&self) -> u16 {
        u16::from_be_bytes([self.fixed[6], self.fixed[7]])
    }

    /// Only multiples of 2 to this power are reported, 0 to 15.
    #[must_use]
    pub fn thinning(&self) -> u8 {
        self.thinning
    }

    /// Count of sequence numbers that are reported.
    #[must_use]
    pub fn numbers(&self) -> usize {
        let step = 1_usize << self.thinning;
        let span = self.end_sequence().wrapping_sub(self.begin_sequence());
        let skipped = self.first().wrapping_sub(self.begin_sequence());
        usize::from(span).saturating_sub(usize::from(skipped)).div_ceil(step)
    }

    /// What became of each sequence number that is reported, in order.
    #[must_use]
    pub fn reported(&self) -> ReportedNumbers<'a> {
        ReportedNumbers {
            chunks: self.chunks,
            chunk: 0,
            left_in_chunk: 0,
            left: self.numbers(),
            sequence: self.first(),
            step: 1 << self.thinning,
        }
    }

    fn first(&self) -> u16 {
        first_reported(self.begin_sequence(), self.thinning)
    }
}

/// The first multiple of 2^thinning that is not before `begin`; one of 0 to 15.
pub(super) fn first_reported(begin: u16, thinning: u8) -> u16 {
    let below = (1_u16 << thinning) - 1;
    begin.wrapping_add(below) & !below
}

/// Sequence numbers that a chunk covers: none in that which ends the list, or in a run that may not be.
fn chunk_numbers(chunk: u16) -> u16 {
    if chunk & VECTOR_FLAG == 0 { chunk & MAX_RUN } else { VECTOR_BITS }
}

/// What became of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Its sequence number.
    pub sequence: u16,
    /// Whether it came.
    pub received: bool,
}

/// What became of the packets of a range, one by one.
#[derive(Clone, Debug)]
pub struct ReportedNumbers<'a> {
    chunks: &'a [[u8; 2]],
    /// The chunk that is open.
    chunk: u16,
    left_in_chunk: u16,
    left: usize,
    sequence: u16,
    step: u16,
}

impl Iterator for ReportedNumbers<'_> {
    type Item = Reported;

    fn next(&mut self) -> Option<Reported> {
        self.left = self.left.checked_sub(1)?;
        if self.left_in_chunk == 0 {
            let (chunk, rest) = self.chunks.split_first()?;
            (self.chunk, self.chunks) = (u16::from_be_bytes(*chunk), rest);
            self.left_in_chunk = chunk_numbers(self.chunk);
        }
        self.left_in_chunk = self.left_in_chunk.checked_sub(1)?;
        let received = if self.chunk & VECTOR_FLAG == 0 {
            self.chunk & RUN_OF_RECEIVED_FLAG != 0
        } else {
            self.chunk >> self.left_in_chunk & 1 != 0
        };
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(self.step);
        Some(Reported { sequence, received })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for ReportedNumbers<'_> {}

/// Writes chunks for numbers that came or not until there are no more, whole words of them. Returns the bytes
/// written [B] and the count of numbers; None where the place is too small.
pub(super) fn write_chunks(
    place: &mut [u8],
    received: impl Iterator<Item = bool>,
    max_numbers: u32,
) -> Result<Option<(usize, u32)>, ProtoError> {
    let mut received = received.peekable();
    let (mut bytes, mut numbers) = (0, 0);
    while let Some((chunk, covered)) = next_chunk(&mut received) {
        numbers += u32::from(covered);
        if numbers > max_numbers {
            let rule = "it spans 65 533 at most";
            return Err(forbidden("count of numbers in a loss RLE block", numbers as usize, rule));
        }
        // A place for two: behind an odd one comes that which ends the list.
        let Some(pair) = place.get_mut(bytes / 4 * 4..).and_then(<[u8]>::first_chunk_mut::<4>)
        else {
            return Ok(None);
        };
        let [first, second] = chunk.to_be_bytes();
        match bytes % 4 {
            0 => *pair = [first, second, 0, 0],
            _ => pair[2..].copy_from_slice(&[first, second]),
        }
        bytes += 2;
    }
    Ok(Some((bytes.next_multiple_of(4), numbers)))
}

/// Most numbers that a block from `begin` can report.
pub(super) fn max_numbers(begin: u16, thinning: u8) -> u32 {
    let skipped = first_reported(begin, thinning).wrapping_sub(begin);
    (MAX_SPAN - u32::from(skipped)).div_ceil(1 << thinning)
}

/// The next chunk and how many numbers it covers: a run where that is not shorter than a vector, or the last.
fn next_chunk(received: &mut Peekable<impl Iterator<Item = bool>>) -> Option<(u16, u16)> {
    let first = received.next()?;
    let mut numbers = 1;
    while numbers < MAX_RUN && received.next_if_eq(&first).is_some() {
        numbers += 1;
    }
    if numbers >= VECTOR_BITS || received.peek().is_none() {
        let flag = if first { RUN_OF_RECEIVED_FLAG } else { 0 };
        return Some((flag | numbers, numbers));
    }
    let mut bits = if first { (1 << numbers) - 1 } else { 0 };
    while numbers < VECTOR_BITS
        && let Some(next) = received.next()
    {
        bits = bits << 1 | u16::from(next);
        numbers += 1;
    }
    Some((VECTOR_FLAG | bits << (VECTOR_BITS - numbers), numbers))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtcp::xr::Block;
    use crate::rtcp::{Compound, RtcpPacket, Writer};

    fn written(begin: u16, thinning: u8, received: &[bool]) -> Vec<u8> {
        let mut buffer = vec![0xee; 20_000];
        let mut writer = Writer::reduced_size(&mut buffer);
        let mut report = writer.extended_report(1).unwrap();
        report.loss_rle(2, begin, thinning, received.iter().copied()).unwrap();
        writer.written().to_vec()
    }

    fn block(bytes: &[u8]) -> LossRle<'_> {
        let packet = Compound::parse_reduced_size(bytes).unwrap().packets().next();
        let Some(Ok(RtcpPacket::ExtendedReport(report))) = packet else { panic!("{packet:?}") };
        let Some(Ok(Block::LossRle(block))) = report.blocks().next() else { panic!("{report:?}") };
        block
    }

    #[test]
    fn runs_and_vectors_have_the_bytes_of_the_rfc() {
        let mut received = vec![true; 20];
        received.extend([false, true, false]);
        received.extend([true; 30]);
        let bytes = written(65_530, 0, &received);
        assert_eq!(
            bytes[8..],
            [
                1,
                0,
                0,
                4,
                0,
                0,
                0,
                2,
                0xff,
                0xfa,
                0,
                47, // 65 530 to 46
                0x40,
                20, // twenty came
                0b1010_1111,
                0xff, // 1 lost, 1 came, 1 lost, 12 came
                0x40,
                18,
                0,
                0, // eighteen came, the end
            ]
        );
    }

    #[test]
    fn what_the_chunks_say_is_told_number_by_number() {
        // A run of 2 lost, a vector 100..., an end; six are reported.
        let contents = [0, 0, 0, 2, 0xff, 0xfd, 0, 3, 0x00, 2, 0b1100_0000, 0, 0, 0, 0x40, 9];
        let block = LossRle::parse(0, &contents).unwrap();
        assert_eq!((block.ssrc(), block.begin_sequence(), block.end_sequence()), (2, 65_533, 3));
        let reported: Vec<_> =
            block.reported().map(|reported| (reported.sequence, reported.received)).collect();
        assert_eq!(
            reported,
            [(65_533, false), (65_534, false), (65_535, true), (0, false), (1, false), (2, false)]
        );
    }

    #[test]
    fn thinning_reports_multiples_only() {
        let bytes = written(65_533, 2, &[true, false, true]);
        let block = block(&bytes);
        assert_eq!((block.thinning(), block.end_sequence(), block.numbers()), (2, 9, 3));
        let numbers: Vec<_> = block.reported().map(|reported| reported.sequence).collect();
        assert_eq!(numbers, [0, 4, 8]);
    }

    #[test]
    fn chunks_that_end_too_early_and_runs_of_nothing_are_refused() {
        let refuse = |chunks: [u8; 4]| {
            let mut contents = [0, 0, 0, 2, 0, 0, 0, 20, 0, 0, 0, 0];
            contents[8..].copy_from_slice(&chunks);
            LossRle::parse(0, &contents).map(|_| ()).map_err(|why| why.to_string())
        };
        let early = "count of numbers in loss RLE chunks is 19: they reach the end of the range";
        assert_eq!(refuse([0x40, 19, 0, 0]), Err(early.to_owned()));
        let early = "count of numbers in loss RLE chunks is 15: they reach the end of the range";
        assert_eq!(refuse([0x80, 0, 0, 0]), Err(early.to_owned()));
        let empty = "run of a loss RLE chunk is 0: one number at least";
        assert_eq!(refuse([0x40, 0, 0x40, 20]), Err(empty.to_owned()));
        assert_eq!(refuse([0x40, 20, 0, 0]), Ok(()));
    }

    #[test]
    fn a_range_of_65_533_is_the_longest() {
        let mut buffer = vec![0; 20_000];
        for (count, fits) in [(65_533, true), (65_534, false)] {
            let mut writer = Writer::reduced_size(&mut buffer);
            let mut report = writer.extended_report(1).unwrap();
            let result = report.loss_rle(2, 9, 0, std::iter::repeat_n(true, count));
            assert_eq!(result.is_ok(), fits, "{count} numbers: {result:?}");
        }
        for (begin, thinning, most) in
            [(0, 15, 2), (1, 15, 1), (32_771, 15, 1), (32_772, 15, 2), (0, 1, 32_767)]
        {
            assert_eq!(max_numbers(begin, thinning), most, "{begin}, {thinning}");
        }
    }

    proptest! {
        #[test]
        fn losses_that_are_written_are_read_again(
            begin in any::<u16>(),
            thinning in 0_u8..6,
            runs in prop::collection::vec((any::<bool>(), 1_usize..40), 0..40),
        ) {
            let received: Vec<bool> =
                runs.iter().flat_map(|(came, count)| std::iter::repeat_n(*came, *count)).collect();
            let bytes = written(begin, thinning, &received);
            let block = block(&bytes);
            prop_assert_eq!(block.begin_sequence(), begin);
            prop_assert_eq!(block.numbers(), received.len());
            let mut expected = first_reported(begin, thinning);
            for (reported, came) in block.reported().zip(received) {
                prop_assert_eq!(reported, Reported { sequence: expected, received: came });
                expected = expected.wrapping_add(1 << thinning);
            }
        }

        #[test]
        fn long_runs_are_written_and_read_again(runs in prop::collection::vec(any::<bool>(), 0..9)) {
            let received: Vec<bool> =
                runs.iter().flat_map(|came| std::iter::repeat_n(*came, 7000)).collect();
            let bytes = written(0, 0, &received);
            prop_assert!(bytes.len() <= 8 + 12 + 4 * 9);
            let found: Vec<_> = block(&bytes).reported().map(|reported| reported.received).collect();
            prop_assert_eq!(found, received);
        }
    }
}
