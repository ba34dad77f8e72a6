//! What the clocks' samples say together: distributions as quantiles, and whether time may be taken from
//! the time stamp counter.

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::statistics::{median, quantile};
use bitpath_measure::{Estimate, Labels, Run, Series, Unit};

use super::events::{GAP, LATENESS, WAKE_UP};
use super::{INVARIANT, OFFSET_HIGH, OFFSET_LOW, TSC_RATE};

/// Parts of a distribution that are shown; the last is the longest of all.
const QUANTILES: [(&str, f64); 4] = [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("1", 1.0)];

/// Distance of the rates of two windows up to which they are one rate [ratio]: what a crystal drifts in
/// years, and ten times what reading both clocks leaves uncertain over 10 ms.
const STEADY: f64 = 1e-4;

/// Adds to the record's figures, where it has the samples: quantiles (`clock.lateness`, `clock.wake_up`,
/// `clock.gap_length`) [ns]; `clock.tsc.spread` [ratio] of the counter's rates; `clock.tsc.offset_low` and
/// `offset_high` [ns] of each pair of processors; `clock.tsc.fits` [count] for each condition, 0 or 1, and
/// `clock.tsc.usable`, whether all are met.
pub fn conclude(run: &mut Run) {
    let quantiles =
        [(LATENESS, "clock.lateness"), (WAKE_UP, "clock.wake_up"), (GAP, "clock.gap_length")];
    let of = |(series, figure): (&str, &'static str)| {
        let all = run.series.iter().filter(|found| found.name == series);
        all.flat_map(|series| quantiles_of(series, figure)).collect::<Vec<_>>()
    };
    let mut figures: Vec<Figure> = quantiles.into_iter().flat_map(of).collect();
    figures.extend(counter(run));
    run.figures.extend(figures);
}

fn quantiles_of(series: &Series, figure: &'static str) -> Vec<Figure> {
    let values = series.values();
    let of = |(name, part): (&str, f64)| {
        let mut labels = series.labels.clone();
        labels.insert("quantile".into(), name.into());
        let value = quantile(&values, part)?;
        let estimate = Estimate { samples: values.len(), ..Estimate::single(value) };
        Some(Figure { name: figure.into(), labels, unit: series.unit, estimate })
    };
    QUANTILES.into_iter().filter_map(of).collect()
}

/// What is known of the counter, and the verdict.
fn counter(run: &Run) -> Vec<Figure> {
    let values = |name: &str| -> Vec<f64> {
        run.series.iter().filter(|series| series.name == name).flat_map(Series::values).collect()
    };
    let Some(invariant) = median(&values(INVARIANT)) else { return Vec::new() };
    let mut figures = Vec::new();
    let mut fits = vec![("invariant", invariant > 0.0)];
    let rates = values(TSC_RATE);
    if let Some(hz) = median(&rates) {
        let spread = |part: f64| quantile(&rates, part).unwrap_or(hz);
        // The middle four fifths: a window that was cut into says nothing of the counter.
        let spread = (spread(0.9) - spread(0.1)) / hz;
        figures.push(figure("spread", Labels::new(), Unit::Ratio, spread));
        fits.push(("steady", spread <= STEADY));
        let bounds = offsets(run, hz);
        if !bounds.is_empty() {
            // Bounds with zero between them: no difference can be shown.
            let equal = bounds.iter().all(|(_, low, high)| *low <= 0.0 && *high >= 0.0);
            fits.push(("equal on all processors", equal));
        }
        for (pair, low, high) in bounds {
            figures.push(figure("offset_low", pair.clone(), Unit::Nanoseconds, low));
            figures.push(figure("offset_high", pair, Unit::Nanoseconds, high));
        }
    }
    if let Some(environment) = &run.environment {
        fits.push(("the kernel's own clock", environment.clock.source == "tsc"));
    }
    let usable = fits.iter().all(|(_, fits)| *fits);
    let truth = |fits: bool| if fits { 1.0 } else { 0.0 };
    figures.extend(fits.iter().map(|(condition, fits)| {
        figure("fits", labels([("condition", condition)]), Unit::Count, truth(*fits))
    }));
    figures.push(figure("usable", Labels::new(), Unit::Count, truth(usable)));
    figures
}

/// The narrowest bounds of each pair of processors [ns].
fn offsets(run: &Run, hz: f64) -> Vec<(Labels, f64, f64)> {
    let lows = run.series.iter().filter(|series| series.name == OFFSET_LOW);
    let bounds = |low: &Series| {
        let high = run.series(OFFSET_HIGH, &low.labels)?;
        let low_cycles = low.samples.iter().map(|sample| sample.value).reduce(f64::max)?;
        let high_cycles = high.samples.iter().map(|sample| sample.value).reduce(f64::min)?;
        Some((low.labels.clone(), low_cycles / hz * 1e9, high_cycles / hz * 1e9))
    };
    lows.filter_map(bounds).collect()
}

fn figure(name: &str, labels: Labels, unit: Unit, value: f64) -> Figure {
    let name = format!("clock.tsc.{name}");
    Figure { name, labels, unit, estimate: Estimate::single(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Sample;

    fn series(name: &str, of: Labels, unit: Unit, values: &[f64]) -> Series {
        let mut series = Series::new(name, of, unit);
        let sample = |value: &f64| Sample {
            value: *value,
            at_s: 0.0,
            machine_speed: 1.0,
            other_load_cores: 0.0,
        };
        series.samples = values.iter().map(sample).collect();
        series
    }

    fn run(invariant: f64, rates: &[f64], low: f64) -> Run {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        let pair = || labels([("of", "1"), ("to", "0")]);
        run.series = vec![
            series(INVARIANT, Labels::new(), Unit::Count, &[invariant]),
            series(TSC_RATE, labels([("window_ms", "10")]), Unit::Hertz, rates),
            series(OFFSET_LOW, pair(), Unit::TscCycles, &[low - 50.0, low]),
            series(OFFSET_HIGH, pair(), Unit::TscCycles, &[90.0, 120.0]),
        ];
        conclude(&mut run);
        run
    }

    fn value(run: &Run, name: &str) -> f64 {
        run.figure(name, &Labels::new()).unwrap().estimate.value
    }

    #[test]
    fn a_counter_is_usable_where_every_condition_is_met() {
        let good = run(1.0, &[2e9, 2e9], -30.0);
        assert_eq!(value(&good, "clock.tsc.usable"), 1.0);
        let bounds = ["clock.tsc.offset_low", "clock.tsc.offset_high"];
        assert_eq!(bounds.map(|name| value(&good, name).round()), [-15.0, 45.0]);
        for bad in [
            run(0.0, &[2e9, 2e9], -30.0),
            run(1.0, &[2e9, 2.1e9], -30.0),
            run(1.0, &[2e9, 2e9], 30.0),
        ] {
            assert_eq!(value(&bad, "clock.tsc.usable"), 0.0);
        }
    }

    #[test]
    fn a_distribution_is_shown_by_its_quantiles() {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        let of = labels([("sleep_ns", "50000"), ("slack_ns", "1")]);
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        run.series.push(series(LATENESS, of, Unit::Nanoseconds, &values));
        conclude(&mut run);
        let values: Vec<f64> = run.figures.iter().map(|figure| figure.estimate.value).collect();
        assert_eq!(values, [50.0, 90.0, 99.0, 100.0]);
    }
}
