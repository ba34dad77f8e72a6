//! What the curves say: the levels of the hierarchy beside what the processor says of its caches, and the
//! best mix of each operation.

use bitpath_measure::environment::Cache;
use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Run, Unit};

use super::LATENCY;
use super::levels::{Latency, Level, levels};

/// Adds the levels of each latency curve to the record's figures: latency [ns, TSC cycles], capacity
/// [B], and the size of the cache that the processor says it has at that place [B].
pub fn conclude(run: &mut Run) {
    for pages in ["huge", "small"] {
        let found = levels(&curve(run, pages));
        let stated = stated(run);
        let hz = run.environment.as_ref().and_then(|environment| environment.clock.tsc_hz);
        for (index, level) in found.iter().enumerate() {
            let figures = figures(level, stated.get(index), hz);
            let labels = labels([("level", &(index + 1).to_string()), ("pages", pages)]);
            run.figures.extend(figures.into_iter().map(|(name, unit, value)| Figure {
                name: format!("memory.level.{name}"),
                labels: labels.clone(),
                unit,
                estimate: Estimate::single(value),
            }));
        }
    }
}

fn figures(
    level: &Level,
    stated: Option<&Cache>,
    hz: Option<f64>,
) -> Vec<(&'static str, Unit, f64)> {
    let mut figures = vec![("latency", Unit::Nanoseconds, level.latency_ns)];
    figures.extend(hz.map(|hz| ("cycles", Unit::TscCycles, level.latency_ns * hz / 1e9)));
    figures.extend(level.capacity_bytes.map(|bytes| ("capacity", Unit::Bytes, bytes)));
    figures.extend(stated.map(|cache| ("stated", Unit::Bytes, cache.size_bytes as f64)));
    figures
}

/// Latency by working set, the smallest first.
fn curve(run: &Run, pages: &str) -> Vec<Latency> {
    let of_pages = |figure: &&Figure| {
        figure.name == LATENCY && figure.labels.get("pages").is_some_and(|of| of == pages)
    };
    let point = |figure: &Figure| {
        let bytes = figure.labels.get("working_set_bytes")?.parse().ok()?;
        Some((bytes, figure.estimate.value))
    };
    let mut curve: Vec<Latency> = run.figures.iter().filter(of_pages).filter_map(point).collect();
    curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    curve
}

/// Caches that hold data, the smallest first, as the processor states them.
fn stated(run: &Run) -> Vec<Cache> {
    let caches = run.environment.as_ref().map_or(&[][..], |environment| &environment.cpu.caches);
    let mut caches: Vec<Cache> =
        caches.iter().filter(|cache| cache.kind != "Instruction").cloned().collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}
