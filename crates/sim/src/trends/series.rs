//! The figures: for each component one or more series of values by year.

use bitpath_measure::Unit;

use super::TableError;
use crate::table::{Row, Table};

/// The files that are part of the program: name and text.
pub const SHIPPED: [(&str, &str); 5] = [
    ("processor.csv", include_str!("../../../../data/trends/processor.csv")),
    ("memory.csv", include_str!("../../../../data/trends/memory.csv")),
    ("network.csv", include_str!("../../../../data/trends/network.csv")),
    ("bus.csv", include_str!("../../../../data/trends/bus.csv")),
    ("storage.csv", include_str!("../../../../data/trends/storage.csv")),
];

/// Why the figures cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrendError {
    /// A file that is no table, or a value in it that is no number.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A value that is not positive, of which there is no growth.
    #[error("{file}, line {line}: the value of `{item}` must be positive")]
    NotPositive {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What it is the value of.
        item: String,
    },
    /// A unit that is not known.
    #[error("{file}, line {line}: the unit `{unit}` is none of {}", UNITS.map(|(name, ..)| name).join(", "))]
    Unit {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The unit.
        unit: String,
    },
    /// Rows of one series in units of different quantities.
    #[error("{file}, line {line}: series {series} has values of another quantity before")]
    Mixed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The series.
        series: String,
    },
    /// A series that a curve needs.
    #[error("there is no series {name} with two or more years")]
    NoSeries {
        /// Its name: file without its ending, and series.
        name: String,
    },
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Year.
    pub year: f64,
    /// What it is of.
    pub item: String,
    /// Value, in the unit of its series.
    pub value: f64,
    /// Where it was read.
    pub source: String,
}

/// Values of one quantity by year, the earliest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// File without its ending, and series: `memory.module-bandwidth`.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// The figures.
    pub points: Vec<Point>,
}

/// All series.
#[derive(Clone, Debug, PartialEq)]
pub struct Trends {
    /// In the order of the files.
    pub series: Vec<Series>,
}

/// Units of the files: how they are written, their quantity, and their size in it.
const UNITS: [(&str, Unit, f64); 10] = [
    ("MHz", Unit::Hertz, 1e6),
    ("MIPS", Unit::Hertz, 1e6),
    ("1000 SPECint", Unit::Ratio, 1e3),
    ("MB/s", Unit::BytesPerSecond, 1e6),
    ("MiB/s", Unit::BytesPerSecond, 1_048_576.0),
    ("Mb/s", Unit::BitsPerSecond, 1e6),
    ("ns", Unit::Seconds, 1e-9),
    ("us", Unit::Seconds, 1e-6),
    ("ms", Unit::Seconds, 1e-3),
    ("threads", Unit::Cores, 1.0),
];

impl Trends {
    /// The figures of these files: name and text of each.
    ///
    /// # Errors
    /// A file that is no table, and a value or unit that is not known, with file and line.
    pub fn read<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, TrendError> {
        let mut trends = Self { series: Vec::new() };
        for (file, text) in files {
            for row in Table::parse(file, text)?.rows() {
                trends.add(file, &row)?;
            }
        }
        for series in &mut trends.series {
            series.points.sort_by(|a, b| a.year.total_cmp(&b.year));
        }
        Ok(trends)
    }

    /// The series of this name.
    ///
    /// # Errors
    /// No such series, or one without two years.
    pub fn find(&self, name: &str) -> Result<&Series, TrendError> {
        let found = self.series.iter().find(|series| series.name == name);
        found
            .filter(|series| series.first_year() < series.last_year())
            .ok_or_else(|| TrendError::NoSeries { name: name.into() })
    }

    fn add(&mut self, file: &str, row: &Row<'_>) -> Result<(), TrendError> {
        let (file, line) = (file.to_owned(), row.line());
        let name = format!("{}.{}", file.trim_end_matches(".csv"), row.text("series")?);
        let text = row.text("unit")?;
        let Some((_, unit, scale)) = UNITS.into_iter().find(|(written, ..)| *written == text)
        else {
            return Err(TrendError::Unit { file, line, unit: text.into() });
        };
        let (value, item) = (row.number("value")? * scale, row.text("item")?.to_owned());
        if !(value.is_finite() && value > 0.0) {
            return Err(TrendError::NotPositive { file, line, item });
        }
        let source = format!("{} ({})", row.text("source")?, row.text("licence")?);
        let point = Point { year: row.number("year")?, item, value, source };
        match self.series.iter_mut().find(|series| series.name == name) {
            Some(series) if series.unit != unit => {
                return Err(TrendError::Mixed { file, line, series: name });
            }
            Some(series) => series.points.push(point),
            None => self.series.push(Series { name, unit, points: vec![point] }),
        }
        Ok(())
    }
}

impl Series {
    /// Year of the earliest figure.
    #[must_use]
    pub fn first_year(&self) -> f64 {
        self.points.first().map_or(f64::NAN, |point| point.year)
    }

    /// Year of the latest figure.
    #[must_use]
    pub fn last_year(&self) -> f64 {
        self.points.last().map_or(f64::NAN, |point| point.year)
    }

    /// The figures that were better than all before them; in a unit of time the lower is better.
    #[must_use]
    pub fn records(&self) -> Vec<(f64, f64)> {
        let mut best: Vec<(f64, f64)> = Vec::new();
        for point in &self.points {
            let better = |last: f64| match self.unit {
                Unit::Seconds => point.value < last,
                _ => point.value > last,
            };
            match best.last_mut() {
                Some((_, value)) if !better(*value) => {}
                Some((year, value)) if *year == point.year => *value = point.value,
                _ => best.push((point.year, point.value)),
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "series,year,item,value,unit,source,licence\n";

    fn read(rows: &str) -> Result<Trends, TrendError> {
        Trends::read([("bus.csv", format!("{HEADER}{rows}").as_str())])
    }

    #[test]
    fn the_shipped_figures_are_read_and_each_has_its_source() {
        let trends = Trends::read(SHIPPED).unwrap();
        assert!(trends.series.len() >= 15);
        for series in &trends.series {
            assert!(series.points.iter().all(|point| point.source.len() > 10), "{}", series.name);
        }
        let bus = trends.find("bus.bandwidth").unwrap();
        assert_eq!((bus.first_year(), bus.points[0].value), (1984.0, 15.9e6));
    }

    #[test]
    fn records_leave_out_what_was_no_better() {
        let trends = read(
            "rate,1990,a,2,MB/s,s,l\nrate,1980,b,1,MB/s,s,l\nrate,2000,c,1.5,MB/s,s,l\nrate,2000,d,3,MB/s,s,l\n",
        )
        .unwrap();
        assert_eq!(trends.series[0].records(), [(1980.0, 1e6), (1990.0, 2e6), (2000.0, 3e6)]);
    }

    #[test]
    fn a_mistake_is_named_with_file_and_line() {
        for (rows, named) in [
            ("rate,1990,a,0,MB/s,s,l\n", "bus.csv, line 2: the value of `a`"),
            ("rate,1990,a,1,MW,s,l\n", "bus.csv, line 2: the unit `MW` is none of MHz"),
            ("rate,1990,a,1,MB/s,s,l\nrate,1991,b,1,ns,s,l\n", "line 3: series bus.rate"),
            ("rate,soon,a,1,MB/s,s,l\n", "`soon` in column year"),
        ] {
            let message = read(rows).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
