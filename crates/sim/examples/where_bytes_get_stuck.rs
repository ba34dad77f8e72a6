//! Where do the bytes get stuck, and what would free them? The model in its shortest form.
//!
//! Run it: `cargo run -p bitpath-sim --example where_bytes_get_stuck`
//!
//! A film of 1 Mb/s is played fifty times as fast as it should be. The receiver decodes in
//! software: about a millisecond a frame, while frames come every 0.8 ms.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use bitpath_measure::{ByteCount, Picos};
use bitpath_media::GopModel;
use bitpath_sim::answer::{bottleneck, remedy};
use bitpath_sim::host::HostScenario;
use bitpath_sim::job::{Job, Work};
use bitpath_sim::link::Link;
use bitpath_sim::path;
use bitpath_sim::profile::{HostProfile, Transport};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The host: what each call, packet, byte and frame costs its processors.
    let host: HostProfile = toml::from_str(include_str!("../tests/round-host.toml"))?;

    // The job: a sender that sends frames when they are due, a receiver that decodes them.
    let film = GopModel::video1().film("video1", 150)?;
    let raw = Job::raw("film", Transport::Udp, ByteCount(1316), ByteCount(425_984), Picos::SECOND);
    let work = Work::Mpeg {
        film,
        speed: 50.0,
        software_decode: true,
        playout_delay: Picos::from_nanos(3_000_000),
    };
    let scenario = HostScenario {
        host,
        job: Job { work, ..raw },
        link: Link::default(),
        interval: Picos::SECOND,
    };

    // What happens.
    let outcome = path::run(&scenario);
    println!("{} messages sent, {} of them lost:", outcome.sent, outcome.drops.total());
    println!("  before the link    {:6}", outcome.drops.link);
    println!("  in the socket      {:6}", outcome.drops.kernel_buffer);
    println!("receiver busy        {:5.0} % of the time", outcome.receiver_load() * 100.0);
    println!("frames shown in time {:6} of {}", outcome.frames.on_time, outcome.frames.frames());

    // Why, and what would help.
    let found = bottleneck::find(&scenario);
    println!("\nThe bottleneck is {}.", found.parameter.in_words());
    for (_, remedy) in remedy::rank(&scenario).iter().take(3) {
        println!("  {:5.2} times the throughput with {}", remedy.predicted_gain.value, remedy.name);
    }
    Ok(())
}
