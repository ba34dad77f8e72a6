//! Tables as Parquet files: a column for each title, as many rows as come (Apache Parquet format 2,
//! uncompressed). Numbers are doubles, texts UTF-8, and any cell may be empty.
//!
//! A table is written in groups of rows, so that only one group of a long one is in memory.

use std::io::Write;
use std::sync::Arc;

use bitpath_measure::run::{Cell, Column, Holds};
use bitpath_measure::{Run, Series};
use parquet::basic::{ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

/// Writes a table, its rows as they come.
///
/// # Errors
/// Where two columns have one title, or the output refuses.
pub(crate) fn write<W: Write + Send>(
    output: W,
    columns: &[Column],
    rows: impl Iterator<Item = Vec<Cell>>,
) -> Result<()> {
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(output, schema(columns)?, properties)?;
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let rows: Vec<Vec<Cell>> = rows.by_ref().take(ROWS_IN_GROUP).collect();
        let mut group = writer.next_row_group()?;
        let mut column = 0;
        while let Some(writer) = group.next_column()? {
            write_column(writer, columns[column].holds, rows.iter().map(|row| &row[column]))?;
            column += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Rows that are in memory at once: some ten megabytes of cells.
const ROWS_IN_GROUP: usize = 1 << 16;

/// The series of a sweep as columns, `throughput [b/s]`, and its points as rows. Where the label
/// `words` lists what numbers stand for, the cells hold the words.
///
/// # Errors
/// Where the series are not equally long: they are no table.
pub(crate) fn points(run: &Run) -> Result<(Vec<Column>, impl Iterator<Item = Vec<Cell>>)> {
    let rows = run.series.first().map_or(0, |series| series.samples.len());
    if let Some(odd) = run.series.iter().find(|series| series.samples.len() != rows) {
        let (name, length) = (&odd.name, odd.samples.len());
        return Err(ParquetError::General(format!("{name} has {length} samples, not {rows}")));
    }
    let columns = run.series.iter().map(point_column).collect();
    let row = |row: usize| run.series.iter().map(move |series| point_cell(series, row)).collect();
    Ok((columns, (0..rows).map(row)))
}

fn point_column(series: &Series) -> Column {
    if series.labels.contains_key("words") {
        Column::words(&series.name)
    } else {
        Column::numbers(&format!("{} [{}]", series.name, series.unit.symbol()))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
fn point_cell(series: &Series, row: usize) -> Cell {
    let number = series.samples[row].value;
    match series.labels.get("words") {
        Some(words) => {
            Cell::Words(words.split(',').nth(number as usize).unwrap_or_default().into())
        }
        None => Cell::Number(number),
    }
}

fn schema(columns: &[Column]) -> Result<TypePtr> {
    let fields: Result<Vec<TypePtr>> = columns.iter().map(field).collect();
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields?).build()?))
}

fn field(column: &Column) -> Result<TypePtr> {
    let (physical, converted) = match column.holds {
        Holds::Numbers => (PhysicalType::DOUBLE, ConvertedType::NONE),
        Holds::Words => (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_converted_type(converted)
        .with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(field.build()?))
}

/// Writes the cells of one column: which of them are there (level 1), and the values of those.
fn write_column<'a>(
    mut column: SerializedColumnWriter<'_>,
    holds: Holds,
    cells: impl Iterator<Item = &'a Cell> + Clone,
) -> Result<()> {
    let levels: Vec<i16> = cells.clone().map(|cell| i16::from(*cell != Cell::Empty)).collect();
    match holds {
        Holds::Numbers => {
            let number =
                |cell: &Cell| if let Cell::Number(value) = cell { Some(*value) } else { None };
            let values: Vec<f64> = cells.filter_map(number).collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Holds::Words => {
            let words = |cell: &'a Cell| {
                if let Cell::Words(text) = cell { Some(text.as_str()) } else { None }
            };
            let values: Vec<ByteArray> = cells.filter_map(words).map(ByteArray::from).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::series::labels;
    use bitpath_measure::{Sample, Unit};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    fn series(name: &str, unit: Unit, values: &[f64]) -> Series {
        let sample = |value: &f64| Sample {
            value: *value,
            at_s: 0.0,
            machine_speed: 1.0,
            other_load_cores: 0.0,
        };
        Series {
            samples: values.iter().map(sample).collect(),
            ..Series::new(name, labels([]), unit)
        }
    }

    fn run(series: Vec<Series>) -> Run {
        Run { series, ..Run::begin("sweep", "sweep", "", 0) }
    }

    /// Every row that Parquet's own reader finds.
    fn read(columns: &[Column], rows: impl Iterator<Item = Vec<Cell>>) -> Vec<String> {
        let mut file = tempfile::tempfile().unwrap();
        write(&mut file, columns, rows).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
    }

    #[test]
    fn what_is_written_is_read_by_parquets_own_reader() {
        let mut transport = series("job.transport", Unit::Count, &[0.0, 1.0]);
        transport.labels.insert("words".into(), "udp,tcp".into());
        let run =
            run(vec![transport, series("throughput", Unit::BitsPerSecond, &[0.1 + 0.2, 1e9])]);
        let (columns, points) = points(&run).unwrap();
        let rows = read(&columns, points);
        assert_eq!(rows.len(), 2);
        assert!(rows[0].contains("job.transport: \"udp\""), "{rows:?}");
        assert!(rows[0].contains("throughput [b/s]: 0.30000000000000004"), "{rows:?}");
    }

    #[test]
    fn series_that_are_no_table_are_refused() {
        let run = run(vec![series("a", Unit::Count, &[1.0]), series("b", Unit::Count, &[])]);
        let error = points(&run).err().unwrap();
        assert!(error.to_string().contains("b has 0 samples, not 1"), "{error}");
    }

    #[test]
    fn an_empty_cell_is_null_and_groups_follow_each_other() {
        let columns = [Column::numbers("at_ns"), Column::words("cause")];
        let row = |index: usize| {
            let cause = if index == 1 { Cell::Empty } else { Cell::Words("link".into()) };
            vec![Cell::Number(index as f64), cause]
        };
        let rows = read(&columns, (0..=ROWS_IN_GROUP).map(row));
        assert_eq!(rows.len(), ROWS_IN_GROUP + 1);
        assert_eq!(rows[1], "{at_ns: 1.0, cause: null}");
        assert_eq!(rows[ROWS_IN_GROUP], "{at_ns: 65536.0, cause: \"link\"}");
        assert_eq!(read(&columns, std::iter::empty()), [""; 0]);
    }
}
