//! What a machine says where a process waits for ever: refused before the run, named after it, or nothing.

use bitpath_measure::{ByteCount, Picos};
use bitpath_sim::engine;
use bitpath_sim::job::Operation::{self, Free, Process, Read, Sleep, Write};
use bitpath_sim::job::{Program, Seen, Step};
use bitpath_sim::machine::Direction::{self, Receive, Send};
use bitpath_sim::machine::{self, Machine, MachineError, Outcome};
use bitpath_sim::profile::Transport::{self, Tcp, Udp};

use crate::bare;

const NEVER_READ: &str = "flow flow: its operations never read, so nothing is ever delivered";
const NEVER_WRITE: &str = "flow flow: its operations never write, so nothing is ever delivered";
const TIMELESS: &str =
    "flow flow: its operations never let time pass; one must read, write, process or sleep";

/// A part of a stream's segment, all of one, and many of them.
const PART: ByteCount = ByteCount(5);
const SEGMENT: ByteCount = ByteCount(8);
const MANY: ByteCount = ByteCount(8000);

/// The smallest that Linux gives: room for one segment of the bare machine.
const SMALLEST_BUFFER: ByteCount = ByteCount(2304);

const MICROSECOND: Picos = Picos(1_000_000);

fn machine(transport: Transport, direction: Direction, list: &[Operation]) -> Machine {
    let mut machine = bare::machine();
    let flow = &mut machine.flows[0];
    (flow.transport, flow.direction) = (transport, direction);
    flow.job = bare::operations(flow, list.to_vec());
    machine
}

/// The message of a run: of its refusal, or of its deadlock; nothing where it ends without one.
fn said(machine: &Machine, outcome: Result<Outcome, MachineError>) -> String {
    match outcome {
        Err(refused) => refused.to_string(),
        Ok(outcome) => {
            engine::deadlock(machine, &outcome).map_or(String::new(), |error| error.to_string())
        }
    }
}

#[track_caller]
fn says(machine: &Machine, message: &str) {
    assert_eq!(said(machine, machine::run(machine, Picos::SECOND, 0)), message);
}

#[test]
fn operations_that_deliver_nothing_are_refused() {
    for (transport, direction, list, message) in [
        (Udp, Receive, &[Sleep(MICROSECOND)][..], NEVER_READ),
        (Tcp, Receive, &[Process(MICROSECOND), Write(SEGMENT)], NEVER_READ),
        (Udp, Send, &[Process(MICROSECOND)], NEVER_WRITE),
        (Tcp, Send, &[Read(SEGMENT), Free(SEGMENT)], NEVER_WRITE),
        (Udp, Receive, &[Free(SEGMENT)], TIMELESS),
        (Tcp, Send, &[], TIMELESS),
    ] {
        says(&machine(transport, direction, list), message);
    }
}

#[test]
fn a_writer_whose_peer_never_answers_is_named_with_what_it_waits_for() {
    let mut machine = machine(Tcp, Send, &[Write(MANY)]);
    machine.line.loss = 1.0;
    let message = "deadlock: the process of flow flow waits for room for a write of 8000 B, \
                   and nothing is left that could end it";
    says(&machine, message);
}

#[test]
fn a_program_that_never_lets_time_pass_is_named() {
    let machine = bare::machine();
    let programs: Vec<Box<dyn Program>> = vec![Box::new(|_: &Seen| Step::Free(SEGMENT))];
    let message = "deadlock: the process of flow flow takes step after step without letting time \
                   pass, and nothing is left that could end it";
    assert_eq!(said(&machine, machine::run_with(&machine, Picos::SECOND, 0, programs)), message);
}

/// A process that waits in a read when nothing more comes is taken for one that is done: nearly every receiver ends
/// so. What it leaves undone is seen in its figures only.
#[test]
fn a_process_that_waits_in_a_read_ends_without_a_word() {
    for (transport, direction, list, delivered) in [
        // The peer sends sixteen datagrams; the fourth list of five waits for its second one.
        (Udp, Receive, &[Read(SEGMENT); 5][..], 16),
        (Tcp, Receive, &[Read(MANY), Process(MICROSECOND), Read(MANY)], 16),
    ] {
        let machine = machine(transport, direction, list);
        says(&machine, "");
        assert_eq!(bare::run(&machine, 0).flows[0].delivered_bytes, delivered * SEGMENT.0);
    }
}

#[test]
fn operations_against_the_direction_of_their_flow_are_refused() {
    for (direction, list, verb) in [
        (Send, &[Write(SEGMENT), Read(SEGMENT)], "read from a flow that is sent"),
        (Receive, &[Read(SEGMENT), Write(SEGMENT)], "write to a flow that is received"),
    ] {
        for transport in [Udp, Tcp] {
            let message = format!(
                "flow flow: its operations {verb}, and a flow goes one way; give the other one a flow of its own"
            );
            says(&machine(transport, direction, list), &message);
        }
    }
}

#[test]
fn a_window_that_never_opens_and_a_slice_without_an_end_are_refused() {
    let mut closed = machine(Tcp, Receive, &[Read(SEGMENT)]);
    closed.line.segment = ByteCount(100_000);
    says(
        &closed,
        "flow flow: a receive_buffer of 2304 B has no room for one segment, which is charged 102296 B",
    );
    let mut switching = machine(Udp, Receive, &[Read(SEGMENT)]);
    switching.cpu.context_switch = switching.cpu.quantum;
    says(
        &switching,
        "a quantum of 1 s is no longer than a context_switch of 1 s: no process would ever get on",
    );
}

#[test]
fn a_reader_that_stops_ends_the_run_though_its_window_is_closed() {
    let mut machine = machine(Tcp, Receive, &[Sleep(MICROSECOND), Read(SEGMENT)]);
    machine.flows[0].receive_buffer = SMALLEST_BUFFER;
    says(&machine, "");
    let programs: Vec<Box<dyn Program>> = vec![Box::new(|_: &Seen| Step::Stop)];
    assert_eq!(said(&machine, machine::run_with(&machine, Picos::SECOND, 0, programs)), "");
}

#[test]
fn the_last_part_of_a_stream_is_sent_when_its_process_ends() {
    let part = machine(Tcp, Send, &[Write(PART), Sleep(Picos::SECOND)]);
    says(&part, "");
    assert_eq!(bare::run(&part, 0).flows[0].delivered_bytes, SEGMENT.0);
}

#[test]
fn a_line_that_loses_everything_delivers_nothing_and_says_so_in_its_figures() {
    let mut lost = machine(Tcp, Receive, &[Read(SEGMENT)]);
    lost.line.loss = 1.0;
    says(&lost, "");
    let outcome = bare::run(&lost, 0);
    assert_eq!((outcome.flows[0].delivered_bytes, outcome.loss()), (0, 1.0));
}

#[test]
fn programs_must_be_as_many_as_flows() {
    let mut machine = bare::machine();
    machine.flows[0].count = 3;
    let programs: Vec<Box<dyn Program>> = vec![Box::new(|_: &Seen| Step::Stop)];
    let message = "1 programs for 3 flows: there must be one for each";
    assert_eq!(said(&machine, machine::run_with(&machine, Picos::SECOND, 0, programs)), message);
}
