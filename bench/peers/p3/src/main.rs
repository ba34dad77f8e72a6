//! P3 by the textbook: the standard library's binary heap of (tick, event).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use p3::{Counts, Event, FIRST, Measurement, Path};

fn main() {
    Measurement::from_arguments(&mut std::env::args().skip(1)).print(run);
}

fn run(packets: u64) -> Counts {
    let mut path = Path::new(packets);
    let mut events = BinaryHeap::from([Reverse((FIRST, Event::Arrival))]);
    while let Some(Reverse((tick, event))) = events.pop() {
        path.handle(event, tick, &mut |tick, event| events.push(Reverse((tick, event))));
    }
    path.counts()
}
