//! MPEG-1 and MPEG-2 video: [RFC 2250 section 3](https://www.rfc-editor.org/rfc/rfc2250#section-3), payload type 32.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |   MBZ   |T| temporal reference| | | | | |  P  | | BFC | | FFC |
//!                                  A N S B E       F       F
//!                                  N               B       F
//!                                                  V       V
//! | if T: extension of MPEG-2                                     |
//! | elements of the stream: headers, then slices or a part of one |
//! ```
//!
//! All packets of a picture have its timestamp (90 kHz), and the last has the marker. Headers come first in a
//! payload and are never cut; behind them are whole slices or a part of one, so that a receiver that lost a packet
//! can go on with the next payload that begins a slice.

mod depacketiser;
mod packetiser;

use super::forbidden;
use crate::ProtoError;

pub use depacketiser::Depacketiser;
pub use packetiser::{Packetiser, Payloads};

/// Payload type.
pub const PAYLOAD_TYPE: u8 = 32;

/// Rate of the timestamp [Hz].
pub const CLOCK_RATE_HZ: u32 = 90_000;

/// Smallest payload that carries every header of a stream [B] (section 3.1).
pub const MIN_PAYLOAD_BYTES: usize = 261;

/// Largest picture that is put together [B]. It fits into the largest buffer of a decoder, that of the 4:2:2 profile
/// at high level: 47 185 920 bits (ISO/IEC 13818-2, table 8-14).
pub const MAX_PICTURE_BYTES: usize = 47_185_920 / 8;

/// Header of a payload, without the extension of MPEG-2 [B].
const HEADER_BYTES: usize = 4;

/// Prefix of every start code.
const START_CODE_PREFIX: [u8; 3] = [0, 0, 1];

const PICTURE: u8 = 0x00;
const LAST_SLICE: u8 = 0xaf;
const SEQUENCE: u8 = 0xb3;
const SEQUENCE_END: u8 = 0xb7;
const GROUP: u8 = 0xb8;

/// From here on, start codes are those of multiplexed streams.
const FIRST_SYSTEM: u8 = 0xb9;

/// The header of a payload (section 3.4). The fields of MPEG-2 alone, AN and N, are written as 0 and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Of the picture that the payload belongs to.
    pub picture: Picture,
    /// S: a sequence header is in the payload.
    pub has_sequence_header: bool,
    /// B: a slice begins at the start, or behind headers.
    pub begins_slice: bool,
    /// E: the last byte is that of a slice.
    pub ends_slice: bool,
}

/// What payloads tell of their picture, from its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Place in the order of display within its group, modulo 1024.
    pub temporal_reference: u16,
    /// 1 is I, 2 P, 3 B, 4 D.
    pub coding_type: u8,
    /// Full-pel flag (1 bit) and code (3 bits) of vectors backward, then those forward; 0 where there are none.
    pub vectors: u8,
}

impl Header {
    /// Reads the header of a payload and skips the extension of MPEG-2; the rest is of the elementary stream.
    ///
    /// # Errors
    /// When the payload ends in its headers, or with them.
    pub fn split(payload: &[u8]) -> Result<(Self, &[u8]), ProtoError> {
        let Some((bytes, rest)) = payload.split_first_chunk::<HEADER_BYTES>() else {
            return Err(short("header of MPEG video", HEADER_BYTES, payload));
        };
        let rest = if bytes[0] & 0x04 == 0 { rest } else { behind_extension(rest)? };
        if rest.is_empty() {
            return Err(short("payload of MPEG video behind its headers", 1, rest));
        }
        let picture = Picture {
            temporal_reference: u16::from_be_bytes([bytes[0] & 0x03, bytes[1]]),
            coding_type: bytes[2] & 0x07,
            vectors: bytes[3],
        };
        let header = Self {
            picture,
            has_sequence_header: bytes[2] & 0x20 != 0,
            begins_slice: bytes[2] & 0x10 != 0,
            ends_slice: bytes[2] & 0x08 != 0,
        };
        Ok((header, rest))
    }

    fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let Picture { temporal_reference, coding_type, vectors } = self.picture;
        let [high, low] = temporal_reference.to_be_bytes();
        let flags = u8::from(self.has_sequence_header) << 5
            | u8::from(self.begins_slice) << 4
            | u8::from(self.ends_slice) << 3;
        [high & 0x03, low, flags | coding_type & 0x07, vectors]
    }
}

impl Picture {
    /// From a picture's header, start code and all (ISO/IEC 11172-2, section 2.4.2.5).
    fn parse(element: &[u8]) -> Result<Self, ProtoError> {
        // The third byte is of vbv_delay.
        let (&[_, _, _, _, a, b, _, d], rest) =
            element.split_first_chunk().ok_or_else(|| short("header of a picture", 8, element))?;
        let coding_type = b >> 3 & 0x07;
        let vectors = match coding_type {
            1 | 4 => 0,
            2 | 3 => {
                let e = *rest.first().ok_or_else(|| short("header of a picture", 9, element))?;
                let forward = d << 1 & 0x0f | e >> 7;
                let backward = if coding_type == 3 { e << 1 & 0xf0 } else { 0 };
                backward | forward
            }
            _ => {
                let rule = "1 is I, 2 P, 3 B, 4 D";
                return Err(forbidden("coding type of a picture", coding_type.into(), rule));
            }
        };
        let temporal_reference = u16::from(a) << 2 | u16::from(b >> 6);
        Ok(Self { temporal_reference, coding_type, vectors })
    }
}

/// Skips the extension of MPEG-2: four bytes, four more where the last bit (D) says so, and what the second bit (E)
/// announces, whose first byte counts its words, itself included (section 3.4.1).
fn behind_extension(bytes: &[u8]) -> Result<&[u8], ProtoError> {
    let what = "extension of the header of MPEG video";
    let fixed = bytes.first_chunk::<4>().ok_or_else(|| short(what, 4, bytes))?;
    let mut needed = if fixed[3] & 0x01 == 0 { 4 } else { 8 };
    if fixed[0] & 0x40 != 0 {
        let words = *bytes.get(needed).ok_or_else(|| short(what, needed + 1, bytes))?;
        if words == 0 {
            return Err(forbidden("words of extensions of MPEG video", 0, "they count themselves"));
        }
        needed += usize::from(words) * 4;
    }
    bytes.get(needed..).ok_or_else(|| short(what, needed, bytes))
}

/// The start code at the front of bytes.
fn start_code(bytes: &[u8]) -> Option<u8> {
    bytes.strip_prefix(&START_CODE_PREFIX)?.first().copied()
}

fn is_slice(code: u8) -> bool {
    (1..=LAST_SLICE).contains(&code)
}

fn short(what: &'static str, needed: usize, bytes: &[u8]) -> ProtoError {
    ProtoError::Short { what, needed, found: bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_header_are_where_the_rfc_puts_them() {
        let picture = Picture { temporal_reference: 0x2a5, coding_type: 3, vectors: 0b1010_0111 };
        let header =
            Header { picture, has_sequence_header: true, begins_slice: false, ends_slice: true };
        assert_eq!(header.to_bytes(), [0x02, 0xa5, 0b0010_1011, 0b1010_0111]);
        assert_eq!(Header::split(&[0x02, 0xa5, 0x2b, 0xa7, 9]), Ok((header, &[9][..])));
    }

    #[test]
    fn the_extension_of_mpeg_2_is_skipped_with_all_that_it_announces() {
        let plain = [0x80, 0, 0, 0];
        let composite = [0, 0, 0, 1, 0, 0x0f, 0xff, 0xff];
        let announced = [0x40, 0, 0, 0, 2, 1, 1, 1, 1, 1, 1, 1];
        let both = [0x40, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1];
        for extension in [&plain[..], &composite, &announced, &both] {
            let payload = [&[0x04, 0, 0, 0], extension, &[7, 8]].concat();
            assert_eq!(Header::split(&payload).unwrap().1, [7, 8], "{extension:?}");
            for cut in 0..payload.len() - 1 {
                let refused = Header::split(&payload[..cut]);
                assert!(matches!(refused, Err(ProtoError::Short { .. })), "{extension:?} at {cut}");
            }
        }
        let refused = Header::split(&[0x04, 0, 0, 0, 0x40, 0, 0, 0, 0, 1]).unwrap_err().to_string();
        assert_eq!(refused, "words of extensions of MPEG video is 0: they count themselves");
    }

    #[test]
    fn vectors_are_told_as_far_as_the_type_of_picture_has_them() {
        // Temporal reference 5, vbv_delay of ones, then 1 011 forward and 0 110 backward.
        let header = |kind: u8| [0, 0, 1, 0, 1, 0x40 | kind << 3 | 7, 0xff, 0xfd, 0b1011_0000];
        for (coding_type, vectors) in [(1, 0), (2, 0b0000_1011), (3, 0b0110_1011), (4, 0)] {
            let picture = Picture { temporal_reference: 5, coding_type, vectors };
            assert_eq!(Picture::parse(&header(coding_type)), Ok(picture));
        }
        let refused = Picture::parse(&header(5)).unwrap_err().to_string();
        assert_eq!(refused, "coding type of a picture is 5: 1 is I, 2 P, 3 B, 4 D");
        for cut in 0..9 {
            assert_eq!(Picture::parse(&header(3)[..cut]).unwrap_err(), {
                let needed = if cut < 8 { 8 } else { 9 };
                ProtoError::Short { what: "header of a picture", needed, found: cut }
            });
        }
    }
}
