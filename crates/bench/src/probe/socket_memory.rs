//! How much of a receive buffer a datagram takes, read from the kernel for many sizes.

use bitpath_measure::ByteCount;
use bitpath_sim::profile::{PacketMemory, Side, SocketMemory, Transport};

use crate::BenchError;
use crate::probe::stack::PROBE_BUFFERS;
use crate::testbed::{ANSWER_PATIENCE, Testbed, unexpected};
use crate::worker::{Order, Report, TransferOrder};

/// Payloads that are read [B]: dense below one packet, where the allocator's classes lie, and by
/// fragments above.
fn payloads() -> Vec<usize> {
    let mut payloads: Vec<usize> =
        (0..=46).map(|step| 1 + step * 32).filter(|bytes| *bytes < 1472).collect();
    payloads.extend([1472, 1473, 2952, 4096, 5912, 8192, 11_832, 16_384, 32_768, 49_152, 65_507]);
    payloads
}

/// Reads the charge of one waiting datagram of each size.
///
/// # Errors
/// Those of the workers.
pub fn measure(bed: &mut Testbed, run: &str) -> Result<SocketMemory, BenchError> {
    bed.open_udp(PROBE_BUFFERS)?;
    let mut packets: Vec<PacketMemory> = Vec::new();
    for message_bytes in payloads() {
        let order =
            TransferOrder { transport: Transport::Udp, message_bytes, messages: 1, gap_ns: 0 };
        bed.ask(Side::Sender, &Order::Burst(order), ANSWER_PATIENCE)?;
        let charge = match bed.ask(Side::Receiver, &Order::Charge, ANSWER_PATIENCE)? {
            Report::Charge { bytes } => ByteCount(bytes),
            report => return Err(unexpected(Side::Receiver, &Order::Charge, &report)),
        };
        bed.ask(Side::Receiver, &Order::Drain(order), ANSWER_PATIENCE)?;
        let payload = ByteCount(message_bytes as u64);
        match packets.last_mut() {
            // Only the largest payload of each step is kept.
            Some(last) if last.charge == charge => last.payload = payload,
            _ => packets.push(PacketMemory { payload, charge }),
        }
    }
    Ok(SocketMemory { packets, from: format!("SO_MEMINFO of waiting datagrams, {run}") })
}
