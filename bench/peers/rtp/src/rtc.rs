//! rtc-rtp, rtc-rtcp and rtc-interceptor: webrtc-rs written again without I/O.
//!
//! Packets are given as shared bytes, so that no payload is copied. Its statistics take and give back a packet with
//! its addresses, as an interceptor does; its jitter buffer holds such packets.

use std::time::{Duration, Instant};

use bitpath_proto::rtcp::{ReportBlock, SenderInfo};
use bitpath_proto::rtp::reception::ReceptionReport;
use bytes::Bytes;
use rtc_interceptor::{
    AttributedPacket, Interceptor, JitterBuffer, Packet, ReceiverReportBuilder,
    ReceiverReportInterceptor, StreamInfo, TaggedPacket,
};
use rtc_rtcp::goodbye::Goodbye;
use rtc_rtcp::receiver_report::ReceiverReport;
use rtc_rtcp::sender_report::SenderReport;
use rtc_rtcp::source_description::SourceDescription;
use rtc_shared::TransportContext;
use rtc_shared::marshal::{Marshal, Unmarshal};
use sansio::Protocol;

use crate::{CLOCK_HZ, CompoundFields, Fields, SSRC, Stream, THRESHOLD, UNIT_BYTES};

const SOUND: &str = "the input is sound";

/// A time at which no report is due any more; it has no use for the packets' own.
const LATER: Duration = Duration::from_secs(1_000_000);

#[inline]
pub fn parse(stream: &Stream, mut seen: impl FnMut(Fields<'_>)) {
    for mut datagram in stream.shared() {
        let packet = rtc_rtp::Packet::unmarshal(&mut datagram).expect(SOUND);
        let header = &packet.header;
        seen(Fields {
            marker: header.marker,
            payload_type: header.payload_type,
            sequence: header.sequence_number,
            timestamp: header.timestamp,
            ssrc: header.ssrc,
            payload: &packet.payload,
        });
    }
}

#[inline]
pub fn elements(stream: &Stream, mut seen: impl FnMut(u8, &[u8])) {
    for mut datagram in stream.shared() {
        let packet = rtc_rtp::Packet::unmarshal(&mut datagram).expect(SOUND);
        packet.header.extensions.iter().for_each(|element| seen(element.id, &element.payload));
    }
}

#[inline]
pub fn build(audio: &Bytes, output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    let (mut sequence_number, mut timestamp) = (0_u16, 0_u32);
    for at in (0..audio.len()).step_by(UNIT_BYTES) {
        let header = rtc_rtp::Header {
            version: 2,
            sequence_number,
            timestamp,
            ssrc: SSRC,
            ..Default::default()
        };
        let packet = rtc_rtp::Packet { header, payload: audio.slice(at..at + UNIT_BYTES) };
        let size = packet.marshal_to(output).expect(SOUND);
        seen(&output[..size]);
        sequence_number = sequence_number.wrapping_add(1);
        timestamp = timestamp.wrapping_add(160);
    }
}

/// Packets with the time of their arrival from `start` on.
pub fn tagged(
    start: Instant,
    packets: impl Iterator<Item = (u32, Bytes)>,
) -> impl Iterator<Item = TaggedPacket> {
    packets.map(move |(arrival_ticks, mut datagram)| {
        let packet = rtc_rtp::Packet::unmarshal(&mut datagram).expect(SOUND);
        TaggedPacket {
            now: start
                + Duration::from_micros(u64::from(arrival_ticks) * 1_000_000 / u64::from(CLOCK_HZ)),
            transport: TransportContext::default(),
            message: AttributedPacket::new(Packet::Rtp(packet)),
        }
    })
}

pub struct Arrivals {
    start: Instant,
    packets: Vec<Option<TaggedPacket>>,
}

pub fn arrivals(stream: &Stream) -> Arrivals {
    let start = Instant::now();
    let packets = tagged(start, Stream::arrival_ticks().zip(stream.shared())).map(Some).collect();
    Arrivals { start, packets }
}

#[inline]
pub fn count(arrivals: &mut Arrivals) -> ReceptionReport {
    let mut reports = reports();
    for place in &mut arrivals.packets {
        let Some(packet) = place.take() else { continue };
        reports.handle_read(packet).expect(SOUND);
        *place = reports.poll_read();
    }
    report_of(&mut reports, arrivals.start + LATER)
}

/// Statistics of one source.
#[must_use]
pub fn reports() -> ReceiverReportInterceptor {
    let mut reports = ReceiverReportBuilder::new().with_interval(LATER / 2).build();
    reports.bind_remote_stream(&StreamInfo {
        ssrc: SSRC,
        clock_rate: CLOCK_HZ,
        ..Default::default()
    });
    reports
}

/// What it reports at this time.
pub fn report_of(reports: &mut ReceiverReportInterceptor, now: Instant) -> ReceptionReport {
    reports.handle_timeout(now).expect(SOUND);
    let Some(Packet::Rtcp(written)) = reports.poll_write().map(|report| report.message.packet)
    else {
        panic!("a report is due");
    };
    let report =
        written[0].as_any().downcast_ref::<ReceiverReport>().expect("it writes receiver reports");
    let block = &report.reports[0];
    ReceptionReport {
        fraction_lost: block.fraction_lost,
        cumulative_lost: block.total_lost.cast_signed(),
        extended_highest: block.last_sequence_number,
        jitter_ticks: block.jitter,
    }
}

pub fn waiting(stream: &Stream) -> Vec<TaggedPacket> {
    tagged(Instant::now(), Stream::arrival_ticks().zip(stream.shared())).collect()
}

/// The buffer holds whole packets: its users have them back from it.
#[inline]
pub fn play(packets: &mut Vec<TaggedPacket>, mut seen: impl FnMut(u16)) {
    let mut buffer = JitterBuffer::new(4 * THRESHOLD);
    buffer.begin_emitting();
    for packet in packets.drain(..) {
        let _ = buffer.push(packet);
        if buffer.len() > THRESHOLD {
            buffer.pop().into_iter().for_each(|packet| seen(sequence(&packet)));
        }
    }
    std::iter::from_fn(|| buffer.pop()).for_each(|packet| seen(sequence(&packet)));
}

/// Its sequence number.
#[must_use]
pub fn sequence(packet: &TaggedPacket) -> u16 {
    rtp(packet).map_or(0, |packet| packet.header.sequence_number)
}

fn rtp(packet: &TaggedPacket) -> Option<&rtc_rtp::Packet> {
    if let Packet::Rtp(packet) = &packet.message.packet { Some(packet) } else { None }
}

#[inline]
pub fn receive(stream: &Stream, output: &mut [u8]) -> (ReceptionReport, usize) {
    let start = Instant::now();
    let mut reports = reports();
    let mut buffer = JitterBuffer::new(4 * THRESHOLD);
    buffer.begin_emitting();
    let mut played_bytes = 0;
    let mut play = |packet: TaggedPacket| {
        let unit = rtp(&packet).map_or(&[][..], |packet| &packet.payload);
        output[played_bytes..played_bytes + unit.len()].copy_from_slice(unit);
        played_bytes += unit.len();
    };
    for packet in tagged(start, Stream::arrival_ticks().zip(stream.shared())) {
        reports.handle_read(packet).expect(SOUND);
        let _ = reports.poll_read().map(|packet| buffer.push(packet));
        if buffer.len() > THRESHOLD {
            buffer.pop().into_iter().for_each(&mut play);
        }
    }
    std::iter::from_fn(|| buffer.pop()).for_each(&mut play);
    (report_of(&mut reports, start + LATER), played_bytes)
}

#[inline]
pub fn report(blocks: &[ReportBlock], output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    for block in blocks {
        let written = rtc_rtcp::reception_report::ReceptionReport {
            ssrc: block.ssrc,
            fraction_lost: block.fraction_lost,
            total_lost: block.cumulative_lost.cast_unsigned(),
            last_sequence_number: block.extended_highest,
            jitter: block.jitter_ticks,
            last_sender_report: block.last_sr,
            delay: block.delay_since_last_sr,
        };
        let report = ReceiverReport { ssrc: SSRC, reports: vec![written], ..Default::default() };
        let size = report.marshal_to(output).expect(SOUND);
        seen(&output[..size]);
    }
}

#[inline]
pub fn compound(compounds: &[Bytes], mut seen: impl FnMut(CompoundFields<'_>)) {
    for datagram in compounds {
        let packets = rtc_rtcp::packet::unmarshal(&mut datagram.clone()).expect(SOUND);
        let mut fields = CompoundFields::default();
        packets.iter().for_each(|packet| read(packet.as_any(), &mut fields));
        seen(fields);
    }
}

#[inline]
fn read<'a>(packet: &'a dyn std::any::Any, fields: &mut CompoundFields<'a>) {
    if let Some(report) = packet.downcast_ref::<SenderReport>() {
        fields.ssrc = report.ssrc;
        fields.info = SenderInfo {
            ntp_timestamp: report.ntp_time,
            rtp_timestamp: report.rtp_time,
            packets: report.packet_count,
            payload_bytes: report.octet_count,
        };
        report.reports.iter().for_each(|block| fields.block = in_our_words(block));
    } else if let Some(description) = packet.downcast_ref::<SourceDescription>() {
        for chunk in &description.chunks {
            for item in &chunk.items {
                (fields.described, fields.cname) = (chunk.source, &item.text);
            }
        }
    } else if let Some(goodbye) = packet.downcast_ref::<Goodbye>() {
        goodbye.sources.iter().for_each(|source| fields.leaving = *source);
        fields.reason = &goodbye.reason;
    }
}

#[inline]
fn in_our_words(block: &rtc_rtcp::reception_report::ReceptionReport) -> ReportBlock {
    ReportBlock {
        ssrc: block.ssrc,
        fraction_lost: block.fraction_lost,
        cumulative_lost: block.total_lost.cast_signed(),
        extended_highest: block.last_sequence_number,
        jitter_ticks: block.jitter,
        last_sr: block.last_sender_report,
        delay_since_last_sr: block.delay,
    }
}
