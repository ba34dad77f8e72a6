//! What travels: frames of one datagram, one segment, or an acknowledgement.

use super::ranges::Range;
use crate::job::Message;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A datagram, whole or as fragments.
    Datagram(Message),
    /// One segment of a stream.
    Segment(u64),
    /// All before this segment arrived, and there is room until the other.
    Acknowledgement {
        /// Next segment expected.
        expected: u64,
        /// First segment that there is no room for.
        room_until: u64,
        /// What arrived beyond `expected` last; nothing where both ends are the same.
        beyond: Range,
    },
}

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Its flow.
    pub(super) flow: usize,
    /// Frames that it takes [frames].
    pub(super) frames: u32,
    /// Payload [B].
    pub(super) bytes: u64,
    pub(super) kind: Kind,
}
