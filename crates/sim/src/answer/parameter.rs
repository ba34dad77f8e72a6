//! The parameters whose elasticities are asked for, each with what more of it means.

use bitpath_measure::{BitRate, ByteCount, Picos};

use crate::host::HostScenario;
use crate::job::Work;
use crate::profile::{CallCost, DecodeCost, NanosPerByte, Sourced};

/// One parameter of a host, a job or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    /// Sender's processor time in the protocol stack.
    StackSend,
    /// Receiver's processor time in the protocol stack.
    StackReceive,
    /// What it costs to wake the receiver.
    WakeUp,
    /// Decoding time of a frame.
    Decode,
    /// Receiver's own work on raw data.
    UserWork,
    /// Size of the socket's receive buffer.
    KernelBuffer,
    /// Rate of the link.
    LinkRate,
    /// The rate that the job itself asks for.
    JobRate,
}

impl Parameter {
    /// All of them. The job's own rate comes last: it limits where nothing else does.
    pub const ALL: [Self; 8] = [
        Self::StackSend,
        Self::StackReceive,
        Self::WakeUp,
        Self::Decode,
        Self::UserWork,
        Self::KernelBuffer,
        Self::LinkRate,
        Self::JobRate,
    ];

    /// Its dotted name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::StackSend => "stack.send",
            Self::StackReceive => "stack.receive",
            Self::WakeUp => "wake",
            Self::Decode => "decode.cost",
            Self::UserWork => "job.process",
            Self::KernelBuffer => "kernel_buffer.size",
            Self::LinkRate => "link.rate",
            Self::JobRate => "job.rate",
        }
    }

    /// What it means for a user when it is the bottleneck.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::StackSend => "the sender's processor time in the protocol stack",
            Self::StackReceive => "the receiver's processor time in the protocol stack",
            Self::WakeUp => "the waking of a receiver that sleeps between packets",
            Self::Decode => "the decoding of frames in software",
            Self::UserWork => "the work that the receiving program does on every byte",
            Self::KernelBuffer => "the size of the socket's receive buffer",
            Self::LinkRate => "the rate of the link",
            Self::JobRate => "nothing but the rate that the job itself asks for",
        }
    }

    /// The scenario with `factor` times as much of it: a buffer or a rate larger, a cost smaller.
    /// None where the scenario has no such parameter.
    #[must_use]
    pub fn improved(self, scenario: &HostScenario, factor: f64) -> Option<HostScenario> {
        let mut improved = scenario.clone();
        let HostScenario { host, job, link, .. } = &mut improved;
        match self {
            Self::StackSend => cheaper_call(&mut host.stack.of_mut(job.transport).send, factor),
            Self::StackReceive => {
                cheaper_call(&mut host.stack.of_mut(job.transport).receive, factor);
            }
            Self::WakeUp => host.wake.change(|cost| cheaper(cost, factor)),
            Self::Decode => {
                let Work::Mpeg { software_decode: true, .. } = job.work else { return None };
                host.decode.iter_mut().for_each(|clip| cheaper_clip(clip, factor));
            }
            Self::UserWork => match &mut job.work {
                Work::Raw { process, .. } if process.0 > 0.0 => process.0 /= factor,
                _ => return None,
            },
            Self::KernelBuffer => {
                job.receive_buffer = ByteCount(scaled(job.receive_buffer.0, factor));
            }
            Self::LinkRate => link.rate = Some(BitRate(scaled(link.rate?.0, factor))),
            Self::JobRate => match &mut job.work {
                Work::Raw { rate: Some(rate), .. } => rate.0 = scaled(rate.0, factor),
                Work::Raw { rate: None, .. } => return None,
                Work::Mpeg { speed, .. } => *speed *= factor,
            },
        }
        Some(improved)
    }
}

fn cheaper_call(cost: &mut CallCost, factor: f64) {
    for cost in [&mut cost.per_call, &mut cost.per_packet, &mut cost.per_split] {
        cheaper(cost, factor);
    }
    cheaper_byte(&mut cost.per_byte, factor);
}

fn cheaper_clip(clip: &mut DecodeCost, factor: f64) {
    cheaper(&mut clip.after_sleep, factor);
    for cost in &mut clip.frames {
        cheaper(&mut cost.per_frame, factor);
        cheaper_byte(&mut cost.per_byte, factor);
    }
}

fn cheaper(cost: &mut Sourced<Picos>, factor: f64) {
    cost.value = Picos(scaled(cost.value.0, 1.0 / factor));
}

fn cheaper_byte(cost: &mut Sourced<NanosPerByte>, factor: f64) {
    cost.value = NanosPerByte(cost.value.0 / factor);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates at the largest value"
)]
fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).round() as u64
}
