//! How far the simulation may go: wall time in, simulated time out.
//!
//! ```text
//! wall [s] ──speed [ratio]──► goal [ps] ──slices [ps], cut at ticks──► the next look
//! ```
//!
//! What a slow machine did not reach within a frame is given up: it lags, and does not hurry after.

use std::time::Duration;

use bitpath_measure::Picos;

/// Speed, pause and the goal of the frame under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pace {
    /// Index of the speed in [`SPEEDS`].
    speed: usize,
    paused: bool,
    /// Simulated time that is allowed so far.
    goal: Picos,
    /// Simulated time that is run without a look at keys and clock.
    slice: Picos,
    tick: Picos,
    /// Simulated over wall time of the last frames [ratio].
    measured: f64,
    /// Simulated time at the last frame.
    granted_at: Picos,
}

impl Pace {
    /// A pace at which a run of this length takes at least ten seconds.
    pub(crate) fn watchable(duration: Picos, tick: Picos) -> Self {
        let slow = |speed: &Option<f64>| {
            speed.is_some_and(|speed| duration.as_secs_f64() / speed >= LEAST_SECONDS)
        };
        Self::at(SPEEDS.iter().rposition(slow).unwrap_or(0), tick)
    }

    /// As fast as it goes.
    pub(crate) fn unlimited(tick: Picos) -> Self {
        Self::at(SPEEDS.len() - 1, tick)
    }

    fn at(speed: usize, tick: Picos) -> Self {
        let zero = Picos(0);
        let slice = FIRST_SLICE.min(tick);
        Self { speed, paused: false, goal: zero, slice, tick, measured: 0.0, granted_at: zero }
    }

    /// Simulated over wall time; none for as fast as it goes [ratio].
    pub(crate) fn speed(&self) -> Option<f64> {
        SPEEDS[self.speed]
    }

    /// What was reached of it, averaged over some frames [ratio].
    pub(crate) fn measured(&self) -> f64 {
        self.measured
    }

    /// Whether it stands still.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// The next speed up.
    pub(crate) fn faster(&mut self) {
        self.speed = (self.speed + 1).min(SPEEDS.len() - 1);
    }

    /// The next speed down.
    pub(crate) fn slower(&mut self) {
        self.speed = self.speed.saturating_sub(1);
    }

    /// Stands still where it is at `now`, or goes on.
    pub(crate) fn pause_or_go(&mut self, now: Picos) {
        self.paused = !self.paused;
        self.goal = now;
    }

    /// Goes on to the end of the tick, and stands still there.
    pub(crate) fn step(&mut self, now: Picos) {
        self.paused = true;
        self.goal = self.tick_end(now);
    }

    /// A frame was shown at simulated time `now`, and so much wall time has passed since the last.
    pub(crate) fn grant(&mut self, now: Picos, wall: Duration) {
        let went = Picos(now.0.saturating_sub(self.granted_at.0));
        self.granted_at = now;
        if self.paused {
            return;
        }
        let reached = went.as_secs_f64() / wall.as_secs_f64().max(f64::MIN_POSITIVE);
        self.measured += NEW_SHARE * (reached - self.measured);
        let passed_s = wall.min(LONGEST_FRAME).as_secs_f64();
        let more = self.speed().map(|speed| Picos::from_nanos_f64(passed_s * speed * 1e9));
        self.goal = Picos(more.map_or(u64::MAX, |more| now.0.saturating_add(more.0)));
    }

    /// The time to run to from `now`; none until more is granted.
    pub(crate) fn next(&self, now: Picos) -> Option<Picos> {
        let slice_end = Picos(now.0.saturating_add(self.slice.0));
        (now < self.goal).then(|| self.goal.min(slice_end).min(self.tick_end(now)))
    }

    /// A slice of this length took so long: the next ones take about [`SLICE_TIME`].
    pub(crate) fn took(&mut self, length: Picos, wall: Duration) {
        if wall > SLICE_TIME {
            self.slice = Picos(self.slice.0.min(length.0) / 2).max(Picos(1));
        } else if length >= self.slice && wall < SLICE_TIME / 2 {
            self.slice = Picos(self.slice.0.saturating_mul(2)).min(self.tick);
        }
    }

    fn tick_end(&self, now: Picos) -> Picos {
        Picos((now.0 / self.tick.0 + 1).saturating_mul(self.tick.0))
    }
}

/// Decades and their halves; the last is as fast as it goes [ratio].
const SPEEDS: [Option<f64>; 14] = [
    Some(0.001),
    Some(0.005),
    Some(0.01),
    Some(0.05),
    Some(0.1),
    Some(0.5),
    Some(1.0),
    Some(5.0),
    Some(10.0),
    Some(50.0),
    Some(100.0),
    Some(500.0),
    Some(1000.0),
    None,
];

/// A run that is over sooner cannot be followed [s].
const LEAST_SECONDS: f64 = 10.0;

/// The first slice: some packets at 10 Gb/s.
const FIRST_SLICE: Picos = Picos(10_000_000);

/// Wall time of a slice: keys and frames wait for no longer.
const SLICE_TIME: Duration = Duration::from_millis(5);

/// Longest frame that is made up for: a stopped process does not leap ahead.
const LONGEST_FRAME: Duration = Duration::from_millis(100);

/// Weight of the newest frame in the measured speed: it follows within a third of a second.
const NEW_SHARE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;
    const FRAME: Duration = Duration::from_millis(33);

    fn pace(duration_ms: u64) -> Pace {
        Pace::watchable(Picos(duration_ms * MS), Picos(10 * MS))
    }

    /// Where a machine gets that runs every slice at once.
    fn run(pace: &Pace, mut now: Picos) -> Picos {
        while let Some(next) = pace.next(now) {
            assert!(next > now);
            now = next;
        }
        now
    }

    #[test]
    fn a_run_is_slowed_until_it_takes_ten_seconds() {
        for (duration_ms, speed) in
            [(10_000, 1.0), (1000, 0.1), (3000, 0.1), (1, 0.001), (3_600_000, 100.0)]
        {
            assert_eq!(pace(duration_ms).speed(), Some(speed));
        }
    }

    #[test]
    fn wall_time_times_speed_is_simulated_time() {
        let mut pace = pace(10_000);
        pace.grant(Picos(0), FRAME);
        assert_eq!(run(&pace, Picos(0)), Picos(33 * MS));
        pace.slower();
        pace.grant(Picos(33 * MS), FRAME);
        assert_eq!(run(&pace, Picos(33 * MS)), Picos(49 * MS + MS / 2));
    }

    #[test]
    fn what_was_not_reached_is_given_up() {
        let mut pace = pace(10_000);
        pace.grant(Picos(0), FRAME);
        pace.grant(Picos(5 * MS), FRAME);
        assert_eq!(run(&pace, Picos(5 * MS)), Picos(38 * MS));
        pace.grant(Picos(38 * MS), Duration::from_secs(3600));
        assert_eq!(run(&pace, Picos(38 * MS)), Picos(138 * MS));
    }

    #[test]
    fn a_pause_stands_still_and_a_step_ends_with_the_tick() {
        let mut pace = pace(10_000);
        pace.grant(Picos(0), FRAME);
        pace.pause_or_go(Picos(4 * MS));
        pace.grant(Picos(4 * MS), FRAME);
        assert_eq!(pace.next(Picos(4 * MS)), None);
        for (from, to) in [(4, 10), (10, 20)] {
            pace.step(Picos(from * MS));
            pace.grant(Picos(from * MS), FRAME);
            assert_eq!(run(&pace, Picos(from * MS)), Picos(to * MS));
        }
        pace.pause_or_go(Picos(20 * MS));
        assert!(!pace.is_paused());
    }

    #[test]
    fn speeds_end_at_a_thousandth_and_at_no_limit() {
        let mut pace = pace(10_000);
        for _ in 0..20 {
            pace.slower();
        }
        assert_eq!(pace.speed(), Some(0.001));
        pace.faster();
        assert_eq!(pace.speed(), Some(0.005));
        for _ in 0..20 {
            pace.faster();
        }
        assert_eq!(pace.speed(), None);
        pace.grant(Picos(0), FRAME);
        assert_eq!(pace, Pace { goal: Picos(u64::MAX), ..pace.clone() });
    }

    #[test]
    fn slices_shrink_where_they_take_long_and_grow_to_a_tick() {
        let mut pace = Pace::unlimited(Picos(10 * MS));
        pace.grant(Picos(0), FRAME);
        assert_eq!(pace.next(Picos(0)), Some(FIRST_SLICE));
        pace.took(FIRST_SLICE, SLICE_TIME * 3);
        assert_eq!(pace.next(Picos(0)), Some(Picos(FIRST_SLICE.0 / 2)));
        for _ in 0..30 {
            let length = pace.next(Picos(0)).unwrap();
            pace.took(length, Duration::from_micros(1));
        }
        assert_eq!(pace.next(Picos(0)), Some(Picos(10 * MS)));
        assert_eq!(pace.next(Picos(19 * MS)), Some(Picos(20 * MS)));
    }

    #[test]
    fn the_measured_speed_settles_at_what_was_reached() {
        let mut pace = pace(10_000);
        for frame in 0..100 {
            pace.grant(Picos(frame * 33 * MS / 2), FRAME);
        }
        assert!((pace.measured() - 0.5).abs() < 0.01, "{}", pace.measured());
    }
}
