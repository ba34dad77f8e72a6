//! Reading and writing a number with its unit, by the table of units of one quantity.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// One written unit and how many base units it stands for.
#[derive(Debug)]
pub(super) struct Scale {
    /// The unit as written.
    pub(super) unit: &'static str,
    /// Base units in one of it.
    pub(super) factor: u64,
}

/// Why a text is no such quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// There is no number in front of the unit.
    #[error("`{text}` is not {what}: it begins with a number, then a unit such as `{example}`")]
    NoNumber {
        /// The text that was read.
        text: String,
        /// The quantity that was wanted.
        what: &'static str,
        /// One unit that would do.
        example: &'static str,
    },
    /// The unit belongs to no or to another quantity.
    #[error("`{text}` is not {what}: the unit is one of {units}")]
    Unit {
        /// The text that was read.
        text: String,
        /// The quantity that was wanted.
        what: &'static str,
        /// The units that would do.
        units: String,
    },
    /// The number is negative, not finite, too large, or no whole number of base units.
    #[error("`{text}` is not {what}: the value must be {allowed}")]
    Value {
        /// The text that was read.
        text: String,
        /// The quantity that was wanted.
        what: &'static str,
        /// The values that would do.
        allowed: String,
    },
}

/// The units of a table in one line.
fn units(scales: &[Scale]) -> String {
    scales.iter().map(|scale| scale.unit).collect::<Vec<_>>().join(", ")
}

/// A sentence for the JSON Schema.
pub(super) fn describe(what: &str, scales: &[Scale]) -> String {
    format!("{what}: a number and one of {}", units(scales))
}

/// Splits "1.5 kB" into its number's text and its scale.
fn split<'a>(
    text: &'a str,
    what: &'static str,
    scales: &'static [Scale],
) -> Result<(&'a str, u64), QuantityError> {
    let trimmed = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_');
    let end = trimmed.find(|c| !is_number(c)).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    if number.is_empty() {
        let example = scales.last().map_or("", |scale| scale.unit);
        return Err(QuantityError::NoNumber { text: text.into(), what, example });
    }
    let unit = unit.trim();
    let scale = scales.iter().find(|scale| scale.unit == unit);
    let scale = scale.ok_or_else(|| QuantityError::Unit {
        text: text.into(),
        what,
        units: units(scales),
    })?;
    Ok((number, scale.factor))
}

/// Reads a whole number of base units; "1.5 kB" is whole, "0.5 B" is not.
pub(super) fn parse_integer(
    text: &str,
    what: &'static str,
    scales: &'static [Scale],
) -> Result<u64, QuantityError> {
    let (number, factor) = split(text, what, scales)?;
    let refuse = || {
        let base = scales.last().map_or("", |scale| scale.unit);
        let allowed = format!("a whole number of {base}, from 0 to {}", u64::MAX);
        QuantityError::Value { text: text.into(), what, allowed }
    };
    let digits = number.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let whole: u64 = whole.parse().map_err(|_| refuse())?;
    let scaled = whole.checked_mul(factor).ok_or_else(refuse)?;
    let parts = scale_fraction(fraction, factor).ok_or_else(refuse)?;
    scaled.checked_add(parts).ok_or_else(refuse)
}

/// The base units in the digits behind the point, if they are whole.
fn scale_fraction(digits: &str, factor: u64) -> Option<u64> {
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let value: u128 = digits.parse().ok()?;
    let divisor = 10u128.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let scaled = value.checked_mul(u128::from(factor))?;
    if !scaled.is_multiple_of(divisor) {
        return None;
    }
    u64::try_from(scaled / divisor).ok()
}

/// Reads a finite number that is not negative.
pub(super) fn parse_real(
    text: &str,
    what: &'static str,
    scales: &'static [Scale],
) -> Result<f64, QuantityError> {
    let (number, factor) = split(text, what, scales)?;
    match number.replace('_', "").parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value * factor as f64),
        _ => Err(QuantityError::Value {
            text: text.into(),
            what,
            allowed: "finite and not negative".into(),
        }),
    }
}

/// Writes the number with the largest unit that divides it.
pub(super) fn write_integer(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    scales: &[Scale],
) -> fmt::Result {
    let exact =
        scales.iter().find(|scale| value >= scale.factor && value.is_multiple_of(scale.factor));
    match exact.or_else(|| scales.last()) {
        Some(scale) => f.pad(&format!("{} {}", value / scale.factor, scale.unit)),
        None => f.pad(&value.to_string()),
    }
}

/// Writes the number with the largest unit that leaves at least one before the point.
pub(super) fn write_real(f: &mut fmt::Formatter<'_>, value: f64, scales: &[Scale]) -> fmt::Result {
    let fitting = scales.iter().find(|scale| value >= scale.factor as f64);
    match fitting.or_else(|| scales.last()) {
        Some(scale) => f.pad(&format!("{} {}", value / scale.factor as f64, scale.unit)),
        None => f.pad(&value.to_string()),
    }
}

/// Reads a quantity from a string; a bare number is refused with the units that would do.
pub(super) struct QuantityVisitor<Q> {
    what: &'static str,
    scales: &'static [Scale],
    quantity: PhantomData<Q>,
}

impl<Q> QuantityVisitor<Q> {
    pub(super) fn new(what: &'static str, scales: &'static [Scale]) -> Self {
        Self { what, scales, quantity: PhantomData }
    }
}

impl<Q: FromStr<Err = QuantityError>> serde::de::Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in quotes with a unit, one of {}", self.what, units(self.scales))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Q, E> {
        text.parse().map_err(E::custom)
    }
}
