//! Ours, as its users have it.

use bitpath_proto::rtcp::{Compound, Item, ReportBlock, RtcpPacket, Writer};
use bitpath_proto::rtp::jitter_buffer::Turn;
use bitpath_proto::rtp::reception::ReceptionReport;
use bitpath_proto::rtp::sequence::Arrival;
use bitpath_proto::rtp::{Header, JitterBuffer, Packet, Reception};
use bytes::Bytes;

use crate::{CompoundFields, Fields, SSRC, Stream, THRESHOLD, UNIT_BYTES};

const SOUND: &str = "the input is sound";

#[inline]
pub fn parse(stream: &Stream, mut seen: impl FnMut(Fields<'_>)) {
    for datagram in stream.datagrams() {
        let packet = Packet::parse(datagram).expect(SOUND);
        seen(Fields {
            marker: packet.marker(),
            payload_type: packet.payload_type(),
            sequence: packet.sequence(),
            timestamp: packet.timestamp(),
            ssrc: packet.ssrc(),
            payload: packet.payload(),
        });
    }
}

#[inline]
pub fn elements(stream: &Stream, mut seen: impl FnMut(u8, &[u8])) {
    for datagram in stream.datagrams() {
        for element in Packet::parse(datagram).expect(SOUND).elements() {
            let element = element.expect(SOUND);
            seen(element.id, element.data);
        }
    }
}

#[inline]
pub fn build(audio: &Bytes, output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    let (mut sequence, mut timestamp) = (0_u16, 0_u32);
    for unit in audio.chunks_exact(UNIT_BYTES) {
        let header = Header::new(0, sequence, timestamp, SSRC);
        let size = header.write(output, unit).expect(SOUND);
        seen(&output[..size]);
        sequence = sequence.wrapping_add(1);
        timestamp = timestamp.wrapping_add(160);
    }
}

pub fn arrivals(stream: &Stream) -> Vec<Packet<'_>> {
    stream.datagrams().map(|datagram| Packet::parse(datagram).expect(SOUND)).collect()
}

#[inline]
pub fn count(arrivals: &mut Vec<Packet<'_>>) -> ReceptionReport {
    let mut reception = Reception::new(1);
    for (arrival_ticks, packet) in Stream::arrival_ticks().zip(arrivals) {
        std::hint::black_box(reception.on_packet(packet, arrival_ticks));
    }
    reception.report()
}

/// Sequence numbers in their order of arrival, with the turn of the first.
pub fn waiting(stream: &Stream) -> Vec<u64> {
    let mut reception = Reception::new(1);
    let packets = arrivals(stream).into_iter();
    packets.filter_map(|packet| number(reception.on_packet(&packet, 0))).collect()
}

fn number(arrival: Arrival) -> Option<u64> {
    match arrival {
        Arrival::Counted(number) | Arrival::Begins(number) => Some(number),
        Arrival::OnProbation | Arrival::Jumped => None,
    }
}

/// The buffer holds a handle of four bytes for each packet.
#[inline]
pub fn play(numbers: &mut Vec<u64>, mut seen: impl FnMut(u16)) {
    let mut buffer = JitterBuffer::new(4 * THRESHOLD, THRESHOLD);
    let mut played = |turn: Turn<u32>| {
        if let Turn::Played(number, _) = turn {
            seen(number as u16);
        }
    };
    for (handle, number) in (0_u32..).zip(numbers) {
        let _ = buffer.insert(*number, handle);
        buffer.pop().into_iter().for_each(&mut played);
    }
    std::iter::from_fn(|| buffer.pop_now()).for_each(played);
}

#[inline]
pub fn receive(stream: &Stream, output: &mut [u8]) -> (ReceptionReport, usize) {
    let mut reception = Reception::new(1);
    let mut buffer: JitterBuffer<&[u8]> = JitterBuffer::new(4 * THRESHOLD, THRESHOLD);
    let mut played_bytes = 0;
    let mut play = |turn: Turn<&[u8]>| {
        if let Turn::Played(_, unit) = turn {
            output[played_bytes..played_bytes + unit.len()].copy_from_slice(unit);
            played_bytes += unit.len();
        }
    };
    for (arrival_ticks, datagram) in Stream::arrival_ticks().zip(stream.datagrams()) {
        let packet = Packet::parse(datagram).expect(SOUND);
        if let Some(number) = number(reception.on_packet(&packet, arrival_ticks)) {
            let _ = buffer.insert(number, packet.payload());
            buffer.pop().into_iter().for_each(&mut play);
        }
    }
    std::iter::from_fn(|| buffer.pop_now()).for_each(&mut play);
    (reception.report(), played_bytes)
}

#[inline]
pub fn report(blocks: &[ReportBlock], output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    for block in blocks {
        let mut writer = Writer::new(output);
        writer.receiver_report(SSRC, std::slice::from_ref(block)).expect(SOUND);
        seen(writer.written());
    }
}

#[inline]
pub fn compound(compounds: &[Bytes], mut seen: impl FnMut(CompoundFields<'_>)) {
    for datagram in compounds {
        let mut fields = CompoundFields::default();
        for packet in Compound::parse(datagram).expect(SOUND).packets() {
            match packet.expect(SOUND) {
                RtcpPacket::SenderReport(report) => {
                    (fields.ssrc, fields.info) = (report.ssrc(), report.sender_info());
                    report.blocks().for_each(|block| fields.block = block);
                }
                RtcpPacket::SourceDescription(description) => {
                    for item in description.items() {
                        if let (source, Item::Cname(text)) = item.expect(SOUND) {
                            (fields.described, fields.cname) = (source, text);
                        }
                    }
                }
                RtcpPacket::Goodbye(goodbye) => {
                    goodbye.sources().for_each(|source| fields.leaving = source);
                    fields.reason = goodbye.reason().unwrap_or_default();
                }
                _ => {}
            }
        }
        seen(fields);
    }
}
