//! The machine and its state while a run was made, as facts.
//!
//! A fact that could not be read is `None` or an empty list, never a guess.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything about the machine that a number may depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Kernel, host name and distribution.
    pub system: System,
    /// The processors.
    pub cpu: Cpu,
    /// How processors, caches, memory and interfaces hang together, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Memory in all [B].
    pub memory_bytes: u64,
    /// Memory available at the start [B].
    pub memory_available_bytes: u64,
    /// Network interfaces.
    pub nics: Vec<Nic>,
    /// Clocks.
    pub clock: Clock,
    /// Kernel settings that bear on networking, by name as under /proc/sys.
    pub settings: Vec<Setting>,
    /// Load at the start.
    pub load: Load,
    /// Whether the run had root's rights.
    pub root: bool,
    /// Versions of what took part: decoder libraries, iproute2, ...
    pub versions: Vec<Setting>,
}

/// A named value, as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value as the system prints it.
    pub value: String,
}

/// The operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct System {
    /// Kernel release, for example `6.18.0`.
    pub kernel: String,
    /// Distribution by its own name.
    pub distribution: String,
    /// Machine architecture.
    pub architecture: String,
    /// Hypervisor, when the processor says that there is one.
    pub hypervisor: Option<String>,
}

/// The processors of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Model name.
    pub model: String,
    /// Logical processors online.
    pub logical: usize,
    /// Physical cores.
    pub cores: usize,
    /// Processors that this process may run on.
    pub allowed: Vec<usize>,
    /// Caches of the first processor, from the smallest.
    pub caches: Vec<Cache>,
    /// Frequency governor, where there is one.
    pub governor: Option<String>,
    /// Frequency that the kernel reports at the start [Hz].
    pub frequency_hz: Option<f64>,
    /// Instruction set extensions that bear on copying and decoding.
    pub features: Vec<String>,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// Level, 1 is nearest to the core.
    pub level: u8,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size [B].
    pub size_bytes: u64,
    /// Logical processors that share it.
    pub shared_by: usize,
}

/// How processors, caches, memory and interfaces hang together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Packages: what sits in a socket.
    pub packages: usize,
    /// Processors of each memory node (NUMA).
    pub memory_nodes: Vec<Vec<usize>>,
    /// Processors of each cache of the last level.
    pub cache_domains: Vec<Vec<usize>>,
    /// Processors of each core: more than one where a core runs several threads.
    pub cores: Vec<Vec<usize>>,
    /// Interfaces on a bus, and the processors near to each.
    pub near_nics: Vec<(String, Vec<usize>)>,
}

/// One network interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nic {
    /// Its name.
    pub name: String,
    /// Driver, where the kernel names one.
    pub driver: Option<String>,
    /// Link speed [b/s], where the driver knows it.
    pub speed_bits_per_second: Option<u64>,
    /// Largest packet [B].
    pub mtu_bytes: u64,
    /// Receive and transmit queues.
    pub queues: Queues,
    /// Offloads that are on, as ethtool names them.
    pub offloads: Vec<String>,
    /// Whether the link is up.
    pub up: bool,
}

/// Hardware queues of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queues {
    /// Receive queues.
    pub receive: usize,
    /// Transmit queues.
    pub transmit: usize,
}

/// The clocks that times were read from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Clock source of the kernel.
    pub source: String,
    /// Resolution that the monotonic clock states [ns].
    pub resolution_ns: f64,
    /// Smallest step that was seen between two readings [ns].
    pub observed_step_ns: f64,
    /// Calibrated rate of the time stamp counter [Hz], where it is invariant.
    pub tsc_hz: Option<f64>,
    /// Timer interrupts a second of the kernel [Hz], where it is known.
    pub tick_hz: Option<f64>,
}

/// What else the machine was doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Load average over one minute.
    pub one_minute: f64,
    /// Processes that were runnable.
    pub runnable: u64,
}
