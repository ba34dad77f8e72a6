//! A worker as the tests of this crate drive it: it answers each request on its stdin with one
//! line on its stdout, and ends when its stdin ends.
//!
//! ```text
//! echo '{"open":"127.0.0.1:0"}' | cargo run -p bitpath-platform --example platform_worker
//! {"address":"127.0.0.1:40000"}
//! ```

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bitpath_platform::link::{self, Link, LinkKeeper, Setting};
use bitpath_platform::process::{Worker, WorkerSide};
use bitpath_platform::socket::{TcpListener, TcpOptions, TcpStream, UdpSocket};
use bitpath_platform::{clock, interrupt, namespace};
use nix::sys::signal::{Signal, raise};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    /// Enter a network namespace of its own.
    EnterNetwork,
    /// Open a UDP socket.
    Open(SocketAddr),
    /// Listen for a TCP connection.
    Listen(SocketAddr),
    /// Send datagrams of 1000 bytes.
    Send { to: SocketAddr, datagrams: u64 },
    /// Receive datagrams until that many came or none comes any more.
    Receive { datagrams: u64 },
    /// Send bytes over a new TCP connection.
    SendStream { to: SocketAddr, bytes: usize },
    /// Take a TCP connection and read it to its end.
    ReceiveStream,
    /// Ask itself to end, by SIGTERM, that many times.
    Interrupt { times: u32 },
    /// Connect and stay connected, deaf to everything.
    Hold(SocketAddr),
    /// Start a worker of its own that holds a connection.
    StartHolder { program: PathBuf, to: SocketAddr },
    /// Start a worker of its own and wait for an answer that it never gives.
    WaitForSilence,
    /// Change a setting of an interface until it ends; answers the keeper's process id.
    ChangeLink { link: Link, setting: Setting, value: u32 },
    /// End by a panic.
    Panic,
    /// End well when a signal asks for it.
    WaitForSignal,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Done,
    Address(SocketAddr),
    Count(u64),
    Requested(bool),
    Error(String),
}

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    if std::env::args().nth(1).is_some_and(|argument| argument == KEEP) {
        return Ok(link::keep()?);
    }
    let mut parent = WorkerSide::from_stdio();
    let mut state = State::default();
    while let Some(request) = parent.receive()? {
        let answer = state.answer(request, &mut parent);
        parent.send(&answer.unwrap_or_else(|error| Answer::Error(error.to_string())))?;
    }
    Ok(())
}

#[derive(Default)]
struct State {
    udp: Option<UdpSocket>,
    listener: Option<TcpListener>,
    child: Option<Worker>,
    keeper: Option<LinkKeeper>,
}

impl State {
    fn answer(&mut self, request: Request, parent: &mut WorkerSide) -> Outcome<Answer> {
        match request {
            Request::EnterNetwork => namespace::enter_new_network()?,
            Request::Open(address) => {
                let socket = self.udp.insert(UdpSocket::bind(address)?);
                return Ok(Answer::Address(socket.local_address()?));
            }
            Request::Listen(address) => {
                let listener = TcpListener::bind(address, &TcpOptions::system())?;
                return Ok(Answer::Address(self.listener.insert(listener).local_address()?));
            }
            Request::Send { to, datagrams } => self.send(to, datagrams)?,
            Request::Receive { datagrams } => return self.receive(datagrams),
            Request::SendStream { to, bytes } => send_stream(to, bytes)?,
            Request::ReceiveStream => return self.receive_stream(),
            Request::Interrupt { times } => return ask_itself_to_end(times),
            Request::Hold(address) => hold(address, parent)?,
            Request::StartHolder { program, to } => {
                let mut child = Worker::spawn("holder", &program, &[])?;
                child.send(&serde_json::json!({ "hold": to }))?;
                child.receive::<String>(PATIENCE)?;
                self.child = Some(child);
            }
            Request::WaitForSilence => wait_for_silence(parent)?,
            Request::ChangeLink { link, setting, value } => {
                let keeper = LinkKeeper::start(&std::env::current_exe()?, &[KEEP])?;
                let keeper = self.keeper.insert(keeper);
                keeper.set(&link, setting, value)?;
                return Ok(Answer::Count(keeper.pid().ok_or("no keeper")?.into()));
            }
            Request::Panic => panic!("as it was asked to"),
            Request::WaitForSignal => {
                interrupt::install()?;
                parent.send(&"waiting")?;
                while !interrupt::requested() {
                    clock::sleep_until(clock::monotonic_ns() + 1_000_000);
                }
                return Err("asked to end".into());
            }
        }
        Ok(Answer::Done)
    }

    fn send(&self, to: SocketAddr, datagrams: u64) -> Outcome<()> {
        let socket = self.udp.as_ref().ok_or("no socket is open")?;
        for _ in 0..datagrams {
            socket.send_to(&[1; 1000], to)?;
        }
        Ok(())
    }

    fn receive(&self, datagrams: u64) -> Outcome<Answer> {
        let socket = self.udp.as_ref().ok_or("no socket is open")?;
        let mut buffer = [0; 2000];
        let mut received = 0;
        while received < datagrams && socket.receive_within(&mut buffer, PATIENCE)?.is_some() {
            received += 1;
        }
        Ok(Answer::Count(received))
    }

    fn receive_stream(&self) -> Outcome<Answer> {
        let listener = self.listener.as_ref().ok_or("nothing is listening")?;
        let stream = listener.accept(PATIENCE)?.ok_or("nobody called")?;
        stream.set_receive_timeout(Some(PATIENCE))?;
        let mut buffer = [0; 65_536];
        let mut received = 0;
        while let Some(bytes @ 1..) = stream.receive(&mut buffer)? {
            received += bytes as u64;
        }
        Ok(Answer::Count(received))
    }
}

fn send_stream(to: SocketAddr, bytes: usize) -> Outcome<()> {
    let stream = TcpStream::connect(to, &TcpOptions::system(), PATIENCE)?;
    let payload = vec![2; bytes];
    let mut rest = payload.as_slice();
    while let Some(sent @ 1..) = stream.send(rest)? {
        rest = &rest[sent..];
    }
    Ok(())
}

fn ask_itself_to_end(times: u32) -> Outcome<Answer> {
    interrupt::install()?;
    for _ in 0..times {
        raise(Signal::SIGTERM)?;
    }
    Ok(Answer::Requested(interrupt::requested()))
}

fn hold(address: SocketAddr, parent: &mut WorkerSide) -> Outcome<()> {
    let _stream = TcpStream::connect(address, &TcpOptions::system(), PATIENCE)?;
    parent.send(&"held")?;
    loop {
        clock::sleep_until(clock::monotonic_ns() + 1_000_000_000);
    }
}

fn wait_for_silence(parent: &mut WorkerSide) -> Outcome<()> {
    interrupt::install()?;
    let mut child = Worker::spawn("silent", "/bin/cat".as_ref(), &[])?;
    parent.send(&"waiting")?;
    child.receive::<String>(PATIENCE)?;
    Ok(())
}

/// Argument by which this program keeps settings of interfaces.
const KEEP: &str = "keep";

/// Longest wait for anything; shorter than the tests', so that they see what came until then.
const PATIENCE: Duration = Duration::from_secs(10);
