//! What is measured of the stack: cases, each one condition away from an ordinary flow.

use std::fmt;

use bitpath_measure::series::labels;
use bitpath_measure::{ByteCount, Labels};
use bitpath_platform::namespace::Offloads;
use bitpath_sim::profile::Transport;

use crate::testbed::{Direction, Way};
use crate::worker::{Buffers, CopyPath, FlowOrder, FlowSetup, MAX_SOURCE_BYTES};

/// What is read from a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Throughput and cost.
    Throughput,
    /// Packets a second at minimal payload, and what goes with it.
    ProcessingPower,
    /// Round trips.
    Latency,
}

/// Which work is taken off the stack, beyond what the way has by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offload {
    /// None: over a cable each packet passes the whole stack.
    Off,
    /// Packets are cut late, by the socket (UDP) or the device (TCP).
    Segmentation,
    /// They are also joined early.
    SegmentationAndReceive,
}

impl Offload {
    const ALL: [Self; 3] = [Self::Off, Self::Segmentation, Self::SegmentationAndReceive];

    fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Segmentation => "gso",
            Self::SegmentationAndReceive => "gso+gro",
        }
    }
}

/// One set of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// The condition that this case belongs to, as labels name it.
    pub(super) vary: &'static str,
    /// What is read.
    pub(super) kind: Kind,
    /// What joins the two ends.
    pub(super) way: Way,
    /// How the flow is opened.
    pub(super) setup: FlowSetup,
    /// Who sends.
    pub(super) direction: Direction,
    /// What is taken off the stack.
    pub(super) offload: Offload,
    /// Size of a message [B].
    pub(super) message_bytes: usize,
    /// Way of the bytes into the streams.
    pub(super) path: CopyPath,
    /// Memory that the sender cycles through [B].
    pub(super) source_bytes: usize,
}

/// Message sizes of TCP [B]: powers of four, and what fills a packet of 1500 B.
const TCP_SIZES: [usize; 13] =
    [1, 4, 16, 64, 256, 1024, 1448, 4096, 16_384, 65_536, 262_144, 1 << 20, 4 << 20];

/// Message sizes of UDP [B]: the same up to the largest datagram.
const UDP_SIZES: [usize; 10] = [1, 4, 16, 64, 256, 1024, 1472, 4096, 16_384, 65_507];

/// Socket buffers [B] as SO_SNDBUF and SO_RCVBUF ask for them: powers of four, and more than Linux grants
/// everyone by default.
const BUFFERS: [usize; 6] = [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20];

/// Streams side by side [count].
const STREAMS: [usize; 4] = [1, 2, 4, 8];

/// Socket buffers where they are not varied [B]: what Linux grants everyone at most by default here
/// and on most servers.
const USUAL_BUFFERS: Buffers = Buffers { receive: 4 << 20, send: 4 << 20 };

/// Message of TCP where it is not varied [B]: beyond it throughput hardly grows.
const TCP_MESSAGE: usize = 65_536;

/// Payload that fills a packet of 1500 B [B].
const UDP_MESSAGE: usize = 1472;

/// Datagrams in one call with segmentation [count]: as many as one IP packet carries.
const SEGMENTS: usize = 44;

/// Memory that fits a second-level cache [B], as in figure 2.8 of the 2009 thesis.
const SMALL_SOURCE: usize = 1 << 20;

/// Part of the machine's memory that one sender's source may take: there are two test beds, and a
/// quarter is theirs.
const PART_OF_MEMORY: u64 = 8;

/// Time that a receiving call polls [us]: the kernel documentation's own suggestion for `busy_read`.
const BUSY_POLL_US: u32 = 50;

impl Case {
    /// An ordinary flow.
    fn usual(vary: &'static str, transport: Transport, way: Way) -> Self {
        let message_bytes = match transport {
            Transport::Tcp => TCP_MESSAGE,
            Transport::Udp => UDP_MESSAGE,
        };
        Self {
            vary,
            kind: Kind::Throughput,
            way,
            setup: FlowSetup::plain(transport, USUAL_BUFFERS),
            direction: Direction::Forward,
            offload: Offload::Off,
            message_bytes,
            path: CopyPath::Send,
            source_bytes: message_bytes,
        }
    }

    fn of_message(self, message_bytes: usize) -> Self {
        Self { message_bytes, source_bytes: message_bytes, ..self }
    }

    fn of_setup(self, change: impl FnOnce(&mut FlowSetup)) -> Self {
        let mut setup = self.setup;
        change(&mut setup);
        Self { setup, ..self }
    }

    /// All conditions.
    pub(super) fn labels(&self) -> Labels {
        let setup = &self.setup;
        let text = |number: usize| number.to_string();
        labels([
            ("vary", self.vary),
            ("transport", setup.transport.name()),
            ("way", self.way.name()),
            ("direction", self.direction.name()),
            ("message_bytes", &text(self.message_bytes)),
            ("buffer_bytes", &text(setup.buffers.receive)),
            ("streams", &text(setup.streams)),
            ("path", self.path.name()),
            ("source_bytes", &text(self.source_bytes)),
            ("offload", self.offload.name()),
            ("busy_poll_us", &setup.busy_poll_us.to_string()),
        ])
    }

    /// So many of its messages.
    pub(super) fn order(&self, messages: u64) -> FlowOrder {
        let Self { message_bytes, path, source_bytes, .. } = *self;
        FlowOrder { message_bytes, messages, path, source_bytes }
    }

    /// Packets of the path that carry one datagram; a TCP segment is one.
    pub(super) fn fragments(&self, mtu: ByteCount) -> f64 {
        match self.setup.transport {
            Transport::Tcp => 1.0,
            Transport::Udp => {
                let datagram = self.setup.segment_bytes.map_or(self.message_bytes, usize::from);
                Transport::Udp.packets(ByteCount(datagram as u64), mtu)
            }
        }
    }

    /// Whether what is sent may be lost.
    pub(super) fn counts_losses(&self) -> bool {
        self.setup.transport == Transport::Udp
    }

    /// What the devices of the way take off the stack; none where there is no device to be set.
    pub(super) fn device_offloads(&self) -> Option<Offloads> {
        let on = self.offload != Offload::Off;
        (self.way == Way::Veth).then_some(Offloads {
            tcp_segmentation: on,
            generic_segmentation: on,
            generic_receive: self.offload == Offload::SegmentationAndReceive,
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (transport, way) = (self.setup.transport.name(), self.way.name());
        write!(formatter, "{} B by {transport} over {way}", self.message_bytes)
    }
}

/// Every case over these ways on a machine with so much memory.
pub(super) fn all(ways: &[Way], memory_bytes: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for &way in ways {
        for transport in [Transport::Udp, Transport::Tcp] {
            of_both(&mut cases, transport, way);
        }
        of_tcp(&mut cases, way, memory_bytes);
        of_udp(&mut cases, way);
    }
    cases
}

fn of_both(cases: &mut Vec<Case>, transport: Transport, way: Way) {
    let usual = |vary| Case::usual(vary, transport, way);
    let sizes: &[usize] = if transport == Transport::Tcp { &TCP_SIZES } else { &UDP_SIZES };
    cases.extend(sizes.iter().map(|bytes| usual("message_bytes").of_message(*bytes)));
    let buffers = |bytes| Buffers { receive: bytes, send: bytes };
    cases.extend(
        BUFFERS.map(|bytes| usual("buffer_bytes").of_setup(|setup| setup.buffers = buffers(bytes))),
    );
    cases.extend(STREAMS.map(|streams| usual("streams").of_setup(|setup| setup.streams = streams)));
    let directions = [Direction::Forward, Direction::Reverse];
    cases.extend(directions.map(|direction| Case { direction, ..usual("direction") }));
    // TCP would join single bytes, and delay them.
    let at_once = |vary| usual(vary).of_message(1).of_setup(|setup| setup.no_delay = true);
    cases.push(Case { kind: Kind::ProcessingPower, ..at_once("payload") });
    let latency = |busy_poll_us| {
        let case = at_once("busy_poll_us").of_setup(|setup| setup.busy_poll_us = busy_poll_us);
        Case { kind: Kind::Latency, ..case }
    };
    cases.extend([0, BUSY_POLL_US].map(latency));
}

fn of_tcp(cases: &mut Vec<Case>, way: Way, memory_bytes: u64) {
    let usual = |vary| Case::usual(vary, Transport::Tcp, way);
    let from_cache = |vary| Case { source_bytes: SMALL_SOURCE, ..usual(vary) };
    cases.extend(CopyPath::ALL.map(|path| Case { path, ..from_cache("path") }));
    let part = usize::try_from(memory_bytes / PART_OF_MEMORY).unwrap_or(MAX_SOURCE_BYTES);
    for source_bytes in [SMALL_SOURCE, part.clamp(SMALL_SOURCE, MAX_SOURCE_BYTES)] {
        for streams in [1, 8] {
            let case = usual("source_bytes").of_setup(|setup| setup.streams = streams);
            cases.push(Case { source_bytes, ..case });
        }
    }
    if way == Way::Veth {
        cases.extend(Offload::ALL.map(|offload| Case { offload, ..usual("offload") }));
    }
}

fn of_udp(cases: &mut Vec<Case>, way: Way) {
    let usual = Case::usual("offload", Transport::Udp, way);
    cases.push(usual);
    for offload in [Offload::Segmentation, Offload::SegmentationAndReceive] {
        let case = usual.of_message(SEGMENTS * UDP_MESSAGE).of_setup(|setup| {
            setup.segment_bytes = u16::try_from(UDP_MESSAGE).ok();
            setup.receive_offload = offload == Offload::SegmentationAndReceive;
        });
        cases.push(Case { offload, ..case });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Way; 2] = [Way::Loopback, Way::Veth];

    #[test]
    fn no_two_cases_fill_the_same_series() {
        let cases = all(&BOTH, 32 << 30);
        let mut series: Vec<_> =
            cases.iter().map(|case| (case.labels(), case.kind == Kind::Latency)).collect();
        series.sort();
        series.dedup();
        assert_eq!(series.len(), cases.len());
    }

    #[test]
    fn a_long_datagram_is_cut_into_packets_of_the_path() {
        let udp = Case::usual("message_bytes", Transport::Udp, Way::Veth);
        for (bytes, packets) in [(1, 1.0), (1472, 1.0), (1473, 2.0), (65_507, 45.0)] {
            let found = udp.of_message(bytes).fragments(ByteCount(1500));
            assert!((found - packets).abs() < 1e-12, "{bytes} B: {found}");
        }
    }

    #[test]
    fn every_case_can_be_ordered() {
        for case in all(&BOTH, 32 << 30) {
            let refused = case.order(1).objection(&case.setup).or_else(|| case.setup.objection());
            assert_eq!(refused, None, "{case}");
        }
    }

    #[test]
    fn a_small_machine_sends_from_less_memory() {
        let largest = |memory_bytes| {
            all(&[Way::Loopback], memory_bytes).iter().map(|case| case.source_bytes).max()
        };
        assert_eq!(largest(64 << 30), Some(2 << 30));
        assert_eq!(largest(1 << 30), Some(128 << 20));
        assert_eq!(largest(0), Some(4 << 20));
    }
}
