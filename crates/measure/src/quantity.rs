//! Quantities with their unit in the type, written and read as text with a unit ("208 KiB").
//!
//! Decimal prefixes are decimal (1 Mb/s is 10⁶ bits a second) and binary ones are binary
//! (1 KiB is 2¹⁰ bytes); `b` is a bit and `B` a byte, never the other way round.

mod text;

pub use text::QuantityError;

use std::fmt;
use std::str::FromStr;

use text::{Scale, parse_integer, parse_real, write_integer, write_real};

/// Defines one quantity: a number of its base unit, with its table of written units.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($number:ty), $what:literal, $scales:expr, $parse:ident, $write:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $write(f, self.0, $scales)
            }
        }

        impl FromStr for $name {
            type Err = QuantityError;

            fn from_str(text: &str) -> Result<Self, QuantityError> {
                $parse(text, $what, $scales).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(text::QuantityVisitor::<Self>::new($what, $scales))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": text::describe($what, $scales),
                })
            }
        }
    };
}

quantity!(
    /// Number of bytes [B].
    #[derive(Eq, Ord, Hash)]
    ByteCount(u64),
    "a number of bytes",
    &[
        Scale { unit: "GiB", factor: 1 << 30 },
        Scale { unit: "MiB", factor: 1 << 20 },
        Scale { unit: "KiB", factor: 1 << 10 },
        Scale { unit: "GB", factor: 1_000_000_000 },
        Scale { unit: "MB", factor: 1_000_000 },
        Scale { unit: "kB", factor: 1000 },
        Scale { unit: "B", factor: 1 },
    ],
    parse_integer,
    write_integer
);
quantity!(
    /// Bits moved in a second [b/s].
    #[derive(Eq, Ord, Hash)]
    BitRate(u64),
    "a bit rate",
    &[
        Scale { unit: "Tb/s", factor: 1_000_000_000_000 },
        Scale { unit: "Gb/s", factor: 1_000_000_000 },
        Scale { unit: "Mb/s", factor: 1_000_000 },
        Scale { unit: "kb/s", factor: 1000 },
        Scale { unit: "b/s", factor: 1 },
    ],
    parse_integer,
    write_integer
);
quantity!(
    /// A span or a point of time in whole picoseconds [ps]; 64 bits hold 213 days.
    #[derive(Eq, Ord, Hash)]
    Picos(u64),
    "a time",
    &[
        Scale { unit: "s", factor: 1_000_000_000_000 },
        Scale { unit: "ms", factor: 1_000_000_000 },
        Scale { unit: "us", factor: 1_000_000 },
        Scale { unit: "ns", factor: 1000 },
        Scale { unit: "ps", factor: 1 },
    ],
    parse_integer,
    write_integer
);
quantity!(
    /// Number of packets [packets].
    #[derive(Eq, Ord, Hash)]
    PacketCount(u64),
    "a number of packets",
    &[Scale { unit: "packets", factor: 1 }],
    parse_integer,
    write_integer
);
quantity!(
    /// Bytes moved in a second [B/s].
    ByteRate(f64),
    "a byte rate",
    &[
        Scale { unit: "GB/s", factor: 1_000_000_000 },
        Scale { unit: "MB/s", factor: 1_000_000 },
        Scale { unit: "kB/s", factor: 1000 },
        Scale { unit: "B/s", factor: 1 },
    ],
    parse_real,
    write_real
);
quantity!(
    /// Events in a second [Hz].
    Hertz(f64),
    "a frequency",
    &[
        Scale { unit: "GHz", factor: 1_000_000_000 },
        Scale { unit: "MHz", factor: 1_000_000 },
        Scale { unit: "kHz", factor: 1000 },
        Scale { unit: "Hz", factor: 1 },
    ],
    parse_real,
    write_real
);

impl Picos {
    /// One second [ps].
    pub const SECOND: Self = Self(1_000_000_000_000);

    /// A whole number of nanoseconds [ns].
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos * 1000)
    }

    /// A real number of nanoseconds [ns], rounded to the picosecond; negative becomes zero.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is the documented rounding"
    )]
    pub fn from_nanos_f64(nanos: f64) -> Self {
        Self((nanos * 1000.0).round() as u64)
    }

    /// This time as nanoseconds [ns].
    #[must_use]
    pub fn as_nanos_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// This time as seconds [s].
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl BitRate {
    /// Time that `bytes` take at this rate [ps], rounded up; `None` at rate zero.
    #[must_use]
    pub fn time_of(self, bytes: ByteCount) -> Option<Picos> {
        let picobits = u128::from(bytes.0) * 8 * u128::from(Picos::SECOND.0);
        let time = picobits.checked_add(u128::from(self.0).checked_sub(1)?)? / u128::from(self.0);
        u64::try_from(time).ok().map(Picos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bits_and_bytes_are_not_confused() {
        assert_eq!("1 Gb/s".parse(), Ok(BitRate(1_000_000_000)));
        assert!("1 GB/s".parse::<BitRate>().is_err());
        assert_eq!("208 KiB".parse(), Ok(ByteCount(212_992)));
        assert_eq!("1.5 kB".parse(), Ok(ByteCount(1500)));
    }

    #[test]
    fn what_is_no_whole_number_of_base_units_is_refused() {
        assert!("0.5 B".parse::<ByteCount>().is_err());
        assert!("-1 ns".parse::<Picos>().is_err());
        assert!("1e30 s".parse::<Picos>().is_err());
        assert!("nan MB/s".parse::<ByteRate>().is_err());
    }

    #[test]
    fn an_error_names_the_text_and_the_units() {
        let error = "12 furlongs".parse::<Picos>().unwrap_err().to_string();
        assert_eq!(error, "`12 furlongs` is not a time: the unit is one of s, ms, us, ns, ps");
    }

    #[test]
    fn a_gigabit_carries_1514_bytes_in_12112_ns() {
        let time = BitRate(1_000_000_000).time_of(ByteCount(1514));
        assert_eq!(time, Some(Picos::from_nanos(12_112)));
        assert_eq!(BitRate(0).time_of(ByteCount(1)), None);
    }

    proptest! {
        #[test]
        fn text_round_trips(bytes: u64, bits: u64, time: u64, rate in 0.0..1e15f64) {
            prop_assert_eq!(ByteCount(bytes).to_string().parse(), Ok(ByteCount(bytes)));
            prop_assert_eq!(BitRate(bits).to_string().parse(), Ok(BitRate(bits)));
            prop_assert_eq!(Picos(time).to_string().parse(), Ok(Picos(time)));
            let parsed: ByteRate = ByteRate(rate).to_string().parse().unwrap();
            prop_assert!((parsed.0 - rate).abs() <= rate * 1e-12);
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _outcome_is_a_value = text.parse::<ByteCount>().is_ok() | text.parse::<Hertz>().is_ok();
        }
    }
}
