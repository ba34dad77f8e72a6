//! The point of a sweep that asks for the most packets, found without simulating any.

use bitpath_sim::engine::size::size;
use bitpath_sim::scenario::{Draft, Scenario, Setting, SettingError};

use super::{Axis, Plan, SweepError};

/// The largest point and its settings in words.
///
/// Each value moves the number of packets up or down whatever the others are, so one axis after
/// the other is set to the value with the most. Values that the scenario does not take are passed
/// over: the sweep itself refuses them.
///
/// # Errors
/// When the text without the varied values is no scenario.
pub fn largest(plan: &Plan) -> Result<(Scenario, String), SweepError> {
    let draft = Draft::read(&plan.text).map_err(SettingError::File)?;
    let mut chosen = Vec::new();
    for axis in plan.grid.axes() {
        if let Some(settings) = with_most(&draft, &chosen, axis) {
            chosen = settings;
        }
    }
    let (scenario, _) = draft.with(&chosen)?;
    Ok((scenario, chosen.iter().map(Setting::to_string).collect::<Vec<_>>().join(", ")))
}

/// These settings, and the value of an axis that gives the most packets with them.
fn with_most(draft: &Draft, chosen: &[Setting], axis: &Axis) -> Option<Vec<Setting>> {
    let settings = axis.typical().filter_map(|level| {
        let settings = [chosen, &[axis.setting(level).ok()?]].concat();
        let (scenario, _) = draft.with(&settings).ok()?;
        Some((size(&scenario).packets, settings))
    });
    settings.max_by_key(|(packets, _)| *packets).map(|(_, settings)| settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Grid;

    #[test]
    fn the_largest_point_is_at_the_longest_and_fastest() {
        let text = include_str!("../../../../scenarios/ten-gigabit-tcp.toml").to_owned();
        let axes = [
            "machine.line.rate=1 Gb/s..100 Gb/s:log30",
            "machine.line.segment=9000 B,1448 B,0 B",
            "machine.duration=1 s..100 s:lin100",
        ];
        let axes = axes.iter().map(|axis| axis.parse().unwrap()).collect();
        let plan = Plan { text, grid: Grid::new(axes).unwrap(), engine: None };
        let (scenario, settings) = largest(&plan).unwrap();
        let words = "machine.line.rate=100 Gb/s, machine.line.segment=1448 B, machine.duration=";
        assert!(settings.starts_with(words), "{settings}");
        assert!((8e8..9e8).contains(&(size(&scenario).packets as f64)), "{:?}", size(&scenario));
    }
}
