//! Whether two alternatives differ, decided while the pairs come in.
//!
//! Who looks at an interval again and again until it excludes 1 will see it do so in the end, also
//! where nothing differs. So there are a few looks at planned times, and each may spend a part of
//! one small chance of a false alarm, and of one chance to miss a difference: alpha(t) = alpha t^2 by
//! the share t of the budget (Kim and DeMets 1987). The chance of a false alarm is shared among the
//! alternatives (Bonferroni).
//!
//! ```text
//!                                  1/8, 1/4, 1/2, 3/4, 1 of the budget
//! paired ratios ─► planned look ─┬─ interval that may miss  ── inside the margin: same
//!                                ├─ interval that may alarm ── beside 1: above or below
//!                                └─ neither: open
//! ```

use super::{Estimate, signed_rank_interval};

/// Shares of the budget at which there is a look.
pub const LOOKS: [f64; 5] = [0.125, 0.25, 0.5, 0.75, 1.0];

/// Chance that any of equal alternatives is found to differ, over all looks: of twenty comparisons
/// of equals then nineteen agree but for one time in sixty.
pub const FALSE_ALARMS: f64 = 0.01;

/// Chance that a difference as large as the margin is taken for none, over all looks.
pub const MISSES: f64 = 0.05;

/// Pairs below which nothing is decided: the approximation of the signed-rank statistic is a poor
/// one, and neighbours of a slow spell could be half of them.
const FEWEST_PAIRS: usize = 12;

/// What is known of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It is above 1.
    Above,
    /// It is below 1.
    Below,
    /// It is within the margin around 1.
    Same,
    /// More pairs are needed.
    Open,
}

impl Finding {
    /// What an interval that seldom alarms says about its ratio.
    fn beside_one(interval: &Estimate) -> Self {
        if interval.low > 1.0 {
            Self::Above
        } else if interval.high < 1.0 {
            Self::Below
        } else {
            Self::Open
        }
    }
}

/// Largest difference that an interval of ratios leaves open, whichever is the larger one [ratio]:
/// 0.05 for 0.99 to 1.05, and for 0.95 (1 / 1.05) to 1.01.
#[must_use]
pub fn largest_difference(interval: &Estimate) -> f64 {
    interval.high.max(1.0 / interval.low) - 1.0
}

/// The comparison of one alternative with the first one.
#[derive(Clone, Debug)]
pub struct Decision {
    margin: f64,
    /// Alternatives that share the chance of a false alarm.
    alternatives: usize,
    /// Looks that are over.
    looks: usize,
    latest: Option<Estimate>,
    finding: Finding,
}

impl Decision {
    /// A comparison that is one of so many, all with the first alternative. The margin [ratio] is the
    /// smallest difference that matters: 0.05 takes 0.95 (1 / 1.05) to 1.05 for the same.
    #[must_use]
    pub fn new(margin: f64, alternatives: usize) -> Self {
        let alternatives = alternatives.max(1);
        Self { margin, alternatives, looks: 0, latest: None, finding: Finding::Open }
    }

    /// Looks at the paired ratios if a look is due at this share of the budget and nothing was
    /// decided before.
    pub fn look(&mut self, budget_share: f64, ratios: &[f64]) -> Finding {
        let due = LOOKS.iter().take_while(|look| **look <= budget_share).count();
        if self.finding != Finding::Open || due <= self.looks || ratios.len() < FEWEST_PAIRS {
            return self.finding;
        }
        // What the looks that were missed might have spent is spent by this one.
        let spent = |looks: usize| looks.checked_sub(1).map_or(0.0, |last| LOOKS[last].powi(2));
        let part = spent(due) - spent(self.looks);
        self.looks = due;
        let alarms = FALSE_ALARMS / self.alternatives as f64 * part;
        // A difference lies on one side: half of what is outside this interval is the other.
        let near = signed_rank_interval(ratios, 1.0 - 2.0 * MISSES * part);
        let near = near.filter(|near| largest_difference(near) <= self.margin);
        self.finding = Finding::Same;
        self.latest = near.or_else(|| {
            let wide = signed_rank_interval(ratios, 1.0 - alarms);
            self.finding = wide.as_ref().map_or(Finding::Open, Finding::beside_one);
            wide
        });
        self.finding
    }

    /// What was found so far.
    #[must_use]
    pub fn finding(&self) -> Finding {
        self.finding
    }

    /// The interval that the last look rests on; `None` before the first.
    #[must_use]
    pub fn interval(&self) -> Option<Estimate> {
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Method;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A machine as docs/measuring.md knows it: readings with a coefficient of variation of 25 %
    /// whose neighbours correlate by 0.78, on top of a speed that drifts by a third and back.
    struct Machine {
        random: ChaCha8Rng,
        deviation: f64,
        readings: f64,
    }

    const CORRELATION: f64 = 0.78;
    const VARIATION: f64 = 0.25;

    impl Machine {
        fn new(seed: u64) -> Self {
            Self { random: ChaCha8Rng::seed_from_u64(seed), deviation: 0.0, readings: 0.0 }
        }

        /// A nearly normal number of variance 1: the sum of three uniform ones.
        fn normal(&mut self) -> f64 {
            2.0 * ((0..3).map(|_| self.random.random::<f64>()).sum::<f64>() - 1.5)
        }

        fn reading(&mut self, factor: f64) -> f64 {
            let fresh = VARIATION * (1.0 - CORRELATION * CORRELATION).sqrt() * self.normal();
            self.deviation = CORRELATION * self.deviation + fresh;
            self.readings += 1.0;
            let drift = 0.15 * (self.readings / 300.0).sin();
            factor * (self.deviation + drift).exp()
        }

        /// Readings of all alternatives, in random order.
        fn block(&mut self, factors: &[f64]) -> Vec<f64> {
            let mut order: Vec<usize> = (0..factors.len()).collect();
            order.shuffle(&mut self.random);
            let mut block = vec![0.0; factors.len()];
            for place in order {
                block[place] = self.reading(factors[place]);
            }
            block
        }
    }

    /// Blocks that a budget of a minute has room for, with two values.
    const BLOCKS: usize = 500;

    /// The findings of one comparison of all alternatives with the first.
    fn compared(seed: u64, factors: &[f64]) -> Vec<Finding> {
        let mut machine = Machine::new(seed);
        let mut ratios = vec![Vec::new(); factors.len() - 1];
        let mut decisions = vec![Decision::new(0.05, ratios.len()); ratios.len()];
        let blocks = BLOCKS * 2 / factors.len();
        for count in 1..=blocks {
            let block = machine.block(factors);
            for (place, ratios) in ratios.iter_mut().enumerate() {
                ratios.push(block[place + 1] / block[0]);
                decisions[place].look(count as f64 / blocks as f64, ratios);
            }
        }
        decisions.iter().map(Decision::finding).collect()
    }

    /// The findings of many comparisons, each on a machine of its own.
    fn many(runs: u64, factors: &[f64]) -> Vec<Vec<Finding>> {
        (0..runs).map(|seed| compared(seed, factors)).collect()
    }

    fn share(found: &[Vec<Finding>], holds: impl Fn(&Finding) -> bool) -> f64 {
        found.iter().filter(|found| found.iter().any(&holds)).count() as f64 / found.len() as f64
    }

    fn is_alarm(found: &Finding) -> bool {
        matches!(found, Finding::Above | Finding::Below)
    }

    #[test]
    fn equal_values_are_found_to_be_the_same_on_a_noisy_machine() {
        let found = many(300, &[1.0, 1.0]);
        let (alarms, same) = (share(&found, is_alarm), share(&found, |one| *one == Finding::Same));
        assert!(alarms <= 0.02 && same >= 0.97, "false alarms {alarms}, same {same}");
    }

    #[test]
    fn several_equal_values_share_the_chance_of_a_false_alarm() {
        let alarms = share(&many(100, &[1.0; 5]), is_alarm);
        assert!(alarms <= 0.03, "{alarms}");
    }

    #[test]
    fn a_difference_of_ten_per_cent_is_found_in_its_direction() {
        for (factor, expected) in [(1.1, Finding::Above), (0.9, Finding::Below)] {
            let found = share(&many(50, &[1.0, factor]), |one| *one == expected);
            assert!(found >= 0.95, "{factor}: {found}");
        }
    }

    #[test]
    fn there_are_no_looks_but_the_planned_ones() {
        let (mut decision, calm) = (Decision::new(0.05, 1), [1.3; 40]);
        assert_eq!(decision.look(0.1, &calm), Finding::Open);
        assert!(decision.interval().is_none());
        assert_eq!(decision.look(0.2, &calm[..8]), Finding::Open);
        assert_eq!(decision.look(0.2, &calm), Finding::Above);
        let decided = decision.interval().unwrap();
        assert_eq!((decided.method, decided.samples), (Method::SignedRank, 40));
        // It is decided: what comes later does not count.
        assert_eq!(decision.look(1.0, &[1.0; 40]), Finding::Above);
    }

    #[test]
    fn every_look_spends_its_part_and_no_more() {
        let mut decision = Decision::new(0.0, 2);
        let pair = |i: u32| {
            (f64::from(30 + i) / 100.0 * if i.is_multiple_of(2) { 1.0 } else { -1.0 }).exp()
        };
        let pairs: Vec<f64> = (0..60).map(pair).collect();
        let mut alarms = 0.0;
        for look in LOOKS {
            assert_eq!(decision.look(look, &pairs), Finding::Open);
            alarms += 1.0 - decision.interval().unwrap().confidence;
        }
        assert!((alarms - FALSE_ALARMS / 2.0).abs() < 1e-12, "{alarms}");
    }

    #[test]
    fn a_difference_as_large_as_the_margin_is_seldom_missed() {
        let missed = share(&many(100, &[1.0, 1.05]), |one| *one == Finding::Same);
        assert!(missed <= 0.08, "{missed}");
    }

    #[test]
    fn a_small_certain_difference_is_the_same() {
        let mut decision = Decision::new(0.05, 1);
        let pairs: Vec<f64> = (0..60).map(|pair| 1.02 + f64::from(pair % 3) / 100.0).collect();
        assert_eq!(decision.look(1.0, &pairs), Finding::Same);
        assert!(decision.interval().unwrap().low > 1.0);
    }

    #[test]
    fn a_difference_is_as_large_downwards_as_upwards() {
        for (low, high, most) in [(0.99, 1.06, 0.06), (1.0 / 1.06, 1.01, 0.06), (1.02, 1.03, 0.03)]
        {
            let interval = Estimate { low, high, ..Estimate::single(1.0) };
            assert!((largest_difference(&interval) - most).abs() < 1e-12, "{low} to {high}");
        }
    }
}
