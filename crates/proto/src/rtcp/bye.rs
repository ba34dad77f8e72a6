//! Goodbyes, [RFC 3550 section 6.6](https://www.rfc-editor.org/rfc/rfc3550#section-6.6).
//!
//! ```text
//! | SSRC or CSRC, as many as the count says, 4 B each | length | reason: length B | 0 to the end of the word |
//! ```

use super::short;
use crate::ProtoError;

/// Sources that leave, in the bytes of their datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goodbye<'a> {
    sources: &'a [[u8; 4]],
    reason: Option<&'a [u8]>,
}

impl<'a> Goodbye<'a> {
    #[inline]
    pub(super) fn parse(count: u8, body: &'a [u8]) -> Result<Self, ProtoError> {
        let needed = usize::from(count) * 4;
        let Some((sources, rest)) = body.split_at_checked(needed) else {
            return Err(short("list of sources that leave", needed, body.len()));
        };
        let reason = match rest.split_first() {
            None => None,
            Some((&length, rest)) => {
                let Some(reason) = rest.get(..usize::from(length)) else {
                    return Err(short("reason for leaving", usize::from(length), rest.len()));
                };
                Some(reason)
            }
        };
        Ok(Self { sources: sources.as_chunks().0, reason })
    }

    /// Who leaves.
    #[inline]
    pub fn sources(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.sources.iter().map(|source| u32::from_be_bytes(*source))
    }

    /// Why, where it is said.
    #[inline]
    #[must_use]
    pub fn reason(&self) -> Option<&'a [u8]> {
        self.reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_may_be_missing_or_empty_and_what_follows_it_does_not_count() {
        for (rest, reason) in [
            (&b""[..], None),
            (b"\x00\x00\x00\x00", Some(&b""[..])),
            (b"\x02ab\x00", Some(b"ab")),
            (b"\x02ab?", Some(b"ab")),
        ] {
            let body = [&[0, 0, 0, 1, 0, 0, 0, 2], rest].concat();
            let goodbye = Goodbye::parse(2, &body).unwrap();
            assert_eq!(goodbye.sources().collect::<Vec<_>>(), [1, 2]);
            assert_eq!(goodbye.reason(), reason);
        }
    }

    #[test]
    fn a_goodbye_of_nobody_is_read() {
        let goodbye = Goodbye::parse(0, &[]).unwrap();
        assert_eq!((goodbye.sources().len(), goodbye.reason()), (0, None));
    }
}
