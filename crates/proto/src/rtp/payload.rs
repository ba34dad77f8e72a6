//! Payload formats: units of media are cut into payloads, and put together again.
//!
//! ```text
//! unit [B] ──► packetiser ──► payload: (header, bytes of the unit) ... ──► packet, at most so many bytes
//! packet, in order, gaps known ──► depacketiser ──► unit: whole | doubtful | damaged
//! ```
//!
//! A packetiser copies nothing of the unit: a payload is a few pieces, each some bytes of header and the bytes of
//! the unit that follow them, as a sender with a list of buffers wants it. A depacketiser gets payloads in the
//! order of their sequence numbers and is told where packets are missing; it never gives a unit with a hole as whole.

pub mod aac;
mod assembly;
pub mod h264;
#[cfg(test)]
mod lossy;
pub mod mpeg_ts;
pub mod mpeg_video;
pub mod pcm;
mod static_types;

use super::Packet;
use crate::ProtoError;

pub use static_types::{Encoding, Media, STATIC_TYPES, static_type};

/// Most pieces of one payload: parameter sets, messages and the slices of a small picture, or six frames of AAC at
/// 1500 B; more would make every payload larger to pass around.
pub const MAX_PIECES: usize = 8;

/// Bytes for the headers of all pieces of a payload [B]: eight headers of access units of 24 bits and their length
/// are the most.
const MAX_HEADER_BYTES: usize = 26;

/// Largest payload that can be asked for [B]: no datagram, and no frame of RTP over TCP, carries more.
pub const MAX_PAYLOAD_BYTES: usize = u16::MAX as usize;

/// One payload to be sent: pieces in order.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'u> {
    /// Marker of its packet.
    pub marker: bool,
    /// Time from the start of what was packed to the first byte of this payload [ticks].
    pub timestamp_offset: u32,
    headers: [u8; MAX_HEADER_BYTES],
    /// Where the header of each piece ends, and its bytes of the unit.
    pieces: [(usize, &'u [u8]); MAX_PIECES],
    count: usize,
}

/// Part of a payload: a header, and bytes of the unit behind it. Either may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'p> {
    /// Bytes that the payload format adds.
    pub header: &'p [u8],
    /// Bytes of the unit, where they lie.
    pub data: &'p [u8],
}

impl<'u> Payload<'u> {
    fn new(marker: bool, timestamp_offset: u32) -> Self {
        let headers = [0; MAX_HEADER_BYTES];
        Self { marker, timestamp_offset, headers, pieces: [(0, &[]); MAX_PIECES], count: 0 }
    }

    /// A payload of one piece.
    fn of(marker: bool, timestamp_offset: u32, header: &[u8], data: &'u [u8]) -> Self {
        let mut payload = Self::new(marker, timestamp_offset);
        payload.push(header, data);
        payload
    }

    /// Adds a piece; packetisers keep to [`MAX_PIECES`] and [`MAX_HEADER_BYTES`].
    fn push(&mut self, header: &[u8], data: &'u [u8]) {
        let start = self.header_start(self.count);
        let end = start + header.len();
        self.headers[start..end].copy_from_slice(header);
        self.pieces[self.count] = (end, data);
        self.count += 1;
    }

    fn header_start(&self, piece: usize) -> usize {
        piece.checked_sub(1).map_or(0, |before| self.pieces[before].0)
    }

    /// Its pieces, in the order of the wire.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Piece<'_>> {
        self.pieces[..self.count].iter().enumerate().map(|(index, &(end, data))| Piece {
            header: &self.headers[self.header_start(index)..end],
            data,
        })
    }

    /// Its size [B].
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pieces().map(|piece| piece.header.len() + piece.data.len()).sum()
    }

    /// Copies it to the front of a buffer, for senders that want it in one, and returns its size [B].
    ///
    /// # Errors
    /// When the buffer is too small.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, ProtoError> {
        let (needed, room) = (self.bytes(), buffer.len());
        if room < needed {
            return Err(ProtoError::NoRoom { what: "payload", needed, room });
        }
        let mut at = 0;
        for bytes in self.pieces().flat_map(|piece| [piece.header, piece.data]) {
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        }
        Ok(at)
    }
}

/// A payload that came, with what its packet says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'p> {
    /// Payload without padding. An empty one, of packets that only pad, belongs to no unit.
    pub payload: &'p [u8],
    /// Timestamp of the packet [ticks].
    pub timestamp: u32,
    /// Marker of the packet.
    pub marker: bool,
    /// Packets with sequence numbers right before this one are missing. True, too, for the first packet of a
    /// stream that was joined while it ran.
    pub after_gap: bool,
}

impl<'p> Arrival<'p> {
    /// The payload of a packet.
    #[must_use]
    pub fn of(packet: &Packet<'p>, after_gap: bool) -> Self {
        let (payload, timestamp) = (packet.payload(), packet.timestamp());
        Self { payload, timestamp, marker: packet.marker(), after_gap }
    }
}

/// How much of a unit is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// Every byte.
    Whole,
    /// Every byte, unless packets that are missing at its edge were its own: the format cannot tell.
    Doubtful,
    /// Bytes are missing. What is there has no hole inside a part (slice, NAL unit) that a decoder takes.
    Damaged,
}

/// A unit of media as it came out of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'d> {
    /// Timestamp of the unit [ticks].
    pub timestamp: u32,
    /// Its bytes; none where all of it that came was of no use.
    pub data: &'d [u8],
    /// Whether that is all of it.
    pub integrity: Integrity,
}

/// Refuses a largest payload that is below what the format needs or above what a packet carries.
fn payload_limit(bytes: usize, least: usize, rule: &'static str) -> Result<usize, ProtoError> {
    if bytes < least {
        return Err(forbidden("largest payload", bytes as u64, rule));
    }
    if bytes > MAX_PAYLOAD_BYTES {
        let rule = "a packet carries 65 535 B at most";
        return Err(forbidden("largest payload", bytes as u64, rule));
    }
    Ok(bytes)
}

fn forbidden(what: &'static str, found: u64, rule: &'static str) -> ProtoError {
    ProtoError::Forbidden { what, found, rule }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::Header;

    #[test]
    fn pieces_are_written_in_order_with_their_headers() {
        let mut payload = Payload::new(true, 0);
        payload.push(&[1, 2], b"ab");
        payload.push(&[], b"c");
        payload.push(&[3], b"");
        let pieces: Vec<_> = payload.pieces().map(|piece| (piece.header, piece.data)).collect();
        assert_eq!(pieces, [(&[1, 2][..], &b"ab"[..]), (&[], b"c"), (&[3], b"")]);
        let mut buffer = [0; 8];
        assert_eq!(payload.write(&mut buffer), Ok(6));
        assert_eq!(buffer[..6], *b"\x01\x02abc\x03");
        let refused = ProtoError::NoRoom { what: "payload", needed: 6, room: 5 };
        assert_eq!(payload.write(&mut buffer[..5]), Err(refused));
    }

    #[test]
    fn data_of_a_payload_is_the_units_own() {
        let unit = [7; 10];
        let payload = Payload::of(false, 0, &[1], &unit[3..]);
        assert!(payload.pieces().all(|piece| std::ptr::eq(piece.data, &raw const unit[3..])));
    }

    #[test]
    fn an_arrival_is_what_the_packet_says() {
        let mut bytes = [0; 32];
        let header = Header { marker: true, ..Header::new(96, 1, 90_000, 2) };
        let size = header.write(&mut bytes, &[5; 4]).unwrap();
        let arrival = Arrival::of(&Packet::parse(&bytes[..size]).unwrap(), true);
        let expected =
            Arrival { payload: &[5; 4], timestamp: 90_000, marker: true, after_gap: true };
        assert_eq!(arrival, expected);
    }
}
