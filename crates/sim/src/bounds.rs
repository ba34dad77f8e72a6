//! The values that each kind of scenario key may take, refused where they are read so that the
//! error carries the place in the file.

use std::fmt::Display;

use bitpath_measure::{BitRate, ByteCount, ByteRate, Picos};
use serde::de::{Deserialize, Deserializer, Error};

use crate::machine::{Cache, Flow};
use crate::pipeline::{MAX_STAGES, Stage, WhenFull};
use crate::profile::Sourced;

/// Most packets in one run: at 100 million a second these take three hours.
pub(crate) const MAX_PACKETS: u64 = 1_000_000_000_000;

/// Most slots in one ring or buffer: 16 Mi packets are 24 GB of full frames.
pub(crate) const MAX_SLOTS: usize = 1 << 24;

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

/// Slowest playing: a frame in half a minute [ratio].
const MIN_SPEED: f64 = 0.001;

/// Fastest playing: a film of two hours in 72 ms [ratio].
const MAX_SPEED: f64 = 100_000.0;

/// Slowest link: below it a packet takes seconds.
const MIN_RATE: BitRate = BitRate(1000);

/// Fastest link: a hundred times the fastest of 2026.
const MAX_RATE: BitRate = BitRate(100_000_000_000_000);

/// Longest single service or interval: a packet that takes an hour is a mistake.
const MAX_SERVICE: Picos = Picos(3600 * Picos::SECOND.0);

/// Longest cost, delay or latency of a machine: a packet that takes longer than this at one place is a
/// mistake.
const MAX_COST: Picos = Picos(10 * Picos::SECOND.0);

/// Shortest time slice and shortest interval of a course: each is work for the simulator.
const MIN_SLICE: Picos = Picos(1_000_000);

/// Most bytes that headers, charges and merged buffers may have: 16 times the largest of Linux.
const MAX_EXTRA: ByteCount = ByteCount(1 << 20);

/// Most that one transfer may move: more than any line carries in a year.
const MAX_TRANSFER: ByteCount = ByteCount(1 << 60);

/// Most cores or queues of one machine: twice what the largest server of 2026 has.
const MAX_CORES: usize = 1024;

/// Most flows of one machine: as many as a card tells apart.
const MAX_FLOWS: usize = 100_000;

/// Most levels of cache: four are the most that anybody has built.
const MAX_CACHES: usize = 4;

/// Reads a value and refuses it outside `low..=high`.
fn within<'de, D, T>(deserializer: D, what: &str, low: T, high: T) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + PartialOrd + Display,
{
    checked(T::deserialize(deserializer)?, what, low, high).map_err(D::Error::custom)
}

/// Reads a value where there is one, and refuses it outside `low..=high`.
fn optional_within<'de, D, T>(
    deserializer: D,
    what: &str,
    low: T,
    high: T,
) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + PartialOrd + Display,
{
    let value = Option::<T>::deserialize(deserializer)?;
    value.map(|value| checked(value, what, low, high)).transpose().map_err(D::Error::custom)
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

pub(crate) fn service<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
    within(deserializer, "a service time", Picos(1), MAX_SERVICE)
}

pub(crate) fn cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
    within(deserializer, "a time", Picos(0), MAX_COST)
}

pub(crate) fn wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
    within(deserializer, "a time", Picos(0), MAX_SERVICE)
}

pub(crate) fn slice<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Picos, D::Error> {
    within(deserializer, "a time slice", MIN_SLICE, MAX_SERVICE)
}

pub(crate) fn course<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Picos>, D::Error> {
    optional_within(deserializer, "an interval", MIN_SLICE, MAX_DURATION)
}

pub(crate) fn sourced_cost<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Sourced<Picos>, D::Error> {
    let cost = Sourced::<Picos>::deserialize(deserializer)?;
    for value in [Some(cost.value), cost.low, cost.high].into_iter().flatten() {
        checked(value, "a time", Picos(0), MAX_COST).map_err(D::Error::custom)?;
    }
    Ok(cost)
}

pub(crate) fn extra<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByteCount, D::Error> {
    within(deserializer, "a size", ByteCount(0), MAX_EXTRA)
}

pub(crate) fn transfer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByteCount, D::Error> {
    within(deserializer, "a transfer", ByteCount(1), MAX_TRANSFER)
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
    within(deserializer, "a playing speed", MIN_SPEED, MAX_SPEED)
}

pub(crate) fn optional_rate<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BitRate>, D::Error> {
    optional_within(deserializer, "a rate", MIN_RATE, MAX_RATE)
}

pub(crate) fn optional_packets<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    optional_within(deserializer, "a number of packets", 1, MAX_PACKETS)
}

pub(crate) fn optional_interval<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Picos>, D::Error> {
    optional_within(deserializer, "an interval", Picos(1), MAX_SERVICE)
}

pub(crate) fn optional_message<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ByteCount>, D::Error> {
    optional_within(deserializer, "a message", ByteCount(1), MAX_MESSAGE)
}

pub(crate) fn optional_headers<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ByteCount>, D::Error> {
    optional_within(deserializer, "headers", ByteCount(0), MAX_MESSAGE)
}

pub(crate) fn optional_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Picos>, D::Error> {
    optional_within(deserializer, "a duration", MIN_DURATION, MAX_DURATION)
}

pub(crate) fn optional_speed<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    optional_within(deserializer, "a playing speed", MIN_SPEED, MAX_SPEED)
}

pub(crate) fn cores<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    within(deserializer, "a number of cores or queues", 1, MAX_CORES)
}

pub(crate) fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    within(deserializer, "a budget", 1, u32::MAX)
}

pub(crate) fn generation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    within(deserializer, "a generation of PCI Express", 1, 7)
}

pub(crate) fn lanes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    within(deserializer, "a number of lanes", 1, 32)
}

pub(crate) fn optional_buffer<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ByteCount>, D::Error> {
    optional_within(deserializer, "a buffer", ByteCount(1), MAX_BUFFER)
}

pub(crate) fn caches<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Cache>, D::Error> {
    let caches = Vec::<Cache>::deserialize(deserializer)?;
    if caches.len() > MAX_CACHES {
        return Err(D::Error::custom(format!("{} caches: at most {MAX_CACHES}", caches.len())));
    }
    if caches.windows(2).any(|pair| pair[0].size >= pair[1].size) {
        return Err(D::Error::custom("caches go from the smallest to the largest"));
    }
    Ok(caches)
}

pub(crate) fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BitRate, D::Error> {
    within(deserializer, "a rate", MIN_RATE, MAX_RATE)
}

pub(crate) fn byte_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByteRate, D::Error> {
    within(deserializer, "a rate", ByteRate(1e3), ByteRate(1e13))
}

pub(crate) fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    within(deserializer, "a share", 0.0, 1.0)
}

pub(crate) fn shape<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    within(deserializer, "a Pareto shape", 1.01, 100.0)
}

pub(crate) fn peak<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    within(deserializer, "a peak over the mean", 1.01, 1e6)
}

pub(crate) fn flow_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    within(deserializer, "a number of flows", 1, MAX_FLOWS)
}

pub(crate) fn flows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Flow>, D::Error> {
    let flows = Vec::<Flow>::deserialize(deserializer)?;
    let count: usize = flows.iter().map(|flow| flow.count).sum();
    checked(count, "a number of flows", 1, MAX_FLOWS).map_err(D::Error::custom)?;
    Ok(flows)
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
