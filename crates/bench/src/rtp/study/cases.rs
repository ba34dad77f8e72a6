//! The benchmarks with their inputs: how each is started, and which of its functions are counted.

use std::path::{Path, PathBuf};

use bitpath_measure::series::labels;
use bitpath_measure::statistics::median;
use bitpath_measure::{Labels, Unit};
use serde_json::Value;

use super::Options;
use super::program::Program;
use crate::BenchError;
use crate::here::{Here, on_cpu};
use crate::rtp::suite::network::{self, Input};
use crate::sampling::Sampler;
use crate::steps::Steps;

/// Processor time of a packet [ns].
pub(super) const COST: &str = "rtp.cost";

/// Runs in one start: the first is cold and does not count.
const RUNS: u32 = 6;

/// Members of the session that reports: so many that the interval depends on them.
const MEMBERS: u32 = 1000;

/// The paper's inputs of the receiver (section IV), which are timed and counted.
const TIMED: [&str; 3] = ["R_input1", "R_input2", "R_input3"];

/// The files between the programs.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) audio: PathBuf,
    pub(super) inputs: Vec<(Input, PathBuf)>,
    /// Where the receiver plays to.
    pub(super) played: PathBuf,
}

impl Files {
    /// Has the programs make them.
    pub(super) fn make(
        program: &Program,
        options: &Options,
        steps: &mut Steps<'_>,
    ) -> Result<Self, BenchError> {
        let file = |name: &str| options.scratch.join(name);
        let audio = options.input.clone().unwrap_or_else(|| file("audio"));
        if options.input.is_none() {
            program.lines(&words(&["audio", "--output", &shown(&audio)]))?;
        }
        let sent = shown(&file("sent.pcap"));
        let audio_path = shown(&audio);
        let send = ["send", "--input", &audio_path, "--output", &sent, "--runs", "0"];
        program.lines(&words(&send))?;
        let known = network::inputs();
        let mut inputs = Vec::new();
        for (made, input) in known.into_iter().enumerate() {
            let path = file(&format!("{}.pcap", input.name));
            let (output, seed) = (shown(&path), options.seed.to_string());
            let name = input.name;
            let carry =
                ["carry", "--input", &sent, "--output", &output, "--name", name, "--seed", &seed];
            program.lines(&words(&carry))?;
            inputs.push((input, path));
            steps.tell((made + 1) as f64 / known.len() as f64)?;
        }
        Ok(Self { audio, inputs, played: file("played") })
    }
}

/// A benchmark with an input.
#[derive(Debug)]
pub(super) struct Case {
    /// Which, as labels of its figures.
    pub(super) labels: Labels,
    /// What the program is told, but for how often.
    arguments: Vec<String>,
    /// The function that is the benchmark, and those that the paper tells apart.
    pub(super) functions: &'static [&'static str],
    /// Packets of a run; 0 until it was timed.
    pub(super) packets: u64,
}

/// The functions of the sender (figure 3).
const SENDER: &[&str] =
    &["sender::send", "sender::read_unit", "sender::encapsulate", "sender::write_packet"];

/// The functions of the receiver (figure 4).
const RECEIVER: &[&str] = &[
    "receiver::receive",
    "Receiver::buffer",
    "receiver::parse",
    "receiver::update_statistics",
    "Receiver::enqueue",
    "Receiver::dequeue",
];

/// The functions of RTCP (figure 5).
const RTCP: &[&str] =
    &["control::reports", "control::report_block", "control::receiver_report", "control::interval"];

/// The sender, the receiver with each of the paper's inputs, and RTCP.
pub(super) fn all(files: &Files) -> Vec<Case> {
    let members = MEMBERS.to_string();
    let audio = shown(&files.audio);
    let mut cases = vec![Case::new("RTP Sender", "audio", &["send", "--input", &audio], SENDER)];
    for (input, path) in &files.inputs {
        let path = shown(path);
        if TIMED.contains(&input.name) {
            let receive = ["receive", "--input", path.as_str()];
            cases.push(Case::new("RTP Receiver", input.name, &receive, RECEIVER));
        }
        if input.name == TIMED[0] {
            let report = ["report", "--input", path.as_str(), "--members", &members];
            cases.push(Case::new("RTCP", input.name, &report, RTCP));
        }
    }
    cases
}

impl Case {
    fn new(
        benchmark: &str,
        input: &str,
        arguments: &[&str],
        functions: &'static [&'static str],
    ) -> Self {
        let labels = labels([("benchmark", benchmark), ("input", input)]);
        Self { labels, arguments: words(arguments), functions, packets: 0 }
    }

    /// What the program is told for so many runs.
    pub(super) fn arguments(&self, runs: u32) -> Vec<String> {
        let mut arguments = self.arguments.clone();
        arguments.extend(["--runs".into(), runs.to_string()]);
        arguments
    }

    /// One start of the program on the processor for single threads: the median of its runs but the first.
    pub(super) fn sample(
        &mut self,
        program: &Program,
        here: &mut Here,
        sampler: &mut Sampler,
    ) -> Result<(), BenchError> {
        let arguments = self.arguments(RUNS);
        let (lines, beside) = sampler.beside(here, |here| {
            // What is started there stays there.
            on_cpu(here.first(), || Ok(program.lines(&arguments)))?
        })?;
        let cost = |line: &Value| Some(line["cpu_ns"].as_f64()? / line["packets"].as_f64()?);
        let costs: Option<Vec<f64>> = lines.iter().skip(1).map(cost).collect();
        let Some(cost) = costs.as_deref().and_then(median) else {
            let benchmark = arguments.join(" ");
            let reason = "its lines have no `cpu_ns` and `packets`".into();
            return Err(BenchError::Suite { benchmark, reason });
        };
        self.packets = lines.last().and_then(|line| line["packets"].as_u64()).unwrap_or(0);
        sampler.add(COST, &self.labels, Unit::Nanoseconds, cost, &beside);
        Ok(())
    }
}

/// Words as a program takes them.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
