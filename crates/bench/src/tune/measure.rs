//! What is measured at each value, and which way is better.

use std::str::FromStr;

use bitpath_measure::Unit;

use bitpath_sim::profile::Transport;

use super::knob::{Setup, Turn};
use crate::worker::{Buffers, CopyPath, FlowSetup, MAX_DATAGRAM_BYTES};

/// A part of the probe, measured again at every value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// TCP as fast as it goes.
    Tcp,
    /// UDP as fast as it can be sent, whatever is lost.
    Udp,
    /// Requests and responses by UDP, one at a time.
    Latency,
    /// Copies of blocks in memory.
    MemoryCopy,
}

/// One quantity of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name of its series.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Whether more or less of it is better; none where it only explains the others.
    pub better: Option<Better>,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More.
    Higher,
    /// Less.
    Lower,
}

/// Processor time of both sides for a byte that arrived.
const COST: Quantity =
    Quantity { name: "tune.cost", unit: Unit::NanosecondsPerByte, better: Some(Better::Lower) };

/// Bytes that the receiver's program was given, over the time that this took.
const THROUGHPUT: Quantity =
    Quantity { name: "tune.throughput", unit: Unit::BitsPerSecond, better: Some(Better::Higher) };

/// Time from a request to its response.
const LATENCY: Quantity =
    Quantity { name: "tune.latency", unit: Unit::Nanoseconds, better: Some(Better::Lower) };

/// Bytes copied, over the time that this took.
const BANDWIDTH: Quantity =
    Quantity { name: "tune.bandwidth", unit: Unit::BytesPerSecond, better: Some(Better::Higher) };

/// Bytes between two waits of either side: each wait is a switch to another process.
const BETWEEN_WAITS: Quantity =
    Quantity { name: "tune.bytes_between_waits", unit: Unit::Bytes, better: None };

/// Bytes sent that did not arrive.
const LOSS: Quantity = Quantity { name: "tune.loss", unit: Unit::Ratio, better: None };

/// Why a text is no measure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{written}` is nothing that can be measured here; there are {known}", known = names())]
pub struct MeasureError {
    /// What was written.
    pub written: String,
}

impl FromStr for Measure {
    type Err = MeasureError;

    fn from_str(written: &str) -> Result<Self, MeasureError> {
        let known = Self::ALL.into_iter().find(|measure| measure.name() == written);
        known.ok_or_else(|| MeasureError { written: written.into() })
    }
}

fn names() -> String {
    Measure::ALL.map(Measure::name).join(", ")
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tcp, Self::Udp, Self::Latency, Self::MemoryCopy];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "probe.stack.tcp",
            Self::Udp => "probe.stack.udp",
            Self::Latency => "probe.stack.latency",
            Self::MemoryCopy => "probe.memory.copy",
        }
    }

    /// What one sample brings, in order. Cost comes first: it moves less with the machine.
    #[must_use]
    pub fn quantities(self) -> &'static [Quantity] {
        match self {
            Self::Tcp => &[COST, THROUGHPUT, BETWEEN_WAITS],
            Self::Udp => &[COST, THROUGHPUT, BETWEEN_WAITS, LOSS],
            Self::Latency => &[LATENCY],
            Self::MemoryCopy => &[BANDWIDTH],
        }
    }

    /// What a knob must not do to it, in words; `None` where it may be turned.
    #[must_use]
    pub fn refuses(self, turn: Turn) -> Option<String> {
        let name = self.name();
        let idle = || Some(format!("it does nothing to {name}"));
        match (self, turn) {
            (Self::Udp | Self::Latency, Turn::Message(bytes)) if bytes > MAX_DATAGRAM_BYTES => {
                Some(format!(
                    "{bytes} B: a datagram of {name} holds at most {MAX_DATAGRAM_BYTES} B"
                ))
            }
            (Self::MemoryCopy, Turn::Message(_) | Turn::Cpus(..)) => None,
            (Self::MemoryCopy, _)
            | (Self::Latency, Turn::Streams(_))
            | (Self::Udp | Self::Latency, Turn::Path(_)) => idle(),
            _ => None,
        }
    }

    /// The conditions where no knob is turned.
    pub(super) fn usual(self) -> Setup {
        let (transport, message_bytes) = match self {
            Self::Tcp | Self::MemoryCopy => (Transport::Tcp, USUAL_STREAM_MESSAGE),
            Self::Udp | Self::Latency => (Transport::Udp, USUAL_DATAGRAM),
        };
        let flow = FlowSetup::plain(transport, USUAL_BUFFERS);
        Setup { flow, message_bytes, path: CopyPath::Send, cpus: None, link: Vec::new() }
    }
}

/// Size of a write to a stream, and of a copied block, where no other is asked for [B]: what
/// programs that move files use.
const USUAL_STREAM_MESSAGE: usize = 65_536;

/// Size of a datagram where no other is asked for [B]: a full Ethernet packet.
const USUAL_DATAGRAM: usize = 1472;

/// Socket buffers where no others are asked for: never in the way.
const USUAL_BUFFERS: Buffers = Buffers { receive: 4 << 20, send: 4 << 20 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_refused_with_what_there_is() {
        for measure in Measure::ALL {
            assert_eq!(measure.name().parse(), Ok(measure));
            assert!(measure.quantities().iter().any(|quantity| quantity.better.is_some()));
        }
        let error = "probe.colour".parse::<Measure>().unwrap_err().to_string();
        assert!(error.contains("`probe.colour`") && error.contains("probe.stack.tcp"), "{error}");
    }

    #[test]
    fn a_knob_that_cannot_matter_is_refused() {
        assert!(Measure::MemoryCopy.refuses(Turn::ReceiveBuffer(65_536)).is_some());
        assert!(Measure::Udp.refuses(Turn::Message(65_508)).is_some());
        assert!(Measure::Udp.refuses(Turn::Path(CopyPath::Sendfile)).is_some());
        assert!(Measure::Latency.refuses(Turn::Streams(2)).is_some());
        assert_eq!(Measure::Tcp.refuses(Turn::Message(1 << 20)), None);
    }
}
