//! What may be typed.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use bitpath_bench::sweep::Axis;
use bitpath_bench::tune::{Fixed, Knob, Measure};
use bitpath_sim::engine::{Engine, Plan, Precision};
use bitpath_sim::published;
use bitpath_sim::scenario::Setting;
use bitpath_sim::trends::{self, Expected};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::budget::{Budget, Margin};
use crate::cores::Cores;
use crate::limit::Limit;
use crate::table::TableFile;

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
    /// Measure this host part by part, and write its profile
    Probe(Probe),
    /// Turn one knob of the network, measure at each value in turns, and say what is better
    Tune(Tune),
    /// What processing RTP and RTCP costs
    #[command(subcommand)]
    Rtp(Rtp),
    /// Simulate a scenario file
    Simulate(Simulate),
    /// Simulate two scenarios with the same random numbers, or hold two measurements against each other
    Compare(Compare),
    /// Simulate a scenario at every combination of some values, on all processors
    Sweep(Sweep),
    /// Hold the model against published tables; fails where a prediction is outside its tolerance
    Validate(Validate),
    /// Forty years of components: how each grows, what it lets through, and which binds when
    Trends(Trends),
    /// List and show the records of earlier studies and probes
    Runs(Runs),
    /// Take the other end of a probe from another machine (`probe stack --peer`), until interrupted
    Agent(Agent),
    /// One end of a transfer, started by a study and told what to do over its standard input
    #[command(hide = true)]
    Worker,
    /// Changes settings of interfaces, started by a tune, and puts them back when that has ended
    #[command(hide = true)]
    Keeper,
}

/// What is measured and where the record goes.
#[derive(Args, Debug)]
pub(crate) struct Study {
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
pub(crate) struct Probe {
    /// One part only; without it, all of them
    #[command(subcommand)]
    pub(crate) part: Option<ProbePart>,
    /// Film to send and decode; without one, an MPEG-1 film is made
    #[arg(long, value_name = "FILE")]
    pub(crate) clip: Option<PathBuf>,
    /// Time for everything that is repeated, such as 60s or 5min
    #[arg(long, value_name = "TIME", default_value = "60s", global = true)]
    pub(crate) budget: Budget,
    /// Go on with a record that was interrupted: its id, or enough of its beginning
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) resume: Option<String>,
    /// Folder of the records
    #[arg(long, value_name = "DIR", default_value = "runs", global = true)]
    pub(crate) out: PathBuf,
    /// Print the record as JSON instead of the report
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Agent {
    /// Where to listen. Everyone who reaches it may use this machine's network as a peer does, so let
    /// it be a network that you trust
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7117")]
    pub(crate) listen: SocketAddr,
}

/// One part of the probe.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ProbePart {
    /// What the model must know of this host, as a profile (TOML)
    Model,
    /// Bandwidth and latency of memory by working set, and the caches that they show
    Memory,
    /// Throughput, cost and latency of UDP and TCP over loopback and a virtual cable
    Stack {
        /// Agent on another machine that takes the other end in place of the cable's (`bitpath
        /// agent` there)
        #[arg(long, value_name = "HOST:PORT")]
        peer: Option<String>,
    },
    /// Clocks, timers, system calls, page faults and interrupts, and whether the time stamp counter is usable
    Clock,
    /// What three processes pass on to each other over shared memory, pipes and sockets
    Pipeline {
        /// Processors of source, filter and sink, such as 0,1,0; without them, the filter has one of
        /// its own
        #[arg(long, value_name = "A,B,C")]
        cores: Option<Cores>,
    },
    /// What clips are, and what it costs to decode them, by type of frame and number of threads
    Decode {
        /// Clips; without one, an MPEG-1 film is made
        #[arg(value_name = "CLIP")]
        clips: Vec<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Tune {
    /// What is turned, and its values; the first is what the others are compared with:
    /// message_bytes=64,1448,64KiB or gro=off,on or copy_path=send,sendfile
    #[arg(value_name = "KNOB=VALUES")]
    pub(crate) knob: Knob,
    /// probe.stack.tcp, probe.stack.udp, probe.stack.latency or probe.memory.copy
    #[arg(long, value_name = "WHAT", default_value = "probe.stack.tcp")]
    pub(crate) measure: Measure,
    /// Another knob at one value meanwhile, such as message_bytes=1448; repeatable
    #[arg(long, value_name = "KNOB=VALUE")]
    pub(crate) set: Vec<Fixed>,
    /// Time for the comparison, such as 60s or 5min
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) budget: Budget,
    /// Smallest difference that matters
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) margin: Margin,
    /// Seed of the order in which values take turns
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Folder of the records
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Rtp {
    /// Run the three benchmarks of the RTP/RTCP paper: verify them, time them, and count their cycles by
    /// function
    Suite(RtpSuite),
    /// Find the streams of RTP in a capture (pcap, pcapng): losses, duplicates, order, jitter
    Analyse(RtpAnalyse),
}

#[derive(Args, Debug)]
pub(crate) struct RtpSuite {
    /// Audio to send; without one, 4 MiB of noise
    #[arg(long, value_name = "AUDIO")]
    pub(crate) input: Option<PathBuf>,
    /// Times that each benchmark is started
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) runs: u32,
    /// Another library's program in place of bitpath-rtp
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// What scripts/build-qemu-plugin built; without it cycles are not counted
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,
    /// What losses and disorder on the network are made from
    #[arg(long, value_name = "N", default_value_t = 2004)]
    pub(crate) seed: u64,
    /// Folder of the records
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RtpAnalyse {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub(crate) capture: PathBuf,
    /// Clock rate of payload types that have none of their own, such as 90000 for video
    #[arg(long, value_name = "HZ")]
    pub(crate) clock_rate: Option<NonZeroU32>,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

/// How large a simulation may be.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// Simulate up to so many packets and refuse more: 1e12, 10G, or none for any number. Without
    /// it, what would take more than a minute is asked about on a terminal and refused elsewhere
    #[arg(long, value_name = "PACKETS")]
    pub(crate) limit: Option<Limit>,
}

#[derive(Args, Debug)]
pub(crate) struct Simulate {
    /// Scenario file (TOML)
    #[arg(value_name = "FILE")]
    pub(crate) scenario: PathBuf,
    /// A value instead of the file's, such as receive_buffer="256 KiB"; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
    /// closed-form, exact or events; without it the fastest that applies
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<Engine>,
    /// Say how much each parameter moves throughput and loss, and name the bottleneck
    #[arg(long)]
    pub(crate) bottleneck: bool,
    /// Rank the remedies by what each would gain
    #[arg(long)]
    pub(crate) remedies: bool,
    /// Repeat with other seeds until the throughput is known so well, such as 1%
    #[arg(long, value_name = "SHARE")]
    pub(crate) precision: Option<Precision>,
    /// Repeat with this many seeds; with --precision at most
    #[arg(long, value_name = "N", value_parser = replications())]
    pub(crate) replications: Option<u16>,
    /// Watch the machine while it runs, and change its values; on a terminal
    #[arg(long, conflicts_with_all = ["engine", "bottleneck", "remedies", "precision", "replications"])]
    pub(crate) live: bool,
    /// Film whose frames take the place of every film of the scenario
    #[arg(long, value_name = "FILM")]
    pub(crate) clip: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) bound: Bound,
    /// Write every drop and stall of a machine too, with the state of all components, as a table:
    /// OUT.csv or OUT.parquet
    #[arg(long, value_name = "OUT", conflicts_with_all = ["precision", "replications", "live"])]
    pub(crate) incidents: Option<TableFile>,
    /// Write the courses of buffers and processors too, as a table: OUT.csv or OUT.parquet
    #[arg(long, value_name = "OUT")]
    pub(crate) courses: Option<TableFile>,
    /// Write a trace too, which ui.perfetto.dev opens: buffers, processors, drops
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// Scenario of A (TOML); or a profile (TOML) or a record (JSON) of this or another host
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Scenario, profile or record of B; without it, A's scenario
    #[arg(value_name = "B", required_unless_present = "set")]
    pub(crate) b: Option<PathBuf>,
    /// A value of B instead of its file's, such as machine.line.rate="1 Gb/s"; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
    /// closed-form, exact or events; without it the fastest that applies
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<Engine>,
    /// Pairs of runs, each with its own seed, where something is random
    #[arg(long, value_name = "N", default_value = "10", value_parser = replications())]
    pub(crate) replications: u16,
    #[command(flatten)]
    pub(crate) bound: Bound,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Sweep {
    /// Scenario file (TOML)
    #[arg(value_name = "FILE")]
    pub(crate) scenario: PathBuf,
    /// Values of a key: key=a,b,c or key=a..b:logN or key=a..b:linN (N values); repeatable
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub(crate) vary: Vec<Axis>,
    /// A value instead of the file's at every point; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
    /// closed-form, exact or events; without it the fastest that applies
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<Engine>,
    /// Folder of the points, the table (CSV, Parquet) and the pictures (SVG)
    #[arg(long, value_name = "DIR", default_value = "sweep")]
    pub(crate) out: PathBuf,
    /// Go on with the points that the folder holds
    #[arg(long)]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) bound: Bound,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

impl Simulate {
    /// How often to run; none for once.
    pub(crate) fn plan(&self) -> Option<Plan> {
        let at_most = self.replications;
        let asked = self.precision.is_some() || at_most.is_some();
        asked.then_some(Plan { precision: self.precision, at_most })
    }
}

fn replications() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=i64::from(Plan::MAX_REPLICATIONS))
}

#[derive(Args, Debug)]
pub(crate) struct Validate {
    /// One set only; repeatable
    #[arg(long, value_name = "NAME", value_parser = published::NAMES)]
    pub(crate) set: Vec<String>,
    /// Print the record as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Trends {
    /// Last year
    #[arg(long, value_name = "YEAR", default_value_t = 2035,
        value_parser = clap::value_parser!(u32).range(i64::from(trends::FROM)..=2100))]
    pub(crate) until: u32,
    /// Growth after the last figure, such as line=30%, instead of that of the last fifteen years;
    /// repeatable
    #[arg(long, value_name = "COMPONENT=PERCENT")]
    pub(crate) growth: Vec<Expected>,
    /// A host to stand beside the curves: the profile (TOML) or the record (JSON) of a probe or study
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Folder of figures (CSV) in place of those that are part of the program
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder of the table (CSV, Parquet) and the pictures (SVG)
    #[arg(long, value_name = "DIR", default_value = "trends")]
    pub(crate) out: PathBuf,
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
    /// Repeated runs of one tool on this host as one record
    Merge {
        /// Their ids, or enough of each one's beginning
        #[arg(required = true, num_args = 2.., value_name = "ID")]
        ids: Vec<String>,
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
