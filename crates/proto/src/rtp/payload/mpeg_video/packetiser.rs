//! Pictures to payloads, by the rules of [RFC 2250 section 3.1](https://www.rfc-editor.org/rfc/rfc2250#section-3.1).
//!
//! ```text
//! | sequence | group | picture | extensions | slice | slice |   what a payload may hold, any of it left out,
//! | sequence | group | picture | extensions | part of a slice   in this order
//! | part of a slice |
//! ```

use memchr::memmem;

use super::{
    FIRST_SYSTEM, GROUP, HEADER_BYTES, Header, MIN_PAYLOAD_BYTES, PICTURE, Picture, SEQUENCE,
    SEQUENCE_END, START_CODE_PREFIX, is_slice, short, start_code,
};
use crate::ProtoError;
use crate::rtp::payload::{Payload, forbidden, payload_limit};

/// Bytes of a start code [B]; it is not cut, or a receiver would not find it.
const START_CODE_BYTES: usize = 4;

/// Cuts pictures into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetiser {
    max_payload_bytes: usize,
}

impl Packetiser {
    /// Payloads of a size [B].
    ///
    /// # Errors
    /// When it is below [`MIN_PAYLOAD_BYTES`], or above what a packet carries.
    pub fn new(max_payload_bytes: usize) -> Result<Self, ProtoError> {
        let rule = "the largest header of a stream needs 261 B";
        Ok(Self { max_payload_bytes: payload_limit(max_payload_bytes, MIN_PAYLOAD_BYTES, rule)? })
    }

    /// The payloads of a picture and the headers before it, from a start code on. An error among them is the last
    /// that comes: a header larger than a payload, or something that is not of a video stream.
    ///
    /// # Errors
    /// When the bytes do not begin with a start code, or hold no picture's header.
    pub fn pack<'u>(&self, unit: &'u [u8]) -> Result<Payloads<'u>, ProtoError> {
        if start_code(unit).is_none() {
            let first = unit.iter().take(4).fold(0, |word, &byte| word << 8 | u64::from(byte));
            return Err(forbidden("start of a picture", first, "it is a start code"));
        }
        let room = self.max_payload_bytes - HEADER_BYTES;
        Ok(Payloads { unit, room, at: 0, slice_end: None, picture: first_picture(unit)? })
    }
}

/// The payloads of a picture one by one.
#[derive(Debug)]
pub struct Payloads<'u> {
    unit: &'u [u8],
    /// Bytes of the unit in a payload [B].
    room: usize,
    at: usize,
    /// Where the slice ends that is being cut.
    slice_end: Option<usize>,
    /// From the header sent last; before the first, what it will say.
    picture: Picture,
}

/// How far a payload has come in the order of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Empty,
    Sequence,
    Group,
    Picture,
    Slice,
}

/// What an element is to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Sequence,
    Group,
    Picture,
    Slice,
    /// It follows anything.
    SequenceEnd,
    /// Extensions and user data, which follow the header that they extend.
    Extension,
}

/// Part of the unit that makes a payload, from where the last ended.
#[derive(Clone, Copy, Debug)]
struct Extent {
    end: usize,
    begins_slice: bool,
    ends_slice: bool,
}

impl<'u> Iterator for Payloads<'u> {
    type Item = Result<Payload<'u>, ProtoError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.unit.len() {
            return None;
        }
        let extent = match self.slice_end.take() {
            Some(end) => Ok(self.part_of_slice(end, false)),
            None => self.elements(),
        };
        if extent.is_err() {
            self.at = self.unit.len();
        }
        Some(extent.map(|extent| self.payload(extent)))
    }
}

impl<'u> Payloads<'u> {
    fn payload(&mut self, extent: Extent) -> Payload<'u> {
        let data = &self.unit[self.at..extent.end];
        self.at = extent.end;
        let header = Header {
            picture: self.picture,
            has_sequence_header: start_code(data) == Some(SEQUENCE),
            begins_slice: extent.begins_slice,
            ends_slice: extent.ends_slice,
        };
        Payload::of(self.at == self.unit.len(), 0, &header.to_bytes(), data)
    }

    /// As much of a slice as fits.
    fn part_of_slice(&mut self, slice_end: usize, begins_slice: bool) -> Extent {
        let end = slice_end.min(self.at + self.room);
        let ends_slice = end == slice_end;
        self.slice_end = (!ends_slice).then_some(slice_end);
        Extent { end, begins_slice, ends_slice }
    }

    /// As many elements as fit and may stand together.
    fn elements(&mut self) -> Result<Extent, ProtoError> {
        let (mut end, mut stage, mut ends_slice) = (self.at, Stage::Empty, false);
        while end < self.unit.len() {
            let element = Element::at(&self.unit[end..])?;
            let Some(next) = stage.then(element) else { break };
            let element_end = element_end(self.unit, end);
            if element_end - self.at > self.room {
                let has_start = self.at + self.room >= end + START_CODE_BYTES;
                if element == Element::Slice && stage < Stage::Slice && has_start {
                    return Ok(self.part_of_slice(element_end, true));
                }
                if stage == Stage::Empty {
                    let (needed, what) = (element_end - end, "header of a video stream");
                    return Err(ProtoError::NoRoom { what, needed, room: self.room });
                }
                break;
            }
            if element == Element::Picture {
                self.picture = Picture::parse(&self.unit[end..element_end])?;
            }
            ends_slice = element == Element::Slice;
            (stage, end) = (next, element_end);
        }
        Ok(Extent { end, begins_slice: stage == Stage::Slice, ends_slice })
    }
}

impl Stage {
    /// The stage behind an element; none where the element has to begin another payload.
    fn then(self, element: Element) -> Option<Self> {
        match element {
            Element::Sequence => (self == Self::Empty).then_some(Self::Sequence),
            Element::Group => (self <= Self::Sequence).then_some(Self::Group),
            Element::Picture => matches!(self, Self::Empty | Self::Group).then_some(Self::Picture),
            Element::Extension => match self {
                Self::Empty => Some(Self::Picture),
                Self::Slice => None,
                _ => Some(self),
            },
            Element::Slice => Some(Self::Slice),
            Element::SequenceEnd => Some(self.max(Self::Picture)),
        }
    }
}

impl Element {
    /// The element that begins here.
    fn at(bytes: &[u8]) -> Result<Self, ProtoError> {
        Ok(match start_code(bytes).ok_or_else(|| short("start code", START_CODE_BYTES, bytes))? {
            PICTURE => Self::Picture,
            SEQUENCE => Self::Sequence,
            SEQUENCE_END => Self::SequenceEnd,
            GROUP => Self::Group,
            code if is_slice(code) => Self::Slice,
            code if code >= FIRST_SYSTEM => {
                let rule = "those of a video stream are below 185 (0xb9)";
                return Err(forbidden("start code", code.into(), rule));
            }
            _ => Self::Extension,
        })
    }
}

/// Where the element ends that begins at `start`: at the next start code, or with the unit.
fn element_end(unit: &[u8], start: usize) -> usize {
    let behind = start + START_CODE_PREFIX.len();
    memmem::find(&unit[behind..], &START_CODE_PREFIX).map_or(unit.len(), |at| behind + at)
}

/// What the first picture's header says.
fn first_picture(unit: &[u8]) -> Result<Picture, ProtoError> {
    let mut codes = memmem::find_iter(unit, &START_CODE_PREFIX);
    match codes.find(|&at| start_code(&unit[at..]) == Some(PICTURE)) {
        Some(at) => Picture::parse(&unit[at..element_end(unit, at)]),
        None => Err(short("picture, of which no header is there,", 8, &[])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEQUENCE_HEADER: [u8; 12] = [0, 0, 1, 0xb3, 9, 9, 9, 9, 9, 9, 9, 9];
    const GROUP_HEADER: [u8; 8] = [0, 0, 1, 0xb8, 9, 9, 9, 9];
    const I_PICTURE: [u8; 8] = [0, 0, 1, 0, 0, 0x4f, 0xff, 0xf8];
    const P_PICTURE: [u8; 9] = [0, 0, 1, 0, 0, 0x57, 0xff, 0xf9, 0x80];

    fn slice(code: u8, bytes: usize) -> Vec<u8> {
        [&[0, 0, 1, code][..], &vec![code; bytes - 4]].concat()
    }

    /// Marker, header and size of data of each payload.
    fn packed(room: usize, elements: &[&[u8]]) -> Vec<(bool, [u8; 4], usize)> {
        let unit = elements.concat();
        let mut at = 0;
        let payloads = Packetiser::new(room).unwrap().pack(&unit).unwrap();
        let seen = payloads.map(|payload| {
            let payload = payload.unwrap();
            let piece = payload.pieces().next().unwrap();
            assert_eq!(piece.data, &unit[at..at + piece.data.len()]);
            at += piece.data.len();
            (payload.marker, piece.header.try_into().unwrap(), piece.data.len())
        });
        seen.collect()
    }

    #[test]
    fn a_small_picture_is_one_payload_that_begins_and_ends_a_slice() {
        let (one, two) = (slice(1, 20), slice(2, 30));
        let elements = [&SEQUENCE_HEADER[..], &GROUP_HEADER, &I_PICTURE, &one, &two];
        // Temporal reference 1, S, B, E, type I.
        assert_eq!(packed(261, &elements), [(true, [0, 1, 0x39, 0], 78)]);
    }

    #[test]
    fn slices_stay_whole_where_they_fit_and_the_header_of_a_p_picture_tells_its_vectors() {
        let slices: Vec<_> = (1..=3).map(|code| slice(code, 120)).collect();
        let elements = [&P_PICTURE[..], &slices[0], &slices[1], &slices[2]];
        let expected = [(false, [0, 1, 0x1a, 3], 249), (true, [0, 1, 0x1a, 3], 120)];
        assert_eq!(packed(261, &elements), expected);
    }

    #[test]
    fn a_large_slice_is_cut_and_no_other_begins_behind_its_last_part() {
        let (large, small) = (slice(1, 600), slice(2, 10));
        let expected = [
            (false, [0, 1, 0x11, 0], 257),
            (false, [0, 1, 0x01, 0], 257),
            (false, [0, 1, 0x09, 0], 94),
            (true, [0, 1, 0x19, 0], 10),
        ];
        assert_eq!(packed(261, &[&I_PICTURE, &large, &small]), expected);
    }

    #[test]
    fn a_slice_is_not_cut_inside_its_start_code() {
        let extension = [&[0, 0, 1, 0xb5][..], &[9; 242]].concat();
        let large = slice(1, 300);
        let sizes: Vec<_> =
            packed(261, &[&I_PICTURE, &extension, &large]).iter().map(|seen| seen.2).collect();
        assert_eq!(sizes, [254, 257, 43]);
    }

    #[test]
    fn a_picture_header_follows_that_of_a_group_or_begins_a_payload() {
        let slice = slice(1, 20);
        let seen = packed(261, &[&SEQUENCE_HEADER, &I_PICTURE, &slice]);
        assert_eq!(seen, [(false, [0, 1, 0x21, 0], 12), (true, [0, 1, 0x19, 0], 28)]);
    }

    #[test]
    fn the_second_field_begins_a_payload_that_tells_of_it() {
        let slice = slice(1, 20);
        let seen = packed(261, &[&I_PICTURE, &slice, &P_PICTURE, &slice]);
        assert_eq!(seen, [(false, [0, 1, 0x19, 0], 28), (true, [0, 1, 0x1a, 3], 29)]);
    }

    #[test]
    fn what_is_no_video_stream_is_refused() {
        let packetiser = Packetiser::new(261).unwrap();
        let refuse = |elements: &[&[u8]]| -> String {
            let unit = elements.concat();
            let first_error = |payloads: Payloads<'_>| payloads.last().unwrap().unwrap_err();
            packetiser.pack(&unit).map_or_else(|error| error, first_error).to_string()
        };
        assert_eq!(refuse(&[&[1, 2, 3, 4]]), "start of a picture is 16909060: it is a start code");
        assert_eq!(refuse(&[&[]]), "start of a picture is 0: it is a start code");
        let refused = "picture, of which no header is there, needs 8 B, and there are 0";
        assert_eq!(refuse(&[&slice(1, 20)]), refused);
        let refused = "start code is 186: those of a video stream are below 185 (0xb9)";
        assert_eq!(refuse(&[&I_PICTURE, &slice(0xba, 14)]), refused);
        let refused = "header of a video stream takes 300 B, and the buffer has 257";
        assert_eq!(refuse(&[&I_PICTURE, &slice(0xb2, 300)]), refused);
        let refused = "start code needs 4 B, and there are 3";
        assert_eq!(refuse(&[&I_PICTURE, &[0, 0, 1]]), refused);
        let refused = Packetiser::new(260).unwrap_err().to_string();
        assert_eq!(refused, "largest payload is 260: the largest header of a stream needs 261 B");
    }
}
