//! What a library read, in words that all share.

use std::fmt;

use bitpath_proto::rtcp::{ReportBlock, SenderInfo};

/// A data packet.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    pub marker: bool,
    pub payload_type: u8,
    pub sequence: u16,
    /// Sampling instant [ticks].
    pub timestamp: u32,
    pub ssrc: u32,
    pub payload: &'a [u8],
}

/// The same without the payload, of which the sum of its bytes is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub marker: bool,
    pub payload_type: u8,
    pub sequence: u16,
    /// Sampling instant [ticks].
    pub timestamp: u32,
    pub ssrc: u32,
    pub payload_sum: u64,
}

impl From<Fields<'_>> for Seen {
    fn from(fields: Fields<'_>) -> Self {
        let Fields { marker, payload_type, sequence, timestamp, ssrc, payload } = fields;
        let payload_sum = payload.iter().map(|byte| u64::from(*byte)).sum();
        Self { marker, payload_type, sequence, timestamp, ssrc, payload_sum }
    }
}

/// A compound of a sender report of one block, a description of one item and a goodbye of one source.
#[derive(Clone, Copy, Default)]
pub struct CompoundFields<'a> {
    pub ssrc: u32,
    pub info: SenderInfo,
    pub block: ReportBlock,
    pub described: u32,
    pub cname: &'a [u8],
    pub leaving: u32,
    pub reason: &'a [u8],
}

impl fmt::Display for CompoundFields<'_> {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ssrc, info, block, described, cname, leaving, reason } = self;
        let (cname, reason) = (String::from_utf8_lossy(cname), String::from_utf8_lossy(reason));
        write!(text, "ssrc: {ssrc}, {info:?}, {block:?}, described: {described}, ")?;
        write!(text, "cname: '{cname}', reason: '{reason}', leaving: {leaving}")
    }
}
