//! Many hosts of golden case P3 at once, and the wheel that keeps their events, beside the
//! textbook: one binary heap of the events of all hosts. One sitting, one core.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use bitpath_measure::Picos;
use bitpath_sim::pipeline::fleet::{self, Fleet};
use bitpath_sim::pipeline::wheel::Wheel;
use bitpath_sim::pipeline::{Outcome, Pipeline};
use bitpath_sim::scenario::{Scenario, Subject};
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use criterion::{BenchmarkId, measurement::WallTime};

/// Hosts at once.
const SIZES: [u32; 3] = [1, 100, 100_000];

/// Packets of all hosts together: thirty for each of the most hosts, 36 us of their time, so that
/// every host has several turns.
const PACKETS: u64 = 3_000_000;

/// Times that a component waits for its next event, as long as those of P3 [ps].
const LONGEST_DELAY: u64 = 2_000_000;

/// How far hosts may run ahead: not at all, and by the delay of 200 m and 2 km of fibre.
const LOOKAHEADS: [(&str, Picos); 3] = [
    ("in one order", Picos(0)),
    ("1 us ahead", Picos::from_nanos(1000)),
    ("10 us ahead", Picos::from_nanos(10_000)),
];

fn p3_fleet(hosts: u32, lookahead: Picos) -> Fleet {
    let scenario = Scenario::parse(include_str!("../../../scenarios/p3.toml"))
        .expect("the golden case is sound");
    let Subject::Pipeline(pipeline) = scenario.subject else {
        panic!("the golden case is a pipeline")
    };
    let pipeline = Pipeline { packets: PACKETS / u64::from(hosts), ..pipeline };
    Fleet { pipeline, hosts, spread: Picos::from_nanos(1200), lookahead }
}

/// Arrivals and completions in these outcomes.
fn events(fleet: &Fleet, outcomes: &[Outcome]) -> u64 {
    let events_of = |outcome: &Outcome| {
        let mut inside = fleet.pipeline.packets;
        let completions = outcome.drops.iter().map(|drops| {
            inside -= drops;
            inside
        });
        completions.sum::<u64>() + fleet.pipeline.packets
    };
    outcomes.iter().map(events_of).sum()
}

/// A host of P3 as most simulators keep it.
#[derive(Clone, Default)]
struct Host {
    held: [usize; 3],
    blocked: bool,
    served: u64,
    offered: u64,
    delivered: u64,
}

type Heap = BinaryHeap<Reverse<(u64, u32, u8)>>;

/// The arrivals come last at one instant; stage 2, the last, comes first.
const ARRIVAL: u8 = 3;

/// All hosts by one heap of (time, host, component); packets delivered by all.
fn by_binary_heap(fleet: &Fleet) -> u64 {
    let mut hosts = vec![Host::default(); fleet.hosts as usize];
    let mut events: Heap = (0..fleet.hosts)
        .map(|host| Reverse((u64::from(host).wrapping_mul(7_919_003) % 1_200_000, host, ARRIVAL)))
        .collect();
    while let Some(Reverse((now, id, order))) = events.pop() {
        let host = &mut hosts[id as usize];
        let mut set = |time, order| events.push(Reverse((now + time, id, order)));
        if order == ARRIVAL {
            host.offered += 1;
            if host.offered < fleet.pipeline.packets {
                set(1_200_000, ARRIVAL);
            }
            host.enter(0, &mut set);
        } else {
            host.complete(2 - usize::from(order), &mut set);
        }
    }
    hosts.iter().map(|host| host.delivered).sum()
}

impl Host {
    fn enter(&mut self, stage: usize, set: &mut impl FnMut(u64, u8)) {
        if self.held[stage] < [43, 140, 32][stage] {
            self.held[stage] += 1;
            if self.held[stage] == 1 {
                self.serve(stage, set);
            }
        }
    }

    fn serve(&mut self, stage: usize, set: &mut impl FnMut(u64, u8)) {
        self.served += u64::from(stage == 2);
        let pause = stage == 2 && self.served.is_multiple_of(1000);
        let time = if pause { 250_000_000 } else { [900_000, 1_300_000, 1_000_000][stage] };
        set(time, [2, 1, 0][stage]);
    }

    fn complete(&mut self, stage: usize, set: &mut impl FnMut(u64, u8)) {
        if stage == 1 && self.held[2] == 32 {
            self.blocked = true;
            return;
        }
        self.held[stage] -= 1;
        if self.held[stage] > 0 {
            self.serve(stage, set);
        }
        if stage < 2 {
            return self.enter(stage + 1, set);
        }
        self.delivered += 1;
        if std::mem::take(&mut self.blocked) {
            self.complete(1, set);
        }
    }
}

fn fleets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fleet");
    group.sample_size(10);
    for hosts in SIZES {
        let fleet = p3_fleet(hosts, Picos(0));
        let outcomes = fleet::run(&fleet, 0).expect("not too many hosts");
        let delivered = outcomes.iter().map(|outcome| outcome.delivered).sum::<u64>();
        assert_eq!(by_binary_heap(&fleet), delivered);
        group.throughput(Throughput::Elements(events(&fleet, &outcomes)));
        for (name, lookahead) in LOOKAHEADS {
            let fleet = p3_fleet(hosts, lookahead);
            group.bench_function(BenchmarkId::new(name, hosts), |bencher| {
                bencher.iter(|| fleet::run(black_box(&fleet), 0));
            });
        }
        group.bench_function(BenchmarkId::new("binary heap", hosts), |bencher| {
            bencher.iter(|| assert_eq!(by_binary_heap(black_box(&fleet)), delivered));
        });
    }
    group.finish();
}

/// The hold model: the earliest event is taken and set again at a random later time.
fn queues(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hold");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for ids in SIZES {
        hold_wheel(&mut group, ids);
        hold_heap(&mut group, ids);
    }
    group.finish();
}

fn hold_wheel(group: &mut BenchmarkGroup<'_, WallTime>, ids: u32) {
    let (mut delay, spacing) = (delays(), LONGEST_DELAY / 2 / u64::from(ids));
    let mut wheel = Wheel::new(ids as usize, Picos(spacing));
    (0..ids).for_each(|id| wheel.set(id, Picos(delay())));
    group.bench_function(BenchmarkId::new("wheel", ids), |bencher| {
        bencher.iter(|| {
            let (id, now) = wheel.pop(|_| ()).expect("as many events as ids");
            wheel.set(id, Picos(now.0 + delay()));
        });
    });
}

fn hold_heap(group: &mut BenchmarkGroup<'_, WallTime>, ids: u32) {
    let mut delay = delays();
    let mut heap: BinaryHeap<_> = (0..ids).map(|id| Reverse((delay(), id))).collect();
    group.bench_function(BenchmarkId::new("binary heap", ids), |bencher| {
        bencher.iter(|| {
            let Reverse((now, id)) = heap.pop().expect("as many events as ids");
            heap.push(Reverse((now + delay(), id)));
        });
    });
}

/// The same delays for both, by a congruential generator (Knuth, TAOCP 2, 3.3.4).
fn delays() -> impl FnMut() -> u64 {
    let mut state = 1_u64;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % LONGEST_DELAY
    }
}

criterion_group!(benches, fleets, queues);
criterion_main!(benches);
