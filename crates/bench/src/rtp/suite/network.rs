//! The receiver's inputs: the sender's packets as a network brought them, by `sim::link` from a seed.

use bitpath_measure::Picos;
use bitpath_sim::link::impairment::{Impairment, Loss, Stall};

use super::UNIT_NS;
use crate::BenchError;
use crate::rtp::capture::{Capture, CaptureWriter};

/// One input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Its name, the paper's where it has one.
    pub name: &'static str,
    /// What the network does.
    pub impairment: Impairment,
    /// Whether all packets come.
    pub lossless: bool,
}

/// The paper's three (section IV) and three more. How the paper made its disorder it does not say: here packets are
/// under way up to three and up to thirty packets' time longer than others.
#[must_use]
pub fn inputs() -> [Input; 6] {
    let units = |count: u64| Picos::from_nanos(count * UNIT_NS);
    let none = Impairment { delay: units(2), ..Impairment::default() };
    let slightly = Impairment { jitter: units(3), ..none };
    let loss = Some(Loss { part: 0.02, mean_burst: 2.0 });
    // Ten seconds at once, every ten seconds, are more than the input buffer holds.
    let stall = Some(Stall { every: units(500), length: units(500) });
    let input = |name, impairment, lossless| Input { name, impairment, lossless };
    [
        input("R_input1", none, true),
        input("R_input2", slightly, true),
        input("R_input3", Impairment { jitter: units(30), ..none }, true),
        input("loss", Impairment { loss, ..slightly }, false),
        input("duplication", Impairment { duplicated: 0.05, ..slightly }, true),
        input("burst", Impairment { stall, ..none }, true),
    ]
}

/// Writes what arrives of the sender's packets, in the order of arrival.
///
/// # Errors
/// When the file cannot be written.
pub fn carry(
    sent: &Capture,
    impairment: &Impairment,
    seed: u64,
    arrivals: &mut CaptureWriter,
) -> Result<(), BenchError> {
    let packets: Vec<(u64, &[u8])> =
        sent.datagrams().map(|(datagram, bytes)| (datagram.at_ns, bytes)).collect();
    let begin_ns = packets.first().map_or(0, |(at_ns, _)| *at_ns);
    let times: Vec<Picos> = packets
        .iter()
        .map(|(at_ns, _)| Picos::from_nanos(at_ns.saturating_sub(begin_ns)))
        .collect();
    for delivery in impairment.deliver(&times, seed) {
        arrivals.add(begin_ns + delivery.at.0 / 1000, packets[delivery.packet].1)?;
    }
    Ok(())
}
