//! How processors, caches, memory and interfaces hang together, by hwloc behind the feature `topology`.

#[cfg(not(feature = "topology"))]
mod absent;
#[cfg(feature = "topology")]
mod hwloc;

#[cfg(not(feature = "topology"))]
use absent as backend;
#[cfg(feature = "topology")]
use hwloc as backend;

use bitpath_measure::environment::Topology;

/// The topology of this machine; none where hwloc cannot read it, or without the feature `topology`.
#[must_use]
pub fn topology() -> Option<Topology> {
    backend::topology()
}

#[cfg(all(test, feature = "topology"))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::affinity::allowed_cpus;

    #[test]
    fn every_processor_has_one_core_one_node_and_one_last_cache() {
        let found = topology().unwrap();
        assert!(found.packages >= 1, "{found:?}");
        for groups in [&found.cores, &found.memory_nodes] {
            let members: Vec<usize> = groups.iter().flatten().copied().collect();
            let distinct: BTreeSet<usize> = members.iter().copied().collect();
            assert_eq!(members.len(), distinct.len(), "{found:?}");
            assert!(allowed_cpus().unwrap().iter().all(|cpu| distinct.contains(cpu)), "{found:?}");
        }
    }
}
