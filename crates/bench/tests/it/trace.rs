//! Real programs traced by QEMU and run on the core model, and counted by callgrind.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use bitpath_bench::rtp::core_model::{CoreModel, CoreResult, CoreSettings};
use bitpath_bench::rtp::qemu::Tracer;
use tempfile::TempDir;

/// Rounds of each function of contrib/qemu/programs/known.c.
const ROUNDS: f64 = 100_000.0;

/// What a test needs of this machine.
struct Bench {
    folder: TempDir,
    program: PathBuf,
    tracer: Tracer,
}

impl Bench {
    /// `None`, with the reason on stderr, where something is not installed.
    fn prepare(test: &str, tools: &[&str]) -> Option<Self> {
        if !cfg!(target_arch = "x86_64") {
            skip(test, "the trace is of x86-64 programs");
            return None;
        }
        if let Some(missing) = tools.iter().find(|tool| !runs(tool)) {
            skip(test, &format!("{missing} is missing"));
            return None;
        }
        let folder = TempDir::new().unwrap();
        let program = folder.path().join("known");
        let source = root().join("contrib/qemu/programs/known.c");
        // One file without libraries to load: callgrind and QEMU then run the same code.
        done(
            Command::new("gcc")
                .args(["-O2", "-static", "-no-pie", "-o"])
                .arg(&program)
                .arg(&source),
        );
        let built = done(
            Command::new(root().join("scripts/build-qemu-plugin"))
                .env("CARGO_TARGET_DIR", folder.path()),
        );
        let plugin = PathBuf::from(String::from_utf8(built.stdout).unwrap().trim());
        Some(Self { folder, program, tracer: Tracer::new(&plugin) })
    }

    /// Runs one function of the program on a core.
    fn run(&self, function: &str, settings: &CoreSettings) -> CoreResult {
        self.tracer.run(&self.program, &[function], &[function], settings).unwrap()
    }

    /// Counts of a function and of what it calls, by callgrind with the paper's caches.
    fn callgrind(&self, function: &str) -> Callgrind {
        let counts = self.folder.path().join("callgrind.out");
        done(
            Command::new("valgrind")
                .args(["--tool=callgrind", &format!("--toggle-collect={function}")])
                .args(["--cache-sim=yes", "--I1=65536,1,32", "--D1=65536,1,32"])
                .arg("--LL=1048576,4,64")
                .arg(format!("--callgrind-out-file={}", counts.display()))
                .arg(&self.program)
                .arg(function),
        );
        let text = fs::read_to_string(&counts).unwrap();
        let line = |name| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let totals: Vec<f64> =
            line("totals: ").split_whitespace().map(|count| count.parse().unwrap()).collect();
        let of = |event| {
            let place = line("events: ").split_whitespace().position(|name| name == event);
            // Zeros at the end are left out.
            totals.get(place.unwrap()).copied().unwrap_or_default()
        };
        Callgrind {
            instructions: of("Ir"),
            loads: of("Dr"),
            stores: of("Dw"),
            data_misses: of("D1mr") + of("D1mw"),
        }
    }
}

/// What callgrind counts.
struct Callgrind {
    instructions: f64,
    loads: f64,
    stores: f64,
    data_misses: f64,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn runs(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// The plain write is not captured by the test's harness.
fn skip(test: &str, why: &str) {
    std::io::stderr().write_all(format!("{test}: skipped: {why}\n").as_bytes()).unwrap();
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, not {expected}");
}

#[test]
fn known_programs_take_the_known_cycles() {
    let test = "known_programs_take_the_known_cycles";
    let Some(bench) = Bench::prepare(test, &["gcc", "qemu-x86_64"]) else { return };
    let paper = CoreSettings::simplescalar();
    // Cycles a round: eight additions of one cycle each; ten instructions, two at a time; address
    // and memory; a load that takes the data of the store before it, and four additions.
    for (function, instructions, cycles) in [
        ("chain", 10.0, 8.0),
        ("independent", 10.0, 5.0),
        ("chase", 3.0, 1.0 + 32.0),
        ("forward", 8.0, 1.0 + 4.0),
    ] {
        let result = bench.run(function, &paper);
        near(result.mix.instructions as f64, instructions * ROUNDS, 0.001, function);
        near(result.cycles as f64, cycles * ROUNDS, 0.01, function);
        assert_eq!(result.functions[0].cycles, result.cycles, "{function}");
    }
}

#[test]
fn a_branch_without_a_pattern_is_foreseen_half_the_time() {
    let test = "a_branch_without_a_pattern_is_foreseen_half_the_time";
    let Some(bench) = Bench::prepare(test, &["gcc", "qemu-x86_64"]) else { return };
    let branches = bench.run("coins", &CoreSettings::simplescalar()).branches;
    near(branches.branches as f64, 2.0 * ROUNDS, 0.001, "branches");
    let wrong = (branches.branches - branches.directions_right) as f64;
    near(wrong, 0.5 * ROUNDS, 0.1, "wrong directions");
}

#[test]
fn instructions_loads_and_stores_are_as_many_as_callgrind_counts() {
    let test = "instructions_loads_and_stores_are_as_many_as_callgrind_counts";
    let Some(bench) = Bench::prepare(test, &["gcc", "qemu-x86_64", "valgrind"]) else { return };
    for function in ["chain", "coins", "forward", "mixed", "chase"] {
        let ours = bench.run(function, &CoreSettings::simplescalar()).mix;
        let theirs = bench.callgrind(function);
        assert!(theirs.instructions > ROUNDS, "{function}");
        for (what, ours, theirs) in [
            ("instructions", ours.instructions, theirs.instructions),
            ("loads", ours.loads, theirs.loads),
            ("stores", ours.stores, theirs.stores),
        ] {
            let off = (ours as f64 - theirs).abs();
            assert!(off <= 0.002 * theirs, "{function}, {what}: {ours}, callgrind {theirs}");
        }
    }
}

#[test]
fn a_chase_misses_as_often_as_callgrind_counts() {
    let test = "a_chase_misses_as_often_as_callgrind_counts";
    let Some(bench) = Bench::prepare(test, &["gcc", "qemu-x86_64", "valgrind"]) else { return };
    let ours = bench.run("chase", &CoreSettings::simplescalar()).data_cache.misses;
    near(ours as f64, bench.callgrind("chase").data_misses, 0.002, "misses");
}

#[test]
fn one_trace_feeds_two_cores_and_its_parts_are_told_apart() {
    let test = "one_trace_feeds_two_cores_and_its_parts_are_told_apart";
    let Some(bench) = Bench::prepare(test, &["gcc", "qemu-x86_64"]) else { return };
    let mut cores = [CoreSettings::simplescalar(), CoreSettings::modern()]
        .map(|settings| CoreModel::new(&settings, 2).unwrap());
    bench
        .tracer
        .trace(&bench.program, &["mixed"], &["mixed", "leaf"], |executed, function| {
            cores.iter_mut().for_each(|core| core.execute(executed, function));
        })
        .unwrap();
    let [paper, modern] = cores.map(|core| core.result());
    assert_eq!(paper.mix, modern.mix);
    assert!(modern.cycles < paper.cycles);
    let leaf = paper.functions[1].instructions as f64 / (ROUNDS / 10.0);
    assert!((2.0..6.0).contains(&leaf), "{leaf} instructions of a product, a sum and a return");
    let parts: u64 = paper.functions.iter().map(|function| function.cycles).sum();
    assert_eq!(parts, paper.cycles);
}

#[test]
fn what_cannot_be_traced_says_why() {
    let test = "what_cannot_be_traced_says_why";
    let Some(bench) = Bench::prepare(test, &["gcc", "qemu-x86_64"]) else { return };
    let paper = CoreSettings::simplescalar();
    let complaint = |tracer: &Tracer, argument: &str, function: &str| {
        tracer.run(&bench.program, &[argument], &[function], &paper).unwrap_err().to_string()
    };
    let tracer = &bench.tracer;
    assert!(complaint(tracer, "nonsense", "chain").contains("no program `nonsense`"));
    assert!(complaint(tracer, "chain", "coins").contains("never called"));
    assert!(complaint(tracer, "chain", "no_such").contains("no_such"));
    let gone = Tracer { plugin: "/nowhere".into(), ..tracer.clone() };
    assert!(complaint(&gone, "chain", "chain").contains("/nowhere"));
    let gone = Tracer { qemu: "no-such-qemu".into(), ..tracer.clone() };
    assert!(complaint(&gone, "chain", "chain").contains("no-such-qemu"));
    let hurried = Tracer { limit: Duration::ZERO, ..tracer.clone() };
    assert!(complaint(&hurried, "chain", "chain").contains("did not end"));
}
