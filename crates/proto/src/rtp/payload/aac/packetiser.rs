//! Access units to payloads: several to one, or one cut into parts.

use std::iter::Peekable;

use super::{Format, LENGTH_BYTES};
use crate::ProtoError;
use crate::rtp::payload::{MAX_HEADER_BYTES, MAX_PIECES, Payload, forbidden, payload_limit};

/// Cuts access units into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetiser {
    format: Format,
    max_payload_bytes: usize,
    max_units: usize,
}

impl Packetiser {
    /// Payloads of a size [B], of `max_units` access units at most: more save headers, and let a sender wait for
    /// them. Beyond [`MAX_PIECES`] they count as that.
    ///
    /// # Errors
    /// When a payload has no room for a part of an access unit, a packet does not carry it, or it is of no units.
    pub fn new(
        format: Format,
        max_payload_bytes: usize,
        max_units: usize,
    ) -> Result<Self, ProtoError> {
        let rule = "the header of an access unit and a byte of it have to fit";
        let max_payload_bytes = payload_limit(max_payload_bytes, format.head_bytes(1) + 1, rule)?;
        if max_units == 0 {
            return Err(forbidden("count of access units in a payload", 0, "it is 1 at least"));
        }
        Ok(Self { format, max_payload_bytes, max_units: max_units.min(MAX_PIECES) })
    }

    /// The payloads of access units that follow each other. An error is the last that comes: an access unit without
    /// bytes, or of more than its header can say.
    pub fn pack<'u, I>(&self, units: I) -> Payloads<'u, I::IntoIter>
    where
        I: IntoIterator<Item = &'u [u8]>,
    {
        let units = units.into_iter().peekable();
        Payloads { packetiser: *self, units, cut: None, ticks: 0, failed: false }
    }

    fn fit_together(&self, count: usize, bytes: usize) -> bool {
        count <= self.max_units && self.format.head_bytes(count) + bytes <= self.max_payload_bytes
    }

    /// An access unit that can be sent.
    fn checked<'u>(&self, unit: &'u [u8]) -> Result<&'u [u8], ProtoError> {
        if unit.is_empty() {
            return Err(ProtoError::Short { what: "access unit", needed: 1, found: 0 });
        }
        let room = self.format.max_unit_bytes();
        if unit.len() > room {
            let (what, needed) = ("access unit, by its header,", unit.len());
            return Err(ProtoError::NoRoom { what, needed, room });
        }
        Ok(unit)
    }
}

/// The payloads of access units one by one.
#[derive(Debug)]
pub struct Payloads<'u, I: Iterator<Item = &'u [u8]>> {
    packetiser: Packetiser,
    units: Peekable<I>,
    cut: Option<Cut<'u>>,
    /// Time from the first access unit to the next payload [ticks].
    ticks: u32,
    failed: bool,
}

/// What is left of an access unit that is being cut.
#[derive(Clone, Copy, Debug)]
struct Cut<'u> {
    /// Of the whole [B].
    size: usize,
    rest: &'u [u8],
}

impl<'u, I: Iterator<Item = &'u [u8]>> Iterator for Payloads<'u, I> {
    type Item = Result<Payload<'u>, ProtoError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        if let Some(cut) = self.cut.take() {
            return Some(Ok(self.part(cut)));
        }
        let payload = self.units.next().map(|unit| self.begin(unit));
        self.failed = matches!(payload, Some(Err(_)));
        payload
    }
}

impl<'u, I: Iterator<Item = &'u [u8]>> Payloads<'u, I> {
    /// The payload that begins with an access unit.
    fn begin(&mut self, unit: &'u [u8]) -> Result<Payload<'u>, ProtoError> {
        let packetiser = self.packetiser;
        let first = packetiser.checked(unit)?;
        if !packetiser.fit_together(1, first.len()) {
            return Ok(self.part(Cut { size: first.len(), rest: first }));
        }
        let (mut gathered, mut count, mut bytes) = ([first; MAX_PIECES], 1, first.len());
        let fits = |count: usize, bytes: usize, next: &[u8]| {
            packetiser.fit_together(count + 1, bytes + next.len())
        };
        while let Some(next) = self.units.next_if(|next| fits(count, bytes, next)) {
            gathered[count] = packetiser.checked(next)?;
            count += 1;
            bytes += next.len();
        }
        Ok(self.whole(&gathered[..count]))
    }

    /// Access units that share a payload.
    fn whole(&mut self, units: &[&'u [u8]]) -> Payload<'u> {
        let format = self.packetiser.format;
        let mut headers = Headers::new(&format, units.len());
        for (index, unit) in units.iter().enumerate() {
            let index_bits = if index == 0 { format.index_bits } else { format.index_delta_bits };
            headers.push(unit.len(), format.size_bits);
            headers.push(0, index_bits);
        }
        let mut payload = Payload::new(true, self.ticks);
        for (index, &unit) in units.iter().enumerate() {
            payload.push(if index == 0 { headers.bytes() } else { &[] }, unit);
            self.ticks = self.ticks.wrapping_add(format.unit_ticks);
        }
        payload
    }

    /// The next part of an access unit that is being cut.
    fn part(&mut self, cut: Cut<'u>) -> Payload<'u> {
        let Packetiser { format, max_payload_bytes, .. } = self.packetiser;
        let room = max_payload_bytes - format.head_bytes(1);
        let (data, rest) = cut.rest.split_at(room.min(cut.rest.len()));
        let mut headers = Headers::new(&format, 1);
        headers.push(cut.size, format.size_bits);
        let payload = Payload::of(rest.is_empty(), self.ticks, headers.bytes(), data);
        if rest.is_empty() {
            self.ticks = self.ticks.wrapping_add(format.unit_ticks);
        } else {
            self.cut = Some(Cut { rest, ..cut });
        }
        payload
    }
}

/// The bytes before access units, written bit by bit.
struct Headers {
    bytes: [u8; MAX_HEADER_BYTES],
    /// Of the bytes [B].
    size: usize,
    /// Written [bits].
    at: usize,
}

impl Headers {
    /// Those of so many access units, of which the count of bits is there.
    fn new(format: &Format, count: usize) -> Self {
        let mut bytes = [0; MAX_HEADER_BYTES];
        #[expect(clippy::cast_possible_truncation, reason = "eight headers of 24 bits at most")]
        let bits = format.headers_bits(count) as u16;
        bytes[..LENGTH_BYTES].copy_from_slice(&bits.to_be_bytes());
        Self { bytes, size: format.head_bytes(count), at: LENGTH_BYTES * 8 }
    }

    fn push(&mut self, value: usize, bits: u8) {
        for bit in (0..bits).rev() {
            if value >> bit & 1 == 1 {
                self.bytes[self.at / 8] |= 0x80 >> (self.at % 8);
            }
            self.at += 1;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marker, offset of the timestamp and bytes of each payload.
    fn packed(packetiser: &Packetiser, units: &[&[u8]]) -> Vec<(bool, u32, Vec<u8>)> {
        let payloads = packetiser.pack(units.iter().copied());
        let on_the_wire = |payload: Payload<'_>| {
            let mut bytes = vec![0; payload.bytes()];
            payload.write(&mut bytes).unwrap();
            (payload.marker, payload.timestamp_offset, bytes)
        };
        payloads.map(|payload| on_the_wire(payload.unwrap())).collect()
    }

    #[test]
    fn units_share_a_payload_behind_their_headers_and_time_goes_on() {
        let packetiser = Packetiser::new(Format::HIGH_BIT_RATE, 100, 2).unwrap();
        let payloads = packed(&packetiser, &[&[1, 2], &[3, 4, 5], &[6]]);
        let expected = [
            (true, 0, vec![0, 32, 0, 16, 0, 24, 1, 2, 3, 4, 5]),
            (true, 2048, vec![0, 16, 0, 8, 6]),
        ];
        assert_eq!(payloads, expected);
    }

    #[test]
    fn a_large_unit_is_cut_and_every_part_says_the_size_of_the_whole() {
        let packetiser = Packetiser::new(Format::HIGH_BIT_RATE, 7, 8).unwrap();
        let payloads = packed(&packetiser, &[&[1, 2, 3, 4, 5], &[6]]);
        let expected = [
            (false, 0, vec![0, 16, 0, 40, 1, 2, 3]),
            (true, 0, vec![0, 16, 0, 40, 4, 5]),
            (true, 1024, vec![0, 16, 0, 8, 6]),
        ];
        assert_eq!(payloads, expected);
    }

    #[test]
    fn headers_that_are_no_whole_bytes_are_filled_up() {
        // The mode AAC-lbr: six bits of size, two of index; here with three for the first.
        let format = Format::new(6, 3, 2, 960).unwrap();
        let packetiser = Packetiser::new(format, 100, 8).unwrap();
        let payloads = packed(&packetiser, &[&[7; 5], &[8]]);
        // 17 bits: 000101 000, 000001 00.
        let head = [0, 17, 0b0001_0100, 0b0000_0010, 0];
        assert_eq!(payloads, [(true, 0, [&head[..], &[7; 5], &[8]].concat())]);
    }

    #[test]
    fn no_payload_has_more_units_than_pieces() {
        let packetiser = Packetiser::new(Format::HIGH_BIT_RATE, 1000, 100).unwrap();
        let sizes: Vec<_> = packed(&packetiser, &[&[1][..]; MAX_PIECES + 1])
            .iter()
            .map(|seen| seen.2.len())
            .collect();
        assert_eq!(sizes, [2 + 3 * MAX_PIECES, 5]);
        let widest = Format::new(16, 8, 8, 1024).unwrap();
        assert_eq!(widest.head_bytes(MAX_PIECES), MAX_HEADER_BYTES);
    }

    #[test]
    fn what_cannot_be_sent_is_refused_and_the_last() {
        let packetiser = Packetiser::new(Format::HIGH_BIT_RATE, 5, 1).unwrap();
        let refuse =
            |unit: &[u8]| packetiser.pack([unit, &[1]]).last().unwrap().unwrap_err().to_string();
        assert_eq!(refuse(&[]), "access unit needs 1 B, and there are 0");
        let refused = "access unit, by its header, takes 8192 B, and the buffer has 8191";
        assert_eq!(refuse(&[0; 8192]), refused);
        assert!(Packetiser::new(Format::HIGH_BIT_RATE, 4, 1).is_err());
        let refused = Packetiser::new(Format::HIGH_BIT_RATE, 5, 0).unwrap_err().to_string();
        assert_eq!(refused, "count of access units in a payload is 0: it is 1 at least");
    }
}
