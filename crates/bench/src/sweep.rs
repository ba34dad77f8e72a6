//! A sweep: one scenario simulated at every combination of some values, on all processors.
//!
//! ```text
//! scenario, axes ──► grid ──► points not yet done ──► sim, one point a thread ──► points file
//!                                  ▲                                                 │
//!                                  └─────── --resume: same scenario, same grid ──────┤
//!                                                                                    ▼
//!                                                        columns [unit] ──► Run ──► results, report
//! ```
//!
//! Every point runs with the scenario's own seed: common random numbers, so that chance does not
//! tell two points apart. The simulator has no threads; they are all here.

mod axis;
mod columns;
mod grid;
mod largest;
mod points;

pub use axis::{Axis, AxisError, Level};
pub use grid::{Grid, GridError, MAX_POINTS};
pub use largest::largest;
pub use points::{PointsError, Reading};

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bitpath_measure::Run;
use bitpath_platform::interrupt;
use bitpath_sim::engine::{self, Engine, EngineError};
use bitpath_sim::scenario::{Draft, Scenario, SettingError};
use rayon::prelude::*;

use points::{Header, PointsFile};

/// What is swept.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's text; every point sets its values in it.
    pub text: String,
    /// The values.
    pub grid: Grid,
    /// The engine; without one the fastest that applies.
    pub engine: Option<Engine>,
}

/// Where the points are kept.
#[derive(Clone, Debug)]
pub struct Keeping {
    /// The points file.
    pub path: PathBuf,
    /// Whether a file that is there already is gone on with.
    pub resume: bool,
}

/// Why a sweep has no result.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A point is no scenario.
    #[error("a point cannot be simulated: {0}")]
    Setting(#[from] SettingError),
    /// The engine does not apply.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The points cannot be kept or gone on with.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The user asked to stop.
    #[error("interrupted: {done} of {points} points are kept in {path}; --resume goes on with them", path = path.display())]
    Interrupted {
        /// Points that are done.
        done: usize,
        /// Points of the grid.
        points: usize,
        /// The points file.
        path: PathBuf,
    },
}

/// Told after every point how many are done, and of how many.
pub type Watcher<'a> = &'a mut (dyn FnMut(usize, usize) + Send);

/// Simulates every point that the points file does not hold yet, and returns the record: a series
/// for each varied key and each figure, a sample for each point.
///
/// # Errors
/// A point that is no scenario, a points file of another sweep, a refusal of the file system, or
/// the user's wish to stop; whatever was done until then is kept.
pub fn run(plan: &Plan, keeping: &Keeping, watch: Watcher<'_>) -> Result<Run, SweepError> {
    let draft = Draft::read(&plan.text).map_err(SettingError::File)?;
    let (scenario, _) = draft.with(&[])?;
    check_values(&draft, &plan.grid)?;
    let header = Header::new(&plan.text, &plan.grid, plan.engine);
    let (file, done) = if keeping.resume {
        PointsFile::resume(&keeping.path, &header)?
    } else {
        (PointsFile::create(&keeping.path, &header)?, vec![None; plan.grid.points()])
    };
    let done = simulate_missing(plan, &draft, Shared { file, done, count: 0, watch })?;
    let points = done.len();
    let whole: Vec<Vec<Reading>> = done.into_iter().flatten().collect();
    if whole.len() < points {
        let path = keeping.path.clone();
        return Err(SweepError::Interrupted { done: whole.len(), points, path });
    }
    Ok(columns::record(&scenario, &plan.text, &plan.grid, &whole))
}

/// What the threads share: the file, and the readings of every point that is done.
struct Shared<'a> {
    file: PointsFile,
    done: Vec<Option<Vec<Reading>>>,
    count: usize,
    watch: Watcher<'a>,
}

impl Shared<'_> {
    fn keep(&mut self, point: usize, readings: Vec<Reading>) -> Result<(), PointsError> {
        self.file.append(point, &readings)?;
        self.done[point] = Some(readings);
        self.count += 1;
        (self.watch)(self.count, self.done.len());
        Ok(())
    }
}

/// Every value of a list alone, and both ends of a range: a mistake is found before the sweep
/// begins and not in its last hour.
fn check_values(draft: &Draft, grid: &Grid) -> Result<(), SettingError> {
    for axis in grid.axes() {
        for level in axis.typical() {
            draft.with(&[axis.setting(level)?])?;
        }
    }
    Ok(())
}

/// Simulates until all points are done or the user asks to stop.
fn simulate_missing(
    plan: &Plan,
    draft: &Draft,
    mut shared: Shared<'_>,
) -> Result<Vec<Option<Vec<Reading>>>, SweepError> {
    let missing: Vec<usize> =
        (0..shared.done.len()).filter(|point| shared.done[*point].is_none()).collect();
    shared.count = shared.done.len() - missing.len();
    let shared = Mutex::new(shared);
    missing.par_iter().with_max_len(1).try_for_each(|point| {
        if interrupt::requested() {
            return Ok(());
        }
        let (scenario, _) = draft.with(&plan.grid.settings(*point)?)?;
        let readings = readings(&scenario, plan.engine)?;
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        Ok::<(), SweepError>(shared.keep(*point, readings)?)
    })?;
    Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).done)
}

/// The figures of one point.
fn readings(scenario: &Scenario, engine: Option<Engine>) -> Result<Vec<Reading>, EngineError> {
    let found = engine::find(scenario, scenario.seed, engine)?;
    Ok(found.figures.iter().map(Reading::of).collect())
}

/// The points file of a folder.
#[must_use]
pub fn points_file(folder: &Path) -> PathBuf {
    folder.join("points.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    const P3: &str = include_str!("../../../scenarios/p3.toml");

    fn plan() -> Plan {
        let axes = [
            "pipeline.packets=10000",
            "pipeline.stage.kernel.slots=1..200:lin5",
            "pipeline.stage.user.service=1 us,2 us",
        ];
        let axes = axes.iter().map(|axis| axis.parse().unwrap()).collect();
        Plan { text: P3.into(), grid: Grid::new(axes).unwrap(), engine: None }
    }

    fn swept(plan: &Plan, path: &Path, resume: bool) -> Result<(Run, usize), SweepError> {
        let mut simulated = 0;
        let keeping = Keeping { path: path.to_owned(), resume };
        let run = run(plan, &keeping, &mut |_, _| simulated += 1)?;
        Ok((run, simulated))
    }

    #[test]
    fn a_sweep_that_is_gone_on_with_gives_the_same_record_as_one_in_one_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = points_file(folder.path());
        let (whole, simulated) = swept(&plan(), &path, false).unwrap();
        assert_eq!((simulated, whole.series[0].samples.len()), (10, 10));
        let text = std::fs::read(&path).unwrap();
        // Cut anywhere, even within a line or the header, only what is missing is simulated.
        for end in (0..=text.len()).step_by(211) {
            std::fs::write(&path, &text[..end]).unwrap();
            let kept = text[..end].iter().filter(|byte| **byte == b'\n').count();
            let (run, simulated) = swept(&plan(), &path, true).unwrap();
            assert_eq!((run, simulated), (whole.clone(), 10 - kept.saturating_sub(1)));
        }
    }

    #[test]
    fn points_of_another_sweep_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = points_file(folder.path());
        swept(&plan(), &path, false).unwrap();
        let other_text = Plan { text: format!("seed = 3\n{P3}"), ..plan() };
        let other_grid =
            Plan { grid: Grid::new(vec!["seed=1,2".parse().unwrap()]).unwrap(), ..plan() };
        let other_engine = Plan { engine: Some(Engine::Events), ..plan() };
        for (plan, resume, word) in [
            (&plan(), false, "--resume"),
            (&other_text, true, "another scenario"),
            (&other_grid, true, "another grid"),
            (&other_engine, true, "another engine"),
        ] {
            let error = swept(plan, &path, resume).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("points.jsonl"), "{error}");
        }
    }

    const STREAM: &str = include_str!("../../../scenarios/ten-gigabit-tcp.toml");

    /// Sweeps in which chance has a part: a stream that loses packets, and stages with random times.
    fn random_sweeps() -> [Plan; 2] {
        let plan = |text: &str, axes: &[&str]| {
            let axes = axes.iter().map(|axis| axis.parse().unwrap()).collect();
            Plan { text: text.into(), grid: Grid::new(axes).unwrap(), engine: None }
        };
        let stream = [
            "machine.duration=3 ms",
            "machine.line.loss=0,0.002,0.05",
            "machine.flow.stream.receive_buffer=64 KiB,1 MiB",
        ];
        let stages = [
            "pipeline.packets=3000",
            "pipeline.arrivals.distribution=exponential",
            "pipeline.stage.user.distribution=exponential",
            "pipeline.stage.kernel.slots=1..40:lin5",
        ];
        [plan(STREAM, &stream), plan(P3, &stages)]
    }

    #[test]
    fn a_sweep_gives_the_same_bytes_whatever_the_number_of_threads() {
        for plan in random_sweeps() {
            let record = |threads| {
                let folder = tempfile::tempdir().unwrap();
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (run, simulated) =
                    pool.install(|| swept(&plan, &points_file(folder.path()), false)).unwrap();
                assert_eq!(simulated, plan.grid.points());
                serde_json::to_string(&run).unwrap()
            };
            let alone = record(1);
            assert!(record(2) == alone && record(4) == alone, "{alone}");
        }
    }

    #[test]
    fn threads_that_simulate_side_by_side_write_the_same_bytes() {
        for plan in random_sweeps() {
            let settings = plan.grid.settings(plan.grid.points() - 1).unwrap();
            let (scenario, text) = Draft::read(&plan.text).unwrap().with(&settings).unwrap();
            let record = || {
                let run = engine::simulate(&scenario, &text, None).unwrap();
                serde_json::to_string(&run).unwrap()
            };
            let alone = record();
            std::thread::scope(|scope| {
                let threads = [(); 4].map(|()| scope.spawn(record));
                for thread in threads {
                    assert_eq!(thread.join().unwrap(), alone);
                }
            });
        }
    }

    #[test]
    fn a_value_that_no_scenario_takes_is_found_before_anything_is_simulated() {
        let folder = tempfile::tempdir().unwrap();
        let path = points_file(folder.path());
        let axes = vec!["pipeline.stage.nic.slots=1,0".parse().unwrap()];
        let plan = Plan { grid: Grid::new(axes).unwrap(), ..plan() };
        let error = swept(&plan, &path, false).unwrap_err().to_string();
        assert!(error.contains("pipeline.stage.nic.slots=0"), "{error}");
        assert!(!path.exists());
    }
}
