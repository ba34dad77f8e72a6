//! A core that issues out of order, driven by a trace: what sim-outorder was to the paper.
//!
//! ```text
//! fetch F ──► dispatch D ──► window ──► start S ──► done E ──► commit C     [cycles]
//!    ▲   il1, width  queue, width │ operands, units │ latency, dl1 │ width
//!    └──── after a mispredicted branch: its E + redirection ◄──────┘
//! ```
//!
//! One pass, a fixed amount of work for each instruction, no list of events: an instruction's
//! times follow from those of the instructions before it. For instruction i, in program order:
//!
//! - F(i) is the first cycle with room in the fetch, not before D(i - fetch queue), not before the
//!   redirection by a branch, and later by what its line misses. A taken branch ends its cycle.
//! - D(i) is not before F(i) + front end, D(i - 1), C(i - window), and C of the access that is the
//!   load/store queue's length before. Dispatch comes after commit within a cycle.
//! - S of each part (load, compute, store) is the first cycle from D(i) + 1 on with room in issue
//!   and unit, when the part's own registers are ready. Renaming leaves only true dependencies: a
//!   register is ready at E of its last writer.
//! - E = S + latency. A load's is the address, then the queue's data if an older store covers it,
//!   else the cache's. A store is done when its address and its data are.
//! - C(i) is the first cycle with room in commit, not before E(i) + 1 and C(i - 1). A store
//!   accesses its cache then and does not hold up commit.
//!
//! The cycles of a function are the sums of C(i) - C(i - 1) over its instructions.
//!
//! What it does not have: the wrong path behind a misprediction (it neither fills nor dirties
//! caches), prefetching, limits to misses at one time, address translation, the kernel. Adding up
//! an address takes time but no unit, where sim-outorder took one of the adders. Caches and tables
//! are empty at the first instruction.

mod branch;
mod cache;
mod settings;
mod stores;
mod window;

pub use branch::BranchCount;
pub use cache::CacheCount;
pub use settings::{BranchSettings, CacheSettings, CoreSettings, UnitSettings};

use super::decode::{Operation, REGISTERS, Registers};
use super::mix::InstructionMix;
use super::trace::{Access, Executed};
use crate::BenchError;
use branch::{Predictor, Verdict, takes};
use cache::Hierarchy;
use stores::{Found, Stores};
use window::{InOrder, Places, Port, Units};

/// What a function costs, or the part of it that is not in a named function that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionCost {
    /// Executed instructions.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
}

impl FunctionCost {
    /// What came behind an earlier count.
    fn since(&self, earlier: &Self) -> Self {
        Self {
            instructions: self.instructions - earlier.instructions,
            cycles: self.cycles - earlier.cycles,
        }
    }
}

/// What a program did on a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreResult {
    /// Until the last instruction committed.
    pub cycles: u64,
    /// Executed instructions by what they do.
    pub mix: InstructionMix,
    /// How well branches were foreseen.
    pub branches: BranchCount,
    /// First-level cache of instructions.
    pub instruction_cache: CacheCount,
    /// First-level cache of data.
    pub data_cache: CacheCount,
    /// Caches behind both, inner first.
    pub outer_caches: Vec<CacheCount>,
    /// By index of the function.
    pub functions: Vec<FunctionCost>,
}

impl CoreResult {
    /// What the program did behind an earlier result of the same core: a run behind another finds caches and
    /// tables as that one left them.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let outer = self.outer_caches.iter().zip(&earlier.outer_caches);
        let functions = self.functions.iter().zip(&earlier.functions);
        Self {
            cycles: self.cycles - earlier.cycles,
            mix: self.mix.since(&earlier.mix),
            branches: self.branches.since(&earlier.branches),
            instruction_cache: self.instruction_cache.since(&earlier.instruction_cache),
            data_cache: self.data_cache.since(&earlier.data_cache),
            outer_caches: outer.map(|(now, then)| now.since(then)).collect(),
            functions: functions.map(|(now, then)| now.since(then)).collect(),
        }
    }

    /// Instructions a cycle.
    #[must_use]
    pub fn instructions_per_cycle(&self) -> f64 {
        if self.cycles == 0 { 0.0 } else { self.mix.instructions as f64 / self.cycles as f64 }
    }
}

/// A core that executes a trace.
#[derive(Clone, Debug)]
pub struct CoreModel {
    settings: CoreSettings,
    fetch: InOrder,
    dispatch: InOrder,
    commit: InOrder,
    fetch_queue: Places,
    window: Places,
    load_store_queue: Places,
    units: Units,
    stores: Stores,
    caches: Hierarchy,
    predictor: Predictor,
    /// Cycle at which the fetch goes on.
    fetch_from: u64,
    /// Cycle at which each register is ready.
    ready_at: [u64; REGISTERS],
    /// Cycle at which the addresses of all stores so far are known.
    store_addresses_known: u64,
    committed: u64,
    mix: InstructionMix,
    functions: Vec<FunctionCost>,
}

/// The parts of one instruction in time [cycles].
#[derive(Clone, Copy, Debug)]
struct Done {
    /// When its results are there.
    results: u64,
    /// When nothing of it is left to do but to commit.
    all: u64,
}

impl CoreModel {
    /// A core at rest, for a program with this number of functions.
    ///
    /// # Errors
    /// When no core can be built so.
    pub fn new(settings: &CoreSettings, functions: usize) -> Result<Self, BenchError> {
        settings.check()?;
        Ok(Self {
            fetch: InOrder::new(settings.fetch_width),
            dispatch: InOrder::new(settings.dispatch_width),
            commit: InOrder::new(settings.commit_width),
            fetch_queue: Places::new(settings.fetch_queue),
            window: Places::new(settings.window),
            load_store_queue: Places::new(settings.load_store_queue),
            units: Units::new(settings),
            stores: Stores::new(),
            caches: Hierarchy::new(settings),
            predictor: Predictor::new(&settings.branches),
            fetch_from: 0,
            ready_at: [0; REGISTERS],
            store_addresses_known: 0,
            committed: 0,
            mix: InstructionMix::default(),
            functions: vec![FunctionCost::default(); functions],
            settings: settings.clone(),
        })
    }

    /// Executes the next instruction, which belongs to a function by its index.
    pub fn execute(&mut self, executed: &Executed<'_>, function: usize) {
        let dispatched = self.fetch_and_dispatch(executed);
        let done = self.compute(executed, dispatched);
        let before = self.committed;
        self.commit(executed, done);
        self.steer(executed, dispatched, done.all);
        self.mix.count(executed);
        if let Some(cost) = self.functions.get_mut(function) {
            cost.instructions += 1;
            cost.cycles += self.committed - before;
        }
    }

    /// What happened so far.
    #[must_use]
    pub fn result(&self) -> CoreResult {
        CoreResult {
            cycles: self.committed,
            mix: self.mix,
            branches: self.predictor.count,
            instruction_cache: self.caches.instructions.count,
            data_cache: self.caches.data.count,
            outer_caches: self.caches.outer.levels.iter().map(|cache| cache.count).collect(),
            functions: self.functions.clone(),
        }
    }

    fn fetch_and_dispatch(&mut self, executed: &Executed<'_>) -> u64 {
        let operation = executed.operation;
        let begun = self.fetch.next_free(self.fetch_from.max(self.fetch_queue.free_at(1)));
        let (address, bytes) = (operation.address, operation.length_bytes);
        let late = self.caches.fetch_delay(address, bytes, begun);
        let fetched = self.fetch.take(begun + late);
        let decoded = fetched + u64::from(self.settings.front_end_cycles);
        let room = self.window.free_at(1);
        let queued = self.load_store_queue.free_at(executed.accesses.len());
        let dispatched = self.dispatch.take(decoded.max(room).max(queued));
        self.fetch_queue.leave(dispatched);
        dispatched
    }

    /// Loads, computes and stores, each part when its own operands are there.
    fn compute(&mut self, executed: &Executed<'_>, dispatched: u64) -> Done {
        let operation = executed.operation;
        let earliest = dispatched + 1;
        let address = self.ready(operation.address_registers, earliest);
        let loads = executed.accesses.iter().filter(|access| !access.store);
        let loaded = loads.map(|load| self.load(load, address)).max();
        let operands = self.ready(operation.data_registers, loaded.unwrap_or(earliest));
        let results = operation.unit.map_or(operands, |unit| {
            let started = self.units.start(Port::Compute(unit), operands);
            started + u64::from(self.settings.unit(unit).latency_cycles)
        });
        let stores = executed.accesses.iter().filter(|access| access.store);
        let stored = stores.map(|_| self.store(address)).max();
        self.write_registers(operation, earliest, results);
        Done { results, all: results.max(stored.unwrap_or_default()) }
    }

    fn load(&mut self, access: &Access, address_ready: u64) -> u64 {
        let started = self.units.start(Port::Load, address_ready);
        let mut begun = started + u64::from(self.settings.address_cycles);
        if self.settings.loads_wait_for_store_addresses {
            begun = begun.max(self.store_addresses_known);
        }
        match self.stores.look(access, begun) {
            Found::All(data) => begun.max(data) + u64::from(self.settings.forward_cycles),
            Found::Part(written) => {
                self.caches.access(access.address, access.bytes, false, written)
            }
            Found::Nothing => self.caches.access(access.address, access.bytes, false, begun),
        }
    }

    /// The cycle at which a store's address is known.
    fn store(&mut self, address_ready: u64) -> u64 {
        let started = self.units.start(Port::Store, address_ready);
        let known = started + u64::from(self.settings.address_cycles);
        self.store_addresses_known = self.store_addresses_known.max(known);
        known
    }

    fn ready(&self, registers: Registers, earliest: u64) -> u64 {
        registers.numbers().map(|register| self.ready_at[register]).fold(earliest, u64::max)
    }

    fn write_registers(&mut self, operation: &Operation, earliest: u64, results: u64) {
        for register in operation.stepped.numbers() {
            let before = self.ready_at[register].max(earliest);
            self.ready_at[register] = before + u64::from(self.settings.integer.latency_cycles);
        }
        operation.results.numbers().for_each(|register| self.ready_at[register] = results);
    }

    fn commit(&mut self, executed: &Executed<'_>, done: Done) {
        self.committed = self.commit.take((done.all + 1).max(self.committed));
        self.window.leave(self.committed);
        for access in executed.accesses {
            self.load_store_queue.leave(self.committed);
            if access.store {
                self.stores.note(access, done.results, self.committed);
                self.caches.access(access.address, access.bytes, true, self.committed);
            }
        }
    }

    /// Where the fetch goes on behind a branch, and when.
    fn steer(&mut self, executed: &Executed<'_>, dispatched: u64, done: u64) {
        let operation = executed.operation;
        if !operation.flow.is_branch() {
            return;
        }
        if takes(operation, executed.next_address) {
            self.fetch.end_cycle();
        }
        let goes_on = match self.predictor.branch(operation, executed.next_address) {
            Verdict::Right => 0,
            Verdict::KnownWhenDecoded => dispatched + 1,
            Verdict::Wrong => done + u64::from(self.settings.redirect_cycles),
        };
        self.fetch_from = self.fetch_from.max(goes_on);
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode::{Flow, Unit};
    use super::*;

    const CODE: u64 = 0x40_0000;
    /// What a taken branch jumps over.
    const SKIPPED_BYTES: u64 = 4;

    /// An instruction of 4 bytes that does nothing.
    fn idle(address: u64) -> Operation {
        Operation {
            address,
            length_bytes: 4,
            address_registers: Registers::default(),
            data_registers: Registers::default(),
            results: Registers::default(),
            stepped: Registers::default(),
            unit: None,
            flow: Flow::Next,
        }
    }

    /// An addition of one register to another, at a place in a loop of eight instructions.
    fn add(turn: u64, from: usize, to: usize) -> Operation {
        Operation {
            data_registers: Registers::of(&[from]),
            results: Registers::of(&[to]),
            unit: Some(Unit::Integer),
            ..idle(CODE + 4 * (turn % 8))
        }
    }

    /// A move from memory, by the address in one register, to another.
    fn load(turn: u64, address: usize, to: usize) -> Operation {
        Operation {
            address_registers: Registers::of(&[address]),
            results: Registers::of(&[to]),
            ..idle(CODE + 4 * (turn % 8))
        }
    }

    /// A move of a register to memory.
    fn store(turn: u64, from: usize) -> Operation {
        Operation { data_registers: Registers::of(&[from]), ..idle(CODE + 4 * (turn % 8)) }
    }

    fn reads(address: u64) -> Access {
        Access { address, bytes: 8, store: false }
    }

    fn writes(address: u64) -> Access {
        Access { address, bytes: 8, store: true }
    }

    type Step = (Operation, Option<Access>);

    fn execute(core: &mut CoreModel, (operation, access): &Step, next_address: u64) {
        let accesses = access.as_slice();
        core.execute(&Executed { operation, accesses, next_address }, 0);
    }

    fn run(settings: &CoreSettings, turns: u64, step: impl Fn(u64) -> Step) -> CoreResult {
        let mut core = CoreModel::new(settings, 1).unwrap();
        for turn in 0..turns {
            let step = step(turn);
            execute(&mut core, &step, step.0.next_address());
        }
        core.result()
    }

    /// Cycles for a turn, when caches and tables have settled.
    fn settled(settings: &CoreSettings, step: impl Fn(u64) -> Step) -> f64 {
        let (early, late) = (run(settings, TURNS, &step), run(settings, 2 * TURNS, &step));
        (late.cycles - early.cycles) as f64 / TURNS as f64
    }

    const TURNS: u64 = 4000;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}");
    }

    fn paper() -> CoreSettings {
        CoreSettings::simplescalar()
    }

    #[test]
    fn a_chain_of_additions_takes_a_cycle_each() {
        near(settled(&paper(), |turn| (add(turn, 1, 1), None)), 1.0);
        near(settled(&CoreSettings::modern(), |turn| (add(turn, 1, 1), None)), 1.0);
    }

    #[test]
    fn independent_additions_fill_the_width() {
        near(settled(&paper(), |turn| (add(turn, 9, 1), None)), 0.5);
        let wide = CoreSettings { issue_width: 4, commit_width: 4, ..paper() };
        let wide = CoreSettings { fetch_width: 4, dispatch_width: 4, fetch_queue: 8, ..wide };
        near(settled(&wide, |turn| (add(turn, 9, 1), None)), 0.25);
        // The modern core has four integer units to its six places.
        near(settled(&CoreSettings::modern(), |turn| (add(turn, 9, 1), None)), 0.25);
    }

    #[test]
    fn what_needs_no_unit_fills_the_dispatch() {
        near(
            settled(&CoreSettings::modern(), |turn| (idle(CODE + 4 * (turn % 8)), None)),
            1.0 / 6.0,
        );
    }

    #[test]
    fn chains_of_slow_operations_take_their_latency() {
        for (unit, cycles) in [
            (Unit::IntegerMultiply, 3.0),
            (Unit::IntegerDivide, 20.0),
            (Unit::FloatAdd, 2.0),
            (Unit::FloatMultiply, 4.0),
            (Unit::FloatDivide, 12.0),
            (Unit::FloatSquareRoot, 24.0),
        ] {
            let chain = |turn| (Operation { unit: Some(unit), ..add(turn, 1, 1) }, None);
            near(settled(&paper(), chain), cycles);
        }
    }

    #[test]
    fn a_chain_of_hits_takes_address_and_cache() {
        near(settled(&paper(), |turn| (load(turn, 1, 1), Some(reads(0x1000)))), 2.0);
        near(settled(&CoreSettings::modern(), |turn| (load(turn, 1, 1), Some(reads(0x1000)))), 4.0);
    }

    #[test]
    fn independent_hits_fill_the_ports() {
        let one_port = CoreSettings { load_ports: 1, ..paper() };
        near(settled(&paper(), |turn| (load(turn, 9, 1), Some(reads(0x1000)))), 0.5);
        near(settled(&one_port, |turn| (load(turn, 9, 1), Some(reads(0x1000)))), 1.0);
    }

    /// Goes through 64 MB in steps of a page and a line, so that no cache ever holds what it needs.
    fn far(turn: u64) -> u64 {
        0x1000_0000 + (turn * (4096 + 64)) % (64 << 20)
    }

    #[test]
    fn a_pointer_chase_takes_address_and_memory() {
        let chase = |turn| (load(turn, 1, 1), Some(reads(far(turn))));
        near(settled(&paper(), chase), 1.0 + 32.0);
        near(settled(&CoreSettings::modern(), chase), 350.0);
    }

    #[test]
    fn a_chase_within_the_second_level_takes_its_latency() {
        // 128 KB in steps of a line: twice the first level, an eighth of the second.
        let chase = |turn: u64| (load(turn, 1, 1), Some(reads(turn * 32 % (128 << 10))));
        let found = run(&paper(), 40_000, chase).cycles - run(&paper(), 20_000, chase).cycles;
        near(found as f64 / 20_000.0, 1.0 + 6.0);
    }

    #[test]
    fn the_window_bounds_how_many_misses_overlap() {
        let misses = |window, turn_queue| {
            let core = CoreSettings { window, load_store_queue: turn_queue, ..paper() };
            settled(&core, |turn| (load(turn, 9, 1), Some(reads(far(turn)))))
        };
        // A place is taken from dispatch to commit: a cycle to start, the address, memory, commit.
        let held = 1.0 + 1.0 + 32.0 + 1.0;
        near(misses(4, 64), held / 4.0);
        near(misses(16, 64), held / 16.0);
        near(misses(64, 8), held / 8.0);
    }

    #[test]
    fn two_lines_of_one_place_miss_every_time() {
        let step = |turn: u64| (load(turn, 1, 1), Some(reads(turn % 2 * (64 << 10))));
        let result = run(&paper(), 1000, step);
        assert_eq!(result.data_cache, CacheCount { accesses: 1000, misses: 1000 });
        assert_eq!(result.outer_caches[0].misses, 2 + 1, "two lines of data, one of code");
        near(settled(&paper(), step), 1.0 + 6.0);
    }

    #[test]
    fn a_load_takes_what_is_stored_before_it_from_the_queue() {
        // x = x + 1 in memory: the load waits for the store's data, and no cache is read.
        let step = |turn: u64| match turn % 3 {
            0 => (load(turn, 9, 1), Some(reads(0x1000))),
            1 => (add(turn, 1, 1), None),
            _ => (store(turn, 1), Some(writes(0x1000))),
        };
        // Forwarding and addition are one cycle each.
        near(3.0 * settled(&paper(), step), 2.0);
        let result = run(&paper(), 3000, step);
        assert_eq!(result.data_cache.accesses, 1000 + 1, "the stores, and the first load");
        let other = |turn: u64| match turn % 3 {
            0 => (load(turn, 9, 1), Some(reads(0x2000))),
            _ => step(turn),
        };
        near(3.0 * settled(&paper(), other), 1.5);
    }

    #[test]
    fn a_load_waits_for_the_addresses_of_stores_only_where_it_must() {
        // Each store's address is divided for; the load behind it is of another place, and the
        // next division needs what it loads.
        let step = |turn: u64| match turn % 3 {
            0 => (Operation { unit: Some(Unit::IntegerDivide), ..add(turn, 2, 1) }, None),
            1 => {
                let address_registers = Registers::of(&[1]);
                (Operation { address_registers, ..store(turn, 9) }, Some(writes(0x1000)))
            }
            _ => (load(turn, 9, 2), Some(reads(0x2000))),
        };
        let free = CoreSettings { loads_wait_for_store_addresses: false, ..paper() };
        // Division, the store's address, the load. Else the divider alone, 19 cycles from start to
        // start.
        near(3.0 * settled(&paper(), step), 20.0 + 1.0 + 1.0);
        near(3.0 * settled(&free, step), 19.0);
    }

    /// A fixed sequence without a pattern: a feedback shift register of 32 bits.
    fn coins(count: usize) -> Vec<bool> {
        let mut state = 0xace1_u32;
        let mut next = || {
            state = (state >> 1) ^ if state & 1 == 1 { 0xa300_0000 } else { 0 };
            state & 1 == 1
        };
        (0..count).map(|_| next()).collect()
    }

    /// Runs one conditional branch again and again, which jumps over one instruction or does not,
    /// and the jump back.
    fn run_branches(settings: &CoreSettings, taken: &[bool]) -> CoreResult {
        let mut core = CoreModel::new(settings, 1).unwrap();
        let target = CODE + 8 + SKIPPED_BYTES;
        let computed = |operation| Operation { unit: Some(Unit::Integer), ..operation };
        let branch = computed(Operation { flow: Flow::Conditional { target }, ..idle(CODE + 4) });
        let back = computed(Operation { flow: Flow::Jump { target: CODE }, ..idle(target) });
        for &taken in taken {
            execute(&mut core, &(idle(CODE), None), CODE + 4);
            execute(&mut core, &(branch, None), if taken { target } else { CODE + 8 });
            if !taken {
                execute(&mut core, &(idle(CODE + 8), None), target);
            }
            execute(&mut core, &(back, None), CODE);
        }
        core.result()
    }

    #[test]
    fn a_branch_without_a_pattern_costs_a_refill_every_other_time() {
        let taken = coins(10_000);
        let result = run_branches(&paper(), &taken);
        let wrong = result.branches.branches - result.branches.directions_right;
        let share = wrong as f64 / taken.len() as f64;
        assert!((0.45..0.55).contains(&share), "{share}");
        let slower = CoreSettings { redirect_cycles: 3 + 7, ..paper() };
        let more = run_branches(&slower, &taken).cycles - result.cycles;
        near(more as f64, 7.0 * wrong as f64);
    }

    #[test]
    fn a_refill_takes_the_front_end_the_branch_and_the_redirection() {
        // An alternating branch is always wrong from where the counters begin.
        let alternating: Vec<bool> = (0..2000).map(|turn| turn % 2 == 0).collect();
        let result = run_branches(&paper(), &alternating);
        assert_eq!(result.branches.branches - result.branches.directions_right, 2000);
        // Two turns, taken and not. Fetched with the instruction before it at F, the branch is
        // dispatched at F + 1, starts at F + 2, is done at F + 3, and the fetch goes on at F + 6:
        // taken, with the jump, the rest of whose cycle is lost, so a turn is 7 cycles; not taken,
        // with the skipped one and the jump, 7 as well.
        near(result.cycles as f64, 2000.0 * 7.0);
    }

    #[test]
    fn what_is_always_taken_is_wrong_once() {
        let result = run_branches(&paper(), &[true; 10_000]);
        let count = result.branches;
        assert_eq!((count.branches, count.directions_right), (20_000, 19_999));
        // The direct jump's target is read from the code the first time.
        assert_eq!(count.addresses_right, 19_998);
        // A turn is three instructions: two to the branch, which ends the cycle, and the jump.
        near(result.cycles as f64, 2.0 * 10_000.0);
    }

    #[test]
    fn calls_deeper_than_the_stack_of_returns_go_wrong_on_the_way_back() {
        let wrong = |depth: u64| {
            let mut core = CoreModel::new(&paper(), 1).unwrap();
            let function = |level: u64| CODE + 0x108 * level;
            for _ in 0..100 {
                for level in 0..depth {
                    let target = function(level + 1);
                    let call = Operation { flow: Flow::Call { target }, ..idle(function(level)) };
                    execute(&mut core, &(call, Some(writes(0x7000 - 8 * level))), target);
                }
                for level in (0..depth).rev() {
                    let back = Operation { flow: Flow::Return, ..idle(function(level + 1) + 4) };
                    let to = function(level) + 4;
                    execute(&mut core, &(back, Some(reads(0x7000 - 8 * level))), to);
                }
            }
            let count = core.result().branches;
            // Each call's target is learned once.
            count.branches - count.addresses_right - depth
        };
        assert_eq!([4, 8, 9, 12].map(wrong), [0, 0, 100, 400]);
    }

    #[test]
    fn code_that_fits_no_cache_is_fetched_from_memory() {
        // One instruction of every line of 64 bytes, through 4 MB.
        let step = |turn: u64| (idle(CODE + turn * 64 % (4 << 20)), None);
        // A hit's own cycle is part of the pipeline.
        near(settled(&paper(), step), 32.0 - 1.0);
        let result = run(&paper(), 1000, step);
        assert_eq!(result.instruction_cache, CacheCount { accesses: 1000, misses: 1000 });
    }

    #[test]
    fn the_cycles_of_the_functions_are_all_cycles() {
        let mut core = CoreModel::new(&paper(), 2).unwrap();
        for turn in 0..1000 {
            let function = usize::from(turn % 10 == 0);
            let chain = Operation { unit: Some(Unit::IntegerMultiply), ..add(turn, 1, 1) };
            let operation = if function == 1 { chain } else { add(turn, 9, 2) };
            let next_address = operation.next_address();
            let executed = Executed { operation: &operation, accesses: &[], next_address };
            core.execute(&executed, function);
        }
        let result = core.result();
        let [rest, part] = [result.functions[0], result.functions[1]];
        assert_eq!(rest.cycles + part.cycles, result.cycles);
        assert_eq!((rest.instructions, part.instructions), (900, 100));
    }

    #[test]
    fn the_same_trace_gives_the_same_result() {
        let step = |turn: u64| (load(turn, 1, 1), Some(reads(far(turn))));
        assert_eq!(run(&paper(), 500, step), run(&paper(), 500, step));
    }

    #[test]
    fn nothing_executed_is_nothing_counted() {
        let result = run(&paper(), 0, |turn| (add(turn, 1, 1), None));
        assert_eq!((result.cycles, result.mix.instructions), (0, 0));
        assert!(result.instructions_per_cycle().abs() < 1e-9);
    }
}
