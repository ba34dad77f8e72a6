//! Two network namespaces joined by a virtual cable, so that packets take the way of a NIC's.
//!
//! ```text
//! process A in its namespace                        process B in its namespace
//!   10.77.0.1 bitpath0 ══ veth, packets of one MTU ══ bitpath0 10.77.0.2
//! ```
//!
//! Each process enters a namespace of its own by itself; its parent, as root, lays the cable. The
//! namespaces have no names: they and the cable vanish with the processes, even killed ones.

use std::fs;
use std::net::Ipv4Addr;

use bitpath_measure::{BitRate, ByteCount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;
use serde::Deserialize;

use crate::PlatformError;
use crate::clock::{monotonic_ns, sleep_until};
use crate::command::{ETHTOOL, IP, TC};
use crate::link::Link;

/// Moves the calling thread, and the threads and processes that it starts later, into a new
/// network namespace with nothing but `lo`, which is up. To be called before any other thread is
/// started, because those stay behind.
///
/// # Errors
/// Without root, or when `ip` is not installed.
pub fn enter_new_network() -> Result<(), PlatformError> {
    if !geteuid().is_root() {
        return Err(PlatformError::NeedsRoot { what: "a network namespace" });
    }
    unshare(CloneFlags::CLONE_NEWNET)
        .map_err(|errno| PlatformError::system("enter a new network namespace", errno))?;
    // Keeps IPv6 from sending its own packets (router solicitation, multicast reports) over the
    // cable. A kernel without IPv6 has no such file and nothing to keep quiet.
    let _ = fs::write("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1");
    IP.run(&["link", "set", "dev", "lo", "up"]).map(drop)
}

/// Tries whether namespaces and virtual cables can be made here, in a child that vanishes.
///
/// # Errors
/// Why not: no root, a container without the right, a kernel without veth, a program missing.
pub fn can_make_namespaces() -> Result<(), PlatformError> {
    if !geteuid().is_root() {
        return Err(PlatformError::NeedsRoot { what: "a network namespace" });
    }
    let veth = ["link", "add", "name", "end0", "type", "veth", "peer", "name", "end1"];
    IP.run_in_new_network(&veth)?;
    ETHTOOL.run_in_new_network(&["-k", "lo"]).map(drop)
}

/// Tries whether the rate of a link can be limited here, in a child that vanishes.
///
/// # Errors
/// Why not: as for [`can_make_namespaces`], or a kernel without the token bucket filter.
pub fn can_limit_rate() -> Result<(), PlatformError> {
    if !geteuid().is_root() {
        return Err(PlatformError::NeedsRoot { what: "a rate limit" });
    }
    let bucket = ["rate", "1000000bit", "burst", "10000", "limit", "20000"];
    let mut arguments = vec!["qdisc", "add", "dev", "lo", "root", "tbf"];
    arguments.extend(bucket);
    TC.run_in_new_network(&arguments).map(drop)
}

/// How the cable is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    /// Largest packet, IP header included [B].
    pub mtu_bytes: u32,
    /// Which work the interfaces take off the stack.
    pub offloads: Offloads,
}

/// Work that a network interface takes off the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offloads {
    /// TCP cuts its segments in the device (TSO): on a veth, nobody cuts them.
    pub tcp_segmentation: bool,
    /// The stack cuts segments just before the device (GSO).
    pub generic_segmentation: bool,
    /// The receiver joins segments again (GRO).
    pub generic_receive: bool,
}

impl Offloads {
    /// Nothing is taken off: each packet of one MTU passes the whole stack.
    pub const NONE: Self =
        Self { tcp_segmentation: false, generic_segmentation: false, generic_receive: false };
}

/// A side of the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The first process's.
    A,
    /// The second process's.
    B,
}

/// A limit on what one end sends: a token bucket (tbf) before the cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// Long-term rate, Ethernet headers included.
    pub rate: BitRate,
    /// Bytes that may leave at once; at least one packet.
    pub burst: ByteCount,
    /// Bytes that may wait; more are dropped.
    pub queue: ByteCount,
}

/// What an end of the cable has moved and lost since it was laid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct LinkCounters {
    /// Towards the other end.
    #[serde(rename = "tx")]
    pub sent: Counters,
    /// From the other end.
    #[serde(rename = "rx")]
    pub received: Counters,
}

/// What was moved in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Counters {
    /// Bytes, Ethernet headers included [B].
    pub bytes: u64,
    /// Packets [count].
    pub packets: u64,
    /// Packets lost: on the way to the other end's backlog, for example [count].
    pub dropped: u64,
}

/// The queue before the cable.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Queue {
    /// Its discipline: `tbf` where a limit is set, `noqueue` where none is.
    pub kind: String,
    /// Bytes that passed [B].
    #[serde(default)]
    pub bytes: u64,
    /// Packets that passed [count].
    #[serde(default)]
    pub packets: u64,
    /// Packets dropped because the queue was full [count].
    #[serde(default)]
    pub drops: u64,
}

/// A virtual cable between the namespaces of two processes.
#[derive(Clone, Debug)]
pub struct VethPair {
    pid_a: u32,
    pid_b: u32,
}

impl VethPair {
    /// Lays a cable between the namespaces that two processes have entered.
    ///
    /// The addresses of the link layer are told to both ends, so that no packet waits for ARP.
    ///
    /// # Errors
    /// The first command that failed; one missing is named with its package.
    pub fn connect(pid_a: u32, pid_b: u32, options: &LinkOptions) -> Result<Self, PlatformError> {
        let (a, b, mtu) = (pid_a.to_string(), pid_b.to_string(), options.mtu_bytes.to_string());
        let near = ["name", INTERFACE, "address", MAC_A, "mtu", &mtu, "netns", &a];
        let far = ["name", INTERFACE, "address", MAC_B, "mtu", &mtu, "netns", &b];
        let mut arguments = vec!["link", "add"];
        arguments.extend(near);
        arguments.extend(["type", "veth", "peer"]);
        arguments.extend(far);
        IP.run(&arguments)?;
        let pair = Self { pid_a, pid_b };
        for end in [End::A, End::B] {
            pair.set_offloads(end, &options.offloads)?;
            pair.bring_up(end)?;
        }
        for end in [End::A, End::B] {
            pair.wait_until_up(end)?;
        }
        Ok(pair)
    }

    /// Address of an end, valid in its process.
    #[must_use]
    pub fn address(&self, end: End) -> Ipv4Addr {
        match end {
            End::A => ADDRESS_A,
            End::B => ADDRESS_B,
        }
    }

    /// The interface of an end, by which its settings are read and changed.
    #[must_use]
    pub fn link(&self, end: End) -> Link {
        Link { name: INTERFACE.into(), network_of: Some(self.pid(end)) }
    }

    /// Turns the offloads of an end on or off.
    ///
    /// # Errors
    /// `ethtool`'s.
    pub fn set_offloads(&self, end: End, offloads: &Offloads) -> Result<(), PlatformError> {
        let state = |on: bool| if on { "on" } else { "off" };
        let arguments = [
            ["tso", state(offloads.tcp_segmentation)],
            ["gso", state(offloads.generic_segmentation)],
            ["gro", state(offloads.generic_receive)],
        ];
        let mut all = vec!["-K", INTERFACE];
        all.extend(arguments.as_flattened());
        ETHTOOL.run_in_network_of(self.pid(end), &all).map(drop)
    }

    /// Limits what an end sends; an earlier limit is replaced.
    ///
    /// # Errors
    /// `tc`'s.
    pub fn limit_rate(&self, end: End, limit: &RateLimit) -> Result<(), PlatformError> {
        let rate = format!("{}bit", limit.rate.0);
        let (burst, queue) = (limit.burst.0.to_string(), limit.queue.0.to_string());
        let bucket = ["tbf", "rate", &rate, "burst", &burst, "limit", &queue];
        let mut arguments = vec!["qdisc", "replace", "dev", INTERFACE, "root"];
        arguments.extend(bucket);
        TC.run_in_network_of(self.pid(end), &arguments).map(drop)
    }

    /// Removes the limit of an end.
    ///
    /// # Errors
    /// `tc`'s, also when there is no limit.
    pub fn remove_limit(&self, end: End) -> Result<(), PlatformError> {
        let arguments = ["qdisc", "del", "dev", INTERFACE, "root"];
        TC.run_in_network_of(self.pid(end), &arguments).map(drop)
    }

    /// The queue before the cable at an end.
    ///
    /// # Errors
    /// `tc`'s, or when it prints what is not understood.
    pub fn queue(&self, end: End) -> Result<Queue, PlatformError> {
        let arguments = ["-s", "-j", "qdisc", "show", "dev", INTERFACE];
        let text = TC.run_in_network_of(self.pid(end), &arguments)?;
        first_of(&text, "tc -s -j qdisc show")
    }

    /// What an end has moved and lost.
    ///
    /// # Errors
    /// `ip`'s, or when it prints what is not understood.
    pub fn counters(&self, end: End) -> Result<LinkCounters, PlatformError> {
        Ok(self.interface(end)?.stats64)
    }

    fn interface(&self, end: End) -> Result<Interface, PlatformError> {
        let arguments = ["-s", "-j", "link", "show", "dev", INTERFACE];
        let text = IP.run_in_network_of(self.pid(end), &arguments)?;
        first_of(&text, "ip -s -j link show")
    }

    /// Waits until an end really sends. The kernel notices in the background that both ends are up;
    /// until then it has the end drop every packet, uncounted.
    fn wait_until_up(&self, end: End) -> Result<(), PlatformError> {
        let deadline_ns = monotonic_ns() + UP_PATIENCE_NS;
        loop {
            let link = self.interface(end)?;
            if link.operstate == "UP" && link.qdisc != "noop" {
                return Ok(());
            }
            if monotonic_ns() >= deadline_ns {
                let reason = format!("{INTERFACE} stays {} with {}", link.operstate, link.qdisc);
                let command = "ip -s -j link show".into();
                return Err(PlatformError::CommandOutput { command, reason });
            }
            sleep_until(monotonic_ns() + UP_STEP_NS);
        }
    }

    fn bring_up(&self, end: End) -> Result<(), PlatformError> {
        let (other, other_mac) = match end {
            End::A => (ADDRESS_B, MAC_B),
            End::B => (ADDRESS_A, MAC_A),
        };
        let network = format!("{}/{NETWORK_BITS}", self.address(end));
        let other = other.to_string();
        let run = |arguments: &[&str]| IP.run_in_network_of(self.pid(end), arguments).map(drop);
        run(&["address", "add", &network, "dev", INTERFACE])?;
        run(&["link", "set", "dev", INTERFACE, "up"])?;
        let neighbour = [&other, "lladdr", other_mac, "dev", INTERFACE, "nud", "permanent"];
        run(&[&["neighbour", "replace"], neighbour.as_slice()].concat())
    }

    fn pid(&self, end: End) -> u32 {
        match end {
            End::A => self.pid_a,
            End::B => self.pid_b,
        }
    }
}

/// What `ip -j link show` prints of one interface, as far as it is read.
#[derive(Deserialize)]
struct Interface {
    /// `UP` when both ends are.
    operstate: String,
    /// `noop` until the end sends.
    qdisc: String,
    stats64: LinkCounters,
}

/// The first element of a JSON array that a program printed.
fn first_of<T: for<'de> Deserialize<'de>>(text: &str, command: &str) -> Result<T, PlatformError> {
    let unexpected =
        |reason: String| PlatformError::CommandOutput { command: command.into(), reason };
    let all: Vec<T> = serde_json::from_str(text).map_err(|error| unexpected(error.to_string()))?;
    all.into_iter().next().ok_or_else(|| unexpected("an empty list".into()))
}

/// Name of both ends, each in its own namespace.
const INTERFACE: &str = "bitpath0";

/// Longest wait for a cable to come up [ns]: it takes milliseconds.
const UP_PATIENCE_NS: u64 = 5_000_000_000;

/// Pause between two looks at it [ns].
const UP_STEP_NS: u64 = 1_000_000;

/// Private addresses (RFC 1918); they exist only within the two namespaces.
const ADDRESS_A: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const ADDRESS_B: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const NETWORK_BITS: u8 = 24;

/// Locally administered link addresses.
const MAC_A: &str = "02:00:00:77:00:01";
const MAC_B: &str = "02:00:00:77:00:02";

#[cfg(test)]
pub(crate) mod tests {
    use std::thread;

    use nix::libc;

    use super::*;

    #[test]
    fn counters_are_read_from_what_ip_prints() {
        let text = r#"[{"ifname":"bitpath0","operstate":"UP","qdisc":"noqueue","stats64":{
            "rx":{"bytes":1,"packets":2,"errors":0,"dropped":3},
            "tx":{"bytes":4,"packets":5,"errors":0,"dropped":6,"carrier_errors":0}}}]"#;
        let link: Interface = first_of(text, "ip").unwrap();
        assert_eq!(link.stats64.received, Counters { bytes: 1, packets: 2, dropped: 3 });
        assert_eq!(link.stats64.sent, Counters { bytes: 4, packets: 5, dropped: 6 });
    }

    #[test]
    fn output_that_is_not_understood_names_the_command() {
        for text in ["", "[]", "[{}]", "no such device"] {
            let error = first_of::<Queue>(text, "tc -s").unwrap_err().to_string();
            assert!(error.starts_with("`tc -s` printed something unexpected"), "{error}");
        }
    }

    #[test]
    fn without_root_the_reason_is_named() {
        let refusals = || [can_make_namespaces(), can_limit_rate(), enter_new_network()];
        for refused in as_nobody(refusals) {
            assert!(refused.unwrap_err().to_string().ends_with("needs root"));
        }
    }

    /// Runs something in a thread that has given up root's rights, if it had them.
    pub(crate) fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        const NOBODY: u32 = 65_534;
        let drop_rights = || {
            // SAFETY: numbers only. The bare call changes this thread alone, unlike the C
            // library's, which changes all.
            unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) };
            assert!(!geteuid().is_root());
            work()
        };
        thread::scope(|scope| scope.spawn(drop_rights).join().unwrap())
    }
}
