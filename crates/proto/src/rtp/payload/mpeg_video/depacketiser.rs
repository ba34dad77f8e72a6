//! Payloads to pictures.
//!
//! Behind a loss, what comes before the next start code at the front of a payload is the rest of a slice whose start
//! is gone, and is dropped with the part of a slice before the loss: a damaged picture is of whole slices.

use super::{GROUP, Header, MAX_PICTURE_BYTES, PICTURE, SEQUENCE, is_slice, start_code};
use crate::ProtoError;
use crate::rtp::payload::assembly::Assembly;
use crate::rtp::payload::{Arrival, Unit};

/// Puts pictures together, with the headers before them.
#[derive(Debug)]
pub struct Depacketiser {
    picture: Assembly,
    /// Parts of a slice whose start is missing may come.
    slice_lost: bool,
}

impl Default for Depacketiser {
    fn default() -> Self {
        Self::new()
    }
}

impl Depacketiser {
    /// One that has received nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { picture: Assembly::new("picture", MAX_PICTURE_BYTES), slice_lost: false }
    }

    /// Takes a payload and gives the pictures that it ends: the one before, where its timestamp is another, and its
    /// own, where it has the marker.
    ///
    /// # Errors
    /// When the payload breaks the rules; its picture is then damaged.
    pub fn handle_payload(
        &mut self,
        arrival: &Arrival<'_>,
        mut out: impl FnMut(Unit<'_>),
    ) -> Result<(), ProtoError> {
        let after_gap = self.picture.gap_before(arrival);
        if arrival.payload.is_empty() {
            return Ok(());
        }
        if !after_gap && self.picture.is_under_way_before(arrival.timestamp) {
            self.picture.commit();
        }
        let is_new = self.picture.begin(arrival.timestamp, after_gap, &mut out);
        let taken = self.take(arrival.payload, after_gap, is_new);
        if taken.is_err() {
            self.picture.damage();
            self.slice_lost = true;
        }
        if arrival.marker {
            self.picture.commit();
            self.picture.finish(&mut out);
        }
        taken
    }

    /// Gives what is under way at the end of the stream.
    pub fn finish(&mut self, mut out: impl FnMut(Unit<'_>)) {
        self.picture.finish_in_doubt(&mut out);
    }

    fn take(&mut self, payload: &[u8], after_gap: bool, is_new: bool) -> Result<(), ProtoError> {
        let (header, data) = Header::split(payload)?;
        let Some(code) = start_code(data) else {
            return self.take_rest_of_slice(header, data, after_gap || is_new);
        };
        self.slice_lost = false;
        if after_gap && is_new {
            self.judge_start(code);
        }
        // Where an element begins, the one before has ended, whatever the flags of the sender say.
        self.picture.commit();
        self.picture.append(data)?;
        if header.ends_slice || !(header.begins_slice || is_slice(code)) {
            self.picture.commit();
        }
        Ok(())
    }

    fn take_rest_of_slice(
        &mut self,
        header: Header,
        data: &[u8],
        is_cut_off: bool,
    ) -> Result<(), ProtoError> {
        self.slice_lost |= is_cut_off;
        if self.slice_lost {
            self.picture.damage();
            return Ok(());
        }
        self.picture.append(data)?;
        if header.ends_slice {
            self.picture.commit();
        }
        Ok(())
    }

    /// What a picture behind a gap begins with tells whether the gap took some of it: nothing of it comes before a
    /// sequence header, and something before all that is no header of sequence, group or picture.
    fn judge_start(&mut self, code: u8) {
        match code {
            SEQUENCE => self.picture.dispel_doubt(),
            GROUP | PICTURE => (),
            _ => self.picture.damage(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtp::payload::Integrity;
    use crate::rtp::payload::lossy::{Kept, Sent, arrivals, expect_honest, kept};
    use crate::rtp::payload::mpeg_video::{HEADER_BYTES, MIN_PAYLOAD_BYTES, Packetiser};

    const I_PICTURE: [u8; 8] = [0, 0, 1, 0, 0, 0x4f, 0xff, 0xf8];
    const SLICE_1: [u8; 6] = [0, 0, 1, 1, 8, 8];
    const SLICE_2: [u8; 6] = [0, 0, 1, 2, 7, 7];

    /// A payload with flags (0x20 sequence, 0x10 begin, 0x08 end of slice) for a picture of type I.
    fn payload(flags: u8, data: &[&[u8]]) -> Vec<u8> {
        [&[0, 0, flags | 1, 0][..], &data.concat()].concat()
    }

    /// The pictures that come of packets: timestamp, marker, whether it is behind a gap, payload.
    fn received(given: &[(u32, bool, bool, Vec<u8>)]) -> Vec<Kept> {
        let (mut depacketiser, mut pictures) = (Depacketiser::new(), Vec::new());
        for (timestamp, marker, after_gap, payload) in given {
            let (timestamp, marker, after_gap) = (*timestamp, *marker, *after_gap);
            let arrival = Arrival { payload, timestamp, marker, after_gap };
            depacketiser.handle_payload(&arrival, |unit| pictures.push(kept(unit))).unwrap();
        }
        depacketiser.finish(|unit| pictures.push(kept(unit)));
        pictures
    }

    #[test]
    fn a_picture_behind_a_gap_is_whole_only_if_it_begins_with_a_sequence_header() {
        let sequence: &[u8] = &[0, 0, 1, 0xb3, 9, 9];
        let cases = [
            ([sequence, &I_PICTURE].concat(), Integrity::Whole),
            (I_PICTURE.to_vec(), Integrity::Doubtful),
            (SLICE_1.to_vec(), Integrity::Damaged),
        ];
        for (start, integrity) in cases {
            let data = [start.as_slice(), &SLICE_2].concat();
            let pictures = received(&[(1, true, true, payload(0x18, &[&data]))]);
            assert_eq!(pictures, [(1, data, integrity)]);
        }
    }

    #[test]
    fn slices_around_a_gap_are_left_out_to_the_next_start_of_one() {
        let pictures = received(&[
            (1, false, false, payload(0x18, &[&I_PICTURE, &SLICE_1])),
            (1, false, false, payload(0x10, &[&[0, 0, 1, 3, 6, 6]])),
            (1, false, true, payload(0x00, &[&[6; 9]])),
            (1, false, false, payload(0x08, &[&[5; 9]])),
            (1, true, false, payload(0x18, &[&SLICE_2])),
        ]);
        let expected = [&I_PICTURE[..], &SLICE_1, &SLICE_2].concat();
        assert_eq!(pictures, [(1, expected, Integrity::Damaged)]);
    }

    #[test]
    fn flags_that_a_sender_does_not_set_cost_nothing_while_nothing_is_lost() {
        let pictures = received(&[
            (1, false, false, payload(0, &[&I_PICTURE, &SLICE_1])),
            (1, false, false, payload(0, &[&[6; 9]])),
            (2, false, false, payload(0, &[&I_PICTURE, &SLICE_2])),
        ]);
        let first = [&I_PICTURE[..], &SLICE_1, &[6; 9]].concat();
        assert_eq!(pictures[0], (1, first, Integrity::Whole));
    }

    #[test]
    fn a_picture_without_its_start_is_damaged() {
        let pictures = received(&[(1, true, false, payload(0x08, &[&[6; 9]]))]);
        assert_eq!(pictures, [(1, vec![], Integrity::Damaged)]);
    }

    #[test]
    fn a_picture_beyond_its_bound_is_damaged_and_memory_stays_bounded() {
        let mut depacketiser = Depacketiser::new();
        let mut data = vec![0x11; 60_000];
        data[HEADER_BYTES..][..4].copy_from_slice(&[0, 0, 1, 1]);
        let (mut refusals, mut pictures) = (0, Vec::new());
        for _ in 0..200 {
            let arrival = Arrival { payload: &data, timestamp: 1, marker: false, after_gap: false };
            let taken = depacketiser.handle_payload(&arrival, |unit| pictures.push(kept(unit)));
            refusals += usize::from(taken.is_err());
        }
        assert!(refusals > 0);
        depacketiser.finish(|unit| pictures.push(kept(unit)));
        assert_eq!(pictures.len(), 1);
        assert!(pictures[0].1.len() <= MAX_PICTURE_BYTES);
        assert_eq!(pictures[0].2, Integrity::Damaged);
    }

    fn element(code: impl Strategy<Value = u8>, most: usize) -> impl Strategy<Value = Vec<u8>> {
        (code, prop::collection::vec(1_u8.., 5..most))
            .prop_map(|(code, rest)| [&[0, 0, 1, code], rest.as_slice()].concat())
    }

    /// A picture as an encoder makes it: headers, some of them left out, and slices.
    fn picture() -> impl Strategy<Value = Vec<u8>> {
        let before =
            (prop::option::of(element(Just(0xb3), 100)), prop::option::of(element(Just(0xb8), 9)));
        let extension = prop::option::of(element(Just(0xb5), 200));
        let slices = prop::collection::vec(element(1_u8..=0xaf, 700), 1..6);
        (before, extension, slices).prop_map(|((sequence, group), extension, slices)| {
            let before = [sequence.unwrap_or_default(), group.unwrap_or_default()].concat();
            [before, I_PICTURE.to_vec(), extension.unwrap_or_default(), slices.concat()].concat()
        })
    }

    /// The packets of pictures 3600 ticks apart, and the pictures.
    fn sent(pictures: &[Vec<u8>], room: usize) -> (Vec<Sent>, Vec<(u32, Vec<u8>)>) {
        let packetiser = Packetiser::new(room).unwrap();
        let (mut packets, mut originals) = (Vec::new(), Vec::new());
        for (timestamp, picture) in (0..).step_by(3600).zip(pictures) {
            let payloads = packetiser.pack(picture).unwrap();
            packets.extend(payloads.map(|payload| Sent::new(&payload.unwrap(), timestamp)));
            originals.push((timestamp, picture.clone()));
        }
        (packets, originals)
    }

    fn pictures() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(picture(), 1..4)
    }

    proptest! {
        #[test]
        fn pictures_come_back(pictures in pictures(), room in MIN_PAYLOAD_BYTES..2000) {
            let (packets, originals) = sent(&pictures, room);
            let (mut depacketiser, mut received) = (Depacketiser::new(), Vec::new());
            for arrival in arrivals(&packets, None) {
                prop_assert!(arrival.payload.len() <= room);
                depacketiser.handle_payload(&arrival, |unit| received.push(kept(unit))).unwrap();
            }
            let whole = |(timestamp, data)| (timestamp, data, Integrity::Whole);
            prop_assert_eq!(received, originals.into_iter().map(whole).collect::<Vec<_>>());
        }

        #[test]
        fn with_any_packet_lost_a_picture_is_missing_or_not_whole(
            pictures in pictures(),
            room in MIN_PAYLOAD_BYTES..2000,
        ) {
            let (packets, originals) = sent(&pictures, room);
            for lost in 0..packets.len() {
                let (mut depacketiser, mut received) = (Depacketiser::new(), Vec::new());
                for arrival in arrivals(&packets, Some(lost)) {
                    depacketiser.handle_payload(&arrival, |unit| received.push(kept(unit))).unwrap();
                }
                depacketiser.finish(|unit| received.push(kept(unit)));
                expect_honest(&originals, &received);
                let of_lost = received.iter().find(|unit| unit.0 == packets[lost].timestamp);
                prop_assert!(of_lost.is_none_or(|unit| unit.2 != Integrity::Whole));
            }
        }

        #[test]
        fn every_cut_of_every_payload_is_taken_or_refused(picture in picture()) {
            let (packets, _) = sent(&[picture], MIN_PAYLOAD_BYTES);
            for packet in &packets {
                let (mut depacketiser, mut gave) = (Depacketiser::new(), 0);
                for cut in 0..packet.bytes.len() {
                    let arrival = Arrival { payload: &packet.bytes[..cut], ..packet.arrival(true) };
                    let taken = depacketiser.handle_payload(&arrival, |unit| gave += unit.data.len());
                    prop_assert_eq!(taken.is_err(), (1..=HEADER_BYTES).contains(&cut));
                }
                prop_assert!(gave <= packet.bytes.len().pow(2));
            }
        }

        #[test]
        fn no_bytes_make_it_panic_or_give_more_than_came(
            payloads in prop::collection::vec((0_u32..3, any::<bool>(), any::<bool>(),
                prop::collection::vec(any::<u8>(), 0..30)), 0..20),
        ) {
            let (mut depacketiser, mut gave) = (Depacketiser::new(), 0);
            for (timestamp, marker, after_gap, payload) in &payloads {
                let (timestamp, marker, after_gap) = (*timestamp, *marker, *after_gap);
                let arrival = Arrival { payload, timestamp, marker, after_gap };
                let _ = depacketiser.handle_payload(&arrival, |unit| gave += unit.data.len());
            }
            prop_assert!(gave <= payloads.iter().map(|payload| payload.3.len()).sum());
        }
    }
}
