//! The engines on golden case P3, and on two hours of a film over the same path, beside the textbook event list: a binary heap of boxed-in
//! events that the same stages feed. One sitting, one core.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use bitpath_sim::pipeline::{Pipeline, events, exact};
use bitpath_sim::scenario::{Scenario, Subject};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Long enough that the start does not show, short enough for a hundred runs.
const PACKETS: u64 = 1_000_000;

/// Golden counts of model.md: every engine must reach them, or its time means nothing.
const DELIVERED: u64 = 795_771;

fn pipeline(text: &str) -> Pipeline {
    let scenario = Scenario::parse(text).expect("the scenario is part of the project");
    let Subject::Pipeline(pipeline) = scenario.subject else { panic!("it is a pipeline") };
    pipeline
}

fn p3() -> Pipeline {
    Pipeline { packets: PACKETS, ..pipeline(include_str!("../../../scenarios/p3.toml")) }
}

/// P3 by a heap of (time, order, component) as most simulators keep their events; nanoseconds.
fn by_binary_heap() -> u64 {
    const ARRIVAL: u8 = 3;
    let (slots, service) = ([43, 140, 32], [900, 1300, 1000]);
    let (mut held, mut blocked, mut served, mut delivered, mut offered) =
        ([0; 3], false, 0_u64, 0_u64, 0_u64);
    let mut events = BinaryHeap::from([Reverse((0_u64, 0_u8, ARRIVAL))]);
    while let Some(Reverse((now, _, component))) = events.pop() {
        let mut entering = None;
        match component {
            ARRIVAL => {
                offered += 1;
                if offered < PACKETS {
                    events.push(Reverse((now + 1200, 3, ARRIVAL)));
                }
                entering = Some(0);
            }
            1 if held[2] == slots[2] => blocked = true,
            stage => {
                let stage = usize::from(stage);
                held[stage] -= 1;
                if held[stage] > 0 {
                    push(&mut events, now, stage, service[stage], &mut served);
                }
                entering = (stage < 2).then_some(stage + 1);
                delivered += u64::from(stage == 2);
                if stage == 2 && blocked {
                    blocked = false;
                    events.push(Reverse((now, 2, 1)));
                }
            }
        }
        if let Some(stage) = entering.filter(|stage| held[*stage] < slots[*stage]) {
            held[stage] += 1;
            if held[stage] == 1 {
                push(&mut events, now, stage, service[stage], &mut served);
            }
        }
    }
    delivered
}

fn push(
    events: &mut BinaryHeap<Reverse<(u64, u8, u8)>>,
    now: u64,
    stage: usize,
    service: u64,
    served: &mut u64,
) {
    let mut time = service;
    if stage == 2 {
        *served += 1;
        if served.is_multiple_of(1000) {
            time = 250_000;
        }
    }
    let stage = u8::try_from(stage).expect("three stages");
    events.push(Reverse((now + time, 2 - stage, stage)));
}

fn engines(criterion: &mut Criterion) {
    let pipeline = p3();
    assert_eq!(by_binary_heap(), DELIVERED);
    let mut group = criterion.benchmark_group("p3");
    group.throughput(Throughput::Elements(PACKETS)).sample_size(30);
    group.bench_function("exact recursion", |bencher| {
        bencher.iter(|| assert_eq!(exact::run(black_box(&pipeline), 0).delivered, DELIVERED));
    });
    group.bench_function("events, array", |bencher| {
        bencher.iter(|| assert_eq!(events::run(black_box(&pipeline), 0).delivered, DELIVERED));
    });
    group.bench_function("events, binary heap", |bencher| {
        bencher.iter(|| assert_eq!(black_box(by_binary_heap()), DELIVERED));
    });
    group.finish();
}

fn two_hours_of_video2(criterion: &mut Criterion) {
    let pipeline = pipeline(include_str!("../../../scenarios/two-hours-of-video2.toml"));
    let outcome = events::run(&pipeline, 0);
    let mut group = criterion.benchmark_group("two hours of video2");
    group.throughput(Throughput::Elements(pipeline.packets)).sample_size(30);
    group.bench_function("exact recursion", |bencher| {
        bencher.iter(|| assert_eq!(exact::run(black_box(&pipeline), 0), outcome));
    });
    group.bench_function("events, array", |bencher| {
        bencher.iter(|| assert_eq!(events::run(black_box(&pipeline), 0), outcome));
    });
    group.finish();
}

criterion_group!(benches, engines, two_hours_of_video2);
criterion_main!(benches);
