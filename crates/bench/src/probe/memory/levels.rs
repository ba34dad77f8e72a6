//! The levels of the memory hierarchy, found from a curve of latencies: where it is flat a level
//! answers, and between two flats it is full.
//!
//! ```text
//! latency [ns]          ┌────── memory
//!              ┌────────┘ half-way up [geometric]: capacity of the second level
//!   ───────────┘
//!   working set [B], logarithmic
//! ```

/// One level as the curve shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Latency of a dependent load that it answers [ns].
    pub(super) latency_ns: f64,
    /// Working set up to which it answers more than half of the loads [B]; none for the last.
    pub(super) capacity_bytes: Option<f64>,
}

/// A latency by working set [B, ns].
pub(super) type Latency = (f64, f64);

/// The levels of a curve, the smallest first. Points must be in the order of their working sets.
#[must_use]
pub(super) fn levels(curve: &[Latency]) -> Vec<Level> {
    let flats = flats(curve);
    let capacity = |pair: &[Flat]| {
        let half = (pair[0].latency_ns * pair[1].latency_ns).sqrt();
        let between = &curve[pair[0].last..=pair[1].first];
        between.windows(2).find(|step| step[1].1 >= half).map(|step| crossing(step, half))
    };
    let mut capacities = flats.windows(2).map(capacity);
    let level = |flat: &Flat| Level {
        latency_ns: flat.latency_ns,
        capacity_bytes: capacities.next().flatten(),
    };
    flats.iter().map(level).collect()
}

/// A stretch of the curve at one height.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Flat {
    first: usize,
    last: usize,
    /// Median of its larger half [ns].
    latency_ns: f64,
}

/// Longest stretches whose points differ by little, of an octave or more; a stretch as high as the one
/// before belongs to it.
fn flats(curve: &[Latency]) -> Vec<Flat> {
    let mut flats: Vec<Flat> = Vec::new();
    let mut first = 0;
    while first < curve.len() {
        let last = flat_until(curve, first);
        if curve[last].0 < WIDTH * curve[first].0 {
            first += 1;
            continue;
        }
        // The larger half: in the smaller one the level before still answers some loads.
        let latency_ns = median(&curve[first.midpoint(last)..=last]);
        match flats.last_mut() {
            Some(flat) if latency_ns < HEIGHT * flat.latency_ns => flat.last = last,
            _ => flats.push(Flat { first, last, latency_ns }),
        }
        first = last + 1;
    }
    flats
}

/// The last point up to which all from the first on are within the height of a flat.
fn flat_until(curve: &[Latency], first: usize) -> usize {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    let inside = curve[first..].iter().take_while(|(_, latency)| {
        (low, high) = (low.min(*latency), high.max(*latency));
        high <= HEIGHT * low
    });
    first + inside.count().max(1) - 1
}

fn median(points: &[Latency]) -> f64 {
    let latencies: Vec<f64> = points.iter().map(|(_, latency)| *latency).collect();
    bitpath_measure::statistics::median(&latencies).unwrap_or(f64::NAN)
}

/// Where the line between two points passes a height, both axes logarithmic [B].
fn crossing(step: &[Latency], height: f64) -> f64 {
    let ((from, low), (to, high)) = (step[0], step[1]);
    if high <= low {
        return to;
    }
    let part = ((height / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
    from * (to / from).powf(part)
}

/// Highest over lowest latency of a flat: more than what one level varies by, less than the step from one
/// to the next on any machine.
const HEIGHT: f64 = 1.25;

/// Largest over smallest working set of a flat: an octave. Passing from a level to the next is steeper.
const WIDTH: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A hierarchy whose loads are answered by the level that holds their share of the working set, with
    /// a disturbance of a few per cent.
    fn curve(capacities: &[f64], latencies: &[f64]) -> Vec<Latency> {
        let point = |step: u32| {
            let bytes = 4096.0 * 2_f64.powf(f64::from(step) / 8.0);
            let mut held = 0.0;
            let mut latency = 0.0;
            for (level, answer) in latencies.iter().enumerate() {
                let until =
                    capacities.get(level).map_or(1.0, |capacity| (capacity / bytes).min(1.0));
                latency += (until - held).max(0.0) * answer;
                held = held.max(until);
            }
            let disturbance = 1.0 + 0.04 * f64::from(step * 7 % 5) / 5.0;
            (bytes, latency * disturbance)
        };
        (0..8 * 18).map(point).collect()
    }

    #[test]
    fn three_caches_and_memory_are_found_with_their_sizes() {
        let capacities = [48e3, 2e6, 32e6];
        let latencies = [1.3, 4.2, 33.0, 120.0];
        let found = levels(&curve(&capacities, &latencies));
        assert_eq!(found.len(), 4, "{found:?}");
        for (level, latency) in found.iter().zip(latencies) {
            // A level answers a share of the loads beside the next one, so that no flat is quite as high.
            assert!((level.latency_ns / latency - 1.0).abs() < 0.25, "{level:?}, {latency} ns");
        }
        for (level, capacity) in found.iter().zip(capacities) {
            let ratio = level.capacity_bytes.unwrap() / capacity;
            assert!((0.8..2.5).contains(&ratio), "{level:?}, {capacity} B");
        }
        assert_eq!(found[3].capacity_bytes, None);
    }

    #[test]
    fn a_curve_that_is_flat_is_one_level_and_no_curve_has_none() {
        let flat: Vec<Latency> = (0..20).map(|step| (2_f64.powi(step), 5.0)).collect();
        assert_eq!(levels(&flat), [Level { latency_ns: 5.0, capacity_bytes: None }]);
        assert_eq!(levels(&[]), []);
        assert_eq!(levels(&[(4096.0, 1.0)]), []);
    }
}
