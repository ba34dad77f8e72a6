//! What the looks add up to: payload of every tick, and the load of every core since the last frame.
//!
//! ```text
//! look [ps, B, packets] ──► ticks [B each] ──► sparkline
//!                       └─► since the last frame [core-ps / ps] ──► load of each core
//! ```

use std::collections::VecDeque;

use bitpath_measure::{ByteCount, Picos};
use bitpath_sim::machine::{Busy, Look, Machine, MachineScenario};

/// What was seen so far.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    tick: Picos,
    tick_end: Picos,
    /// Payload delivered when the tick under way began [B].
    before_tick: ByteCount,
    /// Payload of the last ticks, the oldest first [B].
    ticks: VecDeque<u64>,
    look: Look,
    /// The look of the last frame.
    shown: Look,
    loads: Vec<Load>,
    most_user_buffer: ByteCount,
}

/// What a core spent its time on [ratio].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// On packets, below the sockets.
    pub(crate) softirq: f64,
    /// In calls of processes.
    pub(crate) kernel: f64,
    /// In the processes' own work.
    pub(crate) user: f64,
}

/// What buffers hold at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Before the line, both ways [B].
    pub(crate) line: ByteCount,
    /// In the rings [frames].
    pub(crate) ring_frames: u64,
    /// In all receive buffers [B].
    pub(crate) kernel_buffer: ByteCount,
}

impl Course {
    /// Nothing seen yet. A tick is the scenario's interval, or a hundredth of a short run.
    pub(crate) fn new(scenario: &MachineScenario) -> Self {
        let hundredth = Picos(scenario.machine.duration.0 / 100);
        let tick = scenario.interval.min(hundredth).max(Picos(1));
        let cores = scenario.machine.cpu.cores;
        let nothing = Look { cores: vec![Busy::default(); cores], ..Look::default() };
        Self {
            tick,
            tick_end: tick,
            before_tick: ByteCount(0),
            ticks: VecDeque::new(),
            look: nothing.clone(),
            shown: nothing,
            loads: vec![Load::default(); cores],
            most_user_buffer: ByteCount(0),
        }
    }

    /// A look; at least one at the end of every tick.
    pub(crate) fn see(&mut self, look: &Look) {
        self.look.clone_from(look);
        self.most_user_buffer = self.most_user_buffer.max(look.user_buffer);
        if look.now >= self.tick_end {
            self.ticks.push_back(look.delivered.0 - self.before_tick.0);
            if self.ticks.len() > MOST_TICKS {
                self.ticks.pop_front();
            }
            self.before_tick = look.delivered;
            self.tick_end = Picos(look.now.0.saturating_add(self.tick.0));
        }
    }

    /// A frame will be drawn: loads are those since the last one. Standing still keeps them.
    pub(crate) fn frame(&mut self) {
        let span = self.look.now.0.saturating_sub(self.shown.now.0);
        if span == 0 {
            return;
        }
        let share = |now: u64, before: u64| now.saturating_sub(before) as f64 / span as f64;
        let cores = self.look.cores.iter().zip(&self.shown.cores);
        let loads = cores.map(|(now, before)| Load {
            softirq: share(now.softirq, before.softirq),
            kernel: share(now.kernel, before.kernel),
            user: share(now.user, before.user),
        });
        self.loads = loads.collect();
        self.shown.clone_from(&self.look);
    }

    /// The last look.
    pub(crate) fn look(&self) -> &Look {
        &self.look
    }

    /// Length of a tick.
    pub(crate) fn tick(&self) -> Picos {
        self.tick
    }

    /// Payload of the last so many ticks, the oldest first [B].
    pub(crate) fn last_ticks(&self, most: usize) -> impl Iterator<Item = u64> {
        self.ticks.iter().skip(self.ticks.len().saturating_sub(most)).copied()
    }

    /// Payload of one tick as a rate [b/s].
    pub(crate) fn rate(&self, tick_bytes: u64) -> f64 {
        tick_bytes as f64 * 8.0 / self.tick.as_secs_f64()
    }

    /// Load of each core between the last two frames.
    pub(crate) fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// The most that user buffers held so far: they have no limit.
    pub(crate) fn most_user_buffer(&self) -> ByteCount {
        self.most_user_buffer
    }
}

impl Load {
    /// All of it [ratio].
    pub(crate) fn total(self) -> f64 {
        self.softirq + self.kernel + self.user
    }
}

impl Limits {
    /// Those of a machine.
    pub(crate) fn of(machine: &Machine) -> Self {
        let sockets = machine.flows.iter().map(|flow| flow.receive_buffer.0 * flow.count as u64);
        Self {
            line: ByteCount(2 * machine.line.queue.0),
            ring_frames: (machine.nic.ring * machine.nic.queues) as u64,
            kernel_buffer: ByteCount(sockets.sum()),
        }
    }
}

/// Ticks that are kept: more than a screen has columns.
const MOST_TICKS: usize = 1000;

#[cfg(test)]
pub(crate) mod tests {
    use bitpath_sim::scenario::{Scenario, Subject};

    use super::*;

    const MS: u64 = 1_000_000_000;

    /// The film of scenarios/mpeg-sw.toml: one core, ticks of 10 ms.
    pub(crate) fn film() -> Box<MachineScenario> {
        let text = include_str!("../../../../scenarios/mpeg-sw.toml");
        let Subject::Machine(film) = Scenario::parse(text).unwrap().subject else {
            panic!("a machine")
        };
        film
    }

    fn look(now_ms: u64, delivered: u64, user_ms: u64) -> Look {
        Look {
            now: Picos(now_ms * MS),
            delivered: ByteCount(delivered),
            cores: vec![Busy { user: user_ms * MS, ..Busy::default() }],
            ..Look::default()
        }
    }

    #[test]
    fn payload_is_counted_tick_by_tick() {
        let mut course = Course::new(&film());
        for seen in [look(5, 100, 0), look(10, 300, 0), look(20, 300, 0), look(30, 1300, 0)] {
            course.see(&seen);
        }
        assert_eq!(course.last_ticks(10).collect::<Vec<_>>(), [300, 0, 1000]);
        assert_eq!(course.last_ticks(1).collect::<Vec<_>>(), [1000]);
        assert_eq!(course.rate(1000), 800_000.0);
    }

    #[test]
    fn a_load_is_that_since_the_last_frame_and_stays_while_time_stands_still() {
        let mut course = Course::new(&film());
        course.see(&look(10, 0, 10));
        course.frame();
        assert_eq!(course.loads()[0].total(), 1.0);
        course.see(&look(30, 0, 15));
        course.frame();
        course.frame();
        assert_eq!(course.loads(), [Load { user: 0.25, ..Load::default() }]);
    }

    #[test]
    fn a_short_run_has_a_hundred_ticks() {
        let mut film = film();
        film.machine.duration = Picos(100 * MS);
        assert_eq!(Course::new(&film).tick(), Picos(MS));
    }
}
