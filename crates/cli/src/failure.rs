//! What a user is told when something fails, and the exit code.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bitpath_bench::BenchError;
use bitpath_bench::sweep::{GridError, SweepError};
use bitpath_measure::run::MergeError;
use bitpath_platform::PlatformError;
use bitpath_results::StoreError;
use bitpath_sim::compare::CompareError;
use bitpath_sim::engine::EngineError;
use bitpath_sim::published::PublishedError;
use bitpath_sim::scenario::{ScenarioError, SettingError};
use bitpath_sim::trends::TrendError;
use miette::{LabeledSpan, MietteDiagnostic, NamedSource, Report};

use crate::limit::{Estimate, Limit};

/// Exit code of input that cannot be used: a clip, a scenario, a folder.
const BAD_INPUT: u8 = 2;

/// Exit code of a measurement that failed.
const FAILED: u8 = 1;

/// Exit code of an interrupted sweep, as shells have it for SIGINT.
const INTERRUPTED: u8 = 130;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A measurement failed, or its clip cannot be used.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The system refused something.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The record is none that can be gone on with.
    #[error("--resume {id}: {why}")]
    NotResumable {
        /// The record.
        id: String,
        /// Why not.
        why: &'static str,
    },
    /// A record could not be kept or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The scenario file holds a mistake.
    #[error("{file}: {error}", file = file.display())]
    Scenario {
        /// The file.
        file: PathBuf,
        /// Its text.
        text: String,
        /// The mistake.
        error: ScenarioError,
    },
    /// The scenario does not take what was set.
    #[error("--set {0}")]
    Setting(SettingError),
    /// The engine does not apply.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Two scenarios cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// One is a scenario and the other a measurement.
    #[error(
        "{a} and {b} have nothing to compare: one is a scenario, the other a measurement",
        a = a.display(), b = b.display()
    )]
    Unlike {
        /// The one.
        a: PathBuf,
        /// The other.
        b: PathBuf,
    },
    /// A measurement does not change by a setting.
    #[error("--set {setting} changes a scenario; {file} is a measurement", file = file.display())]
    SetMeasured {
        /// The setting.
        setting: String,
        /// The file.
        file: PathBuf,
    },
    /// A file holds no measured host.
    #[error("--profile {path}: {why}", path = path.display())]
    NoHost {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// Records cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A published set cannot be read or fitted.
    #[error(transparent)]
    Published(#[from] PublishedError),
    /// Figures of components cannot be used.
    #[error(transparent)]
    Trend(#[from] TrendError),
    /// The values make no grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A sweep has no result yet.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// Only a machine can be watched.
    #[error("--live watches a [machine]; this scenario has a {subject}, which runs in one go")]
    NotWatchable {
        /// The table that it has.
        subject: &'static str,
    },
    /// The file holds no film that a clip could replace.
    #[error(
        "{file} has no film that --clip could replace: a flow or job of kind \"mpeg\" has one",
        file = file.display()
    )]
    NoFilm {
        /// The file.
        file: PathBuf,
    },
    /// The host's profile does not know the clip.
    #[error(
        "the host has no decoding cost of {clip}, only of {known}: measure it with `bitpath probe --clip`, or name a cost to use with --set job.work.film.name"
    )]
    NoDecodeCost {
        /// The clip.
        clip: String,
        /// Clips whose cost it has.
        known: String,
    },
    /// Only a machine logs drops and stalls.
    #[error(
        "--incidents lists the drops and stalls of a [machine]; a {subject} only counts its drops"
    )]
    NoIncidents {
        /// The table that the scenario has.
        subject: &'static str,
    },
    /// Nothing is followed over time.
    #[error(
        "--courses needs a [machine], or a [host] with events; a {subject} has no courses over time"
    )]
    NoCourses {
        /// What there is instead.
        subject: &'static str,
    },
    /// More packets than the user accepts.
    #[error(
        "{name}: {key} asks for about {packets}, more than --limit {limit}",
        key = estimate.key, packets = estimate.packets()
    )]
    OverLimit {
        /// The scenario.
        name: String,
        /// How much work it is.
        estimate: Estimate,
        /// What is accepted.
        limit: Limit,
    },
    /// A long simulation that nobody was there to agree to.
    #[error(
        "{name}: this is {estimate}: --limit {limit} accepts it and --limit none whatever it takes; or ask for less with --set {key}",
        limit = estimate.limit(), key = estimate.key
    )]
    TooLong {
        /// The scenario.
        name: String,
        /// How much work it is.
        estimate: Estimate,
    },
    /// A long simulation that the user does not want.
    #[error("{name} is not simulated")]
    Declined {
        /// The scenario.
        name: String,
    },
    /// A file could not be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A record without predictions has no picture of them.
    #[error("record {id} holds no predictions, so there is no picture of them")]
    NoPicture {
        /// The record.
        id: String,
    },
    /// The command could not begin.
    #[error("cannot {action}: {source}")]
    Start {
        /// What was to be done.
        action: &'static str,
        /// Why not.
        source: std::io::Error,
    },
    /// Standard output is closed or full.
    #[error("cannot print the result: {0}")]
    Print(#[from] std::io::Error),
    /// The result could not be written as JSON.
    #[error("cannot write the record as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Failure {
    /// Tells the user, and says how the process ends.
    pub(crate) fn show(&self) -> ExitCode {
        match self {
            Self::Scenario { file, text, error } => eprintln!("{:?}", mistake(file, text, error)),
            // Whoever read the output, a pager for example, has seen enough.
            Self::Print(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => eprintln!("bitpath: {other}"),
        }
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Bench(
                BenchError::Codec(_)
                | BenchError::Film(_)
                | BenchError::Knob { .. }
                | BenchError::Capture { .. },
            ) => BAD_INPUT,
            Self::Sweep(SweepError::Interrupted { .. }) => INTERRUPTED,
            Self::Store(_)
            | Self::NotResumable { .. }
            | Self::Scenario { .. }
            | Self::Setting(_)
            | Self::Engine(_)
            | Self::Compare(_)
            | Self::Unlike { .. }
            | Self::SetMeasured { .. }
            | Self::Merge(_)
            | Self::NoHost { .. }
            | Self::Published(_)
            | Self::Trend(_)
            | Self::Write { .. }
            | Self::Grid(_)
            | Self::Sweep(_)
            | Self::NotWatchable { .. }
            | Self::NoFilm { .. }
            | Self::NoDecodeCost { .. }
            | Self::NoIncidents { .. }
            | Self::NoCourses { .. }
            | Self::OverLimit { .. }
            | Self::TooLong { .. }
            | Self::Declined { .. }
            | Self::NoPicture { .. }
            | Self::Read { .. } => BAD_INPUT,
            Self::Bench(_)
            | Self::Platform(_)
            | Self::Start { .. }
            | Self::Print(_)
            | Self::Json(_) => FAILED,
        }
    }
}

/// The mistake with the line of the file that it is in, or with the file where it is in no one line.
fn mistake(file: &Path, text: &str, error: &ScenarioError) -> Report {
    let Some(span) = error.span.clone() else {
        return Report::new(MietteDiagnostic::new(format!("{}: {error}", file.display())));
    };
    let diagnostic =
        MietteDiagnostic::new(error.message.clone()).with_label(LabeledSpan::at(span, "here"));
    Report::new(diagnostic)
        .with_source_code(NamedSource::new(file.display().to_string(), text.to_owned()))
}
