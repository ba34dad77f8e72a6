//! The path against hand-computed cases.

use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_media::GopModel;

use super::run;
use crate::host::HostScenario;
use crate::job::{Job, Work};
use crate::link::Link;
use crate::profile::{NanosPerByte, Sourced, Transport, Wake, WakeCost};

/// A host whose figures are round: 3000 ns to send, 500 ns to receive, no wake-up cost.
pub(crate) fn scenario(job: Job) -> HostScenario {
    let host = toml::from_str(include_str!("../../tests/round-host.toml")).unwrap();
    HostScenario {
        host,
        job,
        link: Link { queue: ByteCount(1 << 26), ..Link::default() },
        interval: Picos(1_000_000_000),
    }
}

pub(crate) fn raw(message: u64) -> Job {
    Job::raw("raw", Transport::Udp, ByteCount(message), ByteCount(425_984), Picos::SECOND)
}

#[test]
fn an_unpaced_sender_is_limited_by_its_own_calls() {
    let outcome = run(&scenario(raw(1000)));
    // 1 s / 3 us, and the last call that began in time.
    assert_eq!((outcome.sent, outcome.received, outcome.drops.total()), (333_334, 333_334, 0));
    assert!((outcome.receiver_load() - 500.0 / 3000.0).abs() < 1e-3);
}

#[test]
fn a_slow_receiver_drops_what_it_cannot_take() {
    let mut job = raw(1000);
    job.work = Work::Raw { rate: None, process: NanosPerByte(5.5) };
    let outcome = run(&scenario(job));
    // 6000 ns a message: half of the messages arrive, the rest falls to the full buffer.
    let share = outcome.received as f64 / outcome.sent as f64;
    assert!((share - 0.5).abs() < 0.002, "{share}");
    assert_eq!(outcome.drops.kernel_buffer, outcome.sent - outcome.received);
    assert_eq!(outcome.drop_log.len(), super::MAX_LOGGED_DROPS);
}

#[test]
fn over_tcp_a_slow_receiver_slows_the_sender_and_loses_nothing() {
    let mut job = Job { transport: Transport::Tcp, ..raw(1000) };
    job.work = Work::Raw { rate: None, process: NanosPerByte(9.5) };
    let outcome = run(&scenario(job));
    assert_eq!(outcome.sent, outcome.received);
    let per_message = outcome.elapsed.as_nanos_f64() / outcome.received as f64;
    assert!((per_message - 10_000.0).abs() < 20.0, "{per_message}");
}

#[test]
fn a_limited_link_holds_the_sender_back() {
    let mut limited = scenario(raw(958));
    limited.link.rate = Some(BitRate(100_000_000));
    let outcome = run(&limited);
    // 1000 B frames at 100 Mb/s take 80 us.
    assert_eq!(outcome.drops.total(), 0);
    assert!(
        (outcome.throughput() / (958.0 * 8.0 / 80e-6) - 1.0).abs() < 0.02,
        "{}",
        outcome.throughput()
    );
}

#[test]
fn waking_a_sleeping_receiver_slows_the_sender() {
    let mut waking = scenario(raw(1000));
    let cost = |nanos| Sourced::assumed(Picos::from_nanos(nanos), "test");
    let [slept, sender, receiver, latency, jitter] = [0, 4000, 0, 12_000, 0].map(cost);
    let wake = WakeCost { slept, sender, receiver, latency, jitter };
    waking.host.wake = Wake::try_from(vec![wake]).unwrap();
    let outcome = run(&waking);
    assert!(
        outcome.sent < 300_000 && outcome.sleeps > 10_000,
        "{} {}",
        outcome.sent,
        outcome.sleeps
    );
}

pub(crate) fn film(speed: f64, software_decode: bool) -> Job {
    let film = GopModel::video1().film("video1", 150).unwrap();
    // Three frames: while the receiver sleeps, the kernel's buffer must hold as many.
    let playout_delay = Picos::from_nanos_f64(3.0 * 40e6 / speed);
    Job { work: Work::Mpeg { film, speed, software_decode, playout_delay }, ..raw(1000) }
}

#[test]
fn a_film_at_its_own_rate_is_on_time() {
    let outcome = run(&scenario(film(4.0, true)));
    assert_eq!((outcome.frames.on_time, outcome.frames.frames()), (100, 100));
    assert_eq!(outcome.drops.total(), 0);
}

#[test]
fn a_film_that_plays_faster_than_it_decodes_loses_frames() {
    // video1 decodes in 10 us/kB x 2.8 kB + 1 ms: about 970 frames/s; 50 x 25 are sent.
    let outcome = run(&scenario(film(50.0, true)));
    assert!(outcome.receiver_load() > 0.95, "{}", outcome.receiver_load());
    assert!(outcome.drops.kernel_buffer > 0);
    let hardware = run(&scenario(film(50.0, false)));
    assert_eq!(hardware.drops.total(), 0);
}

#[test]
fn the_courses_cover_the_run() {
    let outcome = run(&scenario(film(4.0, true)));
    let intervals = outcome.kernel_buffer.mean.len();
    assert!((990..=1100).contains(&intervals), "{intervals}");
    assert!(outcome.receiver_course.mean.iter().all(|load| *load <= 1000.0));
}
