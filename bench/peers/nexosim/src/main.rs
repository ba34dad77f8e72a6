//! P3 by nexosim: the path as one model that schedules its own events, on one thread. One model
//! is its fastest form: messages between models cost it more than the event list.

use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSource, QuerySource};
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use p3::{Counts, Event, FIRST, Measurement, Path};
use serde::{Deserialize, Serialize};

fn main() {
    Measurement::from_arguments(&mut std::env::args().skip(1))
        .print(|packets| run(packets).expect("the model is sound"));
}

/// A nanosecond of nexosim is a tick.
fn run(packets: u64) -> Result<Counts, SimulationError> {
    let mailbox = Mailbox::new();
    let mut bench = SimInit::with_num_threads(1);
    let first = EventSource::new().connect(Host::take, &mailbox).register(&mut bench);
    let counts = QuerySource::new().connect(Host::counts, &mailbox).register(&mut bench);
    let host = Host { path: Path::new(packets) };
    let mut simulation = bench.add_model(host, mailbox, "host").init(MonotonicTime::EPOCH)?;
    simulation
        .scheduler()
        .schedule_event(Duration::from_nanos(FIRST), &first, Event::Arrival)
        .expect("the first event is to come");
    simulation.run()?;
    Ok(simulation.process_query(&counts, ())?)
}

#[derive(Serialize, Deserialize)]
struct Host {
    path: Path,
}

#[Model]
impl Host {
    #[nexosim(schedulable)]
    fn take(&mut self, event: Event, context: &Context<Self>) {
        let tick = context.time().duration_since(MonotonicTime::EPOCH).as_nanos() as u64;
        self.path.handle(event, tick, &mut |next, event| {
            let delay = Duration::from_nanos(next - tick);
            context
                .schedule_event(delay, schedulable!(Self::take), event)
                .expect("what follows is to come");
        });
    }

    async fn counts(&mut self) -> Counts {
        self.path.counts()
    }
}
