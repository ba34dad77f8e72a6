//! One host of a fleet: the event engine's rules on state that lies in a few cache lines.
//!
//! ```text
//! line 0, at every event    arrival, done [ps] | held [packets] | packets left | departure sum
//! line 1, at some           finished [ps] | since exception | drops [packets]
//! ```
//!
//! These are the lines of three stages; what all hosts share is kept once.

use std::hint::black_box;

use bitpath_measure::Picos;

use super::super::arrivals::Arrivals;
use super::super::draws::{DrawsAhead, Source};
use super::super::timetable::{Place, Timetable};
use super::super::{Exception, Outcome, Pipeline, Stage, WhenFull};

/// No event pending.
pub(super) const NEVER: u64 = u64::MAX;

/// What is the same on every host. Stages that the pipeline has not are never entered.
pub(super) struct Rules<const STAGES: usize> {
    packets: u64,
    stages: [Rule; STAGES],
    /// Stages that there are.
    len: usize,
    gaps: Gaps,
    /// Random sources.
    pub(super) random: usize,
}

/// What a stage is, on every host.
struct Rule {
    slots: u32,
    /// Packets held at which it blocks the stage before; where it drops, more than it ever holds.
    blocks_at: u32,
    exception: Option<Exception>,
    services: Times,
}

/// The times of one source that are no exception.
enum Times {
    /// Always the same [ps].
    Constant(u64),
    /// Random ones, and the place of the source among those of a host.
    Random(Source, usize),
}

/// The times from one arrival to the next.
enum Gaps {
    Drawn(Times),
    Film(Timetable),
}

/// The state of one host, in the order of use.
#[repr(C, align(64))]
pub(super) struct Host<const STAGES: usize> {
    /// When the next packet arrives, or `NEVER`.
    pub(super) arrival: u64,
    /// When the packet in service at each stage is done, or `NEVER`.
    done: [u64; STAGES],
    /// Packets that each stage holds, the one in service or blocked included.
    held: [u32; STAGES],
    /// A bit for each stage whose server has finished a packet that the next stage has no slot for.
    blocked: u32,
    packets_left: u64,
    departure_sum: u64,
    finished: u64,
    /// Services begun at each stage since the last exception.
    since_exception: [u64; STAGES],
    drops: [u64; STAGES],
}

/// A host at work.
pub(super) struct Turn<'a, const STAGES: usize> {
    pub(super) rules: &'a Rules<STAGES>,
    pub(super) seed: u64,
    pub(super) ahead: &'a mut [DrawsAhead],
    /// Where it is in its film; none where arrivals are no film.
    pub(super) places: &'a mut [Place],
    pub(super) host: &'a mut Host<STAGES>,
}

impl<const STAGES: usize> Turn<'_, STAGES> {
    /// Takes all events before `end`, and returns when the next one is, or `NEVER` [ps].
    #[inline]
    pub(super) fn run(&mut self, end: u64) -> u64 {
        loop {
            let (stage, now) = self.next_event();
            if now >= end {
                return now;
            }
            match stage {
                Some(stage) => self.complete(stage, now),
                None => self.arrive(now),
            }
        }
    }

    /// The earliest event: of those at one instant the one furthest down the path, arrivals last.
    #[inline]
    fn next_event(&self) -> (Option<usize>, u64) {
        let mut earliest = (None, self.host.arrival);
        for (stage, done) in self.host.done.iter().enumerate() {
            if *done <= earliest.1 {
                earliest = (Some(stage), *done);
            }
        }
        earliest
    }

    #[inline]
    fn arrive(&mut self, now: u64) {
        self.host.packets_left -= 1;
        self.host.arrival = if self.host.packets_left == 0 { NEVER } else { now + self.gap() };
        self.enter(0, now);
    }

    /// The time to the arrival after this one [ps].
    #[inline]
    fn gap(&mut self) -> u64 {
        match &self.rules.gaps {
            Gaps::Drawn(times) => times.next(self.ahead, self.seed),
            Gaps::Film(film) => self.places[0].next(film),
        }
    }

    /// Offers a packet to a stage that drops or has a free slot.
    #[inline]
    fn enter(&mut self, stage: usize, now: u64) {
        let held = &mut self.host.held[stage];
        if *held == self.rules.stages[stage].slots {
            self.host.drops[stage] += 1;
            return;
        }
        *held += 1;
        if *held == 1 {
            self.serve(stage, now);
        }
    }

    #[inline]
    fn complete(&mut self, stage: usize, now: u64) {
        let next = stage + 1;
        if next < STAGES && self.host.held[next] == self.rules.stages[next].blocks_at {
            self.host.blocked |= 1 << stage;
            self.host.done[stage] = NEVER;
        } else {
            self.leave(stage, now);
        }
    }

    /// Moves the finished packet on, and those of the stages before that wait for its slot.
    #[inline]
    fn leave(&mut self, stage: usize, now: u64) {
        self.pass_on(stage, now);
        for before in (0..stage).rev() {
            if self.host.blocked & 1 << before == 0 {
                return;
            }
            self.host.blocked ^= 1 << before;
            self.pass_on(before, now);
        }
    }

    /// Moves the finished packet on and serves the next one.
    #[inline]
    fn pass_on(&mut self, stage: usize, now: u64) {
        let held = &mut self.host.held[stage];
        *held -= 1;
        if *held > 0 {
            self.serve(stage, now);
        } else {
            self.host.done[stage] = NEVER;
        }
        if stage + 1 < self.rules.len {
            self.enter(stage + 1, now);
        } else {
            self.host.finished = now;
            self.host.departure_sum = self.host.departure_sum.wrapping_add(now);
        }
    }

    /// Begins the service of the next packet.
    #[inline]
    fn serve(&mut self, stage: usize, now: u64) {
        let rule = &self.rules.stages[stage];
        let time = match &rule.exception {
            Some(exception) if self.is_exception(stage, exception) => exception.service.0,
            _ => rule.services.next(self.ahead, self.seed),
        };
        self.host.done[stage] = now + time;
    }

    /// Counts a packet whose service begins.
    #[inline]
    fn is_exception(&mut self, stage: usize, exception: &Exception) -> bool {
        let since = &mut self.host.since_exception[stage];
        *since += 1;
        let is_exception = *since == exception.every;
        if is_exception {
            *since = 0;
        }
        is_exception
    }
}

impl<const STAGES: usize> Rules<STAGES> {
    pub(super) fn new(pipeline: &Pipeline) -> Self {
        let mut random = 0;
        let gaps = match &pipeline.arrivals {
            Arrivals::Renewal { interval, distribution } => {
                Gaps::Drawn(Times::new(Source::of_arrivals(*interval, *distribution), &mut random))
            }
            Arrivals::Film(film) => Gaps::Film(Timetable::new(film)),
        };
        let stages = std::array::from_fn(|index| {
            let stage = pipeline.stages.get(index);
            stage.map_or(Rule::ABSENT, |stage| Rule::new(stage, index, &mut random))
        });
        let len = pipeline.stages.len();
        Self { packets: pipeline.packets, stages, len, gaps, random }
    }

    /// The film that every host is sent.
    pub(super) fn film(&self) -> Option<&Timetable> {
        match &self.gaps {
            Gaps::Drawn(_) => None,
            Gaps::Film(film) => Some(film),
        }
    }

    /// What became of a host's packets, with times from its first arrival, `begin`, on.
    pub(super) fn outcome(&self, host: &Host<STAGES>, begin: u64) -> Outcome {
        let drops = host.drops[..self.len].to_vec();
        let delivered = self.packets - drops.iter().sum::<u64>();
        let begins = delivered.wrapping_mul(begin);
        Outcome {
            delivered,
            drops,
            finished: Picos(host.finished.saturating_sub(begin)),
            departure_sum: host.departure_sum.wrapping_sub(begins),
        }
    }
}

impl Rule {
    /// A stage that the pipeline has not.
    const ABSENT: Self =
        Self { slots: 0, blocks_at: u32::MAX, exception: None, services: Times::Constant(0) };

    #[expect(clippy::cast_possible_truncation, reason = "at most 2^24 slots")]
    fn new(stage: &Stage, index: usize, random: &mut usize) -> Self {
        let (slots, source) = (stage.slots as u32, Source::of_stage(stage, index));
        Self {
            slots,
            blocks_at: if stage.when_full == WhenFull::Block { slots } else { u32::MAX },
            exception: stage.exception,
            services: Times::new(source, random),
        }
    }
}

impl Times {
    /// The times of a source, counted in `random` if it is random.
    fn new(source: Source, random: &mut usize) -> Self {
        if let Some(time) = source.constant() {
            return Self::Constant(time);
        }
        *random += 1;
        Self::Random(source, *random - 1)
    }

    /// The next time [ps].
    #[inline]
    fn next(&self, ahead: &mut [DrawsAhead], seed: u64) -> u64 {
        match self {
            Self::Constant(time) => *time,
            Self::Random(source, place) => ahead[*place].next(source, seed),
        }
    }
}

impl<const STAGES: usize> Host<STAGES> {
    pub(super) fn new(rules: &Rules<STAGES>, begin: u64) -> Self {
        Self {
            arrival: begin,
            done: [NEVER; STAGES],
            held: [0; STAGES],
            blocked: 0,
            packets_left: rules.packets,
            departure_sum: 0,
            finished: 0,
            since_exception: [0; STAGES],
            drops: [0; STAGES],
        }
    }

    /// Brings the state into the cache: of several hosts whose turn is near their lines come at the
    /// same time, not one after the other.
    #[inline]
    pub(super) fn touch(&self) {
        black_box(self.arrival);
        black_box(self.finished);
    }
}
