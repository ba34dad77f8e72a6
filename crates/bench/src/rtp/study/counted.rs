//! The benchmarks on the core model: the paper's core, and one of today, whose cycles are held against those that the
//! machine took.
//!
//! ```text
//! trace of two runs - trace of one = a warm run ──► instructions, cycles, misses
//! time of a run [ns] x clock [Hz] = measured cycles ──► error of today's core
//! ```

use std::path::Path;
use std::time::Duration;

use bitpath_measure::run::Figure;
use bitpath_measure::{Estimate, Labels, Unit};
use bitpath_platform::calibration;

use super::cases::{COST, Case};
use crate::BenchError;
use crate::here::Here;
use crate::rtp::core_model::{CacheCount, CoreModel, CoreResult, CoreSettings};
use crate::rtp::qemu::Tracer;
use crate::sitting::Sitting;

/// Names of the cores in labels.
const CORES: [&str; 2] = ["paper", "today"];

/// Cycles of a multiplication of 64 bits on cores of today, of which the machine's clock is told.
const MULTIPLICATION_CYCLES: f64 = 3.0;

/// Length of the loop of multiplications.
const CLOCK_SLICE: Duration = Duration::from_millis(20);

/// Counts every benchmark.
pub(super) fn count_all(
    tracer: &Tracer,
    program: &Path,
    cases: &[Case],
    here: &Here,
    sitting: &mut Sitting<'_>,
) -> Result<(), BenchError> {
    let clock = here.run(|| Ok(calibration::speed(CLOCK_SLICE).latency_per_second))?;
    let clock_hz = clock * MULTIPLICATION_CYCLES;
    for (done, case) in cases.iter().enumerate() {
        let results = warm(tracer, program, case)?;
        for (core, result) in CORES.into_iter().zip(&results) {
            sitting.run.figures.extend(figures(case, core, result));
        }
        let packet_ns = sitting.sampler.median(COST, &case.labels);
        if let (Some(packet_ns), [_, today]) = (packet_ns, &results) {
            sitting.run.figures.extend(error(case, today, packet_ns * clock_hz / 1e9));
        }
        sitting.steps.tell((done + 1) as f64 / cases.len() as f64)?;
    }
    Ok(())
}

/// A second run behind a first, on both cores.
fn warm(tracer: &Tracer, program: &Path, case: &Case) -> Result<[CoreResult; 2], BenchError> {
    let traced = |runs: u32| -> Result<[CoreResult; 2], BenchError> {
        let mut cores = [
            CoreModel::new(&CoreSettings::simplescalar(), case.functions.len())?,
            CoreModel::new(&CoreSettings::modern(), case.functions.len())?,
        ];
        let arguments = case.arguments(runs);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        tracer.trace(program, &arguments, case.functions, |executed, function| {
            cores.iter_mut().for_each(|core| core.execute(executed, function));
        })?;
        Ok(cores.map(|core| core.result()))
    };
    let ([paper, today], [paper_once, today_once]) = (traced(2)?, traced(1)?);
    Ok([paper.since(&paper_once), today.since(&today_once)])
}

/// A benchmark's row of tables I to III on one core, and its functions' parts.
fn figures(case: &Case, core: &str, result: &CoreResult) -> Vec<Figure> {
    let mut of_core = case.labels.clone();
    of_core.insert("core".into(), core.into());
    let (mix, branches) = (&result.mix, &result.branches);
    let [il1, dl1] = [&result.instruction_cache, &result.data_cache];
    let l2 = result.outer_caches.first().copied().unwrap_or_default();
    let missed = |cache: &CacheCount| cache.miss_percent() / 100.0;
    let mut all: Vec<Figure> = [
        ("cycles", Unit::Cycles, result.cycles as f64),
        ("instructions_per_cycle", Unit::PerCycle, result.instructions_per_cycle()),
        ("addresses_predicted", Unit::Ratio, branches.address_percent() / 100.0),
        ("directions_predicted", Unit::Ratio, branches.direction_percent() / 100.0),
        ("instructions", Unit::Instructions, mix.instructions as f64),
        ("loads", Unit::Ratio, mix.load_percent() / 100.0),
        ("stores", Unit::Ratio, mix.store_percent() / 100.0),
        ("branches", Unit::Ratio, mix.branch_percent() / 100.0),
        ("il1_accesses", Unit::Count, il1.accesses as f64),
        ("il1_missed", Unit::Ratio, missed(il1)),
        ("dl1_accesses", Unit::Count, dl1.accesses as f64),
        ("dl1_missed", Unit::Ratio, missed(dl1)),
        ("l2_missed", Unit::Ratio, missed(&l2)),
    ]
    .into_iter()
    .map(|(name, unit, value)| figure(name, &of_core, unit, value))
    .collect();
    for (function, cost) in case.functions.iter().zip(&result.functions) {
        let mut of_function = of_core.clone();
        of_function.insert("function".into(), name_of(function));
        let share = cost.cycles as f64 / result.cycles.max(1) as f64;
        let instructions = cost.instructions as f64;
        all.extend([
            figure("function_cycles", &of_function, Unit::Cycles, cost.cycles as f64),
            figure("function_instructions", &of_function, Unit::Instructions, instructions),
            figure("function_share", &of_function, Unit::Ratio, share),
        ]);
    }
    all
}

/// A function without its module: as the paper's shares name it.
fn name_of(path: &str) -> String {
    path.rsplit("::").next().unwrap_or(path).into()
}

/// Cycles that today's core was modelled to take for a packet, those that the machine took, and the error.
fn error(case: &Case, today: &CoreResult, measured_cycles: f64) -> Vec<Figure> {
    let packets = case.packets.max(1) as f64;
    let modelled = today.cycles as f64 / packets;
    let labels = &case.labels;
    vec![
        figure("packet_cycles", labels, Unit::Cycles, modelled),
        figure("packet_cycles_measured", labels, Unit::Cycles, measured_cycles),
        figure("error", labels, Unit::Ratio, modelled / measured_cycles - 1.0),
    ]
}

fn figure(name: &str, labels: &Labels, unit: Unit, value: f64) -> Figure {
    let (name, labels) = (format!("rtp.core.{name}"), labels.clone());
    Figure { name, labels, unit, estimate: Estimate::simulated(value) }
}
