//! webrtc-rs: rtp, rtcp and interceptor.
//!
//! Packets are given as shared bytes, so that no payload is copied. Its statistics are an asynchronous reader around
//! another one; both are always ready here, so that each read is one poll. It has no jitter buffer of packets.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bitpath_proto::rtcp::{ReportBlock, SenderInfo};
use bitpath_proto::rtp::reception::ReceptionReport;
use bytes::Bytes;
use tokio::sync::Notify;
use webrtc_interceptor::report::receiver::ReceiverReport as Reports;
use webrtc_interceptor::stream_info::StreamInfo;
use webrtc_interceptor::{
    Attributes, Error, Interceptor, InterceptorBuilder, RTCPWriter, RTPReader,
};
use webrtc_rtcp::goodbye::Goodbye;
use webrtc_rtcp::receiver_report::ReceiverReport;
use webrtc_rtcp::sender_report::SenderReport;
use webrtc_rtcp::source_description::SourceDescription;
use webrtc_rtp::header::Header;
use webrtc_rtp::packet::Packet;
use webrtc_util::marshal::{Marshal, Unmarshal};

use crate::{CLOCK_HZ, CompoundFields, Fields, SSRC, Stream, UNIT_BYTES};

const SOUND: &str = "the input is sound";

/// Its timer runs on the real clock, and its first tick is at once; what never comes is given up after this.
const DEADLINE: Duration = Duration::from_secs(10);

#[inline]
pub fn parse(stream: &Stream, mut seen: impl FnMut(Fields<'_>)) {
    for mut datagram in stream.shared() {
        let packet = Packet::unmarshal(&mut datagram).expect(SOUND);
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
        let packet = Packet::unmarshal(&mut datagram).expect(SOUND);
        packet.header.extensions.iter().for_each(|element| seen(element.id, &element.payload));
    }
}

#[inline]
pub fn build(audio: &Bytes, output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    let (mut sequence_number, mut timestamp) = (0_u16, 0_u32);
    for at in (0..audio.len()).step_by(UNIT_BYTES) {
        let header =
            Header { version: 2, sequence_number, timestamp, ssrc: SSRC, ..Default::default() };
        let packet = Packet { header, payload: audio.slice(at..at + UNIT_BYTES) };
        let size = packet.marshal_to(output).expect(SOUND);
        seen(&output[..size]);
        sequence_number = sequence_number.wrapping_add(1);
        timestamp = timestamp.wrapping_add(160);
    }
}

/// Arrival times [ticks] and packets.
pub type Arrivals = Vec<(u32, Option<Packet>)>;

pub fn arrivals(stream: &Stream) -> Arrivals {
    parsed(Stream::arrival_ticks().zip(stream.shared()))
}

/// Packets with the time of their arrival [ticks].
pub fn parsed(packets: impl Iterator<Item = (u32, Bytes)>) -> Arrivals {
    let parsed = |mut datagram| Packet::unmarshal(&mut datagram).expect(SOUND);
    packets.map(|(arrival_ticks, datagram)| (arrival_ticks, Some(parsed(datagram)))).collect()
}

/// The reader inside: gives what was laid into it.
#[derive(Default)]
struct Laid(Mutex<Option<Packet>>);

#[async_trait]
impl RTPReader for Laid {
    async fn read(&self, _: &mut [u8], _: &Attributes) -> Result<(Packet, Attributes), Error> {
        let packet = self.0.lock().ok().and_then(|mut place| place.take());
        packet.map(|packet| (packet, Attributes::new())).ok_or(Error::ErrIoEOF)
    }
}

/// Keeps the report.
#[derive(Default)]
struct Written {
    report: Mutex<Option<ReceptionReport>>,
    done: Notify,
}

#[async_trait]
impl RTCPWriter for Written {
    async fn write(
        &self,
        packets: &[Box<dyn webrtc_rtcp::packet::Packet + Send + Sync>],
        _: &Attributes,
    ) -> Result<usize, Error> {
        let found =
            packets.first().and_then(|packet| packet.as_any().downcast_ref::<ReceiverReport>());
        let block = found.and_then(|report| report.reports.first()).map(|block| ReceptionReport {
            fraction_lost: block.fraction_lost,
            cumulative_lost: block.total_lost.cast_signed(),
            extended_highest: block.last_sequence_number,
            jitter_ticks: block.jitter,
        });
        if let Ok(mut place) = self.report.lock() {
            *place = block;
        }
        self.done.notify_one();
        Ok(0)
    }
}

/// Statistics of one source and the way to them.
pub struct Count {
    reports: Arc<dyn Interceptor + Send + Sync>,
    laid: Arc<Laid>,
    reader: Arc<dyn RTPReader + Send + Sync>,
    now_ticks: Arc<AtomicU64>,
    attributes: Attributes,
}

impl Count {
    #[must_use]
    pub fn new() -> Self {
        let now_ticks = Arc::new(AtomicU64::new(0));
        let ticks = Arc::clone(&now_ticks);
        let now = move || {
            let micros = ticks.load(Ordering::Relaxed) * 1_000_000 / u64::from(CLOCK_HZ);
            SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
        };
        let reports = Reports::builder().with_now_fn(Arc::new(now)).build("").expect(SOUND);
        let laid = Arc::new(Laid::default());
        let info = StreamInfo { ssrc: SSRC, clock_rate: CLOCK_HZ, ..Default::default() };
        let inner: Arc<dyn RTPReader + Send + Sync> = Arc::clone(&laid) as _;
        let reader = at_once(reports.bind_remote_stream(&info, inner));
        Self { reports, laid, reader, now_ticks, attributes: Attributes::new() }
    }

    /// Accounts for a packet and gives it back.
    #[inline]
    pub fn on_packet(&self, arrival_ticks: u32, packet: Packet) -> Packet {
        self.now_ticks.store(u64::from(arrival_ticks), Ordering::Relaxed);
        *self.laid.0.lock().expect("nobody panics with it") = Some(packet);
        at_once(self.reader.read(&mut [], &self.attributes)).expect(SOUND).0
    }

    /// What it reports: its timer writes one as soon as it runs.
    #[must_use]
    pub fn report(&self) -> ReceptionReport {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let written = Arc::new(Written::default());
            self.reports.bind_rtcp_writer(Arc::clone(&written) as _).await;
            tokio::time::timeout(DEADLINE, written.done.notified())
                .await
                .expect("it reports at once");
            let report = written.report.lock().expect("nobody panics with it");
            report.expect("it writes receiver reports")
        })
    }
}

impl From<Count> for ReceptionReport {
    fn from(count: Count) -> Self {
        count.report()
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::new()
    }
}

/// A future that waits for nothing.
#[inline]
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found,
        Poll::Pending => panic!("it waits, and nothing here ever wakes it"),
    }
}

/// The report is left out: it takes an executor, which is not what is asked for.
#[inline]
pub fn count(arrivals: &mut Arrivals) -> Count {
    let count = Count::new();
    for (arrival_ticks, place) in arrivals {
        let Some(packet) = place.take() else { continue };
        *place = Some(count.on_packet(*arrival_ticks, packet));
    }
    count
}

#[inline]
pub fn report(blocks: &[ReportBlock], output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    for block in blocks {
        let written = webrtc_rtcp::reception_report::ReceptionReport {
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
        let packets = webrtc_rtcp::packet::unmarshal(&mut datagram.clone()).expect(SOUND);
        let mut fields = CompoundFields::default();
        packets.iter().for_each(|packet| read(packet.as_any(), &mut fields));
        seen(fields);
    }
}

#[inline]
fn read<'a>(packet: &'a (dyn std::any::Any + Send + Sync), fields: &mut CompoundFields<'a>) {
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
fn in_our_words(block: &webrtc_rtcp::reception_report::ReceptionReport) -> ReportBlock {
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
