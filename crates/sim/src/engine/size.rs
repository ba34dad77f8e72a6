//! How much work a scenario is, told before it runs.
//!
//! ```text
//! [pipeline] packets ────────────────────────────────────────────────────┐
//! [machine]  duration [s] x rate of each flow [packets/s], within its line ├──► packets, and the key
//! [host]     duration [s] x what the sender offers [packets/s] ────────────┘    that sets them
//! ```
//!
//! How long that takes depends on the computer. Whoever has a clock runs [`parts`] of the scenario,
//! each longer than the one before, and goes on from their share to the whole.

use bitpath_measure::Picos;

use crate::host::HostScenario;
use crate::job::Work;
use crate::machine::{Direction, Flow, Line, Machine, Task};
use crate::path;
use crate::profile::Transport;
use crate::scenario::{Scenario, Subject};

/// What a scenario asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Packets that are sent, about: as if no core were ever too slow and nothing were sent again
    /// [packets].
    pub packets: u64,
    /// The key that makes them more or fewer.
    pub key: &'static str,
}

/// The beginning of a scenario, as a scenario of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// How much of the whole it is [ratio].
    pub share: f64,
    /// The scenario, as it is but for its length.
    pub scenario: Scenario,
}

/// The size of a scenario.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
pub fn size(scenario: &Scenario) -> Size {
    let (packets, key) = match &scenario.subject {
        Subject::Pipeline(pipeline) => (pipeline.packets as f64, "pipeline.packets"),
        Subject::Machine(scenario) => (of_machine(&scenario.machine), "machine.duration"),
        Subject::Host(scenario) => (of_host(scenario), "job.duration"),
    };
    Size { packets: packets.ceil() as u64, key }
}

/// Parts of a scenario, each some times as long as the one before, and the last no longer than a
/// part of the whole as small: all of them together are less work than the whole.
pub fn parts(scenario: &Scenario) -> impl Iterator<Item = Part> {
    let shares = std::iter::successors(Some(shortest(scenario)), |share| Some(share * GROWTH));
    let shares = shares.take_while(|share| *share <= 1.0 / GROWTH);
    shares.map(|share| Part { share, scenario: cut(scenario, share) })
}

/// How many times as long as the part before it a part is.
const GROWTH: f64 = 8.0;

/// The share of the first part: a thousand packets, or a microsecond, in which not even a process
/// that wakes every picosecond does more than a million steps.
fn shortest(scenario: &Scenario) -> f64 {
    let (whole, least) = match &scenario.subject {
        Subject::Pipeline(pipeline) => (pipeline.packets, 1000.0),
        Subject::Machine(scenario) => (scenario.machine.duration.0, 1e6),
        Subject::Host(scenario) => (scenario.job.duration.0, 1e6),
    };
    least / whole as f64
}

fn cut(scenario: &Scenario, share: f64) -> Scenario {
    let mut part = scenario.clone();
    match &mut part.subject {
        Subject::Pipeline(pipeline) => shorten(&mut pipeline.packets, share),
        Subject::Machine(scenario) => shorten(&mut scenario.machine.duration.0, share),
        Subject::Host(scenario) => shorten(&mut scenario.job.duration.0, share),
    }
    part
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a u64")]
fn shorten(length: &mut u64, share: f64) {
    *length = ((*length as f64 * share).round() as u64).max(1);
}

/// Packets of a machine, both ways.
fn of_machine(machine: &Machine) -> f64 {
    let ways = [Direction::Receive, Direction::Send];
    let rate: f64 = ways.into_iter().map(|way| of_way(machine, way)).sum();
    rate * machine.duration.as_secs_f64()
}

/// Packets a second of the flows of one direction. Those that follow the line's pace share it.
fn of_way(machine: &Machine, way: Direction) -> f64 {
    let flows = machine.flows.iter().filter(|flow| flow.direction == way);
    let (mut heedless, mut heedful, mut of_line) = (0.0, 0.0, 0.0);
    for flow in flows {
        let asked = asked(flow, &machine.line, machine.duration);
        let at_most = line_rate(flow, &machine.line);
        let count = flow.count as f64;
        if is_heedless(flow) {
            heedless += asked * count;
        } else {
            heedful += asked.min(at_most) * count;
            of_line += (asked / at_most).min(1.0) * count;
        }
    }
    heedless + heedful / of_line.max(1.0)
}

/// Whether the sending end is a peer that sends its datagrams whatever becomes of them.
fn is_heedless(flow: &Flow) -> bool {
    let paced = !matches!(flow.job, Task::Raw { rate: None, .. } | Task::Bulk { .. });
    flow.direction == Direction::Receive && flow.transport == Transport::Udp && paced
}

/// Packets a second that the job of a flow asks for; without end where it takes what it gets.
fn asked(flow: &Flow, line: &Line, duration: Picos) -> f64 {
    let packet_bits = payload(flow, line) * 8.0;
    let of_rate = flow.job.rate().map_or(f64::INFINITY, |rate| rate.0 as f64 / packet_bits);
    match &flow.job {
        Task::Bulk { bytes } => bytes.0 as f64 * 8.0 / packet_bits / duration.as_secs_f64(),
        // The last packet of a frame is not full.
        Task::Mpeg { film, .. } => of_rate + film.rate.per_second(),
        _ => of_rate,
    }
}

/// Packets a second that fill the line.
fn line_rate(flow: &Flow, line: &Line) -> f64 {
    line.rate.0 as f64 / ((payload(flow, line) + line.headers.0 as f64) * 8.0)
}

/// Payload of a packet of a flow [B].
fn payload(flow: &Flow, line: &Line) -> f64 {
    let whole = match flow.transport {
        Transport::Udp => flow.message.0.min(line.segment.0),
        Transport::Tcp => line.segment.0,
    };
    whole as f64
}

/// Messages of a job on a host.
fn of_host(scenario: &HostScenario) -> f64 {
    let job = &scenario.job;
    let offered = path::offered(scenario).bits_per_second / (job.message.0 as f64 * 8.0);
    let not_full = match &job.work {
        Work::Raw { .. } => 0.0,
        Work::Mpeg { film, speed, .. } => film.rate.per_second() * speed,
    };
    (offered + not_full) * job.duration.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use crate::profile::NanosPerByte;
    use crate::scenario::Draft;

    use crate::path::tests::{raw, scenario as on_host};

    const P3: &str = include_str!("../../../../scenarios/p3.toml");
    const FILM: &str = include_str!("../../../../scenarios/mpeg-sw.toml");
    const STREAM: &str = include_str!("../../../../scenarios/ten-gigabit-tcp.toml");
    const VIEWERS: &str = include_str!("../../../../scenarios/diablo-sendfile.toml");

    fn with(text: &str, settings: &[&str]) -> Scenario {
        let settings: Vec<_> = settings.iter().map(|setting| setting.parse().unwrap()).collect();
        Draft::read(text).unwrap().with(&settings).unwrap().0
    }

    /// Packets that a scenario sends when it runs.
    fn sent(scenario: &Scenario) -> f64 {
        let found = engine::find(scenario, 0, None).unwrap();
        let sent = found.figures.iter().find(|figure| ["sent", "offered"].contains(&&*figure.name));
        sent.unwrap().estimate.value
    }

    #[test]
    fn what_is_told_before_is_about_what_is_sent() {
        let short = "machine.duration=100 ms";
        for (text, settings) in [
            (P3, &[][..]),
            (FILM, &[]),
            (FILM, &["machine.line.rate=1 Mb/s"]),
            (STREAM, &[short]),
            (STREAM, &[short, "machine.flow.stream.job.rate=1 Gb/s"]),
            (
                STREAM,
                &[short, "machine.flow.stream.transport=udp", "machine.flow.stream.message=1 kB"],
            ),
            (STREAM, &[short, "machine.flow.stream.job={ kind = \"bulk\", bytes = \"10 MB\" }"]),
            (VIEWERS, &[short]),
        ] {
            let scenario = with(text, settings);
            let (told, sent) = (size(&scenario).packets as f64, sent(&scenario));
            let ratio = told / sent;
            assert!((0.5..2.0).contains(&ratio), "{settings:?}: {told} told, {sent} sent");
        }
    }

    #[test]
    fn a_sender_of_datagrams_does_not_wait_for_a_slow_receiver() {
        let mut host = on_host(raw(1000));
        host.job.work = Work::Raw { rate: None, process: NanosPerByte(20.0) };
        let subject = Subject::Host(Box::new(host));
        let scenario = Scenario { title: String::new(), seed: 0, subject };
        let told = size(&scenario);
        assert_eq!((told.packets, told.key), (333_334, "job.duration"));
        assert_eq!(sent(&scenario), 333_334.0);
    }

    #[test]
    fn the_largest_scenarios_are_told_at_once_and_have_short_parts() {
        for (text, settings, least) in [
            (P3, &["pipeline.packets=1000000000000"][..], 1e12),
            (STREAM, &["machine.duration=86400 s", "machine.line.rate=100 Tb/s"], 1e14),
            (FILM, &["machine.duration=86400 s"], 8e6),
        ] {
            let scenario = with(text, settings);
            assert!(size(&scenario).packets as f64 >= least, "{:?}", size(&scenario));
            let first = parts(&scenario).next().unwrap();
            assert!(size(&first.scenario).packets <= 20_000, "{:?}", size(&first.scenario));
        }
    }

    #[test]
    fn parts_grow_and_are_less_than_the_whole() {
        let scenario = with(P3, &[]);
        let parts: Vec<Part> = parts(&scenario).collect();
        assert!(parts.is_sorted_by(|one, next| one.share < next.share));
        assert!(parts.iter().map(|part| part.share).sum::<f64>() < 0.2);
        let packets: Vec<u64> = parts.iter().map(|part| size(&part.scenario).packets).collect();
        assert_eq!(packets, [1000, 8000, 64_000]);
    }
}
