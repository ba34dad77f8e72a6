//! Flows between two real workers: every way of the bytes, both directions, several streams.

use bitpath_bench::BenchError;
use bitpath_bench::testbed::{Direction, Testbed};
use bitpath_bench::worker::{Buffers, CopyPath, FlowOrder, FlowSetup, FlowUse, PingOrder};
use bitpath_platform::namespace::Offloads;
use bitpath_sim::profile::Transport;

use crate::{namespaces_possible, program};

const BUFFERS: Buffers = Buffers { receive: 1 << 20, send: 1 << 20 };
const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];

fn bed() -> Testbed {
    Testbed::over_loopback(&program()).unwrap()
}

fn setup(transport: Transport, streams: usize) -> FlowSetup {
    FlowSetup { streams, ..FlowSetup::plain(transport, BUFFERS) }
}

/// What both sides say of themselves is possible at all.
fn assert_sound(side: &FlowUse) {
    assert!(side.elapsed_ns > 0 && side.cpu_ns > 0 && side.calls > 0, "{side:?}");
    assert!(side.copied_completions <= side.completions, "{side:?}");
}

#[test]
fn every_byte_sent_by_every_way_is_received() {
    let mut bed = bed();
    for (path, streams) in CopyPath::ALL.into_iter().zip([1, 3, 1, 8]) {
        bed.open_flow(&setup(Transport::Tcp, streams)).unwrap();
        let order = FlowOrder { path, source_bytes: 1 << 20, ..FlowOrder::plain(100_000, 200) };
        for direction in BOTH {
            let (sent, received) = bed.transfer(&order, direction).unwrap();
            assert_eq!((sent.messages, sent.bytes), (200, 20_000_000), "{path}");
            assert_eq!(received.bytes, sent.bytes, "{path}");
            assert!(sent.packets >= 20_000_000 / 65_536, "{sent:?}");
            assert_eq!(sent.completions >= 200, path == CopyPath::ZeroCopy, "{sent:?}");
            assert_sound(&sent);
            assert_sound(&received);
        }
    }
}

#[test]
fn datagrams_are_received_or_counted_as_dropped() {
    let mut bed = bed();
    for streams in [1, 4] {
        bed.open_flow(&setup(Transport::Udp, streams)).unwrap();
        for direction in BOTH {
            let order = FlowOrder::plain(1000, 3000);
            let (sent, received) = bed.transfer(&order, direction).unwrap();
            assert_eq!((sent.messages, sent.packets, sent.bytes), (3000, 3000, 3_000_000));
            // Those that tell the end may be dropped, too.
            let accounted = received.packets + received.drops;
            let possible = 3000..=3000 + 3 * streams as u64;
            assert!(possible.contains(&accounted), "{direction:?} of {streams}: {received:?}");
            assert_eq!(received.bytes, received.packets * 1000);
        }
    }
}

#[test]
fn cut_and_joined_datagrams_are_counted_one_by_one() {
    let mut bed = bed();
    let plain = setup(Transport::Udp, 1);
    let setup = FlowSetup { segment_bytes: Some(1000), receive_offload: true, ..plain };
    bed.open_flow(&setup).unwrap();
    let (sent, received) =
        bed.transfer(&FlowOrder::plain(30_500, 100), Direction::Forward).unwrap();
    assert_eq!((sent.calls, sent.packets), (100, 3100));
    // The last datagram of each message is half as long as the others.
    assert!(received.packets * 1000 >= received.bytes, "{received:?}");
    assert!(received.calls < received.packets, "{received:?}");
}

#[test]
fn a_transfer_begins_anew_whatever_the_one_before_left() {
    let mut bed = bed();
    bed.open_flow(&setup(Transport::Udp, 1)).unwrap();
    for messages in [1, 50, 1, 500] {
        let order = FlowOrder::plain(10, messages);
        let (sent, received) = bed.transfer(&order, Direction::Forward).unwrap();
        assert_eq!((sent.packets, received.packets), (messages, messages));
    }
}

#[test]
fn each_request_has_its_response() {
    let mut bed = bed();
    for transport in [Transport::Tcp, Transport::Udp] {
        bed.open_flow(&FlowSetup { no_delay: true, ..setup(transport, 1) }).unwrap();
        for direction in BOTH {
            let order = PingOrder { message_bytes: 64, count: 300 };
            let pings = bed.pings(order, direction).unwrap();
            assert_eq!((pings.round_trip_ns.len(), pings.lost), (300, 0));
            assert!(pings.round_trip_ns.iter().all(|time| *time > 0) && pings.cpu_ns > 0);
        }
    }
}

#[test]
fn an_order_that_cannot_be_obeyed_says_why_and_harms_nothing() {
    let mut bed = bed();
    let refused = |error: BenchError, part: &str| {
        let error = error.to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(bed.open_flow(&setup(Transport::Tcp, 9)).unwrap_err(), "1 to 8 streams, not 9");
    bed.open_flow(&setup(Transport::Udp, 1)).unwrap();
    let order = FlowOrder { path: CopyPath::Sendfile, ..FlowOrder::plain(100, 1) };
    refused(bed.transfer(&order, Direction::Forward).unwrap_err(), "not by sendfile");
    refused(bed.set_offloads(Offloads::NONE).unwrap_err(), "offloads");
    let (_, received) = bed.transfer(&FlowOrder::plain(100, 5), Direction::Forward).unwrap();
    assert_eq!(received.packets, 5);
}

#[test]
fn over_a_cable_segments_are_counted_whoever_cuts_them() {
    if !namespaces_possible("over_a_cable_segments_are_counted_whoever_cuts_them") {
        return;
    }
    let mut bed = Testbed::over_veth(&program()).unwrap();
    let mut segments = |offloads| {
        bed.set_offloads(offloads).unwrap();
        bed.open_flow(&setup(Transport::Tcp, 1)).unwrap();
        let order = FlowOrder::plain(65_536, 100);
        let (sent, received) = bed.transfer(&order, Direction::Forward).unwrap();
        assert_eq!(received.bytes, 6_553_600);
        sent.packets
    };
    let all =
        Offloads { tcp_segmentation: true, generic_segmentation: true, generic_receive: true };
    // TCP counts the segments of one packet's size, whoever cuts them.
    let (made, counted) = (segments(Offloads::NONE), segments(all));
    assert!(made >= 6_553_600 / 1460 && counted >= 6_553_600 / 1460, "{made} and {counted}");
}

#[test]
fn memory_is_copied_at_some_rate() {
    assert!(bed().copy_rate(1 << 20).unwrap() > 0.0);
}
