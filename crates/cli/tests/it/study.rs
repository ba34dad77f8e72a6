//! A whole quick study, made once for all of these tests: its record, its files, what it leaves.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use bitpath_measure::run::{RemedyOutcome, SCHEMA};
use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Run, Unit};
use bitpath_platform::namespace::can_make_namespaces;
use bitpath_sim::host::HostScenario;
use bitpath_sim::profile::PathKind;
use bitpath_sim::scenario::{Scenario, Subject};

use crate::invocation::{Ended, Invocation, names};
use crate::rights::root;
use crate::turns::{alone, beside_others};

/// A study's jobs; films are there where this build can decode.
const JOBS: &[&str] = &[
    "raw-udp",
    "raw-udp-large",
    "raw-tcp",
    "raw-tcp-large",
    "raw-udp-slow",
    "raw-tcp-slow",
    "raw-udp-paced",
    #[cfg(feature = "decode")]
    "mpeg-hw",
    #[cfg(feature = "decode")]
    "mpeg-hw-fast",
    #[cfg(feature = "decode")]
    "mpeg-sw",
    #[cfg(feature = "decode")]
    "mpeg-sw-fast",
];

/// Those that nothing limits.
const PACED: [&str; 3] = ["raw-udp-paced", "mpeg-hw", "mpeg-sw"];

/// What `runs export` writes, and how that begins.
const FORMS: [(&str, &str); 4] = [
    ("samples", "series,"),
    ("figures", "name,"),
    ("picture", "<svg "),
    ("page", "<!doctype html>"),
];

/// A study that has ended, and what was found then.
pub(crate) struct Study {
    pub(crate) run: Run,
    ended: Ended,
    files: Vec<String>,
    kept: String,
    page: String,
    listed: Ended,
    shown: Ended,
    shown_as_json: Ended,
    /// In each of [`FORMS`].
    exported: Vec<Ended>,
    networks: [Networks; 2],
}

/// Interfaces and named namespaces of this process.
#[derive(Debug, PartialEq)]
struct Networks {
    interfaces: Vec<String>,
    namespaces: String,
}

impl Networks {
    fn now() -> Self {
        let list = Command::new("ip").args(["netns", "list"]).output();
        let namespaces = list.map_or_else(|_| String::new(), |out| format!("{out:?}"));
        Self { interfaces: names("/sys/class/net".as_ref()), namespaces }
    }
}

/// The study. The first who asks waits for it.
pub(crate) fn study() -> &'static Study {
    static STUDY: OnceLock<Study> = OnceLock::new();
    STUDY.get_or_init(|| {
        let _turn = alone();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("made/by/the/study");
        let before = Networks::now();
        let ended = Invocation::new().quick("study", &out).run();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let run = ended.record();
        let about = |arguments: &[&str]| {
            let invocation = Invocation::new().with(["runs", "--out"]).with([&out]);
            invocation.with(arguments).run()
        };
        Study {
            files: names(&out),
            kept: fs::read_to_string(out.join(format!("{}.json", run.id))).unwrap(),
            page: fs::read_to_string(out.join(format!("{}.html", run.id))).unwrap(),
            listed: about(&["list"]),
            shown: about(&["show", &run.id[..12]]),
            shown_as_json: about(&["show", &run.id, "--json"]),
            exported: FORMS.map(|(form, _)| about(&["export", &run.id, "--form", form])).into(),
            networks: [before, Networks::now()],
            run,
            ended,
        }
    })
}

impl Study {
    /// One of its jobs on the host that it measured.
    pub(crate) fn scenario(&self, job: &str) -> HostScenario {
        let name = format!("{job}.toml");
        let document = self.run.documents.iter().find(|document| document.name == name);
        let text = &document.unwrap_or_else(|| panic!("no {name}")).text;
        match Scenario::parse(text).unwrap().subject {
            Subject::Host(scenario) => *scenario,
            Subject::Pipeline(_) | Subject::Machine(_) => panic!("{name} is no job on a host"),
        }
    }
}

#[test]
fn a_study_completes_with_a_sound_record() {
    let run = &study().run;
    assert!(run.complete && run.tool == "study" && run.schema == SCHEMA);
    assert!(run.duration_s > 0.0 && !run.started.is_empty());
    let environment = run.environment.as_ref().unwrap();
    assert_eq!(environment.root, root());
    assert!(environment.cpu.logical > 0 && environment.clock.resolution_ns > 0.0);
    assert!(!run.steps.is_empty() && run.steps.iter().all(|step| !step.ended.is_empty()));
    assert!(!run.series.is_empty());
    assert!(run.series.iter().all(|series| !series.samples.is_empty()));
    assert_eq!(run.unsupported_figures(), [""; 0]);
    let finite = |value: f64| value.is_finite();
    assert!(run.figures.iter().all(|figure| finite(figure.estimate.value)));
    assert!(!run.pitfalls.iter().any(|doubt| matches!(doubt, Pitfall::Interrupted { .. })));
    let doubts = |found: fn(&Pitfall) -> bool| run.pitfalls.iter().any(found);
    let decodes = cfg!(feature = "decode");
    assert_eq!(doubts(|doubt| matches!(doubt, Pitfall::SyntheticClip { .. })), decodes);
    assert_eq!(doubts(|doubt| matches!(doubt, Pitfall::NoDecoder { .. })), !decodes);
}

#[test]
fn the_kernel_s_operations_are_sampled_in_every_round_with_the_stack() {
    let run = &study().run;
    let all = |name: &'static str| run.series.iter().filter(move |series| series.name == name);
    let rounds = all("stack.cost").next().unwrap().samples.len();
    let jobs_from_s = all("job.throughput").map(|series| series.samples[0].at_s);
    let jobs_from_s = jobs_from_s.fold(f64::INFINITY, f64::min);
    let paced = labels([("sleep_ns", "200000"), ("slack_ns", "50000")]);
    for (name, of) in [
        ("clock.cost", labels([("clock", "monotonic")])),
        ("clock.cost", labels([("clock", "thread-cpu")])),
        ("syscall.cost", Labels::new()),
        ("context_switch.cost", Labels::new()),
        ("timer.cost", Labels::new()),
        ("timer.lateness", paced),
    ] {
        let series = run.series(name, &of).unwrap_or_else(|| panic!("no {name} {of:?}"));
        let samples = series.samples.len();
        assert!(samples >= rounds && samples.is_multiple_of(rounds), "{name}: {samples}, {rounds}");
        assert!(series.samples[samples - 1].at_s > jobs_from_s, "{name} was over before the jobs");
    }
    assert_eq!(all("clock.tsc_rate").count(), 0, "the facts have it");
    let counter = run.environment.as_ref().unwrap().clock.tsc_hz;
    let clock = study().scenario("raw-udp").host.cpu.clock.value.0;
    assert!(counter.is_none_or(|hz| (clock / hz - 1.0).abs() < 1e-6), "{clock} Hz");
}

#[test]
fn every_job_is_predicted_and_measured() {
    let run = &study().run;
    for &job in JOBS {
        let checks: Vec<_> = run.checks.iter().filter(|check| check.scenario == job).collect();
        let throughput = checks.iter().find(|check| check.quantity == "throughput").unwrap();
        assert_eq!(throughput.unit, Unit::BitsPerSecond);
        assert!(throughput.predicted.value > 0.0 && throughput.measured.value > 0.0, "{job}");
        assert!(checks.iter().any(|check| check.quantity == "receiver load"), "{job}");
        let film = checks.iter().any(|check| check.quantity == "frames on time");
        assert_eq!(film, job.starts_with("mpeg"), "{job}");
        assert!(checks.iter().all(|check| check.error().is_finite()), "{job}");
        assert_eq!(throughput.bound, !PACED.contains(&job), "{job}");
    }
}

#[test]
fn every_job_is_answered_and_remedies_are_tried() {
    let run = &study().run;
    let answer = run.answer.as_ref().unwrap();
    assert!((3..=4).contains(&answer.sentences.len()), "{:?}", answer.sentences);
    let jobs: Vec<&str> = answer.jobs.iter().map(|job| job.scenario.as_str()).collect();
    assert_eq!(jobs, JOBS);
    for job in &answer.jobs {
        assert!(!job.bottleneck_in_words.is_empty() && !job.elasticities.is_empty());
        let gains: Vec<f64> = job.remedies.iter().map(|one| one.predicted_gain.value).collect();
        assert!(!gains.is_empty() && gains.is_sorted_by(|a, b| a >= b), "{gains:?}");
    }
    let tried = |outcome: &RemedyOutcome| matches!(outcome, RemedyOutcome::Measured { .. });
    let mut remedies = answer.jobs.iter().flat_map(|job| &job.remedies);
    assert!(remedies.any(|remedy| tried(&remedy.outcome)));
    assert!(answer.line_rate_bits_per_second.value > 0.0);
}

#[test]
fn a_study_with_namespaces_runs_over_a_virtual_cable() {
    let cable = can_make_namespaces().is_ok();
    let host = study().scenario("raw-udp").host;
    assert_eq!(host.path.kind, if cable { PathKind::Veth } else { PathKind::Loopback });
    assert_eq!(host.path.mtu.value.0, if cable { 1500 } else { 65_536 });
    let loopback = |doubt: &Pitfall| matches!(doubt, Pitfall::Loopback { .. });
    assert_eq!(study().run.pitfalls.iter().any(loopback), !cable);
}

#[test]
fn every_scenario_of_a_study_can_be_simulated_again() {
    let study = study();
    let _turn = beside_others();
    let names: Vec<&str> =
        study.run.documents.iter().map(|document| document.name.as_str()).collect();
    assert_eq!(names[0], "host.toml");
    let scenarios: Vec<String> = JOBS.iter().map(|job| format!("{job}.toml")).collect();
    assert_eq!(names[1..], scenarios);
    let folder = tempfile::tempdir().unwrap();
    for document in &study.run.documents[1..] {
        let file = folder.path().join(&document.name);
        fs::write(&file, &document.text).unwrap();
        let ended = Invocation::new().with(["simulate", "--json"]).with([&file]).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", document.name);
        assert!(ended.record().complete);
    }
    let host = toml::from_str::<bitpath_sim::profile::HostProfile>(&study.run.documents[0].text);
    assert_eq!(host.unwrap(), study.scenario("raw-udp").host);
}

#[test]
fn a_study_s_record_and_page_are_kept_and_found_again() {
    let study = study();
    let id = &study.run.id;
    assert_eq!(study.files, [format!("{id}.html"), format!("{id}.json")]);
    assert_eq!(serde_json::from_str::<Run>(&study.kept).unwrap(), study.run);
    assert!(study.page.starts_with("<!doctype html>") && study.page.contains(id.as_str()));
    for extension in ["json", "html"] {
        let file = format!("made/by/the/study/{id}.{extension}");
        assert!(study.ended.stderr.contains(&file), "{}", study.ended.stderr);
    }
    let sentence = &study.run.answer.as_ref().unwrap().sentences[0];
    assert_eq!(study.listed.code, 0);
    assert!(study.listed.stdout.starts_with(id.as_str()), "{}", study.listed.stdout);
    assert_eq!(study.listed.stdout.lines().count(), 1);
    let first_words: String = sentence.chars().take(40).collect();
    assert!(study.shown.stdout.starts_with(&first_words), "{}", study.shown.stdout);
    assert_eq!(study.shown_as_json.record(), study.run);
}

#[test]
fn a_study_s_record_is_exported_in_every_form() {
    let study = study();
    for ((form, begin), ended) in FORMS.iter().zip(&study.exported) {
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{form}");
        assert!(ended.stdout.starts_with(begin), "{form}: {:.80}", ended.stdout);
    }
    let samples = study.run.series.iter().map(|series| series.samples.len()).sum::<usize>();
    assert_eq!(study.exported[0].stdout.lines().count(), 1 + samples);
    assert_eq!(study.exported[3].stdout, study.page);
}

#[test]
fn a_study_leaves_no_process_no_network_and_no_temporary_file() {
    let study = study();
    assert_eq!(study.ended.left, [""; 0]);
    assert_eq!(study.networks[0], study.networks[1]);
    assert!(!study.networks[1].interfaces.contains(&"bitpath0".to_owned()));
}
