//! Many hosts at once: pipelines of one description, each with random numbers of its own.
//!
//! ```text
//! windows   next event of each host [ps] ──► hosts 0, 1, 2, ...: their events in the window ─┐
//!             ▲                                                                               │
//!             └──────────────────── the next window begins at the least of these ◄────────────┘
//! wheel     earliest [ps, host] ──► that host: its events up to now + lookahead ──► its next [ps, host]
//! ```
//!
//! A host alone follows the rules and the order of the event engine. One that cannot reach
//! another in less than some time may run ahead of it by that time (the lookahead of Chandy and
//! Misra, "Distributed simulation", 1979). Where most hosts have an event within the lookahead,
//! time goes in windows as long as that (Nicol, "The cost of conservative synchronization in
//! parallel discrete event simulations", JACM 1993): each host takes all its events of a window,
//! one host after the other as they lie in memory, and nothing is sorted. Else a timing wheel
//! says whose turn it is.

mod host;

use bitpath_measure::Picos;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::host::{Host, NEVER, Rules, Turn};
use super::draws::DrawsAhead;
use super::timetable::{Place, Timetable};
use super::wheel::{self, Wheel};
use super::{Distribution, MAX_STAGES, Outcome, Pipeline};

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
    /// How far a host may run ahead of the others [ps]: the least time in which one can reach
    /// another. Zero keeps the events of all hosts in one order of time. The hosts of this fleet
    /// never reach each other, so it moves speed only.
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
    Ok(match fleet.pipeline.stages.len() {
        0..=3 => Engine::<3>::outcomes_of(fleet, seed),
        4..=5 => Engine::<5>::outcomes_of(fleet, seed),
        6..=8 => Engine::<8>::outcomes_of(fleet, seed),
        _ => Engine::<MAX_STAGES>::outcomes_of(fleet, seed),
    })
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
    let host = match pipeline.stages.len() {
        0..=3 => size_of::<Host<3>>(),
        4..=5 => size_of::<Host<5>>(),
        6..=8 => size_of::<Host<8>>(),
        _ => size_of::<Host<MAX_STAGES>>(),
    };
    let services = pipeline.stages.iter().map(|stage| stage.distribution);
    let random = services.filter(|service| *service == Distribution::Exponential).count()
        + usize::from(pipeline.arrivals.is_random());
    host + random * size_of::<DrawsAhead>()
        + usize::from(random > 0) * size_of::<u64>()
        + usize::from(pipeline.arrivals.is_film()) * size_of::<Place>()
        + wheel::BYTES_AN_EVENT
}

/// All hosts, each with room for this many stages, and whose turn it is.
struct Engine<const STAGES: usize> {
    fleet: Hosts<STAGES>,
    /// How far a host runs ahead, at least to the next instant [ps].
    lookahead: u64,
    pending: Pending,
}

/// The next event of each host.
enum Pending {
    /// Its time for host 0, 1, 2, ..., or `NEVER` [ps].
    InWindows(Vec<u64>),
    InOrder(Wheel),
}

struct Hosts<const STAGES: usize> {
    rules: Rules<STAGES>,
    hosts: Vec<Host<STAGES>>,
    /// Where each host is in its film; none where arrivals are no film.
    places: Vec<Place>,
    /// Seed of each host; none where all times are constant.
    seeds: Vec<u64>,
    /// Random times of the first host, of the second, ...
    ahead: Vec<DrawsAhead>,
}

impl<const STAGES: usize> Engine<STAGES> {
    fn outcomes_of(fleet: &Fleet, seed: u64) -> Vec<Outcome> {
        let mut engine = Self::new(fleet, seed);
        engine.run();
        engine.fleet.outcomes(begins(fleet, seed))
    }

    fn new(fleet: &Fleet, seed: u64) -> Self {
        let hosts = Hosts::new(fleet, seed);
        Self {
            lookahead: fleet.lookahead.0.max(1),
            pending: Pending::new(fleet, hosts.hosts.iter().map(|host| host.arrival)),
            fleet: hosts,
        }
    }

    fn run(&mut self) {
        match &mut self.pending {
            Pending::InWindows(next) => run_in_windows(&mut self.fleet, next, self.lookahead),
            Pending::InOrder(wheel) => run_in_order(&mut self.fleet, wheel, self.lookahead),
        }
    }
}

impl Pending {
    /// The first events. Windows pay where a host in so many has an event within one: passing over
    /// the others costs less than the wheel.
    fn new(fleet: &Fleet, first: impl Iterator<Item = u64>) -> Self {
        const HOSTS_AN_EVENT: f64 = 32.0;
        let of_host =
            fleet.pipeline.arrivals.mean_interval() / (fleet.pipeline.stages.len() + 1) as f64;
        if fleet.lookahead.0 as f64 * HOSTS_AN_EVENT >= of_host {
            return Self::InWindows(first.collect());
        }
        let spacing = of_host.max(fleet.lookahead.0 as f64) / f64::from(fleet.hosts.max(1));
        let mut wheel = Wheel::new(fleet.hosts as usize, Picos::from_nanos_f64(spacing / 1000.0));
        (0..).zip(first).for_each(|(id, time)| wheel.set(id, Picos(time)));
        Self::InOrder(wheel)
    }
}

/// All events of a window, host by host, then those of the next.
fn run_in_windows<const STAGES: usize>(
    fleet: &mut Hosts<STAGES>,
    next: &mut [u64],
    lookahead: u64,
) {
    let mut begin = next.iter().copied().min().unwrap_or(NEVER);
    while begin != NEVER {
        let end = begin.saturating_add(lookahead);
        begin = NEVER;
        for (host, next) in next.iter_mut().enumerate() {
            if *next < end {
                *next = fleet.turn(host).run(end);
            }
            begin = begin.min(*next);
        }
    }
}

/// The earliest event, and those of its host within the lookahead; then the earliest again.
fn run_in_order<const STAGES: usize>(fleet: &mut Hosts<STAGES>, wheel: &mut Wheel, lookahead: u64) {
    while let Some((host, Picos(now))) = wheel.pop(|host| fleet.hosts[host as usize].touch()) {
        let next = fleet.turn(host as usize).run(now.saturating_add(lookahead));
        if next != NEVER {
            wheel.set(host, Picos(next));
        }
    }
}

impl<const STAGES: usize> Hosts<STAGES> {
    fn new(fleet: &Fleet, seed: u64) -> Self {
        let hosts = fleet.hosts as usize;
        let rules = Rules::new(&fleet.pipeline);
        Self {
            hosts: begins(fleet, seed).map(|begin| Host::new(&rules, begin)).collect(),
            places: rules.film().into_iter().map(Timetable::begin).cycle().take(hosts).collect(),
            seeds: seeds(seed).take(if rules.random > 0 { hosts } else { 0 }).collect(),
            ahead: vec![DrawsAhead::default(); hosts * rules.random],
            rules,
        }
    }

    #[inline]
    fn turn(&mut self, host: usize) -> Turn<'_, STAGES> {
        let random = self.rules.random;
        Turn {
            rules: &self.rules,
            seed: self.seeds.get(host).copied().unwrap_or(0),
            ahead: &mut self.ahead[host * random..][..random],
            places: self.places.get_mut(host..=host).unwrap_or_default(),
            host: &mut self.hosts[host],
        }
    }

    /// The outcome of each host, with times from its first arrival on.
    fn outcomes(&self, begins: impl Iterator<Item = u64>) -> Vec<Outcome> {
        let hosts = self.hosts.iter().zip(begins);
        hosts.map(|(host, begin)| self.rules.outcome(host, begin)).collect()
    }
}

/// Streams of the generator that no source of a pipeline has.
const SEEDS: u64 = u64::MAX;
const BEGINS: u64 = u64::MAX - 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{any_pipeline, p3};
    use super::super::{Arrivals, events, exact};
    use super::*;
    use crate::scenario::{Scenario, Subject};

    /// P3 with random times wherever it has times.
    fn random_p3(packets: u64) -> Pipeline {
        let mut pipeline = p3(packets);
        let (interval, distribution) = (Picos::from_nanos(1200), Distribution::Exponential);
        pipeline.arrivals = Arrivals::Renewal { interval, distribution };
        for stage in &mut pipeline.stages {
            stage.distribution = Distribution::Exponential;
        }
        pipeline
    }

    /// P3 that receives a film.
    fn film_p3(packets: u64) -> Pipeline {
        let text = include_str!("../../../../scenarios/two-hours-of-video2.toml");
        let Subject::Pipeline(film) = Scenario::parse(text).unwrap().subject else {
            panic!("a pipeline")
        };
        Pipeline { arrivals: film.arrivals, ..p3(packets) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn every_host_has_the_outcome_of_its_pipeline_alone(
            pipeline in any_pipeline(),
            hosts in 1..6_u32,
            spread in 0..5000_u64,
            // In one order, a little ahead by the wheel, and in windows.
            lookahead in prop_oneof![Just(0), 1..5_u64, 5..5000_u64, Just(u64::MAX)],
            seed: u64,
        ) {
            let fleet = Fleet { pipeline, hosts, spread: Picos(spread), lookahead: Picos(lookahead) };
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
    fn bytes<const STAGES: usize>(Engine { fleet, pending, .. }: &Engine<STAGES>) -> usize {
        fn of<T>(vector: &Vec<T>) -> usize {
            vector.capacity() * size_of::<T>()
        }
        let pending = match pending {
            Pending::InWindows(next) => of(next),
            Pending::InOrder(wheel) => wheel.bytes(),
        };
        of(&fleet.hosts) + of(&fleet.places) + of(&fleet.seeds) + of(&fleet.ahead) + pending
    }

    #[test]
    fn a_host_of_many_takes_at_most_500_bytes() {
        const HOSTS: u32 = 100_000;
        for (pipeline, spread, lookahead) in [
            (p3(2), 0, 0),
            (p3(2), 1200, 0),
            (random_p3(2), 1200, 0),
            (random_p3(2), 1200, 1000),
            (film_p3(2), 1200, 0),
        ] {
            let fleet = Fleet {
                pipeline,
                hosts: HOSTS,
                spread: Picos::from_nanos(spread),
                lookahead: Picos::from_nanos(lookahead),
            };
            let mut engine = Engine::<3>::new(&fleet, 1);
            engine.run();
            let (bytes, arithmetic) = (bytes(&engine), bytes_a_host(&fleet.pipeline));
            let once = bytes.saturating_sub(arithmetic * HOSTS as usize);
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
