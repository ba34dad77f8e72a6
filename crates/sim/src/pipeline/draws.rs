//! Times drawn in order: one counter-based stream a source, so that no engine's order of work
//! changes any draw.

use bitpath_measure::Picos;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Arrivals, Distribution, Exception, Stage};

/// An endless sequence of times of one source.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    mean: u64,
    exception: Option<Exception>,
    /// Draws until the next exception.
    until_exception: u64,
    random: Option<ChaCha8Rng>,
}

impl Draws {
    /// The times between arrivals.
    pub(super) fn of_arrivals(arrivals: &Arrivals, seed: u64) -> Self {
        Self::new(arrivals.interval, arrivals.distribution, None, seed, 0)
    }

    /// The service times of stage `index`.
    pub(super) fn of_stage(stage: &Stage, index: usize, seed: u64) -> Self {
        Self::new(stage.service, stage.distribution, stage.exception, seed, index as u64 + 1)
    }

    fn new(
        mean: Picos,
        distribution: Distribution,
        exception: Option<Exception>,
        seed: u64,
        stream: u64,
    ) -> Self {
        let random = (distribution == Distribution::Exponential).then(|| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            random
        });
        Self {
            mean: mean.0,
            exception,
            until_exception: exception.map_or(u64::MAX, |e| e.every),
            random,
        }
    }

    /// The next time [ps].
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.until_exception -= 1;
        if self.until_exception == 0 {
            return self.take_exception();
        }
        match &mut self.random {
            None => self.mean,
            Some(random) => exponential(random, self.mean),
        }
    }

    #[cold]
    fn take_exception(&mut self) -> u64 {
        let every = self.exception.map_or(u64::MAX, |exception| exception.every);
        self.until_exception = every;
        self.exception.map_or(self.mean, |exception| exception.service.0)
    }
}

/// An exponential time of this mean [ps]; `libm` gives the same logarithm on every machine.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and below 2^53 means"
)]
fn exponential(random: &mut ChaCha8Rng, mean: u64) -> u64 {
    let uniform: f64 = random.random();
    (-libm::log1p(-uniform) * mean as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_draw_is_the_exception() {
        let exception = Some(Exception { every: 3, service: Picos(9) });
        let mut draws = Draws::new(Picos(1), Distribution::Constant, exception, 0, 0);
        let drawn: Vec<u64> = (0..7).map(|_| draws.next()).collect();
        assert_eq!(drawn, [1, 1, 9, 1, 1, 9, 1]);
    }

    #[test]
    fn exponential_times_have_their_mean_and_their_deviation() {
        let mut draws = Draws::new(Picos(1_000_000), Distribution::Exponential, None, 5, 1);
        let times: Vec<f64> = (0..200_000).map(|_| draws.next() as f64 / 1e6).collect();
        let mean = times.iter().sum::<f64>() / 2e5;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 2e5;
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
