//! What a network does to a stream of packets besides carrying it: packets overtake each other, get lost, come
//! twice, and come all at once after a pause.
//!
//! ```text
//! sent [ps] ──► lost? ──► + delay + jitter ──► held up by a stall ──► in order of arrival [ps]
//!                  └► sent twice: the copy has a jitter of its own
//! ```
//!
//! A packet is overtaken by the next when its jitter is longer by more than the time between the two.

use bitpath_measure::Picos;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What happens to the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// Time that every packet is under way [ps].
    pub delay: Picos,
    /// The longest that one is under way beyond that; any time up to it is as likely [ps].
    pub jitter: Picos,
    /// Losses.
    pub loss: Option<Loss>,
    /// Part of the packets that come twice, 0 to 1 [ratio].
    pub duplicated: f64,
    /// Pauses.
    pub stall: Option<Stall>,
}

/// Losses that come in bursts (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960): good packets, then bad
/// ones, each lasting a geometric number of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Part of the packets that are lost [ratio], below 1.
    pub part: f64,
    /// Mean length of a burst [packets], 1 at least.
    pub mean_burst: f64,
}

/// At the end of every such time nothing comes for a while; then everything that was held up comes at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// From the end of a pause to that of the next [ps].
    pub every: Picos,
    /// Length of a pause [ps].
    pub length: Picos,
}

/// A packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its place among those sent, from 0.
    pub packet: usize,
    /// When it arrives [ps].
    pub at: Picos,
}

impl Impairment {
    /// The packets sent at these times, in the order of their arrival.
    #[must_use]
    pub fn deliver(&self, sent: &[Picos], seed: u64) -> Vec<Delivery> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut burst = false;
        let mut deliveries = Vec::with_capacity(sent.len());
        for (packet, sent) in sent.iter().enumerate() {
            burst = self.loss.is_some_and(|loss| loss.goes_on(burst, random.random()));
            if burst {
                continue;
            }
            let copies = 1 + usize::from(random.random_bool(self.duplicated));
            for _ in 0..copies {
                let jitter = random.random_range(0..=self.jitter.0);
                let at = self.held_up(Picos(sent.0 + self.delay.0 + jitter));
                deliveries.push(Delivery { packet, at });
            }
        }
        deliveries.sort_by_key(|delivery| delivery.at);
        deliveries
    }

    /// When a packet comes that would come at this time were there no pauses.
    fn held_up(&self, at: Picos) -> Picos {
        let Some(Stall { every, length }) = self.stall else { return at };
        let left = every.0 - at.0 % every.0.max(1);
        if left <= length.0 { Picos(at.0 + left) } else { at }
    }
}

impl Loss {
    /// Whether the next packet is lost; `chance` is even between 0 and 1.
    fn goes_on(self, burst: bool, chance: f64) -> bool {
        let ends = 1.0 / self.mean_burst.max(1.0);
        let begins = ends * self.part / (1.0 - self.part);
        chance < if burst { 1.0 - ends } else { begins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: u64 = 20_000_000_000;

    /// Packets 20 ms apart, delivered.
    fn delivered(impairment: Impairment) -> Vec<Delivery> {
        let sent: Vec<Picos> = (0..20_000).map(|packet| Picos(packet * INTERVAL)).collect();
        impairment.deliver(&sent, 2004)
    }

    #[test]
    fn nothing_changes_on_a_perfect_link() {
        let found = delivered(Impairment { delay: Picos(7), ..Impairment::default() });
        assert_eq!(found.len(), 20_000);
        for (packet, delivery) in found.into_iter().enumerate() {
            let at = Picos(packet as u64 * INTERVAL + 7);
            assert_eq!(delivery, Delivery { packet, at });
        }
    }

    #[test]
    fn packets_overtake_each_other_as_far_as_the_jitter_reaches() {
        for intervals in [1, 3, 30] {
            let jitter = Picos(intervals * INTERVAL);
            let found = delivered(Impairment { jitter, ..Impairment::default() });
            let behind = |place: usize| {
                let highest = found[..=place].iter().map(|delivery| delivery.packet).max();
                highest.unwrap_or(0) - found[place].packet
            };
            let furthest = (0..2000).map(behind).max().unwrap_or(0) as u64;
            assert!(
                furthest < intervals + 1 && furthest >= intervals.saturating_sub(2),
                "{furthest}"
            );
            assert_eq!(found.len(), 20_000);
        }
    }

    #[test]
    fn losses_have_their_part_and_their_bursts_their_length() {
        for (part, mean_burst) in [(0.02, 1.0), (0.05, 4.0), (0.2, 10.0)] {
            let loss = Some(Loss { part, mean_burst });
            let found = delivered(Impairment { loss, ..Impairment::default() });
            let lost = (20_000 - found.len()) as f64;
            let bursts =
                found.windows(2).filter(|pair| pair[1].packet > pair[0].packet + 1).count() as f64;
            assert!((lost / 20_000.0 / part - 1.0).abs() < 0.2, "{lost} lost");
            assert!(
                (lost / bursts / mean_burst - 1.0).abs() < 0.2,
                "{bursts} bursts of {lost} packets"
            );
        }
    }

    #[test]
    fn copies_come_as_often_as_told() {
        let found = delivered(Impairment { duplicated: 0.03, ..Impairment::default() });
        assert!((found.len() as f64 - 20_600.0).abs() < 100.0, "{} packets", found.len());
    }

    #[test]
    fn what_a_pause_holds_up_comes_at_its_end() {
        let stall = Stall { every: Picos(100 * INTERVAL), length: Picos(10 * INTERVAL) };
        let found = delivered(Impairment { stall: Some(stall), ..Impairment::default() });
        assert_eq!(found[89].at, Picos(89 * INTERVAL));
        let at_once = found.iter().filter(|delivery| delivery.at == Picos(100 * INTERVAL)).count();
        assert_eq!(at_once, 11);
        assert!(found.windows(2).all(|pair| pair[0].packet < pair[1].packet));
    }

    #[test]
    fn the_seed_alone_decides() {
        let impairment = Impairment { jitter: Picos(INTERVAL), ..Impairment::default() };
        let sent: Vec<Picos> = (0..100).map(|packet| Picos(packet * INTERVAL)).collect();
        assert_eq!(impairment.deliver(&sent, 1), impairment.deliver(&sent, 1));
        assert_ne!(impairment.deliver(&sent, 1), impairment.deliver(&sent, 2));
    }
}
