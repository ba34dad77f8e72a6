//! PCMU and PCMA, the two laws of G.711: [RFC 3551 section 4.5.14](https://www.rfc-editor.org/rfc/rfc3551#section-4.5.14).
//!
//! A byte is a sample, a payload is samples and nothing else, and the timestamp counts them. Silence is not sent:
//! timestamps jump over it, and the marker shows where speech begins again (section 4.1).

use super::{Arrival, Payload, payload_limit};
use crate::ProtoError;

/// Payload type of mu-law.
pub const PCMU: u8 = 0;

/// Payload type of A-law.
pub const PCMA: u8 = 8;

/// Samples, and ticks of the timestamp, in a second [Hz].
pub const CLOCK_RATE_HZ: u32 = 8000;

/// Bytes of 20 ms [B], what a packet carries unless agreed otherwise (section 4.2).
pub const DEFAULT_PAYLOAD_BYTES: usize = 160;

/// Cuts samples into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetiser {
    payload_bytes: usize,
}

impl Packetiser {
    /// Payloads of so many samples, but for the last of a talkspurt [B].
    ///
    /// # Errors
    /// When that is none, or more than a packet carries.
    pub fn new(payload_bytes: usize) -> Result<Self, ProtoError> {
        let payload_bytes = payload_limit(payload_bytes, 1, "a payload has a sample at least")?;
        Ok(Self { payload_bytes })
    }

    /// The payloads of samples that follow each other; the first has the marker where they begin a talkspurt.
    pub fn pack<'u>(
        &self,
        samples: &'u [u8],
        begins_talkspurt: bool,
    ) -> impl ExactSizeIterator<Item = Payload<'u>> + use<'u> {
        let payload_bytes = self.payload_bytes;
        samples.chunks(payload_bytes).enumerate().map(move |(index, samples)| {
            #[expect(clippy::cast_possible_truncation, reason = "timestamps are modulo 2^32")]
            let timestamp_offset = (index * payload_bytes) as u32;
            Payload::of(begins_talkspurt && index == 0, timestamp_offset, &[], samples)
        })
    }
}

/// Samples as they came, and what was before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples<'p> {
    /// Timestamp of the first [samples].
    pub timestamp: u32,
    /// A byte each.
    pub data: &'p [u8],
    /// They begin a talkspurt.
    pub begins_talkspurt: bool,
    /// Between them and what came before.
    pub pause: Pause,
}

/// What lies between two payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Nothing, or it cannot be known: they are the first, or their timestamp goes back.
    None,
    /// So many samples of silence that was not sent.
    Silence(u32),
    /// So many samples in lost packets; some of them may have been silence.
    Lost(u32),
}

/// Tells silence from loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Depacketiser {
    /// Timestamp behind the last sample.
    next: Option<u32>,
    gap_noted: bool,
}

impl Depacketiser {
    /// One that has received nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The samples of a payload; none of an empty one.
    pub fn handle_payload<'p>(&mut self, arrival: &Arrival<'p>) -> Option<Samples<'p>> {
        let Arrival { payload: data, timestamp, marker: begins_talkspurt, after_gap } = *arrival;
        self.gap_noted |= after_gap;
        if data.is_empty() {
            return None;
        }
        let pause = match self.next.map_or(0, |next| timestamp.wrapping_sub(next)) {
            0 | 0x8000_0000.. => Pause::None,
            samples if self.gap_noted => Pause::Lost(samples),
            samples => Pause::Silence(samples),
        };
        self.gap_noted = false;
        #[expect(clippy::cast_possible_truncation, reason = "timestamps are modulo 2^32")]
        let ticks = data.len() as u32;
        self.next = Some(timestamp.wrapping_add(ticks));
        Some(Samples { timestamp, data, begins_talkspurt, pause })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtp::payload::lossy::{Sent, arrivals};

    fn arrival(payload: &[u8], timestamp: u32, after_gap: bool) -> Arrival<'_> {
        Arrival { payload, timestamp, marker: false, after_gap }
    }

    #[test]
    fn twenty_milliseconds_are_160_bytes_and_160_ticks_and_the_last_unit_may_be_short() {
        let samples: Vec<u8> = (0..=255).cycle().take(400).collect();
        let packetiser = Packetiser::new(DEFAULT_PAYLOAD_BYTES).unwrap();
        let payloads: Vec<_> = packetiser.pack(&samples, true).collect();
        let seen: Vec<_> = payloads
            .iter()
            .map(|payload| (payload.marker, payload.timestamp_offset, payload.bytes()))
            .collect();
        assert_eq!(seen, [(true, 0, 160), (false, 160, 160), (false, 320, 80)]);
    }

    #[test]
    fn silence_and_loss_are_told_apart() {
        let mut depacketiser = Depacketiser::new();
        let mut pause = |timestamp, gap| {
            depacketiser.handle_payload(&arrival(&[0xff; 160], timestamp, gap)).unwrap().pause
        };
        assert_eq!(pause(1000, true), Pause::None);
        assert_eq!(pause(1160, false), Pause::None);
        assert_eq!(pause(1480, true), Pause::Lost(160));
        assert_eq!(pause(9640, false), Pause::Silence(8000));
        assert_eq!(pause(100, false), Pause::None);
    }

    #[test]
    fn timestamp_wrap_is_no_pause() {
        let mut depacketiser = Depacketiser::new();
        depacketiser.handle_payload(&arrival(&[0; 160], u32::MAX - 59, false));
        let samples = depacketiser.handle_payload(&arrival(&[0; 160], 100, false)).unwrap();
        assert_eq!(samples.pause, Pause::None);
    }

    #[test]
    fn a_gap_before_an_empty_packet_is_not_forgotten() {
        let mut depacketiser = Depacketiser::new();
        depacketiser.handle_payload(&arrival(&[0; 160], 0, false));
        assert_eq!(depacketiser.handle_payload(&arrival(&[], 320, true)), None);
        let samples = depacketiser.handle_payload(&arrival(&[0; 160], 320, false)).unwrap();
        assert_eq!(samples.pause, Pause::Lost(160));
    }

    #[test]
    fn payloads_of_nothing_and_beyond_a_packet_are_refused() {
        let refused = Packetiser::new(0).unwrap_err().to_string();
        assert_eq!(refused, "largest payload is 0: a payload has a sample at least");
        let refused = Packetiser::new(65_536).unwrap_err().to_string();
        assert_eq!(refused, "largest payload is 65536: a packet carries 65 535 B at most");
    }

    proptest! {
        #[test]
        fn samples_come_back_and_lost_ones_are_counted(
            samples in prop::collection::vec(any::<u8>(), 0..2000),
            payload_bytes in 1_usize..400,
            (timestamp, lost) in (any::<u32>(), any::<prop::sample::Index>()),
        ) {
            let packetiser = Packetiser::new(payload_bytes).unwrap();
            let packed = packetiser.pack(&samples, true);
            let sent: Vec<_> = packed.map(|payload| Sent::new(&payload, timestamp)).collect();
            for lost in [None, (sent.len() > 2).then(|| 1 + lost.index(sent.len() - 2))] {
                let mut depacketiser = Depacketiser::new();
                let mut received = Vec::new();
                for arrival in arrivals(&sent, lost) {
                    let unit = depacketiser.handle_payload(&arrival).unwrap();
                    if let Pause::Lost(samples) = unit.pause {
                        received.resize(received.len() + samples as usize, 0);
                    }
                    prop_assert!(!matches!(unit.pause, Pause::Silence(_)));
                    received.extend_from_slice(unit.data);
                }
                let mut expected = samples.clone();
                if let Some(lost) = lost {
                    expected[lost * payload_bytes..][..payload_bytes].fill(0);
                }
                prop_assert_eq!(received, expected);
            }
        }
    }
}
