//! Whether the clock is fine enough for what was measured by it.

use bitpath_measure::series::labels;
use bitpath_measure::{Labels, Pitfall, Run};

use super::costs::{CALLS, READING, SYSTEM_CALL};

/// Steps of its clock that a run must last at least.
const LEAST_TICKS: f64 = 1000.0;

/// Step of a clock from which it is a coarse one [ns].
const COARSE_NS: f64 = 1000.0;

/// Holds the shortest samples, those of the cheapest operations, against the clock's step as the facts have
/// it. Doubts that were drawn from fewer samples are replaced.
pub fn doubt(run: &mut Run) {
    run.pitfalls.retain(|doubt| {
        !matches!(doubt, Pitfall::RunTooShort { .. } | Pitfall::CoarseClock { .. })
    });
    let Some(environment) = &run.environment else { return };
    let step_ns = environment.clock.observed_step_ns.max(1.0);
    let cheapest = [
        ("reading the clock", READING, labels([("clock", "monotonic")])),
        ("a system call", SYSTEM_CALL, Labels::new()),
    ];
    for (what, name, of) in cheapest {
        let Some(cost) = run.figure(name, &of) else { continue };
        let run_ns = cost.estimate.value * f64::from(CALLS);
        let ticks = run_ns / step_ns;
        if ticks < LEAST_TICKS {
            run.doubt(Pitfall::RunTooShort { what: what.into(), ticks });
        }
        if step_ns > COARSE_NS {
            run.doubt(Pitfall::CoarseClock { step_ns, run_ns });
        }
    }
}

#[cfg(test)]
mod tests {
    use bitpath_measure::run::Figure;
    use bitpath_measure::{Environment, Estimate, Unit};

    use super::*;

    fn doubts(step_ns: f64) -> Vec<Pitfall> {
        let mut run = Run::begin("study", "a", "2026-01-01T00:00:00Z", 0);
        let mut environment = Environment::default();
        environment.clock.observed_step_ns = step_ns;
        run.environment = Some(environment);
        let (name, of) = (SYSTEM_CALL.to_owned(), Labels::new());
        let estimate = Estimate::single(100.0);
        run.figures = vec![Figure { name, labels: of, unit: Unit::Nanoseconds, estimate }];
        doubt(&mut run);
        let once = run.pitfalls.clone();
        doubt(&mut run);
        assert_eq!(run.pitfalls, once, "a record that is concluded again has no doubt twice");
        once
    }

    #[test]
    fn a_sample_of_few_steps_and_a_coarse_clock_are_doubts() {
        assert_eq!(doubts(20.0), []);
        let short = |ticks| Pitfall::RunTooShort { what: "a system call".into(), ticks };
        assert_eq!(doubts(400.0), [short(500.0)]);
        let coarse = Pitfall::CoarseClock { step_ns: 4000.0, run_ns: 200_000.0 };
        assert_eq!(doubts(4000.0), [short(50.0), coarse]);
    }
}
