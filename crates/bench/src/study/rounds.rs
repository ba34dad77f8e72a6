//! Measuring in rounds: every job in shuffled order with a pass of the probe between every few of
//! them, until the jobs are known well enough. So most of the probe's samples are of the same minutes
//! as the jobs.

use bitpath_measure::Labels;
use bitpath_measure::series::labels;
use bitpath_measure::statistics::{Method, estimate};
use bitpath_platform::clock::monotonic_ns;
use rand::seq::SliceRandom;

use super::jobs::StudyJob;
use crate::BenchError;
use crate::clip::StudyClip;
use crate::probe::model::{self, Measured};
use crate::probe::points::Effort;
use crate::probe::stack;
use crate::sampling::Sampler;
use crate::steps::Steps;
use crate::testbed::Testbed;

/// How long to measure, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Time for the probe alone [s].
    pub probe_s: f64,
    /// Time for the rounds with jobs [s].
    pub jobs_s: f64,
    /// Fewest rounds of each.
    pub least_rounds: usize,
    /// Half width of an interval that is narrow enough, relative to its value [ratio].
    pub half_width: f64,
    /// Pairs of runs, with and without, for each remedy that is tried.
    pub remedy_pairs: usize,
}

impl Budget {
    /// A study of about two minutes.
    #[must_use]
    pub fn full() -> Self {
        Self { probe_s: 10.0, jobs_s: 82.0, least_rounds: 5, half_width: 0.03, remedy_pairs: 3 }
    }

    /// A study of about half a minute.
    #[must_use]
    pub fn quick() -> Self {
        Self { probe_s: 6.0, jobs_s: 13.0, least_rounds: 1, half_width: 0.05, remedy_pairs: 1 }
    }

    /// What of it is the probe's before the jobs.
    pub(super) fn of_probe(&self) -> Effort {
        let least = self.least_rounds.max(FEWEST_ROUNDS);
        let (budget_s, half_width) = (self.probe_s, self.half_width);
        Effort { budget_s, least, most: usize::MAX, half_width }
    }
}

/// Rounds below which a narrow interval is chance.
const FEWEST_ROUNDS: usize = 3;

/// Jobs between two passes of the probe: a pass takes a second, a job nearly one, so that a fifth of
/// the time is the probe's and a machine that changes its speed does so in both.
const JOBS_BETWEEN_PROBES: usize = 4;

/// Rounds of the probe and every job, until every job's throughput is known well enough.
pub(super) fn jobs(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    jobs: &[StudyJob],
    budget: &Budget,
    measured: &mut Measured,
    steps: &mut Steps<'_>,
) -> Result<(), BenchError> {
    steps.begin("the jobs on real sockets")?;
    let start_ns = monotonic_ns();
    for round in 1.. {
        let mut order: Vec<&StudyJob> = jobs.iter().collect();
        order.shuffle(&mut measured.order);
        for some in order.chunks(JOBS_BETWEEN_PROBES) {
            bed.open_tcp(stack::PROBE_BUFFERS)?;
            model::round(bed, sampler, clip, measured)?;
            for job in some {
                one_job(bed, sampler, clip, job)?;
                steps.tell((seconds_since(start_ns) / budget.jobs_s).min(1.0))?;
            }
        }
        if round >= budget.least_rounds && seconds_since(start_ns) >= budget.jobs_s {
            steps.ended(&format!("time budget spent after {round} rounds"));
            break;
        }
        if round >= budget.least_rounds.max(FEWEST_ROUNDS)
            && widest_job(sampler, jobs) <= budget.half_width
        {
            steps.ended(&format!("intervals narrow enough after {round} rounds"));
            break;
        }
    }
    Ok(())
}

fn seconds_since(start_ns: u64) -> f64 {
    (monotonic_ns() - start_ns) as f64 / 1e9
}

fn one_job(
    bed: &mut Testbed,
    sampler: &mut Sampler,
    clip: Option<&StudyClip>,
    job: &StudyJob,
) -> Result<(), BenchError> {
    let film = clip.filter(|_| job.is_film()).map(|clip| clip.path.as_path());
    let (outcome, beside) = sampler.beside(bed, |bed| crate::job::run(bed, &job.job, film))?;
    for (quantity, unit, value) in super::checks::quantities(job, &outcome) {
        sampler.add(&format!("job.{quantity}"), &job_labels(job), unit, value, &beside);
    }
    Ok(())
}

/// Labels of a job's series.
pub(super) fn job_labels(job: &StudyJob) -> Labels {
    labels([("scenario", &job.job.name)])
}

fn widest_job(sampler: &Sampler, jobs: &[StudyJob]) -> f64 {
    let width = |job: &StudyJob| {
        let values = sampler.values("job.throughput", &job_labels(job));
        estimate(&values, Method::MedianBlockBootstrap)
            .map_or(f64::INFINITY, |found| found.relative_half_width())
    };
    jobs.iter().map(width).fold(0.0, f64::max)
}
