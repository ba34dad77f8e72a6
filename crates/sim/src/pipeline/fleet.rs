//! Many hosts at once: pipelines of one description, taken in turns by a timing wheel.
//!
//! ```text
//! wheel ──► host h: its events from now to now + lookahead ──► its outcome
//!   ▲ [ps, h]                     │
//!   └──── its next event [ps, h] ─┘
//! ```
//!
//! A host alone follows the rules and the order of the event engine. One that cannot reach
//! another in less than some time may run ahead of it by that time (the lookahead of Chandy and
//! Misra, "Distributed simulation", 1979): its state then comes into the cache once a turn and
//! not once an event. A host keeps 32 bytes and 32 a stage; what all share is kept once.

use bitpath_measure::Picos;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::draws::{DrawsAhead, Source};
use super::wheel::{self, Wheel};
use super::{Outcome, Pipeline, Stage, WhenFull};

/// Most hosts of a fleet: at 500 bytes each they fill 8 GB.
pub const MAX_HOSTS: u32 = 1 << 24;

/// Hosts that are all alike, each with random numbers of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// What each of them is.
    pub pipeline: Pipeline,
    /// How many there are [hosts].
    pub hosts: u32,
    /// The first packets of the hosts arrive at random instants within this time [ps]: hosts
    /// that share a wire or a process are seldom in step. Zero lets all begin at once.
    pub spread: Picos,
    /// How far a host may run ahead of the others [ps]. Zero keeps the events of all hosts in
    /// one order of time. It moves speed only.
    pub lookahead: Picos,
}

/// Why a fleet cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// They would not fit into memory.
    #[error("{0} hosts are too many for one fleet: allowed are up to {MAX_HOSTS}")]
    TooManyHosts(u32),
}

/// Runs all hosts to their end. Times in an outcome count from the first arrival at that host,
/// so host h has the outcome of its pipeline alone under the h-th of [`seeds`].
///
/// # Errors
/// When there are more than [`MAX_HOSTS`].
pub fn run(fleet: &Fleet, seed: u64) -> Result<Vec<Outcome>, FleetError> {
    if fleet.hosts > MAX_HOSTS {
        return Err(FleetError::TooManyHosts(fleet.hosts));
    }
    let mut engine = Engine::new(fleet, seed);
    engine.run();
    Ok(engine.outcomes(begins(fleet, seed)))
}

/// The seeds of the hosts of a fleet, in order and without an end.
pub fn seeds(seed: u64) -> impl Iterator<Item = u64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(SEEDS);
    std::iter::repeat_with(move || random.next_u64())
}

/// When the first packet of each host arrives [ps].
fn begins(fleet: &Fleet, seed: u64) -> impl Iterator<Item = u64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(BEGINS);
    let spread = fleet.spread.0;
    std::iter::repeat_with(move || random.random_range(0..=spread)).take(fleet.hosts as usize)
}

/// Memory that each host takes while it runs [B]; the slots and the current tick of the
/// wheel, less than 5 MB, come once.
#[must_use]
pub fn bytes_a_host(pipeline: &Pipeline) -> usize {
    let sources = sources(pipeline);
    let random = sources.iter().filter(|source| source.constant().is_none()).count();
    size_of::<Host>()
        + pipeline.stages.len() * size_of::<State>()
        + random * size_of::<DrawsAhead>()
        + usize::from(random > 0) * size_of::<u64>()
        + wheel::BYTES_AN_EVENT
}

/// The sources of one host: its stages, then its arrivals.
fn sources(pipeline: &Pipeline) -> Vec<Source> {
    let stages = pipeline.stages.iter().enumerate();
    let services = stages.map(|(index, stage)| Source::of_stage(stage, index));
    services.chain([Source::of_arrivals(&pipeline.arrivals)]).collect()
}

/// All hosts.
struct Engine {
    rules: Rules,
    lookahead: u64,
    wheel: Wheel,
    hosts: Vec<Host>,
    /// The stages of the first host, of the second, ...
    stages: Vec<State>,
    /// Seed of each host; none where all times are constant.
    seeds: Vec<u64>,
    /// Random times of the first host, of the second, ...
    ahead: Vec<DrawsAhead>,
}

/// What is the same on every host.
struct Rules {
    packets: u64,
    stages: Vec<Rule>,
    gaps: Times,
    /// Random sources.
    random: usize,
}

/// What a stage is, on every host.
struct Rule {
    slots: u32,
    when_full: WhenFull,
    services: Times,
}

/// The times of one source.
struct Times {
    source: Source,
    /// Its place among the random sources of a host.
    random: usize,
}

/// The arrivals and departures of one host.
#[derive(Clone)]
struct Host {
    /// When the next packet arrives, or `NEVER`.
    arrival: u64,
    packets_left: u64,
    finished: u64,
    departure_sum: u64,
}

/// One stage of one host.
#[derive(Clone)]
struct State {
    /// When the packet in service is done, or `NEVER`.
    done: u64,
    drops: u64,
    until_exception: u64,
    /// Packets held, the one in service or blocked included.
    held: u32,
    /// The server has finished a packet that the next stage has no slot for.
    blocked: bool,
}

impl Engine {
    fn new(fleet: &Fleet, seed: u64) -> Self {
        let hosts = fleet.hosts as usize;
        let rules = Rules::new(&fleet.pipeline);
        let idle = rules.stages.iter().map(State::idle);
        let spacing = rules.spacing(&fleet.pipeline).max(fleet.lookahead.0) / hosts.max(1) as u64;
        let mut engine = Self {
            lookahead: fleet.lookahead.0,
            wheel: Wheel::new(hosts, Picos(spacing)),
            hosts: begins(fleet, seed).map(|begin| Host::new(rules.packets, begin)).collect(),
            stages: idle.cycle().take(hosts * rules.stages.len()).collect(),
            seeds: seeds(seed).take(if rules.random > 0 { hosts } else { 0 }).collect(),
            ahead: vec![DrawsAhead::default(); hosts * rules.random],
            rules,
        };
        for (id, host) in (0..).zip(&engine.hosts) {
            engine.wheel.set(id, Picos(host.arrival));
        }
        engine
    }

    fn run(&mut self) {
        while let Some((id, Picos(now))) = self.wheel.pop() {
            let until = now.saturating_add(self.lookahead);
            if let Some(next) = self.turn(id as usize).run(until) {
                self.wheel.set(id, Picos(next));
            }
        }
    }

    #[inline]
    fn turn(&mut self, host: usize) -> Turn<'_> {
        let (stages, random) = (self.rules.stages.len(), self.rules.random);
        Turn {
            rules: &self.rules,
            seed: self.seeds.get(host).copied().unwrap_or(0),
            ahead: &mut self.ahead[host * random..][..random],
            host: &mut self.hosts[host],
            stages: &mut self.stages[host * stages..][..stages],
        }
    }

    /// The outcome of each host, with times from its first arrival on.
    fn outcomes(&self, begins: impl Iterator<Item = u64>) -> Vec<Outcome> {
        let stages = self.stages.chunks(self.rules.stages.len());
        let hosts = self.hosts.iter().zip(stages).zip(begins);
        hosts.map(|((host, stages), begin)| self.rules.outcome(host, stages, begin)).collect()
    }
}

/// A host at work.
struct Turn<'a> {
    rules: &'a Rules,
    seed: u64,
    ahead: &'a mut [DrawsAhead],
    host: &'a mut Host,
    stages: &'a mut [State],
}

impl Turn<'_> {
    /// Takes all events up to this time, and returns when the next one is.
    #[inline]
    fn run(&mut self, until: u64) -> Option<u64> {
        loop {
            match self.next_event() {
                (_, NEVER) => return None,
                (_, next) if next > until => return Some(next),
                (Some(stage), now) => self.complete(stage, now),
                (None, now) => self.arrive(now),
            }
        }
    }

    /// The earliest event: of those at one instant the one furthest down the path, arrivals last.
    #[inline]
    fn next_event(&self) -> (Option<usize>, u64) {
        let mut earliest = (None, self.host.arrival);
        for (stage, state) in self.stages.iter().enumerate() {
            if state.done <= earliest.1 {
                earliest = (Some(stage), state.done);
            }
        }
        earliest
    }

    fn arrive(&mut self, now: u64) {
        self.host.packets_left -= 1;
        self.host.arrival = match self.host.packets_left {
            0 => NEVER,
            _ => now + self.rules.gaps.next(self.ahead, self.seed),
        };
        self.enter(0, now);
    }

    /// Offers a packet to a stage that drops or has a free slot.
    fn enter(&mut self, stage: usize, now: u64) {
        let state = &mut self.stages[stage];
        if state.held == self.rules.stages[stage].slots {
            state.drops += 1;
            return;
        }
        state.held += 1;
        if state.held == 1 {
            self.serve(stage, now);
        }
    }

    fn complete(&mut self, stage: usize, now: u64) {
        let next = self.rules.stages.get(stage + 1).zip(self.stages.get(stage + 1));
        let next_blocks = next.is_some_and(|(rule, state)| {
            rule.when_full == WhenFull::Block && state.held == rule.slots
        });
        if next_blocks {
            self.stages[stage].blocked = true;
            self.stages[stage].done = NEVER;
        } else {
            self.leave(stage, now);
        }
    }

    /// Moves the finished packet on, serves the next one, and frees whoever waited for the slot.
    fn leave(&mut self, stage: usize, now: u64) {
        let state = &mut self.stages[stage];
        state.held -= 1;
        state.blocked = false;
        state.done = NEVER;
        if state.held > 0 {
            self.serve(stage, now);
        }
        if stage + 1 == self.stages.len() {
            self.host.finished = now;
            self.host.departure_sum = self.host.departure_sum.wrapping_add(now);
        } else {
            self.enter(stage + 1, now);
        }
        if stage > 0 && self.stages[stage - 1].blocked {
            self.leave(stage - 1, now);
        }
    }

    /// Begins the service of the next packet.
    #[inline]
    fn serve(&mut self, stage: usize, now: u64) {
        let services = &self.rules.stages[stage].services;
        let state = &mut self.stages[stage];
        state.until_exception -= 1;
        let time = if state.until_exception == 0 {
            state.until_exception = services.source.exception_every();
            services.source.exception_time()
        } else {
            services.next(self.ahead, self.seed)
        };
        state.done = now + time;
    }
}

impl Rules {
    fn new(pipeline: &Pipeline) -> Self {
        let mut random = 0;
        let mut times = |source: Source| {
            let place = random;
            random += usize::from(source.constant().is_none());
            Times { source, random: place }
        };
        let gaps = times(Source::of_arrivals(&pipeline.arrivals));
        let rule = |(index, stage)| Rule::new(stage, times(Source::of_stage(stage, index)));
        let stages = pipeline.stages.iter().enumerate().map(rule).collect();
        Self { packets: pipeline.packets, stages, gaps, random }
    }

    /// About the time from one event of a host to its next [ps].
    fn spacing(&self, pipeline: &Pipeline) -> u64 {
        pipeline.arrivals.interval.0 / (self.stages.len() as u64 + 1)
    }

    fn outcome(&self, host: &Host, stages: &[State], begin: u64) -> Outcome {
        let drops: Vec<u64> = stages.iter().map(|stage| stage.drops).collect();
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
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^24 slots")]
    fn new(stage: &Stage, services: Times) -> Self {
        Self { slots: stage.slots as u32, when_full: stage.when_full, services }
    }
}

impl Times {
    /// The next time that is no exception [ps].
    #[inline]
    fn next(&self, ahead: &mut [DrawsAhead], seed: u64) -> u64 {
        match self.source.constant() {
            Some(time) => time,
            None => ahead[self.random].next(&self.source, seed),
        }
    }
}

impl Host {
    fn new(packets: u64, begin: u64) -> Self {
        Self { arrival: begin, packets_left: packets, finished: 0, departure_sum: 0 }
    }
}

impl State {
    fn idle(rule: &Rule) -> Self {
        let until_exception = rule.services.source.exception_every();
        Self { done: NEVER, drops: 0, until_exception, held: 0, blocked: false }
    }
}

/// No event pending.
const NEVER: u64 = u64::MAX;

/// Streams of the generator that no source of a pipeline has.
const SEEDS: u64 = u64::MAX;
const BEGINS: u64 = u64::MAX - 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{any_pipeline, p3};
    use super::super::{Distribution, events, exact};
    use super::*;

    /// P3 with random times wherever it has times.
    fn random_p3(packets: u64) -> Pipeline {
        let mut pipeline = p3(packets);
        pipeline.arrivals.distribution = Distribution::Exponential;
        for stage in &mut pipeline.stages {
            stage.distribution = Distribution::Exponential;
        }
        pipeline
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn every_host_has_the_outcome_of_its_pipeline_alone(
            pipeline in any_pipeline(),
            hosts in 1..6_u32,
            spread in 0..5000_u64,
            lookahead in prop::option::of(0..5000_u64),
            seed: u64,
        ) {
            let fleet = Fleet { pipeline, hosts, spread: Picos(spread), lookahead: Picos(lookahead.unwrap_or(0)) };
            let outcomes = run(&fleet, seed).unwrap();
            prop_assert_eq!(outcomes.len(), hosts as usize);
            for (outcome, seed) in outcomes.iter().zip(seeds(seed)) {
                prop_assert_eq!(outcome, &events::run(&fleet.pipeline, seed));
                prop_assert_eq!(outcome, &exact::run(&fleet.pipeline, seed));
            }
        }
    }

    #[test]
    fn hosts_with_random_times_differ_and_others_do_not() {
        for (pipeline, differ) in [(random_p3(2000), true), (p3(2000), false)] {
            let fleet =
                Fleet { pipeline, hosts: 2, spread: Picos::from_nanos(1200), lookahead: Picos(0) };
            let outcomes = run(&fleet, 3).unwrap();
            assert_eq!(outcomes[0] != outcomes[1], differ);
        }
    }

    /// Memory that an engine holds [B].
    fn bytes(engine: &Engine) -> usize {
        fn of<T>(vector: &Vec<T>) -> usize {
            vector.capacity() * size_of::<T>()
        }
        of(&engine.hosts)
            + of(&engine.stages)
            + of(&engine.seeds)
            + of(&engine.ahead)
            + engine.wheel.bytes()
    }

    #[test]
    fn a_host_of_many_takes_at_most_500_bytes() {
        const HOSTS: u32 = 100_000;
        for (pipeline, spread) in [(p3(2), 0), (p3(2), 1200), (random_p3(2), 1200)] {
            let fleet = Fleet {
                pipeline,
                hosts: HOSTS,
                spread: Picos::from_nanos(spread),
                lookahead: Picos(0),
            };
            let mut engine = Engine::new(&fleet, 1);
            engine.run();
            let (bytes, arithmetic) = (bytes(&engine), bytes_a_host(&fleet.pipeline));
            let once = bytes - arithmetic * HOSTS as usize;
            assert!(once < 5_000_000, "{once} bytes beside {arithmetic} a host");
            assert!(bytes <= 500 * HOSTS as usize, "{bytes} bytes");
        }
    }

    #[test]
    fn too_many_hosts_are_refused() {
        let fleet =
            Fleet { pipeline: p3(1), hosts: MAX_HOSTS + 1, spread: Picos(0), lookahead: Picos(0) };
        assert_eq!(run(&fleet, 0), Err(FleetError::TooManyHosts(MAX_HOSTS + 1)));
    }
}
