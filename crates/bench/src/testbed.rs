//! The two worker processes, their processors, and the path between them.
//!
//! ```text
//! parent ──► sender  on core A, in its own namespace ══ veth, 1500 B packets ══ receiver on core B
//!            (without root: both in ours, over loopback)
//!            (or over any network to an agent, which is told the same by TCP)
//! ```

mod flow;
mod party;

pub use flow::{Direction, Slice, Way};

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use bitpath_measure::{ByteCount, Pitfall};
use bitpath_platform::link::Link;
use bitpath_platform::namespace::{End, LinkOptions, Offloads, RateLimit, VethPair};
use bitpath_platform::process::Worker;
use bitpath_platform::{PlatformError, affinity, namespace};
use bitpath_sim::profile::{PathKind, Side};

use crate::BenchError;
use crate::agent::Agent;
use crate::sampling::Bed;
use crate::worker::{Buffers, Order, Report};
use party::Party;

/// Largest IP packet on the virtual cable [B]: Ethernet's, as a NIC would carry.
pub const VETH_MTU: ByteCount = ByteCount(1500);

/// Largest IP packet over loopback [B], its default on Linux.
const LOOPBACK_MTU: ByteCount = ByteCount(65_536);

/// Congestion control of every TCP connection of the bench: Linux's own default, whose pace does
/// not hang on the queueing discipline as that of bbr does.
pub const CONGESTION_CONTROL: &str = "cubic";

/// Congestion control where the system reserves the other for root: every kernel has it and lets
/// everyone use it.
const CONGESTION_CONTROL_FOR_ALL: &str = "reno";

/// Longest wait for an answer to an order that takes no time of its own.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(20);

/// Buffers of a connection that nothing is sent over [B]: what everyone may have.
const TRIAL_BUFFERS: Buffers = Buffers { receive: 64 << 10, send: 64 << 10 };

/// How much faster loopback's segments of 64 KiB made a transfer of 1250-byte messages look than
/// packets of 1500 B on these machines.
const LOOPBACK_FLATTERS: f64 = 6.0;

/// Both workers and what joins them.
#[derive(Debug)]
pub struct Testbed {
    sender: Party,
    receiver: Party,
    way: Way,
    /// Addresses of sender and receiver.
    addresses: (IpAddr, IpAddr),
    veth: Option<VethPair>,
    congestion_control: &'static str,
    /// Processors of sender and receiver.
    pub cpus: (usize, usize),
    /// Doubts about the path itself.
    pub pitfalls: Vec<Pitfall>,
}

impl Testbed {
    /// Starts the workers, puts each on its processor and joins them: by a virtual cable where
    /// that can be made, else over loopback.
    ///
    /// `program` is started with the argument `worker` and must call [`crate::worker::serve`].
    ///
    /// # Errors
    /// When a worker cannot be started or refuses its processor.
    pub fn open(program: &Path) -> Result<Self, BenchError> {
        Self::start(program, Self::lay_cable_if_possible)
    }

    /// The same over loopback, whatever else there is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn over_loopback(program: &Path) -> Result<Self, BenchError> {
        Self::start(program, |_| Ok(()))
    }

    /// The same over a virtual cable.
    ///
    /// # Errors
    /// As [`Self::open`], and where no cable can be laid.
    pub fn over_veth(program: &Path) -> Result<Self, BenchError> {
        Self::start(program, Self::lay_cable)
    }

    /// The sender here, the receiver at an agent on another machine: a name or number with a port.
    ///
    /// # Errors
    /// As [`Self::open`], and where the agent cannot be reached, is busy or of another version.
    pub fn to_peer(program: &Path, address: &str) -> Result<Self, BenchError> {
        let agent = Agent::connect(address)?;
        let addresses = agent.addresses()?;
        let last = agent.cpus.last().copied().unwrap_or(0);
        let sender = Party::Worker(Worker::spawn("sender", program, &["worker"])?);
        let cpus = (first_and_last()?.0, last);
        let mut bed = Self::of(sender, Party::Agent(agent), cpus);
        bed.addresses = addresses;
        bed.way = Way::Peer;
        bed.ready()
    }

    fn start(
        program: &Path,
        join: impl FnOnce(&mut Self) -> Result<(), BenchError>,
    ) -> Result<Self, BenchError> {
        let worker =
            |name| Ok::<_, BenchError>(Party::Worker(Worker::spawn(name, program, &["worker"])?));
        let (first, last) = first_and_last()?;
        let mut bed = Self::of(worker("sender")?, worker("receiver")?, (first, last));
        join(&mut bed)?;
        if first == last {
            bed.pitfalls.push(Pitfall::OneCore);
        }
        bed.pitfalls.push(Pitfall::SoftirqOnSender);
        bed.ready()
    }

    fn of(sender: Party, receiver: Party, cpus: (usize, usize)) -> Self {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self {
            sender,
            receiver,
            way: Way::Loopback,
            addresses: (here, here),
            veth: None,
            congestion_control: CONGESTION_CONTROL,
            cpus,
            pitfalls: Vec::new(),
        }
    }

    /// Puts each end on its processor.
    fn ready(mut self) -> Result<Self, BenchError> {
        let (sender, receiver) = self.cpus;
        self.ask(Side::Sender, &Order::Pin { cpu: sender }, ANSWER_PATIENCE)?;
        self.ask(Side::Receiver, &Order::Pin { cpu: receiver }, ANSWER_PATIENCE)?;
        self.choose_congestion_control()?;
        Ok(self)
    }

    /// Tries a connection, and takes the congestion control that everyone may use where the
    /// kernel refuses the usual one.
    fn choose_congestion_control(&mut self) -> Result<(), BenchError> {
        let Err(refused) = self.open_tcp(TRIAL_BUFFERS) else { return Ok(()) };
        self.congestion_control = CONGESTION_CONTROL_FOR_ALL;
        self.open_tcp(TRIAL_BUFFERS)?;
        let what = format!("TCP with {CONGESTION_CONTROL}");
        let reason = format!("{CONGESTION_CONTROL_FOR_ALL} was used, because {refused}");
        self.pitfalls.push(Pitfall::NotMeasured { what, reason });
        Ok(())
    }

    /// Joins the workers by a virtual cable where that can be made, else leaves them on loopback.
    fn lay_cable_if_possible(&mut self) -> Result<(), BenchError> {
        if let Err(reason) = namespace::can_make_namespaces() {
            self.pitfalls.push(Pitfall::Loopback { flatters: LOOPBACK_FLATTERS });
            let what = "the path over packets of 1500 B".into();
            self.pitfalls.push(Pitfall::NotMeasured { what, reason: reason.to_string() });
            return Ok(());
        }
        self.lay_cable()
    }

    fn lay_cable(&mut self) -> Result<(), BenchError> {
        for side in [Side::Sender, Side::Receiver] {
            self.ask(side, &Order::EnterNetwork, ANSWER_PATIENCE)?;
        }
        let mtu_bytes = u32::try_from(VETH_MTU.0).unwrap_or(1500);
        let options = LinkOptions { mtu_bytes, offloads: Offloads::NONE };
        let needs = PlatformError::NeedsRoot { what: "a cable between two workers" };
        let pids = self.sender.pid().zip(self.receiver.pid());
        let (sender, receiver) = pids.ok_or(needs)?;
        let veth = VethPair::connect(sender, receiver, &options)?;
        self.addresses = (veth.address(End::A).into(), veth.address(End::B).into());
        (self.way, self.veth) = (Way::Veth, Some(veth));
        Ok(())
    }

    /// What the path is made of.
    #[must_use]
    pub fn path(&self) -> PathKind {
        if self.veth.is_some() { PathKind::Veth } else { PathKind::Loopback }
    }

    /// Largest IP packet on the path [B]; that of Ethernet between two machines.
    #[must_use]
    pub fn mtu(&self) -> ByteCount {
        if self.way == Way::Loopback { LOOPBACK_MTU } else { VETH_MTU }
    }

    /// Cores that sender and receiver have between them [cores].
    #[must_use]
    pub fn cores(&self) -> u32 {
        if self.cpus.0 == self.cpus.1 { 1 } else { 2 }
    }

    /// Moves the workers to other processors: the sender's and the receiver's.
    ///
    /// # Errors
    /// When one may not run there.
    pub fn pin(&mut self, cpus: (usize, usize)) -> Result<(), BenchError> {
        self.ask(Side::Sender, &Order::Pin { cpu: cpus.0 }, ANSWER_PATIENCE)?;
        self.ask(Side::Receiver, &Order::Pin { cpu: cpus.1 }, ANSWER_PATIENCE)?;
        self.cpus = cpus;
        Ok(())
    }

    /// The interface that one side's packets pass.
    #[must_use]
    pub fn link(&self, side: Side) -> Link {
        match (&self.veth, side) {
            (Some(veth), Side::Sender) => veth.link(End::A),
            (Some(veth), Side::Receiver) => veth.link(End::B),
            (None, _) => Link { name: "lo".into(), network_of: None },
        }
    }

    /// Limits the rate at which the sender's packets leave, or lifts the limit.
    ///
    /// # Errors
    /// Over loopback, or where the kernel refuses.
    pub fn limit_rate(&self, limit: Option<&RateLimit>) -> Result<(), BenchError> {
        let needs = PlatformError::NeedsRoot { what: "a rate limit" };
        let veth = self.veth.as_ref().ok_or(needs)?;
        match limit {
            Some(limit) => veth.limit_rate(End::A, limit)?,
            None => veth.remove_limit(End::A)?,
        }
        Ok(())
    }

    /// An address of one side with any free port.
    #[must_use]
    pub fn address(&self, side: Side) -> SocketAddr {
        let ip = match side {
            Side::Sender => self.addresses.0,
            Side::Receiver => self.addresses.1,
        };
        SocketAddr::new(ip, 0)
    }

    /// Tells one worker something and waits for its answer.
    ///
    /// # Errors
    /// When it died, was silent, or could not do it.
    pub fn ask(
        &mut self,
        side: Side,
        order: &Order,
        patience: Duration,
    ) -> Result<Report, BenchError> {
        self.worker(side).send(order)?;
        self.answer(side, order, patience)
    }

    /// Tells both workers something, the receiver first, and waits for the sender's and the
    /// receiver's answer.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_both(
        &mut self,
        to_sender: &Order,
        to_receiver: &Order,
        patience: Duration,
    ) -> Result<(Report, Report), BenchError> {
        self.worker(Side::Receiver).send(to_receiver)?;
        self.worker(Side::Sender).send(to_sender)?;
        let sent = self.answer(Side::Sender, to_sender, patience);
        let received = self.answer(Side::Receiver, to_receiver, patience);
        Ok((sent?, received?))
    }

    fn answer(
        &mut self,
        side: Side,
        order: &Order,
        patience: Duration,
    ) -> Result<Report, BenchError> {
        let worker = self.worker(side);
        match worker.receive(patience)? {
            Report::Failed { reason } => {
                Err(BenchError::Worker { worker: worker.name().into(), task: task(order), reason })
            }
            report => Ok(report),
        }
    }

    fn worker(&mut self, side: Side) -> &mut Party {
        match side {
            Side::Sender => &mut self.sender,
            Side::Receiver => &mut self.receiver,
        }
    }

    /// Opens a UDP socket on both sides, the sender's connected to the receiver's. Returns what
    /// the kernel books against the receiver's buffer [B].
    ///
    /// # Errors
    /// The kernel's.
    pub fn open_udp(&mut self, buffers: Buffers) -> Result<u64, BenchError> {
        let (near, far) = (self.address(Side::Sender), self.address(Side::Receiver));
        let order = Order::OpenUdp { address: far, peer: None, buffers };
        let (peer, booked) = self.opened(Side::Receiver, &order)?;
        self.doubt_buffer(buffers, booked);
        self.opened(Side::Sender, &Order::OpenUdp { address: near, peer: Some(peer), buffers })?;
        Ok(booked)
    }

    /// Opens a TCP connection from the sender to the receiver. Returns what the kernel books
    /// against the receiver's buffer [B].
    ///
    /// # Errors
    /// The kernel's.
    pub fn open_tcp(&mut self, buffers: Buffers) -> Result<u64, BenchError> {
        let address = self.address(Side::Receiver);
        let (address, booked) = self.opened(Side::Receiver, &Order::Listen { address, buffers })?;
        self.doubt_buffer(buffers, booked);
        let congestion_control = self.congestion_control.to_owned();
        self.opened(Side::Sender, &Order::Connect { address, buffers, congestion_control })?;
        self.ask(Side::Receiver, &Order::Accept, ANSWER_PATIENCE)?;
        Ok(booked)
    }

    /// The kernel books twice what it was asked for, or less where `rmem_max` stands in the way.
    fn doubt_buffer(&mut self, buffers: Buffers, booked: u64) {
        let wanted_bytes = buffers.receive as u64;
        let doubt = Pitfall::BufferCapped {
            option: "SO_RCVBUF".into(),
            wanted_bytes,
            given_bytes: booked / 2,
        };
        if booked / 2 < wanted_bytes && !self.pitfalls.contains(&doubt) {
            self.pitfalls.push(doubt);
        }
    }

    fn opened(&mut self, side: Side, order: &Order) -> Result<(SocketAddr, u64), BenchError> {
        match self.ask(side, order, ANSWER_PATIENCE)? {
            Report::Opened { address, booked_receive, .. } => Ok((address, booked_receive)),
            report => Err(unexpected(side, order, &report)),
        }
    }
}

impl Bed for Testbed {
    /// Both processors' throughput-type loops run at the same time.
    fn speed(&mut self) -> Result<f64, BenchError> {
        match self.ask_both(&Order::Speed, &Order::Speed, ANSWER_PATIENCE)? {
            (
                Report::Speed { throughput: sender, .. },
                Report::Speed { throughput: receiver, .. },
            ) => Ok(sender.min(receiver)),
            (report, _) => Err(unexpected(Side::Sender, &Order::Speed, &report)),
        }
    }

    fn pids(&self) -> Vec<u32> {
        let ends = [self.sender.pid(), self.receiver.pid()].into_iter().flatten();
        ends.chain([std::process::id()]).collect()
    }
}

/// The first and the last processor that this process may use.
fn first_and_last() -> Result<(usize, usize), BenchError> {
    let allowed = affinity::allowed_cpus()?;
    let first = allowed.first().copied().unwrap_or(0);
    Ok((first, allowed.last().copied().unwrap_or(first)))
}

/// An order by its name alone, for messages.
pub(crate) fn task(order: &Order) -> String {
    let text = format!("{order:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

/// The error for an answer that does not fit its order.
pub(crate) fn unexpected(side: Side, order: &Order, report: &Report) -> BenchError {
    let answer: String = format!("{report:?}").chars().take(80).collect();
    BenchError::Protocol { worker: format!("{side:?}").to_lowercase(), task: task(order), answer }
}
