//! Any text as a scenario, run for a bounded time, and what must hold of it. The fuzz target reads this file too.
//!
//! ```text
//! text ──► Scenario::parse ──► refused: a message, a place within the text
//!                    └──────► cut to a number of events ──► run ──► ends, conserves, within its limits, finite
//! ```

use bitpath_measure::run::Figure;
use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_sim::engine::{self, EngineError};
use bitpath_sim::job::{Job, Operation, Work};
use bitpath_sim::machine::{self, CopyPath, Direction, Flow, Machine, Outcome, Task};
use bitpath_sim::path;
use bitpath_sim::pipeline::{Pipeline, events, exact};
use bitpath_sim::profile::Transport;
use bitpath_sim::scenario::{Scenario, ScenarioError, Subject};

/// Packets, or steps of processes, that one run may take: some tens of milliseconds without optimisation.
const EVENTS: u64 = 10_000;

/// Intervals of a machine's courses over time.
const INTERVALS: u64 = 16;

/// Shortest of them: an interval is work for the simulator even where nothing happens.
const SHORTEST: Picos = Picos(1_000_000_000);

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Refused,
    Ran,
}

/// Reads and runs a text.
///
/// # Errors
/// What does not hold, with the figures that show it.
pub(crate) fn check(text: &str) -> Result<Fate, String> {
    let mut scenario = match Scenario::parse(text) {
        Ok(scenario) => scenario,
        Err(refusal) => return check_refusal(text, &refusal).map(|()| Fate::Refused),
    };
    tame(&mut scenario);
    shorten(&mut scenario);
    match &scenario.subject {
        Subject::Pipeline(pipeline) => check_pipeline(pipeline, scenario.seed)?,
        Subject::Machine(found) => check_machine(&found.machine, found.interval, scenario.seed)?,
        Subject::Host(found) => check_host(&path::run(found))?,
    }
    match engine::find(&scenario, scenario.seed, None) {
        Ok(found) => check_figures(&found.figures)?,
        Err(EngineError::Deadlock { .. }) => {}
        Err(other) => return Err(format!("a scenario that was read is refused: {other}")),
    }
    Ok(Fate::Ran)
}

fn check_refusal(text: &str, refusal: &ScenarioError) -> Result<(), String> {
    let inside = refusal.span.clone().is_none_or(|span| text.get(span).is_some());
    let told = !refusal.message.trim().is_empty();
    if inside && told { Ok(()) } else { Err(format!("{refusal:?} of {} bytes", text.len())) }
}

/// Slices and intervals that are allowed, and that take long where no bytes flow.
fn tame(scenario: &mut Scenario) {
    match &mut scenario.subject {
        Subject::Pipeline(_) => {}
        Subject::Machine(found) => {
            found.interval = found.interval.max(SHORTEST);
            let switch = found.machine.cpu.context_switch.0;
            found.machine.cpu.quantum = found.machine.cpu.quantum.max(Picos(2 * switch));
        }
        Subject::Host(found) => {
            // All messages of a tick are due at its begin.
            if let Work::Raw { rate: Some(rate), .. } = &mut found.job.work {
                *rate = BitRate(rate.0.min(EVENTS * 1000 * 8 * found.job.message.0));
            }
            found.interval = found.interval.max(SHORTEST);
        }
    }
}

/// Cuts a scenario so that its run takes about [`EVENTS`] events, whatever its rates and costs.
fn shorten(scenario: &mut Scenario) {
    match &mut scenario.subject {
        Subject::Pipeline(pipeline) => pipeline.packets = pipeline.packets.min(EVENTS),
        Subject::Machine(found) => {
            shorten_machine(&mut found.machine);
        }
        Subject::Host(found) => {
            found.job.duration = longest(found.job.duration, messages(&found.job));
        }
    }
}

fn shorten_machine(machine: &mut Machine) {
    let segment = machine.line.segment.0;
    let most = ByteCount(EVENTS * segment);
    for flow in &mut machine.flows {
        match &mut flow.job {
            Task::Bulk { bytes } => *bytes = most.min(*bytes),
            Task::Operations { list, .. } => list.iter_mut().for_each(|operation| {
                if let Operation::Write(bytes) = operation {
                    *bytes = most.min(*bytes);
                }
            }),
            _ => {}
        }
    }
    let rate = |flow: &Flow| flow.count as f64 * (arrivals(machine, flow) + steps(machine, flow));
    machine.duration = longest(machine.duration, machine.flows.iter().map(rate).sum());
}

/// The longest time in which no more than [`EVENTS`] happen at so many a second.
fn longest(duration: Picos, events_per_second: f64) -> Picos {
    let seconds = EVENTS as f64 / events_per_second.max(1e-9);
    duration.min(Picos::from_nanos_f64(seconds * 1e9)).max(Picos(1))
}

/// Messages that a job's sender sends a second, one every picosecond where nothing paces it [1/s].
fn messages(job: &Job) -> f64 {
    job.message_interval().map_or(1e7, |interval| 1e12 / interval)
}

/// Frames that a flow's peer sends, and reads that they take [1/s].
fn arrivals(machine: &Machine, flow: &Flow) -> f64 {
    let (line, message) = (&machine.line, flow.message.0 as f64);
    let frames = (message / line.segment.0 as f64).ceil();
    let on_line = message + frames * line.headers.0 as f64;
    let unpaced = line.rate.0 as f64 / 8.0;
    let messages = match &flow.job {
        Task::Rtp { rate, .. } | Task::Vod { rate, .. } => rate.0 as f64 / 8.0 / message,
        Task::Raw { rate, .. } | Task::Operations { rate, .. } => {
            rate.map_or(unpaced / on_line, |rate| rate.0 as f64 / 8.0 / message)
        }
        Task::Bulk { .. } => unpaced / on_line,
        Task::Mpeg { film, .. } => {
            film.bit_rate().0 as f64 / 8.0 / message + film.rate.per_second()
        }
    };
    messages * (frames + (line.segment.0 as f64 / message).max(1.0))
}

/// Steps of a process that nothing but their own cost holds back, and the frames that they send [1/s].
fn steps(machine: &Machine, flow: &Flow) -> f64 {
    let frames = |bytes: u64| (bytes as f64 / machine.line.segment.0 as f64).ceil();
    let call = match flow.copies {
        CopyPath::Rdma => 1,
        _ => machine.stack.call.0.max(1),
    };
    match &flow.job {
        Task::Operations { list, .. } => {
            let costs = list.iter().map(|operation| match operation {
                Operation::Read(_) => (call, 1.0),
                Operation::Write(bytes) => (call, frames(bytes.0)),
                Operation::Process(time) | Operation::Sleep(time) => (time.0, 1.0),
                Operation::Free(_) => (0, 0.0),
            });
            let (time, events) = costs.fold((0.0, 0.0), |(time, events), (more, other)| {
                (time + more as f64, events + other)
            });
            1e12 * events / time.max(1.0)
        }
        _ if flow.direction == Direction::Send => 1e12 * frames(flow.message.0) / call as f64,
        _ => 0.0,
    }
}

fn check_pipeline(pipeline: &Pipeline, seed: u64) -> Result<(), String> {
    let outcome = exact::run(pipeline, seed);
    let counted = outcome.delivered + outcome.drops.iter().sum::<u64>();
    if counted != pipeline.packets {
        return Err(format!("{counted} of {} packets: {outcome:?}", pipeline.packets));
    }
    let by_events = events::run(pipeline, seed);
    if by_events == outcome { Ok(()) } else { Err(format!("{outcome:?}, by events {by_events:?}")) }
}

fn check_machine(machine: &Machine, interval: Picos, seed: u64) -> Result<(), String> {
    let run = |interval| {
        machine::run(machine, interval, seed).map_err(|error| format!("checked: {error}"))
    };
    // Its courses over time are seen in parts of the time that its work takes; a timer may fire long after that.
    let part = run(interval)?.elapsed.0 / INTERVALS;
    let outcome = run(SHORTEST.max(Picos(part)))?;
    let flows = machine.flows.iter().flat_map(|flow| std::iter::repeat_n(flow, flow.count));
    for (flow, found) in flows.zip(&outcome.flows) {
        let lost: u64 = found.drops.iter().sum();
        // A process that stopped, or that waits for ever, leaves datagrams in its socket.
        let conserved = match flow.transport {
            Transport::Udp if matches!(flow.job, Task::Operations { .. }) => {
                found.reads + lost <= found.sent
            }
            Transport::Udp => found.reads + lost == found.sent,
            Transport::Tcp => found.delivered_bytes <= found.sent * machine.line.segment.0,
        };
        if !conserved {
            return Err(format!("flow {}: {found:?}", flow.name));
        }
    }
    check_limits(machine, &outcome)?;
    check_figures(&machine::figures(machine, &outcome))
}

fn check_host(outcome: &path::Outcome) -> Result<(), String> {
    let counted = outcome.received + outcome.drops.total();
    if counted == outcome.sent { Ok(()) } else { Err(format!("{counted} of {}", outcome.sent)) }
}

/// No component holds more than it may, and no core works longer than the run takes.
fn check_limits(machine: &Machine, outcome: &Outcome) -> Result<(), String> {
    let rings = (machine.nic.ring * machine.nic.queues) as u64;
    let sockets: u64 =
        machine.flows.iter().map(|flow| flow.count as u64 * limit(machine, flow)).sum();
    let peak = |course: &[u64]| course.iter().max().copied().unwrap_or(0);
    for (name, found, limit) in [
        ("ring", peak(&outcome.ring.peak), rings),
        ("kernel buffer", peak(&outcome.kernel_buffer.peak), sockets),
        ("busy cores", peak(&outcome.load.peak), machine.cpu.cores as u64),
    ] {
        if found > limit {
            return Err(format!("{name}: {found} of at most {limit}"));
        }
    }
    let busiest = outcome.cores.iter().map(machine::Busy::total).max().unwrap_or(0);
    if busiest <= outcome.elapsed.0 {
        Ok(())
    } else {
        Err(format!("{busiest} of {}", outcome.elapsed))
    }
}

/// Memory that a socket may be charged: the last datagram may overshoot, and a stream is counted in whole segments.
fn limit(machine: &Machine, flow: &Flow) -> u64 {
    let frames = flow.message.0.div_ceil(machine.line.segment.0).max(1);
    let last = flow.message.0.max(machine.line.segment.0) + frames * machine.stack.overhead.0;
    flow.receive_buffer.0 + last
}

fn check_figures(figures: &[Figure]) -> Result<(), String> {
    let wrong = figures.iter().find(|figure| {
        let value = figure.estimate.value;
        !value.is_finite() || value < 0.0
    });
    wrong.map_or(Ok(()), |figure| Err(format!("{} is {}", figure.name, figure.estimate.value)))
}
