//! What a byte costs a protocol stack whose packets on the wire, and whose buffers inside, hold
//! many bytes: segmentation and receive offload, jumbo frames (Cai et al., *Understanding Host
//! Network Stack Overheads*, SIGCOMM 2021, sections 3.1 and 3.2).
//!
//! ```text
//! cycles a byte = per byte + per packet / bytes of a packet + per buffer / bytes of a buffer
//! ```
//!
//! TSO and GRO make buffers large and leave packets as they are; jumbo frames make packets large.

use bitpath_measure::ByteCount;

/// How the bytes of a stream are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Payload of a packet on the wire [B].
    pub packet: ByteCount,
    /// Payload that passes the stack in one socket buffer [B].
    pub buffer: ByteCount,
}

impl Segments {
    /// Packets of this payload, merged into buffers that hold as many as fit `buffer`.
    #[must_use]
    pub fn merged(packet: ByteCount, buffer: ByteCount) -> Self {
        let packets = (buffer.0 / packet.0.max(1)).max(1);
        Self { packet, buffer: ByteCount(packets * packet.0) }
    }

    /// The factors of the three terms of [`SegmentCost`]: 1, packets a byte, buffers a byte.
    #[must_use]
    pub fn terms(&self) -> [f64; 3] {
        [1.0, 1.0 / self.packet.0 as f64, 1.0 / self.buffer.0 as f64]
    }
}

/// Cycles that one part of the stack takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentCost {
    /// For each byte [cycles/B].
    pub per_byte_cycles: f64,
    /// For each packet on the wire [cycles].
    pub per_packet_cycles: f64,
    /// For each socket buffer [cycles].
    pub per_buffer_cycles: f64,
}

impl SegmentCost {
    /// Cycles for one byte of a stream that is cut like this [cycles/B].
    #[must_use]
    pub fn cycles_per_byte(&self, segments: &Segments) -> f64 {
        let [byte, packet, buffer] = segments.terms();
        self.per_byte_cycles * byte
            + self.per_packet_cycles * packet
            + self.per_buffer_cycles * buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_hold_whole_packets() {
        let merged = Segments::merged(ByteCount(1448), ByteCount(65_535));
        assert_eq!(merged.buffer, ByteCount(45 * 1448));
        assert_eq!(Segments::merged(ByteCount(9000), ByteCount(1)).buffer, ByteCount(9000));
    }

    #[test]
    fn larger_pieces_leave_the_cost_of_the_bytes() {
        let cost =
            SegmentCost { per_byte_cycles: 0.5, per_packet_cycles: 1000.0, per_buffer_cycles: 0.0 };
        let cycles =
            |packet| cost.cycles_per_byte(&Segments::merged(ByteCount(packet), ByteCount(packet)));
        assert_eq!([cycles(1000), cycles(10_000)], [1.5, 0.6]);
    }
}
