//! AAC: [RFC 3640](https://www.rfc-editor.org/rfc/rfc3640), the mode `AAC-hbr` and those that differ in widths only.
//!
//! ```text
//! | bits of headers: 2 B | header | header | ... | filling | access unit | access unit | ...
//!     header             | size: 13 bits | index: 3 bits |    widths as the session description has them
//!     a cut access unit  | bits: 2 B | its whole size, 0 | part of it |
//! ```
//!
//! The timestamp is that of the first access unit, at the rate of the samples. The marker is on packets of whole
//! access units and on the last part of a cut one. An index counts access units left out before this one, so that
//! interleaved ones have their right timestamps; they come in the order of the packets, not in that of time.

mod depacketiser;
mod packetiser;

use super::forbidden;
use crate::ProtoError;

pub use depacketiser::Depacketiser;
pub use packetiser::{Packetiser, Payloads};

/// Samples of an access unit, where the session description has no `constantDuration` [ticks].
pub const UNIT_TICKS: u32 = 1024;

/// Widest size that is read [bits]: an access unit of AAC has 6144 bits for each of 48 channels at most.
const MAX_SIZE_BITS: u8 = 16;

/// Widest index that is read [bits]; the modes of the RFC have 2 and 3.
const MAX_INDEX_BITS: u8 = 8;

/// Largest access unit that is put together [B], what the widest size can say.
pub const MAX_ACCESS_UNIT_BYTES: usize = (1 << MAX_SIZE_BITS) - 1;

/// Bytes before the headers of access units that count their bits [B].
const LENGTH_BYTES: usize = 2;

/// Widths of the fields of a header, and how long an access unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    size_bits: u8,
    index_bits: u8,
    index_delta_bits: u8,
    unit_ticks: u32,
}

impl Format {
    /// The mode `AAC-hbr` (section 3.3.6).
    pub const HIGH_BIT_RATE: Self =
        Self { size_bits: 13, index_bits: 3, index_delta_bits: 3, unit_ticks: UNIT_TICKS };

    /// From `sizeLength`, `indexLength` and `indexDeltaLength` of a session description [bits], and its
    /// `constantDuration` [ticks].
    ///
    /// # Errors
    /// When the size has no bits or more than 16, or an index more than 8.
    pub fn new(
        size_bits: u8,
        index_bits: u8,
        index_delta_bits: u8,
        unit_ticks: u32,
    ) -> Result<Self, ProtoError> {
        if !(1..=MAX_SIZE_BITS).contains(&size_bits) {
            return Err(forbidden("sizeLength", size_bits.into(), "1 to 16 bits are read"));
        }
        for (what, bits) in [("indexLength", index_bits), ("indexDeltaLength", index_delta_bits)] {
            if bits > MAX_INDEX_BITS {
                return Err(forbidden(what, bits.into(), "8 bits at most are read"));
            }
        }
        Ok(Self { size_bits, index_bits, index_delta_bits, unit_ticks })
    }

    fn first_header_bits(&self) -> usize {
        usize::from(self.size_bits + self.index_bits)
    }

    fn next_header_bits(&self) -> usize {
        usize::from(self.size_bits + self.index_delta_bits)
    }

    /// Bits of the headers of so many access units, of one at least.
    fn headers_bits(&self, count: usize) -> usize {
        self.first_header_bits() + (count - 1) * self.next_header_bits()
    }

    /// Bytes before so many access units, of one at least [B].
    fn head_bytes(&self, count: usize) -> usize {
        LENGTH_BYTES + self.headers_bits(count).div_ceil(8)
    }

    /// Largest access unit that a header can announce [B].
    fn max_unit_bytes(&self) -> usize {
        (1 << self.size_bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_bit_rate_has_headers_of_two_bytes() {
        assert_eq!(Format::new(13, 3, 3, 1024), Ok(Format::HIGH_BIT_RATE));
        assert_eq!(Format::HIGH_BIT_RATE.head_bytes(3), 8);
        assert_eq!(Format::HIGH_BIT_RATE.max_unit_bytes(), 8191);
    }

    #[test]
    fn widths_that_are_not_read_are_refused() {
        let refuse = |size, index, delta| Format::new(size, index, delta, 1024).unwrap_err();
        assert_eq!(refuse(0, 3, 3).to_string(), "sizeLength is 0: 1 to 16 bits are read");
        assert_eq!(refuse(17, 3, 3).to_string(), "sizeLength is 17: 1 to 16 bits are read");
        assert_eq!(refuse(13, 9, 3).to_string(), "indexLength is 9: 8 bits at most are read");
        let refused = "indexDeltaLength is 255: 8 bits at most are read";
        assert_eq!(refuse(13, 3, 255).to_string(), refused);
    }
}
