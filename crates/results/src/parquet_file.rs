//! The series of a sweep as a Parquet file: a column for each series, a row for each point
//! (Apache Parquet format 2, uncompressed).
//!
//! A column is named after its series with the unit behind it, `throughput [b/s]`, and holds
//! doubles; where the label `words` lists what the numbers stand for, it holds the words.

use std::sync::Arc;

use bitpath_measure::{Run, Series};
use parquet::basic::{ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

/// The file's bytes.
///
/// # Errors
/// Where the series are not equally long or two have one name and unit: they are no table.
pub(crate) fn bytes(run: &Run) -> Result<Vec<u8>> {
    let rows = run.series.first().map_or(0, |series| series.samples.len());
    if let Some(odd) = run.series.iter().find(|series| series.samples.len() != rows) {
        let (name, length) = (&odd.name, odd.samples.len());
        return Err(ParquetError::General(format!("{name} has {length} samples, not {rows}")));
    }
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema(run)?, properties)?;
    let mut group = writer.next_row_group()?;
    for series in &run.series {
        if let Some(column) = group.next_column()? {
            write(column, series)?;
        }
    }
    group.close()?;
    writer.into_inner()
}

fn schema(run: &Run) -> Result<TypePtr> {
    let columns: Result<Vec<TypePtr>> = run.series.iter().map(column).collect();
    Ok(Arc::new(Type::group_type_builder("sweep").with_fields(columns?).build()?))
}

fn column(series: &Series) -> Result<TypePtr> {
    let column = if words(series).is_some() {
        Type::primitive_type_builder(&series.name, PhysicalType::BYTE_ARRAY)
            .with_converted_type(ConvertedType::UTF8)
            .with_repetition(Repetition::REQUIRED)
            .build()?
    } else {
        let name = format!("{} [{}]", series.name, series.unit.symbol());
        Type::primitive_type_builder(&name, PhysicalType::DOUBLE)
            .with_repetition(Repetition::REQUIRED)
            .build()?
    };
    Ok(Arc::new(column))
}

fn write(mut column: SerializedColumnWriter<'_>, series: &Series) -> Result<()> {
    let numbers = series.samples.iter().map(|sample| sample.value);
    match words(series) {
        Some(words) => {
            let word = |number: f64| ByteArray::from(word(&words, number));
            let values: Vec<ByteArray> = numbers.map(word).collect();
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
        None => {
            let values: Vec<f64> = numbers.collect();
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
        }
    }
    column.close()
}

/// What the numbers of a series stand for, where they are places in a list of words.
fn words(series: &Series) -> Option<Vec<&str>> {
    series.labels.get("words").map(|words| words.split(',').collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
fn word<'a>(words: &[&'a str], number: f64) -> &'a str {
    words.get(number as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

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

    #[test]
    fn what_is_written_is_read_by_parquets_own_reader() {
        let mut transport = series("job.transport", Unit::Count, &[0.0, 1.0]);
        transport.labels.insert("words".into(), "udp,tcp".into());
        let run =
            run(vec![transport, series("throughput", Unit::BitsPerSecond, &[0.1 + 0.2, 1e9])]);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes(&run).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].contains("job.transport: \"udp\""), "{rows:?}");
        assert!(rows[0].contains("throughput [b/s]: 0.30000000000000004"), "{rows:?}");
    }

    #[test]
    fn series_that_are_no_table_are_refused() {
        let run = run(vec![series("a", Unit::Count, &[1.0]), series("b", Unit::Count, &[])]);
        assert!(bytes(&run).unwrap_err().to_string().contains("b has 0 samples, not 1"));
    }
}
