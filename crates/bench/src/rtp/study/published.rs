//! What the paper printed, as figures beside ours.

use bitpath_measure::Estimate;
use bitpath_measure::Unit;
use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_sim::published::rtp_suite;

use crate::BenchError;

/// Tables I to III and what is said of figures 3 to 5.
pub(super) fn figures() -> Result<Vec<Figure>, BenchError> {
    let unreadable = |error: bitpath_sim::published::PublishedError| BenchError::Suite {
        benchmark: "the paper's tables".into(),
        reason: error.to_string(),
    };
    let of_table = rtp_suite::characteristics().map_err(unreadable)?.into_iter().map(|of| Figure {
        name: format!("rtp.published.{}", of.quantity),
        labels: labels([("benchmark", &of.benchmark)]),
        unit: of.unit,
        estimate: Estimate::single(of.value),
    });
    let of_text = rtp_suite::shares().map_err(unreadable)?.into_iter().map(|share| Figure {
        name: "rtp.published.function_share".into(),
        labels: labels([("benchmark", &share.benchmark), ("function", &share.function)]),
        unit: Unit::Ratio,
        estimate: Estimate::single(share.of_cycles),
    });
    Ok(of_table.chain(of_text).collect())
}
