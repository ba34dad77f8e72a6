//! A knob and the values that it is set to: `message_bytes=64,1448,64KiB`, `gro=on,off`.
//!
//! ```text
//! transfer    message_bytes, streams, copy_path: send, sendfile, splice, zerocopy
//! socket      receive_buffer_bytes (SO_RCVBUF), send_buffer_bytes (SO_SNDBUF), busy_poll_us
//! device      gso, gro, tso: on or off; rx_ring, tx_ring, rx_frames [packets], rx_usecs [us]
//! processors  affinity: SENDER:RECEIVER
//! ```

use std::fmt;
use std::str::FromStr;

use bitpath_measure::ByteCount;
use bitpath_platform::link::Setting;

use crate::worker::{CopyPath, FlowSetup, MAX_MESSAGE_BYTES, MAX_STREAMS};

/// A knob and its values; the first is what the others are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// Its values, at least two.
    pub values: Vec<Value>,
}

/// A value of a knob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// As it was typed.
    pub text: String,
    /// What it changes.
    pub turn: Turn,
}

/// A knob at one value, while another one is turned: `message_bytes=1448`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
}

/// One change of the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Size of a message [B].
    Message(usize),
    /// `SO_RCVBUF` [B].
    ReceiveBuffer(usize),
    /// `SO_SNDBUF` [B].
    SendBuffer(usize),
    /// Streams side by side [count].
    Streams(usize),
    /// The way of the bytes into a stream.
    Path(CopyPath),
    /// How long a receiving call polls before it sleeps [us].
    BusyPoll(u32),
    /// Processors of sender and receiver.
    Cpus(usize, usize),
    /// A setting of the path's interfaces.
    Link(Setting, u32),
}

/// The conditions of one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) flow: FlowSetup,
    pub(super) message_bytes: usize,
    pub(super) path: CopyPath,
    /// Processors of sender and receiver, where they are not the usual ones.
    pub(super) cpus: Option<(usize, usize)>,
    pub(super) link: Vec<(Setting, u32)>,
}

impl Setup {
    /// The same with one thing changed.
    pub(super) fn turned(&self, turn: Turn) -> Self {
        let mut setup = self.clone();
        match turn {
            Turn::Message(bytes) => setup.message_bytes = bytes,
            Turn::ReceiveBuffer(bytes) => setup.flow.buffers.receive = bytes,
            Turn::SendBuffer(bytes) => setup.flow.buffers.send = bytes,
            Turn::Streams(streams) => setup.flow.streams = streams,
            Turn::Path(path) => setup.path = path,
            Turn::BusyPoll(micros) => setup.flow.busy_poll_us = micros,
            Turn::Cpus(sender, receiver) => setup.cpus = Some((sender, receiver)),
            Turn::Link(setting, value) => setup.link.push((setting, value)),
        }
        setup
    }
}

/// Why a text turns no knob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{written}`: {reason}")]
pub struct KnobError {
    /// What was written.
    pub written: String,
    /// What is wrong with it.
    pub reason: String,
}

impl FromStr for Knob {
    type Err = KnobError;

    fn from_str(written: &str) -> Result<Self, KnobError> {
        let wrong = |reason| KnobError { written: written.into(), reason };
        let (name, kind, values) = split(written).map_err(wrong)?;
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        if !(2..=MOST_VALUES).contains(&values.len()) {
            let reason = format!("it takes 2 to {MOST_VALUES} values, separated by commas");
            return Err(wrong(reason));
        }
        let values = values.into_iter().map(|text| kind.read(name, text));
        Ok(Self { name, values: values.collect::<Result<_, String>>().map_err(wrong)? })
    }
}

impl FromStr for Fixed {
    type Err = KnobError;

    fn from_str(written: &str) -> Result<Self, KnobError> {
        let wrong = |reason| KnobError { written: written.into(), reason };
        let (name, kind, value) = split(written).map_err(wrong)?;
        Ok(Self { name, value: kind.read(name, value.trim()).map_err(wrong)? })
    }
}

fn split(written: &str) -> Result<(&'static str, Kind, &str), String> {
    let (name, values) = written.split_once('=').unwrap_or((written, ""));
    let asked = plain(name);
    let known = KNOBS.iter().find(|knob| plain(knob.0) == asked || plain(knob.1) == asked);
    let (name, _, kind) = known.ok_or_else(|| {
        let names: Vec<String> =
            KNOBS.iter().map(|knob| format!("{} ({})", knob.0, knob.1)).collect();
        format!("no knob has this name; there are {}", names.join(", "))
    })?;
    Ok((name, *kind, values))
}

/// A name as it is compared: `so-rcvbuf` and `SO_RCVBUF` are one.
fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

/// What a knob's values are.
#[derive(Clone, Copy)]
enum Kind {
    /// A size between two bounds [B].
    Bytes(usize, usize, fn(usize) -> Turn),
    /// A number up to a bound.
    Count(usize, usize, fn(usize) -> Turn),
    /// A way of the bytes.
    Path,
    /// Two processors.
    Cpus,
    /// On or off.
    Switch(Setting),
    /// The same for a setting of an interface.
    Number(Setting, u32),
}

impl Kind {
    fn read(self, name: &str, text: &str) -> Result<Value, String> {
        let turn = match self {
            Self::Bytes(least, most, turn) => bytes(text, least, most).map(turn),
            Self::Count(least, most, turn) => match text.parse() {
                Ok(number) if (least..=most).contains(&number) => Ok(turn(number)),
                _ => Err(format!("it is a number from {least} to {most}")),
            },
            Self::Path => {
                let path = CopyPath::ALL.into_iter().find(|path| path.name() == text);
                path.map(Turn::Path).ok_or_else(|| {
                    format!("it is {}", CopyPath::ALL.map(CopyPath::name).join(", "))
                })
            }
            Self::Cpus => cpus(text),
            Self::Switch(setting) => match text {
                "on" => Ok(Turn::Link(setting, 1)),
                "off" => Ok(Turn::Link(setting, 0)),
                _ => Err("it is on or off".into()),
            },
            Self::Number(setting, most) => match text.parse() {
                Ok(number) if number <= most => Ok(Turn::Link(setting, number)),
                _ => Err(format!("it is a number from 0 to {most}")),
            },
        };
        let turn = turn.map_err(|reason| format!("`{text}` is no value of {name}: {reason}"))?;
        Ok(Value { text: text.into(), turn })
    }
}

fn bytes(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let plain = text.parse::<u64>().ok();
    let number = plain.or_else(|| text.parse::<ByteCount>().ok().map(|bytes| bytes.0));
    let number = number.and_then(|bytes| usize::try_from(bytes).ok());
    number.filter(|bytes| (least..=most).contains(bytes)).ok_or_else(|| {
        let most = ByteCount(most as u64);
        format!("it is a size from {least} B to {most}, such as 1448 or 64KiB")
    })
}

fn cpus(text: &str) -> Result<Turn, String> {
    let read = |text: &str| text.trim().parse::<usize>().ok().filter(|cpu| *cpu < MOST_CPUS);
    let both = text.split_once(':').and_then(|(a, b)| read(a).zip(read(b)));
    let both = both.ok_or("it is the sender's and the receiver's processor, such as 0:1")?;
    Ok(Turn::Cpus(both.0, both.1))
}

fn busy_poll(micros: usize) -> Turn {
    Turn::BusyPoll(u32::try_from(micros).unwrap_or(u32::MAX))
}

impl fmt::Display for Knob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<&str> = self.values.iter().map(|value| value.text.as_str()).collect();
        write!(formatter, "{}={}", self.name, values.join(","))
    }
}

/// Most values of a knob: each lengthens every block, and the chance of a false alarm is shared.
const MOST_VALUES: usize = 8;

/// Longest busy polling [us]: longer than any sleep is worth.
const LONGEST_POLL: usize = 10_000;

/// Smallest socket buffer [B]: the kernel gives no less.
const SMALLEST_BUFFER: usize = 2304;

/// Largest socket buffer [B]: the kernel books twice as much, in a signed number of 32 bits.
const LARGEST_BUFFER: usize = 1 << 29;

/// Processors that a mask of the scheduler's holds.
const MOST_CPUS: usize = 1024;

/// Longest ring [packets]: beyond any driver's.
const LONGEST_RING: u32 = 65_536;

/// Longest delay of an interrupt [us] and most packets of one: beyond any driver's.
const MOST_MODERATION: u32 = 65_535;

/// Every knob: its name, another name that people know, and its values.
const KNOBS: [(&str, &str, Kind); 14] = [
    ("message_bytes", "message", Kind::Bytes(1, MAX_MESSAGE_BYTES, Turn::Message)),
    ("streams", "parallel", Kind::Count(1, MAX_STREAMS, Turn::Streams)),
    ("copy_path", "path", Kind::Path),
    (
        "receive_buffer_bytes",
        "SO_RCVBUF",
        Kind::Bytes(SMALLEST_BUFFER, LARGEST_BUFFER, Turn::ReceiveBuffer),
    ),
    (
        "send_buffer_bytes",
        "SO_SNDBUF",
        Kind::Bytes(SMALLEST_BUFFER, LARGEST_BUFFER, Turn::SendBuffer),
    ),
    ("busy_poll_us", "SO_BUSY_POLL", Kind::Count(0, LONGEST_POLL, busy_poll)),
    ("affinity", "cpus", Kind::Cpus),
    ("gso", "generic-segmentation-offload", Kind::Switch(Setting::GenericSegmentation)),
    ("gro", "generic-receive-offload", Kind::Switch(Setting::GenericReceive)),
    ("tso", "tcp-segmentation-offload", Kind::Switch(Setting::TcpSegmentation)),
    ("rx_ring", "rx", Kind::Number(Setting::ReceiveRing, LONGEST_RING)),
    ("tx_ring", "tx", Kind::Number(Setting::TransmitRing, LONGEST_RING)),
    ("rx_usecs", "rx-usecs", Kind::Number(Setting::ReceiveMicroseconds, MOST_MODERATION)),
    ("rx_frames", "rx-frames", Kind::Number(Setting::ReceiveFrames, MOST_MODERATION)),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(text: &str) -> Vec<Turn> {
        text.parse::<Knob>().unwrap().values.into_iter().map(|value| value.turn).collect()
    }

    #[test]
    fn values_are_read_as_their_knob_has_them() {
        assert_eq!(
            turns("message_bytes=64, 64 KiB,1MiB"),
            [64, 65_536, 1 << 20].map(Turn::Message)
        );
        assert_eq!(turns("SO_RCVBUF=16KiB,16KiB"), [Turn::ReceiveBuffer(16_384); 2]);
        assert_eq!(turns("so-rcvbuf=16KiB,16KiB"), [Turn::ReceiveBuffer(16_384); 2]);
        let gro = |value| Turn::Link(Setting::GenericReceive, value);
        assert_eq!(turns("gro=on,off"), [gro(1), gro(0)]);
        assert_eq!(turns("affinity=0:1,0:0"), [Turn::Cpus(0, 1), Turn::Cpus(0, 0)]);
        assert_eq!(turns("streams=1,8"), [1, 8].map(Turn::Streams));
        assert_eq!(turns("busy_poll_us=0,50"), [0, 50].map(Turn::BusyPoll));
        assert_eq!(turns("copy_path=send,zerocopy")[1], Turn::Path(CopyPath::ZeroCopy));
        let knob: Knob = "SO_SNDBUF=1 MiB,8192".parse().unwrap();
        assert_eq!(knob.to_string(), "send_buffer_bytes=1 MiB,8192");
    }

    #[test]
    fn mistakes_are_named_with_what_would_do() {
        for (written, word) in [
            ("message_bytes", "it takes 2 to 8 values"),
            (
                "colour=red,blue",
                "there are message_bytes (message), streams (parallel), copy_path (path), receive_buffer_bytes (SO_RCVBUF)",
            ),
            ("message_bytes=64", "2 to 8 values"),
            ("message_bytes=1,2,3,4,5,6,7,8,9", "2 to 8 values"),
            (
                "message_bytes=0,64",
                "`0` is no value of message_bytes: it is a size from 1 B to 4 MiB",
            ),
            ("message_bytes=64,1 TiB", "from 1 B to 4 MiB"),
            ("message_bytes=64,", "`` is no value"),
            ("SO_RCVBUF=100,64KiB", "from 2304 B to 512 MiB"),
            ("streams=1,9", "a number from 1 to 8"),
            ("copy_path=send,carry", "it is send, sendfile, splice, zerocopy"),
            ("gro=on,1", "on or off"),
            ("affinity=0,1", "such as 0:1"),
            ("affinity=0:1,0:5000", "such as 0:1"),
            ("rx_ring=-1,64", "a number from 0 to 65536"),
        ] {
            let error = written.parse::<Knob>().unwrap_err().to_string();
            assert!(error.contains(word) && error.contains(written), "{error}");
        }
    }
}
