//! Header extensions: [RFC 3550 section 5.3.1](https://www.rfc-editor.org/rfc/rfc3550#section-5.3.1), and
//! their elements, [RFC 8285 section 4](https://www.rfc-editor.org/rfc/rfc8285#section-4).
//!
//! ```text
//! one byte  |  ID   |  L  | data: L + 1 B |    profile 0xbede; ID 0 is padding, 15 ends the list
//! two bytes |      ID     |       L       | data: L B |    profile 0x100.; ID 0 is padding
//! ```

use super::packet::short;
use crate::ProtoError;

/// Profile of extensions of elements with headers of one byte.
pub(super) const ONE_BYTE: u16 = 0xbede;

/// Profile of extensions of elements with headers of two bytes; the last four bits are the application's.
const TWO_BYTE: u16 = 0x1000;

/// A header extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Defined by profile.
    pub profile: u16,
    /// Contents, whole words.
    pub data: &'a [u8],
}

impl<'a> Extension<'a> {
    /// Takes the extension off the front.
    #[inline]
    pub(super) fn split(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ProtoError> {
        let Some((head, rest)) = bytes.split_first_chunk::<4>() else {
            return Err(short("header of an extension", 4, bytes.len()));
        };
        let profile = u16::from_be_bytes([head[0], head[1]]);
        let length = usize::from(u16::from_be_bytes([head[2], head[3]])) * 4;
        let Some((data, rest)) = rest.split_at_checked(length) else {
            return Err(short("header extension", length, rest.len()));
        };
        Ok((Self { profile, data }, rest))
    }

    /// Its elements; none where the profile is another.
    #[inline]
    #[must_use]
    pub fn elements(&self) -> Elements<'a> {
        let header_bytes = match self.profile {
            ONE_BYTE => 1,
            profile if profile & 0xfff0 == TWO_BYTE => 2,
            _ => return Elements::none(),
        };
        Elements { rest: self.data, header_bytes }
    }
}

/// One element of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Local identifier, from 1.
    pub id: u8,
    /// Contents.
    pub data: &'a [u8],
}

/// The elements of an extension one by one. One that does not fit is an error, and the last.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
    header_bytes: usize,
}

impl Elements<'_> {
    #[inline]
    pub(super) fn none() -> Self {
        Self { rest: &[], header_bytes: 1 }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Element<'a>, ProtoError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (id, length, rest) = if self.header_bytes == 1 {
            self.one_byte_header()?
        } else {
            match self.two_byte_header()? {
                Ok(header) => header,
                Err(refused) => return Some(Err(refused)),
            }
        };
        let Some((data, rest)) = rest.split_at_checked(length) else {
            self.rest = &[];
            return Some(Err(short("extension element", length, rest.len())));
        };
        self.rest = rest;
        Some(Ok(Element { id, data }))
    }
}

impl<'a> Elements<'a> {
    /// Identifier, size of the data [B] and what is behind the header. Padding is skipped; an identifier of 0 with a
    /// length, and that of 15, end the list (section 4.2).
    #[inline]
    fn one_byte_header(&mut self) -> Option<(u8, usize, &'a [u8])> {
        loop {
            let (&first, rest) = self.rest.split_first()?;
            self.rest = rest;
            match first >> 4 {
                0 if first == 0 => {}
                0 | 15 => self.rest = &[],
                id => return Some((id, usize::from(first & 0x0f) + 1, rest)),
            }
        }
    }

    #[inline]
    #[expect(clippy::type_complexity, reason = "as the one above, or refused")]
    fn two_byte_header(&mut self) -> Option<Result<(u8, usize, &'a [u8]), ProtoError>> {
        loop {
            let (&id, rest) = self.rest.split_first()?;
            self.rest = rest;
            if id == 0 {
                continue;
            }
            let Some((&length, rest)) = rest.split_first() else {
                return Some(Err(short("length of an extension element", 1, 0)));
            };
            return Some(Ok((id, usize::from(length), rest)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(profile: u16, data: &[u8]) -> Vec<Result<(u8, Vec<u8>), ProtoError>> {
        let extension = Extension { profile, data };
        extension.elements().map(|found| found.map(|of| (of.id, of.data.to_vec()))).collect()
    }

    #[test]
    fn elements_of_one_byte_headers_are_found_between_padding() {
        let data = [0x10, 0xaa, 0, 0x22, 1, 2, 3, 0];
        assert_eq!(elements(0xbede, &data), [Ok((1, vec![0xaa])), Ok((2, vec![1, 2, 3]))]);
    }

    #[test]
    fn elements_of_two_byte_headers_may_be_empty_and_have_any_identifier() {
        let data = [15, 0, 200, 2, 7, 8, 0, 0];
        for profile in [0x1000, 0x100f] {
            assert_eq!(elements(profile, &data), [Ok((15, vec![])), Ok((200, vec![7, 8]))]);
        }
    }

    #[test]
    fn identifier_15_and_padding_with_a_length_end_the_list() {
        for end in [0xf0, 0xff, 0x03] {
            assert_eq!(
                elements(0xbede, &[0x10, 0xaa, end, 1, 0x20, 1, 0, 0]),
                [Ok((1, vec![0xaa]))]
            );
        }
    }

    #[test]
    fn an_element_past_the_end_is_an_error_and_the_last() {
        let refused = short("extension element", 4, 3);
        assert_eq!(elements(0xbede, &[0x1f & 0x13, 1, 2, 3]), [Err(refused)]);
        let refused = short("length of an extension element", 1, 0);
        assert_eq!(elements(0x1000, &[0, 0, 0, 9]), [Err(refused)]);
    }

    #[test]
    fn another_profile_has_no_elements() {
        assert_eq!(elements(0x1234, &[0x10, 0xaa, 0, 0]), []);
    }
}
