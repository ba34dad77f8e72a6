//! The bus between card and memory: one transfer at a time, each way or both together.
//!
//! ```text
//! received frame ──write──► memory     time = frame + (bytes + headers of the bus) / rate
//! memory ──read──► card                at least latency / reads under way, for each request
//! ```

use super::backlog::Backlog;
use super::packet::Packet;
use super::setup::{self, Flow};

/// Preamble, checksum and gap of a frame, which never leave the card [B].
const ON_THE_LINE_ONLY: u64 = 24;

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the card into memory.
    Write,
    /// From memory into the card.
    Read,
}

/// The bus with the transfers that it has taken on.
#[derive(Clone, Debug, Default)]
pub(super) struct Bus {
    /// When the last transfer of each way ends [ps].
    free_at: [u64; 2],
    /// Payload that waits in the card to be written, until it is across.
    unwritten: Backlog,
}

impl Bus {
    /// Takes on a packet. When its last byte is across [ps].
    pub(super) fn transfer(
        &mut self,
        bus: &setup::Bus,
        flow: &Flow,
        packet: &Packet,
        way: Way,
        now: u64,
    ) -> u64 {
        let time = bus.time_of_payload(u64::from(packet.frames), packet.bytes, flow, way);
        let own = way as usize;
        let free_at =
            if bus.shared { self.free_at[0].max(self.free_at[1]) } else { self.free_at[own] };
        self.free_at[own] = free_at.max(now) + time;
        if way == Way::Write {
            self.unwritten.push(self.free_at[own], packet.bytes);
        }
        self.free_at[own]
    }

    /// Payload that waits in the card [B].
    pub(super) fn waiting(&mut self, now: u64) -> u64 {
        self.unwritten.bytes(now)
    }

    /// Whether anything is on its way.
    pub(super) fn is_busy(&self, now: u64) -> bool {
        self.free_at.iter().any(|end| *end > now)
    }
}

impl setup::Bus {
    /// Time of so many frames with so much payload, what of their headers crosses the bus included [ps].
    pub(super) fn time_of_payload(&self, frames: u64, payload: u64, flow: &Flow, way: Way) -> u64 {
        let headers = flow.headers.saturating_sub(ON_THE_LINE_ONLY) * frames;
        self.time_of(frames, payload + headers, way)
    }

    /// Time of so many frames [ps].
    fn time_of(&self, frames: u64, bytes: u64, way: Way) -> u64 {
        let header = if way == Way::Write { self.write_header } else { self.read_header };
        let all = if header == 0 { bytes } else { bytes + header * bytes.div_ceil(self.piece) };
        let wire = frames * self.frame + ((all * self.byte_65536) >> 16);
        if way == Way::Write || self.request_time == 0 {
            return wire;
        }
        wire.max(bytes.div_ceil(self.request) * self.request_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pcie() -> setup::Bus {
        setup::Bus {
            shared: false,
            frame: 10,
            byte_65536: 65_536,
            piece: 256,
            write_header: 24,
            read_header: 20,
            request: 512,
            request_time: 0,
        }
    }

    #[test]
    fn each_packet_of_the_bus_has_its_header() {
        assert_eq!(pcie().time_of(1, 256, Way::Write), 10 + 256 + 24);
        assert_eq!(pcie().time_of(2, 257, Way::Write), 20 + 257 + 48);
        assert_eq!(pcie().time_of(1, 257, Way::Read), 10 + 257 + 40);
    }

    #[test]
    fn reads_wait_for_their_latency_and_writes_do_not() {
        let bus = setup::Bus { request_time: 5000, ..pcie() };
        assert_eq!(bus.time_of(1, 1500, Way::Read), 15_000);
        assert_eq!(bus.time_of(1, 1500, Way::Write), 10 + 1500 + 6 * 24);
    }
}
