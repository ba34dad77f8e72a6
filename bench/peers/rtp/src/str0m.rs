//! str0m: headers and RTCP parsed. A header can be had by a function for its own tests; what it writes, counts and
//! buffers cannot be reached from outside. Elements of extensions it gives as values of those that were negotiated.

use std::time::SystemTime;

use ::str0m::rtp::rtcp::{ReceptionReport, Rtcp};
use ::str0m::rtp::{ExtensionMap, RtpHeader};
use bitpath_proto::rtcp::{ReportBlock, SenderInfo};
use bytes::Bytes;

use crate::{CompoundFields, Fields, Stream};

const SOUND: &str = "the input is sound";

/// From 1900, where NTP begins, to 1970 [s].
const NTP_TO_UNIX_SECONDS: u64 = 2_208_988_800;

#[inline]
pub fn parse(stream: &Stream, mut seen: impl FnMut(Fields<'_>)) {
    let extensions = ExtensionMap::empty();
    for datagram in stream.datagrams() {
        let header = RtpHeader::_parse(datagram, &extensions).expect(SOUND);
        seen(Fields {
            marker: header.marker,
            payload_type: *header.payload_type,
            sequence: header.sequence_number,
            timestamp: header.timestamp,
            ssrc: *header.ssrc,
            payload: &datagram[header.header_len..],
        });
    }
}

/// The packets of a compound are cut out here, as its own loop does, which is private.
#[inline]
pub fn compound(compounds: &[Bytes], mut seen: impl FnMut(CompoundFields<'_>)) {
    for datagram in compounds {
        let mut rest = &datagram[..];
        let packets: [Option<Rtcp>; 3] = std::array::from_fn(|_| {
            let length = rest.get(2..4)?;
            let words = usize::from(u16::from_be_bytes([length[0], length[1]])) + 1;
            let (packet, behind) = rest.split_at_checked(words * 4)?;
            rest = behind;
            Rtcp::try_from(packet).ok()
        });
        let mut fields = CompoundFields::default();
        packets.iter().flatten().for_each(|packet| read(packet, &mut fields));
        seen(fields);
    }
}

#[inline]
fn read<'a>(packet: &'a Rtcp, fields: &mut CompoundFields<'a>) {
    match packet {
        Rtcp::SenderReport(report) => {
            let info = &report.sender_info;
            fields.ssrc = *info.ssrc;
            fields.info = SenderInfo {
                ntp_timestamp: ntp(info.ntp_time),
                rtp_timestamp: info.rtp_time.numer() as u32,
                packets: info.sender_packet_count,
                payload_bytes: info.sender_octet_count,
            };
            report.reports.iter().for_each(|block| fields.block = in_our_words(block));
        }
        Rtcp::SourceDescription(description) => {
            for chunk in description.reports.iter() {
                for (_, text) in chunk.values.iter() {
                    (fields.described, fields.cname) = (*chunk.ssrc, text.as_bytes());
                }
            }
        }
        // It has the sources, not the reason.
        Rtcp::Goodbye(goodbye) => {
            goodbye.reports.iter().for_each(|source| fields.leaving = **source)
        }
        _ => {}
    }
}

#[inline]
fn ntp(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let fraction = (u64::from(since.subsec_nanos()) << 32) / 1_000_000_000;
    (since.as_secs() + NTP_TO_UNIX_SECONDS) << 32 | fraction
}

#[inline]
fn in_our_words(block: &ReceptionReport) -> ReportBlock {
    ReportBlock {
        ssrc: *block.ssrc,
        fraction_lost: block.fraction_lost,
        cumulative_lost: block.packets_lost.cast_signed(),
        extended_highest: block.max_seq,
        jitter_ticks: block.jitter,
        last_sr: block.last_sr_time,
        delay_since_last_sr: block.last_sr_delay,
    }
}
