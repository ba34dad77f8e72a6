//! The RTP/RTCP paper's tables I to III and what it says of figures 3 to 5. Nothing is predicted from them; the RTP
//! suite holds its own programs beside them.

use bitpath_measure::Unit;

use super::PublishedError;
use crate::table::{Row, Table};

const FILE: &str = "rtp_suite.csv";
const TEXT: &str = include_str!("../../../../data/published/rtp_suite.csv");
const SHARES_FILE: &str = "rtp_suite_shares.csv";
const SHARES_TEXT: &str = include_str!("../../../../data/published/rtp_suite_shares.csv");

/// Columns of the tables: the column, the quantity, its unit, and what one of the column's is in that.
const COLUMNS: [(&str, &str, Unit, f64); 13] = [
    ("cycles_M", "cycles", Unit::Cycles, 1e6),
    ("ipc", "instructions_per_cycle", Unit::PerCycle, 1.0),
    ("branch_address_pct", "addresses_predicted", Unit::Ratio, 0.01),
    ("branch_direction_pct", "directions_predicted", Unit::Ratio, 0.01),
    ("instructions_M", "instructions", Unit::Instructions, 1e6),
    ("load_pct", "loads", Unit::Ratio, 0.01),
    ("store_pct", "stores", Unit::Ratio, 0.01),
    ("branch_pct", "branches", Unit::Ratio, 0.01),
    ("il1_accesses_M", "il1_accesses", Unit::Count, 1e6),
    ("il1_miss_pct", "il1_missed", Unit::Ratio, 0.01),
    ("dl1_accesses_M", "dl1_accesses", Unit::Count, 1e6),
    ("dl1_miss_pct", "dl1_missed", Unit::Ratio, 0.01),
    ("l2_miss_pct", "l2_missed", Unit::Ratio, 0.01),
];

/// One value of the tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Characteristic {
    /// The benchmark, or the mean of others.
    pub benchmark: String,
    /// What it is, as the suite's figures name it.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The value.
    pub value: f64,
}

/// A function's part of its benchmark's cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The benchmark.
    pub benchmark: String,
    /// The function, as the suite names it.
    pub function: String,
    /// Part of the cycles [ratio].
    pub of_cycles: f64,
}

/// Tables I to III, benchmark by benchmark; what is not printed is left out.
///
/// # Errors
/// When the table cannot be read.
pub fn characteristics() -> Result<Vec<Characteristic>, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let mut all = Vec::new();
    for row in table.rows() {
        for (column, quantity, unit, factor) in COLUMNS {
            if row.text(column)?.is_empty() {
                continue;
            }
            let (benchmark, value) = (row.text("benchmark")?.into(), row.number(column)? * factor);
            all.push(Characteristic { benchmark, quantity, unit, value });
        }
    }
    Ok(all)
}

/// What the text says of figures 3 to 5.
///
/// # Errors
/// When the table cannot be read.
pub fn shares() -> Result<Vec<Share>, PublishedError> {
    let share = |row: &Row<'_>| {
        Ok(Share {
            benchmark: row.text("benchmark")?.into(),
            function: row.text("function")?.into(),
            of_cycles: row.number("share_pct")? / 100.0,
        })
    };
    Table::parse(SHARES_FILE, SHARES_TEXT)?.rows().map(|row| share(&row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(benchmark: &str, quantity: &str) -> f64 {
        let all = characteristics().unwrap();
        let found = all.iter().find(|of| of.benchmark == benchmark && of.quantity == quantity);
        found.unwrap().value
    }

    #[test]
    fn the_averages_of_the_paper_s_own_rows_are_those_that_it_prints() {
        let mean = |quantity| {
            ["RTP Sender", "RTP Receiver", "RTCP"].map(|of| value(of, quantity)).iter().sum::<f64>()
                / 3.0
        };
        // Tables I to III, row "Average".
        for (quantity, printed, digits) in [
            ("cycles", 20.3e6, 0.05e6),
            ("instructions_per_cycle", 1.9, 0.05),
            ("addresses_predicted", 0.935, 0.0005),
            ("instructions", 32.8e6, 0.05e6),
            ("loads", 0.301, 0.0005),
            ("branches", 0.092, 0.0005),
            ("dl1_missed", 0.002, 0.0005),
            ("l2_missed", 0.021, 0.0005),
        ] {
            assert!((mean(quantity) - printed).abs() <= digits, "{quantity}: {}", mean(quantity));
        }
    }

    #[test]
    fn instructions_a_cycle_are_those_of_the_table_but_for_rtcp() {
        let quotient = |of| value(of, "instructions") / value(of, "cycles");
        for (benchmark, agrees) in [("RTP Sender", true), ("RTP Receiver", true), ("RTCP", false)] {
            let printed = value(benchmark, "instructions_per_cycle");
            assert_eq!((quotient(benchmark) / printed - 1.0).abs() < 0.03, agrees, "{benchmark}");
        }
        assert!((quotient("RTCP") - 1.32).abs() < 0.005);
    }

    #[test]
    fn four_shares_are_stated() {
        let shares = shares().unwrap();
        assert_eq!(shares.len(), 4);
        assert_eq!((shares[0].function.as_str(), shares[0].of_cycles), ("encapsulate", 0.7));
    }
}
