//! rtp-types: headers read and written in place. It has no elements of extensions, no statistics and no buffer; its
//! sister is rtcp-types.

use ::rtp_types::{RtpPacket, RtpPacketBuilder};
use bytes::Bytes;

use crate::{Fields, SSRC, Stream, UNIT_BYTES};

const SOUND: &str = "the input is sound";

#[inline]
pub fn parse(stream: &Stream, mut seen: impl FnMut(Fields<'_>)) {
    for datagram in stream.datagrams() {
        let packet = RtpPacket::parse(datagram).expect(SOUND);
        seen(Fields {
            marker: packet.marker_bit(),
            payload_type: packet.payload_type(),
            sequence: packet.sequence_number(),
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
        let builder = RtpPacketBuilder::<&[u8], &[u8]>::new().payload_type(0).ssrc(SSRC);
        let builder = builder.sequence_number(sequence).timestamp(timestamp).payload(unit);
        let size = builder.write_into(output).expect(SOUND);
        seen(&output[..size]);
        sequence = sequence.wrapping_add(1);
        timestamp = timestamp.wrapping_add(160);
    }
}
