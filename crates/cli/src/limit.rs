//! How large a simulation may be: told before it runs, and asked about where it takes long.
//!
//! ```text
//! scenario ──► size [packets] ──► above --limit: refused
//!     └──► parts, each 8 times as long ──► time [s] by share ──► whole [s] ──► over a minute: asked about
//! ```
//!
//! Engines do the same for each packet, so time follows the simulated share; what a run takes before
//! its first packet is in two parts alike and falls out of their difference.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::str::FromStr;

use bitpath_measure::Unit;
use bitpath_platform::clock;
use bitpath_report::format;
use bitpath_sim::engine::size::{Part, Size, parts, size};
use bitpath_sim::engine::{self, Engine};
use bitpath_sim::scenario::Scenario;

use crate::failure::Failure;

/// Packets that the user accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    /// Any number.
    None,
    /// At most so many [packets].
    Packets(f64),
}

/// A scenario that is to be simulated.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Its file, and what was set.
    pub(crate) name: String,
    pub(crate) scenario: Scenario,
    pub(crate) engine: Option<Engine>,
    /// How often it runs.
    pub(crate) runs: u32,
}

/// Goes on where the work is within the limit or, without one, short or wanted all the same.
pub(crate) fn agree(limit: Option<Limit>, works: &[Work]) -> Result<(), Failure> {
    // The closed form looks at no packet.
    let works = works.iter().filter(|work| work.engine != Some(Engine::ClosedForm));
    match limit {
        Some(Limit::None) => Ok(()),
        Some(Limit::Packets(limit)) => works.into_iter().try_for_each(|work| within(limit, work)),
        None => works.into_iter().try_for_each(ask),
    }
}

fn within(limit: f64, work: &Work) -> Result<(), Failure> {
    let estimate = Estimate::of(work);
    if estimate.packets <= limit {
        return Ok(());
    }
    let limit = Limit::Packets(limit);
    Err(Failure::OverLimit { name: work.name.clone(), estimate, limit })
}

/// Asks about work that takes long; without a terminal, there is nobody to ask.
fn ask(work: &Work) -> Result<(), Failure> {
    let mut estimate = Estimate::of(work);
    estimate.seconds = seconds(work);
    if estimate.seconds <= LONG_S {
        return Ok(());
    }
    let name = work.name.clone();
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::TooLong { name, estimate });
    }
    eprint!("bitpath: {name}: this is {estimate}; go on? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let yes = matches!(answer.trim(), "y" | "Y" | "yes");
    if yes { Ok(()) } else { Err(Failure::Declined { name }) }
}

/// What takes longer is asked about [s].
const LONG_S: f64 = 60.0;

/// About how much work something is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// In all runs [packets].
    packets: f64,
    /// The key that makes them fewer.
    pub(crate) key: &'static str,
    /// Processor time on this computer [s]; 0 where it was not asked.
    seconds: f64,
}

impl Estimate {
    fn of(work: &Work) -> Self {
        let Size { packets, key } = size(&work.scenario);
        Self { packets: packets as f64 * f64::from(work.runs), key, seconds: 0.0 }
    }

    /// The smallest limit in round figures that accepts it.
    pub(crate) fn limit(&self) -> Limit {
        Limit::Packets(in_digits(1.0, self.packets, f64::ceil))
    }

    /// Its packets to three digits.
    pub(crate) fn packets(&self) -> String {
        format::value(Unit::Packets, in_digits(3.0, self.packets, f64::round))
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (packets, time) = (self.packets(), lasting(self.seconds));
        write!(f, "about {packets}, about {time} of processor time")
    }
}

/// A count with its first digits, and zeros behind them.
fn in_digits(digits: f64, count: f64, round: impl Fn(f64) -> f64) -> f64 {
    let step = 10_f64.powf((count.max(1.0).log10().floor() + 1.0 - digits).max(0.0));
    round(count / step) * step
}

/// How long all runs take on this computer, about [s]; 0 where that is no question.
///
/// Processor time is taken, not that of the clock: what the computer does beside a part that takes
/// microseconds must not look like years of the whole.
///
/// A part that an engine refuses is passed over: it refuses the whole, too.
fn seconds(work: &Work) -> f64 {
    let mut earlier = (0.0, 0.0);
    for Part { share, scenario } in parts(&work.scenario) {
        let began_ns = clock::thread_cpu_ns();
        let found = engine::find(&scenario, scenario.seed, work.engine);
        let took = (clock::thread_cpu_ns() - began_ns) as f64 / 1e9;
        let more = took - earlier.1;
        let whole = more / (share - earlier.0) * f64::from(work.runs);
        if found.is_ok() && earlier.0 > 0.0 && more >= ENOUGH_S {
            return whole;
        }
        earlier = (share, took);
    }
    0.0
}

/// Time by which a part must exceed the one before it [s]: long beside what caches and pages make
/// of it, short beside what is asked about.
const ENOUGH_S: f64 = 0.1;

/// A time in the unit that one would say it in.
fn lasting(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    const YEAR: f64 = 365.25 * DAY;
    let units = [(YEAR, "years"), (DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2.0 * length);
    let (length, name) = unit.unwrap_or((1.0, "seconds"));
    format!("{:.0} {name}", seconds / length)
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        let scaled = |(suffix, factor): &(&str, f64)| Some((text.strip_suffix(suffix)?, *factor));
        let (number, factor) = SUFFIXES.iter().find_map(scaled).unwrap_or((text, 1.0));
        let packets = number.trim().parse::<f64>().ok().map(|number| number * factor);
        let packets = packets.filter(|packets| packets.is_finite() && *packets >= 1.0);
        packets.map(Self::Packets).ok_or_else(|| {
            format!("`{text}` is no number of packets: write one such as 1e12 or 10G, or none")
        })
    }
}

/// Decimal prefixes (SI).
const SUFFIXES: [(&str, f64); 4] = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Packets(packets) if *packets < 1e4 => write!(f, "{packets}"),
            Self::Packets(packets) => write!(f, "{packets:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P3: &str = include_str!("../../../scenarios/p3.toml");

    fn p3(packets: u64, runs: u32) -> Work {
        let text = P3.replace("1_000_000", &packets.to_string());
        let scenario = Scenario::parse(&text).unwrap();
        Work { name: "p3.toml".into(), scenario, engine: None, runs }
    }

    #[test]
    fn a_limit_is_a_number_with_or_without_a_prefix_or_none() {
        for (text, packets) in [("1e12", 1e12), ("10G", 1e10), ("2.5 M", 2.5e6), ("7", 7.0)] {
            assert_eq!(text.parse(), Ok(Limit::Packets(packets)));
        }
        assert_eq!("none".parse(), Ok(Limit::None));
        for text in ["", "0", "-3", "inf", "nan", "1e999", "ten", "10 GB", "G"] {
            let error = text.parse::<Limit>().unwrap_err();
            assert!(error.contains("1e12 or 10G, or none"), "{error}");
        }
    }

    #[test]
    fn a_limit_counts_the_packets_of_all_runs() {
        let limit = |packets| Some(Limit::Packets(packets));
        assert!(agree(limit(1e6), &[p3(1_000_000, 1)]).is_ok());
        assert!(agree(limit(2e6), &[p3(1_000_000, 2)]).is_ok());
        let error = agree(limit(1e6), &[p3(1_000_000, 2)]).unwrap_err().to_string();
        for words in ["p3.toml", "pipeline.packets", "about 2,000,000 packets", "--limit 1e6"] {
            assert!(error.contains(words), "no `{words}` in: {error}");
        }
        assert!(agree(Some(Limit::None), &[p3(1_000_000_000_000, 9)]).is_ok());
    }

    #[test]
    fn the_closed_form_takes_no_time_whatever_the_packets() {
        let work = Work { engine: Some(Engine::ClosedForm), ..p3(1_000_000_000_000, 1) };
        assert!(agree(None, std::slice::from_ref(&work)).is_ok());
        assert!(agree(Some(Limit::Packets(1.0)), &[work]).is_ok());
    }

    #[test]
    fn the_time_of_all_packets_follows_from_that_of_some() {
        assert_eq!(seconds(&p3(1000, 1)), 0.0);
        // No computer does a packet in less than a hundredth of a nanosecond.
        assert!(seconds(&p3(1_000_000_000_000, 1)) > 10.0);
    }

    #[test]
    fn an_estimate_is_said_in_round_figures() {
        let estimate = |packets, seconds| Estimate { packets, key: "machine.duration", seconds };
        for (packets, seconds, words, limit) in [
            (1e12, 4521.0, "about 1,000,000,000,000 packets, about 75 minutes", "1e12"),
            (123_456.0, 61.0, "about 123,000 packets, about 61 seconds", "2e5"),
            (7.0, 9e9, "about 7 packets, about 285 years", "7"),
            (2.1e10, 4e5, "about 21,000,000,000 packets, about 5 days", "3e10"),
        ] {
            let estimate = estimate(packets, seconds);
            assert_eq!(estimate.to_string(), format!("{words} of processor time"));
            assert_eq!(estimate.limit().to_string(), limit);
        }
    }
}
