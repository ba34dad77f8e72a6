//! Software decoding of four MPEG-1 clips on three hosts: sysSIM section 4.1.4, tables 9 and 10.
//!
//! ```text
//! frames and their sizes [B] ──► film ─┬─► MPEG_sw on the simulated host ──► processor time ─┐
//! cycles/B, clock ──► decode [ns/B] ──►│                                                     ├─► decode [s]
//!                                      └─► MPEG_hw on the same host ───────► processor time ─┘
//! ```
//!
//! The difference between the study's two benchmarks is what decoding costs. KB are 1000 B, MHz 2^20.

use bitpath_measure::{ByteCount, Picos, Unit};
use bitpath_media::{Film, Frame, FrameKind, FrameRate};

use super::{Point, PublishedError, Scale, Set, hosts};
use crate::host::HostScenario;
use crate::job::{Job, Work};
use crate::link::Link;
use crate::path;
use crate::profile::{
    DecodeCost, FrameCost, HostProfile, NanosPerByte, Source, Sourced, Transport,
};
use crate::table::{Row, Table};

const FILE: &str = "mpeg1_clips_2004.csv";
const TEXT: &str = include_str!("../../../../data/published/mpeg1_clips_2004.csv");

/// Hosts by the clock that names their columns [MHz].
const HOSTS: [(&str, &str); 3] = [("e55", "466"), ("stealth", "1300"), ("diablo", "2166")];

/// Columns of each kind of frame: their number and their mean size [KB].
const KINDS: [(FrameKind, &str, &str); 3] = [
    (FrameKind::I, "i_frames", "i_frame_KB"),
    (FrameKind::P, "p_frames", "p_frame_KB"),
    (FrameKind::B, "b_frames", "b_frame_KB"),
];

/// Tolerated error of a decode time [ratio].
const TOLERANCE: f64 = 0.10;
/// Tolerated error with the cycles of the other hosts: "relatively constant" (section 4.1.4) [ratio].
const TRANSFER_TOLERANCE: f64 = 0.20;

/// Most frames that are simulated; a longer film is cut with its mixture of frames kept, and its
/// time scaled by its bytes.
const MAX_FRAMES: f64 = 3000.0;

/// One frame in a datagram: nothing of it can be lost alone [B].
const MESSAGE: ByteCount = ByteCount(65_000);

/// Three frames: while the receiver sleeps, the kernel's buffer holds as many [ps].
const PLAYOUT_DELAY: Picos = Picos(Picos::SECOND.0 / 10);

/// Holds ten of the largest frames [B].
const BUFFER: ByteCount = ByteCount(1 << 20);

/// A clip, short enough to simulate.
struct Clip {
    film: Film,
    /// Bytes of the whole clip over those of `film` [ratio].
    scale: f64,
}

impl Clip {
    fn read(row: &Row<'_>) -> Result<Self, PublishedError> {
        let mut total = 0.0;
        for (_, count, _) in KINDS {
            total += row.number(count)?;
        }
        let shorten = (total / MAX_FRAMES).max(1.0);
        let (mut frames, mut bytes) = (Vec::new(), 0.0);
        for (kind, count, size) in KINDS {
            let (count, size) = (row.number(count)?, row.number(size)? * 1000.0);
            bytes += count * size;
            frames.extend(alike(kind, count / shorten, size));
        }
        let rate = FrameRate { frames: 30, seconds: 1 };
        let film = Film::new(row.text("clip")?, rate, frames)?;
        let scale = bytes / film.bytes().0 as f64;
        Ok(Self { film, scale })
    }

    /// Simulated processor time of decoding the whole clip at so many cycles a byte [s].
    fn decode_seconds(&self, host: &HostProfile, per_byte: NanosPerByte) -> f64 {
        let mut host = host.clone();
        host.decode = vec![decode_cost(&self.film.name, per_byte)];
        let busy = |software_decode| {
            let scenario = self.scenario(host.clone(), software_decode);
            path::run(&scenario).receiver_busy.as_secs_f64()
        };
        (busy(true) - busy(false)) * self.scale
    }

    /// The film at its own rate, a few frames ahead of what is shown.
    fn scenario(&self, host: HostProfile, software_decode: bool) -> HostScenario {
        let film = self.film.clone();
        let duration = film.rate.due(film.frames.len(), 1.0);
        let work = Work::Mpeg { film, speed: 1.0, software_decode, playout_delay: PLAYOUT_DELAY };
        let job = Job { work, ..Job::raw("film", Transport::Udp, MESSAGE, BUFFER, duration) };
        HostScenario { host, job, link: Link::default(), interval: Picos::SECOND }
    }
}

/// So many frames of one kind and size.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small positive counts and sizes"
)]
fn alike(kind: FrameKind, count: f64, bytes: f64) -> impl Iterator<Item = Frame> {
    std::iter::repeat_n(Frame { kind, bytes: bytes as u32 }, count.round() as usize)
}

/// A byte costs the same in every kind of frame: table 10 has one figure a clip.
fn decode_cost(clip: &str, per_byte: NanosPerByte) -> DecodeCost {
    let frames = FrameKind::ALL.map(|kind| FrameCost {
        kind,
        per_frame: published(Picos(0)),
        per_byte: published(per_byte),
    });
    DecodeCost { clip: clip.into(), after_sleep: DecodeCost::no_rest(), frames: frames.to_vec() }
}

fn published<T>(value: T) -> Sourced<T> {
    let from = "sysSIM table 10".into();
    Sourced { value, low: None, high: None, source: Source::Published, from }
}

/// The set.
pub(super) fn set() -> Result<Set, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let mut points = Vec::new();
    for row in table.rows() {
        let clip = Clip::read(&row)?;
        for (name, clock) in HOSTS {
            points.extend(points_of(&clip, &row, name, clock)?);
        }
    }
    Ok(Set {
        name: "mpeg-2004",
        source: "sysSIM (Bresnahan, Raicu, Margaryan 2004), tables 9 and 10; KB of 1000 B, MHz of 2^20",
        fitted: vec![
            "decode time: nothing is fitted, but table 10's cycles/B rest on its decode times: these 12 \
             points check frames, sizes, units and the simulator, not the figure"
                .into(),
            "decode time from other hosts: mean cycles/B of the two other hosts, 1 constant for each of \
             12 points, its own row left out"
                .into(),
        ],
        points,
        criteria: Vec::new(),
    })
}

/// The decode time with the host's own cycles, and with those of the two others.
fn points_of(
    clip: &Clip,
    row: &Row<'_>,
    name: &str,
    clock: &str,
) -> Result<[Point; 2], PublishedError> {
    let cycles = |clock: &str| row.number(&format!("decode_cpb_{clock}MHz"));
    let mut others = 0.0;
    for (_, other) in HOSTS.iter().filter(|(_, other)| *other != clock) {
        others += cycles(other)? / 2.0;
    }
    let host = hosts::profile(name)?;
    let cycle_ns = 1e9 / host.cpu.clock.value.0;
    let seconds = |cycles: f64| clip.decode_seconds(&host, NanosPerByte(cycles * cycle_ns));
    let published = row.number(&format!("decode_s_{clock}MHz"))?;
    let point = |quantity, predicted, tolerance| Point {
        name: format!("{} on {name}", clip.film.name),
        quantity,
        unit: Unit::Seconds,
        predicted,
        published,
        tolerance,
        scale: Scale::Relative,
    };
    Ok([
        point("decode time", seconds(cycles(clock)?), TOLERANCE),
        point("decode time from other hosts", seconds(others), TRANSFER_TOLERANCE),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_within_tolerance;
    use super::*;

    #[test]
    fn twelve_decode_times_are_within_ten_per_cent() {
        let set = assert_within_tolerance("mpeg-2004");
        assert_eq!(set.points.len(), 24);
    }

    #[test]
    fn the_hosts_clock_is_in_the_study_s_megahertz() {
        for (name, clock) in HOSTS {
            let printed: f64 = clock.parse().unwrap();
            let clock = hosts::profile(name).unwrap().cpu.clock.value.0;
            assert_eq!(clock, printed * f64::from(1 << 20));
        }
    }
}
