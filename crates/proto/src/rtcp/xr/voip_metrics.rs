//! Quality of a call, [RFC 3611 section 4.7](https://www.rfc-editor.org/rfc/rfc3611#section-4.7).
//!
//! ```text
//! |                          SSRC of source                       |
//! |   loss rate   | discard rate  | burst density |  gap density  |  1/256
//! |        burst duration         |         gap duration          |  ms
//! |       round-trip delay        |       end system delay        |  ms
//! | signal level  |  noise level  |     RERL      |     Gmin      |  dBm0, dBm0, dB, packets
//! |   R factor    | ext. R factor |    MOS-LQ     |    MOS-CQ     |  points, points, tenths, tenths
//! | configuration |   reserved    |       nominal delay           |  ms
//! |        maximum delay          |    absolute maximum delay     |  ms
//! ```

use super::super::word;

/// Bytes behind the header of the block [B].
pub(super) const CONTENTS_BYTES: usize = 32;

/// Quality of a call as its receiver sees it. Levels, factors and scores of 127 are not available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VoipMetrics {
    /// Source that is reported on.
    pub ssrc: u32,
    /// Share of packets lost since the start [1/256] (section 4.7.1).
    pub loss_rate: u8,
    /// Share of packets too late or too early for the jitter buffer [1/256] (4.7.1).
    pub discard_rate: u8,
    /// Share of packets lost or discarded within bursts [1/256] (4.7.2).
    pub burst_density: u8,
    /// The same between bursts [1/256] (4.7.2).
    pub gap_density: u8,
    /// Mean duration of a burst [ms] (4.7.2).
    pub burst_duration_ms: u16,
    /// Mean duration of a gap between bursts [ms] (4.7.2).
    pub gap_duration_ms: u16,
    /// Round trip between the RTP interfaces [ms]; 0 where it is not known (4.7.3).
    pub round_trip_delay_ms: u16,
    /// Delay within this end system [ms] (4.7.3).
    pub end_system_delay_ms: u16,
    /// Level of speech [dBm0] (4.7.4).
    pub signal_level_dbm0: i8,
    /// Level of noise in silence [dBm0] (4.7.4).
    pub noise_level_dbm0: i8,
    /// Residual echo return loss [dB] (4.7.4).
    pub residual_echo_return_loss_db: u8,
    /// Packets in a row that must come to end a burst, 16 by recommendation [packets] (4.7.2).
    pub gap_threshold_packets: u8,
    /// R factor of the call, 0 to 100 [points] (4.7.5).
    pub r_factor: u8,
    /// R factor of the part of the call on another network [points] (4.7.5).
    pub external_r_factor: u8,
    /// Mean opinion score of listening, 10 to 50 [1/10] (4.7.5).
    pub mos_listening_tenths: u8,
    /// Mean opinion score of conversation, 10 to 50 [1/10] (4.7.5).
    pub mos_conversation_tenths: u8,
    /// Loss concealment, kind of jitter buffer and its rate; see the methods (4.7.6).
    pub receiver_configuration: u8,
    /// Present delay of the jitter buffer for a packet in time [ms] (4.7.7).
    pub jitter_buffer_nominal_ms: u16,
    /// Present delay for the latest packet that is not discarded [ms] (4.7.7).
    pub jitter_buffer_maximum_ms: u16,
    /// Delay that an adaptive buffer can grow to [ms] (4.7.7).
    pub jitter_buffer_absolute_maximum_ms: u16,
}

impl VoipMetrics {
    /// Loss concealment: 3 standard, 2 enhanced, 1 silence, 0 not said (section 4.7.6).
    #[must_use]
    pub fn loss_concealment(&self) -> u8 {
        self.receiver_configuration >> 6
    }

    /// Jitter buffer: 3 adaptive, 2 fixed, 1 reserved, 0 not known (section 4.7.6).
    #[must_use]
    pub fn jitter_buffer_kind(&self) -> u8 {
        self.receiver_configuration >> 4 & 3
    }

    /// How fast the buffer adapts, 0 to 15, the implementation's own measure (section 4.7.6).
    #[must_use]
    pub fn jitter_buffer_rate(&self) -> u8 {
        self.receiver_configuration & 0x0f
    }

    pub(super) fn from_bytes(bytes: &[u8; CONTENTS_BYTES]) -> Self {
        let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        Self {
            ssrc: word(bytes, 0),
            loss_rate: bytes[4],
            discard_rate: bytes[5],
            burst_density: bytes[6],
            gap_density: bytes[7],
            burst_duration_ms: short(8),
            gap_duration_ms: short(10),
            round_trip_delay_ms: short(12),
            end_system_delay_ms: short(14),
            signal_level_dbm0: bytes[16].cast_signed(),
            noise_level_dbm0: bytes[17].cast_signed(),
            residual_echo_return_loss_db: bytes[18],
            gap_threshold_packets: bytes[19],
            r_factor: bytes[20],
            external_r_factor: bytes[21],
            mos_listening_tenths: bytes[22],
            mos_conversation_tenths: bytes[23],
            receiver_configuration: bytes[24],
            jitter_buffer_nominal_ms: short(26),
            jitter_buffer_maximum_ms: short(28),
            jitter_buffer_absolute_maximum_ms: short(30),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; CONTENTS_BYTES] {
        let mut bytes = [0; CONTENTS_BYTES];
        bytes[..4].copy_from_slice(&self.ssrc.to_be_bytes());
        bytes[4..8].copy_from_slice(&[
            self.loss_rate,
            self.discard_rate,
            self.burst_density,
            self.gap_density,
        ]);
        bytes[8..10].copy_from_slice(&self.burst_duration_ms.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.gap_duration_ms.to_be_bytes());
        bytes[12..14].copy_from_slice(&self.round_trip_delay_ms.to_be_bytes());
        bytes[14..16].copy_from_slice(&self.end_system_delay_ms.to_be_bytes());
        bytes[16..25].copy_from_slice(&[
            self.signal_level_dbm0.cast_unsigned(),
            self.noise_level_dbm0.cast_unsigned(),
            self.residual_echo_return_loss_db,
            self.gap_threshold_packets,
            self.r_factor,
            self.external_r_factor,
            self.mos_listening_tenths,
            self.mos_conversation_tenths,
            self.receiver_configuration,
        ]);
        bytes[26..28].copy_from_slice(&self.jitter_buffer_nominal_ms.to_be_bytes());
        bytes[28..30].copy_from_slice(&self.jitter_buffer_maximum_ms.to_be_bytes());
        bytes[30..].copy_from_slice(&self.jitter_buffer_absolute_maximum_ms.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_fields_are_where_the_rfc_puts_them() {
        let bytes = [
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            0,
            9,
            0,
            10,
            0,
            11,
            0,
            12,
            0xf0,
            0xba,
            13,
            16,
            93,
            127,
            41,
            38,
            0b1011_0101,
            0,
            0,
            40,
            0,
            60,
            1,
            0,
        ];
        let metrics = VoipMetrics::from_bytes(&bytes);
        assert_eq!(
            metrics,
            VoipMetrics {
                ssrc: 0x0102_0304,
                loss_rate: 5,
                discard_rate: 6,
                burst_density: 7,
                gap_density: 8,
                burst_duration_ms: 9,
                gap_duration_ms: 10,
                round_trip_delay_ms: 11,
                end_system_delay_ms: 12,
                signal_level_dbm0: -16,
                noise_level_dbm0: -70,
                residual_echo_return_loss_db: 13,
                gap_threshold_packets: 16,
                r_factor: 93,
                external_r_factor: 127,
                mos_listening_tenths: 41,
                mos_conversation_tenths: 38,
                receiver_configuration: 0xb5,
                jitter_buffer_nominal_ms: 40,
                jitter_buffer_maximum_ms: 60,
                jitter_buffer_absolute_maximum_ms: 256,
            }
        );
        let configuration = (
            metrics.loss_concealment(),
            metrics.jitter_buffer_kind(),
            metrics.jitter_buffer_rate(),
        );
        assert_eq!(configuration, (2, 3, 5));
    }

    proptest! {
        #[test]
        fn metrics_are_the_same_after_they_were_read(mut bytes in any::<[u8; CONTENTS_BYTES]>()) {
            // The reserved byte is not kept.
            bytes[25] = 0;
            prop_assert_eq!(VoipMetrics::from_bytes(&bytes).to_bytes(), bytes);
        }
    }
}
