//! An agent as a real process, met over loopback: flows with it, and peers that go wrong.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bitpath_bench::BenchError;
use bitpath_bench::agent::{Agent, Greeting, Hello, PROTOCOL};
use bitpath_bench::testbed::{Direction, Testbed};
use bitpath_bench::worker::{Buffers, FlowOrder, FlowSetup, Order, PingOrder, Report};
use bitpath_platform::PlatformError;
use bitpath_platform::process::Channel;
use bitpath_platform::socket::{TcpListener, TcpOptions};
use bitpath_sim::profile::{Side, Transport};

use crate::program;

/// Longest wait for anything; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(20);

const BUFFERS: Buffers = Buffers { receive: 1 << 20, send: 1 << 20 };

/// An agent of its own process, ended with this.
struct Remote {
    child: Child,
    address: String,
}

impl Remote {
    fn start() -> Self {
        let mut child =
            Command::new(program()).arg("agent").stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().into() }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn greet(&self, hello: &Hello) -> Greeting {
        let mut channel = Channel::connect(&self.address, PATIENCE).unwrap();
        channel.send(hello).unwrap();
        channel.receive(PATIENCE).unwrap()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Fails only where a test ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello(protocol: u32) -> Hello {
    let version = "9.9.9".into();
    Hello { program: "bitpath".into(), version, protocol, cpus: vec![0] }
}

#[test]
fn flows_pass_between_a_worker_and_an_agent() {
    let remote = Remote::start();
    let mut bed = Testbed::to_peer(&program(), &remote.address).unwrap();
    for transport in [Transport::Tcp, Transport::Udp] {
        bed.open_flow(&FlowSetup { streams: 2, ..FlowSetup::plain(transport, BUFFERS) }).unwrap();
        for direction in [Direction::Forward, Direction::Reverse] {
            let order = FlowOrder::plain(1000, 200);
            let (sent, received) = bed.transfer(&order, direction).unwrap();
            assert_eq!((sent.bytes, received.bytes), (200_000, 200_000));
        }
        let pings = bed.pings(PingOrder { message_bytes: 1, count: 20 }, Direction::Forward);
        assert_eq!(pings.unwrap().round_trip_ns.len(), 20);
    }
}

#[test]
fn an_agent_serves_one_peer_at_a_time_and_then_the_next() {
    let remote = Remote::start();
    let first = Agent::connect(&remote.address).unwrap();
    let error = Agent::connect(&remote.address).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with(&remote.address) && text.contains("it serves 127.0.0.1:"), "{text}");
    assert!(!error.refusal());
    drop(first);
    // The agent notices the end of its peer soon, not at once.
    let mut again = std::iter::repeat_with(|| Agent::connect(&remote.address)).take(1000);
    assert!(again.any(|agent| agent.is_ok()));
}

#[test]
fn files_and_namespaces_are_not_for_peers() {
    let remote = Remote::start();
    let mut agent = Agent::connect(&remote.address).unwrap();
    for (order, part) in [
        (Order::EnterNetwork, "namespace"),
        (Order::LoadClip { clip: "/etc/hostname".into() }, "files"),
        (Order::JoinFlow { peers: vec!["198.51.100.7:53".parse().unwrap()] }, "198.51.100.7"),
    ] {
        agent.send(&order).unwrap();
        let report = agent.receive(PATIENCE).unwrap();
        assert!(
            matches!(&report, Report::Failed { reason } if reason.contains(part)),
            "{report:?}"
        );
    }
}

#[test]
fn a_peer_that_cannot_be_reached_is_named() {
    let mut remote = Remote::start();
    remote.kill();
    let error = Testbed::to_peer(&program(), &remote.address).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with(&format!("{} cannot be reached", remote.address)), "{text}");
    assert!(matches!(error, BenchError::Platform(PlatformError::PeerUnreachable { .. })));
}

#[test]
fn a_peer_of_another_version_is_refused_by_either_side() {
    let remote = Remote::start();
    let greeting = remote.greet(&hello(PROTOCOL + 1));
    let Greeting::Refused { reason } = greeting else { panic!("{greeting:?}") };
    assert!(reason.contains("this is bitpath 9.9.9 (protocol 2)"), "{reason}");
    assert!(matches!(remote.greet(&hello(PROTOCOL)), Greeting::Hello(_)));

    let options = TcpOptions::system();
    let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap(), &options).unwrap();
    let address = listener.local_address().unwrap().to_string();
    let other = std::thread::spawn(move || {
        let stream = listener.accept(PATIENCE).unwrap().unwrap();
        let mut channel = Channel::over(stream, "peer".into());
        channel.receive::<Hello>(PATIENCE).unwrap();
        channel.send(&Greeting::Hello(hello(PROTOCOL + 1))).unwrap();
        // Held until the other side has read the greeting and left.
        channel.receive::<Hello>(PATIENCE).unwrap_err()
    });
    let text = Agent::connect(&address).unwrap_err().to_string();
    assert!(text.starts_with(&address), "{text}");
    assert!(text.contains("it is bitpath 9.9.9 (protocol 2), this is bitpath"), "{text}");
    other.join().unwrap();
}

#[test]
fn a_peer_that_is_no_agent_is_shown_with_its_words() {
    let listener =
        TcpListener::bind("127.0.0.1:0".parse().unwrap(), &TcpOptions::system()).unwrap();
    let address = listener.local_address().unwrap().to_string();
    let other = std::thread::spawn(move || {
        let stream = listener.accept(PATIENCE).unwrap().unwrap();
        stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        stream.set_receive_timeout(Some(PATIENCE)).unwrap();
        while let Some(1..) = stream.receive(&mut [0; 1024]).unwrap() {}
    });
    let text = Agent::connect(&address).unwrap_err().to_string();
    assert!(text.starts_with(&address) && text.contains("HTTP/1.1 400"), "{text}");
    other.join().unwrap();
}

#[test]
fn a_peer_that_goes_in_the_middle_ends_the_transfer_and_is_named() {
    let mut remote = Remote::start();
    let mut bed = Testbed::to_peer(&program(), &remote.address).unwrap();
    bed.open_flow(&FlowSetup::plain(Transport::Udp, BUFFERS)).unwrap();
    remote.kill();
    let error = bed.ask(Side::Receiver, &Order::Speed, PATIENCE).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{} is gone", remote.address)), "{error}");
    assert!(!error.refusal());
}
