//! The other end of a test bed on another machine: an agent that obeys the orders of one peer at a
//! time, and the peer's view of it.
//!
//! ```text
//! peer ──► Hello ──► agent      program, version, number of the protocol; processors
//! peer ◄── Hello, or Failed ◄── agent
//! peer ──► Order ──► agent ──► Report ──► peer      as between a parent and its worker
//! ```
//!
//! An agent touches no file and no namespace, and sends to nobody but its peer.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bitpath_platform::process::{Channel, Incoming};
use bitpath_platform::socket::{TcpListener, TcpOptions, TcpStream};
use bitpath_platform::{PlatformError, affinity, interrupt};
use serde::{Deserialize, Serialize};

use crate::BenchError;
use crate::worker::{Order, Report, State, obey};

/// Number of the protocol: raised by every change of the orders or reports that the other version
/// would misread.
pub const PROTOCOL: u32 = 1;

/// Name of the program in its hello.
const PROGRAM: &str = "bitpath";

/// Longest wait for a connection and for a hello.
const HELLO_PATIENCE: Duration = Duration::from_secs(5);

/// Longest time between two orders of a peer: a probe measures elsewhere meanwhile, but not for
/// so long.
const IDLE_PATIENCE: Duration = Duration::from_secs(300);

/// Longest wait for a caller before the agent looks whether it is to end.
const LISTEN_STEP: Duration = Duration::from_millis(100);

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The program: `bitpath`.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Number of its protocol.
    pub protocol: u32,
    /// Processors that it may run on.
    pub cpus: Vec<usize>,
}

/// The answer to a hello.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Greeting {
    /// Go on.
    Hello(Hello),
    /// Not now, or not with this peer.
    Refused {
        /// Why.
        reason: String,
    },
}

impl Hello {
    /// What this program says.
    fn own() -> Result<Self, BenchError> {
        let version = env!("CARGO_PKG_VERSION").into();
        let cpus = affinity::allowed_cpus()?;
        Ok(Self { program: PROGRAM.into(), version, protocol: PROTOCOL, cpus })
    }

    /// Whether both speak of the same things.
    fn fits(&self) -> bool {
        self.program == PROGRAM && self.protocol == PROTOCOL
    }

    fn in_words(&self) -> String {
        format!("{} {} (protocol {})", self.program, self.version, self.protocol)
    }
}

/// An agent as its peer sees it.
#[derive(Debug)]
pub struct Agent {
    channel: Channel,
    /// Processors of the agent.
    pub cpus: Vec<usize>,
}

impl Agent {
    /// Connects to an agent at a name or number with a port.
    ///
    /// # Errors
    /// When nobody answers there, when it is no agent, one of another version, or busy; each names
    /// the address.
    pub fn connect(address: &str) -> Result<Self, BenchError> {
        let mut channel = Channel::connect(address, HELLO_PATIENCE)?;
        let own = Hello::own()?;
        channel.send(&own)?;
        let refused = |reason| BenchError::PeerRefused { peer: address.to_owned(), reason };
        match channel.receive(HELLO_PATIENCE)? {
            Greeting::Hello(theirs) if theirs.fits() => Ok(Self { channel, cpus: theirs.cpus }),
            Greeting::Hello(theirs) => Err(refused(other_version(&theirs, &own))),
            Greeting::Refused { reason } => Err(refused(reason)),
        }
    }

    /// Its address as it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        self.channel.peer()
    }

    /// Our address and its, as the way between them has them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn addresses(&self) -> Result<(IpAddr, IpAddr), BenchError> {
        let (near, far) = self.channel.addresses()?;
        Ok((near.ip(), far.ip()))
    }

    /// Tells it something.
    ///
    /// # Errors
    /// When it is gone.
    pub fn send(&mut self, order: &Order) -> Result<(), PlatformError> {
        self.channel.send(order)
    }

    /// Waits for its answer.
    ///
    /// # Errors
    /// When it is gone or silent.
    pub fn receive(&mut self, patience: Duration) -> Result<Report, PlatformError> {
        self.channel.receive(patience)
    }
}

fn other_version(theirs: &Hello, ours: &Hello) -> String {
    format!("it is {}, this is {}", theirs.in_words(), ours.in_words())
}

/// Serves one peer at a time until the user or the system asks this process to end. `started` is told
/// where the agent listens.
///
/// # Errors
/// When the address cannot be listened at.
pub fn serve(listen: SocketAddr, started: impl FnOnce(SocketAddr)) -> Result<(), BenchError> {
    interrupt::install()?;
    let options = TcpOptions { no_delay: true, ..TcpOptions::system() };
    let listener = TcpListener::bind(listen, &options)?;
    let address = listener.local_address()?;
    if listen.port() != 0 && listen.port() != address.port() {
        return Err(BenchError::PortInUse { address: listen });
    }
    started(address);
    let busy: Busy = Arc::default();
    while !interrupt::requested() {
        if let Some(stream) = listener.accept(LISTEN_STEP)? {
            let busy = Arc::clone(&busy);
            // A thread of its own: it stays on a processor, and its end frees it. A peer that goes wrong
            // harms nobody else, and there is nobody to tell.
            thread::spawn(move || drop(meet(stream, &busy)));
        }
    }
    Ok(())
}

/// The peer that is served, if there is one.
type Busy = Arc<Mutex<Option<SocketAddr>>>;

/// Answers a caller: serves it, or says why not.
fn meet(stream: TcpStream, busy: &Busy) -> Result<(), BenchError> {
    let address = stream.peer_address()?;
    let mut channel = Channel::over(stream, address.to_string());
    let theirs: Hello = channel.receive(HELLO_PATIENCE)?;
    let own = Hello::own()?;
    if !theirs.fits() {
        return refuse(&mut channel, other_version(&own, &theirs));
    }
    let Some(_served) = Served::begin(busy, address) else {
        let other = *busy.lock().unwrap_or_else(PoisonError::into_inner);
        let other = other.map_or_else(|| "another peer".to_owned(), |other| other.to_string());
        return refuse(&mut channel, format!("it serves {other}"));
    };
    channel.send(&Greeting::Hello(own))?;
    serve_peer(&mut channel, address.ip())
}

fn refuse(channel: &mut Channel, reason: String) -> Result<(), BenchError> {
    Ok(channel.send(&Greeting::Refused { reason })?)
}

/// As long as this lives, no other peer is served.
struct Served<'a>(&'a Busy);

impl<'a> Served<'a> {
    /// None while another peer is served.
    fn begin(busy: &'a Busy, peer: SocketAddr) -> Option<Self> {
        let mut held = busy.lock().unwrap_or_else(PoisonError::into_inner);
        held.is_none().then(|| {
            *held = Some(peer);
            Self(busy)
        })
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Obeys a peer until it leaves or says nothing for long.
fn serve_peer(channel: &mut Channel, peer: IpAddr) -> Result<(), BenchError> {
    let mut state = State::default();
    while let Incoming::Message(order) = channel.incoming::<Order>(IDLE_PATIENCE)? {
        let report = match objection(&order, peer) {
            Some(reason) => Report::Failed { reason },
            None => obey(order, &mut state)
                .unwrap_or_else(|error| Report::Failed { reason: error.to_string() }),
        };
        channel.send(&report)?;
    }
    Ok(())
}

/// Why an agent does not obey an order; none for one that it does.
fn objection(order: &Order, peer: IpAddr) -> Option<String> {
    let only_peer = |addresses: &[SocketAddr]| {
        let other = addresses.iter().find(|address| address.ip() != peer)?;
        Some(format!("an agent talks to its peer {peer} only, not to {other}"))
    };
    match order {
        Order::EnterNetwork => Some("an agent enters no network namespace".into()),
        Order::LoadClip { .. }
        | Order::Decode { .. }
        | Order::DecodeAll { .. }
        | Order::SendJob(_)
        | Order::ReceiveJob(_) => Some("an agent reads no files".into()),
        Order::OfferChannel(_)
        | Order::JoinChannel { .. }
        | Order::AcceptChannel
        | Order::Stream(_) => Some("an agent is no stage of a pipeline".into()),
        Order::ConnectFlow { peers, .. } | Order::JoinFlow { peers } => only_peer(peers),
        Order::Connect { address, .. } => only_peer(&[*address]),
        Order::OpenUdp { peer: address, .. } => only_peer(address.as_slice()),
        Order::Pin { .. }
        | Order::Speed
        | Order::Listen { .. }
        | Order::Accept
        | Order::Burst(_)
        | Order::Drain(_)
        | Order::Charge
        | Order::SendPaced(_)
        | Order::SendSleeping(_)
        | Order::ReceivePaced(_)
        | Order::ListenFlow { .. }
        | Order::PrepareFlow(_)
        | Order::SendFlow(_)
        | Order::ReceiveFlow(_)
        | Order::Ping(_)
        | Order::Pong(_)
        | Order::Copy { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_reads_no_file_and_reaches_nobody_else() {
        let peer: IpAddr = "192.0.2.1".parse().unwrap();
        let near: SocketAddr = "192.0.2.1:5000".parse().unwrap();
        let other: SocketAddr = "198.51.100.7:53".parse().unwrap();
        let refused = [
            (Order::EnterNetwork, "namespace"),
            (Order::Decode { clip: "/etc/passwd".into(), rest_ns: 0 }, "files"),
            (Order::JoinFlow { peers: vec![near, other] }, "198.51.100.7:53"),
        ];
        for (order, part) in refused {
            let reason = objection(&order, peer);
            assert!(reason.as_deref().is_some_and(|reason| reason.contains(part)), "{reason:?}");
        }
        assert_eq!(objection(&Order::JoinFlow { peers: vec![near] }, peer), None);
        assert_eq!(objection(&Order::Speed, peer), None);
    }

    #[test]
    fn another_protocol_does_not_fit_and_is_named() {
        let own = Hello::own().unwrap();
        assert!(own.fits());
        let theirs = Hello { protocol: PROTOCOL + 1, version: "9.9.9".into(), ..own.clone() };
        assert!(!theirs.fits());
        let reason = other_version(&theirs, &own);
        assert!(
            reason.starts_with("it is bitpath 9.9.9 (protocol 2), this is bitpath"),
            "{reason}"
        );
    }

    #[test]
    fn one_peer_is_served_at_a_time() {
        let busy = Busy::default();
        let peer = "192.0.2.1:5000".parse().unwrap();
        let first = Served::begin(&busy, peer);
        assert!(first.is_some() && Served::begin(&busy, peer).is_none());
        drop(first);
        assert!(Served::begin(&busy, peer).is_some());
    }
}
