//! The machine against the pipeline, where a machine comes down to queues in a row.
//!
//! ```text
//! machine:   peer ──8 B a gap [ps]──► ring [frames] ──softirq [ps]──► socket [datagrams] ──work [ps]──► free
//! pipeline:  arrivals [ps] ────────► stage: ring + 1 slots, drop ──► stage: datagrams + 1 slots, drop
//! ```
//!
//! The softirq takes a frame out of the ring, and the process a datagram out of its socket, before it works on it: a
//! stage counts what is in service among its slots, so it has one more. A read costs a machine at least a picosecond.

use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_sim::job::Operation;
use bitpath_sim::machine::{self, Cause, Machine, Outcome, Task};
use bitpath_sim::pipeline::{self, Distribution, Exception, Pipeline, Stage, WhenFull, exact};
use proptest::prelude::*;

use crate::bare;

/// All times but the read's are whole multiples of it, and there are fewer packets than it has picoseconds: a
/// datagram never reaches the socket at the very instant at which one leaves it. Machine and pipeline differ in who
/// goes first there.
const TICK: u64 = 1 << 13;

/// Shortest read [ps].
const READ: u64 = 1;

/// What a datagram of the bare machine takes of a receive buffer [B].
const CHARGE: u64 = 2304;

/// Queues in a row, in numbers.
#[derive(Clone, Debug)]
struct Queues {
    packets: u64,
    /// Time from one datagram to the next [ps].
    gap: u64,
    ring: usize,
    softirq: u64,
    datagrams: u64,
    work: u64,
    /// Every so-many-th datagram takes the other time [ps].
    exception: Option<(u64, u64)>,
}

fn ticks(range: std::ops::Range<u64>) -> impl Strategy<Value = u64> {
    range.prop_map(|count| count * TICK)
}

/// Gaps whose rate for 64 bits is a whole number of bits a second: 64 x 10^12 = 2^18 x 5^12.
fn any_gap() -> impl Strategy<Value = u64> {
    (0..5_u32, 1..4_u32).prop_map(|(twos, fives)| TICK * 2_u64.pow(twos) * 5_u64.pow(fives))
}

fn any_queues() -> impl Strategy<Value = Queues> {
    let exception = prop::option::of((2..9_u64, ticks(1..5000)));
    (1..2000_u64, any_gap(), 1..40_usize, ticks(1..2000), 1..40_u64, ticks(1..2000), exception)
        .prop_map(|(packets, gap, ring, softirq, datagrams, work, exception)| Queues {
            packets,
            gap,
            ring,
            softirq,
            datagrams,
            work,
            exception,
        })
}

impl Queues {
    /// Softirq on core 0, process on core 1: two servers.
    fn machine(&self) -> Machine {
        let mut machine = bare::machine();
        machine.duration = Picos(self.packets * self.gap);
        machine.nic.ring = self.ring;
        machine.stack.frame = Picos(self.softirq);
        let flow = &mut machine.flows[0];
        flow.core = 1;
        flow.receive_buffer = ByteCount(self.datagrams * CHARGE);
        let rate = Some(BitRate(64_000_000_000_000 / self.gap));
        let (every, other) = self.exception.unwrap_or((1, self.work));
        let work = |index| if index == every { other } else { self.work };
        let list = (1..=every).flat_map(|index| {
            let bytes = ByteCount(8);
            let work = Operation::Process(Picos(work(index)));
            [Operation::Read(bytes), work, Operation::Free(bytes)]
        });
        flow.job = Task::Operations { rate, list: list.collect() };
        machine
    }

    fn pipeline(&self) -> Pipeline {
        let stage = |name: &str, slots, service| Stage {
            name: name.into(),
            slots,
            service: Picos(service),
            distribution: Distribution::Constant,
            exception: None,
            when_full: WhenFull::Drop,
        };
        let exception =
            self.exception.map(|(every, time)| Exception { every, service: Picos(time + READ) });
        let slots = usize::try_from(self.datagrams).unwrap() + 1;
        let process = Stage { exception, ..stage("process", slots, self.work + READ) };
        Pipeline {
            packets: self.packets,
            arrivals: arrivals(self.gap, Distribution::Constant),
            stages: vec![stage("softirq", self.ring + 1, self.softirq), process],
        }
    }
}

fn arrivals(gap: u64, distribution: Distribution) -> pipeline::Arrivals {
    pipeline::Arrivals::Renewal { interval: Picos(gap), distribution }
}

/// Delivered, lost in the ring, lost before the socket, and when the last work ended.
fn counts(outcome: &Outcome) -> (u64, u64, u64, Picos) {
    let ring = outcome.drops(Cause::NicBuffer) + outcome.drops(Cause::Cpu);
    (outcome.flows[0].reads, ring, outcome.drops(Cause::KernelBuffer), outcome.elapsed)
}

proptest! {
    #[test]
    fn two_cores_are_two_stages_drop_for_drop(queues in any_queues()) {
        let pipeline = exact::run(&queues.pipeline(), 0);
        let expected =
            (pipeline.delivered, pipeline.drops[0], pipeline.drops[1], pipeline.finished);
        prop_assert_eq!(counts(&bare::run(&queues.machine(), 0)), expected);
    }

    #[test]
    fn one_core_whose_stack_costs_nothing_is_one_stage_drop_for_drop(queues in any_queues()) {
        let mut machine = queues.machine();
        (machine.stack.frame, machine.nic.ring, machine.flows[0].core) = (Picos(0), 1024, 0);
        let mut pipeline = queues.pipeline();
        pipeline.stages.remove(0);
        let pipeline = exact::run(&pipeline, 0);
        let expected = (pipeline.delivered, 0, pipeline.drops[0], pipeline.finished);
        prop_assert_eq!(counts(&bare::run(&machine, 0)), expected);
    }
}

#[test]
fn random_arrivals_lose_what_they_lose_in_a_pipeline() {
    // Their streams of random numbers differ, so the losses agree within what chance allows: these are 10 to 30 % of
    // the packets, and short queues forget soon.
    for (work, datagrams) in [(8192, 1), (8192, 3), (12_000, 6)] {
        let queues = Queues {
            packets: 200_000,
            gap: TICK,
            ring: 1024,
            softirq: 0,
            datagrams,
            work,
            exception: None,
        };
        let mut machine = queues.machine();
        machine.flows[0].arrivals = machine::Arrivals::Poisson;
        let mut pipeline = queues.pipeline();
        pipeline.stages.remove(0);
        pipeline.arrivals = arrivals(queues.gap, Distribution::Exponential);
        let exact = exact::run(&pipeline, 1);
        let expected = exact.drops[0] as f64 / queues.packets as f64;
        let found = bare::run(&machine, 1).loss();
        assert!((found / expected - 1.0).abs() < 0.03, "{work} {datagrams}: {found} {expected}");
    }
}
