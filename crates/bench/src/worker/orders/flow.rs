//! Flows: streams side by side between two workers, what is sent over them, and what that cost.

use std::fmt;

use bitpath_sim::profile::Transport;
use serde::{Deserialize, Serialize};

use super::Buffers;

/// Most streams of a flow [count]: a thread each on one processor.
pub const MAX_STREAMS: usize = 8;

/// Largest message of a stream [B].
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Largest payload of one datagram over IPv4 [B] (RFC 768 within RFC 791).
pub const MAX_DATAGRAM_BYTES: usize = 65_507;

/// Most memory that a sender cycles through [B]: beyond any cache, within a small machine.
pub const MAX_SOURCE_BYTES: usize = 2 << 30;

/// Most round trips of one order [count]: their times fit a message many times over.
pub const MAX_PINGS: u64 = 100_000;

/// How the streams of a flow are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSetup {
    /// What they are.
    pub transport: Transport,
    /// Streams side by side, a thread each [count].
    pub streams: usize,
    /// Buffers of each socket.
    pub buffers: Buffers,
    /// Whether TCP sends small messages at once (`TCP_NODELAY`).
    pub no_delay: bool,
    /// Size of the datagrams that the kernel cuts a message into (UDP GSO) [B]; none sends each
    /// message as one datagram.
    pub segment_bytes: Option<u16>,
    /// Whether UDP's receiver takes several datagrams together (UDP GRO).
    pub receive_offload: bool,
    /// How long a receiving call polls before it sleeps; 0 is not at all [us].
    pub busy_poll_us: u32,
}

impl FlowSetup {
    /// One stream with these buffers and nothing else asked for.
    #[must_use]
    pub fn plain(transport: Transport, buffers: Buffers) -> Self {
        Self {
            transport,
            streams: 1,
            buffers,
            no_delay: false,
            segment_bytes: None,
            receive_offload: false,
            busy_poll_us: 0,
        }
    }

    /// Why no such flow can be; `None` for one that can.
    pub(crate) fn objection(&self) -> Option<String> {
        let streams = self.streams;
        (!(1..=MAX_STREAMS).contains(&streams))
            .then(|| format!("a flow has 1 to {MAX_STREAMS} streams, not {streams}"))
    }
}

/// The way of bytes from the sender's memory into a TCP stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyPath {
    /// Copied from memory by `send`.
    Send,
    /// From a file by `sendfile`.
    Sendfile,
    /// From a file through a pipe by `splice`.
    Splice,
    /// From memory without a copy (`MSG_ZEROCOPY`).
    ZeroCopy,
}

impl CopyPath {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Send, Self::Sendfile, Self::Splice, Self::ZeroCopy];

    /// The name as in labels.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Sendfile => "sendfile",
            Self::Splice => "splice",
            Self::ZeroCopy => "zerocopy",
        }
    }

    /// Whether the bytes come from a file.
    pub(crate) fn reads_file(self) -> bool {
        matches!(self, Self::Sendfile | Self::Splice)
    }
}

impl fmt::Display for CopyPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One transfer over a flow that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowOrder {
    /// Size of each message, which is one call of the sender [B].
    pub message_bytes: usize,
    /// Messages of all streams together [count].
    pub messages: u64,
    /// Way of the bytes into the streams; datagrams are always sent by `send`.
    pub path: CopyPath,
    /// Memory that the sender cycles through; less than a message is that of one message [B].
    pub source_bytes: usize,
}

impl FlowOrder {
    /// Messages of the same bytes again and again, by `send`.
    #[must_use]
    pub fn plain(message_bytes: usize, messages: u64) -> Self {
        Self { message_bytes, messages, path: CopyPath::Send, source_bytes: message_bytes }
    }

    /// Messages of one stream out of several: as even as can be.
    pub(crate) fn share(&self, stream: usize, streams: usize) -> u64 {
        let (streams, stream) = (streams.max(1) as u64, stream as u64);
        self.messages / streams + u64::from(stream < self.messages % streams)
    }

    /// Memory that the sender cycles through [B].
    pub(crate) fn cycle_bytes(&self) -> usize {
        self.source_bytes.max(self.message_bytes)
    }

    /// Why this cannot be sent over such a flow; `None` where it can.
    pub(crate) fn objection(&self, setup: &FlowSetup) -> Option<String> {
        let Self { message_bytes, source_bytes, path, .. } = *self;
        let largest = match setup.transport {
            Transport::Tcp => MAX_MESSAGE_BYTES,
            Transport::Udp => MAX_DATAGRAM_BYTES,
        };
        if !(1..=largest).contains(&message_bytes) {
            return Some(format!(
                "a message over {} has 1 to {largest} B, not {message_bytes}",
                setup.transport.name()
            ));
        }
        if source_bytes > MAX_SOURCE_BYTES {
            return Some(format!("a source has at most {MAX_SOURCE_BYTES} B, not {source_bytes}"));
        }
        (setup.transport == Transport::Udp && path != CopyPath::Send)
            .then(|| format!("datagrams are sent by send, not by {path}"))
    }
}

/// What a transfer cost one side, all its streams together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowUse {
    /// Messages sent, or reads that brought something [count].
    pub messages: u64,
    /// Bytes moved [B].
    pub bytes: u64,
    /// Packets: datagrams, or the sender's TCP segments with payload; TCP's receiver knows none.
    pub packets: u64,
    /// System calls that moved something [count].
    pub calls: u64,
    /// From the first call to the last; the receiver's begins when the first call returns [ns].
    pub elapsed_ns: u64,
    /// Processor time by the threads' own clocks [ns].
    pub cpu_ns: u64,
    /// The part of it in user mode, which the kernel may only sample by its tick [ns].
    pub user_ns: u64,
    /// The part of it in the kernel, which the kernel may only sample by its tick [ns].
    pub system_ns: u64,
    /// Times that a thread waited [count].
    pub voluntary_switches: u64,
    /// Times that a thread was put aside for another [count].
    pub involuntary_switches: u64,
    /// Interrupts of this side's processor meanwhile [count].
    pub interrupts: u64,
    /// Runs of deferred interrupt work on this side's processor meanwhile [count].
    pub softirqs: u64,
    /// Cycles of the core; 0 where the machine does not count them.
    pub cycles: u64,
    /// Instructions that were completed; 0 likewise.
    pub instructions: u64,
    /// Loads and stores that the last-level cache did not answer; 0 likewise [count].
    pub cache_misses: u64,
    /// Calls that were to send without a copy [count].
    pub completions: u64,
    /// Those of them whose bytes the kernel copied after all [count].
    pub copied_completions: u64,
    /// Datagrams that the kernel dropped at the receiver's sockets, those that were to tell the end
    /// among them [count].
    pub drops: u64,
}

/// Requests and responses, one at a time, over the first stream of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingOrder {
    /// Size of each request and of each response [B].
    pub message_bytes: usize,
    /// How many [count].
    pub count: u64,
}

impl PingOrder {
    /// Why this cannot be asked of such a flow; `None` where it can.
    pub(crate) fn objection(&self, setup: &FlowSetup) -> Option<String> {
        if self.count > MAX_PINGS {
            return Some(format!("at most {MAX_PINGS} round trips at once, not {}", self.count));
        }
        FlowOrder::plain(self.message_bytes, self.count).objection(setup)
    }
}

/// The round trips as the asking side saw them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pings {
    /// Time from each request to its response [ns].
    pub round_trip_ns: Vec<u64>,
    /// Requests without a response in time [count].
    pub lost: u64,
    /// Processor time of all of it [ns].
    pub cpu_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFERS: Buffers = Buffers { receive: 1 << 20, send: 1 << 20 };

    #[test]
    fn shares_of_the_streams_add_up() {
        for (messages, streams) in [(10, 1), (10, 3), (2, 8), (0, 4), (1_000_003, 8)] {
            let order = FlowOrder::plain(1, messages);
            let shares: Vec<u64> = (0..streams).map(|i| order.share(i, streams)).collect();
            assert_eq!(shares.iter().sum::<u64>(), messages);
            assert!(shares[0] - shares[streams - 1] <= 1, "{shares:?}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_said_with_its_bound() {
        let tcp = FlowSetup::plain(Transport::Tcp, BUFFERS);
        let udp = FlowSetup::plain(Transport::Udp, BUFFERS);
        let plain = FlowOrder::plain(1000, 1);
        for none in [plain.objection(&tcp), plain.objection(&udp), tcp.objection()] {
            assert_eq!(none, None);
        }
        let refused = [
            (FlowOrder::plain(0, 1).objection(&tcp), "a message over tcp has 1 to 4194304 B"),
            (FlowOrder::plain(65_508, 1).objection(&udp), "a message over udp has 1 to 65507 B"),
            (FlowOrder { source_bytes: usize::MAX, ..plain }.objection(&tcp), "a source has at"),
            (
                FlowOrder { path: CopyPath::Splice, ..plain }.objection(&udp),
                "by send, not by splice",
            ),
            (FlowSetup { streams: 9, ..tcp }.objection(), "1 to 8 streams, not 9"),
            (FlowSetup { streams: 0, ..tcp }.objection(), "1 to 8 streams, not 0"),
            (PingOrder { message_bytes: 1, count: 1 << 40 }.objection(&tcp), "at most 100000"),
        ];
        for (objection, part) in refused {
            assert!(objection.as_deref().is_some_and(|text| text.contains(part)), "{objection:?}");
        }
    }
}
