//! rtcp-types: compounds read and written. It has no interval of appendix A.7.

use ::rtcp_types::prelude::*;
use ::rtcp_types::{Compound, Packet, ReceiverReport};
use bitpath_proto::rtcp::{ReportBlock, SenderInfo};
use bytes::Bytes;

use crate::{CompoundFields, SSRC};

const SOUND: &str = "the input is sound";

#[inline]
pub fn report(blocks: &[ReportBlock], output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    for block in blocks {
        let written = ::rtcp_types::ReportBlock::builder(block.ssrc)
            .fraction_lost(block.fraction_lost)
            .cumulative_lost(block.cumulative_lost.cast_unsigned())
            .extended_sequence_number(block.extended_highest)
            .interarrival_jitter(block.jitter_ticks)
            .last_sender_report_timestamp(block.last_sr)
            .delay_since_last_sender_report_timestamp(block.delay_since_last_sr);
        let report = ReceiverReport::builder(SSRC).add_report_block(written);
        let size = report.write_into(output).expect(SOUND);
        seen(&output[..size]);
    }
}

#[inline]
pub fn compound(compounds: &[Bytes], mut seen: impl FnMut(CompoundFields<'_>)) {
    for datagram in compounds {
        // What it lends of a packet lives no longer than the packet.
        let mut rest = Compound::parse(datagram).expect(SOUND).map(|packet| packet.expect(SOUND));
        let packets: [Option<Packet<'_>>; 3] = std::array::from_fn(|_| rest.next());
        let mut fields = CompoundFields::default();
        packets.iter().flatten().for_each(|packet| read(packet, &mut fields));
        seen(fields);
    }
}

#[inline]
fn read<'a>(packet: &'a Packet<'a>, fields: &mut CompoundFields<'a>) {
    match packet {
        Packet::Sr(report) => {
            fields.ssrc = report.ssrc();
            fields.info = SenderInfo {
                ntp_timestamp: report.ntp_timestamp(),
                rtp_timestamp: report.rtp_timestamp(),
                packets: report.packet_count(),
                payload_bytes: report.octet_count(),
            };
            report.report_blocks().for_each(|block| fields.block = in_our_words(&block));
        }
        Packet::Sdes(description) => {
            for chunk in description.chunks() {
                for item in chunk.items() {
                    (fields.described, fields.cname) = (chunk.ssrc(), item.value());
                }
            }
        }
        Packet::Bye(goodbye) => {
            goodbye.ssrcs().for_each(|source| fields.leaving = source);
            fields.reason = goodbye.reason().unwrap_or_default();
        }
        _ => {}
    }
}

#[inline]
fn in_our_words(block: &::rtcp_types::ReportBlock<'_>) -> ReportBlock {
    ReportBlock {
        ssrc: block.ssrc(),
        fraction_lost: block.fraction_lost(),
        cumulative_lost: block.cumulative_lost().cast_signed(),
        extended_highest: block.extended_sequence_number(),
        jitter_ticks: block.interarrival_jitter(),
        last_sr: block.last_sender_report_timestamp(),
        delay_since_last_sr: block.delay_since_last_sender_report_timestamp(),
    }
}
