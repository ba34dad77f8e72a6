//! A compound packet as it came, [RFC 3550 section 6.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.1), judged
//! by the rules of its appendix A.2.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |V=2|P|  count  |  packet type  |   words behind this one       |
//! |    body; padding (if P, in the last packet; its last byte counts it) |
//! ```

use super::app::App;
use super::bye::Goodbye;
use super::report::{ReceiverReport, SenderReport};
use super::sdes::SourceDescription;
use super::xr::ExtendedReport;
use super::{
    APPLICATION, EXTENDED_REPORT, GOODBYE, HEADER_BYTES, PADDING_BIT, RECEIVER_REPORT,
    SENDER_REPORT, SOURCE_DESCRIPTION, forbidden, short,
};
use crate::ProtoError;
use crate::rtp::VERSION;

/// A compound packet, in the bytes of its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compound<'a> {
    /// The packets without the padding of the last.
    packets: &'a [u8],
    padding_bytes: u8,
}

impl<'a> Compound<'a> {
    /// Reads a datagram: a report first, the lengths of the packets add up to the datagram's, padding in the
    /// last only. What the packets hold is judged when they are looked at.
    ///
    /// # Errors
    /// When it begins with something else, is too short for what it says it holds, has another version, or
    /// padding that cannot be.
    #[inline]
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ProtoError> {
        let (first, body) = split_header(datagram)?;
        if first[1] != SENDER_REPORT && first[1] != RECEIVER_REPORT {
            let rule = "a compound begins with a report, 200 or 201";
            return Err(forbidden("type of the first RTCP packet", usize::from(first[1]), rule));
        }
        if first[0] & PADDING_BIT != 0 {
            let rule = "only the last of several is padded";
            return Err(forbidden("padding bit of the first RTCP packet", 1, rule));
        }
        Self::walk(datagram, first, body)
    }

    /// Reads a datagram that need not begin with a report
    /// ([RFC 5506 section 3.4](https://www.rfc-editor.org/rfc/rfc5506#section-3.4)).
    ///
    /// # Errors
    /// As [`Compound::parse`], but for the first packet.
    pub fn parse_reduced_size(datagram: &'a [u8]) -> Result<Self, ProtoError> {
        let (first, body) = split_header(datagram)?;
        Self::walk(datagram, first, body)
    }

    #[inline]
    fn walk(
        datagram: &'a [u8],
        mut header: &'a [u8; HEADER_BYTES],
        mut rest: &'a [u8],
    ) -> Result<Self, ProtoError> {
        loop {
            let Some((body, after)) = rest.split_at_checked(body_bytes(header)) else {
                let needed = HEADER_BYTES + body_bytes(header);
                return Err(short("RTCP packet", needed, HEADER_BYTES + rest.len()));
            };
            if header[0] & PADDING_BIT != 0 {
                return Self::padded(datagram, body, after);
            }
            if after.is_empty() {
                return Ok(Self { packets: datagram, padding_bytes: 0 });
            }
            (header, rest) = split_header(after)?;
        }
    }

    fn padded(datagram: &'a [u8], body: &[u8], after: &[u8]) -> Result<Self, ProtoError> {
        if !after.is_empty() {
            let rule = "only the last packet is padded";
            return Err(forbidden("padding bit of an RTCP packet inside", 1, rule));
        }
        let padding = body.last().copied().unwrap_or(0);
        let bytes = usize::from(padding);
        if bytes == 0 || !bytes.is_multiple_of(4) || bytes > body.len() {
            let what = "RTCP packet";
            return Err(ProtoError::Padding { what, padding, room: body.len() });
        }
        let packets = &datagram[..datagram.len() - bytes];
        Ok(Self { packets, padding_bytes: padding })
    }

    /// Its packets, in order.
    #[inline]
    #[must_use]
    pub fn packets(&self) -> Packets<'a> {
        Packets { rest: self.packets }
    }

    /// Bytes of padding behind the last packet [B], the one that counts them included.
    #[must_use]
    pub fn padding_bytes(&self) -> u8 {
        self.padding_bytes
    }
}

#[inline]
fn split_header(bytes: &[u8]) -> Result<(&[u8; HEADER_BYTES], &[u8]), ProtoError> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(short("header of an RTCP packet", HEADER_BYTES, bytes.len()));
    };
    if header[0] >> 6 != VERSION {
        return Err(ProtoError::Version { what: "RTCP packet", found: header[0] >> 6 });
    }
    Ok((header, rest))
}

/// Bytes behind the header [B]: the length counts the words of the packet less one.
#[inline]
fn body_bytes(header: &[u8; HEADER_BYTES]) -> usize {
    usize::from(u16::from_be_bytes([header[2], header[3]])) * 4
}

/// One packet of a compound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtcpPacket<'a> {
    /// SR, of a participant that sends.
    SenderReport(SenderReport<'a>),
    /// RR, of one that only receives.
    ReceiverReport(ReceiverReport<'a>),
    /// SDES, who the sources are.
    SourceDescription(SourceDescription<'a>),
    /// BYE, sources that leave.
    Goodbye(Goodbye<'a>),
    /// APP, an application's own.
    App(App<'a>),
    /// XR, what the reports have no room for.
    ExtendedReport(ExtendedReport<'a>),
    /// A type that is not known here, to be skipped (section 6.1).
    Other {
        /// Packet type.
        packet_type: u8,
        /// The five bits behind the padding bit.
        count: u8,
        /// What is behind the header.
        body: &'a [u8],
    },
}

impl<'a> RtcpPacket<'a> {
    #[inline]
    fn parse(header: &[u8; HEADER_BYTES], body: &'a [u8]) -> Result<Self, ProtoError> {
        let (count, packet_type) = (header[0] & 0x1f, header[1]);
        Ok(match packet_type {
            SENDER_REPORT => Self::SenderReport(SenderReport::parse(count, body)?),
            RECEIVER_REPORT => Self::ReceiverReport(ReceiverReport::parse(count, body)?),
            SOURCE_DESCRIPTION => Self::SourceDescription(SourceDescription::parse(count, body)?),
            GOODBYE => Self::Goodbye(Goodbye::parse(count, body)?),
            APPLICATION => Self::App(App::parse(count, body)?),
            EXTENDED_REPORT => Self::ExtendedReport(ExtendedReport::parse(body)?),
            _ => Self::Other { packet_type, count, body },
        })
    }
}

/// The packets of a compound one by one. One that contradicts itself is an error; those behind it still come.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<RtcpPacket<'a>, ProtoError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (header, rest) = self.rest.split_first_chunk::<HEADER_BYTES>()?;
        // The last packet may say more than there is: its padding was cut off.
        let (body, rest) = rest.split_at(body_bytes(header).min(rest.len()));
        self.rest = rest;
        Some(RtcpPacket::parse(header, body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtcp::xr::{Block, VoipMetrics};
    use crate::rtcp::{Item, ReportBlock, SenderInfo, Writer};

    const REPORT: [u8; 52] = [
        0x81, 200, 0, 12, 1, 2, 3, 4, // one block, of source 1.2.3.4
        0xda, 0x8b, 0xd1, 0xfc, 0xdd, 0xdd, 0xa0, 0x5a, // NTP timestamp
        0xaa, 0xf4, 0xed, 0xd5, 0, 0, 0, 7, 0, 0, 4, 0x60, // RTP timestamp, packets, bytes
        5, 6, 7, 8, 0x40, 0xff, 0xff, 0xfe, // source, a quarter lost, 2 more than were sent
        0, 1, 0, 2, 0, 0, 0, 16, // highest number, jitter
        0xd1, 0xfc, 0xdd, 0xdd, 0, 1, 0, 0, // last SR, delay since
    ];
    const DESCRIPTION: [u8; 16] = [0x81, 202, 0, 3, 1, 2, 3, 4, 1, 3, b'a', b'@', b'b', 0, 0, 0];
    const GOODBYE_BYTES: [u8; 12] = [0x81, 203, 0, 2, 1, 2, 3, 4, 3, b'b', b'y', b'e'];
    const EMPTY_REPORT: [u8; 8] = [0x80, 201, 0, 1, 1, 2, 3, 4];

    fn behind_report(packet: &[u8]) -> Vec<u8> {
        [&EMPTY_REPORT, packet].concat()
    }

    /// Looks at everything and counts what is refused.
    fn refusals(compound: &Compound<'_>) -> usize {
        let mut count = 0;
        for packet in compound.packets() {
            match packet {
                Ok(RtcpPacket::SenderReport(report)) => assert!(report.blocks().len() <= 31),
                Ok(RtcpPacket::ReceiverReport(report)) => assert!(report.blocks().len() <= 31),
                Ok(RtcpPacket::SourceDescription(sdes)) => {
                    count += sdes.items().filter(Result::is_err).count();
                }
                Ok(RtcpPacket::Goodbye(goodbye)) => assert!(goodbye.sources().len() <= 31),
                Ok(RtcpPacket::ExtendedReport(report)) => {
                    for block in report.blocks() {
                        match block {
                            Ok(Block::LossRle(block)) => {
                                assert_eq!(block.reported().count(), block.numbers());
                            }
                            Ok(_) => {}
                            Err(_) => count += 1,
                        }
                    }
                }
                Ok(_) => {}
                Err(_) => count += 1,
            }
        }
        count
    }

    #[test]
    fn the_fields_of_a_compound_are_where_the_rfc_puts_them() {
        let bytes = [&REPORT[..], &DESCRIPTION, &GOODBYE_BYTES].concat();
        let packets: Vec<_> =
            Compound::parse(&bytes).unwrap().packets().collect::<Result<_, _>>().unwrap();
        let [
            RtcpPacket::SenderReport(report),
            RtcpPacket::SourceDescription(sdes),
            RtcpPacket::Goodbye(bye),
        ] = packets[..]
        else {
            panic!("{packets:?}")
        };
        let info = SenderInfo {
            ntp_timestamp: 0xda8b_d1fc_dddd_a05a,
            rtp_timestamp: 0xaaf4_edd5,
            packets: 7,
            payload_bytes: 1120,
        };
        assert_eq!((report.ssrc(), report.sender_info()), (0x0102_0304, info));
        let block = ReportBlock {
            ssrc: 0x0506_0708,
            fraction_lost: 64,
            cumulative_lost: -2,
            extended_highest: 0x0001_0002,
            jitter_ticks: 16,
            last_sr: 0xd1fc_dddd,
            delay_since_last_sr: 65_536,
        };
        assert_eq!(report.blocks().collect::<Vec<_>>(), [block]);
        assert_eq!(report.extension(), []);
        let items: Vec<_> = sdes.items().collect::<Result<_, _>>().unwrap();
        assert_eq!(items, [(0x0102_0304, Item::Cname(b"a@b"))]);
        assert_eq!(bye.sources().collect::<Vec<_>>(), [0x0102_0304]);
        assert_eq!(bye.reason(), Some(&b"bye"[..]));
    }

    #[test]
    fn a_compound_cut_within_a_packet_is_refused() {
        let bytes = [&REPORT[..], &DESCRIPTION, &GOODBYE_BYTES].concat();
        for cut in 0..=bytes.len() {
            let between = [52, 68, 80].contains(&cut);
            assert_eq!(Compound::parse(&bytes[..cut]).is_ok(), between, "cut at {cut}");
        }
        let refused = Compound::parse(&bytes[..60]).unwrap_err();
        assert_eq!(refused, short("RTCP packet", 16, 8));
        let refused = Compound::parse(&bytes[..70]).unwrap_err();
        assert_eq!(refused, short("header of an RTCP packet", 4, 2));
    }

    #[test]
    fn every_packet_shortened_by_whole_words_is_refused_or_read() {
        let mut buffer = [0; 1000];
        let mut writer = Writer::new(&mut buffer);
        let block = ReportBlock::default();
        writer.sender_report(1, &SenderInfo::default(), &[block; 2]).unwrap();
        writer.receiver_report(1, &[block; 2]).unwrap();
        let items = [Item::Cname(b"name"), Item::Priv { prefix: b"pre", value: b"value" }];
        writer.source_description(&[(1, &items), (2, &items)]).unwrap();
        writer.goodbye(&[1, 2], b"reason").unwrap();
        writer.app(&App { subtype: 1, ssrc: 1, name: *b"name", data: &[1, 2, 3, 4] }).unwrap();
        let mut report = writer.extended_report(1).unwrap();
        report.loss_rle(2, 65_530, 0, (0..100).map(|number| number % 3 == 0)).unwrap();
        report.voip_metrics(&VoipMetrics::default()).unwrap();
        let whole = writer.written();
        let mut rest = whole;
        while let Some((header, behind)) = rest.split_first_chunk::<4>() {
            let body;
            (body, rest) = behind.split_at(body_bytes(header));
            for words in 0..body.len() / 4 {
                let mut bytes = EMPTY_REPORT.to_vec();
                bytes.extend([header[0], header[1], 0, u8::try_from(words).unwrap()]);
                bytes.extend(&body[..words * 4]);
                let refused = refusals(&Compound::parse(&bytes).unwrap());
                // A BYE without its reason, an APP without data and an XR between its blocks are whole.
                let whole = match header[1] {
                    GOODBYE => words == 2,
                    APPLICATION => words == 2,
                    EXTENDED_REPORT => words == 1 || words == 1 + 7,
                    _ => false,
                };
                assert_eq!(refused, usize::from(!whole), "type {} of {words} words", header[1]);
            }
        }
        for cut in 0..whole.len() {
            if let Ok(compound) = Compound::parse(&whole[..cut]) {
                assert_eq!(refusals(&compound), 0, "cut at {cut}");
            }
        }
    }

    #[test]
    fn other_versions_are_refused_first_and_behind() {
        for version in [0, 1, 3] {
            let refused = Err(ProtoError::Version { what: "RTCP packet", found: version });
            let mut bytes = [REPORT, REPORT].concat();
            bytes[52] = bytes[52] & 0x3f | version << 6;
            assert_eq!(Compound::parse(&bytes), refused);
            bytes[0] = bytes[0] & 0x3f | version << 6;
            assert_eq!(Compound::parse(&bytes), refused);
            assert_eq!(Compound::parse_reduced_size(&bytes), refused);
        }
    }

    #[test]
    fn a_compound_begins_with_a_report_unless_it_is_of_reduced_size() {
        for packet in [&DESCRIPTION[..], &GOODBYE_BYTES, &[0x81, 205, 0, 1, 0, 0x10, 0, 1]] {
            let refused = Compound::parse(packet).unwrap_err().to_string();
            let rule = "a compound begins with a report, 200 or 201";
            assert_eq!(refused, format!("type of the first RTCP packet is {}: {rule}", packet[1]));
            assert_eq!(refusals(&Compound::parse_reduced_size(packet).unwrap()), 0);
        }
    }

    #[test]
    fn packets_of_unknown_types_are_passed_over() {
        let mut bytes = behind_report(&[0x81, 205, 0, 1, 0, 0x10, 0, 1]);
        bytes.extend(GOODBYE_BYTES);
        let packets: Vec<_> = Compound::parse(&bytes).unwrap().packets().collect();
        let other = RtcpPacket::Other { packet_type: 205, count: 1, body: &[0, 0x10, 0, 1] };
        assert_eq!(packets[1], Ok(other));
        assert!(matches!(packets[2], Ok(RtcpPacket::Goodbye(_))));
    }

    #[test]
    fn padding_is_cut_off_the_last_packet() {
        let bytes = behind_report(&[0xa1, 203, 0, 3, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 8]);
        let compound = Compound::parse(&bytes).unwrap();
        assert_eq!(compound.padding_bytes(), 8);
        let Some(Ok(RtcpPacket::Goodbye(goodbye))) = compound.packets().last() else {
            panic!("{compound:?}")
        };
        assert_eq!((goodbye.sources().len(), goodbye.reason()), (1, None));
    }

    #[test]
    fn padding_of_nothing_of_parts_of_words_and_of_more_than_there_is_are_refused() {
        for padding in [0, 1, 3, 5, 16, 252, 255] {
            let bytes = behind_report(&[0xa1, 203, 0, 3, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, padding]);
            let refused = ProtoError::Padding { what: "RTCP packet", padding, room: 12 };
            assert_eq!(Compound::parse(&bytes), Err(refused));
        }
        let bytes = behind_report(&[0xa0, 203, 0, 0]);
        let refused = ProtoError::Padding { what: "RTCP packet", padding: 0, room: 0 };
        assert_eq!(Compound::parse(&bytes), Err(refused));
    }

    #[test]
    fn padding_of_the_first_packet_or_inside_is_refused() {
        let mut first = behind_report(&GOODBYE_BYTES);
        first[0] |= 0x20;
        let refused = Compound::parse(&first).unwrap_err().to_string();
        assert_eq!(
            refused,
            "padding bit of the first RTCP packet is 1: only the last of several is padded"
        );
        let mut inside = [&REPORT[..], &DESCRIPTION, &GOODBYE_BYTES].concat();
        inside[52] |= 0x20;
        let refused = Compound::parse(&inside).unwrap_err().to_string();
        assert_eq!(
            refused,
            "padding bit of an RTCP packet inside is 1: only the last packet is padded"
        );
    }

    #[test]
    fn padding_that_takes_more_than_the_data_of_an_app_leaves_too_little() {
        let app = |padding| {
            let packet = [0xa0, 204, 0, 3, 1, 2, 3, 4, b'n', b'a', b'm', b'e', 0, 0, 0, padding];
            behind_report(&packet)
        };
        for (padding, left) in [(4, None), (8, Some(4)), (12, Some(0))] {
            let bytes = app(padding);
            match (Compound::parse(&bytes).unwrap().packets().last(), left) {
                (Some(Err(why)), Some(found)) => assert_eq!(why, short("APP packet", 8, found)),
                (Some(Ok(RtcpPacket::App(packet))), None) => assert_eq!(packet.data, []),
                found => panic!("{found:?}"),
            }
        }
        assert!(Compound::parse(&app(16)).is_err());
    }

    #[test]
    fn counts_beyond_the_packet_are_refused_and_the_packets_behind_still_come() {
        let refused = [
            (0x82, &REPORT[..], short("list of report blocks", 48, 24)),
            (0x83, &DESCRIPTION, short("list of SDES chunks", 24, 12)),
            (0x84, &GOODBYE_BYTES, short("list of sources that leave", 16, 8)),
        ];
        for (first, packet, why) in refused {
            let mut bytes = [&REPORT, packet, &GOODBYE_BYTES].concat();
            bytes[52] = first;
            let mut packets = Compound::parse(&bytes).unwrap().packets().skip(1);
            assert_eq!(packets.next(), Some(Err(why)));
            assert!(matches!(packets.next(), Some(Ok(RtcpPacket::Goodbye(_)))));
        }
    }

    #[test]
    fn texts_beyond_their_places_are_refused() {
        let item = [0x81, 202, 0, 2, 1, 2, 3, 4, 1, 3, b'a', b'b'];
        let prefix = [0x81, 202, 0, 2, 0, 0x80, 0, 1, 8, 1, 1, 0];
        let empty = [0x81, 202, 0, 2, 0, 0x80, 0, 1, 8, 0, 0, 0];
        let endless = [0x81, 202, 0, 2, 1, 2, 3, 4, 1, 2, b'a', b'b'];
        for (packet, why) in [
            (item, short("SDES item", 3, 2)),
            (prefix, short("prefix of an SDES PRIV item", 1, 0)),
            (empty, short("length of the prefix of an SDES PRIV item", 1, 0)),
            (endless, short("end of an SDES chunk", 1, 0)),
        ] {
            for bytes in [packet.to_vec(), behind_report(&packet)] {
                let compound = Compound::parse_reduced_size(&bytes).unwrap();
                let Some(Ok(RtcpPacket::SourceDescription(sdes))) = compound.packets().last()
                else {
                    panic!("{compound:?}")
                };
                assert_eq!(sdes.items().last(), Some(Err(why)));
            }
        }
        let reason = behind_report(&[0x81, 203, 0, 2, 1, 2, 3, 4, 4, b'b', b'y', b'e']);
        let packet = Compound::parse(&reason).unwrap().packets().last();
        assert_eq!(packet, Some(Err(short("reason for leaving", 4, 3))));
    }

    #[test]
    fn what_a_profile_adds_to_a_report_is_behind_its_blocks() {
        let bytes = [0x80, 201, 0, 2, 1, 2, 3, 4, 9, 8, 7, 6];
        let packet = Compound::parse(&bytes).unwrap().packets().next();
        let Some(Ok(RtcpPacket::ReceiverReport(report))) = packet else { panic!("{packet:?}") };
        assert_eq!((report.blocks().len(), report.extension()), (0, &[9, 8, 7, 6][..]));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let read = [Compound::parse(&bytes), Compound::parse_reduced_size(&bytes)];
            for compound in read.into_iter().flatten() {
                prop_assert!(refusals(&compound) <= bytes.len());
            }
        }

        #[test]
        fn no_packet_that_fits_makes_the_parser_panic(
            packets in prop::collection::vec(
                (0_u8..32, 200_u8..208, prop::collection::vec(any::<[u8; 4]>(), 0..20)), 1..4),
            padding in any::<bool>(),
        ) {
            let mut bytes = EMPTY_REPORT.to_vec();
            for (index, (count, packet_type, body)) in packets.iter().enumerate() {
                let padded = u8::from(padding && index + 1 == packets.len());
                let words = u8::try_from(body.len()).unwrap();
                bytes.extend([0x80 | padded << 5 | count, *packet_type, 0, words]);
                bytes.extend(body.as_flattened());
            }
            if let Ok(compound) = Compound::parse(&bytes) {
                prop_assert_eq!(compound.packets().count(), packets.len() + 1);
                prop_assert!(refusals(&compound) <= bytes.len());
            } else {
                prop_assert!(padding);
            }
        }

        #[test]
        fn no_blocks_of_known_types_make_the_parser_panic(
            blocks in prop::collection::vec(
                (0_u8..9, any::<u8>(), prop::collection::vec(any::<[u8; 4]>(), 0..12)), 0..4),
        ) {
            let mut body = vec![1, 2, 3, 4];
            for (block_type, specific, contents) in &blocks {
                body.extend([*block_type, *specific, 0, u8::try_from(contents.len()).unwrap()]);
                body.extend(contents.as_flattened());
            }
            let words = u8::try_from(body.len() / 4).unwrap();
            let bytes = behind_report(&[&[0x80, 207, 0, words], &body[..]].concat());
            prop_assert!(refusals(&Compound::parse(&bytes).unwrap()) <= blocks.len());
        }
    }
}
