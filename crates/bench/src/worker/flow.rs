//! One side's half of a flow: its streams opened, and what is sent and received over them.
//!
//! ```text
//! receiver  listen ──► addresses ──► connect  sender        then, again and again:
//! receiver  join  ◄──── addresses ◄────┘                    prepare, send | receive, ping | pong
//! ```

mod ping;
mod receive;
mod send;
mod source;
mod tally;

use std::net::SocketAddr;
use std::time::Duration;

use bitpath_platform::socket::{
    BufferLimit, Endpoint, TcpListener, TcpOptions, TcpStream, UdpSocket,
};
use bitpath_sim::profile::Transport;

use super::{FlowOrder, FlowSetup, PingOrder, Report, SOCKET_TIMEOUT, not_open};
use crate::BenchError;
use source::Sources;

/// Longest wait for a connection.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// What a worker keeps of a flow.
#[derive(Debug, Default)]
pub(super) struct Ends {
    open: Option<Open>,
    sources: Sources,
}

/// Streams that are open, or a listener that waits for them.
#[derive(Debug)]
struct Open {
    setup: FlowSetup,
    listener: Option<TcpListener>,
    streams: Streams,
    /// Datagrams dropped at its sockets until the last transfer [count].
    drops: u64,
}

/// The streams, of one kind.
#[derive(Debug)]
enum Streams {
    Tcp(Vec<TcpStream>),
    Udp(Vec<UdpSocket>),
}

impl Ends {
    /// Opens what the other side connects to; an earlier flow is closed.
    pub(super) fn listen(
        &mut self,
        address: SocketAddr,
        setup: FlowSetup,
        congestion_control: &str,
    ) -> Result<Report, BenchError> {
        self.open = None;
        check(setup.objection())?;
        let (listener, streams, addresses, booked_receive);
        match setup.transport {
            Transport::Tcp => {
                let socket = TcpListener::bind(address, &options(&setup, congestion_control))?;
                booked_receive = setup.buffers.apply(&socket)?.0;
                addresses = vec![socket.local_address()?];
                (listener, streams) = (Some(socket), Streams::Tcp(Vec::new()));
            }
            Transport::Udp => {
                let sockets = udp_sockets(address, &setup)?;
                booked_receive = booked(&sockets)?;
                addresses = local_addresses(&sockets)?;
                (listener, streams) = (None, Streams::Udp(sockets));
            }
        }
        self.open = Some(Open { setup, listener, streams, drops: 0 });
        Ok(Report::FlowOpened { addresses, booked_receive })
    }

    /// Opens the streams and connects each; an earlier flow is closed.
    pub(super) fn connect(
        &mut self,
        address: SocketAddr,
        peers: &[SocketAddr],
        setup: FlowSetup,
        congestion_control: &str,
    ) -> Result<Report, BenchError> {
        self.open = None;
        check(setup.objection())?;
        let no_peer = || not_open("the other side of the flow");
        let (streams, addresses, booked_receive);
        match setup.transport {
            Transport::Tcp => {
                let peer = *peers.first().ok_or_else(no_peer)?;
                let options = options(&setup, congestion_control);
                let connect = |_| {
                    let stream = TcpStream::connect(peer, &options, CONNECT_PATIENCE)?;
                    prepare(&stream, &setup)?;
                    Ok(stream)
                };
                let all =
                    (0..setup.streams).map(connect).collect::<Result<Vec<_>, BenchError>>()?;
                booked_receive = booked(&all)?;
                addresses = local_addresses(&all)?;
                streams = Streams::Tcp(all);
            }
            Transport::Udp => {
                let sockets = udp_sockets(address, &setup)?;
                connect_each(&sockets, peers)?;
                booked_receive = booked(&sockets)?;
                addresses = local_addresses(&sockets)?;
                streams = Streams::Udp(sockets);
            }
        }
        self.open = Some(Open { setup, listener: None, streams, drops: 0 });
        Ok(Report::FlowOpened { addresses, booked_receive })
    }

    /// Takes the streams that the other side connected.
    pub(super) fn join(&mut self, peers: &[SocketAddr]) -> Result<Report, BenchError> {
        let open = self.open.as_mut().ok_or_else(|| not_open("a flow"))?;
        match &mut open.streams {
            Streams::Udp(sockets) => connect_each(sockets, peers)?,
            Streams::Tcp(streams) => {
                let listener = open.listener.take().ok_or_else(|| not_open("a listener"))?;
                while streams.len() < open.setup.streams {
                    let accepted = listener.accept(CONNECT_PATIENCE)?;
                    let stream = accepted.ok_or_else(|| not_open("a stream of the flow"))?;
                    prepare(&stream, &open.setup)?;
                    streams.push(stream);
                }
            }
        }
        Ok(Report::Done)
    }

    /// Has the memory or file ready that a transfer sends from.
    pub(super) fn prepare(&mut self, order: FlowOrder) -> Result<Report, BenchError> {
        check(order.objection(&opened(self.open.as_ref())?.setup))?;
        self.sources.of(&order)?;
        Ok(Report::Done)
    }

    /// Sends over all streams.
    pub(super) fn send(
        &mut self,
        order: FlowOrder,
        cpu: Option<usize>,
    ) -> Result<Report, BenchError> {
        let open = opened(self.open.as_ref())?;
        check(order.objection(&open.setup))?;
        let source = self.sources.of(&order)?;
        let first = self.sources.first_message(&order);
        let used = tally::with_counters(cpu, || match &open.streams {
            Streams::Tcp(streams) => send::over_tcp(streams, &open.setup, &order, &source, first),
            Streams::Udp(sockets) => send::over_udp(sockets, &open.setup, &order, &source, first),
        })?;
        Ok(Report::Flow(Box::new(used)))
    }

    /// Receives over all streams.
    pub(super) fn receive(
        &mut self,
        order: FlowOrder,
        cpu: Option<usize>,
    ) -> Result<Report, BenchError> {
        let Open { setup, streams, drops, .. } =
            self.open.as_mut().ok_or_else(|| not_open("a flow"))?;
        check(order.objection(setup))?;
        let used = tally::with_counters(cpu, || match streams {
            Streams::Tcp(streams) => receive::over_tcp(streams, &order),
            Streams::Udp(sockets) => receive::over_udp(sockets, setup, &order, drops),
        })?;
        Ok(Report::Flow(Box::new(used)))
    }

    /// Asks over the first stream and times the answers.
    pub(super) fn ping(&self, order: PingOrder) -> Result<Report, BenchError> {
        let open = opened(self.open.as_ref())?;
        check(order.objection(&open.setup))?;
        Ok(Report::Pings(match &open.streams {
            Streams::Tcp(streams) => ping::ask_tcp(first(streams)?, order)?,
            Streams::Udp(sockets) => ping::ask_udp(first(sockets)?, order)?,
        }))
    }

    /// Answers what is asked over the first stream.
    pub(super) fn pong(&self, order: PingOrder) -> Result<Report, BenchError> {
        let open = opened(self.open.as_ref())?;
        check(order.objection(&open.setup))?;
        match &open.streams {
            Streams::Tcp(streams) => ping::answer_tcp(first(streams)?, order)?,
            Streams::Udp(sockets) => ping::answer_udp(first(sockets)?, order)?,
        }
        Ok(Report::Done)
    }
}

fn opened(open: Option<&Open>) -> Result<&Open, BenchError> {
    open.ok_or_else(|| not_open("a flow"))
}

fn first<S>(streams: &[S]) -> Result<&S, BenchError> {
    streams.first().ok_or_else(|| not_open("a stream of the flow"))
}

/// The error of an order that cannot be obeyed.
fn check(objection: Option<String>) -> Result<(), BenchError> {
    objection.map_or(Ok(()), |reason| {
        let (worker, task) = ("worker".into(), "use a flow".into());
        Err(BenchError::Worker { worker, task, reason })
    })
}

fn options(setup: &FlowSetup, congestion_control: &str) -> TcpOptions {
    TcpOptions {
        congestion_control: Some(congestion_control.into()),
        no_delay: setup.no_delay,
        send_buffer_bytes: Some(setup.buffers.send),
        receive_buffer_bytes: Some(setup.buffers.receive),
        buffer_limit: BufferLimit::Forced,
    }
}

/// What every socket of a flow has: timeouts, so that its thread looks up, and busy polling.
fn prepare(socket: &Endpoint, setup: &FlowSetup) -> Result<(), BenchError> {
    socket.set_receive_timeout(Some(SOCKET_TIMEOUT))?;
    socket.set_send_timeout(Some(SOCKET_TIMEOUT))?;
    if setup.busy_poll_us > 0 {
        socket.set_busy_poll(Duration::from_micros(setup.busy_poll_us.into()))?;
    }
    Ok(())
}

fn udp_sockets(address: SocketAddr, setup: &FlowSetup) -> Result<Vec<UdpSocket>, BenchError> {
    let open = |_| {
        let socket = UdpSocket::bind(SocketAddr::new(address.ip(), 0))?;
        setup.buffers.apply(&socket)?;
        prepare(&socket, setup)?;
        if setup.segment_bytes.is_some() {
            socket.set_segment_bytes(setup.segment_bytes)?;
        }
        if setup.receive_offload {
            socket.set_receive_offload(true)?;
        }
        Ok(socket)
    };
    (0..setup.streams).map(open).collect()
}

fn connect_each(sockets: &[UdpSocket], peers: &[SocketAddr]) -> Result<(), BenchError> {
    if sockets.len() != peers.len() {
        return Err(not_open("every socket of the other side"));
    }
    for (socket, peer) in sockets.iter().zip(peers) {
        socket.connect(*peer)?;
    }
    Ok(())
}

fn local_addresses<S: std::ops::Deref<Target = Endpoint>>(
    sockets: &[S],
) -> Result<Vec<SocketAddr>, BenchError> {
    sockets.iter().map(|socket| Ok(socket.local_address()?)).collect()
}

/// What the kernel books against the first receive buffer [B]; all are alike.
fn booked<S: std::ops::Deref<Target = Endpoint>>(sockets: &[S]) -> Result<u64, BenchError> {
    Ok(u64::from(first(sockets)?.memory_info()?.receive_limit_bytes))
}
