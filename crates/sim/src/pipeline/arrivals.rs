//! When packets arrive: one by one, or as the frames of a film cross a link.
//!
//! ```text
//! interval [ps] ──► constant or exponential ──────────────────────────────────────┐
//! film ──► frame at its time [ps] ──► packets of a message [B], back to back at ──┴──► gaps [ps]
//!                                     the link's rate [b/s]
//! ```
//!
//! Every kind is a sequence of gaps, the times from one arrival to the next; an engine need not
//! know which.

use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_media::Film;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draws::{Draws, Source};
use super::timetable::{Place, Timetable};
use super::{Distribution, Pipeline, Stage};
use crate::bounds::{self, MAX_PACKETS};

/// When packets arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenArrivals", untagged)]
pub enum Arrivals {
    /// One by one, at independent times (a renewal process).
    Renewal {
        /// Time between two packets, or its mean [ps].
        interval: Picos,
        /// How the times are distributed.
        distribution: Distribution,
    },
    /// As the frames of a film.
    Film(FilmArrivals),
}

/// A film that crosses a link: each frame at its time, cut into packets that follow each other
/// at the link's rate. A frame that is due while the one before is under way waits for it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FilmArrivals {
    /// The film; it begins again at its end.
    pub film: Film,
    /// How many times as fast as the film's own rate its frames come [ratio].
    pub speed: f64,
    /// Payload of a packet; the last one of a frame carries what is left [B].
    pub message: ByteCount,
    /// All else of a packet on the link: headers, checksum, preamble, gap [B].
    pub headers: ByteCount,
    /// Rate of the link [b/s].
    pub rate: BitRate,
    /// Frames come for so long [ps].
    pub duration: Picos,
}

/// When packets arrive: either one by one, at an `interval`, or as a `film` over a link.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenArrivals {
    /// Time between two packets, or its mean [ps]; or a `film` and the link's `rate` instead.
    #[serde(default, deserialize_with = "bounds::optional_interval")]
    interval: Option<Picos>,
    /// How the times between packets are distributed; constant where it is not given.
    distribution: Option<Distribution>,
    /// A film whose frames arrive at their times, each cut into packets that follow each other at
    /// the link's rate; it begins again at its end.
    film: Option<Film>,
    /// How many times as fast as the film's own rate; 1 where it is not given [ratio].
    #[serde(default, deserialize_with = "bounds::optional_speed")]
    speed: Option<f64>,
    /// Payload of a film's packet; 1472 B where it is not given [B].
    #[serde(default, deserialize_with = "bounds::optional_message")]
    message: Option<ByteCount>,
    /// All else of a film's packet on the link; 66 B where it is not given [B].
    #[serde(default, deserialize_with = "bounds::optional_headers")]
    headers: Option<ByteCount>,
    /// Rate of the link that a film crosses [b/s].
    #[serde(default, deserialize_with = "bounds::optional_rate")]
    rate: Option<BitRate>,
    /// A film's frames come for so long; once through the film where it is not given [ps].
    #[serde(default, deserialize_with = "bounds::optional_duration")]
    duration: Option<Picos>,
}

/// A pipeline as written in a file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPipeline {
    /// Packets offered; with a film the most, and all of it where they are not given [packets].
    #[serde(default, deserialize_with = "bounds::optional_packets")]
    packets: Option<u64>,
    /// When they arrive.
    arrivals: Arrivals,
    /// The stages, in the order in which packets pass them.
    #[serde(rename = "stage", deserialize_with = "bounds::stages")]
    stages: Vec<Stage>,
}

/// Why the keys of arrivals do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrivalsError {
    /// Neither kind, or parts of both.
    #[error(
        "`arrivals` needs either `interval` and perhaps `distribution`, or `film`, `rate` and perhaps `speed`, `message`, `headers` and `duration`"
    )]
    Kind,
    /// Nothing says when to stop.
    #[error("missing field `packets`: only where `arrivals` is a film it has an end of its own")]
    Endless,
    /// The sender's queue would grow without an end.
    #[error("`film` {film} takes {needed} on the link, and its `rate` is {rate}")]
    Link {
        /// The film.
        film: String,
        /// What it takes, headers included.
        needed: BitRate,
        /// What there is.
        rate: BitRate,
    },
    /// More time than one run may have.
    #[error(
        "{packets} `packets` of which each takes {slowest} somewhere on average are more than the {MAX_TIME} that one run may have"
    )]
    Long {
        /// Packets offered.
        packets: u64,
        /// The longest interval or service.
        slowest: Picos,
    },
    /// More packets than one run may have.
    #[error(
        "`film` {film} is {packets} packets in its `duration`: at most {MAX_PACKETS} are supported"
    )]
    TooLong {
        /// The film.
        film: String,
        /// Its packets.
        packets: u64,
    },
}

/// Longest run: far below 2^64 ps, whatever chance adds to it.
const MAX_TIME: Picos = Picos(30 * 86_400 * Picos::SECOND.0);

impl TryFrom<WrittenArrivals> for Arrivals {
    type Error = ArrivalsError;

    fn try_from(written: WrittenArrivals) -> Result<Self, ArrivalsError> {
        match written {
            WrittenArrivals {
                interval: Some(interval),
                distribution,
                film: None,
                speed: None,
                message: None,
                headers: None,
                rate: None,
                duration: None,
            } => Ok(Self::Renewal { interval, distribution: distribution.unwrap_or_default() }),
            WrittenArrivals {
                interval: None,
                distribution: None,
                film: Some(film),
                rate: Some(rate),
                speed,
                message,
                headers,
                duration,
            } => {
                let speed = speed.unwrap_or(1.0);
                let once = film.rate.due(film.frames.len(), speed);
                let film = FilmArrivals {
                    speed,
                    message: message.unwrap_or(MESSAGE),
                    headers: headers.unwrap_or(HEADERS),
                    rate,
                    duration: duration.unwrap_or(once),
                    film,
                };
                film.check().map(|()| Self::Film(film))
            }
            _ => Err(ArrivalsError::Kind),
        }
    }
}

impl TryFrom<WrittenPipeline> for Pipeline {
    type Error = ArrivalsError;

    fn try_from(written: WrittenPipeline) -> Result<Self, ArrivalsError> {
        let WrittenPipeline { packets, arrivals, stages } = written;
        let end = match &arrivals {
            Arrivals::Renewal { .. } => None,
            Arrivals::Film(film) => Some(film.packets()),
        };
        let packets = packets.into_iter().chain(end).min().ok_or(ArrivalsError::Endless)?;
        let slowest =
            stages.iter().map(Stage::mean_service).fold(arrivals.mean_interval(), f64::max);
        if packets as f64 * slowest > MAX_TIME.0 as f64 {
            let slowest = Picos::from_nanos_f64(slowest / 1000.0);
            return Err(ArrivalsError::Long { packets, slowest });
        }
        Ok(Self { packets, arrivals, stages })
    }
}

impl Arrivals {
    /// Mean time between two packets [ps].
    #[must_use]
    pub fn mean_interval(&self) -> f64 {
        match self {
            Self::Renewal { interval, .. } => interval.0 as f64,
            Self::Film(film) => film.loop_time() / Timetable::new(film).packets() as f64,
        }
    }

    /// Whether another seed gives other times.
    #[must_use]
    pub fn is_random(&self) -> bool {
        matches!(self, Self::Renewal { distribution: Distribution::Exponential, .. })
    }

    /// Whether they are the packets of a film.
    #[must_use]
    pub fn is_film(&self) -> bool {
        matches!(self, Self::Film(_))
    }

    /// The same packets, `factor` times as fast one after the other; a film's link stays as it is.
    #[must_use]
    pub fn faster(&self, factor: f64) -> Self {
        match self {
            Self::Renewal { interval, distribution } => {
                let interval = whole((interval.0 as f64 / factor).round()).max(1);
                Self::Renewal { interval: Picos(interval), distribution: *distribution }
            }
            Self::Film(film) => {
                Self::Film(FilmArrivals { speed: film.speed * factor, ..film.clone() })
            }
        }
    }
}

impl FilmArrivals {
    /// Packets of the frames that are due within the duration, at least those of the first
    /// [packets].
    #[must_use]
    pub fn packets(&self) -> u64 {
        let frames = self.duration.0 as f64 / self.loop_time() * self.film.frames.len() as f64;
        Timetable::new(self).packets_of(whole(frames.ceil()).max(1))
    }

    /// Time from the begin of the film to its next begin [ps].
    fn loop_time(&self) -> f64 {
        self.film.seconds() * Picos::SECOND.0 as f64 / self.speed
    }

    fn check(&self) -> Result<(), ArrivalsError> {
        let film = || self.film.name.clone();
        let wire = self.film.bytes().0 + Timetable::new(self).packets() * self.headers.0;
        let needed = BitRate(whole((wire * 8) as f64 * 1e12 / self.loop_time()));
        if needed > self.rate {
            return Err(ArrivalsError::Link { film: film(), needed, rate: self.rate });
        }
        match self.packets() {
            packets if packets > MAX_PACKETS => {
                Err(ArrivalsError::TooLong { film: film(), packets })
            }
            _ => Ok(()),
        }
    }
}

/// The times from one arrival to the next.
#[expect(clippy::large_enum_variant, reason = "an engine has one of them")]
pub(super) enum Gaps {
    Drawn(Draws),
    Film(Timetable, Place),
}

impl Gaps {
    /// The gaps from the first packet on.
    pub(super) fn new(arrivals: &Arrivals, seed: u64) -> Self {
        match arrivals {
            Arrivals::Renewal { interval, distribution } => {
                Self::Drawn(Draws::new(Source::of_arrivals(*interval, *distribution), seed))
            }
            Arrivals::Film(film) => {
                let timetable = Timetable::new(film);
                let begin = timetable.begin();
                Self::Film(timetable, begin)
            }
        }
    }

    /// The next gap [ps].
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        match self {
            Self::Drawn(draws) => draws.next(),
            Self::Film(timetable, place) => place.next(timetable),
        }
    }

    /// Appends the next `count` gaps [ps].
    pub(super) fn append_to(&mut self, gaps: &mut Vec<u64>, count: usize) {
        match self {
            Self::Drawn(draws) => draws.append_to(gaps, count),
            Self::Film(timetable, place) => place.append_to(timetable, gaps, count),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn whole(number: f64) -> u64 {
    number as u64
}

/// What a UDP datagram carries in an Ethernet frame of 1500 B: less 20 B of IPv4 (RFC 791) and 8 B
/// of UDP (RFC 768).
const MESSAGE: ByteCount = ByteCount(1472);

/// Those 28 B, and 38 B of Ethernet: header, checksum, preamble and gap (IEEE 802.3).
const HEADERS: ByteCount = ByteCount(66);

#[cfg(test)]
mod tests {
    use super::super::{events, exact};
    use super::*;
    use crate::scenario::{Scenario, Subject};

    const VIDEO2: &str = include_str!("../../../../scenarios/two-hours-of-video2.toml");

    fn video2() -> Pipeline {
        let Subject::Pipeline(pipeline) = Scenario::parse(VIDEO2).unwrap().subject else {
            panic!("a pipeline")
        };
        pipeline
    }

    /// The message for the scenario with one of its lines replaced.
    fn mistake(line: &str, instead: &str) -> String {
        assert!(VIDEO2.contains(line), "{line}");
        Scenario::parse(&VIDEO2.replacen(line, instead, 1)).unwrap_err().message
    }

    #[test]
    fn two_hours_of_video2_are_the_packets_of_its_frames() {
        let pipeline = video2();
        let Arrivals::Film(film) = &pipeline.arrivals else { panic!("a film") };
        assert_eq!((film.message, film.headers), (MESSAGE, HEADERS));
        // Frames of 41, 21 and 13 packets. 7200 s at 30000/1001 frames/s begin 215 785 of them: 716
        // clips of 301, then 17 groups of 15 and IBBPBBPBBPBBPB.
        let clip = 21 * 41 + 80 * 21 + 200 * 13;
        let group = 41 + 4 * 21 + 10 * 13;
        assert_eq!(pipeline.packets, 716 * clip + 17 * group + group - 13);
    }

    #[test]
    fn the_pauses_cost_two_hours_of_video2_forty_packets() {
        for outcome in [exact::run(&video2(), 0), events::run(&video2(), 0)] {
            assert_eq!((outcome.delivered, outcome.drops), (3_685_493, vec![0, 40, 0]));
        }
    }

    #[test]
    fn keys_that_are_wrong_are_named() {
        let film = "rate = \"1 Gb/s\"";
        for (line, instead, named) in [
            (film, "interval = \"1 us\"", "either `interval`"),
            (film, "", "`film`, `rate`"),
            (film, "rate = \"1 Mb/s\"", "takes 6195775 b/s on the link"),
            (film, "rate = \"1 Gb/s\"\nmessage = \"0 B\"", "a message of 0 B is out of range"),
            (film, "rate = \"1 Gb/s\"\nspeed = 0", "a playing speed of 0 is out of range"),
            ("duration = \"7200 s\"", "duration = \"0 s\"", "a duration of 0 ps is out of range"),
            ("length = 301", "length = 0", "film video2 has no frames"),
        ] {
            let message = mistake(line, instead);
            assert!(message.contains(named), "{message}");
        }
    }

    #[test]
    fn without_a_film_packets_say_when_to_stop() {
        let p3 = include_str!("../../../../scenarios/p3.toml");
        let error = Scenario::parse(&p3.replacen("packets = 1_000_000", "", 1)).unwrap_err();
        assert!(error.message.contains("missing field `packets`"), "{error}");
    }

    #[test]
    fn packets_cut_a_film_short_and_do_not_lengthen_it() {
        for (packets, expected) in [(1000, 1000), (1_000_000_000, video2().packets)] {
            let table = format!("[pipeline]\npackets = {packets}\n\n[pipeline.arrivals]");
            let cut = VIDEO2.replacen("[pipeline.arrivals]", &table, 1);
            let Subject::Pipeline(pipeline) = Scenario::parse(&cut).unwrap().subject else {
                panic!("a pipeline")
            };
            assert_eq!(pipeline.packets, expected);
        }
    }

    #[test]
    fn a_written_film_reads_as_itself() {
        let scenario = Scenario::parse(VIDEO2).unwrap();
        assert_eq!(Scenario::parse(&scenario.write().unwrap()), Ok(scenario));
    }
}
