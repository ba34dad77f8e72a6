//! More of a resource never delivers less, where that is a theorem or nearly one, and cases where it is none.
//!
//! ```text
//! arrivals ──► drop │ block │ block ──► drop │ block ──► delivered
//!              └─ first segment ─┘      └ last segment ┘
//! ```
//!
//! A segment is a stage that drops with the stages behind it that block. Within one, every departure is a maximum of
//! sums of arrivals, services and earlier departures (header of `pipeline/exact.rs`), so more slots or shorter services
//! make no departure later. By induction over the arrivals no fewer packets were accepted at any time: where both have
//! accepted as many, a slot is free with more resources if one is with less. This holds for all arrivals and services
//! of the *last* segment. Before it, it does not: what leaves earlier meets the next queue in a burst.
//!
//! A machine that receives datagrams is such a chain where its process has a core of its own and waking it is free:
//! ring and softirq are one segment, socket and process the last. A larger ring helps where datagrams come evenly, for
//! then a softirq that falls behind never pauses and only goes on for longer; with moderated interrupts it passes
//! larger bursts to the socket. A faster process that must be woken sleeps more often, and its softirq pays.
//!
//! Of a stream nothing is proven: its window opens at other times. Room costs it no more than what is under way, as
//! long as no ring overflows; a faster reader may read less in a given time, and no test says otherwise. Nor is a larger
//! queue before a line better where timers do not measure it (RFC 970, `machine/tests.rs`).

use bitpath_measure::{BitRate, ByteCount, ByteRate, Picos};
use bitpath_sim::machine::{Arrivals, CoreCopy, Machine, Task};
use bitpath_sim::pipeline::{self, Distribution, Exception, Pipeline, Stage, WhenFull, exact};
use bitpath_sim::profile::{NanosPerByte, Transport};
use proptest::prelude::*;

use crate::bare;

/// One change that gives a machine more of something.
type More = fn(&mut Machine, u64);

/// Room behind the softirq, and cores beside those that work.
const ROOM: [(&str, More); 2] = [
    ("cores", |machine, times| machine.cpu.cores *= small(times)),
    ("receive buffer", |machine, times| machine.flows[0].receive_buffer.0 *= times),
];

/// Room before the softirq.
const RING: [(&str, More); 1] = [("ring", |machine, times| machine.nic.ring *= small(times))];

/// Resources that make a process faster.
const SPEED: [(&str, More); 3] = [
    ("copy", |machine, times| {
        let rate = ByteRate(machine.memory.core.rate().0 * times as f64);
        machine.memory.core = CoreCopy::Rate { rate };
        machine.memory.controller.0 *= times as f64;
    }),
    ("call", |machine, times| machine.stack.call.0 /= times),
    ("work", |machine, times| {
        if let Task::Raw { process, .. } = &mut machine.flows[0].job {
            process.0 /= times as f64;
        }
    }),
];

fn small(times: u64) -> usize {
    usize::try_from(times).unwrap()
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![Just(Distribution::Constant), Just(Distribution::Exponential)]
}

fn any_stage() -> impl Strategy<Value = Stage> {
    let exception = prop::option::of((1..9_u64, 1..900_u64));
    (1..6_usize, 1..400_u64, any_distribution(), any::<bool>(), exception).prop_map(
        |(slots, service, distribution, blocks, exception)| Stage {
            name: "stage".into(),
            slots,
            service: Picos(service),
            distribution,
            exception: exception
                .map(|(every, service)| Exception { every, service: Picos(service) }),
            when_full: if blocks { WhenFull::Block } else { WhenFull::Drop },
        },
    )
}

fn any_pipeline() -> impl Strategy<Value = Pipeline> {
    let stages = prop::collection::vec(any_stage(), 1..6);
    (1..400_u64, 1..300_u64, any_distribution(), stages).prop_map(
        |(packets, interval, distribution, mut stages)| {
            stages[0].when_full = WhenFull::Drop;
            let arrivals = pipeline::Arrivals::Renewal { interval: Picos(interval), distribution };
            Pipeline { packets, arrivals, stages }
        },
    )
}

/// More of one stage of the last segment: slots, or a server that is faster at everything it does.
fn improve(pipeline: &mut Pipeline, place: prop::sample::Index, slots: usize, faster: u64) {
    let last = pipeline.stages.iter().rposition(|stage| stage.when_full == WhenFull::Drop).unwrap();
    let stages = &mut pipeline.stages[last..];
    let stage = &mut stages[place.index(stages.len())];
    stage.slots += slots;
    stage.service.0 = (stage.service.0 / faster).max(1);
    if let Some(exception) = &mut stage.exception {
        exception.service.0 = (exception.service.0 / faster).max(1);
    }
}

fn nanos(nanos: u64) -> Picos {
    Picos::from_nanos(nanos)
}

/// One flow that is received by a process with a core of its own; waking it costs nothing.
fn any_receiver(transport: Transport) -> impl Strategy<Value = Machine> {
    let stack = (0..2000_u64, 0..1000_u64, 0..2000_u64, 1..100_u32);
    let flow = (100..1448_u64, 9_000..500_000_u64, 100..8000_u64, 0..20_u32, any::<bool>());
    (200_000..1_000_000_u64, 8..200_usize, 1..400_u32, 1..20_u64, stack, flow).prop_map(
        move |(duration, ring, budget, line, stack, flow)| {
            let (frame, delivery, call, copy) = stack;
            let (message, buffer, rate, work, random) = flow;
            let mut machine = bare::machine();
            machine.duration = nanos(duration);
            (machine.nic.ring, machine.nic.budget) = (ring, budget);
            machine.line.rate = BitRate(line * 500_000_000);
            (machine.line.segment, machine.line.headers) = (ByteCount(1448), ByteCount(90));
            let costs = &mut machine.stack;
            (costs.frame, costs.delivery, costs.call) =
                (nanos(frame), nanos(delivery), nanos(call));
            costs.overhead = ByteCount(856);
            machine.memory.core = CoreCopy::Rate { rate: ByteRate(f64::from(copy) * 1e8) };
            let process = NanosPerByte(f64::from(work) / 10.0);
            let flow = &mut machine.flows[0];
            (flow.core, flow.transport, flow.message) = (1, transport, ByteCount(message));
            flow.receive_buffer = ByteCount(buffer);
            flow.job = Task::Raw { rate: Some(BitRate(rate * 1_000_000)), process };
            if random && transport == Transport::Udp {
                flow.arrivals = Arrivals::Poisson;
            }
            machine
        },
    )
}

/// A stream as fast as it goes, for long enough to grow, whose window no ring overflows.
fn any_stream() -> impl Strategy<Value = Machine> {
    any_receiver(Transport::Tcp).prop_map(|mut machine| {
        machine.duration.0 *= 5;
        machine.nic.ring = 1 << 20;
        machine.line.delay = nanos(20_000);
        if let Task::Raw { rate, .. } = &mut machine.flows[0].job {
            *rate = None;
        }
        machine
    })
}

/// Payload that the process of the one flow read [B].
fn delivered(machine: &Machine) -> u64 {
    bare::run(machine, 1).flows[0].delivered_bytes
}

/// No such change loses more than so many bytes.
fn never_less(
    machine: &Machine,
    changes: &[(&str, More)],
    times: u64,
    slack: u64,
) -> Result<(), TestCaseError> {
    let before = delivered(machine);
    for (name, more) in changes {
        let mut improved = machine.clone();
        more(&mut improved, times);
        let after = delivered(&improved);
        prop_assert!(after + slack >= before, "{} x {}: {} from {}", name, times, after, before);
    }
    Ok(())
}

proptest! {
    #[test]
    fn more_slots_or_faster_servers_behind_the_last_drop_never_deliver_less(
        pipeline in any_pipeline(), seed: u64, place: prop::sample::Index, slots in 0..4_usize,
        faster in 1..4_u64,
    ) {
        let mut improved = pipeline.clone();
        improve(&mut improved, place, slots, faster);
        let (before, after) = (exact::run(&pipeline, seed), exact::run(&improved, seed));
        prop_assert!(after.delivered >= before.delivered, "{:?} {:?}", before, after);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn more_room_or_speed_behind_the_softirq_never_delivers_fewer_datagrams(
        machine in any_receiver(Transport::Udp), times in 2..6_u64,
    ) {
        never_less(&machine, &[&ROOM[..], &SPEED].concat(), times, machine.flows[0].message.0)?;
    }

    #[test]
    fn a_larger_ring_never_delivers_fewer_datagrams_that_come_evenly(
        mut machine in any_receiver(Transport::Udp), times in 2..6_u64,
    ) {
        machine.flows[0].arrivals = Arrivals::Constant;
        never_less(&machine, &RING, times, machine.flows[0].message.0)?;
    }

    /// What is under way when the peer stops differs by a window.
    #[test]
    fn more_room_never_delivers_less_of_a_stream_but_for_a_window(
        machine in any_stream(), times in 2..6_u64,
    ) {
        never_less(&machine, &ROOM, times, machine.flows[0].receive_buffer.0)?;
    }
}

#[test]
fn a_faster_server_before_a_queue_that_drops_can_deliver_less() {
    let stage = |slots, service| Stage {
        name: "stage".into(),
        slots,
        service: Picos(service),
        distribution: Distribution::Constant,
        exception: None,
        when_full: WhenFull::Drop,
    };
    let arrivals =
        pipeline::Arrivals::Renewal { interval: Picos(1), distribution: Distribution::Constant };
    let delivered = |service| {
        let stages = vec![stage(10, service), stage(1, 10)];
        exact::run(&Pipeline { packets: 10, arrivals: arrivals.clone(), stages }, 0).delivered
    };
    // Spread out by the first server, every packet finds the second one free; at once, only the first does.
    assert_eq!((delivered(10), delivered(1)), (10, 1));
}

#[test]
fn a_faster_process_that_must_be_woken_can_starve_its_softirq() {
    let delivered = |work| {
        let mut machine = bare::machine();
        machine.duration = nanos(1_000_000);
        (machine.cpu.wake, machine.stack.frame) = (nanos(1000), nanos(800));
        machine.nic.ring = 8;
        machine.flows[0].core = 1;
        machine.flows[0].receive_buffer = ByteCount(4 << 20);
        let rate = Some(BitRate(64_000_000));
        machine.flows[0].job = Task::Raw { rate, process: NanosPerByte(work) };
        bare::run(&machine, 0).flows[0].reads
    };
    // A datagram of eight bytes every microsecond: a process that works 2 us on each always finds one and is woken
    // once, one that works 0.4 us sleeps before each, and its softirq then needs 1.8 us for every datagram.
    let (slow, fast) = (delivered(250.0), delivered(50.0));
    assert!(slow == 1000 && fast < 600, "{slow} {fast}");
}
