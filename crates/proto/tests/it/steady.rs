//! A steady session allocates nothing, for a packet or for a report.

use std::net::SocketAddr;

use bitpath_proto::rtcp::{Budget, Minimum};
use bitpath_proto::rtp::session::Config;
use bitpath_proto::rtp::{ClockRate, Session};

const S: u64 = 1_000_000_000;

fn session(ssrc: u32) -> Session {
    let config = Config {
        ssrc,
        cname: "somebody@host.example".to_owned(),
        payload_type: 0,
        clock_rate: ClockRate::new(8000).unwrap(),
        first_sequence: 65_000,
        first_timestamp: 0,
        min_sequential: 2,
        budget: Budget::new(64_000, Minimum::Fixed).unwrap(),
        reference_times: true,
        unix_ns_at_zero: 0,
        seed: 1,
    };
    Session::new(0, config).unwrap()
}

/// A minute of both ends, one packet each every 20 ms, and returns how many reports were heard.
fn talk(ends: &mut [Session; 2], from_s: u64) -> u32 {
    let addresses = [1, 2].map(|port| SocketAddr::from(([192, 0, 2, 1], port)));
    let (mut buffer, mut reports) = ([0; 1500], 0);
    for number in 0..3000_u32 {
        let now_ns = from_s * S + u64::from(number) * 20_000_000;
        for (end, other) in [(0, 1), (1, 0)] {
            let header = ends[end].next_header(now_ns, number * 160, 160);
            let bytes = header.write(&mut buffer, &[0xd5; 160]).unwrap();
            let _ = ends[other].handle_rtp(now_ns, addresses[end], &buffer[..bytes]);
            while let Some(bytes) = ends[end].poll_transmit(now_ns, &mut buffer).unwrap() {
                ends[other].handle_rtcp(now_ns, addresses[end], &buffer[..bytes]).unwrap();
                reports += 1;
            }
        }
    }
    reports
}

#[test]
fn once_the_sources_are_known_nothing_is_allocated() {
    let mut ends = [session(1), session(2)];
    let mut reports = 0;
    let joining = allocation_counter::measure(|| reports = talk(&mut ends, 0));
    assert!(joining.count_total > 0, "sources take memory, and it is counted");
    let steady = allocation_counter::measure(|| reports = talk(&mut ends, 60));
    assert!(reports > 10);
    assert_eq!(steady.count_total, 0);
    assert_eq!(ends.map(|end| end.statistics().next().unwrap().packets), [5999; 2]);
}
