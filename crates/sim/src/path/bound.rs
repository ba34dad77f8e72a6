//! The closed form of the path: the rate that no queueing can exceed, and what sets it.

use bitpath_measure::Picos;

use crate::host::HostScenario;
use crate::job::Work;
use crate::profile::Transport;

use super::costs::Costs;

/// An upper bound of throughput and what imposes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Payload a second [b/s].
    pub bits_per_second: f64,
    /// `sender`, `link`, `receiver` or `job`.
    pub binding: &'static str,
}

/// The smallest of what the sender's core, the link and the receiver's core can carry and what the
/// job asks for. Waking and buffers do not enter.
#[must_use]
pub fn bound(scenario: &HostScenario) -> Bound {
    smallest(&limits(scenario))
}

/// What the sender puts on its way, whether or not it arrives: no receiver slows a sender of
/// datagrams.
#[must_use]
pub fn offered(scenario: &HostScenario) -> Bound {
    let [sender, link, receiver, job] = limits(scenario);
    match scenario.job.transport {
        Transport::Udp => smallest(&[sender, link, job]),
        Transport::Tcp => smallest(&[sender, link, receiver, job]),
    }
}

/// What sender, link, receiver and job allow by themselves [b/s].
fn limits(scenario: &HostScenario) -> [(&'static str, f64); 4] {
    let (job, costs) = (&scenario.job, Costs::new(scenario));
    let message = costs.message(job.message);
    let bits = job.message.0 as f64 * 8.0;
    let rate = |picos: u64| if picos == 0 { f64::INFINITY } else { bits / picos as f64 * 1e12 };
    let (own_work, asked) = match &job.work {
        Work::Raw { rate, .. } => {
            (costs.process(job.message.0), rate.map_or(f64::INFINITY, |rate| rate.0 as f64))
        }
        Work::Mpeg { film, speed, .. } => {
            let frames = film.frames.len();
            let decode: u64 = (0..frames).map(|frame| costs.decode(frame, false)).sum();
            let messages = film.bytes().0.div_ceil(job.message.0).max(1);
            (decode / messages, film.bit_rate().0 as f64 * speed)
        }
    };
    [
        ("sender", rate(message.send)),
        ("link", rate(message.link)),
        ("receiver", rate(message.receive + message.softirq + own_work)),
        ("job", asked),
    ]
}

fn smallest(limits: &[(&'static str, f64)]) -> Bound {
    let (binding, bits_per_second) = limits
        .iter()
        .copied()
        .fold(("job", f64::INFINITY), |least, next| if next.1 < least.1 { next } else { least });
    Bound { bits_per_second, binding }
}

/// Time that the sender's core takes for one message of the job.
#[must_use]
pub fn send_time(scenario: &HostScenario) -> Picos {
    Picos(Costs::new(scenario).message(scenario.job.message).send)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{film, raw, scenario};
    use super::*;

    #[test]
    fn the_slowest_part_binds_and_the_events_stay_below() {
        for (scenario, binding) in [
            (scenario(raw(1000)), "sender"),
            (scenario(film(60.0, true)), "receiver"),
            (scenario(film(1.0, true)), "job"),
        ] {
            let bound = bound(&scenario);
            assert_eq!(bound.binding, binding);
            // A film of a second ends a frame early, which makes its rate a few per cent higher.
            assert!(super::super::run(&scenario).goodput() <= bound.bits_per_second * 1.06);
        }
    }
}
