//! Two measurements of the same figures held against each other: whether they agree within their
//! intervals, and how far apart they are.

use crate::run::{Document, Figure, Run};
use crate::series::{Labels, Unit};
use crate::statistics::{Estimate, Method};

/// The figures of one measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What it is called: its file.
    pub name: &'a str,
    /// Its figures.
    pub figures: &'a [Figure],
}

/// Label under which the figures of a comparison say whose they are.
pub const OF: &str = "scenario";

/// The record of both: each figure that both have, B over A, and under [`COMPARED`] and [`AGREED`] how many
/// of those with intervals were held against each other and how many agree.
///
/// Two figures agree where their intervals share a point, that is, where the interval of B over A holds 1.
#[must_use]
pub fn hold(a: &Measured<'_>, b: &Measured<'_>) -> Run {
    let mut run = Run::begin("agreement", "agreement", "", 0);
    for (side, measured) in [("A", a), ("B", b)] {
        let name = format!("{side}: {}", measured.name);
        run.documents.push(Document { name, text: String::new() });
    }
    let (mut compared, mut agreed) = (0_u32, 0_u32);
    let of_b = Figure::index(b.figures);
    for of_a in a.figures {
        let Some(of_b) = of_b.get(&of_a.key()) else { continue };
        if let Some(ratio) = ratio(&of_a.estimate, &of_b.estimate) {
            compared += 1;
            agreed += u32::from(agree(&ratio));
            run.figures.push(labelled(of_a, "B / A", Unit::Ratio, ratio));
        }
        run.figures.push(labelled(of_a, "A", of_a.unit, of_a.estimate));
        run.figures.push(labelled(of_b, "B", of_b.unit, of_b.estimate));
    }
    for (name, count) in [(COMPARED, compared), (AGREED, agreed)] {
        let estimate = Estimate::single(f64::from(count));
        run.figures.push(Figure {
            name: name.into(),
            labels: Labels::new(),
            unit: Unit::Count,
            estimate,
        });
    }
    run.complete = true;
    run
}

/// Whether two figures agree, by the ratio of the one over the other.
#[must_use]
pub fn agree(ratio: &Estimate) -> bool {
    ratio.low <= 1.0 && 1.0 <= ratio.high
}

/// Figures with intervals that both measurements have [count].
pub const COMPARED: &str = "agreement.compared";

/// Those of them that agree [count].
pub const AGREED: &str = "agreement.agreed";

fn labelled(figure: &Figure, of: &str, unit: Unit, estimate: Estimate) -> Figure {
    let mut labels = figure.labels.clone();
    labels.insert(OF.into(), of.into());
    Figure { name: figure.name.clone(), labels, unit, estimate }
}

/// B over A, from the nearest to the farthest that their intervals allow; none without intervals, or
/// where A may be nothing.
fn ratio(a: &Estimate, b: &Estimate) -> Option<Estimate> {
    let positive = a.low > 0.0 && a.value > 0.0;
    (has_interval(a) && has_interval(b) && positive).then(|| b.over(a))
}

/// Whether an estimate has an interval that says something; a profile's does not say of how many samples.
fn has_interval(estimate: &Estimate) -> bool {
    let few = (1..FEWEST_SAMPLES).contains(&estimate.samples);
    estimate.method != Method::Single && !few && estimate.high > estimate.low
}

/// Samples below which the ends of a bootstrap's interval are the least and the most of them.
const FEWEST_SAMPLES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::labels;

    fn figure(name: &str, low: f64, value: f64, high: f64) -> Figure {
        let (method, samples) = (Method::MedianBlockBootstrap, FEWEST_SAMPLES);
        let estimate = Estimate { low, high, method, samples, ..Estimate::single(value) };
        Figure { name: name.into(), labels: labels([]), unit: Unit::Nanoseconds, estimate }
    }

    fn count(run: &Run, name: &str) -> f64 {
        run.figure(name, &labels([])).unwrap().estimate.value
    }

    #[test]
    fn figures_agree_where_their_intervals_share_a_point() {
        let a = [figure("near", 9.0, 10.0, 11.0), figure("far", 9.0, 10.0, 11.0)];
        let b = [figure("near", 10.5, 12.0, 13.0), figure("far", 11.5, 12.0, 13.0)];
        let run = hold(&Measured { name: "a", figures: &a }, &Measured { name: "b", figures: &b });
        assert_eq!((count(&run, COMPARED), count(&run, AGREED)), (2.0, 1.0));
        let ratio = run.figure("near", &labels([(OF, "B / A")])).unwrap().estimate;
        assert!((ratio.value - 1.2).abs() < 1e-12 && ratio.low < 1.0 && ratio.high > 1.4);
    }

    #[test]
    fn what_one_has_alone_or_without_an_interval_is_not_held_against_anything() {
        let single = Figure { estimate: Estimate::single(3.0), ..figure("single", 0.0, 0.0, 0.0) };
        let mut few = figure("few", 9.0, 10.0, 11.0);
        few.estimate.samples = FEWEST_SAMPLES - 1;
        let a = [figure("alone", 9.0, 10.0, 11.0), single.clone(), few.clone()];
        let b = [single, few];
        let run = hold(&Measured { name: "a", figures: &a }, &Measured { name: "b", figures: &b });
        assert_eq!(count(&run, COMPARED), 0.0);
        assert!(run.figure("single", &labels([(OF, "B")])).is_some());
        assert!(run.figure("alone", &labels([])).is_none());
    }
}
