//! The numbers of a core, each with its source.

use super::super::decode::Unit;
use crate::BenchError;

/// Units of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitSettings {
    /// How many there are.
    pub count: u8,
    /// From the start to the result.
    pub latency_cycles: u32,
    /// From one start to the next of the same unit; 1 if it is pipelined.
    pub interval_cycles: u32,
}

/// One cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// Size.
    pub bytes: u64,
    /// Lines of a set; 1 is direct-mapped. The line that was not used for longest is replaced.
    pub ways: usize,
    /// Length of a line.
    pub line_bytes: u64,
    /// From the access to the data if it hits. Of an outer cache, as the first level sees it.
    pub latency_cycles: u32,
}

/// What foresees branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchSettings {
    /// Two-bit counters of directions, chosen by address.
    pub counters: usize,
    /// The last directions that are mixed into the choice \[bits\]; 0 is the bimodal predictor.
    pub history_bits: u32,
    /// Sets of the buffer of targets.
    pub target_sets: usize,
    /// Targets of a set.
    pub target_ways: usize,
    /// Entries of the stack of return addresses.
    pub return_stack: usize,
}

/// A core with its caches. Widths are in instructions a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreSettings {
    /// What it is, for messages.
    pub name: &'static str,
    /// Fetched.
    pub fetch_width: u32,
    /// Decoded and put into the window.
    pub dispatch_width: u32,
    /// Started by all units: loads, stores and computations count one each.
    pub issue_width: u8,
    /// Committed.
    pub commit_width: u32,
    /// From the fetch of an instruction to its place in the window.
    pub front_end_cycles: u32,
    /// From knowing a mispredicted branch to the fetch of the right instruction.
    pub redirect_cycles: u32,
    /// Instructions that wait between fetch and window.
    pub fetch_queue: usize,
    /// Instructions between dispatch and commit: the register update unit.
    pub window: usize,
    /// Accesses between dispatch and commit: the load/store queue.
    pub load_store_queue: usize,
    /// Loads started in a cycle.
    pub load_ports: u8,
    /// Stores started in a cycle.
    pub store_ports: u8,
    /// To add up an address, before the access.
    pub address_cycles: u32,
    /// From a store's data to a load that takes it from the queue.
    pub forward_cycles: u32,
    /// Whether a load waits until the addresses of all stores before it are known.
    pub loads_wait_for_store_addresses: bool,
    /// Additions, logic, branches.
    pub integer: UnitSettings,
    /// Multiplication.
    pub integer_multiply: UnitSettings,
    /// Division.
    pub integer_divide: UnitSettings,
    /// Floating-point addition.
    pub float_add: UnitSettings,
    /// Floating-point multiplication.
    pub float_multiply: UnitSettings,
    /// Floating-point division.
    pub float_divide: UnitSettings,
    /// Square root.
    pub float_square_root: UnitSettings,
    /// Prediction.
    pub branches: BranchSettings,
    /// First-level cache of instructions.
    pub instruction_cache: CacheSettings,
    /// First-level cache of data.
    pub data_cache: CacheSettings,
    /// Caches behind both, inner first.
    pub outer_caches: Vec<CacheSettings>,
    /// From the access to data that only memory has, as the first level sees it.
    pub memory_cycles: u32,
}

impl CoreSettings {
    /// The paper's processor: sim-outorder of SimpleScalar 3.0 with what section IV changes.
    ///
    /// From the paper: two ways, 64 KB direct-mapped first-level caches, 1 MB second level, 1 and 6
    /// cycles. Our choice, since it is silent: "2-way" is meant of fetch, dispatch, issue and
    /// commit; lines are of SimpleScalar's usual 32 and 64 bytes. All else is sim-outorder's
    /// default: queues of 4, 16 and 8; 3 cycles after a misprediction; four integer and four
    /// floating-point adders, one of each multiplier, two memory ports; bimodal 2048, targets 512
    /// by 4, return stack 8; memory sends 8 bytes after 18 cycles and 8 more every 2, so 64 bytes
    /// take 32.
    #[must_use]
    pub fn simplescalar() -> Self {
        Self {
            name: "2-way, as the paper's",
            fetch_width: 2,
            dispatch_width: 2,
            issue_width: 2,
            commit_width: 2,
            front_end_cycles: 1,
            redirect_cycles: 3,
            fetch_queue: 4,
            window: 16,
            load_store_queue: 8,
            load_ports: 2,
            store_ports: 2,
            address_cycles: 1,
            forward_cycles: 1,
            loads_wait_for_store_addresses: true,
            integer: pipelined(4, 1),
            integer_multiply: pipelined(1, 3),
            integer_divide: UnitSettings { count: 1, latency_cycles: 20, interval_cycles: 19 },
            float_add: pipelined(4, 2),
            float_multiply: pipelined(1, 4),
            float_divide: UnitSettings { count: 1, latency_cycles: 12, interval_cycles: 12 },
            float_square_root: UnitSettings { count: 1, latency_cycles: 24, interval_cycles: 24 },
            branches: BranchSettings {
                counters: 2048,
                history_bits: 0,
                target_sets: 512,
                target_ways: 4,
                return_stack: 8,
            },
            instruction_cache: cache(64 << 10, 1, 32, 1),
            data_cache: cache(64 << 10, 1, 32, 1),
            outer_caches: vec![cache(1 << 20, 4, 64, 6)],
            memory_cycles: 32,
        }
    }

    /// A core of the class of AMD's Zen 4.
    ///
    /// From published accounts of it (AnandTech, September 2022; Chips and Cheese, November 2022):
    /// 9 instructions from the op cache, 6 dispatched; 136 loads and 64 stores in flight; targets
    /// of 7168 branches, here 8192 so that they are a power of two; a return stack of 32.
    /// As commonly given for the family, and to be held against AMD's Software Optimization Guide
    /// (57647) before a figure rests on it: 8 retired, a retire queue of 320; 3 loads and 2 stores a
    /// cycle; 4 integer units, 2 floating-point adders and multipliers, and the latencies of all;
    /// caches of 32 KB, 1 MB and their ways; 4, 14 and about 50 cycles; 13 for a misprediction.
    /// Our choices: 16 MB of third level; 350 cycles to memory, some 95 ns at 3.7 GHz; directions
    /// from 2^14 counters with 12 bits of history in place of TAGE.
    ///
    /// A branch that is computed at once is mispredicted for 13 cycles: 10 through the front end, 1
    /// to the unit, 1 in it, 1 to redirect.
    #[must_use]
    pub fn modern() -> Self {
        Self {
            name: "6-way, of the class of Zen 4",
            fetch_width: 9,
            dispatch_width: 6,
            issue_width: 16,
            commit_width: 8,
            front_end_cycles: 10,
            redirect_cycles: 1,
            fetch_queue: 96,
            window: 320,
            load_store_queue: 200,
            load_ports: 3,
            store_ports: 2,
            address_cycles: 0,
            forward_cycles: 4,
            loads_wait_for_store_addresses: false,
            integer: pipelined(4, 1),
            integer_multiply: pipelined(1, 3),
            integer_divide: UnitSettings { count: 1, latency_cycles: 12, interval_cycles: 6 },
            float_add: pipelined(2, 3),
            float_multiply: pipelined(2, 3),
            float_divide: UnitSettings { count: 1, latency_cycles: 13, interval_cycles: 5 },
            float_square_root: UnitSettings { count: 1, latency_cycles: 21, interval_cycles: 9 },
            branches: BranchSettings {
                counters: 1 << 14,
                history_bits: 12,
                target_sets: 1024,
                target_ways: 8,
                return_stack: 32,
            },
            instruction_cache: cache(32 << 10, 8, 64, 4),
            data_cache: cache(32 << 10, 8, 64, 4),
            outer_caches: vec![cache(1 << 20, 8, 64, 14), cache(16 << 20, 16, 64, 50)],
            memory_cycles: 350,
        }
    }

    /// The units of a kind.
    #[must_use]
    pub fn unit(&self, unit: Unit) -> UnitSettings {
        match unit {
            Unit::Integer => self.integer,
            Unit::IntegerMultiply => self.integer_multiply,
            Unit::IntegerDivide => self.integer_divide,
            Unit::FloatAdd => self.float_add,
            Unit::FloatMultiply => self.float_multiply,
            Unit::FloatDivide => self.float_divide,
            Unit::FloatSquareRoot => self.float_square_root,
        }
    }

    /// # Errors
    /// When no core can be built so: the setting and the reason.
    pub fn check(&self) -> Result<(), BenchError> {
        let branches = &self.branches;
        self.check_sizes()?;
        for (setting, count) in [
            ("counters of directions", branches.counters),
            ("sets of branch targets", branches.target_sets),
        ] {
            require(count.is_power_of_two() && count <= MAX_ENTRIES, setting, POWER)?;
        }
        require(branches.history_bits < u64::BITS, "history", "it has at most 63 bits")?;
        let caches = [&self.instruction_cache, &self.data_cache];
        for cache in caches.into_iter().chain(&self.outer_caches) {
            check_cache(cache)?;
        }
        for unit in UNITS.map(|unit| self.unit(unit)) {
            let fits = unit.count > 0
                && unit.interval_cycles > 0
                && unit.interval_cycles.max(unit.latency_cycles) <= MAX_CYCLES;
            require(fits, "units", "there is one at least, and it takes 1 to 4096 cycles")?;
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), BenchError> {
        for (setting, count) in [
            ("fetch width", self.fetch_width as usize),
            ("dispatch width", self.dispatch_width as usize),
            ("issue width", usize::from(self.issue_width)),
            ("commit width", self.commit_width as usize),
            ("load ports", usize::from(self.load_ports)),
            ("store ports", usize::from(self.store_ports)),
            ("fetch queue", self.fetch_queue),
            ("window", self.window),
            ("load/store queue", self.load_store_queue),
            ("targets of a set", self.branches.target_ways),
            ("return stack", self.branches.return_stack),
        ] {
            require((1..=MAX_WINDOW).contains(&count), setting, "it is 1 to 1024")?;
        }
        for (setting, cycles) in [
            ("front end", self.front_end_cycles),
            ("redirection", self.redirect_cycles),
            ("address", self.address_cycles),
            ("forwarding", self.forward_cycles),
            ("memory", self.memory_cycles),
        ] {
            require(cycles <= MAX_CYCLES, setting, "it takes 4096 cycles at most")?;
        }
        Ok(())
    }
}

const fn pipelined(count: u8, latency_cycles: u32) -> UnitSettings {
    UnitSettings { count, latency_cycles, interval_cycles: 1 }
}

const fn cache(bytes: u64, ways: usize, line_bytes: u64, latency_cycles: u32) -> CacheSettings {
    CacheSettings { bytes, ways, line_bytes, latency_cycles }
}

fn check_cache(cache: &CacheSettings) -> Result<(), BenchError> {
    let set_bytes = cache.line_bytes.saturating_mul(cache.ways as u64);
    let whole = set_bytes > 0 && cache.bytes.is_multiple_of(set_bytes);
    let sets = cache.bytes.checked_div(set_bytes).unwrap_or_default();
    require(whole && sets.is_power_of_two(), "cache", "its sets are a power of two")?;
    require(
        cache.line_bytes.is_power_of_two() && cache.line_bytes >= 8,
        "cache",
        "its lines are a power of two, 8 bytes at least",
    )?;
    require(cache.bytes / cache.line_bytes <= MAX_LINES, "cache", "it has 2^24 lines at most")?;
    require(cache.latency_cycles <= MAX_CYCLES, "cache", "it takes 4096 cycles at most")
}

fn require(holds: bool, setting: &str, reason: &str) -> Result<(), BenchError> {
    let wrong = || BenchError::Core { setting: setting.into(), reason: reason.into() };
    holds.then_some(()).ok_or_else(wrong)
}

/// All kinds of units.
pub(super) const UNITS: [Unit; 7] = [
    Unit::Integer,
    Unit::IntegerMultiply,
    Unit::IntegerDivide,
    Unit::FloatAdd,
    Unit::FloatMultiply,
    Unit::FloatDivide,
    Unit::FloatSquareRoot,
];

const POWER: &str = "it is a power of two, 2^24 at most";

/// Entries of a table: no real one is larger, and memory for it is no question.
const MAX_ENTRIES: usize = 1 << 24;

/// Lines of a cache, likewise: 1 GB of 64 bytes each.
const MAX_LINES: u64 = 1 << 24;

/// Entries of a queue and width of a stage: twice the largest window that is built today.
const MAX_WINDOW: usize = 1024;

/// A latency: some microseconds.
const MAX_CYCLES: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_cores_can_be_built() {
        CoreSettings::simplescalar().check().unwrap();
        CoreSettings::modern().check().unwrap();
    }

    #[test]
    fn what_cannot_be_built_is_named() {
        let good = CoreSettings::simplescalar;
        let cache = |bytes, ways, line_bytes| cache(bytes, ways, line_bytes, 1);
        let cases = [
            (CoreSettings { fetch_width: 0, ..good() }, "fetch width"),
            (CoreSettings { window: 2000, ..good() }, "window"),
            (CoreSettings { memory_cycles: 5000, ..good() }, "memory"),
            (CoreSettings { data_cache: cache(3000, 1, 32), ..good() }, "cache"),
            (CoreSettings { data_cache: cache(64, 0, 32), ..good() }, "cache"),
            (CoreSettings { outer_caches: vec![cache(96, 1, 48)], ..good() }, "cache"),
            (CoreSettings { integer: pipelined(0, 1), ..good() }, "units"),
        ];
        for (settings, setting) in cases {
            let error = settings.check().unwrap_err().to_string();
            assert!(error.contains(setting), "{error}");
        }
    }
}
