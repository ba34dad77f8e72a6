//! rtp-rs: headers read and written in place. It has no elements of extensions, no statistics, no buffer and no RTCP.

use ::rtp_rs::{RtpPacketBuilder, RtpReader};
use bytes::Bytes;

use crate::{Fields, SSRC, Stream, UNIT_BYTES};

const SOUND: &str = "the input is sound";

#[inline]
pub fn parse(stream: &Stream, mut seen: impl FnMut(Fields<'_>)) {
    for datagram in stream.datagrams() {
        let packet = RtpReader::new(datagram).expect(SOUND);
        seen(Fields {
            marker: packet.mark(),
            payload_type: packet.payload_type(),
            sequence: packet.sequence_number().into(),
            timestamp: packet.timestamp(),
            ssrc: packet.ssrc(),
            payload: packet.payload(),
        });
    }
}

#[inline]
pub fn build(audio: &Bytes, output: &mut [u8], mut seen: impl FnMut(&[u8])) {
    let (mut sequence, mut timestamp) = (0_u16, 0_u32);
    for unit in audio.chunks_exact(UNIT_BYTES) {
        let builder = RtpPacketBuilder::new().payload_type(0).ssrc(SSRC);
        let builder = builder.sequence(sequence.into()).timestamp(timestamp).payload(unit);
        let size = builder.build_into(output).expect(SOUND);
        seen(&output[..size]);
        sequence = sequence.wrapping_add(1);
        timestamp = timestamp.wrapping_add(160);
    }
}
