//! Two sessions talk over a network of our own making; what they say of it is what was made.
//!
//! ```text
//! speaker ── RTP, RTCP: 30 ms, some lost, some 6 ms later ──► listener
//!         ◄─ RTCP: 50 ms ────────────────────────────────────
//! ```

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bitpath_proto::rtcp::{Budget, Compound, Item, Minimum, RtcpPacket, Writer};
use bitpath_proto::rtp::session::Config;
use bitpath_proto::rtp::sources::MAX_SOURCES;
use bitpath_proto::rtp::{ClockRate, Header, Packet, Refused, Session};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

const SPEAKER: u32 = 0x1111_1111;
const LISTENER: u32 = 0x2222_2222;

/// Wall clock of the speaker where time is 0 [ns]; the listener's is a day ahead.
const UNIX_NS: u64 = 1_700_000_000 * S;
const DAY_NS: u64 = 86_400 * S;

/// Ways there and back [ns], and how much longer every second packet of data takes.
const FORTH_NS: u64 = 30 * MS;
const BACK_NS: u64 = 50 * MS;
const LATER_NS: u64 = 6 * MS;

/// Time of a packet [ns], its ticks at 8 kHz and its bytes.
const PACKET_NS: u64 = 20 * MS;
const PACKET_TICKS: u32 = 160;
const PACKET_BYTES: usize = 160;

/// What a round trip may be off by [ns]: it is told from three times of 1/65 536 s.
const CLOCK_GRAIN_NS: u64 = 3 * S / 65_536;

fn config(ssrc: u32, unix_ns_at_zero: u64) -> Config {
    Config {
        ssrc,
        cname: format!("{ssrc:x}@host.example"),
        payload_type: 0,
        clock_rate: ClockRate::new(8000).unwrap(),
        first_sequence: 65_500,
        first_timestamp: u32::MAX - 1000,
        min_sequential: 2,
        budget: Budget::new(64_000, Minimum::Fixed).unwrap(),
        reference_times: true,
        unix_ns_at_zero,
        seed: u64::from(ssrc),
    }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Data,
    Control,
}

/// A report that was sent: when, by which end, and its first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    at_ns: u64,
    end: usize,
    types: Vec<&'static str>,
}

/// The speaker, the listener, and what is on its way to one of them.
struct Network {
    now_ns: u64,
    ends: [Session; 2],
    cut: [bool; 2],
    on_the_way: BTreeMap<(u64, usize), (usize, Kind, Vec<u8>)>,
    datagrams: usize,
    /// Packets of data that the speaker sent, and still will.
    spoken: u32,
    to_speak: u32,
    lost: fn(u32) -> bool,
    reports: Vec<Sent>,
    heard: u64,
}

impl Network {
    fn new(to_speak: u32, lost: fn(u32) -> bool) -> Self {
        let ends = [config(SPEAKER, UNIX_NS), config(LISTENER, UNIX_NS + DAY_NS)];
        Self {
            now_ns: 0,
            ends: ends.map(|config| Session::new(0, config).unwrap()),
            cut: [false; 2],
            on_the_way: BTreeMap::new(),
            datagrams: 0,
            spoken: 0,
            to_speak,
            lost,
            reports: Vec::new(),
            heard: 0,
        }
    }

    fn run_until(&mut self, end_ns: u64) {
        loop {
            let speaks_ns = u64::from(self.spoken) * PACKET_NS;
            let speaks_ns = (self.spoken < self.to_speak).then_some(speaks_ns);
            let arrives_ns = self.on_the_way.keys().next().map(|(at_ns, _)| *at_ns);
            let [first, second] = [0, 1].map(|end| self.ends[end].poll_timeout());
            let next = [speaks_ns, arrives_ns, first, second].into_iter().flatten().min();
            let Some(next_ns) = next.filter(|next_ns| *next_ns <= end_ns) else { break };
            self.now_ns = self.now_ns.max(next_ns);
            if speaks_ns == Some(next_ns) {
                self.speak();
            } else if arrives_ns == Some(next_ns) {
                self.deliver();
            } else {
                self.report();
            }
        }
        self.now_ns = end_ns;
    }

    fn speak(&mut self) {
        let number = self.spoken;
        let ticks = number * PACKET_TICKS;
        let header = self.ends[0].next_header(self.now_ns, ticks, PACKET_BYTES);
        let mut buffer = [0; 200];
        let bytes = header.write(&mut buffer, &[0xd5; PACKET_BYTES]).unwrap();
        self.spoken += 1;
        if !(self.lost)(number) {
            let delay_ns = FORTH_NS + u64::from(number % 2) * LATER_NS;
            self.send(delay_ns, 1, Kind::Data, buffer[..bytes].to_vec());
        }
    }

    fn send(&mut self, delay_ns: u64, to: usize, kind: Kind, datagram: Vec<u8>) {
        self.datagrams += 1;
        let key = (self.now_ns + delay_ns, self.datagrams);
        self.on_the_way.insert(key, (to, kind, datagram));
    }

    fn deliver(&mut self) {
        let (_, (to, kind, datagram)) = self.on_the_way.pop_first().unwrap();
        let from = address(if kind == Kind::Data { 5004 } else { 5005 });
        match kind {
            _ if self.cut[to] => {}
            Kind::Data => {
                let received = self.ends[to].handle_rtp(self.now_ns, from, &datagram);
                self.heard += u64::from(received.is_ok());
            }
            Kind::Control => self.ends[to].handle_rtcp(self.now_ns, from, &datagram).unwrap(),
        }
    }

    fn report(&mut self) {
        let mut buffer = [0; 1500];
        for end in 0..2 {
            while let Some(bytes) = self.ends[end].poll_transmit(self.now_ns, &mut buffer).unwrap()
            {
                let datagram = buffer[..bytes].to_vec();
                self.reports.push(Sent { at_ns: self.now_ns, end, types: types(&datagram) });
                self.send([FORTH_NS, BACK_NS][end], 1 - end, Kind::Control, datagram);
            }
        }
    }

    fn reports_of(&self, end: usize) -> impl Iterator<Item = &Sent> {
        self.reports.iter().filter(move |report| report.end == end)
    }
}

/// What a compound is made of.
fn types(datagram: &[u8]) -> Vec<&'static str> {
    let name = |packet| match packet {
        RtcpPacket::SenderReport(_) => "SR",
        RtcpPacket::ReceiverReport(_) => "RR",
        RtcpPacket::SourceDescription(_) => "SDES",
        RtcpPacket::Goodbye(_) => "BYE",
        RtcpPacket::ExtendedReport(_) => "XR",
        RtcpPacket::App(_) | RtcpPacket::Other { .. } => "other",
    };
    Compound::parse(datagram).unwrap().packets().map(|packet| name(packet.unwrap())).collect()
}

fn near(found_ns: u64, made_ns: u64, grain_ns: u64) -> bool {
    found_ns.abs_diff(made_ns) <= grain_ns
}

#[test]
fn losses_jitter_and_round_trips_come_out_as_they_were_made() {
    let mut network = Network::new(3000, |number| number % 10 == 9 && number < 2990);
    network.run_until(62 * S);
    let [speaker, listener] = &network.ends;
    let heard = listener.statistics().next().unwrap();
    // The first packet proves the source, and the 299 are lost.
    assert_eq!((heard.ssrc, heard.packets), (SPEAKER, 3000 - 1 - 299));
    assert_eq!((heard.expected, heard.lost, heard.refused), (2999, 299, 1));
    assert_eq!(heard.payload_bytes, 2700 * 160);
    assert_eq!(network.heard, heard.packets);
    assert_eq!(heard.cname, Some(&b"11111111@host.example"[..]));
    // Delays that alternate by 48 ticks settle a little below; every tenth pair has an equal delay.
    assert!((40..=48).contains(&heard.jitter_ticks), "{}", heard.jitter_ticks);
    assert_eq!(heard.jitter_ns, u64::from(heard.jitter_ticks) * 125_000);

    let said = speaker.statistics().next().unwrap();
    let block = said.about_us.unwrap();
    assert_eq!((said.ssrc, said.packets, block.ssrc), (LISTENER, 0, SPEAKER));
    assert!((24..=27).contains(&block.fraction_lost), "a tenth of 256: {}", block.fraction_lost);
    assert_eq!(heard.fraction_lost, Some(block.fraction_lost));
    for trip_ns in [said.round_trip_ns.unwrap(), heard.round_trip_ns.unwrap()] {
        assert!(near(trip_ns, FORTH_NS + BACK_NS, CLOCK_GRAIN_NS), "{trip_ns} ns");
    }
    let info = heard.last_sr.unwrap().info;
    assert_eq!(info.payload_bytes, info.packets * 160);
    assert_eq!(speaker.sent().packets, 3000);
}

#[test]
fn the_media_s_clock_is_told_by_that_of_the_wall() {
    let mut network = Network::new(1000, |_| false);
    network.run_until(20 * S);
    let timestamp = (u32::MAX - 1000).wrapping_add(777 * PACKET_TICKS);
    let sampled_ns = network.ends[1].sampled_unix_ns(SPEAKER, timestamp).unwrap();
    assert!(near(sampled_ns, UNIX_NS + 777 * PACKET_NS, S / 8000), "{sampled_ns}");
    assert_eq!(network.ends[0].sampled_unix_ns(LISTENER, 0), None);
}

#[test]
fn who_sends_data_reports_as_sender_and_a_while_after_the_last_as_receiver() {
    let mut network = Network::new(1500, |_| false);
    network.run_until(120 * S);
    let mut kinds: Vec<&str> = network.reports_of(0).map(|report| report.types[0]).collect();
    kinds.dedup();
    assert_eq!(kinds, ["SR", "RR"]);
    let late = |report: &&Sent| report.at_ns > 30 * S + 2 * 6_200 * MS;
    assert!(network.reports_of(0).filter(late).all(|report| report.types[0] == "RR"));
    assert!(network.reports_of(1).all(|report| report.types[0] == "RR"));
    assert!(network.reports.iter().all(|report| report.types[1] == "SDES"));
    assert_eq!(network.ends[1].counts(120 * S).senders, 0);
}

#[test]
fn reports_keep_their_distance() {
    let mut network = Network::new(15_000, |_| false);
    network.run_until(300 * S);
    for end in 0..2 {
        let times: Vec<u64> = network.reports_of(end).map(|report| report.at_ns).collect();
        // Half the minimum over e - 3/2 is the least that chance gives, and half of that before the first.
        assert!(times[0] >= 1_026 * MS);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 2_052 * MS), "{times:?}");
        assert!((45..=100).contains(&times.len()), "some five seconds each: {}", times.len());
    }
}

#[test]
fn a_goodbye_ends_a_member_and_is_the_last_that_is_sent() {
    let mut network = Network::new(500, |_| false);
    network.run_until(12 * S);
    assert_eq!(network.ends[1].counts(12 * S).members, 2);
    network.ends[0].leave(12 * S);
    network.ends[0].leave(12 * S);
    network.run_until(60 * S);
    let last = network.reports_of(0).last().unwrap();
    assert_eq!((last.at_ns, &last.types[..]), (12 * S, &["SR", "SDES", "BYE"][..]));
    let goodbyes = network.reports.iter().filter(|report| report.types.contains(&"BYE"));
    assert_eq!((goodbyes.count(), network.ends[0].poll_timeout()), (1, None));
    assert_eq!(network.ends[1].counts(60 * S).members, 1);
    assert_eq!(network.ends[1].statistics().count(), 0);
}

/// A session that sent data, and 99 others who said their names at 4 s.
fn crowd() -> (Session, Vec<Session>) {
    let mut session = alone();
    session.next_header(0, 0, 160);
    let others = (1..100).map(|ssrc| Session::new(0, config(ssrc, UNIX_NS)).unwrap());
    let mut others: Vec<Session> = others.collect();
    others.iter_mut().for_each(|other| tell(other, &mut session, 4 * S));
    assert_eq!(session.counts(4 * S).members, 100);
    (session, others)
}

/// What one has to say is heard by the other.
fn tell(from: &mut Session, to: &mut Session, now_ns: u64) {
    let mut buffer = [0; 1500];
    let bytes = from.poll_transmit(now_ns, &mut buffer).unwrap().unwrap();
    to.handle_rtcp(now_ns, address(2), &buffer[..bytes]).unwrap();
}

#[test]
fn in_a_large_session_the_goodbye_comes_by_and_by() {
    let (mut session, _) = crowd();
    session.leave(5 * S);
    let mut buffer = [0; 1500];
    assert_eq!(session.poll_transmit(5 * S, &mut buffer), Ok(None));
    // Chance may put it off, a few times.
    let bytes = (0..20).find_map(|_| {
        let at_ns = session.poll_timeout().filter(|at_ns| *at_ns > 6 * S).unwrap();
        session.poll_transmit(at_ns, &mut buffer).unwrap()
    });
    assert_eq!(types(&buffer[..bytes.unwrap()]).last(), Some(&"BYE"));
    assert_eq!(session.poll_timeout(), None);
}

#[test]
fn goodbyes_of_many_bring_the_next_report_nearer() {
    let (mut session, mut others) = crowd();
    let (mut now_ns, mut buffer) = (4 * S, [0; 1500]);
    while session.poll_timeout().unwrap() < now_ns + 10 * S {
        now_ns = now_ns.max(session.poll_timeout().unwrap());
        session.poll_transmit(now_ns, &mut buffer).unwrap();
    }
    let wait_ns = session.poll_timeout().unwrap() - now_ns;
    for other in &mut others {
        other.leave(now_ns);
        tell(other, &mut session, now_ns);
    }
    assert_eq!(session.counts(now_ns).members, 1);
    // One of a hundred is left, and of the wait not much more: the counts are whole numbers on the way.
    assert!(session.poll_timeout().unwrap() - now_ns <= wait_ns / 50);
}

#[test]
fn who_falls_silent_times_out() {
    let mut network = Network::new(500, |_| false);
    network.run_until(10 * S);
    network.cut = [true; 2];
    network.run_until(34 * S);
    assert_eq!(network.ends.each_ref().map(|end| end.counts(34 * S).members), [2, 2]);
    // Five intervals of 5 s, and one until it is looked at.
    network.run_until(50 * S);
    assert_eq!(network.ends.each_ref().map(|end| end.counts(50 * S).members), [1, 1]);
}

/// A lone session, and packets from strangers.
fn alone() -> Session {
    Session::new(0, config(LISTENER, UNIX_NS)).unwrap()
}

fn packet(ssrc: u32, sequence: u16, timestamp: u32) -> Vec<u8> {
    let mut buffer = [0; 16];
    let header = Header::new(0, sequence, timestamp, ssrc);
    let bytes = header.write(&mut buffer, &[1, 2, 3, 4]).unwrap();
    buffer[..bytes].to_vec()
}

/// Numbers of the packets that were taken, and which of them began a run.
fn feed(session: &mut Session, ssrc: u32, sequences: &[u16]) -> Vec<(u64, bool)> {
    let mut taken = Vec::new();
    for sequence in sequences {
        let bytes = packet(ssrc, *sequence, u32::from(*sequence) * 160);
        if let Ok(received) = session.handle_rtp(S, address(1), &bytes) {
            assert_eq!(received.packet.sequence(), *sequence);
            taken.push((received.number, received.begins));
        }
    }
    taken
}

#[test]
fn a_collision_is_resolved_by_a_goodbye_and_another_identifier_and_a_loop_is_ignored() {
    let mut session = alone();
    session.next_header(0, 0, 160);
    let stranger = packet(LISTENER, 1, 0);
    assert_eq!(session.handle_rtp(S, address(1), &stranger), Err(Refused::OnProbation));
    let renamed = session.ssrc();
    assert_ne!(renamed, LISTENER);
    assert_eq!((session.collisions(), session.sent().packets), (1, 0));
    assert_eq!(session.poll_timeout(), Some(S));

    let mut buffer = [0; 1500];
    let bytes = session.poll_transmit(S, &mut buffer).unwrap().unwrap();
    let goodbye = Compound::parse(&buffer[..bytes]).unwrap().packets().last();
    let Some(Ok(RtcpPacket::Goodbye(goodbye))) = goodbye else { panic!("{goodbye:?}") };
    assert_eq!(goodbye.sources().collect::<Vec<_>>(), [LISTENER]);
    assert_eq!(session.poll_transmit(S, &mut buffer), Ok(None));
    assert_eq!(session.next_header(S, 0, 160).ssrc, renamed);

    // The name is the stranger's now; ours, from there, is a loop.
    assert!(session.handle_rtp(S, address(1), &packet(LISTENER, 2, 160)).is_ok());
    for sequence in 0..10 {
        let looped = packet(renamed, sequence, 0);
        assert_eq!(session.handle_rtp(2 * S, address(1), &looped), Err(Refused::OwnName));
    }
    assert_eq!((session.ssrc(), session.collisions()), (renamed, 1));
    assert_eq!((session.refusals().own_name, session.counts(S).members), (10, 2));
}

#[test]
fn an_address_that_collided_long_ago_collides_again() {
    let mut session = alone();
    assert!(session.handle_rtp(0, address(1), &packet(LISTENER, 1, 0)).is_err());
    let mut buffer = [0; 1500];
    while session.poll_timeout().unwrap() < 120 * S {
        let at_ns = session.poll_timeout().unwrap();
        session.poll_transmit(at_ns, &mut buffer).unwrap();
    }
    let ours = packet(session.ssrc(), 1, 0);
    assert_eq!(session.handle_rtp(120 * S, address(1), &ours), Err(Refused::OnProbation));
    assert_eq!((session.collisions(), session.refusals().own_name), (2, 0));
}

#[test]
fn who_has_left_says_nothing_more_whoever_takes_the_name() {
    let mut session = alone();
    session.next_header(0, 0, 160);
    session.leave(S);
    let mut buffer = [0; 1500];
    assert!(session.poll_transmit(S, &mut buffer).unwrap().is_some());
    assert!(session.handle_rtp(S, address(1), &packet(LISTENER, 1, 0)).is_err());
    assert_eq!(
        (session.poll_transmit(9 * S, &mut buffer), session.poll_timeout()),
        (Ok(None), None)
    );
}

#[test]
fn who_never_sent_takes_another_identifier_without_a_goodbye() {
    let mut session = alone();
    assert!(session.handle_rtp(0, address(1), &packet(LISTENER, 1, 0)).is_err());
    assert_ne!(session.ssrc(), LISTENER);
    assert_eq!(session.poll_transmit(0, &mut [0; 1500]), Ok(None));
}

#[test]
fn a_collision_by_reports_alone_is_found_too() {
    let mut other = Session::new(0, config(LISTENER, UNIX_NS)).unwrap();
    let mut buffer = [0; 1500];
    let at_ns = 60 * S;
    let bytes = (0..9).find_map(|_| other.poll_transmit(at_ns, &mut buffer).unwrap()).unwrap();
    let mut session = alone();
    session.handle_rtcp(at_ns, address(2), &buffer[..bytes]).unwrap();
    assert_ne!(session.ssrc(), LISTENER);
    assert_eq!(session.counts(at_ns).members, 2, "their name made them a member");
}

#[test]
fn a_million_invented_sources_leave_a_member_alone_and_memory_bounded() {
    let mut session = alone();
    assert_eq!(feed(&mut session, 7, &[1, 2, 3]).len(), 2);
    let mut invented = packet(0, 1, 0);
    for ssrc in 1_000_000_u32..2_000_000 {
        invented[8..12].copy_from_slice(&ssrc.to_be_bytes());
        assert_eq!(session.handle_rtp(S, address(9), &invented), Err(Refused::OnProbation));
    }
    assert_eq!(session.sources().iter().count(), MAX_SOURCES);
    assert_eq!((session.counts(S).members, session.counts(S).senders), (2, 1));
    assert_eq!(feed(&mut session, 7, &[4]).len(), 1);
    assert_eq!(session.sources().get(7).unwrap().packets(), 3);
    assert_eq!(session.refusals().on_probation, 1_000_001);
}

#[test]
fn invented_names_fill_the_table_and_no_more_and_time_out() {
    let mut session = alone();
    feed(&mut session, 7, &[1, 2]);
    let mut buffer = [0; 100];
    for ssrc in 1000..6000 {
        let mut writer = Writer::new(&mut buffer);
        writer.receiver_report(ssrc, &[]).unwrap();
        writer.source_description(&[(ssrc, &[Item::Cname(b"invented")])]).unwrap();
        session.handle_rtcp(S, address(9), writer.written()).unwrap();
    }
    assert_eq!(session.counts(S).members as usize, 1 + MAX_SOURCES);
    // Reports and names that found no place.
    assert_eq!(session.refusals().table_full, 2 * (1 + 5000 - MAX_SOURCES as u64));
    assert_eq!(session.sources().get(7).unwrap().packets(), 1);
    assert_eq!(feed(&mut session, 7, &[3]).len(), 1);
    // A table full of members stretches the intervals, and with them the silence that is waited for.
    let mut report = [0; 1500];
    for _ in 0..100 {
        let at_ns = session.poll_timeout().unwrap();
        session.poll_transmit(at_ns, &mut report).unwrap();
    }
    assert_eq!(session.sources().iter().count(), 0);
}

#[test]
fn third_parties_at_other_addresses_are_counted_and_ignored() {
    let mut session = alone();
    feed(&mut session, 7, &[1, 2]);
    let forged = packet(7, 3, 0);
    assert_eq!(session.handle_rtp(S, address(2), &forged), Err(Refused::OtherAddress));
    assert_eq!(session.refusals().other_address, 1);
    assert_eq!(session.statistics().next().unwrap().packets, 1);
}

#[test]
fn a_source_that_starts_again_begins_another_run() {
    let mut session = alone();
    let taken = feed(&mut session, 7, &[1, 2, 3, 30_000, 30_001, 30_002]);
    let begins: Vec<bool> = taken.iter().map(|(_, begins)| *begins).collect();
    assert_eq!(begins, [true, false, true, false]);
    let source = session.statistics().next().unwrap();
    assert_eq!((source.restarts, source.refused, source.packets), (1, 2, 4));
    assert_eq!((source.expected, source.lost), (2, 0));
    assert_eq!((session.refusals().jumped, session.refusals().on_probation), (1, 1));
}

#[test]
fn a_change_of_identifier_is_another_source() {
    let mut session = alone();
    feed(&mut session, 7, &[1, 2, 3]);
    feed(&mut session, 8, &[4, 5, 6]);
    let packets: Vec<(u32, u64, i64)> =
        session.statistics().map(|source| (source.ssrc, source.packets, source.lost)).collect();
    assert_eq!(packets, [(7, 2, 0), (8, 2, 0)]);
}

#[test]
fn duplicates_and_a_wrap_with_reordering_are_counted_as_the_rfc_has_it() {
    let mut session = alone();
    let taken = feed(&mut session, 7, &[65_533, 65_534, 0, 65_535, 2, 1]);
    let numbers: Vec<u64> = taken.iter().map(|(number, _)| number - taken[0].0).collect();
    assert_eq!(numbers, [0, 2, 1, 4, 3]);
    assert_eq!(session.statistics().next().unwrap().lost, 0);
    assert_eq!(feed(&mut session, 7, &[2; 65_535]).len(), 65_535);
    let source = session.statistics().next().unwrap();
    assert_eq!((source.expected, source.lost), (5, -65_535));
    let mut buffer = [0; 1500];
    let mut report = |session: &mut Session| session.poll_transmit(10 * S, &mut buffer).unwrap();
    assert!((0..9).any(|_| report(&mut session).is_some()));
    assert_eq!(session.statistics().next().unwrap().fraction_lost, Some(0));
}

#[test]
fn a_jump_of_half_the_timestamps_is_jitter_and_no_loss() {
    let mut session = alone();
    for sequence in 0..100 {
        let bytes = packet(7, sequence, u32::from(sequence % 2) << 31);
        assert_eq!(session.handle_rtp(S, address(1), &bytes).is_ok(), sequence > 0);
    }
    let source = session.statistics().next().unwrap();
    assert_eq!((source.lost, source.restarts), (0, 0));
    assert!(source.jitter_ticks > 1 << 27);
}

#[test]
fn a_report_that_was_sent_as_data_is_refused() {
    let mut network = Network::new(0, |_| false);
    network.run_until(20 * S);
    let report = [&[0x80, 200, 0, 6][..], &[0; 24]].concat();
    let refused = network.ends[0].handle_rtp(S, address(1), &report).unwrap_err();
    let Refused::Malformed(why) = refused else { panic!("{refused:?}") };
    assert_eq!(why.to_string(), "payload type behind a marker is 72: 72 to 76 are RTCP's");
}

#[test]
fn contributors_of_a_mixer_are_members() {
    let mut session = alone();
    let mut buffer = [0; 32];
    for sequence in 1..3 {
        let header = Header { csrcs: &[8, LISTENER, 9], ..Header::new(0, sequence, 0, 7) };
        let bytes = header.write(&mut buffer, &[]).unwrap();
        let _ = session.handle_rtp(S, address(1), &buffer[..bytes]);
    }
    assert_eq!((session.counts(S).members, session.counts(S).senders), (4, 1));
    assert_eq!((session.ssrc(), session.collisions()), (LISTENER, 0));
}

#[test]
fn what_the_wire_cannot_carry_is_refused_at_the_beginning() {
    let refuse = |config| Session::new(0, config).unwrap_err().to_string();
    let refused = refuse(Config { payload_type: 128, ..config(1, 0) });
    assert_eq!(refused, "payload type is 128: it has 7 bits");
    for (cname, bytes) in [(String::new(), 0), ("a".repeat(256), 256)] {
        let refused = refuse(Config { cname, ..config(1, 0) });
        assert_eq!(refused, format!("size of a canonical name is {bytes}: it has 1 to 255 B"));
    }
}

#[test]
fn a_buffer_too_small_for_a_report_is_refused_and_one_without_room_for_blocks_is_not() {
    let mut session = alone();
    feed(&mut session, 7, &[1, 2]);
    let refused = session.poll_transmit(10 * S, &mut [0; 91]).unwrap_err().to_string();
    assert_eq!(refused, "RTCP report takes 92 B, and the buffer has 91");
    let mut buffer = [0; 92];
    let bytes = (0..9).find_map(|_| session.poll_transmit(10 * S, &mut buffer).unwrap()).unwrap();
    assert_eq!(types(&buffer[..bytes])[..], ["RR", "SDES", "XR"]);
    assert_eq!(session.statistics().next().unwrap().fraction_lost, None, "still to be reported");
}

proptest! {
    #[test]
    fn no_datagrams_make_a_session_panic(
        datagrams in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(any::<u8>(), 0..120), 0_u64..10, 0_u16..3, 0_u8..8),
            0..60,
        ),
    ) {
        let (mut session, mut now_ns, mut buffer) = (alone(), 0, [0; 1500]);
        session.next_header(0, 0, 160);
        for (control, mut bytes, seconds, port, shape) in datagrams {
            now_ns += seconds * S;
            shape_as_rtp_or_rtcp(&mut bytes, control, shape, session.ssrc());
            let from = address(port);
            if control {
                let _ = session.handle_rtcp(now_ns, from, &bytes);
            } else if let Ok(received) = session.handle_rtp(now_ns, from, &bytes) {
                prop_assert_eq!(Packet::parse(&bytes), Ok(received.packet));
            }
            while session.poll_transmit(now_ns, &mut buffer).unwrap().is_some() {}
            prop_assert!(session.poll_timeout().is_some_and(|deadline_ns| deadline_ns > now_ns));
            let counts = session.counts(now_ns);
            prop_assert!(counts.senders <= counts.members);
            prop_assert_eq!(session.statistics().count(), session.sources().iter().count());
        }
        session.leave(now_ns);
        prop_assert!(session.poll_transmit(now_ns, &mut buffer).is_ok());
    }
}

/// Makes most datagrams look as if they were meant: of the version, of few sources, ours among them, a compound
/// of one packet with a name or a goodbye behind it.
fn shape_as_rtp_or_rtcp(bytes: &mut Vec<u8>, control: bool, shape: u8, ours: u32) {
    if shape == 0 || bytes.len() < 12 {
        return;
    }
    let ssrc = if shape == 1 { ours } else { u32::from(shape % 3) };
    if !control {
        bytes[0] = 0x80 | bytes[0] & 0x10;
        bytes[8..12].copy_from_slice(&ssrc.to_be_bytes());
        return;
    }
    bytes.truncate(bytes.len() / 4 * 4);
    let words = u8::try_from(bytes.len() / 4 - 1).unwrap();
    bytes[..4].copy_from_slice(&[0x81, 200 + shape, 0, words]);
    bytes[4..8].copy_from_slice(&ssrc.to_be_bytes());
    // An item of one byte: their names.
    (bytes[8], bytes[9]) = (1, 1);
    let report = [&[0x80, 201, 0, 1][..], &ssrc.to_be_bytes()].concat();
    bytes.splice(0..0, report);
}
