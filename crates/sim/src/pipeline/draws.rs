//! Times drawn in order: one counter-based stream a source, so that no engine's order of work
//! changes any draw.

use bitpath_measure::Picos;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Distribution, Exception, Stage};

/// What draws times: the arrivals of a pipeline, or one of its stages.
#[derive(Clone, Debug)]
pub(super) struct Source {
    mean: u64,
    distribution: Distribution,
    exception: Option<Exception>,
    /// Its stream of the generator, so that no two sources draw the same numbers.
    stream: u64,
}

/// An endless sequence of times of one source.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    source: Source,
    /// Draws until the next exception.
    until_exception: u64,
    random: Option<ChaCha8Rng>,
}

/// The same sequence of a random source in a sixth of the memory: a few random times drawn ahead, and how many
/// there were before, from which the generator is made again when they are used up.
#[derive(Clone, Debug, Default)]
pub(super) struct DrawsAhead {
    drawn: u64,
    /// The last of them that were made; the first unused one is at `drawn` modulo their number.
    times: [u64; AHEAD],
}

impl Source {
    /// The times between arrivals.
    pub(super) fn of_arrivals(interval: Picos, distribution: Distribution) -> Self {
        Self { mean: interval.0, distribution, exception: None, stream: 0 }
    }

    /// The service times of stage `index`.
    pub(super) fn of_stage(stage: &Stage, index: usize) -> Self {
        Self {
            mean: stage.service.0,
            distribution: stage.distribution,
            exception: stage.exception,
            stream: index as u64 + 1,
        }
    }

    /// Draws from one exception to the next; without any, more than ever happen.
    pub(super) fn exception_every(&self) -> u64 {
        self.exception.map_or(u64::MAX, |exception| exception.every)
    }

    /// Time that the exception takes [ps].
    pub(super) fn exception_time(&self) -> u64 {
        self.exception.map_or(self.mean, |exception| exception.service.0)
    }

    /// The time that every draw gives that is not the exception [ps]; none if it is random.
    pub(super) fn constant(&self) -> Option<u64> {
        (self.distribution == Distribution::Constant).then_some(self.mean)
    }

    fn random(&self, seed: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(self.stream);
        random
    }
}

impl Draws {
    /// The sequence from its begin.
    pub(super) fn new(source: Source, seed: u64) -> Self {
        let random = source.constant().is_none().then(|| source.random(seed));
        Self { until_exception: source.exception_every(), random, source }
    }

    /// The next time [ps].
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.until_exception -= 1;
        if self.until_exception == 0 {
            return self.take_exception();
        }
        match &mut self.random {
            None => self.source.mean,
            Some(random) => exponential(random, self.source.mean),
        }
    }

    /// Appends the next `count` times [ps].
    pub(super) fn append_to(&mut self, times: &mut Vec<u64>, count: usize) {
        if self.random.is_some() {
            return times.extend((0..count).map(|_| self.next()));
        }
        let mut left = count;
        while left > 0 {
            let usual = left.min(usize::try_from(self.until_exception - 1).unwrap_or(left));
            times.resize(times.len() + usual, self.source.mean);
            self.until_exception -= usual as u64;
            left -= usual;
            if left > 0 {
                times.push(self.next());
                left -= 1;
            }
        }
    }

    #[cold]
    fn take_exception(&mut self) -> u64 {
        self.until_exception = self.source.exception_every();
        self.source.exception_time()
    }
}

impl DrawsAhead {
    /// The next random time of this source under this seed [ps].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of six")]
    pub(super) fn next(&mut self, source: &Source, seed: u64) -> u64 {
        let index = (self.drawn % AHEAD as u64) as usize;
        if index == 0 {
            self.draw(source, seed);
        }
        self.drawn += 1;
        self.times[index]
    }

    // Inlined, the making of the generator is moved to where no random time is needed.
    #[cold]
    #[inline(never)]
    fn draw(&mut self, source: &Source, seed: u64) {
        let mut random = source.random(seed);
        random.set_word_pos(u128::from(self.drawn) * WORDS_A_DRAW);
        self.times.fill_with(|| exponential(&mut random, source.mean));
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

/// Random times made at once: fewer make the generator too often, and with more a host of four
/// random sources takes over 500 bytes.
const AHEAD: usize = 6;

/// 32-bit words of the generator that one uniform number takes.
const WORDS_A_DRAW: u128 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn source(mean: u64, distribution: Distribution, exception: Option<Exception>) -> Source {
        Source { mean, distribution, exception, stream: 1 }
    }

    #[test]
    fn every_third_draw_is_the_exception() {
        let exception = Some(Exception { every: 3, service: Picos(9) });
        let draws = Draws::new(source(1, Distribution::Constant, exception), 0);
        let (mut one_by_one, mut by_blocks, mut drawn) = (draws.clone(), draws, Vec::new());
        assert_eq!([(); 7].map(|()| one_by_one.next()), [1, 1, 9, 1, 1, 9, 1]);
        for count in [0, 1, 4, 2] {
            by_blocks.append_to(&mut drawn, count);
        }
        assert_eq!(drawn, [1, 1, 9, 1, 1, 9, 1]);
    }

    #[test]
    fn times_drawn_ahead_are_the_same() {
        let source = source(1_000_000, Distribution::Exponential, None);
        let (mut draws, mut ahead) = (Draws::new(source.clone(), 5), DrawsAhead::default());
        assert!((0..1000).all(|_| draws.next() == ahead.next(&source, 5)));
    }

    #[test]
    fn exponential_times_have_their_mean_and_their_deviation() {
        let mut draws = Draws::new(source(1_000_000, Distribution::Exponential, None), 5);
        let times: Vec<f64> = (0..200_000).map(|_| draws.next() as f64 / 1e6).collect();
        let mean = times.iter().sum::<f64>() / 2e5;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 2e5;
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
