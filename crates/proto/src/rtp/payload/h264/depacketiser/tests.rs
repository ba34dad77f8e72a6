//! Access units from good, lossy and malformed packets.

use proptest::prelude::*;

use super::*;
use crate::rtp::payload::h264::{Packetiser, PacketizationMode, annex_b};
use crate::rtp::payload::lossy::{Kept, Sent, arrivals, expect_honest, kept};
use crate::rtp::payload::{Integrity, MAX_PAYLOAD_BYTES};

/// A packet: timestamp, marker, whether it is behind a gap, payload.
type Given<'p> = (u32, bool, bool, &'p [u8]);

/// What comes of packets: the access units, the one under way at the end, too, and the refusals.
fn received(given: &[Given<'_>]) -> (Vec<Kept>, Vec<String>) {
    let (mut units, mut refusals) = (Vec::new(), Vec::new());
    let mut depacketiser = Depacketiser::new();
    for &(timestamp, marker, after_gap, payload) in given {
        let arrival = Arrival { payload, timestamp, marker, after_gap };
        let taken = depacketiser.handle_payload(&arrival, |unit| units.push(kept(unit)));
        refusals.extend(taken.err().map(|error| error.to_string()));
    }
    depacketiser.finish(|unit| units.push(kept(unit)));
    (units, refusals)
}

fn annex_b_of(nal_units: &[&[u8]]) -> Vec<u8> {
    nal_units.iter().flat_map(|unit| [&START_CODE, *unit].concat()).collect()
}

/// One access unit, damaged, of these NAL units.
fn damaged(nal_units: &[&[u8]]) -> Vec<Kept> {
    vec![(1, annex_b_of(nal_units), Integrity::Damaged)]
}

#[test]
fn the_three_forms_of_packets_make_one_access_unit() {
    let (units, refusals) = received(&[
        (1, false, false, &[0x78, 0, 2, 0x67, 1, 0, 3, 0x68, 2, 3]),
        (1, false, false, &[0x06, 4]),
        (1, false, false, &[0x7c, 0x85, 5]),
        (1, false, false, &[0x7c, 0x05]),
        (1, true, false, &[0x7c, 0x45, 6, 7]),
    ]);
    let nal_units: [&[u8]; 4] = [&[0x67, 1], &[0x68, 2, 3], &[0x06, 4], &[0x65, 5, 6, 7]];
    assert_eq!(units, [(1, annex_b_of(&nal_units), Integrity::Whole)]);
    assert!(refusals.is_empty());
}

#[test]
fn another_timestamp_ends_an_access_unit_without_a_marker() {
    let (units, _) = received(&[(1, false, false, &[0x41, 1]), (2, false, false, &[0x41, 2])]);
    let first = (1, annex_b_of(&[&[0x41, 1]]), Integrity::Whole);
    assert_eq!(units, [first, (2, annex_b_of(&[&[0x41, 2]]), Integrity::Doubtful)]);
}

#[test]
fn a_gap_damages_the_unit_around_it_and_puts_the_next_in_doubt() {
    let gap_inside = [(1, false, false, &[0x41, 1][..]), (1, true, true, &[0x41, 2])];
    assert_eq!(received(&gap_inside).0, damaged(&[&[0x41, 1], &[0x41, 2]]));
    let (units, _) = received(&[(1, true, false, &[0x41, 1]), (2, true, true, &[0x41, 2])]);
    let states: Vec<_> = units.iter().map(|unit| unit.2).collect();
    assert_eq!(states, [Integrity::Whole, Integrity::Doubtful]);
    let (units, _) = received(&[(1, false, false, &[0x41, 1]), (2, true, true, &[0x41, 2])]);
    let states: Vec<_> = units.iter().map(|unit| unit.2).collect();
    assert_eq!(states, [Integrity::Damaged, Integrity::Doubtful]);
}

#[test]
fn a_gap_inside_parts_leaves_out_their_nal_unit() {
    let (units, refusals) = received(&[
        (1, false, false, &[0x06, 4]),
        (1, false, false, &[0x7c, 0x85, 5]),
        (1, false, true, &[0x7c, 0x05, 7]),
    ]);
    assert_eq!(units, damaged(&[&[0x06, 4]]));
    assert!(refusals.is_empty());
}

#[test]
fn parts_without_a_start_are_refused_unless_a_gap_explains_it() {
    let end: &[u8] = &[0x7c, 0x45, 6];
    let (units, refusals) = received(&[(1, true, false, end)]);
    assert_eq!(units, damaged(&[]));
    let refused = "start bit of an FU-A is 0: the first part of a NAL unit did not come before it";
    assert_eq!(refusals, [refused]);
    let (units, refusals) = received(&[(1, true, true, end)]);
    assert_eq!((units, refusals.len()), (damaged(&[]), 0));
}

#[test]
fn a_start_without_an_end_is_left_out_whatever_follows() {
    let start: Given<'_> = (1, false, false, &[0x7c, 0x85, 5]);
    let single: &[u8] = &[0x41, 9];
    assert_eq!(received(&[start, (1, true, false, single)]).0, damaged(&[single]));
    let aggregate: &[u8] = &[0x58, 0, 2, 0x41, 9];
    assert_eq!(received(&[start, (1, true, false, aggregate)]).0, damaged(&[single]));
    let (units, _) =
        received(&[start, (1, false, false, &[0x5c, 0x81, 1]), (1, true, false, &[0x5c, 0x41, 2])]);
    assert_eq!(units, damaged(&[&[0x41, 1, 2]]));
    let (units, _) = received(&[start, (2, true, false, single)]);
    assert_eq!(units[0], damaged(&[])[0]);
    assert_eq!(units[1].2, Integrity::Whole);
}

#[test]
fn a_part_of_another_nal_unit_does_not_continue_one() {
    let (units, refusals) =
        received(&[(1, false, false, &[0x7c, 0x85, 5]), (1, true, false, &[0x7c, 0x41, 6])]);
    assert_eq!(units, damaged(&[]));
    let refused =
        "first byte of a NAL unit in an FU-A is 97: all parts of a NAL unit have the same";
    assert_eq!(refusals, [refused]);
}

#[test]
fn malformed_payloads_are_refused_and_damage_their_unit() {
    let cases: [(&[u8], &str); 12] = [
        (&[0xe5, 1], "forbidden_zero_bit of a NAL unit is 1: it is 0"),
        (&[0x78], "STAP-A needs 3 B, and there are 0"),
        (&[0x78, 0], "size of a NAL unit in a STAP-A needs 2 B, and there are 1"),
        (&[0x78, 0, 0], "size of a NAL unit in a STAP-A is 0: a NAL unit has a byte at least"),
        (&[0x78, 0, 9, 0x67], "NAL unit in a STAP-A needs 9 B, and there are 1"),
        (&[0x78, 0xff, 0xff, 0x67], "NAL unit in a STAP-A needs 65535 B, and there are 1"),
        (&[0x78, 0, 1, 0x78], "type of a NAL unit in a STAP-A is 24: it is none of a packet"),
        (&[0x78, 0, 1, 0xe7], "forbidden_zero_bit of a NAL unit is 1: it is 0"),
        (&[0x7c], "header of an FU-A needs 2 B, and there are 1"),
        (&[0x7c, 0xc5, 1], "header of an FU-A is 197: no FU-A has both of start and end"),
        (&[0x7c, 0x9c, 1], "type of a NAL unit in an FU-A is 28: it is none of a packet"),
        (&[0x79, 1], "type of a payload is 25: modes 0 and 1 have 24 (STAP-A) and 28 (FU-A)"),
    ];
    for (payload, refused) in cases {
        let before: &[u8] = &[0x06, 4];
        let (units, refusals) = received(&[(1, false, false, before), (1, true, false, payload)]);
        assert_eq!(refusals, [refused]);
        assert_eq!(units, damaged(&[before]), "{payload:?}");
    }
}

#[test]
fn units_before_a_bad_size_in_a_stap_a_are_kept() {
    let (units, _) = received(&[(1, true, false, &[0x78, 0, 2, 0x67, 1, 0, 5, 0x68])]);
    assert_eq!(units, damaged(&[&[0x67, 1]]));
}

#[test]
fn undefined_types_are_ignored_wherever_they_are() {
    let unit: &[u8] = &[0x41, 1];
    let undefined: [&[u8]; 5] = [&[0x00, 1], &[0x7e], &[0x7f], &[0x78, 0, 1, 0x1f], &[0x7c, 0x80]];
    for ignored in undefined {
        let (units, refusals) = received(&[(1, false, false, unit), (1, true, false, ignored)]);
        assert_eq!(units, [(1, annex_b_of(&[unit]), Integrity::Whole)], "{ignored:?}");
        assert!(refusals.is_empty());
    }
}

#[test]
fn packets_of_padding_alone_belong_to_no_unit_and_hand_on_their_gap() {
    let (units, _) = received(&[
        (1, false, false, &[0x41, 1]),
        (9, true, true, &[]),
        (1, true, false, &[0x41, 2]),
    ]);
    assert_eq!(units, damaged(&[&[0x41, 1], &[0x41, 2]]));
}

#[test]
fn an_access_unit_beyond_its_bound_is_damaged_and_memory_stays_bounded() {
    let mut depacketiser = Depacketiser::new();
    let mut part = vec![0x11; MAX_PAYLOAD_BYTES];
    (part[0], part[1]) = (0x7c, 0x85);
    let (mut refusals, mut units) = (0, Vec::new());
    for _ in 0..200 {
        let arrival = Arrival { payload: &part, timestamp: 1, marker: false, after_gap: false };
        refusals += usize::from(
            depacketiser.handle_payload(&arrival, |unit| units.push(kept(unit))).is_err(),
        );
        part[1] = 0x05;
    }
    assert_eq!(refusals, 1, "the parts behind the one that was too much are dropped");
    depacketiser.finish(|unit| units.push(kept(unit)));
    assert_eq!(units, damaged(&[]));
}

/// A NAL unit as an encoder makes it: of a known type, without a start code inside.
fn nal_unit() -> impl Strategy<Value = Vec<u8>> {
    let header = (0_u8..4, 1_u8..24).prop_map(|(nri, kind)| nri << 5 | kind);
    (header, prop::collection::vec(1_u8.., 0..400))
        .prop_map(|(header, rest)| [&[header], rest.as_slice()].concat())
}

fn access_units() -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
    prop::collection::vec(prop::collection::vec(nal_unit(), 1..6), 1..4)
}

/// The packets of access units 3000 ticks apart, and the access units in the form of annex B.
fn sent(access_units: &[Vec<Vec<u8>>], room: usize) -> (Vec<Sent>, Vec<(u32, Vec<u8>)>) {
    let packetiser = Packetiser::new(PacketizationMode::NonInterleaved, room).unwrap();
    let (mut packets, mut originals) = (Vec::new(), Vec::new());
    for (timestamp, nal_units) in (0..).step_by(3000).zip(access_units) {
        let nal_units: Vec<_> = nal_units.iter().map(Vec::as_slice).collect();
        let payloads = packetiser.pack(nal_units.iter().copied());
        packets.extend(payloads.map(|payload| Sent::new(&payload.unwrap(), timestamp)));
        originals.push((timestamp, annex_b_of(&nal_units)));
    }
    (packets, originals)
}

proptest! {
    #[test]
    fn access_units_come_back(access_units in access_units(), room in 3_usize..500) {
        let (packets, originals) = sent(&access_units, room);
        let (mut depacketiser, mut units) = (Depacketiser::new(), Vec::new());
        for arrival in arrivals(&packets, None) {
            prop_assert!(arrival.payload.len() <= room);
            depacketiser.handle_payload(&arrival, |unit| units.push(kept(unit))).unwrap();
        }
        let whole = |(timestamp, data)| (timestamp, data, Integrity::Whole);
        prop_assert_eq!(&units, &originals.into_iter().map(whole).collect::<Vec<_>>());
        let split: Vec<_> = units.iter().flat_map(|unit| annex_b::units(&unit.1)).collect();
        prop_assert_eq!(split, access_units.concat());
    }

    #[test]
    fn with_any_packet_lost_a_unit_is_missing_or_not_whole(
        access_units in access_units(),
        room in 3_usize..500,
    ) {
        let (packets, originals) = sent(&access_units, room);
        for lost in 0..packets.len() {
            let (mut depacketiser, mut units) = (Depacketiser::new(), Vec::new());
            for arrival in arrivals(&packets, Some(lost)) {
                depacketiser.handle_payload(&arrival, |unit| units.push(kept(unit))).unwrap();
            }
            depacketiser.finish(|unit| units.push(kept(unit)));
            expect_honest(&originals, &units);
            let of_lost = units.iter().find(|unit| unit.0 == packets[lost].timestamp);
            prop_assert!(of_lost.is_none_or(|unit| unit.2 != Integrity::Whole));
        }
    }

    #[test]
    fn every_cut_of_every_payload_is_taken_or_refused(
        access_units in access_units(),
        room in 3_usize..100,
    ) {
        let (packets, _) = sent(&access_units, room);
        for packet in &packets {
            let mut depacketiser = Depacketiser::new();
            for cut in 0..packet.bytes.len() {
                let arrival = Arrival { payload: &packet.bytes[..cut], ..packet.arrival(false) };
                let mut given = 0;
                let _ = depacketiser.handle_payload(&arrival, |unit| given += unit.data.len());
                prop_assert!(given <= packet.bytes.len() * 4);
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic_or_give_more_than_came(
        payloads in prop::collection::vec((0_u32..3, any::<bool>(), any::<bool>(),
            prop::collection::vec(any::<u8>(), 0..30)), 0..20),
    ) {
        let given: Vec<_> = payloads.iter()
            .map(|(timestamp, marker, gap, bytes)| (*timestamp, *marker, *gap, bytes.as_slice()))
            .collect();
        let came: usize = payloads.iter().map(|payload| payload.3.len()).sum();
        let gave: usize = received(&given).0.iter().map(|unit| unit.1.len()).sum();
        prop_assert!(gave <= came * (1 + START_CODE.len()));
    }
}
