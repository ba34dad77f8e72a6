//! What limits a machine, and what would relieve it: table 11 of the 2004 study and what came
//! after it.
//!
//! All runs draw the same random numbers, so that chance moves the changed machine as it moved
//! the given one.

use bitpath_measure::run::{JobAnswer, Remedy};
use bitpath_measure::{ByteCount, ByteRate, Picos};

use super::bottleneck::{elasticity, limiting};
use super::{Questions, Worth, by_gain, predicted};
use crate::machine::{
    self, Bus, CopyPath, CoreCopy, Direction, Machine, MachineScenario, Memory, Task,
};

/// A parameter: its dotted name, what it means when it limits, and what more of it is.
struct Parameter {
    name: &'static str,
    in_words: &'static str,
    improve: fn(&mut Machine, f64),
}

/// Everything that may limit a machine, in the order of the path. The job's own rate comes last:
/// it limits where nothing else does.
const PARAMETERS: [Parameter; 12] = [
    Parameter {
        name: "line.rate",
        in_words: "the rate of the line",
        improve: |machine, factor| machine.line.rate.0 = more(machine.line.rate.0, factor),
    },
    Parameter {
        name: "line.delay",
        in_words: "the delay of the line",
        improve: |machine, factor| shorten(&mut machine.line.delay, factor),
    },
    Parameter {
        name: "bus",
        in_words: "the bus between card and memory",
        improve: |machine, factor| faster_bus(&mut machine.bus, factor),
    },
    Parameter {
        name: "nic.ring",
        in_words: "the descriptors of the card's ring",
        improve: |machine, factor| {
            let slots = more(machine.nic.ring as u64, factor);
            machine.nic.ring = usize::try_from(slots).unwrap_or(usize::MAX);
        },
    },
    Parameter {
        name: "cpu.interrupt",
        in_words: "the processor time of interrupts",
        improve: |machine, factor| shorten(&mut machine.cpu.interrupt, factor),
    },
    Parameter {
        name: "stack",
        in_words: "the processor time in the protocol stack",
        improve: |machine, factor| cheaper_stack(machine, factor),
    },
    Parameter {
        name: "memory.core",
        in_words: "the speed at which a core copies",
        improve: |machine, factor| faster_copies(&mut machine.memory, factor),
    },
    Parameter {
        name: "memory.controller",
        in_words: "the bandwidth of the memory that all cores share",
        improve: |machine, factor| machine.memory.controller.0 *= factor,
    },
    Parameter {
        name: "cpu.sharing",
        in_words: "waking processes and switching between them",
        improve: |machine, factor| {
            shorten(&mut machine.cpu.context_switch, factor);
            shorten(&mut machine.cpu.wake, factor);
            shorten(&mut machine.cpu.wake_latency, factor);
        },
    },
    Parameter {
        name: "flow.buffers",
        in_words: "the size of the sockets' buffers",
        improve: |machine, factor| larger_buffers(machine, factor),
    },
    Parameter {
        name: "flow.job.process",
        in_words: "the work of the processes themselves",
        improve: |machine, factor| lighter_work(machine, factor),
    },
    Parameter {
        name: "flow.job.rate",
        in_words: "nothing but the rate that the jobs themselves ask for",
        improve: |machine, factor| faster_jobs(machine, factor),
    },
];

/// The parameter that is no resource, the last.
const JOB_RATE: usize = PARAMETERS.len() - 1;

/// A change that somebody could make.
struct Change {
    name: &'static str,
    change: &'static str,
    apply: fn(&mut Machine),
}

/// Table 11, and what 2004 did not have.
const REMEDIES: [Change; 11] = [
    Change {
        name: "multiple memory banks",
        change: "twice the shared memory bandwidth",
        apply: |machine| machine.memory.controller.0 *= 2.0,
    },
    Change {
        name: "TCP offload or network processor",
        change: "the card speaks TCP: packets cost no processor time",
        apply: |machine| machine.nic.offload_engine = true,
    },
    Change {
        name: "hardware threads",
        change: "a core copies 1.25 times as fast: more loads under way",
        apply: |machine| faster_copies(&mut machine.memory, 1.25),
    },
    Change {
        name: "multiple processors (SMP)",
        change: "twice the cores and receive queues",
        apply: |machine| {
            machine.cpu.cores *= 2;
            machine.nic.queues *= 2;
            // Softirq and processes of one flow get cores of their own.
            machine.flows.iter_mut().for_each(|flow| flow.core = 2 * flow.core + 1);
        },
    },
    Change {
        name: "high-speed cache memory for buffers",
        change: "copies at five times the speed of memory",
        apply: |machine| {
            faster_copies(&mut machine.memory, 5.0);
            machine.memory.controller.0 *= 5.0;
        },
    },
    Change {
        name: "zero-copy",
        change: "pages are pinned instead of copied",
        apply: |machine| copies(machine, CopyPath::ZeroCopy),
    },
    Change {
        name: "sendfile",
        change: "the kernel sends pages of the file",
        apply: |machine| {
            let sends = |flow: &&mut machine::Flow| flow.direction == Direction::Send;
            machine
                .flows
                .iter_mut()
                .filter(sends)
                .for_each(|flow| flow.copies = CopyPath::Sendfile);
        },
    },
    Change {
        name: "RDMA",
        change: "the card moves payload without a core",
        apply: |machine| copies(machine, CopyPath::Rdma),
    },
    Change {
        name: "jumbo frames",
        change: "frames of 9000 B",
        apply: |machine| machine.line.segment = ByteCount(8948),
    },
    Change {
        name: "larger socket buffers",
        change: "four times the size",
        apply: |machine| larger_buffers(machine, 4.0),
    },
    Change {
        name: "interrupt moderation",
        change: "an interrupt every 50 us at most",
        apply: |machine| {
            machine.nic.moderation_time = Picos::from_nanos(50_000);
            machine.nic.moderation_frames = 0;
        },
    },
];

/// What limits the machine, and the gain of each remedy where that is asked.
#[must_use]
pub fn answer(scenario: &MachineScenario, seed: u64, questions: Questions) -> JobAnswer {
    let before = worth(scenario, seed);
    let found = PARAMETERS.iter().enumerate().filter_map(|(index, parameter)| {
        let improved = |factor| {
            let mut changed = scenario.clone();
            (parameter.improve)(&mut changed.machine, factor);
            worth(&changed, seed)
        };
        Some((index, elasticity(parameter.name, before?, improved)?))
    });
    let (limiting, elasticities) = limiting(found, JOB_RATE);
    let limiting = &PARAMETERS[limiting];
    let before = before.filter(|_| questions.remedies);
    JobAnswer {
        scenario: String::new(),
        bottleneck: limiting.name.into(),
        bottleneck_in_words: limiting.in_words.into(),
        elasticities,
        remedies: before.map(|before| remedies(scenario, before, seed)).unwrap_or_default(),
    }
}

fn remedies(scenario: &MachineScenario, before: Worth, seed: u64) -> Vec<Remedy> {
    by_gain(REMEDIES.iter().filter_map(|remedy| {
        let mut changed = scenario.clone();
        (remedy.apply)(&mut changed.machine);
        let gain = worth(&changed, seed)?.gain_over(before);
        Some(predicted(remedy.name.into(), remedy.change, gain))
    }))
}

/// What a machine is worth; nothing where its values do not go together.
fn worth(scenario: &MachineScenario, seed: u64) -> Option<Worth> {
    let outcome = machine::run(&scenario.machine, scenario.interval, seed).ok()?;
    Some(Worth { throughput: outcome.throughput(), loss: outcome.loss() })
}

fn cheaper_stack(machine: &mut Machine, factor: f64) {
    let stack = &mut machine.stack;
    for cost in [
        &mut stack.frame,
        &mut stack.delivery,
        &mut stack.acknowledgement,
        &mut stack.call,
        &mut stack.transmit,
        &mut stack.completion,
        &mut stack.pin,
    ] {
        shorten(cost, factor);
    }
}

fn faster_bus(bus: &mut Bus, factor: f64) {
    match bus {
        Bus::Shared { frame, rate } => {
            shorten(frame, factor);
            rate.0 = more(rate.0, factor);
        }
        Bus::Pcie { frame, packet_share, latency, .. } => {
            shorten(frame, factor);
            shorten(latency, factor);
            *packet_share *= factor;
        }
    }
}

fn faster_copies(memory: &mut Memory, factor: f64) {
    memory.core = CoreCopy::Rate { rate: ByteRate(memory.core.rate().0 * factor) };
    memory.caches.iter_mut().for_each(|cache| cache.copy.0 *= factor);
}

fn larger_buffers(machine: &mut Machine, factor: f64) {
    for flow in &mut machine.flows {
        flow.receive_buffer.0 = more(flow.receive_buffer.0, factor);
        flow.send_buffer.0 = more(flow.send_buffer.0, factor);
    }
}

fn lighter_work(machine: &mut Machine, factor: f64) {
    for flow in &mut machine.flows {
        match &mut flow.job {
            Task::Raw { process, .. } | Task::Vod { process, .. } => process.0 /= factor,
            Task::Mpeg { decode, device, .. } => {
                decode.0 /= factor;
                device.0 /= factor;
            }
            Task::Rtp { process, .. } => shorten(process, factor),
            Task::Bulk { .. } | Task::Operations { .. } => {}
        }
    }
}

fn faster_jobs(machine: &mut Machine, factor: f64) {
    for flow in &mut machine.flows {
        match &mut flow.job {
            Task::Raw { rate: Some(rate), .. }
            | Task::Operations { rate: Some(rate), .. }
            | Task::Rtp { rate, .. }
            | Task::Vod { rate, .. } => rate.0 = more(rate.0, factor),
            _ => {}
        }
    }
}

fn copies(machine: &mut Machine, path: CopyPath) {
    machine.flows.iter_mut().for_each(|flow| flow.copies = path);
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn more(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).round() as u64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn shorten(time: &mut Picos, factor: f64) {
    time.0 = (time.0 as f64 / factor).round() as u64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Scenario, Subject};

    const BOTH: Questions = Questions { elasticities: true, remedies: true };

    /// The stream of the scenario for a hundredth of its time.
    fn stream() -> MachineScenario {
        let text = include_str!("../../../../scenarios/ten-gigabit-tcp.toml");
        let Subject::Machine(mut scenario) = Scenario::parse(text).unwrap().subject else {
            panic!("no machine");
        };
        scenario.machine.duration = Picos(20_000_000_000);
        *scenario
    }

    #[test]
    fn a_line_that_is_full_is_the_bottleneck() {
        let mut scenario = stream();
        scenario.machine.line.rate.0 = 1_000_000_000;
        let answer = answer(&scenario, 0, BOTH);
        assert_eq!(answer.bottleneck, "line.rate");
        assert_eq!(answer.elasticities.len(), 12);
    }

    #[test]
    fn a_slow_copy_is_the_bottleneck_and_rdma_frees_it() {
        let mut scenario = stream();
        scenario.machine.memory.core = CoreCopy::Rate { rate: ByteRate(2e8) };
        let answer = answer(&scenario, 0, BOTH);
        assert_eq!(answer.bottleneck, "memory.core");
        let gain = |name: &str| {
            let found = answer.remedies.iter().find(|remedy| remedy.name == name);
            found.map_or(0.0, |remedy| remedy.predicted_gain.value)
        };
        assert!(gain("RDMA") > 4.0 && gain("high-speed cache memory for buffers") > 3.0);
        assert!((gain("jumbo frames") - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_heavy_stack_is_the_bottleneck_and_offload_frees_it() {
        let mut scenario = stream();
        scenario.machine.stack.frame = Picos::from_nanos(6000);
        // The window is smaller than the ring, so that nothing is lost.
        scenario.machine.flows[0].receive_buffer = ByteCount(1 << 20);
        let answer = answer(&scenario, 0, BOTH);
        assert_eq!(answer.bottleneck, "stack");
        let best: Vec<&str> =
            answer.remedies.iter().take(3).map(|remedy| remedy.name.as_str()).collect();
        assert!(best.contains(&"TCP offload or network processor"), "{best:?}");
    }
}
