//! What a network does to packets on their way: losses alone and in bursts (Gilbert 1960, Elliott
//! 1963), jitter, duplicates, packets that others overtake.
//!
//! Each has a stream of random numbers of its own, so that one more impairment leaves the others as
//! they were.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::setup::Way;

/// What becomes of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) lost: bool,
    pub(super) twice: bool,
    /// Time under way beyond the delay [ps].
    pub(super) jitter: u64,
    /// Whether later packets may arrive before it.
    pub(super) overtaken: bool,
}

/// The chances of one way.
#[derive(Clone, Debug)]
pub(super) struct Impairments {
    loss: ChaCha8Rng,
    bursts: ChaCha8Rng,
    duplicates: ChaCha8Rng,
    overtaking: ChaCha8Rng,
    jitter: ChaCha8Rng,
    in_burst: bool,
}

impl Impairments {
    /// Chances drawn from generators that `stream` makes, one for each number from 0 to 4.
    pub(super) fn new(stream: impl Fn(u64) -> ChaCha8Rng) -> Self {
        Self {
            loss: stream(0),
            bursts: stream(1),
            duplicates: stream(2),
            overtaking: stream(3),
            jitter: stream(4),
            in_burst: false,
        }
    }

    /// What becomes of the next packet.
    #[inline]
    pub(super) fn fate(&mut self, way: &Way) -> Fate {
        if way.is_perfect() { Fate::default() } else { self.draw(way) }
    }

    fn draw(&mut self, way: &Way) -> Fate {
        let happens = |chance: &mut ChaCha8Rng, of: u64| of > 0 && chance.next_u64() < of;
        Fate {
            lost: happens(&mut self.loss, way.loss) | self.lost_in_burst(way),
            twice: happens(&mut self.duplicates, way.duplicated),
            overtaken: happens(&mut self.overtaking, way.overtaken),
            jitter: match way.jitter {
                0 => 0,
                most => below(self.jitter.next_u64(), most),
            },
        }
    }

    fn lost_in_burst(&mut self, way: &Way) -> bool {
        let Some(bursts) = way.bursts else { return false };
        let turns = if self.in_burst { bursts.end } else { bursts.begin };
        let lost = self.in_burst && self.bursts.next_u64() < bursts.loss;
        self.in_burst ^= self.bursts.next_u64() < turns;
        lost
    }
}

/// A random number of 64 bits brought below `most`.
fn below(random: u64, most: u64) -> u64 {
    ((u128::from(random) * u128::from(most)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::setup::Bursts;
    use super::*;

    fn fates(way: &Way, count: usize) -> Vec<Fate> {
        let mut impairments = Impairments::new(|stream| {
            let mut chance = ChaCha8Rng::seed_from_u64(7);
            chance.set_stream(stream);
            chance
        });
        (0..count).map(|_| impairments.fate(way)).collect()
    }

    fn share(fates: &[Fate], of: impl Fn(&Fate) -> bool) -> f64 {
        fates.iter().filter(|fate| of(fate)).count() as f64 / fates.len() as f64
    }

    #[test]
    fn shares_are_what_was_asked_for_and_do_not_disturb_each_other() {
        let quarter = u64::MAX / 4;
        let alone = Way { loss: quarter, ..Way::default() };
        let all = Way { loss: quarter, duplicated: quarter / 2, jitter: 1000, ..Way::default() };
        let (alone, all) = (fates(&alone, 20_000), fates(&all, 20_000));
        assert!(alone.iter().zip(&all).all(|(alone, all)| alone.lost == all.lost));
        assert!((share(&all, |fate| fate.lost) - 0.25).abs() < 0.01);
        assert!((share(&all, |fate| fate.twice) - 0.125).abs() < 0.01);
        let jitter: u64 = all.iter().map(|fate| fate.jitter).sum();
        assert!((jitter as f64 / 20_000.0 - 500.0).abs() < 10.0);
    }

    #[test]
    fn losses_of_a_burst_come_together() {
        // A period of ten packets in each 110, and half of it lost.
        let one = u64::MAX;
        let bursts = Bursts { begin: one / 100, end: one / 10, loss: one / 2 };
        let fates = fates(&Way { bursts: Some(bursts), ..Way::default() }, 200_000);
        let lost = share(&fates, |fate| fate.lost);
        assert!((lost - 0.5 / 11.0).abs() < 0.004, "{lost}");
        let pairs = fates.windows(2).filter(|pair| pair[0].lost && pair[1].lost).count() as f64;
        // After a lost packet the next is lost with 0.9 x 0.5, alone with 0.045.
        let again = pairs / (lost * 200_000.0);
        assert!((again - 0.45).abs() < 0.03, "{again}");
    }
}
