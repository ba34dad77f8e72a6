//! Remedies: those of the 2004 study's table 11, and those that a user can apply today.
//!
//! Each is a change to the scenario; its gain is the useful throughput after over before.

use bitpath_measure::run::{Remedy as Ranked, RemedyOutcome};
use bitpath_measure::{BitRate, ByteCount, Estimate};

use super::worth;
use crate::host::HostScenario;
use crate::job::{MAX_DATAGRAM, Work};
use crate::profile::{Directions, Side, Transport};

/// What more hardware threads gain on memory-bound code [ratio]: the share of a second thread
/// that a core of two adds is 20 to 30 % on most measurements; assumed.
const HARDWARE_THREADS: f64 = 1.25;

/// How much larger a buffer or a message is made [ratio].
const LARGER: u64 = 4;

/// One remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Twice the memory banks: copies run twice as fast (table 11).
    MemoryBanks,
    /// TCP offload or a network processor: the host pays for calls and bytes only (table 11).
    Offload,
    /// Hardware threads hide memory latency (table 11).
    HardwareThreads,
    /// A second processor shares the user's work (table 11).
    Smp,
    /// Buffers in fast cache memory (table 11).
    BufferCache,
    /// No copies (table 11).
    ZeroCopy,
    /// A device decodes (section 4.1.4).
    HardwareDecoder,
    /// A larger receive buffer.
    SocketBuffer,
    /// Larger messages.
    LargerMessages,
    /// A link of twice the rate.
    FasterLink,
}

impl Remedy {
    /// All of them, those of table 11 first.
    pub const ALL: [Self; 10] = [
        Self::MemoryBanks,
        Self::Offload,
        Self::HardwareThreads,
        Self::Smp,
        Self::BufferCache,
        Self::ZeroCopy,
        Self::HardwareDecoder,
        Self::SocketBuffer,
        Self::LargerMessages,
        Self::FasterLink,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MemoryBanks => "multiple memory banks",
            Self::Offload => "TCP offload or network processor",
            Self::HardwareThreads => "hardware threads",
            Self::Smp => "multiple processors (SMP)",
            Self::BufferCache => "cache memory for buffers",
            Self::ZeroCopy => "zero-copy",
            Self::HardwareDecoder => "hardware decoder",
            Self::SocketBuffer => "larger socket buffer",
            Self::LargerMessages => "larger messages",
            Self::FasterLink => "faster link",
        }
    }

    /// What it changes in the model.
    #[must_use]
    pub fn change(self) -> &'static str {
        match self {
            Self::MemoryBanks => "cost of each byte halved at both ends",
            Self::Offload => "no cost of packets and splitting at both ends",
            Self::HardwareThreads => "all of the receiver's costs divided by 1.25",
            Self::Smp => "decoding and the receiver's own work halved",
            Self::BufferCache => "bytes copied at the speed of the second-level cache",
            Self::ZeroCopy => "no cost of bytes at both ends",
            Self::HardwareDecoder => "no decoding time",
            Self::SocketBuffer => "receive buffer four times as large",
            Self::LargerMessages => "messages four times as large",
            Self::FasterLink => "link rate doubled",
        }
    }

    /// Whether it changes only the job or the link, so that it can be tried on this host at once.
    #[must_use]
    pub fn can_be_tried(self) -> bool {
        matches!(
            self,
            Self::HardwareDecoder | Self::SocketBuffer | Self::LargerMessages | Self::FasterLink
        )
    }

    /// The scenario with the remedy applied; none where there is nothing to apply it to.
    #[must_use]
    pub fn applied(self, scenario: &HostScenario) -> Option<HostScenario> {
        let mut changed = scenario.clone();
        let HostScenario { host, job, link, .. } = &mut changed;
        let ratio = cache_over_memory(scenario);
        let stack = host.stack.of_mut(job.transport);
        match self {
            Self::MemoryBanks => cheaper_bytes(stack, 0.5),
            Self::BufferCache => cheaper_bytes(stack, 1.0 / ratio),
            Self::ZeroCopy => cheaper_bytes(stack, 0.0),
            Self::Offload => {
                for cost in [&mut stack.send, &mut stack.receive] {
                    (cost.per_packet.value.0, cost.per_split.value.0) = (0, 0);
                }
                Some(())
            }
            Self::HardwareThreads => return faster_receiver(scenario, HARDWARE_THREADS),
            Self::Smp => return share_user_work(scenario),
            Self::HardwareDecoder => match &mut job.work {
                Work::Mpeg { software_decode, .. } if *software_decode => {
                    *software_decode = false;
                    Some(())
                }
                _ => None,
            },
            Self::SocketBuffer => {
                job.receive_buffer = ByteCount(job.receive_buffer.0 * LARGER);
                Some(())
            }
            Self::LargerMessages => {
                let message = ByteCount(job.message.0 * LARGER);
                let fits = job.transport == Transport::Tcp || message <= MAX_DATAGRAM;
                job.message = message;
                fits.then_some(())
            }
            Self::FasterLink => link.rate.map(|rate| link.rate = Some(BitRate(rate.0 * 2))),
        }?;
        Some(changed)
    }
}

/// All remedies with their predicted gains, the largest first. Which of them were tried is for
/// whoever has the host to fill in.
#[must_use]
pub fn rank(scenario: &HostScenario) -> Vec<(Remedy, Ranked)> {
    let before = worth(scenario);
    let gain = |remedy: Remedy| Some(worth(&remedy.applied(scenario)?).gain_over(before));
    let mut ranked: Vec<(Remedy, Ranked)> = Remedy::ALL
        .into_iter()
        .filter_map(|remedy| Some((remedy, ranked(remedy, gain(remedy)?))))
        .collect();
    ranked.sort_by(|a, b| b.1.predicted_gain.value.total_cmp(&a.1.predicted_gain.value));
    ranked
}

fn ranked(remedy: Remedy, gain: f64) -> Ranked {
    let outcome = if remedy.can_be_tried() {
        RemedyOutcome::NotTried
    } else {
        RemedyOutcome::NotApplicable { reason: "needs other hardware".into() }
    };
    let predicted_gain = Estimate::simulated(gain);
    Ranked { name: remedy.name().into(), change: remedy.change().into(), predicted_gain, outcome }
}

/// Both ends' cost of a byte, multiplied.
fn cheaper_bytes(stack: &mut Directions, factor: f64) -> Option<()> {
    for cost in [&mut stack.send, &mut stack.receive] {
        cost.per_byte.value.0 *= factor;
    }
    Some(())
}

/// Copy bandwidth in the second-level cache over that of memory [ratio], at least 1.
fn cache_over_memory(scenario: &HostScenario) -> f64 {
    let bandwidth = |index: usize| scenario.host.copy.get(index).map(|copy| copy.bandwidth.value.0);
    let memory = scenario.host.copy.len().checked_sub(1).and_then(bandwidth);
    bandwidth(1).zip(memory).map_or(1.0, |(cache, memory)| (cache / memory).max(1.0))
}

fn faster_receiver(scenario: &HostScenario, factor: f64) -> Option<HostScenario> {
    let mut changed = super::Parameter::StackReceive.improved(scenario, factor)?;
    for parameter in [super::Parameter::Decode, super::Parameter::UserWork] {
        changed = parameter.improved(&changed, factor).unwrap_or(changed);
    }
    if changed.host.path.softirq_on == Side::Receiver {
        let softirq = &mut changed.host.path.softirq_per_packet.value;
        *softirq = bitpath_measure::Picos::from_nanos_f64(softirq.as_nanos_f64() / factor);
    }
    Some(changed)
}

fn share_user_work(scenario: &HostScenario) -> Option<HostScenario> {
    let decode = super::Parameter::Decode.improved(scenario, 2.0);
    decode.or_else(|| super::Parameter::UserWork.improved(scenario, 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::tests::{film, raw, scenario};

    fn top(scenario: &HostScenario) -> Remedy {
        rank(scenario)[0].0
    }

    #[test]
    fn the_top_remedy_fits_the_bottleneck() {
        assert_eq!(top(&scenario(film(60.0, true))), Remedy::HardwareDecoder);
        let mut small = scenario(film(4.0, false));
        small.job.receive_buffer = ByteCount(9216);
        assert_eq!(top(&small), Remedy::SocketBuffer);
        let mut limited = scenario(raw(1000));
        limited.link.rate = Some(BitRate(50_000_000));
        assert_eq!(top(&limited), Remedy::FasterLink);
    }

    #[test]
    fn a_job_that_nothing_limits_gains_nothing() {
        let ranked = rank(&scenario(film(1.0, true)));
        assert!(ranked.iter().all(|(_, remedy)| remedy.predicted_gain.value < 1.01), "{ranked:?}");
    }

    #[test]
    fn every_row_of_table_11_is_a_remedy() {
        let table = include_str!("../../../../data/published/remedies.csv");
        let names: Vec<&str> =
            table.lines().skip(2).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(names.len(), 6);
        let covered = [
            Remedy::MemoryBanks,
            Remedy::Offload,
            Remedy::HardwareThreads,
            Remedy::Smp,
            Remedy::BufferCache,
            Remedy::ZeroCopy,
        ];
        for (name, remedy) in names.iter().zip(covered) {
            let word = name.split([' ', '-']).next().unwrap();
            assert!(
                remedy.name().contains(word) || name.contains("cache"),
                "{name} is not {remedy:?}"
            );
        }
    }
}
