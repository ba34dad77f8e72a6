//! How much of a socket's receive buffer a datagram takes: the kernel charges the memory behind
//! it (its truesize), not its payload.

use bitpath_measure::ByteCount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Charges by payload, as read from the kernel, from the smallest payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketMemory {
    /// Payloads and what the kernel charges for them.
    pub packets: Vec<PacketMemory>,
    /// Where they come from.
    pub from: String,
}

/// The charge for one payload size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketMemory {
    /// Payload [B].
    pub payload: ByteCount,
    /// Socket buffer that it takes [B].
    pub charge: ByteCount,
}

impl SocketMemory {
    /// Socket buffer that a datagram of `payload` takes [B].
    ///
    /// The kernel's allocator has size classes, so the charge is a step function: the step of the
    /// next larger payload that was read. Beyond the largest one the charge grows with the payload.
    #[must_use]
    pub fn charge(&self, payload: ByteCount) -> ByteCount {
        if let Some(step) = self.packets.iter().find(|packet| packet.payload >= payload) {
            return step.charge;
        }
        let Some(largest) = self.packets.last() else { return payload };
        ByteCount(payload.0 * largest.charge.0 / largest.payload.0.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_are_steps() {
        let read = [(100, 768), (700, 1280), (1472, 2304)];
        let packets = read.map(|(payload, charge)| PacketMemory {
            payload: ByteCount(payload),
            charge: ByteCount(charge),
        });
        let memory = SocketMemory { packets: packets.to_vec(), from: "test".into() };
        assert_eq!(memory.charge(ByteCount(1)), ByteCount(768));
        assert_eq!(memory.charge(ByteCount(701)), ByteCount(2304));
        assert_eq!(memory.charge(ByteCount(2944)), ByteCount(4608));
    }
}
