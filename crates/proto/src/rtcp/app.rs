//! Packets of an application's own, [RFC 3550 section 6.7](https://www.rfc-editor.org/rfc/rfc3550#section-6.7).
//!
//! ```text
//! | SSRC or CSRC, 4 B | name: four ASCII characters | data, whole words |
//! ```

use super::{short, word};
use crate::ProtoError;

/// Bytes before the data [B].
const FIXED_BYTES: usize = 8;

/// A packet of an application, in the bytes of its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct App<'a> {
    /// Set by the application, 0 to 31.
    pub subtype: u8,
    /// Source that sends it.
    pub ssrc: u32,
    /// Whose packet it is.
    pub name: [u8; 4],
    /// What it says, whole words.
    pub data: &'a [u8],
}

impl<'a> App<'a> {
    #[inline]
    pub(super) fn parse(count: u8, body: &'a [u8]) -> Result<Self, ProtoError> {
        let Some((fixed, data)) = body.split_first_chunk::<FIXED_BYTES>() else {
            return Err(short("APP packet", FIXED_BYTES, body.len()));
        };
        let [_, _, _, _, name @ ..] = *fixed;
        Ok(Self { subtype: count, ssrc: word(fixed, 0), name, data })
    }

    /// Writes what is before the data.
    pub(super) fn write_fixed(&self, place: &mut [u8; FIXED_BYTES]) {
        place[..4].copy_from_slice(&self.ssrc.to_be_bytes());
        place[4..].copy_from_slice(&self.name);
    }
}
