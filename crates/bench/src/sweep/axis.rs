//! One varied key and its values: `job.receive_buffer=16KiB..8MiB:log10`.
//!
//! ```text
//! key=a,b,c       these values
//! key=a..b:linN   N values at equal distances, both ends included
//! key=a..b:logN   N values at equal ratios, both ends included
//! ```
//!
//! Sizes, counts and times are rounded to whole base units; values that round to the same one are
//! taken once.

use std::fmt::Display;
use std::str::FromStr;

use bitpath_measure::{BitRate, ByteCount, ByteRate, Hertz, Picos, Unit};
use bitpath_sim::profile::NanosPerByte;
use bitpath_sim::scenario::{Setting, SettingError};

/// One key and the values that it takes in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    key: String,
    unit: Option<Unit>,
    levels: Vec<Level>,
    is_range: bool,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// As a setting has it.
    pub text: String,
    /// In the axis' unit; the place in the list for words.
    pub number: f64,
}

/// Why a text is no axis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{written}` varies nothing: {reason}; write key=a,b,c or key=a..b:logN or key=a..b:linN")]
pub struct AxisError {
    /// What was written.
    pub written: String,
    /// What is wrong with it.
    pub reason: String,
}

/// How the values of a range are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spacing {
    Linear,
    Logarithmic,
}

/// What a text can be a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whole,
    Real,
    Bytes,
    BitRate,
    Time,
    ByteRate,
    Frequency,
    TimePerByte,
}

impl Axis {
    /// The dotted key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Unit of the levels' numbers; none for words.
    #[must_use]
    pub fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// The values, in the order in which they were written.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The values that a mistake would show at: all of a list, the ends of a range.
    pub(super) fn typical(&self) -> impl Iterator<Item = &Level> {
        let last = self.levels.len() - 1;
        let inner = move |index: usize| self.is_range && index > 0 && index < last;
        self.levels.iter().enumerate().filter(move |(index, _)| !inner(*index)).map(|(_, at)| at)
    }

    /// The setting of this axis to one of its values.
    pub(super) fn setting(&self, level: &Level) -> Result<Setting, SettingError> {
        Setting::new(&self.key, &level.text)
    }
}

impl FromStr for Axis {
    type Err = AxisError;

    fn from_str(written: &str) -> Result<Self, AxisError> {
        let wrong = |reason: &str| AxisError { written: written.into(), reason: reason.into() };
        let (key, values) = written.split_once('=').ok_or_else(|| wrong("it has no `=`"))?;
        let key = key.trim();
        Setting::new(key, "0").map_err(|_| wrong("its key is no key of a scenario"))?;
        let range = values.split_once("..");
        let (unit, levels) = match range {
            Some((low, rest)) => range_of(low.trim(), rest.trim()),
            None => list_of(values),
        }
        .map_err(|reason| wrong(&reason))?;
        Ok(Self { key: key.into(), unit, levels, is_range: range.is_some() })
    }
}

fn list_of(values: &str) -> Result<(Option<Unit>, Vec<Level>), String> {
    let texts: Vec<&str> = values.split(',').map(str::trim).collect();
    if texts.contains(&"") {
        return Err("a value is empty".into());
    }
    let kind = Kind::of(&texts);
    let number = |(place, text): (usize, &&str)| match kind {
        Some(kind) => kind.read(text).map_or(place as f64, |base| base * kind.base_in_unit()),
        None => place as f64,
    };
    let numbers = texts.iter().enumerate().map(number);
    let levels = texts.iter().zip(numbers);
    let levels = levels.map(|(text, number)| Level { text: (*text).into(), number }).collect();
    Ok((kind.map(Kind::unit), levels))
}

/// The range from `low`; `rest` is `high:logN` or `high:linN`.
fn range_of(low: &str, rest: &str) -> Result<(Option<Unit>, Vec<Level>), String> {
    let (high, spacing) = rest.rsplit_once(':').ok_or("the range does not say its spacing")?;
    let (spacing, count) = if let Some(count) = spacing.strip_prefix("log") {
        (Spacing::Logarithmic, count)
    } else if let Some(count) = spacing.strip_prefix("lin") {
        (Spacing::Linear, count)
    } else {
        return Err(format!("`{spacing}` is no spacing"));
    };
    let count = count.parse().ok().filter(|count| (2..=super::MAX_POINTS).contains(count));
    let count = count.ok_or_else(|| {
        format!("a range has 2 to {} values, its ends included", super::MAX_POINTS)
    })?;
    let kind = Kind::of(&[low, high]).ok_or("its ends are no numbers of the same unit")?;
    let ends = kind.read(low).zip(kind.read(high)).filter(|(low, high)| low < high);
    let (low, high) = ends.ok_or("its first end is not below its last")?;
    if spacing == Spacing::Logarithmic && low <= 0.0 {
        return Err("equal ratios need ends above zero".into());
    }
    let mut bases: Vec<f64> = (0..count)
        .map(|index| kind.rounded(spacing.between(low, high, index as f64 / (count - 1) as f64)))
        .collect();
    bases.dedup();
    let level = |base: f64| Level { text: kind.write(base), number: base * kind.base_in_unit() };
    Ok((Some(kind.unit()), bases.into_iter().map(level).collect()))
}

impl Spacing {
    /// The value at a share of the way; both ends are met exactly.
    fn between(self, low: f64, high: f64, share: f64) -> f64 {
        match self {
            _ if share >= 1.0 => high,
            Self::Linear => low + (high - low) * share,
            Self::Logarithmic => low * (high / low).powf(share),
        }
    }
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Whole,
        Self::Real,
        Self::Bytes,
        Self::BitRate,
        Self::Time,
        Self::ByteRate,
        Self::Frequency,
        Self::TimePerByte,
    ];

    /// What all these texts are a number of.
    fn of(texts: &[&str]) -> Option<Self> {
        let fits = |kind: &Self| texts.iter().all(|text| kind.read(text).is_some());
        Self::ALL.into_iter().find(fits)
    }

    /// The number in base units: B, b/s, ps, B/s, Hz, ns/B.
    fn read(self, text: &str) -> Option<f64> {
        match self {
            Self::Whole => text.replace('_', "").parse::<i64>().ok().map(|number| number as f64),
            Self::Real => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Bytes => text.parse().ok().map(|ByteCount(bytes)| bytes as f64),
            Self::BitRate => text.parse().ok().map(|BitRate(bits)| bits as f64),
            Self::Time => text.parse().ok().map(|Picos(picos)| picos as f64),
            Self::ByteRate => text.parse().ok().map(|ByteRate(bytes)| bytes),
            Self::Frequency => text.parse().ok().map(|Hertz(hertz)| hertz),
            Self::TimePerByte => text.parse().ok().map(|NanosPerByte(nanos)| nanos),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "quantities are not negative, and `as` saturates"
    )]
    fn write(self, base: f64) -> String {
        let text = |quantity: &dyn Display| quantity.to_string();
        match self {
            Self::Whole | Self::Real => text(&base),
            Self::Bytes => text(&ByteCount(base as u64)),
            Self::BitRate => text(&BitRate(base as u64)),
            Self::Time => text(&Picos(base as u64)),
            Self::ByteRate => text(&ByteRate(base)),
            Self::Frequency => text(&Hertz(base)),
            Self::TimePerByte => text(&NanosPerByte(base)),
        }
    }

    fn rounded(self, base: f64) -> f64 {
        match self {
            Self::Whole | Self::Bytes | Self::BitRate | Self::Time => base.round(),
            Self::Real | Self::ByteRate | Self::Frequency | Self::TimePerByte => base,
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Whole | Self::Real => Unit::Count,
            Self::Bytes => Unit::Bytes,
            Self::BitRate => Unit::BitsPerSecond,
            Self::Time => Unit::Nanoseconds,
            Self::ByteRate => Unit::BytesPerSecond,
            Self::Frequency => Unit::Hertz,
            Self::TimePerByte => Unit::NanosecondsPerByte,
        }
    }

    /// Units of a record in one base unit.
    fn base_in_unit(self) -> f64 {
        if self == Self::Time { 1e-3 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &str) -> Vec<String> {
        let axis: Axis = axis.parse().unwrap();
        axis.levels.into_iter().map(|level| level.text).collect()
    }

    #[test]
    fn values_are_spaced_as_written_with_both_ends() {
        for (axis, expected) in [
            ("a=1,2,4", &["1", "2", "4"][..]),
            ("a = udp, tcp", &["udp", "tcp"]),
            ("a=16KiB..64KiB:log3", &["16 KiB", "32 KiB", "64 KiB"]),
            ("a=1 kB..1 MB:log4", &["1 kB", "10 kB", "100 kB", "1 MB"]),
            ("a=1us..2us:lin3", &["1 us", "1500 ns", "2 us"]),
            ("a=1..3:lin5", &["1", "2", "3"]),
            ("a=0.5..1:lin2", &["0.5", "1"]),
            ("a=0 ns/B..1 ns/B:lin3", &["0 ns/B", "0.5 ns/B", "1 ns/B"]),
        ] {
            assert_eq!(texts(axis), expected, "{axis}");
        }
    }

    #[test]
    fn numbers_are_in_one_unit_and_words_are_counted() {
        let axis: Axis = "a=1 ms,2 us".parse().unwrap();
        assert_eq!(axis.unit, Some(Unit::Nanoseconds));
        assert_eq!(axis.levels[1].number, 2000.0);
        let axis: Axis = "a=udp,7".parse().unwrap();
        assert_eq!((axis.unit, axis.levels[1].number), (None, 1.0));
    }

    #[test]
    fn a_mistake_is_named_with_what_would_do() {
        for (axis, word) in [
            ("a", "it has no `=`"),
            ("a b=1", "its key"),
            ("a=1,,2", "a value is empty"),
            ("a=1..2", "does not say its spacing"),
            ("a=1..2:cube3", "`cube3` is no spacing"),
            ("a=1..2:log1", "2 to 1000000 values"),
            ("a=1..2:linx", "2 to 1000000 values"),
            ("a=1 s..2 B:lin3", "same unit"),
            ("a=2..1:lin3", "not below"),
            ("a=0..1:log3", "above zero"),
        ] {
            let error = axis.parse::<Axis>().unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("a..b:logN"), "{error}");
        }
    }
}
