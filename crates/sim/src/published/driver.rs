//! Ethernet drivers with programmed I/O: slides on network performance, tables 1 to 3 and the
//! shares of processor time under rule 7.
//!
//! ```text
//! throughput at a short and a long frame ──► time for a frame = a + b x bytes ──► the frames between
//! ```

use bitpath_measure::{ByteCount, Unit};

use super::{Point, PublishedError, Scale, Set};
use crate::hardware::driver::{ModuleCost, ProgrammedIo};
use crate::table::{Row, Table};

const THROUGHPUT: &str = "driver_throughput.csv";
const THROUGHPUT_TEXT: &str = include_str!("../../../../data/published/driver_throughput.csv");
const SHARES: &str = "driver_cpu_shares_pentium133.csv";
const SHARES_TEXT: &str =
    include_str!("../../../../data/published/driver_cpu_shares_pentium133.csv");

/// Tolerated error of a driver's throughput [ratio].
const THROUGHPUT_TOLERANCE: f64 = 0.03;
/// Tolerated error of a simulated Pentium's throughput [ratio].
const SIMULATED_TOLERANCE: f64 = 0.05;
/// Tolerated error of a module's share of processor time [ratio].
const SHARE_TOLERANCE: f64 = 0.03;

/// The column of each module's share.
const MODULES: [(&str, &str); 6] = [
    ("ne", "ne_pct"),
    ("exec", "exec_pct"),
    ("8390", "driver8390_pct"),
    ("timers", "timers_pct"),
    ("mbuf", "mbuf_pct"),
    ("sys", "sys_pct"),
];
/// Polling the card: a part of `ne`.
const POLL: (&str, &str) = ("poll", "ne_poll_pct");
/// What no column lists.
const UNLISTED: &str = "unlisted";

/// Tables 1 to 3: three drivers at three frame lengths.
pub(super) fn throughput() -> Result<Set, PublishedError> {
    let table = Table::parse(THROUGHPUT, THROUGHPUT_TEXT)?;
    let points =
        table.rows().map(|row| throughput_point(&table, &row)).collect::<Result<_, _>>()?;
    Ok(Set {
        name: "driver-throughput",
        source: "slides on network performance, tables 1 to 3; kB read as 1000 B",
        fitted: vec![
            "cost of a frame and of a byte, for each host: fitted on its rows of 512 and 1514 B, \
             which are therefore met exactly; 1024 B is predicted; 6 constants for 9 rows"
                .into(),
        ],
        points,
        criteria: Vec::new(),
    })
}

fn throughput_point(table: &Table, row: &Row<'_>) -> Result<Point, PublishedError> {
    let (cpu, nic) = (row.text("cpu")?, row.text("nic")?);
    let host = [("cpu", cpu), ("nic", nic)];
    let measured = |bytes| -> Result<(ByteCount, f64), PublishedError> {
        let row = table.find(&[host[0], host[1], ("block_bytes", bytes)])?;
        let frame = ByteCount(row.count("block_bytes")?);
        Ok((frame, frame_ns(frame, row.number("throughput_kBps")?)))
    };
    let module = ModuleCost::through("driver", measured("512")?, measured("1514")?);
    let frame = ByteCount(row.count("block_bytes")?);
    Ok(Point {
        name: format!("{cpu}, {nic}, {frame}"),
        quantity: "throughput",
        unit: Unit::BytesPerSecond,
        predicted: ProgrammedIo { modules: vec![module] }.throughput(frame).0,
        published: row.number("throughput_kBps")? * 1e3,
        tolerance: THROUGHPUT_TOLERANCE,
        scale: Scale::Relative,
    })
}

/// Rule 7: a Pentium's throughput and its time by module at seven frame lengths.
pub(super) fn cpu_shares() -> Result<Set, PublishedError> {
    let table = Table::parse(SHARES, SHARES_TEXT)?;
    let (short, long) =
        (table.find(&[("frame_bytes", "64")])?, table.find(&[("frame_bytes", "1514")])?);
    let driver = ProgrammedIo { modules: modules(&short, &long)? };
    let poll = module(POLL, &short, &long)?;
    let mut points = Vec::new();
    for row in table.rows().filter(|row| ![short.line(), long.line()].contains(&row.line())) {
        points.extend(points_of(&driver, &poll, &row)?);
    }
    Ok(Set {
        name: "driver-cpu-shares",
        source: "slides on network performance, rule 7: simulated Pentium 133 with an ne2000 at 100 MHz",
        fitted: vec![
            "cost of a frame and of a byte, for each of six modules, for polling and for what is \
             not listed: fitted on the rows of 64 and 1514 B, which are left out; the five rows \
             between are predicted; 16 constants for 40 figures"
                .into(),
            "polling costs less than nothing a frame: the card works while the software does"
                .into(),
        ],
        points,
        criteria: Vec::new(),
    })
}

/// The listed modules, and one for the rest of the time.
fn modules(short: &Row<'_>, long: &Row<'_>) -> Result<Vec<ModuleCost>, PublishedError> {
    let mut modules =
        MODULES.into_iter().map(|of| module(of, short, long)).collect::<Result<Vec<_>, _>>()?;
    let rest = |row: &Row<'_>| -> Result<(ByteCount, f64), PublishedError> {
        let (frame, time_ns) = row_time(row)?;
        let mut listed = 0.0;
        for (_, column) in MODULES {
            listed += row.number(column)? / 100.0;
        }
        Ok((frame, time_ns * (1.0 - listed)))
    };
    modules.push(ModuleCost::through(UNLISTED, rest(short)?, rest(long)?));
    Ok(modules)
}

fn module(
    (name, column): (&str, &str),
    short: &Row<'_>,
    long: &Row<'_>,
) -> Result<ModuleCost, PublishedError> {
    let share = |row: &Row<'_>| -> Result<(ByteCount, f64), PublishedError> {
        let (frame, time_ns) = row_time(row)?;
        Ok((frame, time_ns * row.number(column)? / 100.0))
    };
    Ok(ModuleCost::through(name, share(short)?, share(long)?))
}

/// Throughput and shares of one row.
fn points_of(
    driver: &ProgrammedIo,
    poll: &ModuleCost,
    row: &Row<'_>,
) -> Result<Vec<Point>, PublishedError> {
    let (frame, _) = row_time(row)?;
    let mut points = vec![Point {
        name: frame.to_string(),
        quantity: "throughput",
        unit: Unit::BytesPerSecond,
        predicted: driver.throughput(frame).0,
        published: row.number("throughput_kBps")? * 1e3,
        tolerance: SIMULATED_TOLERANCE,
        scale: Scale::Relative,
    }];
    let shares = MODULES.map(|(name, column)| (name, column, driver.share(name, frame)));
    let polling = (POLL.0, POLL.1, poll.time_ns(frame) / driver.time_ns(frame));
    for (name, column, predicted) in shares.into_iter().chain([polling]) {
        points.push(Point {
            name: format!("{frame} {name}"),
            quantity: "share of processor time",
            unit: Unit::Ratio,
            predicted,
            published: row.number(column)? / 100.0,
            tolerance: SHARE_TOLERANCE,
            scale: Scale::Share,
        });
    }
    Ok(points)
}

/// Frame length of a row, and the time for such a frame [ns].
fn row_time(row: &Row<'_>) -> Result<(ByteCount, f64), PublishedError> {
    let frame = ByteCount(row.count("frame_bytes")?);
    Ok((frame, frame_ns(frame, row.number("throughput_kBps")?)))
}

/// Time for a frame at this throughput in kB a second [ns].
fn frame_ns(frame: ByteCount, throughput_kilobytes: f64) -> f64 {
    frame.0 as f64 / throughput_kilobytes * 1e6
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_within_tolerance;

    #[test]
    fn nine_throughputs_are_within_three_per_cent() {
        let set = assert_within_tolerance("driver-throughput");
        assert_eq!(set.points.len(), 9);
    }

    #[test]
    fn five_frame_lengths_have_their_shares_and_throughputs() {
        let set = assert_within_tolerance("driver-cpu-shares");
        assert_eq!(set.points.len(), 5 * 8);
    }
}
