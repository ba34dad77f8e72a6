//! What a program's instructions are, as table II of the paper counts them.

use super::trace::Executed;

/// Executed instructions by what they do. One that loads and stores counts in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionMix {
    /// All of them.
    pub instructions: u64,
    /// Those that read memory.
    pub loads: u64,
    /// Those that write memory.
    pub stores: u64,
    /// Those that may leave the straight line: conditional or not, calls and returns.
    pub branches: u64,
}

impl InstructionMix {
    /// Counts one executed instruction.
    pub fn count(&mut self, executed: &Executed<'_>) {
        self.instructions += 1;
        self.loads += u64::from(executed.accesses.iter().any(|access| !access.store));
        self.stores += u64::from(executed.accesses.iter().any(|access| access.store));
        self.branches += u64::from(executed.operation.flow.is_branch());
    }

    /// What came behind an earlier count.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            instructions: self.instructions - earlier.instructions,
            loads: self.loads - earlier.loads,
            stores: self.stores - earlier.stores,
            branches: self.branches - earlier.branches,
        }
    }

    /// Loads by instructions \[percent\].
    #[must_use]
    pub fn load_percent(&self) -> f64 {
        percent(self.loads, self.instructions)
    }

    /// Stores by instructions \[percent\].
    #[must_use]
    pub fn store_percent(&self) -> f64 {
        percent(self.stores, self.instructions)
    }

    /// Branches by instructions \[percent\].
    #[must_use]
    pub fn branch_percent(&self) -> f64 {
        percent(self.branches, self.instructions)
    }
}

/// A part of a whole \[percent\]; nothing of nothing is 0.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::decode::OperationDecoder;
    use super::super::trace::Access;
    use super::*;

    #[test]
    fn one_that_loads_and_stores_counts_in_both() {
        let operation = OperationDecoder::default().decode(0, &[0x48, 0x01, 0x03]).unwrap();
        let access = |store| Access { address: 64, bytes: 8, store };
        let accesses = [access(false), access(true)];
        let executed = Executed { operation: &operation, accesses: &accesses, next_address: 3 };
        let mut mix = InstructionMix::default();
        mix.count(&executed);
        mix.count(&Executed { accesses: &[], ..executed });
        assert_eq!((mix.instructions, mix.loads, mix.stores, mix.branches), (2, 1, 1, 0));
        assert!((mix.load_percent() - 50.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_shares() {
        assert!(InstructionMix::default().branch_percent().abs() < 1e-9);
    }
}
