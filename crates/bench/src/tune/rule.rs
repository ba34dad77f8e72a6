//! The eight rules for networks that perform (Tanenbaum's seven, and one more, after the slides on
//! network performance), and which of them speaks about a knob.

use bitpath_platform::link::Setting;

use super::knob::Turn;
use super::measure::Measure;

/// One of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number, 1 to 8.
    pub number: usize,
    /// What a knob has to do with it, to follow the rule.
    pub because: &'static str,
}

/// The rules in the words of the slides.
const RULES: [&str; 8] = [
    "CPU speed is more important than network speed",
    "reduce packet count to reduce software overhead",
    "minimise context switches",
    "minimise copying",
    "you can buy more bandwidth but not a lower delay",
    "avoiding congestion is better than recovering from it",
    "minimise timeouts",
    "avoid network hardware if possible",
];

impl Rule {
    /// The rule in its own words.
    #[must_use]
    pub fn words(self) -> &'static str {
        RULES[self.number - 1]
    }

    /// The rule that speaks about a knob where this is measured.
    #[must_use]
    pub fn of(turn: Turn, measure: Measure) -> Self {
        let (number, because) = match (turn, measure) {
            (Turn::Message(_), Measure::MemoryCopy) => {
                (4, "a copy costs by the byte, and by the cache that its block fits")
            }
            (Turn::Message(_), Measure::Latency) => (
                5,
                "a longer message takes longer to carry, but most of the delay is there for a byte",
            ),
            (Turn::Message(_), _) => (
                2,
                "each call and each packet has a cost of its own, which larger messages share out",
            ),
            (Turn::ReceiveBuffer(_), Measure::Udp) => {
                (6, "what does not fit the buffer is lost, and was sent in vain")
            }
            (Turn::ReceiveBuffer(_) | Turn::SendBuffer(_), _) => (
                3,
                "a small buffer stops one side until the other has caught up, a large one lets both work on",
            ),
            (Turn::Streams(_), _) => (
                3,
                "streams side by side take turns on their processor, and every turn is a switch",
            ),
            (Turn::Path(_), _) => (
                4,
                "what is handed over by address need not be copied, but handing over has its own cost",
            ),
            (Turn::BusyPoll(_), _) => {
                (3, "who looks for packets himself is not put to sleep and woken for each")
            }
            (Turn::Cpus(..), Measure::MemoryCopy) => (1, "the processor is what copies"),
            (Turn::Cpus(..), _) => (
                8,
                "between two cores of one die, bytes pass through its caches; on one core, by a switch",
            ),
            (Turn::Link(setting, _), _) => of_link(setting),
        };
        Self { number, because }
    }
}

fn of_link(setting: Setting) -> (usize, &'static str) {
    match setting {
        Setting::GenericSegmentation | Setting::TcpSegmentation => {
            (2, "the stack is passed by few long segments, which are cut behind it")
        }
        Setting::GenericReceive => {
            (2, "segments are joined before the stack, which is passed by few long ones")
        }
        Setting::ReceiveMicroseconds | Setting::ReceiveFrames => (
            3,
            "an interrupt is a switch, and one for many packets is cheaper; each of them waits for it",
        ),
        Setting::ReceiveRing | Setting::TransmitRing => {
            (6, "a ring takes up a burst, but a long one is a queue that only delays")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::CopyPath;

    #[test]
    fn every_knob_has_a_rule_for_every_measure() {
        let turns = Setting::ALL.map(|setting| Turn::Link(setting, 1));
        let others = [
            Turn::Message(1),
            Turn::Streams(1),
            Turn::Path(CopyPath::Send),
            Turn::BusyPoll(0),
            Turn::ReceiveBuffer(1),
            Turn::SendBuffer(1),
            Turn::Cpus(0, 0),
        ];
        for turn in turns.into_iter().chain(others) {
            for measure in Measure::ALL {
                let rule = Rule::of(turn, measure);
                assert!(!rule.words().is_empty() && !rule.because.is_empty());
            }
        }
        assert_eq!(Rule::of(Turn::Message(1), Measure::Tcp).number, 2);
    }
}
