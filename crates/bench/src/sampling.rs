//! Samples with what stood beside them: the machine's speed and the load of others.
//!
//! Each sample is bracketed: the two workers' processors run a short fixed loop before it, and the
//! processor time of everybody else is read around it (docs/measuring.md).

use std::collections::BTreeMap;

use bitpath_measure::series::DISTURBING_LOAD;
use bitpath_measure::statistics::{Method, median, outliers, trimmed_mean};
use bitpath_measure::{Labels, Pitfall, Run, Sample, Series, Unit};
use bitpath_platform::clock::monotonic_ns;
use bitpath_platform::usage::LoadWatch;

use crate::BenchError;

/// Length of a window over which the load of others is read [ns]: the kernel counts it in ticks of
/// 10 ms, which would drown a shorter one.
const LOAD_WINDOW_NS: u64 = 1_000_000_000;

/// Swing of the machine's own speed above which it is a doubt [ratio].
const UNSTEADY: f64 = 0.1;

/// Share of outliers above which they are a doubt [ratio].
const MANY_OUTLIERS: f64 = 0.1;

/// Samples below which a median with its interval says little.
const FEW_SAMPLES: usize = 5;

/// Beginnings of the names of quantities that are read once: they do not vary.
const SINGLE_READINGS: [&str; 5] = [
    "clock.resolution",
    "clock.observed_step",
    "clock.tsc_invariant",
    "decode.clip.",
    "decode.hardware",
];

/// Where samples are taken: whose processors, and whose work is not that of others.
pub trait Bed {
    /// Speed of the slowest of its processors [1/s], by a short fixed loop.
    ///
    /// # Errors
    /// When it cannot be had.
    fn speed(&mut self) -> Result<f64, BenchError>;

    /// Its processes.
    fn pids(&self) -> Vec<u32>;
}

/// What stood beside one sample.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    at_s: f64,
    /// Steps a second of the slower processor's loop [1/s]; relative only once the run is over.
    speed: f64,
    /// Processor time of others and the hypervisor [cores].
    load: f64,
}

/// Collects samples into series until the run is over.
#[derive(Debug)]
pub struct Sampler {
    start_ns: u64,
    /// Length of the sittings before [s].
    before_s: f64,
    series: BTreeMap<(String, Labels), Growing>,
    /// Speeds and steal of everything that stood beside a sample.
    speeds: Vec<f64>,
    steal: Vec<f64>,
    /// The window of the load of others that is open.
    window: Option<Window>,
    /// Load of others in the last window that is over [cores].
    load: f64,
}

/// A window over which the load of others is read.
#[derive(Debug)]
struct Window {
    watch: LoadWatch,
    /// Processes whose load is not that of others.
    pids: Vec<u32>,
    since_ns: u64,
}

impl Window {
    fn open(pids: Vec<u32>) -> Result<Self, BenchError> {
        Ok(Self { watch: LoadWatch::begin(&pids)?, pids, since_ns: monotonic_ns() })
    }
}

/// A series under way.
#[derive(Debug)]
struct Growing {
    series: Series,
    /// Its samples of sittings before, whose speeds are relative already.
    before: usize,
}

impl Sampler {
    /// Begins now.
    #[must_use]
    pub fn begin() -> Self {
        Self {
            start_ns: monotonic_ns(),
            before_s: 0.0,
            series: BTreeMap::new(),
            speeds: Vec::new(),
            steal: Vec::new(),
            window: None,
            load: 0.0,
        }
    }

    /// Begins now with the series of a record that is gone on with.
    #[must_use]
    pub fn go_on(earlier: &Run) -> Self {
        let growing = |series: &Series| {
            let key = (series.name.clone(), series.labels.clone());
            (key, Growing { series: series.clone(), before: series.samples.len() })
        };
        let series = earlier.series.iter().map(growing).collect();
        Self { before_s: earlier.duration_s, series, ..Self::begin() }
    }

    /// Time since the first sitting began, breaks left out [s].
    fn now_s(&self) -> f64 {
        self.before_s + (monotonic_ns() - self.start_ns) as f64 / 1e9
    }

    /// Runs `measure` on the test bed and notes what stood beside it.
    ///
    /// # Errors
    /// Those of `measure`, and of the test bed.
    pub fn beside<B: Bed, T>(
        &mut self,
        bed: &mut B,
        measure: impl FnOnce(&mut B) -> Result<T, BenchError>,
    ) -> Result<(T, Beside), BenchError> {
        let speed = bed.speed()?;
        let at_s = self.now_s();
        self.watch_load(bed)?;
        let value = measure(bed)?;
        self.watch_load(bed)?;
        self.speeds.push(speed);
        Ok((value, Beside { at_s, speed, load: self.load }))
    }

    /// Reads the load of others once a window is over; until then the last window's stands. The window of
    /// another test bed, whose processes may be gone, is given up.
    fn watch_load(&mut self, bed: &impl Bed) -> Result<(), BenchError> {
        let pids = bed.pids();
        let open = self.window.take().filter(|window| window.pids == pids);
        self.window = Some(match open {
            Some(window) if monotonic_ns() - window.since_ns < LOAD_WINDOW_NS => window,
            Some(window) => {
                let load = window.watch.so_far()?;
                self.steal.push(load.steal_cores);
                self.load = load.other_cores() + load.steal_cores;
                Window::open(pids)?
            }
            None => Window::open(pids)?,
        });
        Ok(())
    }

    /// Adds one value to a series.
    pub fn add(&mut self, name: &str, labels: &Labels, unit: Unit, value: f64, beside: &Beside) {
        let series = self.series.entry((name.to_owned(), labels.clone()));
        let growing = series.or_insert_with(|| Growing {
            series: Series::new(name, labels.clone(), unit),
            before: 0,
        });
        growing.series.samples.push(Sample {
            value,
            at_s: beside.at_s,
            machine_speed: beside.speed,
            other_load_cores: beside.load,
        });
    }

    /// Adds values that were taken without the test bed.
    pub fn add_alone(&mut self, name: &str, labels: &Labels, unit: Unit, values: &[f64]) {
        let at_s = self.now_s();
        let speed = self.speeds.last().copied().unwrap_or(0.0);
        for value in values {
            self.add(name, labels, unit, *value, &Beside { at_s, speed, load: 0.0 });
        }
    }

    /// Everything sampled so far was warm-up: it stays in the record and does not count.
    pub fn end_warm_up(&mut self, name_begins: &str) {
        let all = self.series.values_mut().map(|growing| &mut growing.series);
        for series in all.filter(|series| series.name.starts_with(name_begins)) {
            series.warm_up = series.samples.len();
        }
    }

    /// Values of a series so far.
    #[must_use]
    pub fn values(&self, name: &str, labels: &Labels) -> Vec<f64> {
        self.series_of(name, labels).map(Series::values).unwrap_or_default()
    }

    /// Samples of a series so far, those that do not count among them.
    #[must_use]
    pub fn samples(&self, name: &str, labels: &Labels) -> usize {
        self.series_of(name, labels).map_or(0, |series| series.samples.len())
    }

    fn series_of(&self, name: &str, labels: &Labels) -> Option<&Series> {
        self.series.get(&(name.to_owned(), labels.clone())).map(|growing| &growing.series)
    }

    /// Median of a series so far.
    #[must_use]
    pub fn median(&self, name: &str, labels: &Labels) -> Option<f64> {
        median(&self.values(name, labels))
    }

    /// Trimmed mean of a series so far.
    #[must_use]
    pub fn mean(&self, name: &str, labels: &Labels) -> Option<f64> {
        trimmed_mean(&self.values(name, labels))
    }

    /// Moves everything into the record, speeds made relative, doubts drawn.
    pub fn finish(self, run: &mut Run) {
        let usual = median(&self.speeds).unwrap_or(1.0);
        let relative: Vec<f64> = self.speeds.iter().map(|speed| speed / usual).collect();
        let mut loads = Vec::new();
        let mut outlying: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let mut fewest: BTreeMap<String, usize> = BTreeMap::new();
        for Growing { mut series, before } in self.series.into_values() {
            series.find_steady_state();
            let count = series.values().len();
            fewest
                .entry(series.name.clone())
                .and_modify(|least| *least = count.min(*least))
                .or_insert(count);
            for sample in &mut series.samples[before..] {
                sample.machine_speed =
                    if sample.machine_speed > 0.0 { sample.machine_speed / usual } else { 1.0 };
                loads.push(sample.other_load_cores);
            }
            let (far, samples) = outlying.entry(series.name.clone()).or_insert((0, 0));
            *far += outliers(&series.values()).len();
            *samples += series.samples.len();
            run.record(series, Method::MedianBlockBootstrap);
        }
        for (series, (outliers, samples)) in outlying {
            if outliers as f64 > MANY_OUTLIERS * samples as f64 {
                run.doubt(Pitfall::Outliers { series, outliers, samples });
            }
        }
        for (what, samples) in fewest.into_iter().filter(|(_, samples)| *samples < FEW_SAMPLES) {
            if !SINGLE_READINGS.iter().any(|name| what.starts_with(name)) {
                run.doubt(Pitfall::SmallSample { what, samples });
            }
        }
        doubt_machine(run, &relative, &loads, &self.steal);
    }
}

fn doubt_machine(run: &mut Run, speeds: &[f64], loads: &[f64], steal: &[f64]) {
    let slowest = speeds.iter().copied().fold(1.0, f64::min);
    let fastest = speeds.iter().copied().fold(1.0, f64::max);
    if fastest - slowest > UNSTEADY {
        run.doubt(Pitfall::UnsteadySpeed { slowest, fastest });
    }
    let disturbed_samples = loads.iter().filter(|load| **load > DISTURBING_LOAD).count();
    if disturbed_samples > 0 {
        let cores = loads.iter().sum::<f64>() / loads.len() as f64;
        run.doubt(Pitfall::OtherLoad { cores, disturbed_samples });
    }
    let stolen = steal.iter().sum::<f64>() / steal.len().max(1) as f64;
    if stolen > 0.0 {
        run.doubt(Pitfall::StealTime { cores: stolen });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::series::labels;
    use bitpath_platform::process::Worker;

    /// A test bed of one process.
    struct One(u32);

    impl Bed for One {
        fn speed(&mut self) -> Result<f64, BenchError> {
            Ok(1.0)
        }

        fn pids(&self) -> Vec<u32> {
            vec![self.0]
        }
    }

    #[test]
    fn a_test_bed_may_follow_one_whose_processes_are_gone() {
        let mut sampler = Sampler::begin();
        let worker = Worker::spawn("first", "/bin/cat".as_ref(), &[]).unwrap();
        sampler.beside(&mut One(worker.pid()), |_| Ok(())).unwrap();
        drop(worker);
        // As long ago as if its window were over.
        sampler.window.as_mut().unwrap().since_ns = 0;
        let ((), beside) = sampler.beside(&mut One(std::process::id()), |_| Ok(())).unwrap();
        sampler.add("a", &labels([]), Unit::Seconds, 1.0, &beside);
        assert_eq!(sampler.samples("a", &labels([])), 1);
    }
}
