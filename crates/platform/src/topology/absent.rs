//! Without hwloc nothing is known.

use bitpath_measure::environment::Topology;

pub(super) fn topology() -> Option<Topology> {
    None
}
