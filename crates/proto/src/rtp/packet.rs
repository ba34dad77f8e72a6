//! A packet as it came, [RFC 3550 section 5.1](https://www.rfc-editor.org/rfc/rfc3550#section-5.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |V=2|P|X|  CC   |M|     PT      |        sequence number        |
//! |                           timestamp                           |
//! |             synchronization source (SSRC) identifier          |
//! |        contributing source (CSRC) identifiers, CC of them     |
//! |    extension profile (if X)   |   length in words             |
//! |    extension, payload, padding (if P; its last byte counts it) |
//! ```

use super::extension::{Elements, Extension};
use super::{FIXED_HEADER_BYTES, VERSION};
use crate::ProtoError;

/// A packet, in the bytes of its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    fixed: &'a [u8; FIXED_HEADER_BYTES],
    csrcs: &'a [u8],
    extension: Option<Extension<'a>>,
    payload: &'a [u8],
    padding_bytes: u8,
}

impl<'a> Packet<'a> {
    /// Reads a datagram. Padding may fill all of what the headers leave: senders that probe for bandwidth send
    /// such packets, and their sequence numbers count.
    ///
    /// # Errors
    /// When it is too short for what it says it holds, has another version, or padding that cannot be.
    #[inline]
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ProtoError> {
        let Some((fixed, rest)) = datagram.split_first_chunk::<FIXED_HEADER_BYTES>() else {
            return Err(short("RTP header", FIXED_HEADER_BYTES, datagram.len()));
        };
        if fixed[0] >> 6 != VERSION {
            return Err(ProtoError::Version { what: "RTP packet", found: fixed[0] >> 6 });
        }
        let csrc_bytes = usize::from(fixed[0] & 0x0f) * 4;
        let Some((csrcs, rest)) = rest.split_at_checked(csrc_bytes) else {
            return Err(short("list of contributing sources", csrc_bytes, rest.len()));
        };
        let (extension, rest) = if fixed[0] & 0x10 == 0 {
            (None, rest)
        } else {
            let (extension, rest) = Extension::split(rest)?;
            (Some(extension), rest)
        };
        let padding_bytes = if fixed[0] & 0x20 == 0 { 0 } else { padding(rest)? };
        let payload = &rest[..rest.len() - usize::from(padding_bytes)];
        Ok(Self { fixed, csrcs, extension, payload, padding_bytes })
    }

    /// Marker: what it marks is the payload format's business, the end of a frame in most.
    #[inline]
    #[must_use]
    pub fn marker(&self) -> bool {
        self.fixed[1] & 0x80 != 0
    }

    /// Payload type.
    #[inline]
    #[must_use]
    pub fn payload_type(&self) -> u8 {
        self.fixed[1] & 0x7f
    }

    /// Sequence number, modulo 2^16.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> u16 {
        u16::from_be_bytes([self.fixed[2], self.fixed[3]])
    }

    /// Sampling instant of the first byte of the payload [ticks], modulo 2^32.
    #[inline]
    #[must_use]
    pub fn timestamp(&self) -> u32 {
        let [_, _, _, _, a, b, c, d, ..] = *self.fixed;
        u32::from_be_bytes([a, b, c, d])
    }

    /// Synchronization source.
    #[inline]
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        let [_, _, _, _, _, _, _, _, a, b, c, d] = *self.fixed;
        u32::from_be_bytes([a, b, c, d])
    }

    /// Contributing sources, in the order of the packet.
    #[inline]
    pub fn csrcs(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.csrcs.as_chunks::<4>().0.iter().map(|csrc| u32::from_be_bytes(*csrc))
    }

    /// Header extension.
    #[inline]
    #[must_use]
    pub fn extension(&self) -> Option<Extension<'a>> {
        self.extension
    }

    /// Elements of the extension; none where it is of another kind than RFC 8285's.
    #[inline]
    #[must_use]
    pub fn elements(&self) -> Elements<'a> {
        self.extension.map_or_else(Elements::none, |extension| extension.elements())
    }

    /// Payload without padding.
    #[inline]
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Bytes of padding behind the payload [B], the one that counts them included.
    #[inline]
    #[must_use]
    pub fn padding_bytes(&self) -> u8 {
        self.padding_bytes
    }
}

/// The count in the last byte of what follows the headers.
#[inline]
fn padding(rest: &[u8]) -> Result<u8, ProtoError> {
    let padding = rest.last().copied().unwrap_or(0);
    if padding == 0 || usize::from(padding) > rest.len() {
        return Err(ProtoError::Padding { what: "RTP packet", padding, room: rest.len() });
    }
    Ok(padding)
}

#[cold]
pub(super) fn short(what: &'static str, needed: usize, found: usize) -> ProtoError {
    ProtoError::Short { what, needed, found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::Header;

    const PLAIN: [u8; 16] =
        [0x80, 0xe0, 0x12, 0x34, 0, 0, 0, 160, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4];

    #[test]
    fn the_fields_of_a_plain_packet_are_where_the_rfc_puts_them() {
        let packet = Packet::parse(&PLAIN).unwrap();
        assert!(packet.marker());
        assert_eq!(packet.payload_type(), 96);
        assert_eq!(packet.sequence(), 0x1234);
        assert_eq!(packet.timestamp(), 160);
        assert_eq!(packet.ssrc(), 0xdead_beef);
        assert_eq!(packet.payload(), [1, 2, 3, 4]);
        assert_eq!(
            (packet.csrcs().len(), packet.extension(), packet.padding_bytes()),
            (0, None, 0)
        );
    }

    #[test]
    fn other_versions_are_refused() {
        for version in [0, 1, 3] {
            let mut bytes = PLAIN;
            bytes[0] = version << 6;
            let refused = Packet::parse(&bytes).unwrap_err();
            assert_eq!(refused, ProtoError::Version { what: "RTP packet", found: version });
        }
    }

    #[test]
    fn padding_of_nothing_and_of_more_than_there_is_are_refused() {
        for (count, room) in [(0, 4), (5, 4), (255, 4)] {
            let mut bytes = PLAIN;
            (bytes[0], bytes[15]) = (0xa0, count);
            let refused = Packet::parse(&bytes).unwrap_err();
            assert_eq!(refused, ProtoError::Padding { what: "RTP packet", padding: count, room });
        }
    }

    #[test]
    fn a_packet_of_padding_alone_has_an_empty_payload() {
        let mut bytes = PLAIN;
        (bytes[0], bytes[15]) = (0xa0, 4);
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!((packet.payload(), packet.padding_bytes()), (&[][..], 4));
    }

    #[test]
    fn a_packet_cut_anywhere_in_its_headers_is_refused_and_says_what_is_missing() {
        let header = Header {
            csrcs: &[1, 2, 3],
            extension: Some(Extension { profile: 0xbede, data: &[0x10, 7, 0, 0] }),
            ..Header::new(96, 1, 2, 3)
        };
        let mut whole = [0; 64];
        let length = header.write(&mut whole, &[9; 10]).unwrap();
        for cut in 0..length - 10 {
            assert!(
                matches!(Packet::parse(&whole[..cut]), Err(ProtoError::Short { found, .. }) if found <= cut),
                "cut at {cut}"
            );
        }
        assert_eq!(Packet::parse(&whole[..length]).unwrap().payload(), [9; 10]);
    }
}
