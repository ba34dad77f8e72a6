//! The gaps between the packets of a film that crosses a link.
//!
//! ```text
//! due(0)                due(1)           due(2)          [ps]
//!   ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌      ▌▌▌▌▌▌           ▌▌▌▌          packets, each `spacing` behind the other
//!   └── link time ──┘    └─────┘                         [ps]
//! ```
//!
//! A frame begins when it is due, or later by its `lag` when the link is not yet done with the
//! frame before: `lag(f+1) = max(0, lag(f) + link time(f) - (due(f+1) - due(f)))`.

use bitpath_measure::{BitRate, ByteCount};
use bitpath_media::FrameRate;

use super::arrivals::FilmArrivals;

/// The packets of each frame of a film on its link.
#[derive(Clone, Debug)]
pub(super) struct Timetable {
    frames: Vec<Burst>,
    rate: FrameRate,
    speed: f64,
    /// Time from one packet of a frame to the next [ps].
    spacing: u64,
}

/// One frame on the link.
#[derive(Clone, Copy, Debug)]
struct Burst {
    packets: u32,
    /// Time that the link takes for it [ps].
    link_time: u64,
}

/// The packet of a film that arrives next.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Its frame; the film's first frame follows the last.
    frame: usize,
    /// Packets of the frame that are still to come behind it.
    behind: u32,
    /// How much later than due the frame began [ps].
    lag: u64,
}

impl Timetable {
    pub(super) fn new(arrivals: &FilmArrivals) -> Self {
        let FilmArrivals { film, speed, message, headers, rate, .. } = arrivals;
        let on_link = |payload: u64| link_time(*rate, payload + headers.0);
        let spacing = on_link(message.0);
        let burst = |bytes: u32| {
            let packets = bytes.div_ceil(u32::try_from(message.0).unwrap_or(u32::MAX));
            let full = u64::from(packets - 1);
            let last = on_link(u64::from(bytes) - full * message.0);
            Burst { packets, link_time: full * spacing + last }
        };
        let frames = film.frames.iter().map(|frame| burst(frame.bytes)).collect();
        Self { frames, rate: film.rate, speed: *speed, spacing }
    }

    /// The first packet of all.
    pub(super) fn begin(&self) -> Place {
        Place { frame: 0, behind: self.frame(0).packets - 1, lag: 0 }
    }

    /// Packets of the whole film [packets].
    pub(super) fn packets(&self) -> u64 {
        self.frames.iter().map(|frame| u64::from(frame.packets)).sum()
    }

    /// Packets of so many frames, the film repeated; `u64::MAX` for more [packets].
    pub(super) fn packets_of(&self, frames: u64) -> u64 {
        let film = self.frames.len() as u64;
        let rest =
            self.frames.iter().zip(0..frames % film).map(|(frame, _)| u64::from(frame.packets));
        (frames / film).saturating_mul(self.packets()).saturating_add(rest.sum())
    }

    /// Frame `index` of the film that is repeated.
    fn frame(&self, index: usize) -> Burst {
        self.frames[index % self.frames.len()]
    }

    /// When that frame is due [ps].
    fn due(&self, index: usize) -> u64 {
        self.rate.due(index, self.speed).0
    }
}

impl Place {
    /// The time from this packet to the next [ps].
    #[inline]
    pub(super) fn next(&mut self, timetable: &Timetable) -> u64 {
        if self.behind == 0 {
            return self.next_frame(timetable);
        }
        self.behind -= 1;
        timetable.spacing
    }

    /// Appends the next `count` of these times [ps].
    pub(super) fn append_to(&mut self, timetable: &Timetable, gaps: &mut Vec<u64>, count: usize) {
        let mut left = count;
        while left > 0 {
            let alike = left.min(self.behind as usize);
            gaps.resize(gaps.len() + alike, timetable.spacing);
            self.behind -= u32::try_from(alike).unwrap_or(self.behind);
            left -= alike;
            if left > 0 {
                gaps.push(self.next_frame(timetable));
                left -= 1;
            }
        }
    }

    /// Goes to the next frame; returns the time from the last packet of this one to its first [ps].
    fn next_frame(&mut self, timetable: &Timetable) -> u64 {
        let (burst, next) = (timetable.frame(self.frame), timetable.frame(self.frame + 1));
        let interval = timetable.due(self.frame + 1) - timetable.due(self.frame);
        let begins = burst.link_time.max(interval.saturating_sub(self.lag));
        let lag = self.lag + begins - interval;
        *self = Self { frame: self.frame + 1, behind: next.packets - 1, lag };
        begins - u64::from(burst.packets - 1) * timetable.spacing
    }
}

/// Time that bytes take on a link, at least the shortest there is [ps].
fn link_time(rate: BitRate, bytes: u64) -> u64 {
    rate.time_of(ByteCount(bytes)).map_or(1, |time| time.0)
}

#[cfg(test)]
mod tests {
    use bitpath_measure::Picos;
    use bitpath_media::{Film, Frame, FrameKind};

    use super::*;

    /// Frames of 2500, 1000 and 1 bytes, one every 100 us, by packets of 1000 B in 1010 B.
    fn timetable(rate: BitRate) -> Timetable {
        let frames = [2500, 1000, 1].map(|bytes| Frame { kind: FrameKind::I, bytes });
        let every = FrameRate { frames: 10_000, seconds: 1 };
        Timetable::new(&FilmArrivals {
            film: Film::new("three", every, frames.to_vec()).unwrap(),
            speed: 1.0,
            message: ByteCount(1000),
            headers: ByteCount(10),
            rate,
            duration: Picos::SECOND,
        })
    }

    /// Arrivals of the first packets [ns].
    fn arrivals(timetable: &Timetable, packets: usize) -> Vec<u64> {
        let (mut place, mut now) = (timetable.begin(), 0);
        let mut arrive = || {
            let arrival = now;
            now += place.next(timetable);
            arrival / 1000
        };
        (0..packets).map(|_| arrive()).collect()
    }

    #[test]
    fn frames_come_when_they_are_due_and_their_packets_back_to_back() {
        let fast = timetable(BitRate(1_000_000_000));
        assert_eq!(fast.packets(), 5);
        assert_eq!(
            arrivals(&fast, 8),
            [0, 8080, 16_160, 100_000, 200_000, 300_000, 308_080, 316_160]
        );
        // Faster than the picosecond can tell, they are still one behind the other.
        assert!(arrivals(&timetable(BitRate(100_000_000_000_000)), 3)[2] <= 1);
    }

    #[test]
    fn a_frame_waits_until_the_link_is_done_with_the_one_before() {
        // 2530 B take 202.4 us, 1010 B 80.8 us and 11 B 880 ns; the film needs 284.08 of 300 us.
        let slow = timetable(BitRate(100_000_000));
        let expected = [0, 80_800, 161_600, 202_400, 283_200, 300_000, 380_800, 461_600, 502_400];
        assert_eq!(arrivals(&slow, 9), expected);
    }

    #[test]
    fn gaps_by_blocks_are_those_one_by_one() {
        for rate in [BitRate(1_000_000_000), BitRate(100_000_000)] {
            let timetable = timetable(rate);
            let (mut single, mut blocks) = (timetable.begin(), timetable.begin());
            let mut gaps = Vec::new();
            for count in [0, 1, 4, 2, 30, 1, 1, 1] {
                blocks.append_to(&timetable, &mut gaps, count);
            }
            let one_by_one: Vec<u64> = (0..40).map(|_| single.next(&timetable)).collect();
            assert_eq!(gaps, one_by_one);
        }
    }

    #[test]
    fn packets_of_frames_count_the_film_again_and_again() {
        let timetable = timetable(BitRate(1_000_000_000));
        let packets = [0, 1, 2, 3, 4, 7].map(|frames| timetable.packets_of(frames));
        assert_eq!(packets, [0, 3, 4, 5, 8, 13]);
        assert_eq!(timetable.packets_of(u64::MAX), u64::MAX);
    }
}
