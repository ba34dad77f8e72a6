//! Rule 8 of the slides on network performance: a pipeline of three processes on two cores of an
//! Opteron 175, 2008. Nothing is predicted from it; a probe holds its own pipeline beside it.

use bitpath_measure::{ByteCount, ByteRate};

use super::PublishedError;
use crate::table::{Row, Table};

const FILE: &str = "pipeline_opteron175.csv";
const TEXT: &str = include_str!("../../../../data/published/pipeline_opteron175.csv");

/// The host, as labels name it.
pub const HOST: &str = "opteron-175";

/// What one socket from a source to a sink let through there, without a filter; the slides' MB are
/// read as 10⁶ B.
pub const ONE_SOCKET: ByteRate = ByteRate(822e6);

/// The columns of the table, by the blocks that the filter's channels held.
const COLUMNS: [(u32, &str); 3] = [(1, "single_MBps"), (2, "double_MBps"), (4, "quadruple_MBps")];

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// Blocks that a channel held.
    pub buffers: u32,
    /// Size of a block [B].
    pub block: ByteCount,
    /// What reached the sink [B/s].
    pub throughput: ByteRate,
}

/// All measurements, by the size of the block.
///
/// # Errors
/// When the table cannot be read.
pub fn opteron_175() -> Result<Vec<Passed>, PublishedError> {
    let table = Table::parse(FILE, TEXT)?;
    let passed = |row: &Row<'_>| {
        COLUMNS.map(|(buffers, column)| {
            let block = ByteCount(row.count("block_bytes")?);
            Ok(Passed { buffers, block, throughput: ByteRate(row.number(column)? * 1e6) })
        })
    };
    table.rows().flat_map(|row| passed(&row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_the_table_is_what_the_slides_conclude() {
        let passed = opteron_175().unwrap();
        assert_eq!(passed.len(), 45);
        let best = passed.iter().max_by(|a, b| a.throughput.0.total_cmp(&b.throughput.0)).unwrap();
        // Slides, conclusions under rule 8: 365 MB/s, against 822 of one socket.
        assert_eq!(
            (best.throughput, best.buffers, best.block),
            (ByteRate(365e6), 1, ByteCount(131_072))
        );
        assert!((best.throughput.0 / ONE_SOCKET.0 - 0.444).abs() < 0.001);
    }
}
