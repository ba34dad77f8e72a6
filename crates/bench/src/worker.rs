//! The worker process: one end of a transfer, told by its parent what to do.
//!
//! ```text
//! parent ── Order (JSON line) ──► worker ── Report (JSON line) ──► parent
//! ```

mod copy;
mod decode;
mod flow;
mod orders;
mod pipeline;
mod receiver;
mod sender;
mod spin;
mod stream;

pub use orders::{
    Buffers, CopyPath, FlowOrder, FlowSetup, FlowUse, FrameTime, JobOrder, MAX_DATAGRAM_BYTES,
    MAX_MESSAGE_BYTES, MAX_PINGS, MAX_SOURCE_BYTES, MAX_STREAMS, Order, Outgoing, PingOrder, Pings,
    ReceivedJob, Report, SentJob, SliceUse, StageOrder, StageUse, TransferOrder, Woken,
};

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use bitpath_platform::affinity::Pinned;
use bitpath_platform::codec::Clip;
use bitpath_platform::process::WorkerSide;
use bitpath_platform::socket::{TcpListener, TcpStream, UdpSocket};
use bitpath_platform::{PlatformError, affinity, calibration, namespace};

use crate::BenchError;

/// What outlives one order: the processor, sockets and clips.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) udp: Option<UdpSocket>,
    pub(crate) listener: Option<TcpListener>,
    pub(crate) stream: Option<TcpStream>,
    flow: flow::Ends,
    /// The processor that this worker stays on, and its number.
    pinned: Option<(Pinned, usize)>,
    channels: pipeline::Channels,
    /// Clips that were loaded, so that no job waits for one.
    clips: BTreeMap<PathBuf, Rc<Clip>>,
}

impl State {
    /// A clip in memory, loaded once.
    pub(crate) fn clip(&mut self, path: &Path) -> Result<Rc<Clip>, BenchError> {
        if let Some(clip) = self.clips.get(path) {
            return Ok(Rc::clone(clip));
        }
        let clip = Rc::new(Clip::open(path)?);
        self.clips.insert(path.to_owned(), Rc::clone(&clip));
        Ok(clip)
    }
}

/// Serves orders until the parent closes the channel.
///
/// # Errors
/// When the channel itself fails; what an order meets is reported to the parent.
pub fn serve() -> Result<(), PlatformError> {
    let mut side = WorkerSide::from_stdio();
    let mut state = State::default();
    while let Some(order) = side.receive::<Order>()? {
        let report = obey(order, &mut state)
            .unwrap_or_else(|error| Report::Failed { reason: error.to_string() });
        side.send(&report)?;
    }
    Ok(())
}

/// Does what it is told.
pub(crate) fn obey(order: Order, state: &mut State) -> Result<Report, BenchError> {
    Ok(match order {
        Order::EnterNetwork => {
            namespace::enter_new_network()?;
            Report::Done
        }
        Order::Pin { cpu } => {
            // Released first: a thread that is held may go nowhere else.
            state.pinned = None;
            state.pinned = Some((affinity::pin_thread(cpu)?, cpu));
            Report::Done
        }
        Order::Speed => {
            let speed = calibration::speed(SPEED_SLICE);
            Report::Speed {
                throughput: speed.throughput_per_second,
                latency: speed.latency_per_second,
            }
        }
        Order::OpenUdp { address, peer, buffers } => open_udp(state, address, peer, buffers)?,
        Order::Listen { address, buffers } => stream::listen(state, address, buffers)?,
        Order::Connect { address, buffers, congestion_control } => {
            stream::connect(state, address, buffers, &congestion_control)?
        }
        Order::Accept => stream::accept(state)?,
        Order::Burst(transfer) => sender::burst(state, transfer)?,
        Order::Drain(transfer) => receiver::drain(state, transfer)?,
        Order::Charge => {
            Report::Charge { bytes: u64::from(udp(state)?.memory_info()?.receive_used_bytes) }
        }
        Order::SendPaced(transfer) => sender::paced(state, transfer)?,
        Order::SendSleeping(transfer) => sender::sleeping(state, transfer)?,
        Order::ReceivePaced(transfer) => receiver::paced(state, transfer)?,
        Order::LoadClip { clip } => {
            state.clip(&clip)?;
            Report::Done
        }
        Order::Decode { clip, rest_ns } => decode::times(&*state.clip(&clip)?, rest_ns)?,
        Order::DecodeAll { clip, threads } => decode::all(&*state.clip(&clip)?, threads)?,
        Order::SendJob(order) => sender::job(state, &order)?,
        Order::ReceiveJob(order) => receiver::job(state, &order)?,
        Order::ListenFlow { address, setup, congestion_control } => {
            state.flow.listen(address, setup, &congestion_control)?
        }
        Order::ConnectFlow { address, peers, setup, congestion_control } => {
            state.flow.connect(address, &peers, setup, &congestion_control)?
        }
        Order::JoinFlow { peers } => state.flow.join(&peers)?,
        Order::PrepareFlow(order) => state.flow.prepare(order)?,
        Order::SendFlow(order) => state.flow.send(order, cpu_of(state))?,
        Order::ReceiveFlow(order) => state.flow.receive(order, cpu_of(state))?,
        Order::Ping(order) => state.flow.ping(order)?,
        Order::Pong(order) => state.flow.pong(order)?,
        Order::Copy { working_set_bytes } => copy::rate(working_set_bytes)?,
        Order::OfferChannel(spec) => state.channels.offer(&spec)?,
        Order::JoinChannel { spec, place } => state.channels.join(&spec, &place)?,
        Order::AcceptChannel => state.channels.accept()?,
        Order::Stream(order) => state.channels.stream(&order)?,
    })
}

/// The processor that this worker was told to stay on.
fn cpu_of(state: &State) -> Option<usize> {
    state.pinned.as_ref().map(|(_, cpu)| *cpu)
}

fn open_udp(
    state: &mut State,
    address: SocketAddr,
    peer: Option<SocketAddr>,
    buffers: Buffers,
) -> Result<Report, BenchError> {
    let socket = UdpSocket::bind(address)?;
    let booked = buffers.apply(&socket)?;
    if let Some(peer) = peer {
        socket.connect(peer)?;
    }
    socket.set_receive_timeout(Some(SOCKET_TIMEOUT))?;
    socket.set_send_timeout(Some(SOCKET_TIMEOUT))?;
    let address = socket.local_address()?;
    state.udp = Some(socket);
    Ok(Report::Opened { address, booked_receive: booked.0, booked_send: booked.1 })
}

/// The UDP socket that an earlier order opened.
pub(crate) fn udp(state: &State) -> Result<&UdpSocket, BenchError> {
    state.udp.as_ref().ok_or_else(|| not_open("a UDP socket"))
}

pub(crate) fn not_open(what: &str) -> BenchError {
    BenchError::Worker {
        worker: "worker".into(),
        task: "use a socket".into(),
        reason: format!("{what} is not open"),
    }
}

/// Longest wait inside one socket call, so that a worker looks up from time to time.
const SOCKET_TIMEOUT: Duration = Duration::from_millis(100);

/// Length of each of the two calibration loops: several thousand rounds, little beside a slice.
const SPEED_SLICE: Duration = Duration::from_millis(2);
