//! Payloads to access units. Those that came in one packet are given where they lie.

use super::{Format, LENGTH_BYTES, MAX_ACCESS_UNIT_BYTES};
use crate::ProtoError;
use crate::rtp::payload::assembly::Assembly;
use crate::rtp::payload::{Arrival, Integrity, Unit, forbidden};

/// Puts access units together.
#[derive(Debug)]
pub struct Depacketiser {
    format: Format,
    /// One that comes in parts; all of it is the part that is not committed, until it is whole.
    cut: Assembly,
    /// Of that one [B].
    size: usize,
}

impl Depacketiser {
    /// One that has received nothing.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, cut: Assembly::new("access unit", MAX_ACCESS_UNIT_BYTES), size: 0 }
    }

    /// Takes a payload and gives the access units that it holds or ends.
    ///
    /// # Errors
    /// When the payload breaks the rules; one that was coming in parts is then damaged.
    pub fn handle_payload(
        &mut self,
        arrival: &Arrival<'_>,
        mut out: impl FnMut(Unit<'_>),
    ) -> Result<(), ProtoError> {
        let after_gap = self.cut.gap_before(arrival);
        if arrival.payload.is_empty() {
            return Ok(());
        }
        let taken = self.take(arrival, after_gap, &mut out);
        if taken.is_err() {
            self.cut.damage();
        }
        if arrival.marker {
            self.cut.finish(&mut out);
        }
        taken
    }

    /// Gives what is under way at the end of the stream.
    pub fn finish(&mut self, mut out: impl FnMut(Unit<'_>)) {
        self.cut.finish_in_doubt(&mut out);
    }

    fn take(
        &mut self,
        arrival: &Arrival<'_>,
        after_gap: bool,
        out: &mut impl FnMut(Unit<'_>),
    ) -> Result<(), ProtoError> {
        let (headers, data) = Headers::split(&self.format, arrival.payload)?;
        if headers.count == 1 && data.len() < headers.size(0) {
            return self.take_part(arrival.timestamp, headers.size(0), data, after_gap, out);
        }
        // The rest of one that came in parts would have come before.
        self.cut.damage();
        self.cut.finish(out);
        headers.expect_sizes(data.len())?;
        let (mut timestamp, mut rest) = (arrival.timestamp, data);
        for index in 0..headers.count {
            let (unit, behind) = rest.split_at(headers.size(index));
            timestamp = timestamp.wrapping_add(headers.ticks_before(index));
            out(Unit { timestamp, data: unit, integrity: Integrity::Whole });
            rest = behind;
        }
        Ok(())
    }

    fn take_part(
        &mut self,
        timestamp: u32,
        size: usize,
        data: &[u8],
        after_gap: bool,
        out: &mut impl FnMut(Unit<'_>),
    ) -> Result<(), ProtoError> {
        if self.cut.begin(timestamp, after_gap, out) {
            self.size = size;
        }
        if size != self.size {
            let rule = "all parts of an access unit say the same";
            return Err(forbidden("size of a cut access unit", size as u64, rule));
        }
        self.cut.append(data)?;
        let found = self.cut.part().len();
        if found > size {
            let rule = "the parts of an access unit are not larger than it";
            return Err(forbidden("size of the parts that came", found as u64, rule));
        }
        if found == size {
            self.cut.commit();
            self.cut.dispel_doubt();
            self.cut.finish(out);
        }
        Ok(())
    }
}

/// The headers of the access units in a payload.
#[derive(Clone, Copy, Debug)]
struct Headers<'p> {
    format: Format,
    bytes: &'p [u8],
    count: usize,
}

impl<'p> Headers<'p> {
    /// The headers of a payload, of one access unit at least, and what is behind them.
    fn split(format: &Format, payload: &'p [u8]) -> Result<(Self, &'p [u8]), ProtoError> {
        let Some((length, rest)) = payload.split_first_chunk::<LENGTH_BYTES>() else {
            let (needed, found) = (LENGTH_BYTES, payload.len());
            return Err(ProtoError::Short { what: "AU-headers-length", needed, found });
        };
        let bits = usize::from(u16::from_be_bytes(*length));
        let others = bits.checked_sub(format.first_header_bits());
        let others = others.filter(|bits| bits.is_multiple_of(format.next_header_bits()));
        let Some(others) = others else {
            let rule = "it is that of whole headers, of one at least";
            return Err(forbidden("AU-headers-length", bits as u64, rule));
        };
        let needed = bits.div_ceil(8);
        let Some((bytes, data)) = rest.split_at_checked(needed) else {
            let what = "headers of access units";
            return Err(ProtoError::Short { what, needed, found: rest.len() });
        };
        if data.is_empty() {
            let what = "payload of AAC behind its headers";
            return Err(ProtoError::Short { what, needed: 1, found: 0 });
        }
        let count = 1 + others / format.next_header_bits();
        Ok((Self { format: *format, bytes, count }, data))
    }

    /// Refuses access units that are not just what is behind the headers.
    fn expect_sizes(&self, found: usize) -> Result<(), ProtoError> {
        let mut needed = 0;
        for index in 0..self.count {
            if self.size(index) == 0 {
                return Err(forbidden("size of an access unit", 0, "it has a byte at least"));
            }
            needed += self.size(index);
        }
        if needed > found {
            return Err(ProtoError::Short { what: "access units of a payload", needed, found });
        }
        if needed < found {
            let rule = "the headers of a payload account for all of it";
            return Err(forbidden(
                "count of bytes behind access units",
                (found - needed) as u64,
                rule,
            ));
        }
        Ok(())
    }

    /// Size of an access unit; of the whole, where the payload holds a part [B].
    fn size(&self, index: usize) -> usize {
        self.bits(self.start(index), self.format.size_bits)
    }

    /// Time from the access unit before to this one [ticks]. The index of the first means nothing (section 3.3.6).
    fn ticks_before(&self, index: usize) -> u32 {
        if index == 0 {
            return 0;
        }
        let at = self.start(index) + usize::from(self.format.size_bits);
        let left_out = self.bits(at, self.format.index_delta_bits);
        #[expect(clippy::cast_possible_truncation, reason = "an index has 8 bits at most")]
        let units = left_out as u32 + 1;
        self.format.unit_ticks.wrapping_mul(units)
    }

    /// Where a header begins [bits].
    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.format.headers_bits(index) }
    }

    fn bits(&self, at: usize, count: u8) -> usize {
        let bit = |at: usize| usize::from(self.bytes[at / 8] >> (7 - at % 8) & 1);
        (at..at + usize::from(count)).fold(0, |value, at| value << 1 | bit(at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtp::payload::aac::Packetiser;
    use crate::rtp::payload::lossy::{Kept, Sent, arrivals, expect_honest, kept};

    /// The access units, and the refusals, that come of packets: timestamp, marker, whether behind a gap, payload.
    fn received(given: &[(u32, bool, bool, &[u8])]) -> (Vec<Kept>, Vec<String>) {
        let (mut units, mut refusals) = (Vec::new(), Vec::new());
        let mut depacketiser = Depacketiser::new(Format::HIGH_BIT_RATE);
        for &(timestamp, marker, after_gap, payload) in given {
            let arrival = Arrival { payload, timestamp, marker, after_gap };
            let taken = depacketiser.handle_payload(&arrival, |unit| units.push(kept(unit)));
            refusals.extend(taken.err().map(|error| error.to_string()));
        }
        depacketiser.finish(|unit| units.push(kept(unit)));
        (units, refusals)
    }

    #[test]
    fn units_of_one_packet_are_given_with_their_timestamps_where_they_lie() {
        // The second header leaves out two access units.
        let payload = [0, 32, 0, 16, 0, 24 | 2, 1, 2, 3, 4, 5];
        let arrival = Arrival { payload: &payload, timestamp: 100, marker: true, after_gap: true };
        let mut given = Vec::new();
        let mut depacketiser = Depacketiser::new(Format::HIGH_BIT_RATE);
        let take = |unit: Unit<'_>| given.push((kept(unit), unit.data.as_ptr()));
        depacketiser.handle_payload(&arrival, take).unwrap();
        let expected = [
            ((100, vec![1, 2], Integrity::Whole), payload[6..].as_ptr()),
            ((100 + 3 * 1024, vec![3, 4, 5], Integrity::Whole), payload[8..].as_ptr()),
        ];
        assert_eq!(given, expected);
    }

    #[test]
    fn a_cut_unit_is_whole_when_all_of_its_size_came() {
        let parts: [&[u8]; 2] = [&[0, 16, 0, 40, 1, 2, 3], &[0, 16, 0, 40, 4, 5]];
        let (units, _) = received(&[(1, false, true, parts[0]), (1, true, false, parts[1])]);
        assert_eq!(units, [(1, vec![1, 2, 3, 4, 5], Integrity::Whole)]);
        for lossy in [
            &[(1, true, true, parts[1])][..],
            &[(1, false, false, parts[0]), (1, true, true, &[0, 16, 0, 40, 5])],
            &[(1, false, false, parts[0])],
        ] {
            assert_eq!(received(lossy), (vec![(1, vec![], Integrity::Damaged)], vec![]));
        }
    }

    #[test]
    fn a_cut_unit_that_is_not_ended_is_damaged_whatever_follows() {
        let start: (u32, bool, bool, &[u8]) = (1, false, false, &[0, 16, 0, 40, 1, 2, 3]);
        let (units, _) = received(&[start, (2, true, false, &[0, 16, 0, 8, 9])]);
        let damaged = (1, vec![], Integrity::Damaged);
        assert_eq!(units, [damaged.clone(), (2, vec![9], Integrity::Whole)]);
        let (units, _) = received(&[start, (2, false, false, &[0, 16, 0, 16, 9]), start]);
        assert_eq!(units[..2], [damaged, (2, vec![], Integrity::Damaged)]);
    }

    #[test]
    fn parts_that_do_not_agree_are_refused() {
        let start: (u32, bool, bool, &[u8]) = (1, false, false, &[0, 16, 0, 40, 1, 2, 3]);
        for (part, refused) in [
            (
                &[0, 16, 0, 48, 4, 5, 6][..],
                "size of a cut access unit is 6: all parts of an access unit say the same",
            ),
            (
                &[0, 16, 0, 40, 4, 5, 6],
                "size of the parts that came is 6: the parts of an access unit are not larger than it",
            ),
        ] {
            let (units, refusals) = received(&[start, (1, true, false, part)]);
            assert_eq!(units, [(1, vec![], Integrity::Damaged)]);
            assert_eq!(refusals, [refused]);
        }
    }

    #[test]
    fn malformed_payloads_are_refused() {
        let cases: [(&[u8], &str); 9] = [
            (&[0], "AU-headers-length needs 2 B, and there are 1"),
            (&[0, 0, 1], "AU-headers-length is 0: it is that of whole headers, of one at least"),
            (
                &[0, 17, 0, 8, 1],
                "AU-headers-length is 17: it is that of whole headers, of one at least",
            ),
            (&[0, 32, 0, 8, 1], "headers of access units needs 4 B, and there are 3"),
            (&[0xff, 0xf0, 1], "headers of access units needs 8190 B, and there are 1"),
            (&[0, 16, 0, 8], "payload of AAC behind its headers needs 1 B, and there are 0"),
            (
                &[0, 32, 0, 16, 0, 16, 1, 2, 3],
                "access units of a payload needs 4 B, and there are 3",
            ),
            (&[0, 32, 0, 0, 0, 8, 1], "size of an access unit is 0: it has a byte at least"),
            (
                &[0, 16, 0, 8, 1, 2],
                "count of bytes behind access units is 1: the headers of a payload account for all of it",
            ),
        ];
        for (payload, refused) in cases {
            let (units, refusals) = received(&[(1, true, false, payload)]);
            assert_eq!((units.len(), refusals), (0, vec![refused.to_owned()]), "{payload:?}");
        }
    }

    fn format() -> impl Strategy<Value = Format> {
        (9_u8..=16, 0_u8..=8, 0_u8..=8, 1_u32..2000)
            .prop_map(|(size, index, delta, ticks)| Format::new(size, index, delta, ticks).unwrap())
    }

    fn units() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(any::<u8>(), 1..500), 1..12)
    }

    fn sent(packetiser: &Packetiser, units: &[Vec<u8>]) -> Vec<Sent> {
        let payloads = packetiser.pack(units.iter().map(Vec::as_slice));
        payloads.map(|payload| Sent::new(&payload.unwrap(), 0)).collect()
    }

    proptest! {
        #[test]
        fn units_come_back_and_with_any_packet_lost_they_are_missing_or_damaged(
            (format, units) in (format(), units()),
            (room, together) in (6_usize..600, 1_usize..10),
        ) {
            let packets = sent(&Packetiser::new(format, room, together).unwrap(), &units);
            let ticks = usize::try_from(format.unit_ticks).unwrap();
            let originals: Vec<_> = (0..).step_by(ticks).zip(units).collect();
            for lost in (0..packets.len()).map(Some).chain([None]) {
                let (mut depacketiser, mut received) = (Depacketiser::new(format), Vec::new());
                for arrival in arrivals(&packets, lost) {
                    prop_assert!(arrival.payload.len() <= room);
                    depacketiser.handle_payload(&arrival, |unit| received.push(kept(unit))).unwrap();
                }
                depacketiser.finish(|unit| received.push(kept(unit)));
                expect_honest(&originals, &received);
                let whole = received.iter().filter(|unit| unit.2 == Integrity::Whole).count();
                prop_assert_eq!(whole == originals.len(), lost.is_none());
            }
        }

        #[test]
        fn every_cut_of_every_payload_is_taken_or_refused(units in units(), room in 6_usize..600) {
            let format = Format::HIGH_BIT_RATE;
            for packet in sent(&Packetiser::new(format, room, 8).unwrap(), &units) {
                for cut in 0..packet.bytes.len() {
                    let mut depacketiser = Depacketiser::new(format);
                    let arrival = Arrival { payload: &packet.bytes[..cut], ..packet.arrival(false) };
                    let mut whole = 0;
                    let _ = depacketiser.handle_payload(&arrival, |unit| {
                        whole += usize::from(unit.integrity == Integrity::Whole);
                    });
                    prop_assert_eq!(whole, 0);
                }
            }
        }

        #[test]
        fn no_bytes_make_it_panic_or_give_more_than_came(
            format in format(),
            payloads in prop::collection::vec((0_u32..3, any::<bool>(), any::<bool>(), 0_u8..64,
                prop::collection::vec(any::<u8>(), 0..30)), 0..20),
        ) {
            let (mut depacketiser, mut gave, mut came) = (Depacketiser::new(format), 0, 0);
            for (timestamp, marker, after_gap, bits, rest) in &payloads {
                let (timestamp, marker, after_gap) = (*timestamp, *marker, *after_gap);
                let payload = [&[0, *bits], rest.as_slice()].concat();
                let arrival = Arrival { payload: &payload, timestamp, marker, after_gap };
                came += payload.len();
                let _ = depacketiser.handle_payload(&arrival, |unit| gave += unit.data.len());
            }
            prop_assert!(gave <= came);
        }
    }
}
