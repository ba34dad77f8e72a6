//! What a machine must do whatever its numbers are, and what the rules of the slides say.

use bitpath_measure::{BitRate, ByteCount, Picos};

use super::engine::run;
use super::setup::{Bus, Cores, Flow, Memory, Nic, Setup, StackCosts, Way};
use super::tcp::Timer;
use super::{Arrivals, Cause, CopyPath, Direction, KEPT_INCIDENTS, Outcome};
use crate::job::{Job, Program, Seen, Step, Work};
use crate::profile::{NanosPerByte, Transport};

const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;

/// Time of a byte at a rate in Gb/s, in 1/65536 ps.
fn byte_at_gbps(rate: u64) -> u64 {
    (8_000 << 16) / rate
}

fn way(gbps: u64) -> Way {
    Way { byte_65536: byte_at_gbps(gbps), queue: 64 << 20, delay: 10 * US, ..Way::default() }
}

fn flow(reliable: bool) -> Flow {
    Flow {
        direction: Direction::Receive,
        reliable,
        copies: CopyPath::TwoCopy,
        offloaded: false,
        merge: 65_536,
        segment: 1448,
        headers: 90,
        overhead: 856,
        receive_buffer: 4 << 20,
        send_buffer: 4 << 20,
        user_buffer: u64::MAX,
        timer: Timer::Measured { least: 200 * MS },
        stack: StackCosts {
            frame: 500_000,
            delivery: 300_000,
            acknowledgement: 300_000,
            call: 300_000,
            transmit: 800_000,
            pin: 400_000,
        },
        core: 0,
        limit: u64::MAX,
        arrivals: Arrivals::Constant,
    }
}

fn setup(flows: Vec<Flow>, cores: usize) -> Setup {
    Setup {
        end: 100 * MS,
        interval: 10 * MS,
        keep_incidents: KEPT_INCIDENTS,
        seed: 1,
        cores: Cores {
            count: cores,
            quantum: 3 * MS,
            context_switch: US,
            interrupt: US,
            wake_latency: 3 * US,
            wake: US,
        },
        nic: Nic {
            queues: 1,
            ring: 512,
            buffer: u64::MAX,
            moderation_time: 20 * US,
            moderation_frames: 64,
            budget: 300,
            budget_time: 2 * MS,
            completion: 100_000,
        },
        bus: Bus {
            shared: false,
            frame: 20_000,
            byte_65536: byte_at_gbps(50),
            piece: 256,
            write_header: 24,
            read_header: 20,
            request: 512,
            request_time: 0,
        },
        inward: way(10),
        outward: way(10),
        memory: Memory {
            core_byte_65536: 100 << 16,
            controller_byte_65536: 60 << 16,
            beside_card_byte_65536: 80 << 16,
            caches: Vec::new(),
            direct_cache_access: false,
        },
        flows,
    }
}

/// Raw data at a rate, or as much as possible.
fn job(transport: Transport, message: u64, rate: Option<u64>) -> Job {
    let buffer = ByteCount(4 << 20);
    let work = Work::Raw { rate: rate.map(BitRate), process: NanosPerByte(0.0) };
    Job { work, ..Job::raw("test", transport, ByteCount(message), buffer, Picos(100 * MS)) }
}

/// Reads and gives back.
fn reader(most: u64) -> Box<dyn Program> {
    let mut free = false;
    Box::new(move |seen: &Seen| {
        free = !free;
        if free { Step::Read(ByteCount(most)) } else { Step::Free(seen.read) }
    })
}

/// Writes until the time is over.
fn writer(bytes: u64) -> Box<dyn Program> {
    Box::new(move |seen: &Seen| if seen.over { Step::Stop } else { Step::Write(ByteCount(bytes)) })
}

fn received(setup: Setup, jobs: &[Job]) -> Outcome {
    run(setup, jobs, jobs.iter().map(|_| reader(65_536)).collect())
}

fn udp(rate: u64, change: impl FnOnce(&mut Setup)) -> Outcome {
    let mut setup = setup(vec![flow(false)], 1);
    change(&mut setup);
    received(setup, &[job(Transport::Udp, 1448, Some(rate))])
}

fn tcp(change: impl FnOnce(&mut Setup)) -> Outcome {
    let mut setup = setup(vec![flow(true)], 2);
    change(&mut setup);
    received(setup, &[job(Transport::Tcp, 65_536, None)])
}

#[test]
fn what_fits_is_delivered_to_the_last_packet() {
    let outcome = udp(1_000_000_000, |_| ());
    let flow = &outcome.flows[0];
    assert_eq!(flow.drops, [0; 4]);
    assert_eq!(flow.delivered_bytes, flow.sent * 1448);
    assert!((outcome.throughput() / 1e9 - 1.0).abs() < 0.01, "{}", outcome.throughput());
}

#[test]
fn packets_sent_are_delivered_or_lost_whatever_limits() {
    for rate in [1, 3, 5, 8, 20] {
        for buffer in [10_000, 1 << 20] {
            let outcome = udp(rate * 1_000_000_000, |setup| setup.flows[0].receive_buffer = buffer);
            let flow = &outcome.flows[0];
            assert_eq!(flow.delivered_bytes / 1448 + flow.drops.iter().sum::<u64>(), flow.sent);
        }
    }
}

#[test]
fn a_core_that_only_handles_packets_delivers_nothing_without_ksoftirqd() {
    // Softirq alone needs 0.8 us of each 1.2 us: deferring it lets the process read.
    let livelock = |budget| {
        udp(9_600_000_000, |setup| {
            setup.flows[0].stack.frame = 1_200_000;
            setup.nic.budget = budget;
            setup.nic.budget_time = if budget == u32::MAX { u64::MAX } else { 2 * MS };
        })
    };
    let (never, deferred) = (livelock(u32::MAX), livelock(300));
    assert!(deferred.throughput() > 3.0 * never.throughput());
    assert!(deferred.deferred > 0 && never.deferred == 0);
    assert!(deferred.drops(Cause::Cpu) > 0);
}

#[test]
fn interrupts_are_fewer_the_more_polling_takes_over() {
    let rates = [2, 4, 6, 9].map(|gbps| {
        udp(gbps * 1_000_000_000, |setup| {
            setup.nic.moderation_time = 0;
            setup.flows[0].stack.frame = 1_100_000;
        })
        .interrupts
    });
    assert!(rates[0] < rates[1] && rates[3] < rates[1] / 4, "{rates:?}");
}

#[test]
fn a_slow_bus_fills_the_card_and_not_the_core() {
    let outcome = udp(8_000_000_000, |setup| setup.bus.byte_65536 = byte_at_gbps(2));
    assert!(outcome.drops(Cause::NicBuffer) > 0);
    assert_eq!(outcome.drops(Cause::Cpu), 0);
}

#[test]
fn a_stream_fills_the_line_where_cores_are_fast() {
    let outcome = tcp(|_| ());
    let line = 1e10 * 1448.0 / 1538.0;
    assert!((outcome.throughput() / line - 1.0).abs() < 0.03, "{}", outcome.throughput());
    assert_eq!((outcome.flows[0].retransmitted, outcome.flows[0].timeouts), (0, 0));
}

#[test]
fn a_small_window_carries_at_most_its_size_a_round_trip() {
    let outcome = tcp(|setup| {
        (setup.inward.delay, setup.outward.delay) = (MS, MS);
        setup.flows[0].receive_buffer = 50 * (1448 + 856);
    });
    let share = outcome.throughput() / (50.0 * 1448.0 * 8.0 / 2e-3);
    assert!((0.7..1.0).contains(&share), "{share}");
    assert!(outcome.flows[0].stalls > 10);
}

#[test]
fn a_stream_loses_packets_but_no_byte() {
    // One packet in ten thousand, in a hundred, in ten.
    for share in [10_000, 100, 10] {
        let outcome = tcp(|setup| setup.inward.loss = u64::MAX / share);
        let flow = &outcome.flows[0];
        assert!(flow.retransmitted > 0 && flow.retransmitted >= flow.drops[0], "{flow:?}");
        assert_eq!(flow.delivered_bytes % 1448, 0);
        assert_eq!(outcome.stuck, None);
    }
}

#[test]
fn a_line_that_loses_everything_is_given_up() {
    let outcome = tcp(|setup| setup.inward.loss = u64::MAX);
    assert_eq!(outcome.flows[0].delivered_bytes, 0);
    assert!(outcome.flows[0].timeouts > 10);
}

fn sent(copies: CopyPath) -> Outcome {
    let mut setup = setup(vec![Flow { direction: Direction::Send, copies, ..flow(true) }], 1);
    setup.memory.core_byte_65536 = 800 << 16;
    run(setup, &[job(Transport::Tcp, 65_536, None)], vec![writer(65_536)])
}

#[test]
fn the_fewer_copies_the_less_time_of_the_core_for_a_byte() {
    let paths = [CopyPath::TwoCopy, CopyPath::ZeroCopy, CopyPath::Sendfile, CopyPath::Rdma];
    let costs = paths.map(|path| {
        let outcome = sent(path);
        outcome.cores[0].total() as f64 / outcome.flows[0].delivered_bytes as f64
    });
    assert!(costs.windows(2).all(|pair| pair[0] > pair[1]), "{costs:?}");
    assert!(costs[3] < 0.01 * costs[0]);
    assert!(sent(CopyPath::TwoCopy).throughput() < 0.95 * sent(CopyPath::Sendfile).throughput());
}

#[test]
fn a_second_core_takes_the_process_away_from_the_softirq() {
    let on = |cores, core| {
        let mut setup = setup(vec![Flow { core, ..flow(false) }], cores);
        setup.flows[0].stack.frame = 900_000;
        received(setup, &[job(Transport::Udp, 1448, Some(8_000_000_000))]).throughput()
    };
    assert!(on(2, 1) > 1.4 * on(1, 0));
}

#[test]
fn flows_share_a_line_and_its_cores() {
    let flows: Vec<Flow> = (0..8).map(|index| Flow { core: index % 2, ..flow(true) }).collect();
    let mut setup = setup(flows, 2);
    setup.nic.queues = 2;
    let jobs: Vec<Job> = (0..8).map(|_| job(Transport::Tcp, 65_536, None)).collect();
    let outcome = received(setup, &jobs);
    assert!(outcome.throughput() > 8e9, "{}", outcome.throughput());
    let least = outcome.flows.iter().map(|flow| flow.delivered_bytes).min().unwrap();
    let most = outcome.flows.iter().map(|flow| flow.delivered_bytes).max().unwrap();
    assert!(most < 4 * least, "{least} {most}");
}

#[test]
fn a_larger_router_buffer_lowers_goodput_where_timers_do_not_measure() {
    // Nagle 1987 (RFC 970): what waits longer than the sender's timeout is sent again.
    let goodput = |buffer: u64| {
        let flows = vec![Flow { timer: Timer::Fixed(30 * MS), ..flow(true) }; 60];
        let mut setup = setup(flows, 2);
        setup.end = 3_000 * MS;
        // Ten megabits a second: sixty segments take 74 ms.
        setup.inward = Way { byte_65536: byte_at_gbps(1) * 100, queue: buffer, ..way(1) };
        let jobs = vec![job(Transport::Tcp, 65_536, None); 60];
        received(setup, &jobs).throughput()
    };
    let (small, large) = (goodput(30_000), goodput(8 << 20));
    assert!(large < 0.7 * small, "{small} {large}");
}

#[test]
fn bursty_arrivals_lose_more_than_random_ones_and_those_more_than_even_ones() {
    let losses = [
        Arrivals::Constant,
        Arrivals::Poisson,
        Arrivals::ParetoOnOff { shape: 1.5, burst: Picos(MS), peak: 4.0 },
    ]
    .map(|arrivals| {
        udp(2_000_000_000, |setup| {
            setup.flows[0].arrivals = arrivals;
            setup.flows[0].receive_buffer = 20_000;
            setup.flows[0].stack.call = 4 * US;
            setup.end = 1_000 * MS;
        })
        .flows[0]
            .drops
            .iter()
            .sum::<u64>()
    });
    assert!(losses[0] < losses[1] && losses[1] < losses[2], "{losses:?}");
}

#[test]
fn a_process_that_never_lets_time_pass_is_named() {
    let setup = setup(vec![flow(false)], 1);
    let program: Box<dyn Program> = Box::new(|_: &Seen| Step::Free(ByteCount(1)));
    let outcome = run(setup, &[job(Transport::Udp, 1448, Some(1_000_000))], vec![program]);
    assert_eq!(outcome.stuck.map(|(flow, _)| flow), Some(0));
}
