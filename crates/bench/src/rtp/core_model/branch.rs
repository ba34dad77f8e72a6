//! What a core expects of a branch, and whether it came so.
//!
//! ```text
//! address (+ history) ──► two-bit counter ──► direction ──┐
//! address ──► buffer of targets, stack of returns ────────┴──► address that is fetched next
//! ```
//!
//! Counters and targets learn from every branch at once, although a core would learn when the
//! branch commits: the trace has no wrong path on which it could matter.

use super::super::decode::{Flow, Operation};
use super::settings::BranchSettings;

/// How well branches were foreseen, counted as sim-outorder does: of all branches, conditional or
/// not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchCount {
    /// All of them.
    pub branches: u64,
    /// Those that left the straight line, or stayed on it, as expected.
    pub directions_right: u64,
    /// Those after which the right address was fetched.
    pub addresses_right: u64,
}

impl BranchCount {
    /// What came behind an earlier count.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            branches: self.branches - earlier.branches,
            directions_right: self.directions_right - earlier.directions_right,
            addresses_right: self.addresses_right - earlier.addresses_right,
        }
    }

    /// Rate of right directions \[percent\].
    #[must_use]
    pub fn direction_percent(&self) -> f64 {
        super::super::mix::percent(self.directions_right, self.branches)
    }

    /// Rate of right addresses \[percent\].
    #[must_use]
    pub fn address_percent(&self) -> f64 {
        super::super::mix::percent(self.addresses_right, self.branches)
    }
}

/// What becomes of the fetch behind a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The right address was fetched.
    Right,
    /// The right direction, but a target that only the decoder read from the code.
    KnownWhenDecoded,
    /// Wrong until the branch was computed.
    Wrong,
}

/// Foresees branches and learns.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    counters: Vec<u8>,
    history: u64,
    history_mask: u64,
    targets: Vec<Target>,
    target_ways: usize,
    returns: Vec<u64>,
    /// Place of the last return address that was put there.
    top: usize,
    clock: u64,
    pub(super) count: BranchCount,
}

#[derive(Clone, Copy, Debug, Default)]
struct Target {
    branch: Option<u64>,
    target: u64,
    used: u64,
}

impl Predictor {
    pub(super) fn new(settings: &BranchSettings) -> Self {
        Self {
            counters: vec![TAKEN_FROM - 1; settings.counters],
            history: 0,
            history_mask: (1 << settings.history_bits) - 1,
            targets: vec![Target::default(); settings.target_sets * settings.target_ways],
            target_ways: settings.target_ways,
            returns: vec![0; settings.return_stack],
            top: 0,
            clock: 0,
            count: BranchCount::default(),
        }
    }

    /// Foresees a branch, sees where it went, and learns.
    pub(super) fn branch(&mut self, operation: &Operation, next_address: u64) -> Verdict {
        let taken = takes(operation, next_address);
        let expects_taken = self.direction(operation);
        let target = self.target(operation);
        let straight = operation.next_address();
        let expected = target.filter(|_| expects_taken).unwrap_or(straight);
        self.learn(operation, taken, next_address);
        let direction_right = expects_taken == taken;
        self.count.branches += 1;
        self.count.directions_right += u64::from(direction_right);
        self.count.addresses_right += u64::from(direction_right && expected == next_address);
        if !direction_right {
            Verdict::Wrong
        } else if expected == next_address {
            Verdict::Right
        } else if operation.flow.target() == Some(next_address) {
            Verdict::KnownWhenDecoded
        } else {
            Verdict::Wrong
        }
    }

    fn direction(&self, operation: &Operation) -> bool {
        match operation.flow {
            Flow::Conditional { .. } => self.counters[self.counter(operation)] >= TAKEN_FROM,
            _ => true,
        }
    }

    fn counter(&self, operation: &Operation) -> usize {
        low_bits(operation.address ^ (self.history & self.history_mask), self.counters.len())
    }

    /// The target that is expected if the branch is taken; takes it from the stack for a return.
    fn target(&mut self, operation: &Operation) -> Option<u64> {
        if operation.flow == Flow::Return {
            let target = self.returns[self.top];
            self.top = self.top.checked_sub(1).unwrap_or(self.returns.len() - 1);
            return Some(target);
        }
        let of_this = |entry: &&Target| entry.branch == Some(operation.address);
        self.target_set(operation).iter().find(of_this).map(|entry| entry.target)
    }

    fn target_set(&self, operation: &Operation) -> &[Target] {
        let sets = self.targets.len() / self.target_ways;
        let first = low_bits(operation.address, sets) * self.target_ways;
        &self.targets[first..first + self.target_ways]
    }

    fn learn(&mut self, operation: &Operation, taken: bool, next_address: u64) {
        if matches!(operation.flow, Flow::Conditional { .. }) {
            let place = self.counter(operation);
            let counter = self.counters[place];
            self.counters[place] =
                if taken { (counter + 1).min(COUNTER_MAX) } else { counter.saturating_sub(1) };
            self.history = self.history << 1 | u64::from(taken);
        }
        if operation.flow.is_call() {
            self.top = (self.top + 1) % self.returns.len();
            self.returns[self.top] = operation.next_address();
        }
        if taken && operation.flow != Flow::Return {
            self.learn_target(operation, next_address);
        }
    }

    /// Remembers a target in the place of the one unused for longest.
    fn learn_target(&mut self, operation: &Operation, target: u64) {
        self.clock += 1;
        let sets = self.targets.len() / self.target_ways;
        let first = low_bits(operation.address, sets) * self.target_ways;
        let set = &mut self.targets[first..first + self.target_ways];
        let branch = Some(operation.address);
        let place = set.iter().position(|entry| entry.branch == branch);
        let oldest = (0..set.len()).min_by_key(|&place| set[place].used);
        if let Some(place) = place.or(oldest) {
            set[place] = Target { branch, target, used: self.clock };
        }
    }
}

/// Whether a branch left the straight line.
pub(super) fn takes(operation: &Operation, next_address: u64) -> bool {
    match operation.flow {
        Flow::Next => false,
        Flow::Conditional { target } => target == next_address,
        _ => true,
    }
}

/// Code is not aligned on x86, so every bit of the address tells branches apart.
fn low_bits(address: u64, entries: usize) -> usize {
    #[allow(clippy::cast_possible_truncation, reason = "the mask keeps it below a usize")]
    let place = (address & (entries as u64 - 1)) as usize;
    place
}

/// Counters go from 0 to 3.
const COUNTER_MAX: u8 = 3;

/// From this count on a branch is expected to be taken. Counters begin just below.
const TAKEN_FROM: u8 = 2;

#[cfg(test)]
mod tests {
    use super::super::settings::CoreSettings;
    use super::*;

    fn paper() -> Predictor {
        Predictor::new(&CoreSettings::simplescalar().branches)
    }

    fn directions(predictor: &mut Predictor, taken: impl Iterator<Item = bool>) -> u64 {
        let conditional = Operation::going(0x1000, Flow::Conditional { target: 0x2000 });
        for taken in taken {
            predictor.branch(&conditional, if taken { 0x2000 } else { 0x1004 });
        }
        predictor.count.directions_right
    }

    #[test]
    fn always_taken_is_wrong_once() {
        assert_eq!(directions(&mut paper(), (0..100).map(|_| true)), 99);
    }

    #[test]
    fn never_taken_is_always_right() {
        assert_eq!(directions(&mut paper(), (0..100).map(|_| false)), 100);
    }

    #[test]
    fn alternating_from_just_below_is_always_wrong_and_from_the_other_side_half_right() {
        // The counter swings between 1 and 2, or between 0 and 1.
        assert_eq!(directions(&mut paper(), (0..100).map(|turn| turn % 2 == 0)), 0);
        assert_eq!(directions(&mut paper(), (0..100).map(|turn| turn % 2 == 1)), 50);
    }

    #[test]
    fn history_learns_what_alternates() {
        let mut modern = Predictor::new(&CoreSettings::modern().branches);
        assert!(directions(&mut modern, (0..1000).map(|turn| turn % 2 == 0)) > 950);
    }

    #[test]
    fn a_direct_jump_is_known_when_decoded_at_first_and_then_right() {
        let mut predictor = paper();
        let jump = Operation::going(0x1000, Flow::Jump { target: 0x2000 });
        assert_eq!(predictor.branch(&jump, 0x2000), Verdict::KnownWhenDecoded);
        assert_eq!(predictor.branch(&jump, 0x2000), Verdict::Right);
        let count = predictor.count;
        assert_eq!((count.directions_right, count.addresses_right), (2, 1));
    }

    #[test]
    fn an_indirect_jump_is_expected_where_it_went_last() {
        let mut predictor = paper();
        let jump = Operation::going(0x1000, Flow::IndirectJump);
        let verdicts = [0x2000, 0x2000, 0x3000].map(|target| predictor.branch(&jump, target));
        assert_eq!(verdicts, [Verdict::Wrong, Verdict::Right, Verdict::Wrong]);
    }

    #[test]
    fn more_targets_than_ways_are_forgotten() {
        let mut predictor = paper();
        let jump =
            |index: u64| Operation::going(0x1000 + 512 * index, Flow::Jump { target: 0x20_0000 });
        (0..20).for_each(|turn| {
            predictor.branch(&jump(turn % 5), 0x20_0000);
        });
        assert_eq!(predictor.count.addresses_right, 0);
    }

    #[test]
    fn the_stack_of_returns_holds_eight() {
        let wrong = |depth: u64| {
            let mut predictor = paper();
            for level in 0..depth {
                let call =
                    Operation::going(0x1000 * level, Flow::Call { target: 0x1000 * (level + 1) });
                predictor.branch(&call, 0x1000 * (level + 1));
            }
            let returns = (0..depth).rev().map(|level| {
                let back = Operation::going(0x1000 * (level + 1) + 0x80, Flow::Return);
                predictor.branch(&back, 0x1000 * level + 4)
            });
            returns.filter(|&verdict| verdict == Verdict::Wrong).count()
        };
        assert_eq!([1, 8, 9, 12].map(wrong), [0, 0, 1, 4]);
    }
}
