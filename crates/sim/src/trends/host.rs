//! A measured host as points beside the curves: what its memory and one core of it let through to the
//! user.

use bitpath_measure::ByteCount;

use super::Component;
use super::limits::CROSSINGS;
use crate::profile::{CallSize, HostProfile, Transport};

/// A measured host.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredHost {
    /// Its name.
    pub name: String,
    /// When it was measured, in years of the calendar.
    pub year: f64,
    /// What was measured.
    pub profile: HostProfile,
}

/// Bytes of a call at which the processor's cost of a byte is taken [B]: what bulk receivers read.
const BULK: ByteCount = ByteCount(64 << 10);

/// How often a copied byte crosses memory: it is read and written.
const COPY_CROSSINGS: f64 = 2.0;

impl MeasuredHost {
    /// What the components that a profile knows let through [b/s]; a profile knows neither line nor bus.
    #[must_use]
    pub fn limits(&self) -> Vec<(Component, f64)> {
        let memory = self.profile.copy.iter().max_by_key(|copy| copy.working_set);
        let memory = memory.map(|copy| {
            let crossing_bytes_per_second = copy.bandwidth.value.0 * COPY_CROSSINGS;
            (Component::Memory, crossing_bytes_per_second / CROSSINGS * 8.0)
        });
        let size = CallSize::new(Transport::Tcp, BULK, self.profile.path.mtu.value);
        let call_s = self.profile.stack.tcp.receive.of(size).as_nanos_f64() / 1e9;
        let processor = (call_s > 0.0).then(|| (Component::Processor, size.bytes * 8.0 / call_s));
        memory.into_iter().chain(processor).collect()
    }
}

/// The year of a time in UTC as RFC 3339 writes it, in days of a year; the blanks between its parts may be
/// missing, as in the identifier of a record. None where a text begins otherwise.
#[must_use]
pub fn year_of(started: &str) -> Option<f64> {
    let digits: String = started.chars().take(10).filter(char::is_ascii_digit).collect();
    let number = |range: std::ops::Range<usize>| digits.get(range)?.parse::<f64>().ok();
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    let sane = (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day);
    sane.then(|| year + (month - 1.0) / 12.0 + (day - 1.0) / 365.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_2004_lies_where_its_tables_say() {
        let diablo = include_str!("../../../../data/hosts/diablo.toml");
        let profile = HostProfile::read(diablo).unwrap();
        let host = MeasuredHost { name: "diablo".into(), year: 2004.0, profile };
        let limits = host.limits();
        let of = |component| limits.iter().find(|(of, _)| *of == component).unwrap().1;
        // sysSIM tables 7 and 8: its memory copies a gigabyte or two a second, and a core of its time
        // takes some gigabits of TCP.
        assert!((1e9..40e9).contains(&of(Component::Memory)), "{limits:?}");
        assert!((0.5e9..20e9).contains(&of(Component::Processor)), "{limits:?}");
    }

    #[test]
    fn a_year_is_read_from_a_time_or_a_record_s_name() {
        let july = 2026.5;
        for text in ["2026-07-01T00:00:00Z", "20260701T000000-probe"] {
            assert!((year_of(text).unwrap() - july).abs() < 1e-9, "{text}");
        }
        for text in ["", "soon", "2026", "2026-13-01", "measured"] {
            assert_eq!(year_of(text), None, "{text}");
        }
    }
}
