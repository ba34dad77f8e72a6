//! A profile's values as figures, so that two profiles can be held against each other.

use bitpath_measure::run::Figure;
use bitpath_measure::{Estimate, Labels, Method, Picos, Unit};

use super::{Directions, HostProfile, NanosPerByte, Sourced, WakeCost};

impl HostProfile {
    /// Every value of the profile, by its dotted name, with its interval where it has one.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        let mut all = List::default();
        let cpu = &self.cpu;
        all.add("cpu.cores", &[], Unit::Cores, &cpu.cores, |cores| f64::from(*cores));
        all.add("cpu.clock", &[], Unit::Hertz, &cpu.clock, |clock| clock.0);
        all.time("cpu.system_call", &[], &cpu.system_call);
        all.time("cpu.context_switch", &[], &cpu.context_switch);
        all.time("cpu.timer_sleep", &[], &cpu.timer_sleep);
        all.time("cpu.timer_lateness", &[], &cpu.timer_lateness);
        for (length, cost) in self.wake.costs().iter().enumerate() {
            all.wake(length + 1, cost);
        }
        all.add("path.mtu", &[], Unit::Bytes, &self.path.mtu, |mtu| mtu.0 as f64);
        all.time("path.softirq_per_packet", &[], &self.path.softirq_per_packet);
        all.stack("udp", &self.stack.udp);
        all.stack("tcp", &self.stack.tcp);
        for copy in &self.copy {
            let of = [("working_set_bytes", copy.working_set.0.to_string())];
            all.add("copy", &of, Unit::BytesPerSecond, &copy.bandwidth, |rate| rate.0);
        }
        for cost in &self.decode {
            all.time("decode.after_sleep", &[("clip", cost.clip.clone())], &cost.after_sleep);
            for frame in &cost.frames {
                let of = [("clip", cost.clip.clone()), ("frame", frame.kind.letter().into())];
                all.time("decode.per_frame", &of, &frame.per_frame);
                all.per_byte("decode.per_byte", &of, &frame.per_byte);
            }
        }
        all.0
    }
}

/// The figures so far.
#[derive(Default)]
struct List(Vec<Figure>);

/// A profile does not say how many samples stand behind an interval.
const UNKNOWN: usize = 0;

/// Labels of one figure.
type Of<'a> = [(&'a str, String)];

impl List {
    fn add<T>(
        &mut self,
        name: &str,
        of: &Of<'_>,
        unit: Unit,
        from: &Sourced<T>,
        number: impl Fn(&T) -> f64,
    ) {
        let value = number(&from.value);
        let interval = from.low.as_ref().zip(from.high.as_ref());
        let estimate = interval.map_or_else(
            || Estimate::single(value),
            |(low, high)| Estimate {
                low: number(low),
                high: number(high),
                method: Method::TrimmedMeanBlockBootstrap,
                samples: UNKNOWN,
                confidence: bitpath_measure::statistics::CONFIDENCE,
                ..Estimate::single(value)
            },
        );
        let labels: Labels =
            of.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        self.0.push(Figure { name: name.into(), labels, unit, estimate });
    }

    fn time(&mut self, name: &str, of: &Of<'_>, from: &Sourced<Picos>) {
        self.add(name, of, Unit::Nanoseconds, from, |time| time.0 as f64 / 1000.0);
    }

    fn per_byte(&mut self, name: &str, of: &Of<'_>, from: &Sourced<NanosPerByte>) {
        self.add(name, of, Unit::NanosecondsPerByte, from, |cost| cost.0);
    }

    /// Two hosts sleep not equally long: their lengths are told apart by their place.
    fn wake(&mut self, length: usize, cost: &WakeCost) {
        let of = [("length", length.to_string())];
        self.time("wake.slept", &of, &cost.slept);
        self.time("wake.sender", &of, &cost.sender);
        self.time("wake.receiver", &of, &cost.receiver);
        self.time("wake.latency", &of, &cost.latency);
        self.time("wake.jitter", &of, &cost.jitter);
    }

    fn stack(&mut self, transport: &str, directions: &Directions) {
        for (side, cost) in [("send", &directions.send), ("receive", &directions.receive)] {
            let of = [("transport", transport.to_owned()), ("side", side.to_owned())];
            self.time("stack.per_call", &of, &cost.per_call);
            self.time("stack.per_packet", &of, &cost.per_packet);
            self.time("stack.per_split", &of, &cost.per_split);
            self.per_byte("stack.per_byte", &of, &cost.per_byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipped_profile_gives_each_value_once() {
        let diablo = include_str!("../../../../data/hosts/diablo.toml");
        let figures = HostProfile::read(diablo).unwrap().figures();
        for (index, figure) in figures.iter().enumerate() {
            let same =
                |other: &Figure| (&other.name, &other.labels) == (&figure.name, &figure.labels);
            assert!(!figures[..index].iter().any(same), "{figure:?}");
        }
        assert!(figures.iter().any(|figure| figure.name == "stack.per_byte"));
        assert_eq!(HostProfile::read("[pipeline]"), None);
    }
}
