//! The event engine for a chain of stages: one pending event a stage in an array.
//!
//! With a handful of components a scan of their next times is cheaper than any queue. Events at
//! the same instant are taken from the last stage to the first and arrivals last, so that a slot
//! freed at that instant is free for whoever arrives.

use bitpath_measure::Picos;

use super::arrivals::Gaps;
use super::draws::{Draws, Source};
use super::{MAX_STAGES, Outcome, Pipeline, WhenFull};

/// No event pending.
const NEVER: u64 = u64::MAX;

/// Runs the pipeline to its end. `seed` moves only exponential times.
#[must_use]
pub fn run(pipeline: &Pipeline, seed: u64) -> Outcome {
    let mut engine = Engine::new(pipeline, seed);
    while let Some((component, now)) = engine.next_event() {
        if component == engine.stages.len() {
            engine.arrive(now);
        } else {
            engine.complete(component, now);
        }
    }
    engine.outcome
}

struct Engine {
    /// Next completion of each stage, then the next arrival, then `NEVER` to the end.
    next: [u64; MAX_STAGES + 1],
    stages: Vec<State>,
    gaps: Gaps,
    packets_left: u64,
    outcome: Outcome,
}

struct State {
    slots: usize,
    /// Packets held, the one in service or blocked included.
    held: usize,
    /// The server has finished a packet that the next stage has no slot for.
    blocked: bool,
    when_full: WhenFull,
    draws: Draws,
}

impl Engine {
    fn new(pipeline: &Pipeline, seed: u64) -> Self {
        let state = |(index, stage): (usize, &super::Stage)| State {
            slots: stage.slots,
            held: 0,
            blocked: false,
            when_full: stage.when_full,
            draws: Draws::new(Source::of_stage(stage, index), seed),
        };
        let stages: Vec<State> = pipeline.stages.iter().enumerate().map(state).collect();
        let mut next = [NEVER; MAX_STAGES + 1];
        next[stages.len()] = 0;
        Self {
            next,
            gaps: Gaps::new(&pipeline.arrivals, seed),
            packets_left: pipeline.packets,
            outcome: Outcome {
                delivered: 0,
                drops: vec![0; stages.len()],
                finished: Picos(0),
                departure_sum: 0,
            },
            stages,
        }
    }

    /// The earliest event: of those at one instant the one furthest down the path.
    #[inline]
    fn next_event(&self) -> Option<(usize, u64)> {
        let arrival = self.stages.len();
        let mut earliest = (arrival, self.next[arrival]);
        for stage in (0..arrival).rev() {
            let time = self.next[stage];
            // Against the arrival `<=` wins the tie; against a later stage `<` leaves it.
            let wins = if earliest.0 == arrival { time <= earliest.1 } else { time < earliest.1 };
            if wins {
                earliest = (stage, time);
            }
        }
        (earliest.1 != NEVER).then_some(earliest)
    }

    fn arrive(&mut self, now: u64) {
        self.packets_left -= 1;
        let arrival = self.stages.len();
        self.next[arrival] = if self.packets_left == 0 { NEVER } else { now + self.gaps.next() };
        self.enter(0, now);
    }

    /// Offers a packet to a stage that drops or has a free slot.
    fn enter(&mut self, stage: usize, now: u64) {
        let state = &mut self.stages[stage];
        if state.held == state.slots {
            self.outcome.drops[stage] += 1;
            return;
        }
        state.held += 1;
        if state.held == 1 {
            self.next[stage] = now + state.draws.next();
        }
    }

    fn complete(&mut self, stage: usize, now: u64) {
        let next_blocks = self
            .stages
            .get(stage + 1)
            .is_some_and(|next| next.when_full == WhenFull::Block && next.held == next.slots);
        if next_blocks {
            self.stages[stage].blocked = true;
            self.next[stage] = NEVER;
        } else {
            self.leave(stage, now);
        }
    }

    /// Moves the finished packet on, serves the next one, and frees whoever waited for the slot.
    fn leave(&mut self, stage: usize, now: u64) {
        let state = &mut self.stages[stage];
        state.held -= 1;
        state.blocked = false;
        self.next[stage] = if state.held > 0 { now + state.draws.next() } else { NEVER };
        if stage + 1 == self.stages.len() {
            self.outcome.delivered += 1;
            self.outcome.departure_sum = self.outcome.departure_sum.wrapping_add(now);
            self.outcome.finished = Picos(now);
        } else {
            self.enter(stage + 1, now);
        }
        if stage > 0 && self.stages[stage - 1].blocked {
            self.leave(stage - 1, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{exact, tests::any_pipeline};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn both_engines_agree_packet_for_packet(pipeline in any_pipeline(), seed: u64) {
            prop_assert_eq!(run(&pipeline, seed), exact::run(&pipeline, seed));
        }

        #[test]
        fn every_packet_is_delivered_or_dropped(pipeline in any_pipeline()) {
            let outcome = run(&pipeline, 1);
            prop_assert_eq!(outcome.delivered + outcome.drops.iter().sum::<u64>(), pipeline.packets);
        }
    }
}
