//! What a peer sends, and when: the job's messages, at even times, at random, or in bursts.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::calendar::NEVER;
use super::description::Arrivals;
use super::setup::Flow;
use crate::job::{Job, Message, Schedule};

/// The peer's side of one flow.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    schedule: Schedule<'a>,
    /// Mean time between messages of raw data [ps]; none where the job gives no rate.
    gap: Option<f64>,
    message: u64,
    segment: u64,
    limit: u64,
    arrivals: Arrivals,
    chance: ChaCha8Rng,
    due: f64,
    /// Messages left of a burst, and the gap within it [ps].
    burst_left: f64,
    waiting: Option<Message>,
}

impl<'a> Source<'a> {
    pub(super) fn new(job: &'a Job, flow: &Flow, chance: ChaCha8Rng) -> Self {
        Self {
            schedule: Schedule::new(job),
            gap: job.message_interval(),
            message: job.message.0,
            segment: flow.segment,
            limit: flow.limit,
            arrivals: flow.arrivals,
            chance,
            due: 0.0,
            burst_left: 0.0,
            waiting: None,
        }
    }

    /// Whether messages follow each other as fast as the line takes them.
    pub(super) fn unpaced(&self) -> bool {
        self.gap.is_none() && self.schedule.is_raw()
    }

    /// The next datagram, due now or later; none once the job's time is over.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive times")]
    pub(super) fn datagram(&mut self, now: u64, end: u64) -> Option<Message> {
        if let Some(message) = self.waiting.take() {
            return Some(message);
        }
        let Some(gap) = self.gap else {
            return self.schedule.next(now).filter(|message| message.due.max(now) < end);
        };
        let due = self.due as u64;
        self.due += self.next_gap(gap);
        (due < end).then_some(Message { due, bytes: self.message, frame: 0, position: 0 })
    }

    /// Keeps a datagram that is not due yet.
    pub(super) fn put_back(&mut self, message: Message) {
        self.waiting = Some(message);
    }

    /// Segments of a stream that the peer has by now.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive times")]
    pub(super) fn segments_due(&self, now: u64, end: u64) -> u64 {
        match self.gap {
            None if now < end => self.limit,
            None => 0,
            Some(gap) => {
                let messages = (now.min(end) as f64 / gap).floor() as u64 + 1;
                (messages * self.message / self.segment.max(1)).min(self.limit)
            }
        }
    }

    /// When the peer has more of a stream to send, or stops.
    pub(super) fn next_segment_due(&self, now: u64, end: u64) -> u64 {
        if now >= end {
            return NEVER;
        }
        match self.gap {
            None => end,
            Some(gap) => {
                let step = (gap * (self.segment as f64 / self.message as f64).max(1.0)).max(1.0);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "positive times"
                )]
                let next = now + step as u64;
                next.min(end)
            }
        }
    }

    fn next_gap(&mut self, mean: f64) -> f64 {
        match self.arrivals {
            Arrivals::Constant => mean,
            Arrivals::Poisson => -mean * libm::log(self.positive()),
            Arrivals::ParetoOnOff { shape, burst, peak } => {
                self.pareto_gap(mean, shape, burst.0 as f64, peak)
            }
        }
    }

    /// Within a burst the gap is `mean / peak`; after it a gap that restores the mean rate.
    fn pareto_gap(&mut self, mean: f64, shape: f64, burst: f64, peak: f64) -> f64 {
        let within = mean / peak;
        if self.burst_left >= 1.0 {
            self.burst_left -= 1.0;
            return within;
        }
        self.burst_left = self.pareto(burst, shape) / within;
        within + self.pareto(burst * (peak - 1.0), shape)
    }

    /// A Pareto time of this mean.
    fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        mean * (shape - 1.0) / shape * libm::pow(self.positive(), -1.0 / shape)
    }

    /// A random number above 0 and at most 1.
    fn positive(&mut self) -> f64 {
        1.0 - self.chance.random::<f64>()
    }
}
