//! Two processes in two network namespaces, joined by a virtual cable.

use std::io::{Write, stderr};
use std::net::SocketAddr;

use bitpath_measure::{BitRate, ByteCount};
use bitpath_platform::namespace::{
    End, LinkOptions, Offloads, RateLimit, VethPair, can_limit_rate, can_make_namespaces,
};
use bitpath_platform::process::Worker;
use serde_json::json;

use crate::worker::{ask, start};

pub(crate) const SEGMENTED: LinkOptions = LinkOptions { mtu_bytes: 1500, offloads: Offloads::NONE };

/// Whether the test can run; says why where it cannot. The plain write is not captured by the
/// test's harness.
pub(crate) fn possible(test: &str) -> bool {
    let possible = can_make_namespaces().and_then(|()| can_limit_rate());
    if let Err(error) = &possible {
        stderr().write_all(format!("{test}: skipped: {error}\n").as_bytes()).unwrap();
    }
    possible.is_ok()
}

pub(crate) fn joined(options: &LinkOptions) -> (Worker, Worker, VethPair) {
    let [mut a, mut b] = [start("a"), start("b")];
    for worker in [&mut a, &mut b] {
        assert_eq!(ask(worker, &json!("enter-network")), "done");
    }
    let pair = VethPair::connect(a.pid(), b.pid(), options).unwrap();
    (a, b, pair)
}

fn open(worker: &mut Worker, what: &str, pair: &VethPair, end: End) -> SocketAddr {
    let address = SocketAddr::from((pair.address(end), 0));
    ask(worker, &json!({ what: address }))["address"].as_str().unwrap().parse().unwrap()
}

#[test]
fn datagrams_pass_between_two_namespaces_both_ways() {
    if !possible("datagrams_pass_between_two_namespaces_both_ways") {
        return;
    }
    let (mut a, mut b, pair) = joined(&SEGMENTED);
    let address_a = open(&mut a, "open", &pair, End::A);
    let address_b = open(&mut b, "open", &pair, End::B);
    for (from, to, address) in [(0, 1, address_b), (1, 0, address_a)] {
        let workers = &mut [&mut a, &mut b];
        let request = json!({ "send": { "to": address, "datagrams": 20 } });
        assert_eq!(ask(workers[from], &request), "done");
        let received = ask(workers[to], &json!({ "receive": { "datagrams": 20 } }));
        assert_eq!(received["count"], 20);
    }
    let counters = pair.counters(End::A).unwrap();
    assert!(counters.sent.packets >= 20 && counters.received.packets >= 20, "{counters:?}");
    assert_eq!((counters.sent.dropped, counters.received.dropped), (0, 0));
    assert_eq!(pair.queue(End::A).unwrap().kind, "noqueue");
}

#[test]
fn without_offloads_every_segment_is_made() {
    if !possible("without_offloads_every_segment_is_made") {
        return;
    }
    const BYTES: u64 = 1_000_000;
    const SEGMENT_BYTES: u64 = 1500 - 20 - 20 - 12;
    let all =
        Offloads { tcp_segmentation: true, generic_segmentation: true, generic_receive: false };
    let (mut a, mut b, pair) = joined(&SEGMENTED);
    let address = open(&mut b, "listen", &pair, End::B);
    let mut sent_packets = |offloads| {
        pair.set_offloads(End::A, &offloads).unwrap();
        let before = pair.counters(End::A).unwrap().sent.packets;
        b.send(&json!("receive-stream")).unwrap();
        let request = json!({ "send-stream": { "to": address, "bytes": BYTES } });
        assert_eq!(ask(&mut a, &request), "done");
        let received: serde_json::Value = b.receive(crate::worker::PATIENCE).unwrap();
        assert_eq!(received["count"], BYTES);
        pair.counters(End::A).unwrap().sent.packets - before
    };
    assert!(sent_packets(Offloads::NONE) >= BYTES / SEGMENT_BYTES);
    assert!(sent_packets(all) < BYTES / SEGMENT_BYTES);
}

#[test]
fn a_rate_limit_is_set_replaced_counted_and_removed() {
    if !possible("a_rate_limit_is_set_replaced_counted_and_removed") {
        return;
    }
    let (mut a, mut b, pair) = joined(&SEGMENTED);
    open(&mut a, "open", &pair, End::A);
    let to = open(&mut b, "open", &pair, End::B);
    for rate in [5_000_000, 8000] {
        let limit =
            RateLimit { rate: BitRate(rate), burst: ByteCount(2000), queue: ByteCount(4000) };
        pair.limit_rate(End::A, &limit).unwrap();
        assert_eq!(pair.queue(End::A).unwrap().kind, "tbf");
        assert_eq!(pair.queue(End::B).unwrap().kind, "noqueue");
    }
    // A thousand bytes a second: of a hundred datagrams the queue takes a few and drops the others.
    assert_eq!(ask(&mut a, &json!({ "send": { "to": to, "datagrams": 100 } })), "done");
    let queue = pair.queue(End::A).unwrap();
    assert!(queue.drops >= 90 && queue.packets + queue.drops <= 100, "{queue:?}");

    pair.remove_limit(End::A).unwrap();
    assert_eq!(pair.queue(End::A).unwrap().kind, "noqueue");
    let error = pair.remove_limit(End::A).unwrap_err().to_string();
    assert!(error.contains("tc qdisc del dev bitpath0 root` failed"), "{error}");
}

#[test]
fn a_cable_to_a_process_that_is_gone_names_the_command() {
    if !possible("a_cable_to_a_process_that_is_gone_names_the_command") {
        return;
    }
    let a = start("a");
    let gone = 4_194_304;
    let error = VethPair::connect(a.pid(), gone, &SEGMENTED).unwrap_err().to_string();
    assert!(error.starts_with("`ip link add") && error.contains("4194304"), "{error}");
}
