//! The values that each kind of scenario key may take, refused where they are read so that the
//! error carries the place in the file.

use std::fmt::Display;

use bitpath_measure::{BitRate, ByteCount, Picos};
use serde::de::{Deserialize, Deserializer, Error};

use crate::pipeline::{MAX_STAGES, Stage, WhenFull};

/// Most packets in one run: at 100 million a second these take three hours.
const MAX_PACKETS: u64 = 1_000_000_000_000;

/// Most slots in one ring or buffer: 16 Mi packets are 24 GB of full frames.
const MAX_SLOTS: usize = 1 << 24;

/// Largest buffer: more than any socket may have.
const MAX_BUFFER: ByteCount = ByteCount(1 << 32);

/// Largest message: what one send call of a stream may reasonably carry.
const MAX_MESSAGE: ByteCount = ByteCount(1 << 20);

/// Smallest receive buffer that Linux gives (`SOCK_MIN_RCVBUF`).
const MIN_SOCKET_BUFFER: ByteCount = ByteCount(2304);

/// Shortest job: below it nothing but its start is seen.
const MIN_DURATION: Picos = Picos(1_000_000_000);

/// Longest job: a day.
const MAX_DURATION: Picos = Picos(86_400 * Picos::SECOND.0);

/// Slowest link: below it a packet takes seconds.
const MIN_RATE: BitRate = BitRate(1000);

/// Fastest link: a hundred times the fastest of 2026.
const MAX_RATE: BitRate = BitRate(100_000_000_000_000);

/// Longest single service or interval: a packet that takes an hour is a mistake.
const MAX_SERVICE: Picos = Picos(3600 * Picos::SECOND.0);

/// Reads a value and refuses it outside `low..=high`.
fn within<'de, D, T>(deserializer: D, what: &str, low: T, high: T) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + PartialOrd + Display,
{
    checked(T::deserialize(deserializer)?, what, low, high).map_err(D::Error::custom)
}

/// The value, or what is allowed instead.
fn checked<T: PartialOrd + Display>(value: T, what: &str, low: T, high: T) -> Result<T, String> {
    if value >= low && value <= high {
        Ok(value)
    } else {
        Err(format!("{what} of {value} is out of range: allowed are {low} to {high}"))
    }
}

pub(crate) fn packets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    within(deserializer, "a number of packets", 1, MAX_PACKETS)
}

pub(crate) fn slots<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    within(deserializer, "a number of slots", 1, MAX_SLOTS)
}

pub(crate) fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
    within(deserializer, "an interval", Picos(1), MAX_SERVICE)
}

pub(crate) fn service<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
    within(deserializer, "a service time", Picos(1), MAX_SERVICE)
}

pub(crate) fn buffer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByteCount, D::Error> {
    within(deserializer, "a buffer", ByteCount(1), MAX_BUFFER)
}

pub(crate) fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByteCount, D::Error> {
    within(deserializer, "a message", ByteCount(1), MAX_MESSAGE)
}

pub(crate) fn socket_buffer<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ByteCount, D::Error> {
    within(deserializer, "a socket buffer", MIN_SOCKET_BUFFER, MAX_BUFFER)
}

pub(crate) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
    within(deserializer, "a duration", MIN_DURATION, MAX_DURATION)
}

pub(crate) fn speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    within(deserializer, "a playing speed", 0.001, 100_000.0)
}

pub(crate) fn optional_rate<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BitRate>, D::Error> {
    let rate = Option::<BitRate>::deserialize(deserializer)?;
    rate.map(|rate| checked(rate, "a rate", MIN_RATE, MAX_RATE))
        .transpose()
        .map_err(D::Error::custom)
}

pub(crate) fn stages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Stage>, D::Error> {
    let stages = Vec::<Stage>::deserialize(deserializer)?;
    if stages.is_empty() || stages.len() > MAX_STAGES {
        let count = stages.len();
        return Err(D::Error::custom(format!(
            "{count} stages are out of range: allowed are 1 to {MAX_STAGES}"
        )));
    }
    if stages[0].when_full == WhenFull::Block {
        return Err(D::Error::custom(
            "the first stage has no stage before it to block: it must drop",
        ));
    }
    Ok(stages)
}
