//! Numbers as people read them: three significant digits, a prefix that fits, the unit always.
//!
//! `b` is a bit and `B` a byte; prefixes of rates and times are decimal, those of sizes in bytes
//! binary. A share of a whole is written in per cent.

use bitpath_measure::{Estimate, Labels, Method, Series, Unit};

/// Significant digits of a value without an interval: what a careful measurement here is good for.
const DIGITS: i32 = 3;

/// Most digits behind the point; beyond them the power of ten is written.
const MAX_DECIMALS: i32 = 6;

/// Sizes below this are known by their very number, such as 1472 [B].
const SMALL_BYTES: f64 = 10_000.0;

/// One prefix of a unit: its symbol and how many base units it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Prefix and unit as written.
    pub symbol: &'static str,
    /// Base units in one of it.
    pub factor: f64,
}

impl Scale {
    /// The scale that leaves at least one before the point for this magnitude [base units].
    #[must_use]
    pub fn of(unit: Unit, magnitude: f64) -> Self {
        let steps = steps(unit);
        // 999.6 would be written as 1000, so it already belongs to the next prefix.
        let fits = |step: &&(&str, f64)| magnitude.abs() >= step.1 * 0.9995;
        let step = steps.iter().find(fits).or_else(|| steps.last());
        let (symbol, factor) = step.copied().unwrap_or_else(|| (unit.symbol(), 1.0));
        Self { symbol, factor }
    }

    /// The number alone, with as many digits as `decimals` says.
    fn number(self, value: f64, decimals: i32) -> String {
        fixed(value / self.factor, decimals)
    }

    /// The value with its unit, to three significant digits.
    #[must_use]
    pub fn value(self, value: f64) -> String {
        let scaled = value / self.factor;
        self.with_unit(&fixed(scaled, decimals(scaled)))
    }

    /// A place on an axis: no digit more than it needs.
    #[must_use]
    pub fn tick(self, value: f64) -> String {
        if value == 0.0 {
            return "0".into();
        }
        let number = self.number(value, 3);
        let short = if number.contains('.') && !number.contains('e') {
            number.trim_end_matches('0').trim_end_matches('.')
        } else {
            &number
        };
        self.with_unit(short)
    }

    fn with_unit(self, number: &str) -> String {
        if self.symbol.is_empty() { number.into() } else { format!("{number} {}", self.symbol) }
    }
}

/// The prefixes of a unit, the largest first.
fn steps(unit: Unit) -> &'static [(&'static str, f64)] {
    const KIB: f64 = 1024.0;
    match unit {
        Unit::Bytes => &[("GiB", KIB * KIB * KIB), ("MiB", KIB * KIB), ("KiB", KIB), ("B", 1.0)],
        Unit::BytesPerSecond => {
            &[("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)]
        }
        Unit::BitsPerSecond => {
            &[("Tb/s", 1e12), ("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3), ("b/s", 1.0)]
        }
        Unit::Nanoseconds => &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)],
        Unit::NanosecondsPerByte => &[("ns/B", 1.0)],
        Unit::Seconds => &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)],
        Unit::TscCycles => &[
            ("G TSC cycles", 1e9),
            ("M TSC cycles", 1e6),
            ("k TSC cycles", 1e3),
            ("TSC cycles", 1.0),
        ],
        Unit::TscCyclesPerByte => &[("TSC cycles/B", 1.0)],
        Unit::TscCyclesPerBit => &[("TSC cycles/b", 1.0)],
        Unit::Hertz => &[("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3), ("Hz", 1.0)],
        Unit::Packets => &[("packets", 1.0)],
        Unit::PacketsPerSecond => &[("M packets/s", 1e6), ("k packets/s", 1e3), ("packets/s", 1.0)],
        Unit::Frames => &[("frames", 1.0)],
        Unit::FramesPerSecond => &[("frames/s", 1.0)],
        Unit::Count => &[("count", 1.0)],
        Unit::Ratio => &[("%", 0.01)],
        Unit::Cores => &[("cores", 1.0)],
        Unit::PerByte => &[("/B", 1.0)],
        Unit::Cycles => &[("G cycles", 1e9), ("M cycles", 1e6), ("k cycles", 1e3), ("cycles", 1.0)],
        Unit::Instructions => &[
            ("G instructions", 1e9),
            ("M instructions", 1e6),
            ("k instructions", 1e3),
            ("instructions", 1.0),
        ],
        Unit::PerCycle => &[("a cycle", 1.0)],
        Unit::Year => &[("", 1.0)],
    }
}

/// A value with its unit; whole counts and small whole sizes keep every digit.
#[must_use]
pub fn value(unit: Unit, value: f64) -> String {
    if value == 0.0 {
        return format!("0 {}", zero_symbol(unit));
    }
    let counted = matches!(unit, Unit::Packets | Unit::Frames | Unit::Count);
    if counted && value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{} {}", grouped(value), unit.symbol());
    }
    let scale = Scale::of(unit, value);
    if unit != Unit::Bytes || value.fract() != 0.0 {
        return scale.value(value);
    }
    if (value / scale.factor).fract() == 0.0 {
        return scale.with_unit(&format!("{:.0}", value / scale.factor));
    }
    if value.abs() < SMALL_BYTES { format!("{value:.0} B") } else { scale.value(value) }
}

/// Nothing of a unit is written without a prefix; a share stays in per cent.
fn zero_symbol(unit: Unit) -> &'static str {
    if unit == Unit::Ratio { "%" } else { unit.symbol() }
}

/// A value and, where it has one, its interval in the same scale: `845 ns [830, 861]`.
#[must_use]
pub fn estimate(unit: Unit, estimate: &Estimate) -> String {
    let largest = estimate.value.abs().max(estimate.low.abs().min(estimate.high.abs()));
    in_scale(unit, Scale::of(unit, largest), estimate)
}

/// A value and its interval in a given scale, so that two of them are read side by side.
#[must_use]
pub fn in_scale(unit: Unit, scale: Scale, estimate: &Estimate) -> String {
    if !has_interval(estimate) {
        let small = estimate.value.abs() < scale.factor && estimate.value != 0.0;
        return if small { scale.value(estimate.value) } else { value(unit, estimate.value) };
    }
    let places = shared_decimals(estimate, scale.factor);
    let number = scale.number(estimate.value, places);
    format!("{} {}", scale.with_unit(&number), between(estimate, scale.factor, places))
}

/// A gain: how many times as much, `1.42x [1.38, 1.47]`.
#[must_use]
pub fn factor(gain: &Estimate) -> String {
    let places = shared_decimals(gain, 1.0).max(2);
    let number = fixed(gain.value, places);
    if has_interval(gain) {
        format!("{number}x {}", between(gain, 1.0, places))
    } else {
        format!("{number}x")
    }
}

/// A number without dimension that is no share: an elasticity, `0.92 [0.88, 0.95]`.
#[must_use]
pub fn plain(number: &Estimate) -> String {
    let places = 2;
    let text = fixed(number.value, places);
    if has_interval(number) { format!("{text} {}", between(number, 1.0, places)) } else { text }
}

/// A share of a whole in per cent, one digit behind the point.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", fixed(share * 100.0, 1))
}

/// An error in per cent with its sign.
#[must_use]
pub fn signed_percent(share: f64) -> String {
    let text = percent(share);
    if share > 0.0 { format!("+{text}") } else { text }
}

/// A label's number of bytes as a size; any other text as it is.
#[must_use]
pub fn label_size(text: &str) -> String {
    match text.parse::<u32>() {
        Ok(bytes) if bytes >= 1024 && bytes % 1024 == 0 => value(Unit::Bytes, bytes.into()),
        Ok(bytes) => format!("{bytes} B"),
        Err(_) => text.into(),
    }
}

/// A value of a sweep's series: a plain number for a count, and the word that a number stands for.
#[must_use]
pub fn varied(series: &Series, number: f64) -> String {
    let words = series.labels.get("words");
    if let Some(words) = words {
        let is_place = |(place, _): &(usize, &str)| *place as f64 == number;
        return words.split(',').enumerate().find(is_place).map_or("-", |(_, word)| word).into();
    }
    if series.unit == Unit::Count { number.to_string() } else { value(series.unit, number) }
}

/// Labels in one line; `-` where there are none.
#[must_use]
pub fn labels(labels: &Labels) -> String {
    if labels.is_empty() {
        return "-".into();
    }
    let pairs: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(", ")
}

/// A dotted name as words: `kernel_buffer.used` is "kernel buffer used".
#[must_use]
pub fn words(name: &str) -> String {
    name.replace(['.', '_'], " ")
}

/// How an estimate was made, as the record's JSON names it.
#[must_use]
pub fn method(method: Method) -> &'static str {
    match method {
        Method::MedianBlockBootstrap => "median-block-bootstrap",
        Method::TrimmedMeanBlockBootstrap => "trimmed-mean-block-bootstrap",
        Method::MeanStudentT => "mean-student-t",
        Method::GeometricMeanStudentT => "geometric-mean-student-t",
        Method::SignedRank => "signed-rank",
        Method::LeastSquares => "least-squares",
        Method::Line => "line",
        Method::Simulated => "simulated",
        Method::Single => "single",
    }
}

/// How an estimate was made, in a word.
#[must_use]
pub fn short_method(method: Method) -> &'static str {
    match method {
        Method::MedianBlockBootstrap => "median",
        Method::TrimmedMeanBlockBootstrap => "trimmed mean",
        Method::MeanStudentT => "mean",
        Method::GeometricMeanStudentT => "geometric mean",
        Method::SignedRank => "signed rank",
        Method::LeastSquares | Method::Line => "fit",
        Method::Simulated => "simulated",
        Method::Single => "single",
    }
}

/// Whether an estimate carries an interval that is wider than a point.
#[must_use]
pub fn has_interval(estimate: &Estimate) -> bool {
    estimate.low != estimate.high && estimate.low.is_finite() && estimate.high.is_finite()
}

fn between(estimate: &Estimate, factor: f64, places: i32) -> String {
    let end = |value: f64| fixed(value / factor, places);
    format!("[{}, {}]", end(estimate.low), end(estimate.high))
}

/// Digits behind the point for three significant ones.
fn decimals(scaled: f64) -> i32 {
    // What rounds up to the next power of ten has one digit more before the point.
    DIGITS - 1 - exponent(scaled * 1.0005)
}

/// As many as for the value alone, and more where the interval would vanish in the rounding.
fn shared_decimals(estimate: &Estimate, factor: f64) -> i32 {
    let half_width = (estimate.high - estimate.low).abs() / 2.0 / factor;
    let for_value = decimals(estimate.value / factor);
    for_value.max(-exponent(half_width)).min(for_value.max(0) + 2)
}

/// Power of ten of the leading digit; 0 for what has none.
#[expect(clippy::cast_possible_truncation, reason = "the logarithm of an f64 is within +-324")]
fn exponent(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() { 0 } else { value.abs().log10().floor() as i32 }
}

/// The number with that many digits behind the point; never "-0".
fn fixed(value: f64, decimals: i32) -> String {
    if value.is_nan() {
        return "n/a".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if value != 0.0 && (decimals > MAX_DECIMALS || exponent(value) >= 15) {
        return format!("{value:.2e}");
    }
    let places = usize::try_from(decimals.max(0)).unwrap_or(0);
    let text = format!("{value:.places$}");
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').into() } else { text }
}

/// A whole number with a comma between thousands.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { low, high, confidence: 0.95, samples: 30, ..Estimate::single(value) }
    }

    #[test]
    fn a_value_is_written_with_the_prefix_that_fits() {
        let table = [
            (Unit::BytesPerSecond, 1.234e9, "1.23 GB/s"),
            (Unit::Nanoseconds, 845.2, "845 ns"),
            (Unit::Nanoseconds, 12_300.0, "12.3 us"),
            (Unit::Nanoseconds, 999.7, "1.00 us"),
            (Unit::Nanoseconds, 0.035, "0.0350 ns"),
            (Unit::BitsPerSecond, 3.4e6, "3.40 Mb/s"),
            (Unit::Bytes, 212_992.0, "208 KiB"),
            (Unit::Bytes, 1472.0, "1472 B"),
            (Unit::Seconds, 0.002, "2.00 ms"),
            (Unit::Ratio, 0.123, "12.3 %"),
            (Unit::Packets, 795_771.0, "795,771 packets"),
            (Unit::PacketsPerSecond, 34_048.0, "34.0 k packets/s"),
            (Unit::Cores, 1.0, "1.00 cores"),
            (Unit::BitsPerSecond, 0.0, "0 b/s"),
        ];
        for (unit, number, text) in table {
            assert_eq!(value(unit, number), text);
        }
    }

    #[test]
    fn what_is_no_number_is_said_so() {
        assert_eq!(value(Unit::Nanoseconds, f64::NAN), "n/a ns");
        assert_eq!(value(Unit::BitsPerSecond, f64::INFINITY), "inf Tb/s");
        assert_eq!(signed_percent(f64::NAN), "n/a %");
        assert_eq!(value(Unit::BitsPerSecond, 1e40), "1.00e28 Tb/s");
        assert_eq!(value(Unit::Nanoseconds, 1e-20), "1.00e-20 ns");
    }

    #[test]
    fn value_and_interval_share_a_scale() {
        let text = estimate(Unit::BytesPerSecond, &interval(1.23e9, 0.98e9, 1.31e9));
        assert_eq!(text, "1.23 GB/s [0.98, 1.31]");
        assert_eq!(estimate(Unit::Nanoseconds, &Estimate::single(845.0)), "845 ns");
    }

    #[test]
    fn a_narrow_interval_does_not_vanish_in_the_rounding() {
        let text = estimate(Unit::Nanoseconds, &interval(845.0, 844.8, 845.3));
        assert_eq!(text, "845.0 ns [844.8, 845.3]");
    }

    #[test]
    fn a_loss_of_nothing_is_not_minus_nothing() {
        assert_eq!(percent(-0.00001), "0.0 %");
        assert_eq!(signed_percent(0.042), "+4.2 %");
    }

    #[test]
    fn gains_and_elasticities_are_no_shares() {
        assert_eq!(factor(&interval(1.42, 1.38, 1.47)), "1.42x [1.38, 1.47]");
        assert_eq!(plain(&interval(0.92, 0.88, 0.95)), "0.92 [0.88, 0.95]");
    }

    #[test]
    fn ticks_carry_no_idle_zeros() {
        let scale = Scale::of(Unit::BytesPerSecond, 2e9);
        assert_eq!(scale.tick(5e8), "0.5 GB/s");
        assert_eq!(scale.tick(2e9), "2 GB/s");
        assert_eq!(scale.tick(0.0), "0");
    }

    #[test]
    fn a_label_that_is_a_size_is_written_as_one() {
        assert_eq!(label_size("32768"), "32 KiB");
        assert_eq!(label_size("1472"), "1472 B");
        assert_eq!(label_size("L2"), "L2");
    }
}
