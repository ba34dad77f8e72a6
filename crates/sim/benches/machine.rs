//! The full machine against real time: 10 Gb/s of 1500-byte packets with TCP and softirq.

use std::hint::black_box;

use bitpath_measure::Picos;
use bitpath_sim::machine::{self, Machine};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::Deserialize;

/// The part of a scenario file that is a machine.
#[derive(Deserialize)]
struct File {
    machine: Machine,
}

fn ten_gigabit(criterion: &mut Criterion) {
    let text = include_str!("../../../scenarios/ten-gigabit-tcp.toml");
    let File { machine } = toml::from_str(text).expect("the scenario is part of the project");
    let outcome = machine::run(&machine, Picos::SECOND, 0).expect("its values go together");
    let mut group = criterion.benchmark_group("machine");
    group.sample_size(10).throughput(Throughput::Elements(outcome.flows[0].sent));
    group.bench_function("one second of a stream at 10 Gb/s", |bencher| {
        bencher.iter(|| machine::run(black_box(&machine), Picos::SECOND, 0));
    });
    group.finish();
}

criterion_group!(benches, ten_gigabit);
criterion_main!(benches);
