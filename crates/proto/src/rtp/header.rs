//! A packet to be sent: its header and payload written into a buffer.

use super::extension::Extension;
use super::{FIXED_HEADER_BYTES, MAX_CSRCS, VERSION};
use crate::ProtoError;

/// What the header of a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Marker, as the payload format has it.
    pub marker: bool,
    /// Payload type, 0 to 127.
    pub payload_type: u8,
    /// Sequence number.
    pub sequence: u16,
    /// Sampling instant of the first byte of the payload [ticks].
    pub timestamp: u32,
    /// Synchronization source.
    pub ssrc: u32,
    /// Contributing sources, 15 at most.
    pub csrcs: &'a [u32],
    /// Header extension, whole words.
    pub extension: Option<Extension<'a>>,
}

impl<'a> Header<'a> {
    /// A header without marker, contributing sources and extension.
    #[must_use]
    pub fn new(payload_type: u8, sequence: u16, timestamp: u32, ssrc: u32) -> Self {
        Self { marker: false, payload_type, sequence, timestamp, ssrc, csrcs: &[], extension: None }
    }

    /// Its size [B].
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        let extension = self.extension.map_or(0, |extension| 4 + extension.data.len());
        FIXED_HEADER_BYTES + self.csrcs.len() * 4 + extension
    }

    /// Writes the header alone and returns its size [B].
    ///
    /// # Errors
    /// When the buffer is too small, or a field has a value that the wire cannot carry.
    #[inline]
    pub fn write_header(&self, buffer: &mut [u8]) -> Result<usize, ProtoError> {
        let (needed, room) = (self.bytes(), buffer.len());
        let Some((fixed, rest)) = buffer.split_first_chunk_mut::<FIXED_HEADER_BYTES>() else {
            return Err(no_room(needed, room));
        };
        if rest.len() < needed - FIXED_HEADER_BYTES {
            return Err(no_room(needed, room));
        }
        if self.payload_type > 127 {
            let found = u64::from(self.payload_type);
            return Err(ProtoError::Forbidden {
                what: "payload type",
                found,
                rule: "it has 7 bits",
            });
        }
        let first = VERSION << 6;
        let [s0, s1] = self.sequence.to_be_bytes();
        let second = u8::from(self.marker) << 7 | self.payload_type;
        fixed[..4].copy_from_slice(&[first, second, s0, s1]);
        fixed[4..8].copy_from_slice(&self.timestamp.to_be_bytes());
        fixed[8..].copy_from_slice(&self.ssrc.to_be_bytes());
        if self.csrcs.is_empty() && self.extension.is_none() {
            return Ok(needed);
        }
        fixed[0] |= self.write_variable(rest)?;
        Ok(needed)
    }

    /// Writes contributing sources and extension, and returns what the first byte says of them.
    fn write_variable(&self, mut rest: &mut [u8]) -> Result<u8, ProtoError> {
        if self.csrcs.len() > MAX_CSRCS {
            let found = self.csrcs.len() as u64;
            let rule = "a packet has 15 at most";
            return Err(ProtoError::Forbidden {
                what: "count of contributing sources",
                found,
                rule,
            });
        }
        for csrc in self.csrcs {
            rest = put(rest, &csrc.to_be_bytes());
        }
        if let Some(Extension { profile, data }) = self.extension {
            let words = u16::try_from(data.len() / 4).ok().filter(|_| data.len().is_multiple_of(4));
            let Some(words) = words else {
                let (found, rule) = (data.len() as u64, "it has whole words, 65 535 at most");
                return Err(ProtoError::Forbidden { what: "size of an extension", found, rule });
            };
            rest = put(rest, &profile.to_be_bytes());
            rest = put(rest, &words.to_be_bytes());
            put(rest, data);
        }
        #[expect(clippy::cast_possible_truncation, reason = "15 at most")]
        let count = self.csrcs.len() as u8;
        Ok(u8::from(self.extension.is_some()) << 4 | count)
    }

    /// Writes header and payload and returns the size of the packet [B].
    ///
    /// # Errors
    /// As [`Header::write_header`], the payload included.
    #[inline]
    pub fn write(&self, buffer: &mut [u8], payload: &[u8]) -> Result<usize, ProtoError> {
        let (at, room) = (self.write_header(buffer)?, buffer.len());
        let Some(place) = buffer.get_mut(at..at + payload.len()) else {
            return Err(no_room(at + payload.len(), room));
        };
        place.copy_from_slice(payload);
        Ok(at + payload.len())
    }

    /// Writes header, payload and `padding_bytes` of padding (1 at least), and returns the size of the packet [B].
    ///
    /// # Errors
    /// As [`Header::write`]; padding of nothing.
    pub fn write_padded(
        &self,
        buffer: &mut [u8],
        payload: &[u8],
        padding_bytes: u8,
    ) -> Result<usize, ProtoError> {
        if padding_bytes == 0 {
            let rule = "the byte that counts it is part of it";
            return Err(ProtoError::Forbidden { what: "padding", found: 0, rule });
        }
        let (at, room) = (self.write(buffer, payload)?, buffer.len());
        let end = at + usize::from(padding_bytes);
        let Some(place) = buffer.get_mut(at..end) else {
            return Err(no_room(end, room));
        };
        place.fill(0);
        buffer[end - 1] = padding_bytes;
        buffer[0] |= 0x20;
        Ok(end)
    }
}

/// Puts bytes at the front, whose room was checked, and returns what is behind them.
fn put<'b>(buffer: &'b mut [u8], bytes: &[u8]) -> &'b mut [u8] {
    let (place, rest) = buffer.split_at_mut(bytes.len());
    place.copy_from_slice(bytes);
    rest
}

fn no_room(needed: usize, room: usize) -> ProtoError {
    ProtoError::NoRoom { what: "RTP packet", needed, room }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtp::Packet;

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            (marker, payload_type, sequence) in (any::<bool>(), 0_u8..128, any::<u16>()),
            (timestamp, ssrc) in (any::<u32>(), any::<u32>()),
            csrcs in prop::collection::vec(any::<u32>(), 0..16),
            extension in prop::option::of((any::<u16>(), prop::collection::vec(any::<[u8; 4]>(), 0..9))),
            payload in prop::collection::vec(any::<u8>(), 0..200),
            padding in 0_u8..=255,
        ) {
            let words = extension.map(|(profile, words)| (profile, words.concat()));
            let extension = words.as_ref().map(|(profile, data)| Extension { profile: *profile, data });
            let header = Header {
                marker, payload_type, sequence, timestamp, ssrc, csrcs: &csrcs, extension,
            };
            let mut buffer = [0xff; 1000];
            let size = match padding {
                0 => header.write(&mut buffer, &payload).unwrap(),
                _ => header.write_padded(&mut buffer, &payload, padding).unwrap(),
            };
            let packet = Packet::parse(&buffer[..size]).unwrap();
            prop_assert_eq!(packet.marker(), marker);
            prop_assert_eq!(packet.payload_type(), payload_type);
            prop_assert_eq!(packet.sequence(), sequence);
            prop_assert_eq!(packet.timestamp(), timestamp);
            prop_assert_eq!(packet.ssrc(), ssrc);
            prop_assert_eq!(packet.csrcs().collect::<Vec<_>>(), csrcs);
            prop_assert_eq!(packet.extension(), extension);
            prop_assert_eq!(packet.payload(), payload);
            prop_assert_eq!(packet.padding_bytes(), padding);
        }

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(packet) = Packet::parse(&bytes) {
                prop_assert!(packet.payload().len() + packet.csrcs().len() * 4 < bytes.len());
                prop_assert!(packet.elements().count() <= bytes.len());
            }
        }
    }

    #[test]
    fn what_the_wire_cannot_carry_is_refused() {
        let refuse = |header: Header<'_>| header.write(&mut [0; 200], &[]).unwrap_err().to_string();
        let header = Header::new(0, 0, 0, 0);
        let refused = refuse(Header { payload_type: 128, ..header });
        assert_eq!(refused, "payload type is 128: it has 7 bits");
        let refused = refuse(Header { csrcs: &[0; 16], ..header });
        assert_eq!(refused, "count of contributing sources is 16: a packet has 15 at most");
        let extension = Some(Extension { profile: 0, data: &[0; 5] });
        let refused = refuse(Header { extension, ..header });
        assert_eq!(refused, "size of an extension is 5: it has whole words, 65 535 at most");
        assert!(header.write_padded(&mut [0; 200], &[], 0).is_err());
    }

    #[test]
    fn a_buffer_too_small_by_a_byte_is_refused() {
        let header = Header { csrcs: &[1], ..Header::new(0, 0, 0, 0) };
        let refused = header.write(&mut [0; 19], &[0; 4]).unwrap_err();
        assert_eq!(refused, ProtoError::NoRoom { what: "RTP packet", needed: 20, room: 19 });
        assert!(header.write_header(&mut [0; 15]).is_err());
        assert!(header.write_padded(&mut [0; 20], &[0; 4], 1).is_err());
    }
}
