//! A machine as written in a scenario file: every component with its parameters and units.

mod bus;
mod flow;
mod line;
mod memory;

pub use bus::Bus;
pub use flow::{Arrivals, CopyPath, Direction, Flow, Task, Timer};
pub use line::{Line, LossBursts};
pub use memory::{Cache, CoreCopy, Memory};

use bitpath_measure::{ByteCount, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;

/// A host that faces a network, its peers, and what its processes do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// For how long peers and processes send [ps].
    #[serde(deserialize_with = "bounds::duration")]
    pub duration: Picos,
    /// The cores.
    pub cpu: Cpu,
    /// The network card and its driver.
    pub nic: Nic,
    /// The bus between card and memory.
    pub bus: Bus,
    /// The memory that all cores share.
    pub memory: Memory,
    /// The line to the peers, both ways alike.
    pub line: Line,
    /// What the protocol stack costs.
    pub stack: Stack,
    /// The flows, each with a process at its end.
    #[serde(rename = "flow", deserialize_with = "bounds::flows")]
    pub flows: Vec<Flow>,
}

/// One experiment with a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineScenario {
    /// The machine.
    pub machine: Machine,
    /// Length of the intervals of the courses over time [ps].
    pub interval: Picos,
    /// Drops and stalls that are kept one by one; later ones are only counted [count].
    pub keep_incidents: usize,
}

impl Machine {
    /// The name of the so-many-th flow.
    #[must_use]
    pub fn flow_name(&self, index: usize) -> &str {
        self.each_flow().nth(index).map_or("", |flow| flow.name.as_str())
    }

    /// The flows one by one, those of a count each.
    pub(super) fn each_flow(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().flat_map(|flow| std::iter::repeat_n(flow, flow.count))
    }

    /// Whether another seed can give another result.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.line.is_random() || self.flows.iter().any(|flow| flow.arrivals != Arrivals::Constant)
    }
}

/// The cores and what the kernel spends on sharing them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// How many [cores].
    #[serde(deserialize_with = "bounds::cores")]
    pub cores: usize,
    /// How many times as fast as the one that the costs below and in the stack were measured on [ratio].
    #[serde(default = "as_measured", deserialize_with = "bounds::speed")]
    pub speed: f64,
    /// Time slice of a process where another waits [ps].
    #[serde(deserialize_with = "bounds::slice")]
    pub quantum: Picos,
    /// Switch between two processes [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub context_switch: Picos,
    /// One interrupt of the card [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub interrupt: Picos,
    /// Waking a process, for whoever wakes it [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub wake: Picos,
    /// From waking a process until its idle core runs it [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub wake_latency: Picos,
}

/// The network card and its driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Receive queues, each polled by one core; flows are spread over them (RSS) [queues].
    #[serde(deserialize_with = "bounds::cores")]
    pub queues: usize,
    /// Descriptors of one receive ring [frames].
    #[serde(deserialize_with = "bounds::slots")]
    pub ring: usize,
    /// Memory of the card for what it received, of all queues; none where descriptors limit first [B].
    #[serde(
        default,
        deserialize_with = "bounds::optional_buffer",
        skip_serializing_if = "Option::is_none"
    )]
    pub buffer: Option<ByteCount>,
    /// Longest wait for the interrupt of a received frame (`rx-usecs`) [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub moderation_time: Picos,
    /// Frames that bring the interrupt at once (`rx-frames`); 0 for no such limit [frames].
    pub moderation_frames: u32,
    /// Packets of one softirq run (`net.core.netdev_budget`) [packets].
    #[serde(deserialize_with = "bounds::budget")]
    pub budget: u32,
    /// Longest softirq run (`net.core.netdev_budget_usecs`) [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub budget_time: Picos,
    /// Payload that segments are merged to (GRO) and cut from (TSO); 0 for neither [B].
    #[serde(deserialize_with = "bounds::extra")]
    pub merge: ByteCount,
    /// Whether the card itself speaks TCP (TOE): packets and acknowledgements cost no core, copies do.
    #[serde(default)]
    pub offload_engine: bool,
}

/// What the protocol stack costs on this host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Softirq, for each frame received [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub frame: Picos,
    /// Softirq, for each buffer that goes up to a socket [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub delivery: Picos,
    /// Softirq, for each acknowledgement received [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub acknowledgement: Picos,
    /// A call that reads or writes, without its bytes [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub call: Picos,
    /// Each buffer that goes down to the card [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub transmit: Picos,
    /// Softirq, for each buffer that the card has sent [ps].
    #[serde(default, deserialize_with = "bounds::cost")]
    pub completion: Picos,
    /// Pinning the pages of one call that does not copy [ps].
    #[serde(deserialize_with = "bounds::cost")]
    pub pin: Picos,
    /// What the kernel charges a socket for a frame beside its payload [B].
    #[serde(deserialize_with = "bounds::extra")]
    pub overhead: ByteCount,
}

fn as_measured() -> f64 {
    1.0
}
