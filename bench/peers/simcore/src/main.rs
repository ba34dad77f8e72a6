//! P3 by simcore: the path as one component that emits events to itself. Its clock is an f64;
//! a tick is one, and whole numbers up to 2^53 are exact.

use std::cell::RefCell;
use std::rc::Rc;

use p3::{Counts, FIRST, Measurement, Path};
use serde::Serialize;
use simcore::{EventHandler, Simulation, SimulationContext, cast};

fn main() {
    Measurement::from_arguments(&mut std::env::args().skip(1)).print(run);
}

fn run(packets: u64) -> Counts {
    let mut simulation = Simulation::new(0);
    let context = simulation.create_context("host");
    context.emit_self(Happened { what: p3::Event::Arrival }, FIRST as f64);
    let host = Rc::new(RefCell::new(Host { path: Path::new(packets), context }));
    simulation.add_handler("host", host.clone());
    simulation.step_until_no_events();
    host.borrow().path.counts()
}

#[derive(Clone, Serialize)]
struct Happened {
    what: p3::Event,
}

struct Host {
    path: Path,
    context: SimulationContext,
}

impl EventHandler for Host {
    fn on(&mut self, event: simcore::Event) {
        let Self { path, context } = self;
        let tick = event.time as u64;
        cast!(match event.data {
            Happened { what } => {
                path.handle(what, tick, &mut |next, what| {
                    context.emit_self(Happened { what }, (next - tick) as f64);
                });
            }
        })
    }
}
