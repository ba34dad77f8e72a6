//! The outcome of a machine as figures and courses of a record.

use std::collections::BTreeMap;

use bitpath_measure::run::{Event, Figure, Timeline};
use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Unit};

use super::description::Machine;
use super::outcome::{Cause, FlowOutcome, Incident, Outcome, Trouble};
use crate::engine::{self, Engine};
use crate::gauge::{Course, points};

/// Everything that a machine's outcome says in numbers.
#[must_use]
pub fn figures(machine: &Machine, outcome: &Outcome) -> Vec<Figure> {
    let figure = |name: &str, mut labels: Labels, unit, value| {
        let mut figure = engine::figure(Engine::Events, name, unit, value);
        figure.labels.append(&mut labels);
        figure
    };
    let all = || labels([]);
    let mut figures = vec![
        figure("throughput", all(), Unit::BitsPerSecond, outcome.throughput()),
        figure("sent", all(), Unit::Packets, outcome.sent() as f64),
        figure("loss", all(), Unit::Ratio, outcome.loss()),
    ];
    for cause in Cause::ALL {
        let name = format!("dropped.{}", cause.name());
        figures.push(figure(&name, all(), Unit::Packets, outcome.drops(cause) as f64));
    }
    figures.extend([
        figure("kernel_buffer.latency", all(), Unit::Seconds, outcome.kernel_latency_s()),
        figure("interrupts", all(), Unit::Count, outcome.interrupts as f64),
        figure("softirq.deferred", all(), Unit::Count, outcome.deferred as f64),
        figure("context_switches", all(), Unit::Count, outcome.switches as f64),
    ]);
    for (index, busy) in outcome.cores.iter().enumerate() {
        let parts = [("softirq", busy.softirq), ("kernel", busy.kernel), ("user", busy.user)];
        for (part, time) in parts {
            let labels = labels([("core", index.to_string().as_str()), ("part", part)]);
            let load = time as f64 / outcome.elapsed.0 as f64;
            figures.push(figure("cpu.load", labels, Unit::Cores, load));
        }
    }
    let mut first = 0;
    for flow in &machine.flows {
        let of = &outcome.flows[first..first + flow.count];
        first += flow.count;
        for (name, unit, value) in figures_of(of, outcome) {
            figures.push(figure(name, labels([("flow", flow.name.as_str())]), unit, value));
        }
    }
    figures
}

/// Every drop and stall that was kept, with the state of the components.
#[must_use]
pub fn events(log: &[Incident]) -> Vec<Event> {
    log.iter().map(event).collect()
}

/// Figures of flows that are alike, added up.
fn figures_of(flows: &[FlowOutcome], outcome: &Outcome) -> Vec<(&'static str, Unit, f64)> {
    let sum = |value: fn(&FlowOutcome) -> u64| flows.iter().map(value).sum::<u64>() as f64;
    let bits = sum(|flow| flow.delivered_bytes) * 8.0 / outcome.delivered_until().as_secs_f64();
    let mut found = vec![
        ("flow.throughput", Unit::BitsPerSecond, bits),
        ("flow.sent", Unit::Packets, sum(|flow| flow.sent)),
        ("flow.retransmitted", Unit::Packets, sum(|flow| flow.retransmitted)),
        ("flow.timeouts", Unit::Count, sum(|flow| flow.timeouts)),
        ("flow.stalls", Unit::Count, sum(|flow| flow.stalls)),
        ("flow.stalled", Unit::Seconds, sum(|flow| flow.stalled.0) / 1e12),
    ];
    let frames: u64 = flows.iter().map(|flow| flow.frames.frames()).sum();
    if frames > 0 {
        found.extend([
            ("frames.on_time", Unit::Frames, sum(|flow| flow.frames.on_time)),
            ("frames.late", Unit::Frames, sum(|flow| flow.frames.late)),
            ("frames.lost", Unit::Frames, sum(|flow| flow.frames.lost)),
            ("frames.broken", Unit::Frames, sum(|flow| flow.frames.broken)),
        ]);
    }
    found
}

/// One drop or stall with the state of the components.
#[must_use]
pub fn event(incident: &Incident) -> Event {
    let flow = incident.flow.to_string();
    let (name, labels) = match incident.trouble {
        Trouble::Drop(cause) => {
            ("drop", labels([("cause", cause.name()), ("flow", flow.as_str())]))
        }
        Trouble::Stall => ("stall", labels([("flow", flow.as_str())])),
    };
    let values = [
        incident.ring_frames,
        incident.kernel_buffer_bytes,
        incident.user_buffer_bytes,
        u64::from(incident.busy_cores),
    ];
    let state = STATE.into_iter().zip(values);
    let state: BTreeMap<_, _> =
        state.map(|((name, unit), value)| (name.to_owned(), (value as f64, unit))).collect();
    Event { at_ns: incident.at.as_nanos_f64(), name: name.into(), labels, state }
}

/// The components whose state an event carries, in the order of the path.
pub const STATE: [(&str, Unit); 4] = [
    ("nic_ring", Unit::Packets),
    ("kernel_buffer", Unit::Bytes),
    ("user_buffer", Unit::Bytes),
    ("cpu", Unit::Cores),
];

/// The course of each component over time.
#[must_use]
pub fn timelines(machine: &Machine, outcome: &Outcome) -> Vec<Timeline> {
    let line = |name: &str, unit, limit, course: &Course| Timeline {
        name: name.into(),
        labels: Labels::new(),
        unit,
        limit,
        points: points(course.mean.iter().copied(), outcome.interval),
    };
    let ring = (machine.nic.ring * machine.nic.queues) as f64;
    let sockets: u64 =
        machine.flows.iter().map(|flow| flow.receive_buffer.0 * flow.count as u64).sum();
    vec![
        line("nic_ring.used", Unit::Packets, Some(ring), &outcome.ring),
        line("kernel_buffer.used", Unit::Bytes, Some(sockets as f64), &outcome.kernel_buffer),
        line("user_buffer.used", Unit::Bytes, None, &outcome.user_buffer),
        line("cpu.load", Unit::Cores, Some(machine.cpu.cores as f64), &outcome.load),
    ]
}
