//! The media servers of the iWARP study (2009, chapters 4 and 5): processor time and interrupts
//! against viewers, for RTP, HTTP, sendfile, an offload engine and RDMA.
//!
//! The printed figures contradict each other (70 % of a core of 2.33 GHz at 8.7 Gb/s is 1.5 cycles
//! a byte, not 4), so that their order and shapes are held against the model, and how many viewers
//! each server had when it failed. All servers are one machine, `scenarios/vod-2009.toml`, with
//! the values changed that tell them apart.

use bitpath_measure::{BitRate, ByteCount, Unit};

use super::{Criterion, Point, PublishedError, Scale, Set};
use crate::machine::{self, CopyPath, Flow, MachineScenario, Outcome, Task};
use crate::profile::{NanosPerByte, Transport};
use crate::scenario::{Scenario, Subject};
use crate::table::Table;

const FILE: &str = "vod_2009.csv";
const TEXT: &str = include_str!("../../../../data/published/vod_2009.csv");
const MACHINE: &str = include_str!("../../../../scenarios/vod-2009.toml");

/// Viewers that each server is tried with, up to the most that the line carries [viewers].
const VIEWERS: [usize; 7] = [50, 100, 160, 400, 600, 800, 1000];
/// Share of the films that must arrive before a server counts as able to serve [ratio].
const SERVED: f64 = 0.985;
/// Tolerated error of the viewers served: about one step of the above [ratio].
const VIEWERS_TOLERANCE: f64 = 0.25;
/// Apache's own buffer, which it reads and writes files by where it may not use sendfile [B].
const APACHE_BUFFER: ByteCount = ByteCount(8192);
/// VLC's own work on a byte: with the stack's cost, what makes 160 viewers take four cores [ns/B].
const VLC_WORK: NanosPerByte = NanosPerByte(13.3);

/// A server: its name in the table and what it changes.
struct Server {
    name: &'static str,
    change: fn(&mut machine::Machine),
}

/// The servers, the cheapest last. Darwin's ends at 2.5 cores for reasons that its makers did not
/// know either.
const SERVERS: [Server; 6] = [
    Server { name: "VLC", change: |machine| rtp(&mut machine.flows[0], &mut machine.nic) },
    Server { name: "Apache", change: |machine| without_sendfile(&mut machine.flows[0]) },
    Server {
        name: "Apache with TOE",
        change: |machine| {
            machine.nic.offload_engine = true;
            without_sendfile(&mut machine.flows[0]);
        },
    },
    Server { name: "Apache sendfile", change: |_| () },
    Server {
        name: "Apache sendfile with TOE",
        change: |machine| machine.nic.offload_engine = true,
    },
    Server { name: "iWARP RDMA Read", change: |machine| machine.flows[0].copies = CopyPath::Rdma },
];

/// What a server did for each number of viewers.
struct Course {
    name: &'static str,
    runs: Vec<Run>,
}

/// One number of viewers.
struct Run {
    viewers: usize,
    /// Payload delivered over payload due [ratio].
    delivered: f64,
    /// Processor time [cores].
    cores: f64,
    interrupts_per_s: f64,
}

/// The set.
pub(super) fn set() -> Result<Set, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let courses: Vec<Course> = SERVERS.iter().map(course).collect::<Result<_, _>>()?;
    let points = courses.iter().map(|course| served(&table, course)).collect::<Result<_, _>>()?;
    Ok(Set {
        name: "vod-2009",
        source: "iWARP study 2009, figures 4.1, 4.2, 4.9, 5.3 and 7",
        fitted: vec![
            "VLC's work on a byte is fitted on its own viewers (160 at four cores): that point shows nothing".into(),
            "what a buffer down and an acknowledgement up cost is fitted on Apache's sendfile: 0.7 cores at 1000 viewers".into(),
            "shapes only: the printed cores and cycles a byte contradict each other".into(),
            "Darwin's server is left out: what stopped it at 2.5 cores was not found".into(),
        ],
        points,
        criteria: criteria(&courses),
    })
}

fn course(server: &Server) -> Result<Course, PublishedError> {
    let runs = VIEWERS.iter().map(|viewers| run(server, *viewers)).collect::<Result<_, _>>()?;
    Ok(Course { name: server.name, runs })
}

fn run(server: &Server, viewers: usize) -> Result<Run, PublishedError> {
    let mut scenario = scenario()?;
    (server.change)(&mut scenario.machine);
    scenario.machine.flows[0].count = viewers;
    let Task::Vod { rate: BitRate(rate), .. } = scenario.machine.flows[0].job else {
        return Err(no_server("its job is not vod"));
    };
    let outcome = machine::run(&scenario.machine, scenario.interval, 0)
        .map_err(|error| no_server(&error.to_string()))?;
    let seconds = scenario.machine.duration.as_secs_f64();
    let delivered: u64 = outcome.flows.iter().map(|flow| flow.delivered_bytes).sum();
    Ok(Run {
        viewers,
        delivered: delivered as f64 * 8.0 / (rate as f64 * viewers as f64 * seconds),
        cores: cores(&outcome),
        interrupts_per_s: outcome.interrupts as f64 / outcome.elapsed.as_secs_f64(),
    })
}

fn scenario() -> Result<MachineScenario, PublishedError> {
    match Scenario::parse(MACHINE).map(|scenario| scenario.subject) {
        Ok(Subject::Machine(scenario)) => Ok(*scenario),
        Ok(_) => Err(no_server("it has no machine")),
        Err(error) => Err(no_server(&error.message)),
    }
}

fn no_server(reason: &str) -> PublishedError {
    PublishedError::Host { file: "vod-2009.toml", reason: reason.into() }
}

fn cores(outcome: &Outcome) -> f64 {
    (0..outcome.cores.len()).map(|core| outcome.load(core)).sum()
}

/// VLC: packets over UDP that it makes itself; no segments are merged.
fn rtp(flow: &mut Flow, nic: &mut machine::Nic) {
    nic.merge = ByteCount(0);
    (flow.transport, flow.copies) = (Transport::Udp, CopyPath::TwoCopy);
    flow.message = ByteCount(1448);
    if let Task::Vod { process, .. } = &mut flow.job {
        *process = VLC_WORK;
    }
}

fn without_sendfile(flow: &mut Flow) {
    (flow.copies, flow.message) = (CopyPath::TwoCopy, APACHE_BUFFER);
}

/// The most viewers of those tried that a server delivered everything to.
fn served(table: &Table, course: &Course) -> Result<Point, PublishedError> {
    let row = table.find(&[("server", course.name)])?;
    let able = course.runs.iter().take_while(|run| run.delivered >= SERVED);
    Ok(Point {
        name: course.name.into(),
        quantity: "viewers served",
        unit: Unit::Count,
        predicted: able.last().map_or(0.0, |run| run.viewers as f64),
        published: row.number("clients_served")?,
        tolerance: VIEWERS_TOLERANCE,
        scale: Scale::Relative,
    })
}

/// Orders and shapes, as shares that must not be exceeded.
fn criteria(courses: &[Course]) -> Vec<Criterion> {
    let of = |name: &str| courses.iter().find(|course| course.name == name);
    let [rtp, http, http_toe, sendfile, sendfile_toe, rdma] = SERVERS.map(|server| of(server.name));
    let criterion = |name, value: Option<f64>, limit| Criterion {
        name,
        value: value.unwrap_or(f64::INFINITY),
        limit,
    };
    vec![
        criterion("cores of HTTP over RTP, most of any number of viewers", over(http, rtp), 1.0),
        criterion("cores of sendfile over HTTP, most", over(sendfile, http), 1.0),
        criterion("cores of RDMA over sendfile, most", over(rdma, sendfile), 0.25),
        criterion("cores of HTTP with over without an offload engine", at_end(http_toe, http), 1.0),
        criterion("the same of sendfile", at_end(sendfile_toe, sendfile), 0.6),
        criterion("cores a viewer of HTTP, 100 over 800 viewers", growth(http), 0.95),
        criterion("interrupts of sendfile, 100 viewers over the most", rise(sendfile), 0.6),
        criterion("interrupts of sendfile, 1000 viewers over the most", fall(sendfile), 0.9),
        criterion("the same of HTTP", fall(http), 0.9),
        criterion(
            "interrupts of sendfile over an offload engine's, 1000 viewers",
            late(sendfile, sendfile_toe),
            0.9,
        ),
        criterion("interrupts of RDMA over sendfile's", late(rdma, sendfile), 0.01),
    ]
}

/// Most of the ratios of processor time where both still serve.
fn over(cheap: Option<&Course>, dear: Option<&Course>) -> Option<f64> {
    let both = cheap?.runs.iter().zip(&dear?.runs);
    let ratios = both
        .filter(|(cheap, dear)| cheap.delivered >= SERVED && dear.delivered >= SERVED)
        .map(|(cheap, dear)| cheap.cores / dear.cores);
    ratios.reduce(f64::max)
}

/// Ratio of processor time at 800 viewers.
fn at_end(with: Option<&Course>, without: Option<&Course>) -> Option<f64> {
    Some(with?.at(800)?.cores / without?.at(800)?.cores)
}

/// Processor time of a viewer among 100 over that among 800: below 1 where it grows faster than they do.
fn growth(course: Option<&Course>) -> Option<f64> {
    let (few, many) = (course?.at(100)?, course?.at(800)?);
    Some(few.cores / 100.0 / (many.cores / 800.0))
}

fn rise(course: Option<&Course>) -> Option<f64> {
    Some(course?.at(100)?.interrupts_per_s / course?.most_interrupts())
}

fn fall(course: Option<&Course>) -> Option<f64> {
    Some(course?.at(1000)?.interrupts_per_s / course?.most_interrupts())
}

fn late(one: Option<&Course>, other: Option<&Course>) -> Option<f64> {
    Some(one?.at(1000)?.interrupts_per_s / other?.at(1000)?.interrupts_per_s)
}

impl Course {
    fn at(&self, viewers: usize) -> Option<&Run> {
        self.runs.iter().find(|run| run.viewers == viewers)
    }

    fn most_interrupts(&self) -> f64 {
        self.runs.iter().map(|run| run.interrupts_per_s).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_within_tolerance;

    #[test]
    fn servers_are_ordered_and_shaped_as_published() {
        let set = assert_within_tolerance("vod-2009");
        assert_eq!((set.points.len(), set.criteria.len()), (6, 11));
    }
}
