//! Transfers over a PCI Express link: which of wire, device and host sets their rate (Neugebauer
//! et al., *Understanding PCIe performance for end host networking*, SIGCOMM 2018, section 3).
//!
//! ```text
//! DMA engine ──commands [ns], pieces of its own bus [ns]──► link [B/s] ──► host: lines [ns], latency [ns]
//!     ▲                                                                         │
//!     └──────────────────────── completions, at most so many in flight ◄────────┘
//! ```
//!
//! Packets of the link carry a header; the paper counts them. Three terms are added to its
//! arithmetic, because a cache line moves 27 to 42 % slower than it says: what a command costs the
//! engine, reads in flight over their latency, and a host that completes a read line by line.
//! That it does so unless the read fills its last request was seen, not read in any manual.

use bitpath_measure::{BitRate, ByteCount};

/// Bytes in front of a memory write's payload: framing, sequence number, header, checksum [B].
pub const WRITE_HEADER: u64 = 24;
/// Bytes of a read request [B].
const REQUEST: u64 = 24;
/// Bytes in front of a completion's payload [B].
pub const COMPLETION_HEADER: u64 = 20;

/// A link and the sizes that its two ends agreed on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Generation, from 1.
    pub generation: u8,
    /// Lanes.
    pub lanes: u8,
    /// Share of the bytes that acknowledgements and credits leave for packets [ratio].
    pub packet_share: f64,
    /// Most payload in a write or a completion [B].
    pub max_payload: ByteCount,
    /// Most bytes in one read request [B].
    pub max_read_request: ByteCount,
    /// Boundary at which a host may cut its completions: a cache line [B].
    pub read_completion_boundary: ByteCount,
}

impl Link {
    /// PCIe 3.0 x8 as in the paper: 57.88 Gb/s of 63.02 Gb/s are left for packets.
    #[must_use]
    pub fn gen3_x8() -> Self {
        Self {
            generation: 3,
            lanes: 8,
            packet_share: 57.88 / (8.0 * 8.0 * 128.0 / 130.0),
            max_payload: ByteCount(256),
            max_read_request: ByteCount(512),
            read_completion_boundary: ByteCount(64),
        }
    }

    /// Bits of one direction behind the line code [b/s]: 8b/10b up to generation 2, then 128b/130b.
    #[must_use]
    pub fn raw_rate(&self) -> f64 {
        let lane = match self.generation {
            0 | 1 => 2.5e9 * 0.8,
            2 => 5e9 * 0.8,
            later => 8e9 * f64::from(1_u32 << (later - 3).min(8)) * 128.0 / 130.0,
        };
        lane * f64::from(self.lanes)
    }

    /// Bits of packets, headers included, of one direction [b/s].
    #[must_use]
    pub fn packet_rate(&self) -> f64 {
        self.raw_rate() * self.packet_share
    }

    /// Time of so many bytes of packets on the wire [ns].
    fn wire_ns(&self, bytes: u64) -> f64 {
        bytes as f64 * 8e9 / self.packet_rate()
    }

    /// Packet bytes of a write [B].
    fn write_bytes(&self, size: ByteCount) -> u64 {
        size.0 + WRITE_HEADER * size.0.div_ceil(self.max_payload.0)
    }

    /// Packet bytes of the completions of a read [B].
    fn completion_bytes(&self, size: ByteCount) -> u64 {
        size.0 + COMPLETION_HEADER * size.0.div_ceil(self.max_payload.0)
    }

    /// Requests of a read [requests].
    fn requests(&self, size: ByteCount) -> u64 {
        size.0.div_ceil(self.max_read_request.0)
    }
}

/// The device's DMA engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DmaEngine {
    /// For each command, and for each change between reading and writing [ns].
    pub per_command_ns: f64,
    /// For each piece that the device's own bus moves at a time, when writing [ns].
    pub per_piece_ns: f64,
    /// Size of such a piece [B].
    pub piece: ByteCount,
    /// Reads under way at a time [reads].
    pub in_flight: f64,
}

/// The host's side of a read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootComplex {
    /// Latency of a read of no bytes, the device's share included [ns].
    pub latency_ns: f64,
    /// More latency for each byte [ns/B].
    pub latency_per_byte_ns: f64,
    /// For each read that ends within a request, before its lines [ns].
    pub per_read_ns: f64,
    /// For each cache line of such a read [ns].
    pub per_line_ns: f64,
}

/// A device behind a link in a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pcie {
    /// The link.
    pub link: Link,
    /// The device.
    pub engine: DmaEngine,
    /// The host.
    pub host: RootComplex,
}

impl Pcie {
    /// Time from a read's command until its data is in the device [ns].
    #[must_use]
    pub fn read_latency_ns(&self, size: ByteCount) -> f64 {
        self.host.latency_ns + self.host.latency_per_byte_ns * size.0 as f64
    }

    /// Time between two writes of a stream of writes [ns].
    #[must_use]
    pub fn write_ns(&self, size: ByteCount) -> f64 {
        let wire = self.link.wire_ns(self.link.write_bytes(size));
        let pieces = size.0.div_ceil(self.engine.piece.0) as f64;
        self.engine.per_command_ns + wire.max(self.engine.per_piece_ns * pieces)
    }

    /// Time between two reads of a stream of reads [ns].
    #[must_use]
    pub fn read_ns(&self, size: ByteCount) -> f64 {
        let completions = self.link.wire_ns(self.link.completion_bytes(size));
        let requests = self.link.wire_ns(REQUEST * self.link.requests(size));
        let transfer = completions.max(requests).max(self.line_by_line_ns(size));
        let in_flight = self.read_latency_ns(size) / self.engine.in_flight;
        in_flight.max(self.engine.per_command_ns + transfer)
    }

    /// Time that the host takes for a read that does not fill its last request [ns]; a read that
    /// does comes in full payloads and takes no longer than the wire.
    fn line_by_line_ns(&self, size: ByteCount) -> f64 {
        if size.0.is_multiple_of(self.link.max_read_request.0) {
            return 0.0;
        }
        let lines = size.0.div_ceil(self.link.read_completion_boundary.0) as f64;
        self.host.per_read_ns + self.host.per_line_ns * lines
    }

    /// Time between two pairs of a stream of one write and one read in turn [ns].
    ///
    /// Writes and read requests share the wire towards the host, and each change between them
    /// costs the engine a command's time.
    #[must_use]
    pub fn read_write_ns(&self, size: ByteCount) -> f64 {
        let requests = self.link.requests(size);
        let upstream = self.link.wire_ns(self.link.write_bytes(size) + REQUEST * requests);
        let changes = self.engine.per_command_ns * (1 + requests) as f64;
        (upstream + changes).max(self.write_ns(size)).max(self.read_ns(size))
    }
}

/// Payload a second of one transfer of `size` every `time_ns` [b/s].
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive rate far below 2^64"
)]
pub fn rate(size: ByteCount, time_ns: f64) -> BitRate {
    BitRate((size.0 as f64 * 8e9 / time_ns).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device and a host without costs of their own.
    fn wire_only() -> Pcie {
        Pcie {
            link: Link::gen3_x8(),
            engine: DmaEngine {
                per_command_ns: 0.0,
                per_piece_ns: 0.0,
                piece: ByteCount(128),
                in_flight: 1e9,
            },
            host: RootComplex {
                latency_ns: 500.0,
                latency_per_byte_ns: 0.3,
                per_read_ns: 0.0,
                per_line_ns: 0.0,
            },
        }
    }

    #[test]
    fn without_costs_the_headers_alone_are_lost() {
        let gigabits = |time_ns| rate(ByteCount(64), time_ns).0 as f64 / 1e9;
        // 64 of 88 bytes, and 64 of 84.
        assert!((gigabits(wire_only().write_ns(ByteCount(64))) - 57.88 * 64.0 / 88.0).abs() < 1e-6);
        assert!((gigabits(wire_only().read_ns(ByteCount(64))) - 57.88 * 64.0 / 84.0).abs() < 1e-6);
    }

    #[test]
    fn a_byte_more_than_a_payload_costs_a_header() {
        let ns = |bytes| wire_only().write_ns(ByteCount(bytes));
        assert!((ns(257) - ns(256) - 25.0 * 8.0 / 57.88).abs() < 1e-9);
    }

    #[test]
    fn few_reads_in_flight_make_the_rate_a_matter_of_latency() {
        let mut pcie = wire_only();
        pcie.engine.in_flight = 1.0;
        assert_eq!(pcie.read_ns(ByteCount(1000)), pcie.read_latency_ns(ByteCount(1000)));
        assert_eq!(pcie.read_latency_ns(ByteCount(1000)), 800.0);
    }

    #[test]
    fn a_generation_doubles_the_rate() {
        let rate = |generation| Link { generation, ..Link::gen3_x8() }.raw_rate() / 1e9;
        assert_eq!([rate(1), rate(2)], [16.0, 32.0]);
        assert!((rate(3) - 63.015).abs() < 1e-3 && (rate(4) / rate(3) - 2.0).abs() < 1e-12);
    }
}
