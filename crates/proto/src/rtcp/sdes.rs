//! Source descriptions, [RFC 3550 section 6.5](https://www.rfc-editor.org/rfc/rfc3550#section-6.5).
//!
//! ```text
//! chunk: | SSRC or CSRC, 4 B | item | item | ... | 0, and more of them to the end of the word |
//! item:  | type | length | text: length B |
//! PRIV:  | 8    | length | prefix length | prefix | value |
//! ```

use super::{forbidden, short};
use crate::ProtoError;

/// Least bytes of a chunk [B]: a source, and a word of ends.
const MIN_CHUNK_BYTES: usize = 8;

/// A source description, in the bytes of its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceDescription<'a> {
    chunks: u8,
    body: &'a [u8],
}

impl<'a> SourceDescription<'a> {
    #[inline]
    pub(super) fn parse(count: u8, body: &'a [u8]) -> Result<Self, ProtoError> {
        let needed = usize::from(count) * MIN_CHUNK_BYTES;
        if needed > body.len() {
            return Err(short("list of SDES chunks", needed, body.len()));
        }
        Ok(Self { chunks: count, body })
    }

    /// Count of chunks, one a source.
    #[must_use]
    pub fn chunks(&self) -> u8 {
        self.chunks
    }

    /// The items of all chunks, each with its source.
    #[inline]
    #[must_use]
    pub fn items(&self) -> Items<'a> {
        Items { rest: self.body, chunks: self.chunks, source: None }
    }
}

/// The items of a source description one by one, each with the source that it describes. One that does not fit
/// is an error, and the last.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: &'a [u8],
    /// Chunks that are not begun.
    chunks: u8,
    /// Source of the chunk that is open.
    source: Option<u32>,
}

impl Items<'_> {
    fn stop<T>(&mut self, why: ProtoError) -> Option<Result<T, ProtoError>> {
        (self.rest, self.chunks, self.source) = (&[], 0, None);
        Some(Err(why))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<(u32, Item<'a>), ProtoError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(source) = self.source else {
                self.chunks = self.chunks.checked_sub(1)?;
                let Some((source, rest)) = self.rest.split_first_chunk::<4>() else {
                    return self.stop(short("source of an SDES chunk", 4, self.rest.len()));
                };
                (self.source, self.rest) = (Some(u32::from_be_bytes(*source)), rest);
                continue;
            };
            match *self.rest {
                // The packet ends with a word, so what is left tells where in a word this is.
                [0, ref rest @ ..] => {
                    (self.source, self.rest) = (None, &rest[rest.len() % 4..]);
                }
                [kind, length, ref rest @ ..] => {
                    let Some((text, rest)) = rest.split_at_checked(usize::from(length)) else {
                        return self.stop(short("SDES item", usize::from(length), rest.len()));
                    };
                    self.rest = rest;
                    return match Item::parse(kind, text) {
                        Ok(item) => Some(Ok((source, item))),
                        Err(why) => self.stop(why),
                    };
                }
                _ => return self.stop(short("end of an SDES chunk", 1, 0)),
            }
        }
    }
}

/// One item: texts are UTF-8 if the sender keeps to the rules, which nobody has checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// Canonical name of the participant, the one that must be there (section 6.5.1).
    Cname(&'a [u8]),
    /// Name for people (6.5.2).
    Name(&'a [u8]),
    /// Address of mail (6.5.3).
    Email(&'a [u8]),
    /// Number of a telephone (6.5.4).
    Phone(&'a [u8]),
    /// Location (6.5.5).
    Loc(&'a [u8]),
    /// Name of the program (6.5.6).
    Tool(&'a [u8]),
    /// What the participant is doing (6.5.7).
    Note(&'a [u8]),
    /// Private extension (6.5.8).
    Priv {
        /// Whose extension it is.
        prefix: &'a [u8],
        /// What it says.
        value: &'a [u8],
    },
    /// A type that is not known here.
    Other {
        /// Item type, not 0.
        kind: u8,
        /// What it says.
        text: &'a [u8],
    },
}

impl<'a> Item<'a> {
    #[inline]
    fn parse(kind: u8, text: &'a [u8]) -> Result<Self, ProtoError> {
        Ok(match kind {
            1 => Self::Cname(text),
            2 => Self::Name(text),
            3 => Self::Email(text),
            4 => Self::Phone(text),
            5 => Self::Loc(text),
            6 => Self::Tool(text),
            7 => Self::Note(text),
            8 => Self::parse_private(text)?,
            _ => Self::Other { kind, text },
        })
    }

    fn parse_private(text: &'a [u8]) -> Result<Self, ProtoError> {
        let Some((&length, rest)) = text.split_first() else {
            return Err(short("length of the prefix of an SDES PRIV item", 1, 0));
        };
        let length = usize::from(length);
        let Some((prefix, value)) = rest.split_at_checked(length) else {
            return Err(short("prefix of an SDES PRIV item", length, rest.len()));
        };
        Ok(Self::Priv { prefix, value })
    }

    /// Its type, and the two parts of its text; the first has a length of its own in PRIV.
    fn parts(&self) -> (u8, Option<&'a [u8]>, &'a [u8]) {
        match *self {
            Self::Cname(text) => (1, None, text),
            Self::Name(text) => (2, None, text),
            Self::Email(text) => (3, None, text),
            Self::Phone(text) => (4, None, text),
            Self::Loc(text) => (5, None, text),
            Self::Tool(text) => (6, None, text),
            Self::Note(text) => (7, None, text),
            Self::Priv { prefix, value } => (8, Some(prefix), value),
            Self::Other { kind, text } => (kind, None, text),
        }
    }

    /// Its size with type and length [B].
    fn bytes(&self) -> usize {
        let (_, prefix, text) = self.parts();
        2 + prefix.map_or(0, |prefix| 1 + prefix.len()) + text.len()
    }

    /// Writes it at the front of a place that has room for it, and returns what is behind.
    fn write<'b>(&self, place: &'b mut [u8]) -> Result<&'b mut [u8], ProtoError> {
        let (kind, prefix, text) = self.parts();
        if kind == 0 {
            return Err(forbidden("type of an SDES item", 0, "0 ends a chunk"));
        }
        let text_bytes = self.bytes() - 2;
        let Ok(length) = u8::try_from(text_bytes) else {
            return Err(forbidden("size of an SDES item", text_bytes, "it has 255 B at most"));
        };
        let mut rest = put(place, &[kind, length]);
        if let Some(prefix) = prefix {
            #[expect(clippy::cast_possible_truncation, reason = "less than the length above")]
            let length = prefix.len() as u8;
            rest = put(rest, &[length]);
            rest = put(rest, prefix);
        }
        Ok(put(rest, text))
    }
}

/// Size of a chunk of these items [B], its ends included.
pub(super) fn chunk_bytes(items: &[Item<'_>]) -> usize {
    let items: usize = items.iter().map(Item::bytes).sum();
    4 + (items + 1).next_multiple_of(4)
}

/// Fills a place of [`chunk_bytes`].
pub(super) fn write_chunk(
    ssrc: u32,
    items: &[Item<'_>],
    place: &mut [u8],
) -> Result<(), ProtoError> {
    let mut rest = put(place, &ssrc.to_be_bytes());
    for item in items {
        rest = item.write(rest)?;
    }
    rest.fill(0);
    Ok(())
}

/// Puts bytes at the front, whose room was checked, and returns what is behind them.
fn put<'b>(place: &'b mut [u8], bytes: &[u8]) -> &'b mut [u8] {
    let (front, rest) = place.split_at_mut(bytes.len());
    front.copy_from_slice(bytes);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_the_source_of_its_chunk() {
        let body = b"\x00\x00\x00\x01\x01\x01a\x00\x00\x00\x00\x02\x00\x00\x00\x00\
            \x00\x00\x00\x03\x02\x02no\x06\x00\x00\x00????";
        let sdes = SourceDescription::parse(3, body).unwrap();
        let items: Vec<_> = sdes.items().collect::<Result<_, _>>().unwrap();
        let expected = [(1, Item::Cname(b"a")), (3, Item::Name(b"no")), (3, Item::Tool(b""))];
        assert_eq!((sdes.chunks(), &items[..]), (3, &expected[..]));
    }

    #[test]
    fn items_have_the_types_of_the_rfc() {
        let text = b"\x01pv";
        for (kind, item) in [
            (1, Item::Cname(text)),
            (2, Item::Name(text)),
            (3, Item::Email(text)),
            (4, Item::Phone(text)),
            (5, Item::Loc(text)),
            (6, Item::Tool(text)),
            (7, Item::Note(text)),
            (8, Item::Priv { prefix: b"p", value: b"v" }),
            (9, Item::Other { kind: 9, text }),
        ] {
            assert_eq!(Item::parse(kind, text), Ok(item));
            let mut place = [0xee; 6];
            assert_eq!(item.write(&mut place).map(|rest| rest.len()), Ok(1));
            assert_eq!(place, [kind, 3, 1, b'p', b'v', 0xee]);
        }
    }
}
