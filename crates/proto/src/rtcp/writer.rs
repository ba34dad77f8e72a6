//! A compound packet written in place, packet by packet.
//!
//! ```text
//! buffer: | SR or RR | SDES | BYE, APP, XR ... | padding | room |
//!         ◄────────────── written ───────────────────────►
//! ```

use super::report::{BLOCK_BYTES, ReportBlock, SenderInfo};
use super::sdes::{Item, chunk_bytes, write_chunk};
use super::xr::BlockWriter;
use super::{
    APPLICATION, App, EXTENDED_REPORT, GOODBYE, HEADER_BYTES, MAX_COUNT, PADDING_BIT,
    RECEIVER_REPORT, SENDER_REPORT, SOURCE_DESCRIPTION, forbidden,
};
use crate::ProtoError;
use crate::rtp::VERSION;

/// Appends packets to a compound; one that is refused leaves it as it was.
#[derive(Debug)]
pub struct Writer<'b> {
    buffer: &'b mut [u8],
    written_bytes: usize,
    /// Where the last packet begins [B].
    last: usize,
    report_first: bool,
    padded: bool,
}

impl<'b> Writer<'b> {
    /// Begins a compound, whose first packet is to be a report.
    #[inline]
    #[must_use]
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, written_bytes: 0, last: 0, report_first: true, padded: false }
    }

    /// Begins a compound that needs no report first
    /// ([RFC 5506 section 3.4](https://www.rfc-editor.org/rfc/rfc5506#section-3.4)).
    #[must_use]
    pub fn reduced_size(buffer: &'b mut [u8]) -> Self {
        Self { report_first: false, ..Self::new(buffer) }
    }

    /// The compound so far.
    #[inline]
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.buffer[..self.written_bytes]
    }

    /// Its size so far [B].
    #[inline]
    #[must_use]
    pub fn written_bytes(&self) -> usize {
        self.written_bytes
    }

    /// Appends an SR with 31 blocks at most (section 6.4.1).
    ///
    /// # Errors
    /// As for every packet: when the buffer is too small, or a field has a value that the wire cannot carry.
    #[inline]
    pub fn sender_report(
        &mut self,
        ssrc: u32,
        info: &SenderInfo,
        blocks: &[ReportBlock],
    ) -> Result<(), ProtoError> {
        let (sender, rest) =
            self.append(SENDER_REPORT, blocks.len(), blocks.len() * BLOCK_BYTES)?;
        info.write(ssrc, sender);
        write_blocks(blocks, rest);
        Ok(())
    }

    /// Appends an RR with 31 blocks at most (section 6.4.2).
    ///
    /// # Errors
    /// As [`Writer::sender_report`].
    #[inline]
    pub fn receiver_report(&mut self, ssrc: u32, blocks: &[ReportBlock]) -> Result<(), ProtoError> {
        let (sender, rest) =
            self.append(RECEIVER_REPORT, blocks.len(), blocks.len() * BLOCK_BYTES)?;
        *sender = ssrc.to_be_bytes();
        write_blocks(blocks, rest);
        Ok(())
    }

    /// Appends an SDES with the items of 31 sources at most (section 6.5).
    ///
    /// # Errors
    /// As [`Writer::sender_report`].
    pub fn source_description(&mut self, chunks: &[(u32, &[Item<'_>])]) -> Result<(), ProtoError> {
        let bytes = chunks.iter().map(|(_, items)| chunk_bytes(items)).sum();
        let (last, written_bytes) = (self.last, self.written_bytes);
        let ([], mut rest) = self.append(SOURCE_DESCRIPTION, chunks.len(), bytes)?;
        for (ssrc, items) in chunks {
            let (place, behind) = rest.split_at_mut(chunk_bytes(items));
            if let Err(why) = write_chunk(*ssrc, items, place) {
                (self.last, self.written_bytes) = (last, written_bytes);
                return Err(why);
            }
            rest = behind;
        }
        Ok(())
    }

    /// Appends a BYE of 31 sources at most, with a reason of 255 B at most unless it is empty (section 6.6).
    ///
    /// # Errors
    /// As [`Writer::sender_report`].
    pub fn goodbye(&mut self, sources: &[u32], reason: &[u8]) -> Result<(), ProtoError> {
        let Ok(length) = u8::try_from(reason.len()) else {
            return Err(forbidden("size of a reason for leaving", reason.len(), "255 B at most"));
        };
        let reason_bytes = if length == 0 { 0 } else { (1 + reason.len()).next_multiple_of(4) };
        let bytes = sources.len() * 4 + reason_bytes;
        let ([], body) = self.append(GOODBYE, sources.len(), bytes)?;
        let (places, rest) = body.split_at_mut(sources.len() * 4);
        for (place, source) in places.as_chunks_mut().0.iter_mut().zip(sources) {
            *place = source.to_be_bytes();
        }
        if let Some((first, rest)) = rest.split_first_mut() {
            *first = length;
            let (text, end) = rest.split_at_mut(reason.len());
            text.copy_from_slice(reason);
            end.fill(0);
        }
        Ok(())
    }

    /// Appends an APP (section 6.7).
    ///
    /// # Errors
    /// As [`Writer::sender_report`].
    pub fn app(&mut self, packet: &App<'_>) -> Result<(), ProtoError> {
        let count = usize::from(packet.subtype);
        let (fixed, data) = self.append(APPLICATION, count, packet.data.len())?;
        packet.write_fixed(fixed);
        data.copy_from_slice(packet.data);
        Ok(())
    }

    /// Appends an XR, whose blocks what is returned appends
    /// ([RFC 3611 section 2](https://www.rfc-editor.org/rfc/rfc3611#section-2)).
    ///
    /// # Errors
    /// As [`Writer::sender_report`].
    pub fn extended_report(&mut self, ssrc: u32) -> Result<BlockWriter<'_, 'b>, ProtoError> {
        let (sender, _) = self.append(EXTENDED_REPORT, 0, 0)?;
        *sender = ssrc.to_be_bytes();
        Ok(BlockWriter::new(self))
    }

    /// Ends the compound with padding, whole words; nothing may follow (section 6.4.1).
    ///
    /// # Errors
    /// As [`Writer::sender_report`]; when there is only one packet, which may not be padded.
    pub fn pad(&mut self, padding_bytes: u8) -> Result<(), ProtoError> {
        let bytes = usize::from(padding_bytes);
        if bytes == 0 || !bytes.is_multiple_of(4) {
            let rule = "it is whole words, one at least";
            return Err(forbidden("padding of a compound", bytes, rule));
        }
        if self.written_bytes == 0 || self.report_first && self.last == 0 {
            return Err(forbidden("padding of the first packet", bytes, "only the last is padded"));
        }
        let Some(place) = self.room()?.get_mut(..bytes) else {
            return Err(self.no_room(bytes));
        };
        place.fill(0);
        place[bytes - 1] = padding_bytes;
        self.lengthen_last(bytes)?;
        self.buffer[self.last] |= PADDING_BIT;
        self.padded = true;
        Ok(())
    }

    /// Writes the header of a packet and returns the two parts of its body, to be filled.
    #[inline]
    fn append<const FIXED: usize>(
        &mut self,
        packet_type: u8,
        count: usize,
        rest_bytes: usize,
    ) -> Result<(&mut [u8; FIXED], &mut [u8]), ProtoError> {
        if count > MAX_COUNT {
            return Err(forbidden("count of an RTCP packet", count, "it has 5 bits"));
        }
        if self.written_bytes == 0 && self.report_first && packet_type > RECEIVER_REPORT {
            let (what, rule) = ("type of the first RTCP packet", "a compound begins with a report");
            return Err(forbidden(what, usize::from(packet_type), rule));
        }
        let [length_high, length_low] = words(FIXED + rest_bytes)?.to_be_bytes();
        let (at, buffer_bytes) = (self.written_bytes, self.buffer.len());
        let end = at + HEADER_BYTES + FIXED + rest_bytes;
        self.check_open()?;
        let place = self.buffer.get_mut(at..end);
        let Some((header, fixed, rest)) = place.and_then(split_packet) else {
            return Err(no_room(end, buffer_bytes));
        };
        #[expect(clippy::cast_possible_truncation, reason = "31 at most")]
        let first = VERSION << 6 | count as u8;
        *header = [first, packet_type, length_high, length_low];
        (self.last, self.written_bytes) = (at, end);
        Ok((fixed, rest))
    }

    fn check_open(&self) -> Result<(), ProtoError> {
        if self.padded {
            return Err(forbidden("packet behind padding", 1, "padding ends a compound"));
        }
        Ok(())
    }

    /// The buffer behind what is written.
    pub(super) fn room(&mut self) -> Result<&mut [u8], ProtoError> {
        self.check_open()?;
        Ok(&mut self.buffer[self.written_bytes..])
    }

    /// Makes the last packet longer by what was written into the room.
    pub(super) fn lengthen_last(&mut self, bytes: usize) -> Result<(), ProtoError> {
        let end = self.written_bytes + bytes;
        let length = words(end - self.last - HEADER_BYTES)?;
        self.buffer[self.last + 2..self.last + HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
        self.written_bytes = end;
        Ok(())
    }

    pub(super) fn no_room(&self, bytes: usize) -> ProtoError {
        no_room(self.written_bytes + bytes, self.buffer.len())
    }
}

fn no_room(needed: usize, room: usize) -> ProtoError {
    ProtoError::NoRoom { what: "RTCP compound", needed, room }
}

type Parts<'b, const FIXED: usize> =
    (&'b mut [u8; HEADER_BYTES], &'b mut [u8; FIXED], &'b mut [u8]);

#[inline]
fn split_packet<const FIXED: usize>(place: &mut [u8]) -> Option<Parts<'_, FIXED>> {
    let (header, body) = place.split_first_chunk_mut()?;
    let (fixed, rest) = body.split_first_chunk_mut()?;
    Some((header, fixed, rest))
}

/// The length field of a packet: its words less one.
#[inline]
fn words(body_bytes: usize) -> Result<u16, ProtoError> {
    match u16::try_from(body_bytes / 4) {
        Ok(words) if body_bytes.is_multiple_of(4) => Ok(words),
        _ => {
            let rule = "it has whole words, 65 535 at most behind its header";
            Err(forbidden("size of an RTCP packet", body_bytes, rule))
        }
    }
}

#[inline]
fn write_blocks(blocks: &[ReportBlock], body: &mut [u8]) {
    for (place, block) in body.as_chunks_mut().0.iter_mut().zip(blocks) {
        block.write(place);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtcp::{Compound, RtcpPacket};

    fn written(
        buffer: &mut [u8],
        write: impl FnOnce(&mut Writer<'_>) -> Result<(), ProtoError>,
    ) -> Vec<u8> {
        let mut writer = Writer::reduced_size(buffer);
        write(&mut writer).unwrap();
        writer.written().to_vec()
    }

    #[test]
    fn packets_have_the_bytes_of_the_rfc() {
        let mut buffer = [0xee; 200];
        let block = ReportBlock {
            ssrc: 0x0506_0708,
            fraction_lost: 64,
            cumulative_lost: -2,
            extended_highest: 0x0001_0002,
            jitter_ticks: 16,
            last_sr: 0xd1fc_dddd,
            delay_since_last_sr: 65_536,
        };
        let bytes = written(&mut buffer, |writer| writer.receiver_report(0x0102_0304, &[block]));
        assert_eq!(
            bytes,
            [
                0x81, 201, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0x40, 0xff, 0xff, 0xfe, 0, 1, 0, 2, 0, 0,
                0, 16, 0xd1, 0xfc, 0xdd, 0xdd, 0, 1, 0, 0
            ]
        );
        let info = SenderInfo {
            ntp_timestamp: 0x0102_0304_0506_0708,
            rtp_timestamp: 9,
            packets: 10,
            payload_bytes: 11,
        };
        let bytes = written(&mut buffer, |writer| writer.sender_report(0xffff_0000, &info, &[]));
        assert_eq!(
            bytes,
            [
                0x80, 200, 0, 6, 0xff, 0xff, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9, 0, 0, 0, 10,
                0, 0, 0, 11
            ]
        );
        let app = App { subtype: 5, ssrc: 1, name: *b"flow", data: &[1, 2, 3, 4] };
        let bytes = written(&mut buffer, |writer| writer.app(&app));
        assert_eq!(bytes, *b"\x85\xcc\x00\x03\x00\x00\x00\x01flow\x01\x02\x03\x04");
    }

    #[test]
    fn chunks_and_reasons_end_on_whole_words() {
        let mut buffer = [0xee; 200];
        for (name, body) in [
            (&b""[..], &b"\x01\x00\x00\x00"[..]),
            (b"a", b"\x01\x01a\x00"),
            (b"ab", b"\x01\x02ab\x00\x00\x00\x00"),
            (b"abc", b"\x01\x03abc\x00\x00\x00"),
        ] {
            let chunk = (7, &[Item::Cname(name)][..]);
            let bytes = written(&mut buffer, |writer| writer.source_description(&[chunk]));
            assert_eq!(bytes[8..], *body);
        }
        for (reason, body) in [
            (&b""[..], &b""[..]),
            (b"ab", b"\x02ab\x00"),
            (b"abc", b"\x03abc"),
            (b"abcd", b"\x04abcd\x00\x00\x00"),
        ] {
            let bytes = written(&mut buffer, |writer| writer.goodbye(&[7], reason));
            assert_eq!(bytes[8..], *body);
        }
        let private = [Item::Priv { prefix: b"ab", value: b"c" }];
        let bytes = written(&mut buffer, |writer| writer.source_description(&[(7, &private)]));
        assert_eq!(bytes[8..], *b"\x08\x04\x02abc\x00\x00");
    }

    #[test]
    fn padding_ends_a_compound_of_several() {
        let mut buffer = [0xee; 40];
        let mut writer = Writer::new(&mut buffer);
        writer.receiver_report(1, &[]).unwrap();
        let refused = writer.pad(4).unwrap_err().to_string();
        assert_eq!(refused, "padding of the first packet is 4: only the last is padded");
        writer.goodbye(&[1], b"").unwrap();
        for bytes in [0, 2, 255] {
            assert!(writer.pad(bytes).is_err());
        }
        assert!(matches!(writer.pad(28), Err(ProtoError::NoRoom { needed: 44, room: 40, .. })));
        writer.pad(8).unwrap();
        assert_eq!(writer.written()[8..], [0xa1, 203, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8]);
        assert!(writer.goodbye(&[1], b"").is_err());
        assert!(writer.pad(4).is_err());
        let compound = Compound::parse(writer.written()).unwrap();
        assert_eq!((compound.padding_bytes(), compound.packets().count()), (8, 2));
    }

    #[test]
    fn nothing_cannot_be_padded_and_a_lone_packet_of_reduced_size_can() {
        let mut buffer = [0xee; 16];
        let mut writer = Writer::reduced_size(&mut buffer);
        assert!(writer.pad(4).is_err());
        assert_eq!(writer.written(), []);
        writer.goodbye(&[1], b"").unwrap();
        writer.pad(4).unwrap();
        let compound = Compound::parse_reduced_size(writer.written()).unwrap();
        assert_eq!((compound.padding_bytes(), compound.packets().count()), (4, 1));
    }

    #[test]
    fn what_the_wire_cannot_carry_is_refused_and_leaves_the_compound_as_it_was() {
        let mut buffer = vec![0; 300_000];
        let mut writer = Writer::new(&mut buffer);
        let refused = writer.goodbye(&[1], b"").unwrap_err().to_string();
        assert_eq!(
            refused,
            "type of the first RTCP packet is 203: a compound begins with a report"
        );
        writer.receiver_report(1, &[]).unwrap();
        let before = writer.written().to_vec();
        let long = [0; 256];
        let private = Item::Priv { prefix: &long[..200], value: &long[..55] };
        for refused in [
            writer.receiver_report(1, &[ReportBlock::default(); 32]),
            writer.goodbye(&[0; 32], b""),
            writer.goodbye(&[0], &long),
            writer.source_description(&[(1, &[][..]); 32]),
            writer.source_description(&[(1, &[Item::Cname(&long)])]),
            writer.source_description(&[(1, &[private])]),
            writer.source_description(&[(1, &[Item::Other { kind: 0, text: b"" }])]),
            writer.app(&App { subtype: 32, ssrc: 1, name: *b"name", data: &[] }),
            writer.app(&App { subtype: 0, ssrc: 1, name: *b"name", data: &[0; 3] }),
            writer.app(&App { subtype: 0, ssrc: 1, name: *b"name", data: &vec![0; 262_136] }),
        ] {
            assert!(matches!(refused, Err(ProtoError::Forbidden { .. })), "{refused:?}");
            assert_eq!(writer.written(), before);
        }
        writer.goodbye(&[1], b"").unwrap();
        assert_eq!(Compound::parse(writer.written()).unwrap().packets().count(), 2);
    }

    #[test]
    fn a_buffer_too_small_by_a_byte_is_refused() {
        let mut buffer = [0; 31];
        let block = ReportBlock::default();
        let refused = Writer::new(&mut buffer).receiver_report(1, &[block]).unwrap_err();
        assert_eq!(refused, ProtoError::NoRoom { what: "RTCP compound", needed: 32, room: 31 });
        let mut writer = Writer::new(&mut buffer);
        writer.receiver_report(1, &[]).unwrap();
        assert!(writer.source_description(&[(1, &[Item::Cname(b"123456789012")])]).is_err());
        assert!(writer.goodbye(&[1, 2], b"reasons").is_ok());
        assert!(writer.receiver_report(1, &[]).is_err());
    }

    fn any_block() -> impl Strategy<Value = ReportBlock> {
        let numbers = any::<[u32; 5]>();
        (numbers, any::<u8>(), -8_388_608..8_388_608).prop_map(
            |([ssrc, extended_highest, jitter_ticks, last_sr, delay], fraction, lost)| {
                ReportBlock {
                    ssrc,
                    fraction_lost: fraction,
                    cumulative_lost: lost,
                    extended_highest,
                    jitter_ticks,
                    last_sr,
                    delay_since_last_sr: delay,
                }
            },
        )
    }

    fn item(kind: u8, text: &[u8]) -> Item<'_> {
        match kind {
            1 => Item::Cname(text),
            2 => Item::Name(text),
            3 => Item::Email(text),
            4 => Item::Phone(text),
            5 => Item::Loc(text),
            6 => Item::Tool(text),
            7 => Item::Note(text),
            8 => Item::Priv { prefix: &text[..text.len() / 2], value: &text[text.len() / 2..] },
            _ => Item::Other { kind, text },
        }
    }

    proptest! {
        #[test]
        fn reports_that_are_written_are_read_again(
            ssrc in any::<u32>(),
            (ntp_timestamp, rtp_timestamp) in any::<(u64, u32)>(),
            (packets, payload_bytes) in any::<(u32, u32)>(),
            blocks in prop::collection::vec(any_block(), 0..32),
        ) {
            let info = SenderInfo { ntp_timestamp, rtp_timestamp, packets, payload_bytes };
            let mut buffer = [0xff; 1600];
            let mut writer = Writer::new(&mut buffer);
            writer.sender_report(ssrc, &info, &blocks).unwrap();
            writer.receiver_report(ssrc, &blocks).unwrap();
            let compound = Compound::parse(writer.written()).unwrap();
            let read: Vec<_> = compound.packets().collect::<Result<_, _>>().unwrap();
            let [RtcpPacket::SenderReport(sender), RtcpPacket::ReceiverReport(receiver)] = read[..]
            else { panic!("{read:?}") };
            prop_assert_eq!((sender.ssrc(), sender.sender_info()), (ssrc, info));
            prop_assert_eq!(sender.blocks().collect::<Vec<_>>(), &blocks[..]);
            prop_assert_eq!(receiver.ssrc(), ssrc);
            prop_assert_eq!(receiver.blocks().collect::<Vec<_>>(), &blocks[..]);
            prop_assert!(sender.extension().is_empty() && receiver.extension().is_empty());
        }

        #[test]
        fn descriptions_goodbyes_and_apps_that_are_written_are_read_again(
            chunks in prop::collection::vec(
                (any::<u32>(), prop::collection::vec(
                    (1_u8..12, prop::collection::vec(any::<u8>(), 0..40)), 0..5)),
                0..6),
            sources in prop::collection::vec(any::<u32>(), 0..32),
            reason in prop::collection::vec(any::<u8>(), 1..256),
            (subtype, name) in (0_u8..32, any::<[u8; 4]>()),
            words in prop::collection::vec(any::<[u8; 4]>(), 0..20),
            padding_words in 0_u8..64,
        ) {
            let items: Vec<(u32, Vec<Item<'_>>)> = chunks.iter()
                .map(|(ssrc, items)| (*ssrc, items.iter().map(|(kind, text)| item(*kind, text)).collect()))
                .collect();
            let given: Vec<_> = items.iter().map(|(ssrc, items)| (*ssrc, &items[..])).collect();
            let app = App { subtype, ssrc: 1, name, data: words.as_flattened() };
            let mut buffer = [0xff; 4000];
            let mut writer = Writer::new(&mut buffer);
            writer.receiver_report(1, &[]).unwrap();
            writer.source_description(&given).unwrap();
            writer.app(&app).unwrap();
            writer.goodbye(&sources, &reason).unwrap();
            if padding_words > 0 {
                writer.pad(padding_words * 4).unwrap();
            }
            let compound = Compound::parse(writer.written()).unwrap();
            prop_assert_eq!(compound.padding_bytes(), padding_words * 4);
            let read: Vec<_> = compound.packets().skip(1).collect::<Result<_, _>>().unwrap();
            let [RtcpPacket::SourceDescription(sdes), RtcpPacket::App(found), RtcpPacket::Goodbye(bye)] =
                read[..] else { panic!("{read:?}") };
            let flat: Vec<_> = items.iter()
                .flat_map(|(ssrc, items)| items.iter().map(|item| (*ssrc, *item))).collect();
            prop_assert_eq!(sdes.items().collect::<Result<Vec<_>, _>>().unwrap(), flat);
            prop_assert_eq!(usize::from(sdes.chunks()), chunks.len());
            prop_assert_eq!(found, app);
            prop_assert_eq!(bye.sources().collect::<Vec<_>>(), sources);
            prop_assert_eq!(bye.reason(), Some(&reason[..]));
        }
    }
}
