//! What weakens a measurement, as values in the record.
//!
//! The pitfalls of measuring a network (sample size, representative load, coarse clocks, caching)
//! are those of the slides on network performance; docs/measuring.md says how each is detected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One doubt about a run, with the figures that raised it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Pitfall {
    /// The clock's step is large beside the time that was measured.
    CoarseClock {
        /// Smallest step of the clock [ns].
        step_ns: f64,
        /// Length of the shortest run [ns].
        run_ns: f64,
    },
    /// A run was shorter than 1000 steps of its clock.
    RunTooShort {
        /// What was measured.
        what: String,
        /// Length of the run in steps of its clock [count].
        ticks: f64,
    },
    /// Too few samples or packets stand behind a figure.
    SmallSample {
        /// What was measured.
        what: String,
        /// Samples taken [count].
        samples: usize,
    },
    /// Some samples lie far from the others.
    Outliers {
        /// The series.
        series: String,
        /// Outliers [count].
        outliers: usize,
        /// Samples [count].
        samples: usize,
    },
    /// The interval was not as narrow as wanted when the time budget ended.
    BudgetEnded {
        /// What was measured.
        what: String,
        /// Half width reached, as a fraction of the value [ratio].
        half_width: f64,
        /// Half width wanted [ratio].
        wanted: f64,
    },
    /// The hypervisor gave processor time to others.
    StealTime {
        /// Mean time stolen [cores].
        cores: f64,
    },
    /// Other processes ran beside the measurement.
    OtherLoad {
        /// Mean processor time of others, steal included [cores].
        cores: f64,
        /// Samples taken beside more than the threshold [count].
        disturbed_samples: usize,
    },
    /// The speed of the machine moved while it was measured.
    UnsteadySpeed {
        /// Slowest calibration as a fraction of the median [ratio].
        slowest: f64,
        /// Fastest calibration as a fraction of the median [ratio].
        fastest: f64,
    },
    /// One core had to run sender and receiver.
    OneCore,
    /// Sender and receiver met over loopback, which moves 64 KiB segments.
    Loopback {
        /// How much faster than over a NIC's segments it may look [ratio].
        flatters: f64,
    },
    /// The sender, not the receiver, limited the run.
    SenderBound {
        /// The scenario.
        scenario: String,
    },
    /// Softirq work of the receiver was charged to the sender's core, as on veth and loopback.
    SoftirqOnSender,
    /// The kernel gave a socket less buffer than was asked for.
    BufferCapped {
        /// The option.
        option: String,
        /// Asked for [B].
        wanted_bytes: u64,
        /// Given [B].
        given_bytes: u64,
    },
    /// Cycles are those of the time stamp counter, not of the core.
    TscCycles {
        /// Rate of the counter [Hz].
        tsc_hz: f64,
    },
    /// The machine is a virtual one: neighbours share its caches and memory.
    Virtualised {
        /// The hypervisor.
        hypervisor: String,
    },
    /// The clip was made by the tool, for want of a real one.
    SyntheticClip {
        /// What it is.
        clip: String,
    },
    /// There is no decoder in this build or none for this clip.
    NoDecoder {
        /// Why.
        reason: String,
    },
    /// Something could not be measured.
    NotMeasured {
        /// What.
        what: String,
        /// Why.
        reason: String,
    },
    /// More drops and stalls happened than the record holds one by one; the figures count all.
    IncidentsLeftOut {
        /// Drops and stalls that are in the record, the first ones [count].
        kept: u64,
        /// Drops and stalls in all [count].
        total: u64,
    },
    /// The run was cut short; the record holds what was measured until then.
    Interrupted {
        /// The step that was under way.
        step: String,
    },
    /// An error ended the run; the record holds what was measured until then.
    Stopped {
        /// The step that was under way.
        step: String,
        /// The error.
        reason: String,
    },
}

impl Pitfall {
    /// The doubt in one sentence, with its figures.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::CoarseClock { step_ns, run_ns } => {
                format!("The clock moves in steps of {step_ns:.0} ns; the shortest run lasted {run_ns:.0} ns.")
            }
            Self::RunTooShort { what, ticks } => {
                format!("{what} lasted {ticks:.0} clock steps; below 1000 the clock itself shows in the result.")
            }
            Self::SmallSample { what, samples: 0 } => format!("{what}: no sample before the time budget was spent."),
            Self::SmallSample { what, samples: 1 } => format!("{what} rests on one sample only."),
            Self::SmallSample { what, samples } => format!("{what} rests on {samples} samples only."),
            Self::Outliers { series, outliers, samples } => {
                format!("{outliers} of {samples} samples of {series} are outliers; the median ignores them, a mean would not.")
            }
            Self::BudgetEnded { what, half_width, wanted } => format!(
                "The time budget ended before {what} was narrow enough: +-{:.1} % instead of +-{:.1} %.",
                half_width * 100.0,
                wanted * 100.0
            ),
            Self::StealTime { cores } => format!("The hypervisor took {cores:.3} cores for others meanwhile."),
            Self::OtherLoad { cores, disturbed_samples } => format!(
                "Other processes used {cores:.2} cores on average; {disturbed_samples} samples were taken beside a busy machine."
            ),
            Self::UnsteadySpeed { slowest, fastest } => format!(
                "The machine's own speed moved between {:.0} % and {:.0} % of its median while it was measured.",
                slowest * 100.0,
                fastest * 100.0
            ),
            Self::OneCore => "Sender and receiver share one core: each takes the other's time, and wake-ups are cheaper than across cores.".into(),
            Self::Loopback { flatters } => format!(
                "Sender and receiver met over loopback, which moves segments of 64 KiB: it flatters the host up to {flatters:.0} times at 1250-byte messages."
            ),
            Self::SenderBound { scenario } => {
                format!("In {scenario} the sender was the limit: the receiver could have taken more.")
            }
            Self::SoftirqOnSender => "The receive half of the stack ran in the sender's context (veth and loopback do that), so the send cost holds it; with a NIC the receiver would pay it.".into(),
            Self::BufferCapped { option, wanted_bytes, given_bytes } => {
                format!("{option}: {wanted_bytes} B were asked for, the kernel gave {given_bytes} B.")
            }
            Self::TscCycles { tsc_hz } => format!(
                "Cycles are those of the time stamp counter ({:.2} GHz), not of the core, whose clock moves.",
                tsc_hz / 1e9
            ),
            Self::Virtualised { hypervisor } => {
                format!("This is a virtual machine ({hypervisor}): neighbours share its caches and memory, unseen.")
            }
            Self::SyntheticClip { clip } => format!("The clip is synthetic ({clip}); a real film may decode differently."),
            Self::NoDecoder { reason } => format!("Nothing was decoded: {reason}."),
            Self::NotMeasured { what, reason } => format!("Not measured: {what}: {reason}."),
            Self::IncidentsLeftOut { kept, total } => {
                format!("Of {total} drops and stalls the record holds the first {kept} one by one; the figures count all.")
            }
            Self::Interrupted { step } => format!("The run was interrupted during {step}; what was measured until then is kept."),
            Self::Stopped { step, reason } => format!("The run ended during {step}: {reason}; what was measured until then is kept."),
        }
    }
}
