//! What holds for every machine, whatever its numbers.

use bitpath_measure::{BitRate, ByteCount, ByteRate, Picos};
use proptest::prelude::*;

use super::description::{
    Arrivals, Bus, Cache, CopyPath, CoreCopy, Cpu, Direction, Flow, Line, LossBursts, Machine,
    Memory, Nic, Stack, Task, Timer,
};
use super::{Cause, Outcome, closed_form, run};
use crate::profile::{NanosPerByte, Transport};

fn nanos(range: std::ops::Range<u64>) -> impl Strategy<Value = Picos> {
    range.prop_map(Picos::from_nanos)
}

fn any_cpu() -> impl Strategy<Value = Cpu> {
    (1..4_usize, nanos(10_000..4_000_000), nanos(0..5000), nanos(0..5000), nanos(0..5000)).prop_map(
        |(cores, quantum, context_switch, interrupt, wake)| Cpu {
            cores,
            speed: 1.0,
            quantum,
            context_switch,
            interrupt,
            wake,
            wake_latency: wake,
        },
    )
}

fn any_nic() -> impl Strategy<Value = Nic> {
    (
        1..4_usize,
        8..300_usize,
        nanos(0..50_000),
        0..65_u32,
        1..400_u32,
        nanos(1000..2_000_000),
        any::<bool>(),
    )
        .prop_map(
            |(queues, ring, moderation_time, moderation_frames, budget, budget_time, merges)| Nic {
                queues,
                ring,
                buffer: ring.is_multiple_of(2).then_some(ByteCount(20_000)),
                moderation_time,
                moderation_frames,
                budget,
                budget_time,
                merge: ByteCount(if merges { 65_536 } else { 0 }),
                offload_engine: ring.is_multiple_of(3),
            },
        )
}

fn any_stack() -> impl Strategy<Value = Stack> {
    (nanos(0..3000), nanos(0..3000), nanos(0..3000)).prop_map(|(frame, delivery, call)| Stack {
        frame,
        delivery,
        acknowledgement: delivery,
        call,
        transmit: frame,
        completion: delivery,
        pin: call,
        overhead: ByteCount(856),
    })
}

fn any_memory() -> impl Strategy<Value = Memory> {
    (0.1..20.0_f64, 1000..1_000_000_u64, any::<bool>()).prop_map(
        |(copy, size, direct_cache_access)| Memory {
            controller: ByteRate(1e10),
            core: CoreCopy::Rate { rate: ByteRate(copy * 1e9) },
            caches: vec![Cache { size: ByteCount(size), copy: ByteRate(copy * 5e9) }],
            direct_cache_access,
        },
    )
}

fn any_bus() -> impl Strategy<Value = Bus> {
    let frame = Picos::from_nanos(10);
    prop_oneof![
        (1..50_u64)
            .prop_map(move |rate| Bus::Shared { frame, rate: BitRate(rate * 1_000_000_000) }),
        (1..5_u8, 1..17_u8, 1..64_u32).prop_map(move |(generation, lanes, in_flight)| Bus::Pcie {
            frame,
            generation,
            lanes,
            packet_share: 0.9,
            max_payload: ByteCount(256),
            in_flight,
            latency: Picos::from_nanos(900),
        }),
    ]
}

/// A line with every impairment, or none.
fn any_line() -> impl Strategy<Value = Line> {
    (
        1_000_000..20_000_000_000_u64,
        12_000..1_000_000_u64,
        nanos(0..2_000_000),
        prop_oneof![Just(0.0), 0.0..0.2],
        any::<bool>(),
    )
        .prop_map(|(rate, queue, delay, loss, impaired)| Line {
            rate: BitRate(rate),
            queue: ByteCount(queue),
            delay,
            jitter: if impaired { delay } else { Picos(0) },
            loss,
            loss_bursts: impaired.then_some(LossBursts { begin: 0.01, end: 0.2, loss: loss * 3.0 }),
            duplicated: if impaired { 0.01 } else { 0.0 },
            overtaken: if impaired { 0.01 } else { 0.0 },
            overtaken_delay: delay,
            segment: ByteCount(1448),
            headers: ByteCount(90),
        })
}

fn any_arrivals() -> impl Strategy<Value = Arrivals> {
    prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        Just(Arrivals::ParetoOnOff { shape: 1.4, burst: Picos::from_nanos(100_000), peak: 5.0 }),
    ]
}

fn any_flow() -> impl Strategy<Value = Flow> {
    let path = prop_oneof![
        Just(CopyPath::TwoCopy),
        Just(CopyPath::Sendfile),
        Just(CopyPath::ZeroCopy),
        Just(CopyPath::Rdma),
    ];
    let rate = prop::option::of(1_000_000..3_000_000_000_u64);
    (
        any::<bool>(),
        any::<bool>(),
        path,
        200..9000_u64,
        3000..500_000_u64,
        any_arrivals(),
        rate,
        1..4_usize,
    )
        .prop_map(|(streams, sends, copies, message, buffer, arrivals, rate, count)| Flow {
            name: "flow".into(),
            count,
            core: 0,
            transport: if streams { Transport::Tcp } else { Transport::Udp },
            direction: if sends { Direction::Send } else { Direction::Receive },
            copies,
            message: ByteCount(message),
            receive_buffer: ByteCount(buffer),
            send_buffer: ByteCount(buffer),
            user_buffer: None,
            arrivals,
            timer: Timer::Measured { least: Picos::from_nanos(1_000_000) },
            job: Task::Raw { rate: rate.map(BitRate), process: NanosPerByte(0.1) },
        })
}

fn any_machine() -> impl Strategy<Value = Machine> {
    let flows = prop::collection::vec(any_flow(), 1..4);
    (any_cpu(), any_nic(), any_bus(), any_memory(), any_stack(), any_line(), flows).prop_map(
        |(cpu, nic, bus, memory, stack, line, flows)| Machine {
            duration: Picos::from_nanos(3_000_000),
            cpu,
            nic,
            bus,
            memory,
            line,
            stack,
            flows,
        },
    )
}

/// Datagrams are read, lost, or still in the socket of a process that has stopped.
fn conserved(machine: &Machine, outcome: &Outcome) -> Result<(), TestCaseError> {
    for (flow, found) in machine.each_flow().zip(&outcome.flows) {
        let lost: u64 = found.drops.iter().sum();
        match flow.transport {
            Transport::Udp => {
                prop_assert_eq!(found.reads + lost, found.sent + found.doubled, "{:?}", found);
            }
            Transport::Tcp => {
                let segments = found.delivered_bytes.div_ceil(1448);
                prop_assert!(
                    segments + found.duplicates <= found.sent + found.doubled,
                    "{:?}",
                    found
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_machine_runs_to_its_end_and_conserves_what_was_sent(machine in any_machine(), seed: u64) {
        let outcome = run(&machine, Picos::from_nanos(100_000), seed).unwrap();
        conserved(&machine, &outcome)?;
        prop_assert_eq!(outcome.stuck.clone(), None);
        let rings = (machine.nic.ring * machine.nic.queues) as u64;
        prop_assert!(outcome.ring.peak.iter().all(|frames| *frames <= rings));
        for core in &outcome.cores {
            prop_assert!(core.total() <= outcome.elapsed.0, "{:?} of {:?}", core, outcome.elapsed);
        }
        let bound = closed_form::bound(&machine).unwrap();
        let bits: u64 = outcome.flows.iter().map(|flow| 8 * flow.delivered_bytes).sum();
        // What is due or in a window at once does not wait for a rate.
        let at_once: u64 = machine.each_flow().map(|flow| 8 * (flow.receive_buffer.0 + 9000)).sum();
        let most = bound.bits_per_second * outcome.elapsed.as_secs_f64() * 1.01;
        prop_assert!(bits as f64 <= most + at_once as f64, "{} bits, {:?}", bits, bound);
        prop_assert_eq!(&run(&machine, Picos::from_nanos(100_000), seed).unwrap(), &outcome);
    }

    #[test]
    fn a_line_that_loses_nothing_delivers_every_byte_of_a_bulk_stream(
        cpu in any_cpu(), nic in any_nic(), stack in any_stack(), memory in any_memory(), buffer in 30_000..500_000_u64,
        segments in 1..300_u64, sends: bool,
    ) {
        let line = Line {
            rate: BitRate(10_000_000_000),
            queue: ByteCount(64 << 20),
            delay: Picos::from_nanos(10_000),
            jitter: Picos(0),
            loss: 0.0,
            loss_bursts: None,
            duplicated: 0.0,
            overtaken: 0.0,
            overtaken_delay: Picos(0),
            segment: ByteCount(1448),
            headers: ByteCount(90),
        };
        let bytes = segments * 1448;
        let flow = Flow {
            name: "bulk".into(),
            count: 1,
            core: 0,
            transport: Transport::Tcp,
            direction: if sends { Direction::Send } else { Direction::Receive },
            copies: CopyPath::TwoCopy,
            message: ByteCount(10_000),
            receive_buffer: ByteCount(buffer),
            send_buffer: ByteCount(buffer),
            user_buffer: None,
            arrivals: Arrivals::Constant,
            timer: Timer::Measured { least: Picos::from_nanos(1_000_000) },
            job: Task::Bulk { bytes: ByteCount(bytes) },
        };
        let machine = Machine {
            duration: Picos::from_nanos(3_000_000_000),
            cpu,
            nic: Nic { buffer: None, ..nic },
            memory,
            stack,
            line,
            bus: Bus::Shared { frame: Picos(0), rate: BitRate(50_000_000_000) },
            flows: vec![flow],
        };
        let outcome = run(&machine, Picos::SECOND, 0).unwrap();
        prop_assert_eq!(outcome.flows[0].delivered_bytes, bytes, "{:?}", outcome.flows);
        prop_assert_eq!(outcome.drops(Cause::Link), 0);
    }
}
