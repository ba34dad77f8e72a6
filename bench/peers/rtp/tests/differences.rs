//! Where libraries part from RFC 3550: each case through ours, which must be right, and through the others, whose
//! answers are printed in a table and judged by nobody. Not every difference is a fault: a library may refuse more
//! than it must, and what stands in brackets was not asked of it.
//!
//!     cargo test --package rtp-peers --test differences -- --nocapture

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

use bitpath_proto::rtcp::{Compound, RtcpPacket};
use bitpath_proto::rtp::jitter_buffer::{JitterBuffer, Turn};
use bitpath_proto::rtp::reception::ReceptionReport;
use bitpath_proto::rtp::sequence::{Arrival, Sequence};
use bitpath_proto::rtp::{Header, Packet, Reception};
use bytes::Bytes;
use rtp_peers::{SSRC, rtc, webrtc};
use sansio::Protocol;

thread_local! {
    /// Whether a panic of this thread is an answer.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// What a library says, a panic included.
fn asked(ask: impl FnOnce() -> String) -> String {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !ASKING.get() {
                loud(panic);
            }
        }));
    });
    ASKING.set(true);
    let answer = catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| "panics".to_owned());
    ASKING.set(false);
    answer
}

type Ask<T> = (&'static str, fn(&T) -> String);

/// Asserts our answer and prints those of all.
fn hold<T>(case: &str, input: &T, right: &str, ours: fn(&T) -> String, others: &[Ask<T>]) {
    println!("{case}\n  {:11} {right}", "RFC, ours");
    for (library, ask) in others {
        let answer = asked(|| ask(input));
        let differs = answer != right && !answer.ends_with(')');
        println!("  {library:11} {answer}{}", if differs { "    <- differs" } else { "" });
    }
    assert_eq!(ours(input), right, "{case}");
}

/// Sequence number, timestamp and arrival [ticks] of packets.
type Arrivals = Vec<(u16, u32, u32)>;

/// Packets each in its time.
fn in_time(sequences: impl IntoIterator<Item = u16>) -> Arrivals {
    let packet = |(sequence, number): (u16, u32)| (sequence, number * 160, number * 160);
    sequences.into_iter().zip(0..).map(packet).collect()
}

fn datagrams(arrivals: &Arrivals) -> impl Iterator<Item = (u32, Bytes)> {
    arrivals.iter().map(|(sequence, timestamp, arrival_ticks)| {
        let mut buffer = [0; 12];
        let written = Header::new(0, *sequence, *timestamp, SSRC).write_header(&mut buffer);
        written.expect("there is room for a header");
        (*arrival_ticks, Bytes::copy_from_slice(&buffer))
    })
}

fn told(report: ReceptionReport) -> String {
    // The wire's 24 bits, whatever a library holds them in.
    let lost = (report.cumulative_lost << 8) >> 8;
    format!("lost {lost}, highest {}, jitter {}", report.extended_highest, report.jitter_ticks)
}

fn report_of_ours(arrivals: &Arrivals) -> String {
    let mut reception = Reception::new(1);
    for (arrival_ticks, datagram) in datagrams(arrivals) {
        reception.on_packet(&Packet::parse(&datagram).expect("a sound packet"), arrival_ticks);
    }
    told(reception.report())
}

fn report_of_rtc(arrivals: &Arrivals) -> String {
    let (start, mut reports) = (Instant::now(), rtc::reports());
    for packet in rtc::tagged(start, datagrams(arrivals)) {
        reports.handle_read(packet).expect("it takes every packet");
    }
    told(rtc::report_of(&mut reports, start + Duration::from_secs(1_000_000)))
}

fn report_of_webrtc(arrivals: &Arrivals) -> String {
    told(webrtc::count(&mut webrtc::parsed(datagrams(arrivals))).report())
}

#[test]
fn reports_of_reception() {
    let before_wrap = u32::MAX - 10 * 160;
    let wraps = (0_u16..20).zip(0..).map(|(sequence, number): (u16, u32)| {
        (sequence, before_wrap.wrapping_add(number * 160), number * 160)
    });
    let one_lost = in_time(0..400).into_iter().filter(|(sequence, ..)| *sequence != 200);
    let cases: [(&str, Arrivals, &str); 6] = [
        ("one loss in 400", one_lost.collect(), "lost 1, highest 399, jitter 0"),
        ("timestamp wrap in perfect time", wraps.collect(), "lost 0, highest 19, jitter 0"),
        ("duplicates", in_time([10, 11, 12, 11, 12, 13]), "lost -2, highest 13, jitter 0"),
        (
            "restart 100 -> 40000",
            in_time((90..=100).chain(40_000..40_010)),
            "lost 0, highest 40009, jitter 0",
        ),
        (
            "a stray packet at 30000",
            in_time((100..200).chain([30_000]).chain(200..210)),
            "lost 0, highest 209, jitter 0",
        ),
        ("sequence wrap", in_time([65_534, 65_535, 0, 1]), "lost 0, highest 65537, jitter 0"),
    ];
    for (case, arrivals, right) in cases {
        hold(
            case,
            &arrivals,
            right,
            report_of_ours,
            &[("rtc", report_of_rtc), ("webrtc-rs", report_of_webrtc)],
        );
    }
}

fn order_of_ours(arrivals: &Arrivals) -> String {
    let (mut sequence, mut buffer) = (Sequence::new(1), JitterBuffer::new(8, 0));
    for (number, _, _) in arrivals {
        if let Arrival::Counted(extended) | Arrival::Begins(extended) = sequence.on_packet(*number)
        {
            buffer.insert(extended, *number).expect("there is room");
        }
    }
    let turns = std::iter::from_fn(|| buffer.pop_now());
    let played: Vec<u16> = turns
        .filter_map(|turn| if let Turn::Played(_, number) = turn { Some(number) } else { None })
        .collect();
    format!("{played:?}")
}

fn order_of_rtc(arrivals: &Arrivals) -> String {
    let mut buffer = rtc_interceptor::JitterBuffer::new(8);
    for packet in rtc::tagged(Instant::now(), datagrams(arrivals)) {
        let _ = buffer.push(packet);
    }
    buffer.begin_emitting();
    let played: Vec<u16> =
        std::iter::from_fn(|| buffer.pop()).map(|packet| rtc::sequence(&packet)).collect();
    format!("{played:?}")
}

#[test]
fn order_across_the_wrap() {
    let arrivals = in_time([65_534, 0, 65_535, 1]);
    let right = "[65534, 65535, 0, 1]";
    hold("play-out across the wrap", &arrivals, right, order_of_ours, &[("rtc", order_of_rtc)]);
}

/// Bytes written in hexadecimal, spaces between.
fn bytes(text: &str) -> Bytes {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn packet_of_ours(datagram: &Bytes) -> String {
    match Packet::parse(datagram) {
        Err(_) => "refused".to_owned(),
        Ok(packet) => {
            let sound = packet.elements().filter_map(Result::ok).map(|element| element.id);
            let refused = packet.elements().filter(Result::is_err).count();
            let sound: Vec<u8> = sound.collect();
            let refused = if refused > 0 { ", an element refused" } else { "" };
            format!("payload {} B, elements {sound:?}{refused}", packet.payload().len())
        }
    }
}

fn packet_of_rtp_rs(datagram: &Bytes) -> String {
    rtp_rs::RtpReader::new(datagram).map_or_else(
        |_| "refused".to_owned(),
        |packet| format!("payload {} B (elements not looked at)", packet.payload().len()),
    )
}

fn packet_of_rtp_types(datagram: &Bytes) -> String {
    rtp_types::RtpPacket::parse(datagram).map_or_else(
        |_| "refused".to_owned(),
        |packet| format!("payload {} B (elements not looked at)", packet.payload().len()),
    )
}

fn packet_of_rtc(datagram: &Bytes) -> String {
    use rtc_shared::marshal::Unmarshal;
    let Ok(packet) = rtc_rtp::Packet::unmarshal(&mut datagram.clone()) else {
        return "refused".to_owned();
    };
    let elements: Vec<u8> = packet.header.extensions.iter().map(|element| element.id).collect();
    format!("payload {} B, elements {elements:?}", packet.payload.len())
}

fn packet_of_webrtc(datagram: &Bytes) -> String {
    use webrtc_util::marshal::Unmarshal;
    let parsed = webrtc_rtp::packet::Packet::unmarshal(&mut datagram.clone());
    let Ok(packet) = parsed else { return "refused".to_owned() };
    let elements: Vec<u8> = packet.header.extensions.iter().map(|element| element.id).collect();
    format!("payload {} B, elements {elements:?}", packet.payload.len())
}

fn packet_of_str0m(datagram: &Bytes) -> String {
    let extensions = str0m::rtp::ExtensionMap::empty();
    str0m::rtp::RtpHeader::_parse(datagram, &extensions).map_or_else(
        || "refused".to_owned(),
        |header| format!("header of {} B (padding is not taken off here)", header.header_len),
    )
}

#[test]
fn packets_that_contradict_themselves() {
    let cases = [
        ("version 0", "00600001 00000002 00000003 01020304", "refused"),
        ("version 1", "40600001 00000002 00000003 01020304", "refused"),
        ("version 3", "c0600001 00000002 00000003 01020304", "refused"),
        ("padding of 0", "a0600001 00000002 00000003 01020300", "refused"),
        ("padding of more than there is", "a0600001 00000002 00000003 010203ff", "refused"),
        (
            "an element past the end of the packet",
            "90600001 00000002 00000003 bede0001 1f010203",
            "payload 0 B, elements [], an element refused",
        ),
        (
            "an element past its extension, into the payload",
            "90600001 00000002 00000003 bede0001 14010203 01020304 05060708",
            "payload 8 B, elements [], an element refused",
        ),
        (
            "an identifier of two bytes without its length",
            "90600001 00000002 00000003 10000001 00000009",
            "payload 0 B, elements [], an element refused",
        ),
        (
            "identifier 15 ends the list",
            "90600001 00000002 00000003 bede0002 10aaf001 20bb0000 01020304",
            "payload 4 B, elements [1]",
        ),
        (
            "padding with a length ends the list",
            "90600001 00000002 00000003 bede0002 10aa0301 20bb0000 01020304",
            "payload 4 B, elements [1]",
        ),
        (
            "15 contributing sources of which one came",
            "8f600001 00000002 00000003 00000004",
            "refused",
        ),
        (
            "an extension longer than the packet",
            "90600001 00000002 00000003 bedeffff 10aa0000",
            "refused",
        ),
    ];
    for (case, text, right) in cases {
        let others: [Ask<Bytes>; 5] = [
            ("rtp-rs", packet_of_rtp_rs),
            ("rtp-types", packet_of_rtp_types),
            ("rtc", packet_of_rtc),
            ("webrtc-rs", packet_of_webrtc),
            ("str0m", packet_of_str0m),
        ];
        hold(case, &bytes(text), right, packet_of_ours, &others);
    }
}

/// Whatever its first packet is: what is asked is how the others are read.
fn compound_of_ours(datagram: &Bytes) -> String {
    let begins_with_report = matches!(datagram.get(1), Some(200 | 201));
    let parsed = if begins_with_report {
        Compound::parse(datagram)
    } else {
        Compound::parse_reduced_size(datagram)
    };
    let Ok(compound) = parsed else { return "refused".to_owned() };
    let is_sound = |packet| match packet {
        Ok(RtcpPacket::SourceDescription(description)) => {
            description.items().all(|item| item.is_ok())
        }
        packet => packet.is_ok(),
    };
    let refused = compound.packets().filter(|packet| !is_sound(*packet)).count();
    answer(compound.packets().count(), refused)
}

fn answer(packets: usize, refused: usize) -> String {
    match (packets, refused) {
        (1, 1) => "refused".to_owned(),
        (_, 0) => format!("{packets} read"),
        _ => format!("{packets} read, {refused} of them refused"),
    }
}

fn compound_of_rtcp_types(datagram: &Bytes) -> String {
    use rtcp_types::{Compound, Packet};
    let Ok(compound) = Compound::parse(datagram) else { return "refused".to_owned() };
    let packets: Vec<Result<Packet<'_>, _>> = compound.collect();
    for packet in packets.iter().flatten() {
        match packet {
            Packet::Sdes(description) => {
                let items = description.chunks().flat_map(|chunk| chunk.items());
                items.for_each(|item| {
                    _ = (item.value(), (item.type_() == 8).then(|| item.priv_prefix()))
                });
            }
            Packet::App(app) => _ = app.data(),
            Packet::Bye(goodbye) => _ = (goodbye.ssrcs().count(), goodbye.reason()),
            _ => {}
        }
    }
    answer(packets.len(), packets.iter().filter(|packet| packet.is_err()).count())
}

fn compound_of_rtc(datagram: &Bytes) -> String {
    let packets = rtc_rtcp::packet::unmarshal(&mut datagram.clone());
    packets.map_or_else(|_| "refused".to_owned(), |packets| answer(packets.len(), 0))
}

fn compound_of_webrtc(datagram: &Bytes) -> String {
    let packets = webrtc_rtcp::packet::unmarshal(&mut datagram.clone());
    packets.map_or_else(|_| "refused".to_owned(), |packets| answer(packets.len(), 0))
}

/// One packet is all that it takes from outside, cut by its caller.
fn compound_of_str0m(datagram: &Bytes) -> String {
    let parsed = str0m::rtp::rtcp::Rtcp::try_from(&datagram[..]);
    parsed.map_or_else(
        |_| "refused".to_owned(),
        |_| "1 read (the first alone is asked for)".to_owned(),
    )
}

#[test]
fn compounds_that_contradict_themselves() {
    let cases = [
        ("RC larger than the packet", "85c90001 00000001", "refused"),
        ("padding of the first of two", "a0c90002 00000001 00000004 81cb0001 00000001", "refused"),
        ("padding of 0", "80c90001 00000001 a1cb0002 00000001 00000000", "refused"),
        ("feedback without its body", "81cd0001 00100001", "1 read"),
        (
            "a private item whose prefix is longer than itself",
            "81ca0002 00800001 08010100",
            "refused",
        ),
        ("an APP with padding beyond its data", "a0cc0002 00000001 6e616d65", "refused"),
        ("a reason for leaving past the end", "81cb0002 00000001 ff616263", "refused"),
        ("a length beyond the datagram", "80c900ff 00000001", "refused"),
        ("version 1", "40c90001 00000001", "refused"),
        ("version 1 of the second", "80c90001 00000001 41cb0001 00000001", "refused"),
        ("an item past the end", "81ca0002 00000001 01ff6162", "refused"),
        ("a goodbye of 31 sources with one", "9fcb0001 00000001", "refused"),
    ];
    for (case, text, right) in cases {
        let others: [Ask<Bytes>; 4] = [
            ("rtcp-types", compound_of_rtcp_types),
            ("rtc", compound_of_rtc),
            ("webrtc-rs", compound_of_webrtc),
            ("str0m", compound_of_str0m),
        ];
        hold(case, &bytes(text), right, compound_of_ours, &others);
    }
}
