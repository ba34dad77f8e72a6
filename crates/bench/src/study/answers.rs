//! What the study concludes, and the remedies that it really tries.

use std::path::Path;

use bitpath_measure::run::{Answer, Figure, JobAnswer, Remedy as Ranked, RemedyOutcome};
use bitpath_measure::series::labels;
use bitpath_measure::statistics::{Method, estimate};
use bitpath_measure::{ByteCount, Estimate, Run, Unit};
use bitpath_platform::namespace::RateLimit;
use bitpath_sim::answer::remedy::{self, Remedy};
use bitpath_sim::answer::{Parameter, bottleneck};
use bitpath_sim::host::HostScenario;
use bitpath_sim::profile::{CallSize, HostProfile, Transport};

use super::checks;
use super::jobs::StudyJob;
use super::rounds::Budget;
use crate::BenchError;
use crate::clip::StudyClip;
use crate::steps::Steps;
use crate::testbed::{Testbed, VETH_MTU};

/// Payload of a full packet over UDP [B] (sysSIM table 1).
const FULL_PAYLOAD: ByteCount = ByteCount(1472);

/// Bytes that a full frame takes on the wire [B]: 1514 of frame, 4 of check sequence, 8 of
/// preamble and 12 of gap (IEEE 802.3).
const FULL_FRAME_ON_WIRE: f64 = 1538.0;

/// Predicted gain from which a remedy is worth a try [ratio].
const WORTH_A_TRY: f64 = 1.1;

/// Bytes that a limited link sends at once [B]: ten full frames.
const BURST: ByteCount = ByteCount(15_140);

/// Answers for every job, tries remedies, and sums up in plain words.
pub(super) fn give(
    run: &mut Run,
    bed: &mut Testbed,
    scenarios: &[(StudyJob, HostScenario)],
    clip: Option<&StudyClip>,
    budget: &Budget,
    steps: &mut Steps<'_>,
) -> Result<(), BenchError> {
    let mut jobs = Vec::new();
    for (index, (job, scenario)) in scenarios.iter().enumerate() {
        let mut answer = answer_for(scenario);
        let film = clip.filter(|_| job.is_film()).map(|clip| clip.path.as_path());
        if job.bound {
            try_best(bed, scenario, film, budget, &mut answer.remedies)?;
        }
        jobs.push(answer);
        steps.tell((index + 1) as f64 / scenarios.len() as f64)?;
    }
    let Some((_, first)) = scenarios.first() else { return Ok(()) };
    let line_rate = line_rate(&first.host);
    let sentences = sentences(run, &jobs, &line_rate, clip);
    let figure = ("line_rate.full_frames", Unit::BitsPerSecond, line_rate);
    let of_one_core = labels([("scenario", "one receiving core")]);
    run.figures.push(Figure {
        name: figure.0.into(),
        labels: of_one_core,
        unit: figure.1,
        estimate: figure.2,
    });
    run.answer = Some(Answer { sentences, jobs, line_rate_bits_per_second: line_rate });
    Ok(())
}

fn answer_for(scenario: &HostScenario) -> JobAnswer {
    let found = bottleneck::find(scenario);
    JobAnswer {
        scenario: scenario.job.name.clone(),
        bottleneck: found.parameter.name().into(),
        bottleneck_in_words: found.parameter.in_words().into(),
        elasticities: found.elasticities,
        remedies: remedy::rank(scenario).into_iter().map(|(_, ranked)| ranked).collect(),
    }
}

/// Tries the first remedy of the list that can be tried and promises something.
fn try_best(
    bed: &mut Testbed,
    scenario: &HostScenario,
    film: Option<&Path>,
    budget: &Budget,
    remedies: &mut [Ranked],
) -> Result<(), BenchError> {
    let by_name =
        |ranked: &Ranked| Remedy::ALL.into_iter().find(|remedy| remedy.name() == ranked.name);
    let promising = remedies.iter_mut().find_map(|ranked| {
        let remedy = by_name(ranked).filter(|remedy| remedy.can_be_tried())?;
        (ranked.predicted_gain.value >= WORTH_A_TRY).then_some((remedy, ranked))
    });
    if let Some((remedy, ranked)) = promising
        && let Some(gain) = try_remedy(bed, scenario, remedy, film, budget.remedy_pairs)?
    {
        ranked.outcome = RemedyOutcome::Measured { gain };
    }
    Ok(())
}

/// Applies a remedy on the real host: runs with and without it in turn, and the ratio of useful
/// throughput pair by pair. None where there is nothing to apply it to.
///
/// # Errors
/// Those of the workers, and of a link whose rate cannot be limited.
pub fn try_remedy(
    bed: &mut Testbed,
    scenario: &HostScenario,
    remedy: Remedy,
    film: Option<&Path>,
    pairs: usize,
) -> Result<Option<Estimate>, BenchError> {
    let Some(changed) = remedy.applied(scenario) else { return Ok(None) };
    let mut ratios = Vec::new();
    for _ in 0..pairs {
        let before = on_link(bed, scenario, film)?;
        let after = on_link(bed, &changed, film)?;
        ratios.push(after.max(1.0) / before.max(1.0));
    }
    Ok(estimate(&ratios, Method::MedianBlockBootstrap))
}

/// Useful throughput of the scenario on the real host, its link limited as it says [b/s].
fn on_link(
    bed: &mut Testbed,
    scenario: &HostScenario,
    film: Option<&Path>,
) -> Result<f64, BenchError> {
    let Some(rate) = scenario.link.rate else {
        return Ok(crate::job::run(bed, &scenario.job, film)?.goodput());
    };
    bed.limit_rate(Some(&RateLimit { rate, burst: BURST, queue: scenario.link.queue }))?;
    let outcome = crate::job::run(bed, &scenario.job, film);
    bed.limit_rate(None)?;
    Ok(outcome?.goodput())
}

/// Line rate that one core serves with full frames [b/s].
///
/// On a path that runs the receive half of the stack in the sender's call, that half is not known
/// apart. The value charges the core with both halves and is a lower bound; the upper end of the
/// interval charges it with the receive call alone.
fn line_rate(host: &HostProfile) -> Estimate {
    let size = CallSize::new(Transport::Udp, FULL_PAYLOAD, VETH_MTU);
    let send = host.stack.udp.send.of(size).as_nanos_f64();
    let receive = host.stack.udp.receive.of(size).as_nanos_f64();
    let rate = |nanos: f64| FULL_FRAME_ON_WIRE * 8.0 / nanos * 1e9;
    let value = rate(send + receive);
    Estimate {
        value,
        low: value,
        high: rate(receive),
        confidence: 1.0,
        samples: 1,
        method: Method::Simulated,
    }
}

/// Four lines in plain words.
fn sentences(
    run: &Run,
    jobs: &[JobAnswer],
    line_rate: &Estimate,
    clip: Option<&StudyClip>,
) -> Vec<String> {
    let limited: Vec<&JobAnswer> =
        jobs.iter().filter(|job| job.bottleneck != Parameter::JobRate.name()).collect();
    let first = limited.first().map_or_else(
        || "Nothing in this host limits any of the jobs.".to_owned(),
        |job| {
            format!(
                "With as much raw data as possible over UDP, the bottleneck is {}.",
                job.bottleneck_in_words
            )
        },
    );
    let film = clip.map_or("a film", |clip| clip.film.name.as_str());
    let decode = jobs.iter().find(|job| job.scenario == "mpeg-sw-fast");
    let second = decode.map_or_else(String::new, |job| {
        format!(
            "Playing {} faster than it can be decoded, the bottleneck is {}.",
            film, job.bottleneck_in_words
        )
    });
    let third = limited.first().map_or_else(String::new, |job| remedies_in_words(job));
    let errors = checks::error_summary(run).map_or_else(String::new, |(median, worst)| {
        format!(
            " Predictions were off by {:.0} % in the median and {:.0} % at worst.",
            median * 100.0,
            worst * 100.0
        )
    });
    let gigabits = line_rate.value / 1e9;
    let fourth = format!(
        "One core of this host serves a line of at least {gigabits:.1} Gb/s with full frames.{errors}"
    );
    [first, second, third, fourth].into_iter().filter(|sentence| !sentence.is_empty()).collect()
}

/// The best remedy of a job, and the one that was tried.
fn remedies_in_words(job: &JobAnswer) -> String {
    let Some(best) = job.remedies.first() else { return String::new() };
    let measured = |remedy: &Ranked| match &remedy.outcome {
        RemedyOutcome::Measured { gain } => format!(", {:.2} times measured", gain.value),
        RemedyOutcome::NotApplicable { .. } | RemedyOutcome::NotTried => String::new(),
    };
    let gain = |remedy: &Ranked| {
        format!(
            "{:.2} times the throughput predicted{}",
            remedy.predicted_gain.value,
            measured(remedy)
        )
    };
    let mut words =
        format!("What would free {} most is {}: {}.", job.scenario, best.name, gain(best));
    let tried = job
        .remedies
        .iter()
        .skip(1)
        .find(|remedy| matches!(remedy.outcome, RemedyOutcome::Measured { .. }));
    if let Some(tried) = tried {
        words += &format!(" Of what can be done here at once, {}: {}.", tried.name, gain(tried));
    }
    words
}
