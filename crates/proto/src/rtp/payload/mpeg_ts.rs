//! MPEG transport streams: [RFC 2250 section 2](https://www.rfc-editor.org/rfc/rfc2250#section-2), payload type 33.
//!
//! A payload is whole transport packets. The timestamp is the time at which the first byte should leave the sender,
//! at 90 kHz; the marker shows where that clock jumps. Transport packets count themselves, so a receiver of the
//! stream sees a gap without being told.

use super::{Payload, forbidden, payload_limit};
use crate::ProtoError;

/// Payload type.
pub const PAYLOAD_TYPE: u8 = 33;

/// Rate of the timestamp [Hz].
pub const CLOCK_RATE_HZ: u32 = 90_000;

/// Size of a transport packet [B] (ISO/IEC 13818-1, section 2.4.3.2).
pub const TRANSPORT_PACKET_BYTES: usize = 188;

/// First byte of each of them.
pub const SYNC_BYTE: u8 = 0x47;

/// Seven transport packets [B], what fits into 1500 B with the headers of IP, UDP and RTP.
pub const DEFAULT_PAYLOAD_BYTES: usize = 7 * TRANSPORT_PACKET_BYTES;

/// One packet of a transport stream.
pub type TransportPacket = [u8; TRANSPORT_PACKET_BYTES];

/// Cuts a transport stream into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetiser {
    payload_bytes: usize,
}

impl Packetiser {
    /// Payloads of as many transport packets as fit.
    ///
    /// # Errors
    /// When not even one does, or a packet does not carry such a payload.
    pub fn new(max_payload_bytes: usize) -> Result<Self, ProtoError> {
        let rule = "a transport packet has 188 B";
        let most = payload_limit(max_payload_bytes, TRANSPORT_PACKET_BYTES, rule)?;
        Ok(Self { payload_bytes: most - most % TRANSPORT_PACKET_BYTES })
    }

    /// The payloads of a piece of stream; the first has the marker where the clock of the stream jumps.
    ///
    /// # Errors
    /// When the piece is not whole transport packets.
    pub fn pack<'u>(
        &self,
        stream: &'u [u8],
        clock_jumps: bool,
    ) -> Result<impl ExactSizeIterator<Item = Payload<'u>> + use<'u>, ProtoError> {
        transport_packets(stream)?;
        let payloads = stream.chunks(self.payload_bytes).enumerate();
        Ok(payloads
            .map(move |(index, packets)| Payload::of(clock_jumps && index == 0, 0, &[], packets)))
    }
}

/// The transport packets of a payload, or of a piece of stream.
///
/// # Errors
/// When the last is cut short, or one does not begin with the sync byte.
pub fn transport_packets(bytes: &[u8]) -> Result<&[TransportPacket], ProtoError> {
    let (packets, rest) = bytes.as_chunks::<TRANSPORT_PACKET_BYTES>();
    if !rest.is_empty() {
        let (needed, found) = (TRANSPORT_PACKET_BYTES, rest.len());
        return Err(ProtoError::Short { what: "last transport packet", needed, found });
    }
    match packets.iter().find(|packet| packet[0] != SYNC_BYTE) {
        None => Ok(packets),
        Some(packet) => {
            let rule = "a transport packet begins with 71 (0x47)";
            Err(forbidden("sync byte", u64::from(packet[0]), rule))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtp::payload::lossy::Sent;

    fn stream(packets: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..=250).cycle().take(packets * 188).collect();
        bytes.chunks_mut(188).for_each(|packet| packet[0] = SYNC_BYTE);
        bytes
    }

    #[test]
    fn seven_packets_go_into_1316_bytes() {
        let stream = stream(9);
        for room in [DEFAULT_PAYLOAD_BYTES, 1448, 8 * 188 - 1] {
            let payloads = Packetiser::new(room).unwrap().pack(&stream, true).unwrap();
            let seen: Vec<_> = payloads.map(|payload| (payload.marker, payload.bytes())).collect();
            assert_eq!(seen, [(true, 1316), (false, 376)]);
        }
    }

    #[test]
    fn every_truncation_of_a_payload_is_refused_but_between_packets() {
        let stream = stream(3);
        for cut in 0..=stream.len() {
            let expected = if cut % 188 == 0 {
                Ok(cut / 188)
            } else {
                let (what, found) = ("last transport packet", cut % 188);
                Err(ProtoError::Short { what, needed: 188, found })
            };
            assert_eq!(transport_packets(&stream[..cut]).map(<[_]>::len), expected);
        }
    }

    #[test]
    fn a_packet_out_of_sync_is_refused() {
        let mut stream = stream(3);
        stream[188] = 0x48;
        let refused = transport_packets(&stream).unwrap_err().to_string();
        assert_eq!(refused, "sync byte is 72: a transport packet begins with 71 (0x47)");
        assert!(Packetiser::new(1316).unwrap().pack(&stream, false).is_err());
    }

    #[test]
    fn a_payload_below_a_transport_packet_is_refused() {
        let refused = Packetiser::new(187).unwrap_err().to_string();
        assert_eq!(refused, "largest payload is 187: a transport packet has 188 B");
    }

    proptest! {
        #[test]
        fn a_stream_comes_back(packets in 0_usize..40, room in 188_usize..3000) {
            let stream = stream(packets);
            let payloads = Packetiser::new(room).unwrap().pack(&stream, false).unwrap();
            let mut received = Vec::new();
            for payload in payloads.map(|payload| Sent::new(&payload, 0)) {
                prop_assert!(payload.bytes.len() <= room);
                received.extend_from_slice(transport_packets(&payload.bytes).unwrap().as_flattened());
            }
            prop_assert_eq!(received, stream);
        }
    }
}
