//! The jobs of a study: each of the 2004 suite's, at its own pace and where something binds.
//!
//! Message sizes lie between those that the probe's fits saw, and buffers differ from the probe's.

use bitpath_measure::series::labels;
use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_sim::host::HostScenario;
use bitpath_sim::job::{Job, Work};
use bitpath_sim::link::Link;
use bitpath_sim::profile::{HostProfile, NanosPerByte, Transport};

use crate::clip::StudyClip;
use crate::probe::stack;
use crate::sampling::Sampler;
use crate::testbed::Testbed;

/// Length of each job [ps]: thousands to millions of messages, or dozens of frames.
const DURATION: Picos = Picos(700_000_000_000);

/// Receive buffer as the kernel books it [B]: Linux's default of 208 KiB, doubled as it does.
const DEFAULT_BUFFER: ByteCount = ByteCount(2 * 208 * 1024);

/// A larger buffer for streams that nothing may interrupt [B].
const LARGE_BUFFER: ByteCount = ByteCount(4 << 20);

/// Message of the films [B]: seven packets of an MPEG transport stream, as streamers send.
const FILM_MESSAGE: ByteCount = ByteCount(1316);

/// Share of the decoder's capacity at which software decoding has time to spare [ratio].
const EASY: f64 = 0.6;

/// Share of a capacity at which it binds [ratio].
const TOO_MUCH: f64 = 1.2;

/// Frames that the play-out delay covers [frames].
const PLAYOUT_FRAMES: f64 = 3.0;

/// Interval of the simulated courses over time [ps].
const INTERVAL: Picos = Picos(2_000_000_000);

/// One job of a study.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StudyJob {
    /// The job.
    pub job: Job,
    /// Whether something other than its own pace binds it.
    pub bound: bool,
    /// The link that it is run over.
    pub link: Link,
}

impl StudyJob {
    fn new(job: Job, bound: bool) -> Self {
        Self { job, bound, link: Link { rate: None, queue: ByteCount(64 << 20), delay: Picos(0) } }
    }

    /// The job on a host.
    #[must_use]
    pub(super) fn on(&self, host: &HostProfile) -> HostScenario {
        HostScenario {
            host: host.clone(),
            job: self.job.clone(),
            link: self.link.clone(),
            interval: INTERVAL,
        }
    }

    /// Whether the sender sends frames of a film.
    #[must_use]
    pub(super) fn is_film(&self) -> bool {
        matches!(self.job.work, Work::Mpeg { .. })
    }
}

/// The jobs, their rates chosen from what the probe found so far.
pub(super) fn of_study(
    sampler: &Sampler,
    clip: Option<&StudyClip>,
    bed: &Testbed,
) -> Vec<StudyJob> {
    let mut jobs = raw_jobs(sampler);
    if let Some(clip) = clip {
        jobs.extend(film_jobs(sampler, clip));
    }
    if bed.cores() < 2 {
        // On one core an unpaced sender and its receiver only measure the scheduler's slices.
        jobs.retain(|job| job.job.name != "raw-udp-slow");
    }
    jobs
}

/// Median time of a send call [ns].
fn send_ns(sampler: &Sampler, transport: Transport, bytes: usize) -> f64 {
    let labels = stack::cost_labels(transport, "send", bytes);
    // Without a sample the jobs are only less well chosen.
    sampler.median("stack.cost", &labels).unwrap_or(3000.0)
}

fn raw_jobs(sampler: &Sampler) -> Vec<StudyJob> {
    let udp_ns = send_ns(sampler, Transport::Udp, 1472);
    let tcp_ns = send_ns(sampler, Transport::Tcp, 4096);
    vec![
        StudyJob::new(raw("raw-udp", Transport::Udp, 1000, LARGE_BUFFER), true),
        StudyJob::new(raw("raw-udp-large", Transport::Udp, 6000, LARGE_BUFFER), true),
        StudyJob::new(raw("raw-tcp", Transport::Tcp, 2500, LARGE_BUFFER), true),
        StudyJob::new(raw("raw-tcp-large", Transport::Tcp, 48_000, LARGE_BUFFER), true),
        StudyJob::new(working("raw-udp-slow", Transport::Udp, 1000, 1.6 * udp_ns), true),
        StudyJob::new(working("raw-tcp-slow", Transport::Tcp, 5000, 2.0 * tcp_ns), true),
        StudyJob::new(paced(udp_ns), false),
    ]
}

fn film_jobs(sampler: &Sampler, clip: &StudyClip) -> Vec<StudyJob> {
    let decode_rate =
        sampler.median("decode.frame_rate", &labels([("frame", "all")])).unwrap_or(100.0);
    let frame_rate = clip.film.rate.per_second();
    // The sender's stack carries so many messages of a film a second.
    let mean_frame = clip.film.bytes().0 as f64 / clip.film.frames.len() as f64;
    let messages = (mean_frame / FILM_MESSAGE.0 as f64).ceil();
    let sendable = 1e9 / send_ns(sampler, Transport::Udp, 1472) / messages;
    vec![
        StudyJob::new(film("mpeg-hw", clip, 4.0, false), false),
        StudyJob::new(
            film("mpeg-hw-fast", clip, round_up(TOO_MUCH * sendable / frame_rate), false),
            true,
        ),
        StudyJob::new(
            film("mpeg-sw", clip, round_down(EASY * decode_rate / frame_rate), true),
            false,
        ),
        StudyJob::new(
            film("mpeg-sw-fast", clip, round_up(TOO_MUCH * decode_rate / frame_rate), true),
            true,
        ),
    ]
}

fn raw(name: &str, transport: Transport, message: u64, buffer: ByteCount) -> Job {
    Job::raw(name, transport, ByteCount(message), buffer, DURATION)
}

/// Raw data on which the receiver works for `work_ns` a message.
fn working(name: &str, transport: Transport, message: u64, work_ns: f64) -> Job {
    let process = NanosPerByte(round_up(work_ns / message as f64));
    Job { work: Work::Raw { rate: None, process }, ..raw(name, transport, message, DEFAULT_BUFFER) }
}

/// Raw data at a quarter of what the sender's stack could carry.
fn paced(send_ns: f64) -> Job {
    let message = 1200;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive rate far below 2^64"
    )]
    let rate = BitRate(round_down(message as f64 * 8.0 / (3.0 * send_ns) * 1e9) as u64);
    let work = Work::Raw { rate: Some(rate), process: NanosPerByte(0.0) };
    Job { work, ..raw("raw-udp-paced", Transport::Udp, message, LARGE_BUFFER) }
}

/// Steps of a decade to which rates and work are rounded, so that studies of one host at different
/// times run the same jobs.
const STEPS: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0];

/// The next step above a positive value.
fn round_up(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let step = STEPS.into_iter().find(|step| step * decade >= value);
    step.unwrap_or(10.0) * decade
}

/// The next step below a positive value.
fn round_down(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let step = STEPS.into_iter().rev().find(|step| step * decade <= value);
    step.unwrap_or(1.0) * decade
}

fn film(name: &str, clip: &StudyClip, speed: f64, software_decode: bool) -> Job {
    let period_ns = 1e9 / clip.film.rate.per_second() / speed;
    let playout_delay = Picos::from_nanos_f64(PLAYOUT_FRAMES * period_ns);
    let work = Work::Mpeg { film: clip.film.clone(), speed, software_decode, playout_delay };
    let duration = whole_passes(period_ns * clip.film.frames.len() as f64);
    let raw = raw(name, Transport::Udp, FILM_MESSAGE.0, DEFAULT_BUFFER);
    Job { message: FILM_MESSAGE, work, duration, ..raw }
}

/// Length of a job that plays a clip again and again, to its end where that is near: then it decodes what the
/// probe decoded, and not the beginning, with its larger frames, once more.
fn whole_passes(pass_ns: f64) -> Picos {
    let passes = (DURATION.as_nanos_f64() / pass_ns).ceil();
    let whole = Picos::from_nanos_f64(passes * pass_ns);
    if whole > Picos(2 * DURATION.0) { DURATION } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_clips_are_played_to_their_end_and_long_ones_for_the_usual_time() {
        let seconds = |pass_s: f64| whole_passes(pass_s * 1e9).as_nanos_f64() / 1e9;
        assert_eq!([0.25, 0.7, 0.9, 7200.0].map(seconds), [0.75, 0.7, 0.9, 0.7]);
    }

    #[test]
    fn rates_are_rounded_to_steps() {
        assert_eq!([round_up(43.7), round_up(4.77), round_up(1.0)], [50.0, 5.0, 1.0]);
        assert_eq!([round_down(20.1), round_down(0.0149)], [20.0, 0.01]);
    }
}
