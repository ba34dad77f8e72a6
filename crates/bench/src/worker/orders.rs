//! What a parent tells its workers and what they answer.

mod flow;

pub use flow::{
    CopyPath, FlowOrder, FlowSetup, FlowUse, MAX_DATAGRAM_BYTES, MAX_MESSAGE_BYTES, MAX_PINGS,
    MAX_SOURCE_BYTES, MAX_STREAMS, PingOrder, Pings,
};

use std::net::SocketAddr;
use std::path::PathBuf;

use bitpath_media::FrameKind;
use bitpath_platform::PlatformError;
use bitpath_platform::channel::{Place, Spec};
use bitpath_platform::socket::{BufferLimit, Endpoint};
use bitpath_sim::job::Job;
use bitpath_sim::profile::Transport;
use serde::{Deserialize, Serialize};

/// One thing to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Move into a network namespace of its own.
    EnterNetwork,
    /// Stay on one processor.
    Pin {
        /// The processor.
        cpu: usize,
    },
    /// Say how fast this processor is now.
    Speed,
    /// Open a UDP socket.
    OpenUdp {
        /// Where.
        address: SocketAddr,
        /// Whom to send to.
        peer: Option<SocketAddr>,
        /// How large its buffers are.
        buffers: Buffers,
    },
    /// Listen for a TCP connection.
    Listen {
        /// Where.
        address: SocketAddr,
        /// How large its buffers are.
        buffers: Buffers,
    },
    /// Connect by TCP.
    Connect {
        /// Where to.
        address: SocketAddr,
        /// How large its buffers are.
        buffers: Buffers,
        /// The congestion control to use.
        congestion_control: String,
    },
    /// Take the connection that was made.
    Accept,
    /// Send some messages as fast as possible.
    Burst(TransferOrder),
    /// Receive: what waits (UDP), or as many bytes as were sent (TCP).
    Drain(TransferOrder),
    /// Say how much memory the kernel charges for what waits in the UDP socket.
    Charge,
    /// Send messages one by one, each to a receiver that had time to fall asleep.
    SendPaced(TransferOrder),
    /// Send messages a gap apart, asleep before each.
    SendSleeping(TransferOrder),
    /// Receive such messages.
    ReceivePaced(TransferOrder),
    /// Load a clip into memory.
    LoadClip {
        /// The clip.
        clip: PathBuf,
    },
    /// Decode a clip once and time every frame.
    Decode {
        /// The clip.
        clip: PathBuf,
        /// Sleep before each frame [ns].
        rest_ns: u64,
    },
    /// Decode a clip once, on so many threads.
    DecodeAll {
        /// The clip.
        clip: PathBuf,
        /// Threads of the decoder.
        threads: usize,
    },
    /// Be the sender of a job.
    SendJob(Box<JobOrder>),
    /// Be the receiver of a job.
    ReceiveJob(Box<JobOrder>),
    /// Open this side's half of a flow for the other side to connect to.
    ListenFlow {
        /// Where.
        address: SocketAddr,
        /// How.
        setup: FlowSetup,
        /// The congestion control to use.
        congestion_control: String,
    },
    /// Open this side's half of a flow and connect it to the other side's.
    ConnectFlow {
        /// Where.
        address: SocketAddr,
        /// The other side's sockets, or its listener.
        peers: Vec<SocketAddr>,
        /// How.
        setup: FlowSetup,
        /// The congestion control to use.
        congestion_control: String,
    },
    /// Take the streams that the other side connected.
    JoinFlow {
        /// The other side's sockets.
        peers: Vec<SocketAddr>,
    },
    /// Have ready what the flow's next transfer sends.
    PrepareFlow(FlowOrder),
    /// Send over the flow.
    SendFlow(FlowOrder),
    /// Receive what the other side sends over the flow.
    ReceiveFlow(FlowOrder),
    /// Ask over the flow and time the answers.
    Ping(PingOrder),
    /// Answer what is asked over the flow.
    Pong(PingOrder),
    /// Say how fast this processor copies memory.
    Copy {
        /// Source and destination together [B].
        working_set_bytes: usize,
    },
    /// Make the incoming channel of a stage.
    OfferChannel(Spec),
    /// Join the outgoing channel of a stage.
    JoinChannel {
        /// What it is.
        spec: Spec,
        /// Where the other stage waits.
        place: Place,
    },
    /// Take the stage that has joined the incoming channel.
    AcceptChannel,
    /// Be a stage of a pipeline; its channels say which.
    Stream(StageOrder),
}

/// Sizes of socket buffers as SO_RCVBUF and SO_SNDBUF ask for them [B].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// Receive buffer.
    pub receive: usize,
    /// Send buffer.
    pub send: usize,
}

impl Buffers {
    /// Sets both and returns what the kernel books against [B]: receive, send.
    pub(crate) fn apply(self, socket: &Endpoint) -> Result<(u64, u64), PlatformError> {
        let receive = socket.set_receive_buffer(self.receive, BufferLimit::Forced)?;
        let send = socket.set_send_buffer(self.send, BufferLimit::Forced)?;
        Ok((receive.booked_bytes as u64, send.booked_bytes as u64))
    }
}

/// Some messages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferOrder {
    /// How they travel.
    pub transport: Transport,
    /// Size of each [B].
    pub message_bytes: usize,
    /// How many [packets].
    pub messages: u64,
    /// Time between two, where they are paced [ns].
    pub gap_ns: u64,
}

/// A job and what its real ends need beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobOrder {
    /// The job.
    pub job: Job,
    /// The clip whose bytes are sent, and decoded where the job says so; none for raw data.
    pub clip: Option<PathBuf>,
    /// Monotonic time at which the sender begins [ns].
    pub start_ns: u64,
    /// Buffers of the sockets.
    pub buffers: Buffers,
}

/// What a stage of a pipeline is to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageOrder {
    /// Blocks to pass [count].
    pub blocks: u64,
    /// Monotonic time at which the source begins [ns].
    pub start_ns: u64,
}

/// What a worker answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// It is done.
    Done,
    /// It could not be done.
    Failed {
        /// Why.
        reason: String,
    },
    /// Speed of the processor, steps a second of two loops [1/s].
    Speed {
        /// Of independent chains.
        throughput: f64,
        /// Of a dependent chain.
        latency: f64,
    },
    /// A socket is open.
    Opened {
        /// Its address.
        address: SocketAddr,
        /// What the kernel books against the receive buffer [B].
        booked_receive: u64,
        /// What the kernel books against the send buffer [B].
        booked_send: u64,
    },
    /// Memory charged to the UDP socket.
    Charge {
        /// How much [B].
        bytes: u64,
    },
    /// What a slice of messages cost.
    Slice(SliceUse),
    /// What sending to a sleeping receiver cost the sender, a message each.
    Paced(Vec<Outgoing>),
    /// What being woken cost the receiver, and when it ran.
    Woken(Woken),
    /// Decoding times, frame by frame.
    Decoded(Vec<FrameTime>),
    /// The sender's side of a job.
    Sent(SentJob),
    /// The receiver's side of a job.
    Received(Box<ReceivedJob>),
    /// Half of a flow is open.
    FlowOpened {
        /// Its sockets, or its listener.
        addresses: Vec<SocketAddr>,
        /// What the kernel books against each receive buffer [B].
        booked_receive: u64,
    },
    /// What a transfer over a flow cost this side.
    Flow(Box<FlowUse>),
    /// Round trips over a flow.
    Pings(Pings),
    /// Payload that a memory copy moves in a second.
    CopyRate {
        /// The rate [B/s].
        bytes_per_second: f64,
    },
    /// An incoming channel is there.
    Offered {
        /// Where to join it.
        place: Place,
    },
    /// An outgoing channel is joined.
    Joined {
        /// Room that this side of it was given [B].
        given_bytes: u64,
    },
    /// A stage has passed its blocks.
    Stage(StageUse),
}

/// Use of the processor by a slice of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceUse {
    /// Calls that moved something.
    pub calls: u64,
    /// Bytes moved [B].
    pub bytes: u64,
    /// Processor time [ns].
    pub cpu_ns: u64,
    /// Elapsed time [ns].
    pub elapsed_ns: u64,
    /// Times that the thread waited.
    pub sleeps: u64,
}

/// One message sent to a sleeping receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// When the call began [ns].
    pub began_ns: u64,
    /// How long the call took [ns].
    pub took_ns: u64,
}

/// The receiver's side of messages that woke it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Woken {
    /// When each message was in the user's hands [ns].
    pub at_ns: Vec<u64>,
    /// Use of the processor by all of it.
    pub usage: SliceUse,
}

/// Decoding time of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameTime {
    /// How it was coded.
    pub kind: FrameKind,
    /// Compressed size [B].
    pub bytes: u32,
    /// Processor time [ns].
    pub cpu_ns: u64,
    /// Time stamp counter cycles; 0 where there is no such counter.
    pub tsc_cycles: u64,
}

/// The sender's side of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentJob {
    /// Messages sent [packets].
    pub messages: u64,
    /// Use of the processor while sending.
    pub usage: SliceUse,
    /// When the last call returned [ns].
    pub ended_ns: u64,
}

/// The receiver's side of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceivedJob {
    /// Messages read [packets].
    pub messages: u64,
    /// Bytes read [B].
    pub bytes: u64,
    /// Bytes of complete frames, or all bytes of raw data [B].
    pub useful_bytes: u64,
    /// Datagrams that the kernel dropped at the socket [packets].
    pub dropped: u64,
    /// When the last work was done [ns].
    pub ended_ns: u64,
    /// Use of the processor until then.
    pub usage: SliceUse,
    /// Whether each frame was on time, late or lost.
    pub fates: Vec<bitpath_media::Fate>,
    /// Frames that the decoder refused.
    pub undecodable: u64,
}

/// What a stage of a pipeline did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageUse {
    /// When it began, which for all but the source is before the first block came [ns].
    pub began_ns: u64,
    /// When its last block was passed on [ns].
    pub ended_ns: u64,
    /// Sum of the words that the sink got or, at the source, should get, modulo 2^64.
    pub sum: u64,
    /// Use of the processor.
    pub usage: SliceUse,
}
