//! The exact recursion: departure times from those of the packet before and of the packet that
//! held the same slot, without an event list.
//!
//! For the k-th packet that a dropping stage accepts, with c slots, arrival a and service s:
//!
//! ```text
//! accepted when   D(k-c) <= a                      the slot's last holder has left
//! start           S(k) = max(a, D(k-1))
//! departure       D(k) = max(S(k) + s, D'(k-c'))   the second term where the next stage blocks
//! ```
//!
//! Nothing later than k enters, so one pass in the order of arrivals is enough. A stage takes a
//! block of packets at a time, no longer than c', so that every D' that it needs is known: its
//! loop then carries one number, the newest departure, and reads and writes straight on.
//!
//! ```text
//! arrivals [ps] ──► enter: may drop ──► follow: may block ──► ... ──► departures [ps]
//!                     ▲ services [ps], drawn a chunk ahead
//! ```

use bitpath_measure::Picos;

use super::arrivals::Gaps;
use super::draws::{Draws, Source};
use super::{Outcome, Pipeline, Stage, WhenFull};

/// Packets that pass a dropping stage at a time: the times of P3's three stages and their
/// services, 4 KiB each, stay in the L1 cache.
const CHUNK: usize = 512;

/// Runs the pipeline to its end. `seed` moves only exponential times.
#[must_use]
pub fn run(pipeline: &Pipeline, seed: u64) -> Outcome {
    let mut segments = segments(&pipeline.stages, seed);
    let mut gaps = Gaps::new(&pipeline.arrivals, seed);
    let mut outcome = Outcome {
        delivered: 0,
        drops: vec![0; pipeline.stages.len()],
        finished: Picos(0),
        departure_sum: 0,
    };
    let (mut arrivals, mut now, mut left) = (Vec::with_capacity(CHUNK), 0, pipeline.packets);
    while left > 0 {
        let count = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
        now = arrive(&mut gaps, now, count, &mut arrivals);
        let mut times = arrivals.as_slice();
        for segment in &mut segments {
            let (offered, stage) = (times.len(), segment.first_stage);
            times = segment.pass(times);
            outcome.drops[stage] += (offered - times.len()) as u64;
        }
        outcome.delivered += times.len() as u64;
        outcome.departure_sum =
            times.iter().fold(outcome.departure_sum, |sum, time| sum.wrapping_add(*time));
        outcome.finished = times.last().map_or(outcome.finished, |time| Picos(*time));
        left -= count as u64;
    }
    outcome
}

/// The next `count` arrivals, the first of them `now`; returns the one after them [ps].
fn arrive(gaps: &mut Gaps, mut now: u64, count: usize, arrivals: &mut Vec<u64>) -> u64 {
    arrivals.clear();
    gaps.append_to(arrivals, count);
    for time in arrivals {
        let gap = *time;
        *time = now;
        now += gap;
    }
    now
}

/// A stage that drops, with the stages behind it that block.
struct Segment {
    first_stage: usize,
    stages: Vec<Lane>,
    /// Packets in a block: the least number of slots of a stage that blocks.
    block: usize,
}

/// The state of one stage.
struct Lane {
    slots: usize,
    draws: Draws,
    /// Service times drawn ahead, for the packets that come next.
    services: Vec<u64>,
    /// How many of them are used up.
    served: usize,
    /// Departure times in order, the last `slots` of them and more; zeros before the first.
    departures: Vec<u64>,
    /// Where the next one goes.
    end: usize,
}

fn segments(stages: &[Stage], seed: u64) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        let lane = Lane::new(stage, Draws::new(Source::of_stage(stage, index), seed));
        match segments.last_mut() {
            Some(segment) if stage.when_full == WhenFull::Block => {
                segment.block = segment.block.min(stage.slots);
                segment.stages.push(lane);
            }
            _ => segments.push(Segment { first_stage: index, stages: vec![lane], block: CHUNK }),
        }
    }
    segments
}

impl Segment {
    /// Departure times of those of these arrivals that are accepted.
    fn pass(&mut self, arrivals: &[u64]) -> &[u64] {
        for lane in &mut self.stages {
            lane.make_room(arrivals.len());
        }
        let last = self.stages.len() - 1;
        let before = self.stages[last].end;
        for block in arrivals.chunks(self.block) {
            self.pass_block(block);
        }
        let last = &self.stages[last];
        &last.departures[before..last.end]
    }

    fn pass_block(&mut self, arrivals: &[u64]) {
        let (entry, behind) = self.stages.split_at_mut(1);
        let accepted = match behind.first() {
            None => entry[0].enter(arrivals, |_| 0),
            Some(next) => {
                let free = next.slots_free(arrivals.len());
                entry[0].enter(arrivals, |packet| free[packet])
            }
        };
        for stage in 1..self.stages.len() {
            let (before, rest) = self.stages.split_at_mut(stage);
            let (lane, behind) = rest.split_at_mut(1);
            let times = before[stage - 1].newest(accepted);
            match behind.first() {
                None => lane[0].follow(times, |_| 0),
                Some(next) => {
                    let free = next.slots_free(accepted);
                    lane[0].follow(times, |packet| free[packet]);
                }
            }
        }
    }
}

impl Lane {
    fn new(stage: &Stage, draws: Draws) -> Self {
        // Twice the slots: the last ones are moved to the front at most once a packet.
        let departures = vec![0; 2 * stage.slots + CHUNK];
        let services = Vec::with_capacity(CHUNK);
        Self { slots: stage.slots, draws, services, served: 0, departures, end: stage.slots }
    }

    /// Makes room for the departures of `count` packets, and draws their services.
    fn make_room(&mut self, count: usize) {
        if self.end + count > self.departures.len() {
            self.departures.copy_within(self.end - self.slots..self.end, 0);
            self.end = self.slots;
        }
        self.services.drain(..self.served);
        self.served = 0;
        let missing = count.saturating_sub(self.services.len());
        self.draws.append_to(&mut self.services, missing);
    }

    /// When the slots that the next `count` packets need are free [ps].
    fn slots_free(&self, count: usize) -> &[u64] {
        &self.departures[self.end - self.slots..][..count]
    }

    /// The last `count` departures [ps].
    fn newest(&self, count: usize) -> &[u64] {
        &self.departures[self.end - count..self.end]
    }

    /// Serves the packets that find a slot; returns how many. `next_free` is when the next stage
    /// has a slot for each of them [ps].
    #[inline]
    fn enter(&mut self, arrivals: &[u64], next_free: impl Fn(usize) -> u64) -> usize {
        let slots = self.slots;
        let times = &mut self.departures[self.end - slots..self.end + arrivals.len()];
        let services = &self.services[self.served..][..arrivals.len()];
        let (mut accepted, mut last) = (0, times[slots - 1]);
        for &arrival in arrivals {
            if times[accepted] <= arrival {
                let service = services[accepted];
                last = departure(last, arrival, service, next_free(accepted));
                times[accepted + slots] = last;
                accepted += 1;
            }
        }
        self.end += accepted;
        self.served += accepted;
        accepted
    }

    /// Serves packets that all have a slot.
    #[inline]
    fn follow(&mut self, arrivals: &[u64], next_free: impl Fn(usize) -> u64) {
        let services = &self.services[self.served..][..arrivals.len()];
        let (before, after) = self.departures.split_at_mut(self.end);
        let mut last = before[self.end - 1];
        for (packet, (arrival, service)) in arrivals.iter().zip(services).enumerate() {
            last = departure(last, *arrival, *service, next_free(packet));
            after[packet] = last;
        }
        self.end += arrivals.len();
        self.served += arrivals.len();
    }
}

/// D(k) of the formula above. Only its last sum and comparison wait for the packet before: the
/// processor works on everything else ahead.
#[inline]
fn departure(before: u64, arrival: u64, service: u64, next_free: u64) -> u64 {
    (arrival + service).max(next_free).max(before + service)
}
