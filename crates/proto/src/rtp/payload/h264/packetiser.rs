//! Access units to payloads: small NAL units share one, large ones are cut.
//!
//! All parts of a NAL unit but the last fill their packets, as senders with segmentation offload want them.

use std::iter::Peekable;

use super::{END, FU_A, NalType, PacketizationMode, STAP_A, START};
use crate::ProtoError;
use crate::rtp::payload::{MAX_PIECES, Payload, forbidden, payload_limit};

/// Bytes before a part of a NAL unit [B].
const FU_HEADER_BYTES: usize = 2;

/// Bytes before the NAL units of a STAP-A [B].
const STAP_HEADER_BYTES: usize = 1;

/// Bytes that give the size of each of them [B].
const STAP_SIZE_BYTES: usize = 2;

/// Cuts access units into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetiser {
    mode: PacketizationMode,
    max_payload_bytes: usize,
}

impl Packetiser {
    /// Payloads of a mode and size [B].
    ///
    /// # Errors
    /// When they have no room for a part of a NAL unit, or a packet does not carry them.
    pub fn new(mode: PacketizationMode, max_payload_bytes: usize) -> Result<Self, ProtoError> {
        let rule = "a part of a NAL unit takes 3 B at least";
        let max_payload_bytes = payload_limit(max_payload_bytes, FU_HEADER_BYTES + 1, rule)?;
        Ok(Self { mode, max_payload_bytes })
    }

    /// The payloads of an access unit, given as its NAL units. An error is the last that comes: a NAL unit without
    /// bytes, of a type that is none, or too large for mode 0.
    pub fn pack<'u, I>(&self, nal_units: I) -> Payloads<'u, I::IntoIter>
    where
        I: IntoIterator<Item = &'u [u8]>,
    {
        let units = nal_units.into_iter().peekable();
        Payloads { packetiser: *self, units, cut: None, failed: false }
    }

    /// Whether NAL units of so many bytes in all fit into one STAP-A.
    fn fit_together(&self, count: usize, bytes: usize) -> bool {
        self.mode == PacketizationMode::NonInterleaved
            && count <= MAX_PIECES
            && STAP_HEADER_BYTES + count * STAP_SIZE_BYTES + bytes <= self.max_payload_bytes
    }
}

/// The payloads of an access unit one by one.
#[derive(Debug)]
pub struct Payloads<'u, I: Iterator<Item = &'u [u8]>> {
    packetiser: Packetiser,
    units: Peekable<I>,
    cut: Option<Cut<'u>>,
    failed: bool,
}

/// What is left of a NAL unit that is being cut.
#[derive(Clone, Copy, Debug)]
struct Cut<'u> {
    header: u8,
    /// The first part has this bit.
    start: u8,
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
    /// The payload that begins with a NAL unit.
    fn begin(&mut self, unit: &'u [u8]) -> Result<Payload<'u>, ProtoError> {
        let header = nal_header(unit)?;
        let room = self.packetiser.max_payload_bytes;
        if unit.len() <= room {
            return self.gather(unit);
        }
        if self.packetiser.mode == PacketizationMode::SingleNalUnit {
            let what = "NAL unit in packetization mode 0";
            return Err(ProtoError::NoRoom { what, needed: unit.len(), room });
        }
        Ok(self.part(Cut { header, start: START, rest: &unit[1..] }))
    }

    /// A NAL unit, with those behind it that fit.
    fn gather(&mut self, first: &'u [u8]) -> Result<Payload<'u>, ProtoError> {
        let packetiser = self.packetiser;
        let (mut gathered, mut count, mut bytes) = ([first; MAX_PIECES], 1, first.len());
        let fits = |count: usize, bytes: usize, next: &[u8]| {
            packetiser.fit_together(count + 1, bytes + next.len())
        };
        while let Some(next) = self.units.next_if(|next| fits(count, bytes, next)) {
            nal_header(next)?;
            gathered[count] = next;
            count += 1;
            bytes += next.len();
        }
        let marker = self.units.peek().is_none();
        if count == 1 {
            return Ok(Payload::of(marker, 0, &[], first));
        }
        Ok(aggregate(marker, &gathered[..count]))
    }

    /// The next part of a NAL unit that is being cut.
    fn part(&mut self, cut: Cut<'u>) -> Payload<'u> {
        let room = self.packetiser.max_payload_bytes - FU_HEADER_BYTES;
        let (data, rest) = cut.rest.split_at(room.min(cut.rest.len()));
        let end = if rest.is_empty() { END } else { 0 };
        if !rest.is_empty() {
            self.cut = Some(Cut { start: 0, rest, ..cut });
        }
        let header = [cut.header & 0x60 | FU_A, cut.start | end | cut.header & 0x1f];
        let marker = rest.is_empty() && self.units.peek().is_none();
        Payload::of(marker, 0, &header, data)
    }
}

/// A STAP-A, as important as the most important of its NAL units (section 5.7).
fn aggregate<'u>(marker: bool, units: &[&'u [u8]]) -> Payload<'u> {
    let nri = units.iter().map(|unit| unit[0] & 0x60).max().unwrap_or(0);
    let mut payload = Payload::new(marker, 0);
    for (index, unit) in units.iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, reason = "it fits into a payload")]
        let [high, low] = (unit.len() as u16).to_be_bytes();
        let header = [nri | STAP_A, high, low];
        payload.push(if index == 0 { &header } else { &header[1..] }, unit);
    }
    payload
}

/// The first byte of a NAL unit that can be sent.
fn nal_header(unit: &[u8]) -> Result<u8, ProtoError> {
    let Some(&header) = unit.first() else {
        return Err(ProtoError::Short { what: "NAL unit", needed: 1, found: 0 });
    };
    match NalType::of(header)? {
        NalType::Unit => Ok(header),
        NalType::Undefined | NalType::Packet(_) => {
            let rule = "those of NAL units are 1 to 23";
            Err(forbidden("type of a NAL unit", u64::from(header & 0x1f), rule))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Payloads as they are on the wire, with their markers.
    fn packed(
        mode: PacketizationMode,
        room: usize,
        units: &[&[u8]],
    ) -> Result<Vec<(bool, Vec<u8>)>, ProtoError> {
        let payloads = Packetiser::new(mode, room)?.pack(units.iter().copied());
        let on_the_wire = |payload: Payload<'_>| {
            let mut bytes = vec![0; payload.bytes()];
            payload.write(&mut bytes).map(|_| (payload.marker, bytes))
        };
        payloads.map(|payload| on_the_wire(payload?)).collect()
    }

    #[test]
    fn small_units_share_a_stap_a_with_the_highest_importance() {
        let units: [&[u8]; 3] = [&[0x09, 0x10], &[0x67, 1, 2], &[0x41, 3]];
        let payloads = packed(PacketizationMode::NonInterleaved, 100, &units).unwrap();
        let expected = vec![0x78, 0, 2, 0x09, 0x10, 0, 3, 0x67, 1, 2, 0, 2, 0x41, 3];
        assert_eq!(payloads, [(true, expected)]);
    }

    #[test]
    fn a_large_unit_is_cut_and_its_first_byte_is_in_the_headers() {
        let unit = [0x65, 1, 2, 3, 4, 5, 6, 7];
        let payloads = packed(PacketizationMode::NonInterleaved, 5, &[&unit]).unwrap();
        let expected = [
            (false, vec![0x7c, 0x85, 1, 2, 3]),
            (false, vec![0x7c, 0x05, 4, 5, 6]),
            (true, vec![0x7c, 0x45, 7]),
        ];
        assert_eq!(payloads, expected);
    }

    #[test]
    fn units_that_do_not_fit_together_go_alone_and_the_marker_is_the_last_ones() {
        let units: [&[u8]; 2] = [&[0x41, 1, 2], &[0x41, 3, 4]];
        for (mode, room) in
            [(PacketizationMode::NonInterleaved, 10), (PacketizationMode::SingleNalUnit, 100)]
        {
            let payloads = packed(mode, room, &units).unwrap();
            assert_eq!(payloads, [(false, units[0].to_vec()), (true, units[1].to_vec())]);
        }
        let payloads = packed(PacketizationMode::NonInterleaved, 11, &units).unwrap();
        assert_eq!(payloads, [(true, vec![0x58, 0, 3, 0x41, 1, 2, 0, 3, 0x41, 3, 4])]);
    }

    #[test]
    fn a_unit_behind_a_cut_one_begins_a_packet() {
        let units: [&[u8]; 2] = [&[0x65, 1, 2, 3, 4], &[0x06, 9]];
        let payloads = packed(PacketizationMode::NonInterleaved, 4, &units).unwrap();
        let expected = [
            (false, vec![0x7c, 0x85, 1, 2]),
            (false, vec![0x7c, 0x45, 3, 4]),
            (true, vec![0x06, 9]),
        ];
        assert_eq!(payloads, expected);
    }

    #[test]
    fn a_stap_a_has_no_more_units_than_a_payload_has_pieces() {
        let units = [&[0x41_u8, 1][..]; MAX_PIECES + 1];
        let payloads = packed(PacketizationMode::NonInterleaved, 1000, &units).unwrap();
        let sizes: Vec<_> = payloads.iter().map(|(_, bytes)| bytes.len()).collect();
        assert_eq!(sizes, [1 + MAX_PIECES * 4, 2]);
    }

    #[test]
    fn what_cannot_be_sent_is_refused_and_the_last() {
        let refuse = |mode, unit: &[u8]| packed(mode, 4, &[unit]).unwrap_err().to_string();
        let one = PacketizationMode::NonInterleaved;
        assert_eq!(refuse(one, &[]), "NAL unit needs 1 B, and there are 0");
        let refused = "type of a NAL unit is 28: those of NAL units are 1 to 23";
        assert_eq!(refuse(one, &[0x7c, 1]), refused);
        assert_eq!(refuse(one, &[0xe5, 1]), "forbidden_zero_bit of a NAL unit is 1: it is 0");
        let refused = "NAL unit in packetization mode 0 takes 5 B, and the buffer has 4";
        assert_eq!(refuse(PacketizationMode::SingleNalUnit, &[0x65, 1, 2, 3, 4]), refused);
        let packetiser = Packetiser::new(one, 100).unwrap();
        let units: [&[u8]; 3] = [&[0x41], &[], &[0x41]];
        assert_eq!(packetiser.pack(units).filter(Result::is_err).count(), 1);
        assert!(packetiser.pack(units).next().is_some_and(|first| first.is_err()));
        assert!(Packetiser::new(one, 2).is_err());
    }
}
