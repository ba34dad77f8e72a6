//! The test beds of the stack's probe: one for each way between its two ends.

use std::path::Path;

use bitpath_measure::Pitfall;
use bitpath_platform::namespace;

use crate::BenchError;
use crate::sampling::Bed;
use crate::testbed::{Testbed, Way};

/// A test bed for each way, loopback first.
#[derive(Debug)]
pub struct Beds {
    beds: Vec<(Way, Testbed)>,
    doubts: Vec<Pitfall>,
}

impl Beds {
    /// Opens loopback, and the way to a peer where one is given; else the virtual cable where that can
    /// be made; where not, the doubts say why.
    ///
    /// # Errors
    /// When a worker cannot be started, and when the peer cannot be reached or does not serve us.
    pub fn open(program: &Path, peer: Option<&str>) -> Result<Self, BenchError> {
        let mut beds = vec![(Way::Loopback, Testbed::over_loopback(program)?)];
        let mut doubts = Vec::new();
        if let Some(address) = peer {
            beds.push((Way::Peer, Testbed::to_peer(program, address)?));
            return Ok(Self { beds, doubts });
        }
        match namespace::can_make_namespaces() {
            Ok(()) => beds.push((Way::Veth, Testbed::over_veth(program)?)),
            Err(reason) => {
                let what = "the stack over packets of 1500 B".into();
                doubts.push(Pitfall::NotMeasured { what, reason: reason.to_string() });
            }
        }
        Ok(Self { beds, doubts })
    }

    /// The ways that there are.
    #[must_use]
    pub fn ways(&self) -> Vec<Way> {
        self.beds.iter().map(|(way, _)| *way).collect()
    }

    /// The test bed of a way.
    pub(super) fn of(&mut self, way: Way) -> Result<&mut Testbed, BenchError> {
        let bed = self.beds.iter_mut().find(|(found, _)| *found == way);
        bed.map(|(_, bed)| bed).ok_or_else(|| crate::worker::not_open(way.name()))
    }

    /// The test bed for what depends on no way.
    pub(super) fn first(&mut self) -> Result<&mut Testbed, BenchError> {
        let first = self.beds.first_mut().map(|(_, bed)| bed);
        first.ok_or_else(|| crate::worker::not_open("any test bed"))
    }

    /// The doubts about all of them.
    pub(super) fn doubts(&mut self) -> Vec<Pitfall> {
        let mut doubts = std::mem::take(&mut self.doubts);
        for (_, bed) in &mut self.beds {
            doubts.append(&mut bed.pitfalls);
        }
        doubts
    }
}

impl Bed for Beds {
    /// All test beds run on the same two processors: one tells for all.
    fn speed(&mut self) -> Result<f64, BenchError> {
        self.first()?.speed()
    }

    fn pids(&self) -> Vec<u32> {
        self.beds.iter().flat_map(|(_, bed)| bed.pids()).collect()
    }
}
