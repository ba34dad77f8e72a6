//! The streams of RTP in a capture, found and judged as a receiver would judge them (RFC 3550).
//!
//! ```text
//! capture ──► datagrams ──► RTP? ──► stream by SSRC and addresses ──► counts [packets], jitter [ns] ──► Run
//!                            └──► others [datagrams]
//! ```
//!
//! Nothing in a datagram says that it is RTP. One that reads as a packet is a candidate, and its source is believed in
//! when two packets follow each other in sequence (appendix A.1). A payload type may change within a stream, as it does
//! for comfort noise and dialled digits; the numbers run on.
//!
//! Wireshark (`tshark -z rtp,streams`, here of version 4.0) finds the same packets. It counts otherwise
//!
//! - what is expected: from the first packet to the one that came last, and not to the highest number; and where packets
//!   overtake each other at the wrap of the 16 bits, turns too many, each 65 536 lost packets;
//! - restarts: a jump of the numbers is a loss to it, and here the beginning of another run;
//! - jitter: packets with an older timestamp than the first are left out, and from mean and greatest those with the
//!   marker and comfort noise, too;
//! - dynamic payload types: they have no jitter, where it saw no session description;
//! - clock rates that are no whole number of kHz: they are cut to one.
//!
//! In all else, and to the digits that it prints, the numbers are the same.

mod jitter;
mod record;
mod stream;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;

use bitpath_proto::rtp::Packet;

use super::capture::{Capture, Datagram};
pub use record::record;
pub use stream::Stream;

/// Candidates that are followed at once: more than a conference has, and few to look through when others must go.
const MAX_STREAMS: usize = 1024;

/// The second byte of packets of RTCP (RFC 5761 section 4): no packet of RTP has these payload types with the marker.
const RTCP_TYPES: std::ops::RangeInclusive<u8> = 192..=223;

/// What tells one stream from another: SSRC, source, destination.
type Name = (u32, SocketAddr, SocketAddr);

/// What a capture holds.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Streams, in the order of their first packets.
    pub streams: Vec<Stream>,
    /// Datagrams of UDP in all.
    pub datagrams: u64,
    /// Datagrams that belong to no stream.
    pub others: u64,
    /// Packets that are no whole datagram of UDP.
    pub skipped: u64,
    /// Datagrams of `others` that read as RTP, and for whose source there was no room.
    pub left_out: u64,
}

/// Finds the streams of a capture. `clock_rate_hz` is that of payload types that have none of their own.
#[must_use]
pub fn analyse(capture: &Capture, clock_rate_hz: Option<NonZeroU32>) -> Analysis {
    let mut table = Table { clock_rate_hz, streams: BTreeMap::new(), left_out: 0 };
    for (datagram, bytes) in capture.datagrams() {
        if let Some(packet) = packet(bytes) {
            table.take(datagram, &packet, bytes.len());
        }
    }
    let mut streams: Vec<Stream> = table.streams.into_values().collect();
    streams.retain(Stream::believed);
    streams.sort_by_key(Stream::place);
    let datagrams = capture.datagrams().len() as u64;
    let found: u64 = streams.iter().map(Stream::packets).sum();
    let (others, left_out) = (datagrams - found, table.left_out);
    Analysis { streams, datagrams, others, skipped: capture.skipped() as u64, left_out }
}

/// A datagram as a packet of RTP, if it can be one.
fn packet(bytes: &[u8]) -> Option<Packet<'_>> {
    let packet = Packet::parse(bytes).ok()?;
    (!RTCP_TYPES.contains(&bytes[1])).then_some(packet)
}

/// Streams and candidates so far.
struct Table {
    clock_rate_hz: Option<NonZeroU32>,
    streams: BTreeMap<Name, Stream>,
    left_out: u64,
}

impl Table {
    fn take(&mut self, datagram: &Datagram, packet: &Packet<'_>, bytes: usize) {
        let name = (packet.ssrc(), datagram.source, datagram.destination);
        if !self.streams.contains_key(&name) && !self.make_room() {
            self.left_out += 1;
            return;
        }
        let begin = || Stream::begin(name, datagram.at_ns);
        let stream = self.streams.entry(name).or_insert_with(begin);
        stream.on_packet(datagram.at_ns, packet, bytes as u64, self.clock_rate_hz);
    }

    /// Makes room for one more: the candidate that was silent for longest gives way, never a stream.
    fn make_room(&mut self) -> bool {
        if self.streams.len() < MAX_STREAMS {
            return true;
        }
        let candidates = self.streams.iter().filter(|(_, stream)| !stream.believed());
        let silent = candidates.min_by_key(|(_, stream)| stream.last_ns()).map(|(name, _)| *name);
        silent.is_some_and(|name| self.streams.remove(&name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use bitpath_proto::rtp::Header;

    use super::*;
    use crate::rtp::capture::CaptureWriter;

    /// A capture of packets of a source each: (SSRC, payload type, sequence number).
    fn captured(packets: impl IntoIterator<Item = (u32, u8, u16)>) -> Capture {
        let datagrams = packets.into_iter().map(|(ssrc, payload_type, sequence)| {
            let mut bytes = vec![0; 172];
            let timestamp = u32::from(sequence) * 160;
            Header::new(payload_type, sequence, timestamp, ssrc).write_header(&mut bytes).unwrap();
            bytes
        });
        of(datagrams)
    }

    fn of(datagrams: impl IntoIterator<Item = Vec<u8>>) -> Capture {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [from, to] = ["10.0.0.1:5004", "10.0.0.2:5004"].map(|address| address.parse().unwrap());
        let mut writer = CaptureWriter::create(file.path(), from, to).unwrap();
        for (number, bytes) in datagrams.into_iter().enumerate() {
            writer.add(number as u64 * 20_000_000, &bytes).unwrap();
        }
        writer.finish().unwrap();
        Capture::read(file.path()).unwrap()
    }

    #[test]
    fn streams_come_in_the_order_of_their_first_packets() {
        let found =
            analyse(&captured((0..20_u16).map(|at| (u32::from(9 - at % 2), 0, at / 2))), None);
        let shown: Vec<_> =
            found.streams.iter().map(|stream| (stream.ssrc(), stream.packets())).collect();
        assert_eq!((shown, found.others), (vec![(9, 10), (8, 10)], 0));
    }

    #[test]
    fn what_reads_as_rtp_but_never_follows_in_sequence_is_no_stream() {
        let strangers = (0..50_u16).map(|at| (1000 + u32::from(at), 0, at * 977));
        let found = analyse(&captured(strangers.chain([(7, 0, 1), (7, 0, 9), (7, 0, 3)])), None);
        assert_eq!((found.streams.len(), found.others, found.datagrams), (0, 53, 53));
    }

    #[test]
    fn reports_and_other_datagrams_are_no_packets() {
        let report = [&[0x80, 201, 0, 1][..], &[0; 8]].concat();
        let found =
            analyse(&of([report.clone(), report, vec![0; 40], vec![], vec![0x80; 5]]), None);
        assert_eq!((found.streams.len(), found.others), (0, 5));
    }

    #[test]
    fn invented_sources_push_out_no_stream_and_find_an_end() {
        let invented = (0..5000).map(|at| (10_000 + at, 0, 0));
        let packets = [(7, 0, 1), (7, 0, 2)].into_iter().chain(invented).chain([(7, 0, 3)]);
        let found = analyse(&captured(packets), None);
        assert_eq!((found.streams.len(), found.streams[0].packets()), (1, 3));
        let all = (0..).take(MAX_STREAMS + 10).flat_map(|ssrc| [(ssrc, 0, 1), (ssrc, 0, 2)]);
        let found = analyse(&captured(all), None);
        assert_eq!((found.streams.len(), found.left_out, found.others), (MAX_STREAMS, 20, 20));
    }
}
