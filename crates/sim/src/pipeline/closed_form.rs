//! The closed form: the rate that no queueing can exceed, and the stage that sets it.

use super::Pipeline;

/// An upper bound of throughput and what imposes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Packets a second [packets/s].
    pub packets_per_second: f64,
    /// `arrivals`, or the name of the stage.
    pub binding: String,
}

/// The smallest of the arrival rate and every stage's service rate.
///
/// Buffers do not enter: with finite ones the true throughput is lower wherever times vary.
#[must_use]
pub fn bound(pipeline: &Pipeline) -> Bound {
    let per_second = |picos: f64| 1e12 / picos;
    let arrivals = ("arrivals", per_second(pipeline.arrivals.mean_interval()));
    let stages =
        pipeline.stages.iter().map(|stage| (stage.name.as_str(), per_second(stage.mean_service())));
    let (binding, packets_per_second) =
        stages.fold(arrivals, |least, stage| if stage.1 < least.1 { stage } else { least });
    Bound { packets_per_second, binding: binding.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{exact, tests::p3};

    #[test]
    fn p3_is_bound_by_its_kernel_stage_and_stays_below() {
        let pipeline = p3(100_000);
        let bound = bound(&pipeline);
        assert_eq!(bound.binding, "kernel");
        assert!((bound.packets_per_second * 1300e-9 - 1.0).abs() < 1e-9);
        assert!(exact::run(&pipeline, 0).throughput() < bound.packets_per_second);
    }
}
