//! What may be typed.

use std::path::PathBuf;

use bitpath_sim::engine::Engine;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Where do the bits get stuck between the wire and the user, and what would free them?
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure this host, predict its jobs, run them, and name the bottleneck (about two minutes)
    Study(Study),
    /// Measure what the model needs to know of this host, and write its profile
    Probe(Probe),
    /// Simulate a scenario file
    Simulate(Simulate),
    /// List and show the records of earlier runs
    Runs(Runs),
    /// One end of a transfer, started by a study and told what to do over its standard input
    #[command(hide = true)]
    Worker,
}

/// What is measured and where the record goes.
#[derive(Args, Debug)]
pub(crate) struct Measuring {
    /// Film to send and decode; without one, an MPEG-1 film is made
    #[arg(long, value_name = "FILE")]
    pub(crate) clip: Option<PathBuf>,
    /// Folder of the records
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Measure for about half a minute, with wider intervals
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Study {
    #[command(flatten)]
    pub(crate) measuring: Measuring,
}

#[derive(Args, Debug)]
pub(crate) struct Probe {
    #[command(flatten)]
    pub(crate) measuring: Measuring,
}

#[derive(Args, Debug)]
pub(crate) struct Simulate {
    /// Scenario file (TOML)
    #[arg(value_name = "FILE")]
    pub(crate) scenario: PathBuf,
    /// closed-form, exact or events; without it the fastest that applies
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<Engine>,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Runs {
    /// Folder of the records
    #[arg(long, value_name = "DIR", default_value = "runs", global = true)]
    pub(crate) out: PathBuf,
    #[command(subcommand)]
    pub(crate) action: RunsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// A line for each record
    List,
    /// The report of one record
    Show {
        /// Its id, or enough of its beginning
        id: String,
        /// Print the record as JSON instead of the report
        #[arg(long)]
        json: bool,
    },
    /// One record in another form, on standard output
    Export {
        /// Its id, or enough of its beginning
        id: String,
        /// The form
        #[arg(long, value_enum)]
        form: Form,
    },
}

/// Forms of a record.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Form {
    /// Every sample, a row each (CSV)
    Samples,
    /// Every figure, a row each (CSV)
    Figures,
    /// The errors of the predictions as a picture (SVG)
    Picture,
    /// The report as a page (HTML)
    Page,
}
