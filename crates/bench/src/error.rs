//! What can go wrong in an experiment, and where.

use std::net::SocketAddr;
use std::path::PathBuf;

use bitpath_measure::statistics::FitError;
use bitpath_media::FilmError;
use bitpath_platform::PlatformError;
use bitpath_platform::codec::CodecError;
use bitpath_proto::ProtoError;
use bitpath_sim::profile::WakeError;

/// Why an experiment could not be made or not be finished.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The system refused something, a worker died, or the user asked to stop.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The clip cannot be used.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The clip's frames are no film.
    #[error(transparent)]
    Film(#[from] FilmError),
    /// A worker could not do what it was told.
    #[error("the {worker} could not {task}: {reason}")]
    Worker {
        /// Its name.
        worker: String,
        /// What it was told.
        task: String,
        /// Its own words.
        reason: String,
    },
    /// A worker answered something else than was asked.
    #[error("the {worker} answered `{answer}` to `{task}`")]
    Protocol {
        /// Its name.
        worker: String,
        /// What it was told.
        task: String,
        /// Its answer.
        answer: String,
    },
    /// A peer on the network does not serve us.
    #[error("{peer} does not serve this peer: {reason}")]
    PeerRefused {
        /// Its address.
        peer: String,
        /// Why not.
        reason: String,
    },
    /// The agent's port is taken.
    #[error("cannot listen at {address}: the port is in use")]
    PortInUse {
        /// The address.
        address: SocketAddr,
    },
    /// Costs could not be fitted.
    #[error("the costs of {what} could not be fitted: {source}")]
    Fit {
        /// Of what.
        what: String,
        /// Why.
        source: FitError,
    },
    /// The measured costs of a wake-up are no curve.
    #[error("the costs of a wake-up: {0}")]
    WakeUps(#[from] WakeError),
    /// A knob cannot be turned so.
    #[error("{knob}: {reason}")]
    Knob {
        /// The knob.
        knob: String,
        /// What is in the way.
        reason: String,
    },
    /// Nothing arrived in a job.
    #[error("nothing of {job} arrived at the receiver")]
    NothingArrived {
        /// The job.
        job: String,
    },
    /// A packet could not be built.
    #[error("packet {number} cannot be built: {source}")]
    Packet {
        /// Its place in the stream, from 0.
        number: u64,
        /// Why.
        source: ProtoError,
    },
    /// A benchmark of the RTP suite did not do its work.
    #[error("{benchmark}: {reason}")]
    Suite {
        /// The program and what it was told.
        benchmark: String,
        /// What went wrong.
        reason: String,
    },
    /// A file of packets cannot be used.
    #[error("cannot read the capture {path}: {reason}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// A file of the study could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What should be a trace of a program is none, or not all of it.
    #[error("the trace, at byte {position_bytes}: {reason}")]
    Trace {
        /// How much of it was read before.
        position_bytes: u64,
        /// What is wrong.
        reason: String,
    },
    /// A program could not be traced.
    #[error("cannot trace {program}: {reason}")]
    Traced {
        /// The program.
        program: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A program's functions cannot be told.
    #[error("the functions of {program}: {reason}")]
    Functions {
        /// The program.
        program: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No core can be built so.
    #[error("the core model's {setting}: {reason}")]
    Core {
        /// The setting.
        setting: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl BenchError {
    /// Whether the system, or a worker that lives on, refused one thing: others may still go well.
    #[must_use]
    pub fn refusal(&self) -> bool {
        let gone = matches!(
            self,
            Self::Platform(
                PlatformError::Interrupted { .. }
                    | PlatformError::WorkerStart { .. }
                    | PlatformError::WorkerEnded { .. }
                    | PlatformError::WorkerSilent { .. }
                    | PlatformError::PeerUnreachable { .. }
                    | PlatformError::PeerGone { .. }
                    | PlatformError::PeerSilent { .. }
                    | PlatformError::Message { .. }
                    | PlatformError::MessageTooLong { .. }
            )
        );
        let ended =
            matches!(self, Self::Protocol { .. } | Self::Write { .. } | Self::PeerRefused { .. });
        !gone && !ended
    }

    /// Whether the user asked to stop.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        matches!(self, Self::Platform(PlatformError::Interrupted { .. }))
    }
}
