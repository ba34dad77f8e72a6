//! All combinations of the values of some axes; the last axis varies fastest.

use bitpath_sim::scenario::{Setting, SettingError};

use super::Axis;

/// Most points of one sweep: at 5 ms a point on two processors these take 40 minutes, and their
/// file some 400 MB.
pub const MAX_POINTS: usize = 1_000_000;

/// The points of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    axes: Vec<Axis>,
    points: usize,
}

/// Why axes make no grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// Too many combinations.
    #[error("a sweep has at most {MAX_POINTS} points, this one would have {points}")]
    TooMany {
        /// How many.
        points: u128,
    },
    /// One key on two axes.
    #[error("{key} is varied twice")]
    Twice {
        /// The key.
        key: String,
    },
    /// No axis.
    #[error("nothing is varied")]
    Empty,
}

impl Grid {
    /// The combinations of these axes' values.
    ///
    /// # Errors
    /// Without an axis, with one key on two, or with more than [`MAX_POINTS`] points.
    pub fn new(axes: Vec<Axis>) -> Result<Self, GridError> {
        for (index, axis) in axes.iter().enumerate() {
            if axes[..index].iter().any(|other| other.key() == axis.key()) {
                return Err(GridError::Twice { key: axis.key().into() });
            }
        }
        let lengths = axes.iter().map(|axis| axis.levels().len() as u128);
        let product: u128 = lengths.fold(1, u128::saturating_mul);
        let points = usize::try_from(product).ok().filter(|points| *points <= MAX_POINTS);
        let points = points.ok_or(GridError::TooMany { points: product })?;
        if axes.is_empty() { Err(GridError::Empty) } else { Ok(Self { axes, points }) }
    }

    /// The axes, in the order in which they were given.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// How many points there are.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// The place of a point on every axis.
    #[must_use]
    pub fn places(&self, point: usize) -> Vec<usize> {
        let mut rest = point;
        let mut places: Vec<usize> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            places.push(rest % axis.levels().len());
            rest /= axis.levels().len();
        }
        places.reverse();
        places
    }

    /// The settings of a point.
    pub(super) fn settings(&self, point: usize) -> Result<Vec<Setting>, SettingError> {
        let places = self.axes.iter().zip(self.places(point));
        places.map(|(axis, place)| axis.setting(&axis.levels()[place])).collect()
    }

    /// The axes as text, the same for the same grid.
    pub(super) fn written(&self) -> String {
        let mut text = String::new();
        for axis in &self.axes {
            let levels = axis.levels().iter().map(|level| level.text.as_str());
            text += &format!("{}={}\n", axis.key(), levels.collect::<Vec<_>>().join(","));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(axes: &[&str]) -> Result<Grid, GridError> {
        Grid::new(axes.iter().map(|axis| axis.parse().unwrap()).collect())
    }

    #[test]
    fn every_combination_is_a_point_and_the_last_axis_varies_fastest() {
        let grid = grid(&["a=1,2", "b=x,y,z"]).unwrap();
        let written = |point| {
            let settings = grid.settings(point).unwrap();
            settings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(grid.points(), 6);
        assert_eq!(written(0), ["a=1", "b=x"]);
        assert_eq!(written(2), ["a=1", "b=z"]);
        assert_eq!(written(5), ["a=2", "b=z"]);
    }

    #[test]
    fn too_many_points_are_refused_with_their_number() {
        assert!(grid(&["a=1..1000:lin1000", "b=1..1000:lin1000"]).is_ok());
        let error = grid(&["a=1..1001:lin1001", "b=1..1000:lin1000"]).unwrap_err();
        assert_eq!(error, GridError::TooMany { points: 1_001_000 });
        assert_eq!(grid(&["a=1", "a=2"]), Err(GridError::Twice { key: "a".into() }));
        assert_eq!(grid(&[]), Err(GridError::Empty));
    }
}
