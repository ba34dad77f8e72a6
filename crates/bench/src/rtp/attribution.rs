//! To which function an executed instruction belongs.
//!
//! ```text
//! call of a named function ──► belongs to it, and so does what it calls ──► return: to the caller
//! ```
//!
//! The parts of a whole: an instruction belongs to the innermost named function that was entered
//! and not left, so the memory copy that `encapsulate` calls is part of `encapsulate`. Nothing
//! counts outside of the first named function, which is the whole.

use super::functions::Functions;
use super::trace::Executed;

/// Follows calls and returns.
#[derive(Clone, Debug)]
pub struct Attribution {
    functions: Functions,
    calls: Vec<Call>,
    /// Innermost named function, as the index of its name; `None` outside of the first.
    inside: Option<usize>,
    /// Whether the last instruction left the straight line.
    arrived: bool,
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
struct Call {
    returns_to: u64,
    /// The innermost named function of the caller.
    from: Option<usize>,
}

impl Attribution {
    /// At the start of a program; the first of the functions is the whole that counts.
    #[must_use]
    pub fn new(functions: Functions) -> Self {
        Self { functions, calls: Vec::new(), inside: None, arrived: true }
    }

    /// The names of the functions.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.functions.names
    }

    /// The function of the instruction that is executed next, as the index of its name; `None` if
    /// it does not count.
    pub fn follow(&mut self, executed: &Executed<'_>) -> Option<usize> {
        let operation = executed.operation;
        if self.arrived {
            self.enter(operation.address);
        }
        let function = self.inside;
        self.arrived = executed.next_address != operation.next_address();
        if operation.flow.is_call() {
            self.call(operation.next_address());
            self.arrived = true;
        } else if self.arrived && operation.flow == super::decode::Flow::Return {
            self.leave(executed.next_address);
        }
        function
    }

    fn enter(&mut self, address: u64) {
        let begun = self.functions.beginning_at(address);
        if let Some(function) = begun.filter(|&function| function == 0 || self.inside.is_some()) {
            self.inside = Some(function);
        }
    }

    fn call(&mut self, returns_to: u64) {
        if self.calls.len() == MAX_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(Call { returns_to, from: self.inside });
    }

    /// A return that fits no call (the dynamic linker makes such) changes nothing; one past several
    /// calls (`longjmp`) ends them all.
    fn leave(&mut self, to: u64) {
        let fitting = self.calls.iter().rposition(|call| call.returns_to == to);
        if let Some(place) = fitting {
            self.inside = self.calls[place].from;
            self.calls.truncate(place);
        }
    }
}

/// Calls that are remembered: a stack of 8 MB, Linux's default, holds no deeper recursion of
/// functions that keep 128 bytes each. Beyond it the oldest are forgotten.
const MAX_CALLS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::super::decode::{Flow, Operation};
    use super::*;

    /// One instruction of 4 bytes.
    fn step(
        attribution: &mut Attribution,
        address: u64,
        flow: Flow,
        next_address: u64,
    ) -> Option<usize> {
        let operation = Operation::going(address, flow);
        attribution.follow(&Executed { operation: &operation, accesses: &[], next_address })
    }

    fn whole_and_part() -> Attribution {
        Attribution::new(Functions::at(&["whole", "part"], vec![(0x100, 0), (0x200, 1)]))
    }

    #[test]
    fn what_a_function_calls_is_part_of_it_until_it_returns() {
        let mut at = whole_and_part();
        let steps = [
            (0x010, Flow::Call { target: 0x200 }, 0x200, None), // before the whole
            (0x200, Flow::Return, 0x014, None),
            (0x014, Flow::Call { target: 0x100 }, 0x100, None),
            (0x100, Flow::Call { target: 0x200 }, 0x200, Some(0)),
            (0x200, Flow::IndirectCall, 0x300, Some(1)),
            (0x300, Flow::Return, 0x204, Some(1)), // a function without a name here
            (0x204, Flow::Return, 0x104, Some(1)),
            (0x104, Flow::Next, 0x108, Some(0)),
            (0x108, Flow::Return, 0x018, Some(0)),
            (0x018, Flow::Next, 0x01c, None),
        ];
        for (address, flow, next, expected) in steps {
            assert_eq!(step(&mut at, address, flow, next), expected, "at {address:#x}");
        }
    }

    #[test]
    fn a_function_entered_by_a_jump_returns_to_the_callers_caller() {
        let mut at = whole_and_part();
        step(&mut at, 0x010, Flow::Call { target: 0x100 }, 0x100);
        step(&mut at, 0x100, Flow::Jump { target: 0x200 }, 0x200);
        assert_eq!(step(&mut at, 0x200, Flow::Return, 0x014), Some(1));
        assert_eq!(step(&mut at, 0x014, Flow::Next, 0x018), None);
    }

    #[test]
    fn returns_that_fit_no_call_change_nothing() {
        let mut at = whole_and_part();
        step(&mut at, 0x010, Flow::Call { target: 0x100 }, 0x100);
        assert_eq!(step(&mut at, 0x100, Flow::Return, 0x500), Some(0));
        assert_eq!(step(&mut at, 0x500, Flow::Next, 0x504), Some(0));
    }

    #[test]
    fn endless_recursion_is_bounded() {
        let mut at = whole_and_part();
        for _ in 0..MAX_CALLS + 10 {
            step(&mut at, 0x100, Flow::Call { target: 0x100 }, 0x100);
        }
        assert_eq!(at.calls.len(), MAX_CALLS);
    }
}
