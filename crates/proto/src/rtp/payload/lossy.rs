//! A way for tests: packets of a packetiser, some of which do not arrive.

use super::{Arrival, Integrity, Payload, Unit};

/// A packet under way.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) bytes: Vec<u8>,
    pub(super) timestamp: u32,
    pub(super) marker: bool,
}

impl Sent {
    /// The packet of a payload, of a unit that began at `timestamp`.
    pub(super) fn new(payload: &Payload<'_>, timestamp: u32) -> Self {
        let mut bytes = vec![0; payload.bytes()];
        payload.write(&mut bytes).unwrap();
        let timestamp = timestamp.wrapping_add(payload.timestamp_offset);
        Self { bytes, timestamp, marker: payload.marker }
    }

    pub(super) fn arrival(&self, after_gap: bool) -> Arrival<'_> {
        let Self { ref bytes, timestamp, marker } = *self;
        Arrival { payload: bytes, timestamp, marker, after_gap }
    }
}

/// What arrives when one packet is lost, or none.
pub(super) fn arrivals(sent: &[Sent], lost: Option<usize>) -> impl Iterator<Item = Arrival<'_>> {
    let kept = sent.iter().enumerate().filter(move |&(index, _)| Some(index) != lost);
    kept.map(move |(index, packet)| packet.arrival(lost.is_some_and(|lost| lost + 1 == index)))
}

/// A unit kept beyond the packet that gave it.
pub(super) type Kept = (u32, Vec<u8>, Integrity);

pub(super) fn kept(unit: Unit<'_>) -> Kept {
    (unit.timestamp, unit.data.to_vec(), unit.integrity)
}

/// Panics when a unit that is called whole is not one that was sent, or when one that was sent comes twice.
pub(super) fn expect_honest(sent: &[(u32, Vec<u8>)], received: &[Kept]) {
    for (timestamp, data, integrity) in received {
        let original = sent.iter().find(|(of, _)| of == timestamp).unwrap();
        if *integrity == Integrity::Whole {
            assert_eq!(*data, original.1, "a unit of {timestamp} that is called whole");
        }
    }
    let timestamps: Vec<_> = received.iter().map(|(timestamp, ..)| timestamp).collect();
    assert!(timestamps.is_sorted_by(|a, b| a < b), "{timestamps:?}");
}
