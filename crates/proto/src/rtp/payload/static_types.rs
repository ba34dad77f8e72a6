//! Payload types with a fixed meaning: [RFC 3551 section 6](https://www.rfc-editor.org/rfc/rfc3551#section-6), tables 4 and 5.

use std::fmt;

/// What a payload type carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// Audio.
    Audio,
    /// Video.
    Video,
    /// Both in one stream, or either: a transport stream. A session description calls it video.
    AudioVideo,
}

/// A payload type that needs no session description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Payload type.
    pub payload_type: u8,
    /// Name in a session description.
    pub name: &'static str,
    /// What it carries.
    pub media: Media,
    /// Rate of the timestamp [Hz].
    pub clock_rate_hz: u32,
    /// Channels of audio; none where there are no channels or the payload says how many.
    pub channels: Option<u8>,
}

impl fmt::Display for Encoding {
    /// As in the attribute `rtpmap`, where one channel goes without saying.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.name, self.clock_rate_hz)?;
        match self.channels {
            None | Some(1) => Ok(()),
            Some(channels) => write!(formatter, "/{channels}"),
        }
    }
}

/// All of them, in order. The clock of G722 is 8 kHz by an old mistake that the RFC keeps (section 4.5.2); it
/// samples at 16 kHz.
pub const STATIC_TYPES: [Encoding; 24] = [
    audio(0, "PCMU", 8000, 1),
    audio(3, "GSM", 8000, 1),
    audio(4, "G723", 8000, 1),
    audio(5, "DVI4", 8000, 1),
    audio(6, "DVI4", 16_000, 1),
    audio(7, "LPC", 8000, 1),
    audio(8, "PCMA", 8000, 1),
    audio(9, "G722", 8000, 1),
    audio(10, "L16", 44_100, 2),
    audio(11, "L16", 44_100, 1),
    audio(12, "QCELP", 8000, 1),
    audio(13, "CN", 8000, 1),
    other(14, "MPA", Media::Audio),
    audio(15, "G728", 8000, 1),
    audio(16, "DVI4", 11_025, 1),
    audio(17, "DVI4", 22_050, 1),
    audio(18, "G729", 8000, 1),
    other(25, "CelB", Media::Video),
    other(26, "JPEG", Media::Video),
    other(28, "nv", Media::Video),
    other(31, "H261", Media::Video),
    other(32, "MPV", Media::Video),
    other(33, "MP2T", Media::AudioVideo),
    other(34, "H263", Media::Video),
];

/// What a payload type means without a session description; nothing for the dynamic, reserved and unassigned ones.
#[must_use]
pub fn static_type(payload_type: u8) -> Option<&'static Encoding> {
    STATIC_TYPES.iter().find(|encoding| encoding.payload_type == payload_type)
}

const fn audio(payload_type: u8, name: &'static str, clock_rate_hz: u32, channels: u8) -> Encoding {
    Encoding { payload_type, name, media: Media::Audio, clock_rate_hz, channels: Some(channels) }
}

/// Those with the clock of MPEG, 90 kHz.
const fn other(payload_type: u8, name: &'static str, media: Media) -> Encoding {
    Encoding { payload_type, name, media, clock_rate_hz: 90_000, channels: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_what_the_profile_says() {
        let said = |payload_type| static_type(payload_type).map(ToString::to_string);
        for (payload_type, expected) in
            [(0, "PCMU/8000"), (8, "PCMA/8000"), (10, "L16/44100/2"), (11, "L16/44100")]
        {
            assert_eq!(said(payload_type).as_deref(), Some(expected));
        }
        for (payload_type, expected) in [(14, "MPA/90000"), (32, "MPV/90000"), (33, "MP2T/90000")] {
            assert_eq!(said(payload_type).as_deref(), Some(expected));
        }
    }

    #[test]
    fn reserved_unassigned_and_dynamic_types_mean_nothing_by_themselves() {
        for payload_type in [1, 2, 19, 20, 24, 27, 29, 30, 35, 71, 72, 76, 95, 96, 127, 128, 255] {
            assert_eq!(static_type(payload_type), None);
        }
    }

    #[test]
    fn types_are_in_order_and_each_once() {
        assert!(STATIC_TYPES.is_sorted_by(|a, b| a.payload_type < b.payload_type));
    }
}
