//! What one changed value of a description does to a machine.

use bitpath_measure::{BitRate, ByteCount, ByteRate, Picos};

use super::description::{Bus, Cache, CoreCopy, Direction, LossBursts, Machine, Task, Timer};
use super::{Cause, CopyPath, Look, Next, Outcome, run, watch};
use crate::job::Operation;
use crate::profile::{NanosPerByte, Transport};
use crate::scenario::{Scenario, Subject};

const STREAM: &str = include_str!("../../../../scenarios/ten-gigabit-tcp.toml");
const TIMEOUTS: &str = include_str!("../../../../scenarios/timeouts.toml");
const POISSON: &str = include_str!("../../../../scenarios/poisson-arrivals.toml");
const BURSTY: &str = include_str!("../../../../scenarios/bursty-arrivals.toml");
const FILM: &str = include_str!("../../../../scenarios/mpeg-sw.toml");

/// A shipped machine with a change, run for 20 ms at least.
fn changed(text: &str, change: impl FnOnce(&mut Machine)) -> Outcome {
    let Subject::Machine(mut scenario) = Scenario::parse(text).unwrap().subject else {
        panic!("no machine");
    };
    scenario.machine.duration = Picos(20_000_000_000);
    change(&mut scenario.machine);
    scenario.machine.check().unwrap();
    run(&scenario.machine, scenario.interval, 1).unwrap()
}

/// Time of all cores for a byte delivered [ps/B].
fn cost(outcome: &Outcome) -> f64 {
    let busy: u64 = outcome.cores.iter().map(|core| core.total()).sum();
    let bytes: u64 = outcome.flows.iter().map(|flow| flow.delivered_bytes).sum();
    busy as f64 / bytes as f64
}

fn sends(machine: &mut Machine, transport: Transport, rate: u64) {
    let flow = &mut machine.flows[0];
    (flow.direction, flow.transport) = (Direction::Send, transport);
    flow.message = ByteCount(if transport == Transport::Udp { 1448 } else { 65_536 });
    flow.job = Task::Vod { rate: BitRate(rate), process: NanosPerByte(0.0) };
}

#[test]
fn a_core_copies_as_fast_as_its_credits_over_the_latency() {
    let core = CoreCopy::Credits { credits: 11, latency: Picos::from_nanos(70) };
    assert!((core.rate().0 / 1e9 - 10.06).abs() < 0.01);
    let slow = changed(STREAM, |machine| {
        machine.memory.core = CoreCopy::Credits { credits: 1, latency: Picos::from_nanos(640) };
    });
    // 64 B in 640 ns are 0.8 Gb/s.
    assert!((0.5..0.81).contains(&(slow.throughput() / 1e9)), "{}", slow.throughput());
}

#[test]
fn what_the_card_puts_into_the_cache_is_copied_from_there_while_it_fits() {
    let cached = |size| {
        changed(STREAM, |machine| {
            machine.memory.core = CoreCopy::Rate { rate: ByteRate(5e8) };
            machine.memory.caches = vec![Cache { size: ByteCount(size), copy: ByteRate(1e10) }];
            machine.memory.direct_cache_access = true;
        })
        .throughput()
    };
    assert!(cached(64 << 20) > 1.5 * cached(4096));
}

#[test]
fn a_bus_of_one_old_lane_limits_what_is_sent_and_what_is_received() {
    let pcie = Bus::Pcie {
        frame: Picos(0),
        generation: 1,
        lanes: 1,
        packet_share: 0.9,
        max_payload: ByteCount(128),
        in_flight: 8,
        latency: Picos::from_nanos(600),
    };
    let received = changed(STREAM, |machine| {
        machine.bus = pcie;
        // The window fits the ring.
        machine.flows[0].receive_buffer = ByteCount(1 << 20);
    });
    let sent = changed(STREAM, |machine| {
        machine.bus = pcie;
        sends(machine, Transport::Tcp, 9_000_000_000);
    });
    // 1.8 Gb/s of packets of the bus, of which a sixth is headers.
    for outcome in [received, sent] {
        assert!((1.0..1.55).contains(&(outcome.throughput() / 1e9)), "{}", outcome.throughput());
    }
}

#[test]
fn what_is_sent_comes_back_by_interrupts_that_moderation_limits() {
    let interrupts = |micros: u64| {
        let outcome = changed(STREAM, |machine| {
            machine.nic.moderation_time = Picos::from_nanos(1000 * micros);
            sends(machine, Transport::Udp, 1_000_000_000);
        });
        outcome.interrupts as f64 / outcome.elapsed.as_secs_f64()
    };
    // 86 300 datagrams a second; at most one interrupt each 100 us.
    assert!(interrupts(0) > 50_000.0 && (5_000.0..10_100.0).contains(&interrupts(100)));
}

#[test]
fn a_card_that_speaks_tcp_takes_packets_from_the_cores_but_not_copies() {
    let with = |offload_engine, copies| {
        let outcome = changed(STREAM, |machine| {
            machine.nic.offload_engine = offload_engine;
            machine.nic.merge = ByteCount(0);
            sends(machine, Transport::Tcp, 2_000_000_000);
            machine.flows[0].copies = copies;
        });
        assert!(outcome.throughput() > 1.8e9, "{}", outcome.throughput());
        cost(&outcome)
    };
    let (two_copy, sendfile) = (CopyPath::TwoCopy, CopyPath::Sendfile);
    assert!(with(true, two_copy) < 0.8 * with(false, two_copy));
    assert!(with(true, sendfile) < 0.3 * with(true, two_copy));
    assert!(with(true, CopyPath::Rdma) < 0.01 * with(true, sendfile));
}

#[test]
fn a_processor_twice_as_fast_spends_half_the_time_on_all_but_copies() {
    let at = |speed| {
        cost(&changed(STREAM, |machine| {
            machine.cpu.speed = speed;
            machine.memory.core = CoreCopy::Rate { rate: ByteRate(1e12) };
            machine.memory.controller = ByteRate(1e12);
            sends(machine, Transport::Udp, 1_000_000_000);
        }))
    };
    let ratio = at(1.0) / at(2.0);
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn a_processor_twice_as_fast_does_a_list_of_operations_in_half_the_time() {
    let user = |speed| {
        let list = vec![
            Operation::Process(Picos::from_nanos(100_000)),
            Operation::Write(ByteCount(1448)),
            Operation::Sleep(Picos::from_nanos(900_000)),
        ];
        let outcome = changed(STREAM, |machine| {
            sends(machine, Transport::Udp, 1);
            machine.cpu.speed = speed;
            machine.flows[0].job = Task::Operations { rate: None, list };
        });
        outcome.cores.iter().map(|core| core.user).sum::<u64>()
    };
    assert!((1.8..2.2).contains(&(user(1.0) as f64 / user(2.0) as f64)));
}

#[test]
fn a_network_that_doubles_delays_and_mixes_packets_costs_a_stream_time_but_no_byte() {
    let bytes = 200 * 1460;
    let outcome = changed(STREAM, |machine| {
        machine.duration = Picos(20 * Picos::SECOND.0);
        machine.line.jitter = Picos::from_nanos(50_000);
        (machine.line.duplicated, machine.line.overtaken) = (0.05, 0.05);
        machine.line.overtaken_delay = Picos::from_nanos(300_000);
        machine.line.loss_bursts = Some(LossBursts { begin: 0.01, end: 0.3, loss: 0.5 });
        machine.flows[0].job = Task::Bulk { bytes: ByteCount(bytes) };
    });
    let flow = &outcome.flows[0];
    assert!(flow.delivered_bytes >= bytes && flow.duplicates > 0 && flow.doubled > 0, "{flow:?}");
    assert!(flow.drops[Cause::Link as usize] > 0);
}

#[test]
fn a_card_with_little_memory_loses_what_the_bus_is_too_slow_for() {
    let dropped = |buffer| {
        changed(FILM, |machine| {
            machine.bus = Bus::Shared { frame: Picos(0), rate: BitRate(90_000_000) };
            machine.nic.buffer = Some(ByteCount(buffer));
            machine.nic.ring = 10_000;
        })
        .drops(Cause::NicBuffer)
    };
    assert!(dropped(4096) > 0);
    assert_eq!(dropped(64 << 10), 0);
}

#[test]
fn a_process_that_keeps_what_it_read_waits_for_itself_and_that_is_said() {
    let outcome = changed(FILM, |machine| {
        machine.flows[0].user_buffer = Some(ByteCount(5000));
        let list = vec![Operation::Read(ByteCount(1472)), Operation::Process(Picos(1000))];
        machine.flows[0].job = Task::Operations { rate: Some(BitRate(10_000_000)), list };
    });
    let (flow, waits) = outcome.stuck.unwrap();
    assert_eq!(flow, 0);
    assert!(waits.contains("5000 B") && waits.contains("holds 4416 B"), "{waits}");
}

#[test]
fn a_viewer_gives_back_what_came_of_frames_that_never_became_whole() {
    let outcome = changed(FILM, |machine| {
        machine.duration = Picos(4 * Picos::SECOND.0);
        machine.line.loss = 0.1;
        machine.flows[0].user_buffer = Some(ByteCount(60_000));
    });
    assert_eq!(outcome.stuck, None);
    let frames = outcome.flows[0].frames;
    assert!(frames.lost > 10 && frames.on_time + frames.broken > 10, "{frames:?}");
}

#[test]
fn a_decoding_device_leaves_the_core_idle_and_still_takes_its_time() {
    let decoded = |core, device| {
        changed(FILM, |machine| {
            machine.duration = Picos(2 * Picos::SECOND.0);
            let Task::Mpeg { decode, device: unit, .. } = &mut machine.flows[0].job else { return };
            (decode.0, unit.0) = (core, device);
        })
    };
    // 6000 ns/B are 114 ms for an I-frame of 19 kB and 440 ms for a group of 600 ms.
    let (software, hardware) = (decoded(6000.0, 0.0), decoded(0.0, 6000.0));
    assert!(hardware.cores[0].user == 0 && software.cores[0].user > 1_000_000_000_000);
    assert_eq!(software.flows[0].frames.on_time, hardware.flows[0].frames.on_time);
}

#[test]
fn a_timeout_that_fires_early_costs_more_than_one_that_fires_as_much_late() {
    // The round trip is 80 ms.
    let at = |millis: u64| {
        changed(TIMEOUTS, |machine| {
            machine.duration = Picos(3 * Picos::SECOND.0);
            machine.flows[0].timer = Timer::Fixed { time: Picos::from_nanos(millis * 1_000_000) };
        })
        .throughput()
    };
    let [early, fitting, late] = [40, 160, 640].map(at);
    assert!(early < 0.4 * fitting && late > 0.9 * fitting, "{early} {fitting} {late}");
}

#[test]
fn a_machine_under_way_keeps_its_cores_queues_and_flows() {
    let Subject::Machine(scenario) = Scenario::parse(STREAM).unwrap().subject else {
        panic!("no machine");
    };
    let refused = |change: fn(&mut Machine)| {
        let mut changed = scenario.machine.clone();
        change(&mut changed);
        let mut steps =
            [Next::Until(Picos(1_000_000)), Next::Change(Box::new(changed))].into_iter();
        let mut watcher = |_: &Look| steps.next().unwrap_or(Next::Stop);
        watch(&scenario.machine, scenario.interval, 0, &mut watcher)
            .map_err(|error| error.to_string())
    };
    assert!(refused(|machine| machine.line.rate = BitRate(1_000_000)).is_ok());
    for (change, what) in [
        ((|machine| machine.cpu.cores = 4) as fn(&mut Machine), "number of cores"),
        (|machine| machine.nic.queues = 2, "number of queues"),
        (|machine| machine.flows[0].count = 2, "number of flows"),
        (|machine| machine.flows[0].direction = Direction::Send, "direction"),
    ] {
        let message = refused(change).unwrap_err();
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn a_buffer_that_holds_random_arrivals_drops_those_in_pareto_bursts() {
    let loss = |text, buffer_kib: u64| {
        changed(text, |machine| {
            machine.duration = Picos(5_000_000_000_000);
            machine.flows[0].receive_buffer = ByteCount(buffer_kib << 10);
        })
        .loss()
    };
    assert_eq!(loss(POISSON, 208), 0.0);
    assert!(loss(BURSTY, 208) > 0.2);
    assert!(loss(BURSTY, 1024) > 0.05);
}
