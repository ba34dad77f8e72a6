//! The receiver (section III-B): packets buffered, parsed, counted, put in order and played when they are due.
//!
//! ```text
//! arrival [ns] ──► input buffer ──► parse ──► statistics ──► queue ──► due? ──► audio [B]
//!                   [64 KiB]                  [number]      [packets]    └────► lost
//! ```
//!
//! A unit is due a fixed time, the threshold, after it would have come had its packet been under way as
//! long as the first one.

use bitpath_proto::ProtoError;
use bitpath_proto::rtp::jitter_buffer::{Refused, Turn};
use bitpath_proto::rtp::sequence::Arrival;
use bitpath_proto::rtp::{JitterBuffer, Packet, Reception};
use std::ops::Range;

use super::input_ring::InputRing;
use super::{TICK_NS, UNIT_NS};
use crate::rtp::capture::Capture;

/// How to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether new packets overwrite those that wait, as in the paper; else what is in the way is played early.
    pub overwrite: bool,
    /// Time that a unit waits for those that it overtook [units].
    pub threshold_units: u64,
}

impl Default for Settings {
    /// The paper does not say its threshold; this one is a little more than the disorder of `R_input3`.
    fn default() -> Self {
        Self { overwrite: false, threshold_units: 40 }
    }
}

/// Places of the queue [packets]: twice what the input buffer holds of the paper's packets.
const QUEUE_PACKETS: usize = 1024;

/// The receiver's state.
#[derive(Debug)]
pub struct Receiver {
    settings: Settings,
    input: InputRing,
    reception: Reception,
    queue: JitterBuffer<Range<usize>>,
    /// Number and arrival of the first packet [ns].
    first: Option<(u64, u64)>,
    counts: Counts,
    /// Numbers from the first whose turn came to the last.
    turns: Option<(u64, u64)>,
    lost: Vec<u64>,
}

/// What became of packets that were not played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// No packets of RTP, or larger than the input buffer [packets].
    pub unreadable: u64,
    /// Far from the source's run [packets].
    pub refused: u64,
    /// Come after their turn [packets].
    pub late: u64,
    /// Come twice [packets].
    pub duplicates: u64,
    /// Overwritten in the input buffer [packets].
    pub overwritten: u64,
    /// Played before they were due, to make room in the input buffer [packets].
    pub early: u64,
}

impl Receiver {
    /// A receiver of `packets` packets or so.
    #[must_use]
    pub fn new(settings: Settings, packets: usize) -> Self {
        Self {
            settings,
            input: InputRing::default(),
            reception: Reception::new(1),
            queue: JitterBuffer::new(QUEUE_PACKETS, 0),
            first: None,
            counts: Counts::default(),
            turns: None,
            lost: Vec::with_capacity(packets),
        }
    }

    /// Takes a datagram and plays what is due when it arrives.
    pub fn on_datagram(&mut self, at_ns: u64, datagram: &[u8], audio: &mut Vec<u8>) {
        self.dequeue(at_ns, audio);
        let Some(range) = self.buffer(datagram, audio) else {
            self.counts.unreadable += 1;
            return;
        };
        let Ok(packet) = parse(self.input.bytes(range.clone())) else {
            self.counts.unreadable += 1;
            return;
        };
        let payload = range.end - packet.payload().len() - usize::from(packet.padding_bytes());
        let payload = payload..payload + packet.payload().len();
        match update_statistics(&mut self.reception, &packet, ticks(at_ns)) {
            Arrival::Counted(number) => self.enqueue(number, at_ns, payload, audio),
            Arrival::Begins(number) => {
                self.drain(audio);
                self.queue.restart();
                self.first = Some((number, at_ns));
                self.enqueue(number, at_ns, payload, audio);
            }
            Arrival::OnProbation | Arrival::Jumped => self.counts.refused += 1,
        }
    }

    /// Puts the datagram into the input buffer and says where it lies.
    #[inline(never)]
    fn buffer(&mut self, datagram: &[u8], audio: &mut Vec<u8>) -> Option<Range<usize>> {
        let range = self.input.place_for(datagram.len())?;
        while let Some(old) = self.input.in_the_way(&range).cloned() {
            if let Some(number) = old.number {
                self.give_way(number, audio);
            }
            self.input.forget_oldest();
        }
        self.input.put(range.clone(), datagram);
        Some(range)
    }

    /// Takes a packet that waits out of the way: played before it is due, or overwritten.
    fn give_way(&mut self, number: u64, audio: &mut Vec<u8>) {
        if self.settings.overwrite {
            self.counts.overwritten += u64::from(self.queue.remove(number).is_some());
            return;
        }
        while self.queue.next_number().is_some_and(|next| next <= number) {
            let Some(turn) = self.queue.pop_now() else { return };
            self.counts.early += 1;
            self.play(turn, audio);
        }
    }

    #[inline(never)]
    fn enqueue(&mut self, number: u64, at_ns: u64, payload: Range<usize>, audio: &mut Vec<u8>) {
        self.first.get_or_insert((number, at_ns));
        while let Some(turn) = self.queue.make_room(number) {
            self.play(turn, audio);
        }
        match self.queue.insert(number, payload) {
            Ok(()) => self.input.number_last(number),
            Err((Refused::Duplicate, _)) => self.counts.duplicates += 1,
            Err((Refused::Late | Refused::Beyond, _)) => self.counts.late += 1,
        }
    }

    /// Plays everything that is due at this time.
    #[inline(never)]
    fn dequeue(&mut self, at_ns: u64, audio: &mut Vec<u8>) {
        let Some((first, began_ns)) = self.first else { return };
        let threshold_ns = self.settings.threshold_units * UNIT_NS;
        while let Some(next) = self.queue.next_number() {
            // A packet that the first one overtook is due before it.
            let due_ns = (began_ns + threshold_ns + next * UNIT_NS).saturating_sub(first * UNIT_NS);
            if due_ns > at_ns {
                return;
            }
            let Some(turn) = self.queue.pop_now() else { return };
            self.play(turn, audio);
        }
    }

    fn play(&mut self, turn: Turn<Range<usize>>, audio: &mut Vec<u8>) {
        let number = match turn {
            Turn::Played(number, range) => {
                audio.extend_from_slice(self.input.bytes(range));
                number
            }
            Turn::Lost(number) => {
                self.lost.push(number);
                number
            }
        };
        self.turns = Some((self.turns.map_or(number, |(first, _)| first), number));
    }

    /// Plays everything that waits.
    pub fn drain(&mut self, audio: &mut Vec<u8>) {
        while let Some(turn) = self.queue.pop_now() {
            self.play(turn, audio);
        }
    }

    /// Numbers of the units whose turn came, from the first to behind the last.
    #[must_use]
    pub fn heard_of(&self) -> Range<u64> {
        self.turns.map_or(0..0, |(first, last)| first..last + 1)
    }

    /// Numbers of units that were not played at their turn.
    #[must_use]
    pub fn lost(&self) -> &[u64] {
        &self.lost
    }

    /// What became of packets that were not played.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What reports are made of.
    #[must_use]
    pub fn reception(&self) -> &Reception {
        &self.reception
    }
}

/// Receives everything that arrived, and plays it to the end.
#[inline(never)]
#[must_use]
pub fn receive(arrivals: &Capture, settings: Settings, audio: &mut Vec<u8>) -> Receiver {
    let mut receiver = Receiver::new(settings, arrivals.datagrams().len());
    for (datagram, bytes) in arrivals.datagrams() {
        receiver.on_datagram(datagram.at_ns, bytes, audio);
    }
    receiver.drain(audio);
    receiver
}

#[inline(never)]
fn parse(datagram: &[u8]) -> Result<Packet<'_>, ProtoError> {
    Packet::parse(datagram)
}

#[inline(never)]
fn update_statistics(
    reception: &mut Reception,
    packet: &Packet<'_>,
    arrival_ticks: u32,
) -> Arrival {
    reception.on_packet(packet, arrival_ticks)
}

/// A time by the media's clock [ticks], modulo 2^32.
#[must_use]
pub fn ticks(at_ns: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the clock wraps with its 32 bits")]
    let ticks = (at_ns / TICK_NS) as u32;
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::capture::CaptureWriter;
    use crate::rtp::suite::sender::{Output, send};
    use crate::rtp::suite::verification::{Difference, verify};
    use crate::rtp::suite::{FIRST_NUMBER, audio, network};

    /// Audio whose stream wraps its 16 bits and ends in a part of a unit.
    const AUDIO_BYTES: usize = 160 * 20_000 + 64;

    /// The audio, and what arrives of it under an input of this name.
    fn input(name: &str) -> (Vec<u8>, Capture, bool) {
        let audio = audio::noise(AUDIO_BYTES, 2004);
        let folder = tempfile::tempdir().unwrap();
        let [sent, arrived] = ["sent.pcap", "arrived.pcap"].map(|name| folder.path().join(name));
        let create = |path| {
            let [from, to] = ["10.0.0.1:5004", "10.0.0.2:5004"].map(|of| of.parse().unwrap());
            CaptureWriter::create(path, from, to).unwrap()
        };
        let mut file = create(&sent);
        send(&audio, &mut Output::File(&mut file)).unwrap();
        file.finish().unwrap();
        let input = network::inputs().into_iter().find(|input| input.name == name).unwrap();
        let mut file = create(&arrived);
        network::carry(&Capture::read(&sent).unwrap(), &input.impairment, 2004, &mut file).unwrap();
        file.finish().unwrap();
        (audio, Capture::read(&arrived).unwrap(), input.lossless)
    }

    /// What was received, units by their places.
    struct Received {
        played: Vec<u8>,
        heard_of: Range<u64>,
        lost: Vec<u64>,
        counts: Counts,
    }

    fn receive(arrivals: &Capture, settings: Settings) -> Received {
        let mut played = Vec::new();
        let receiver = super::receive(arrivals, settings, &mut played);
        let lost = receiver.lost().iter().map(|number| number - FIRST_NUMBER).collect();
        let Range { start, end } = receiver.heard_of();
        let heard_of = start - FIRST_NUMBER..end - FIRST_NUMBER;
        Received { played, heard_of, lost, counts: receiver.counts() }
    }

    /// Whether what was played is what was sent, but for what was logged as lost.
    fn verified(audio: &[u8], of: &Received) -> Result<(), Difference> {
        verify(audio, &of.played, of.heard_of.clone(), &of.lost)
    }

    #[test]
    fn all_packets_come_so_that_what_is_played_is_what_was_sent() {
        for name in ["R_input1", "R_input2", "R_input3", "duplication", "burst"] {
            let (audio, arrivals, lossless) = input(name);
            assert!(lossless, "{name}");
            let received = receive(&arrivals, Settings::default());
            assert_eq!(received.heard_of, 0..20_001, "{name}");
            assert_eq!((received.lost.len(), verified(&audio, &received)), (0, Ok(())), "{name}");
            assert_eq!(received.counts.duplicates > 0, name == "duplication", "{name}");
            assert_eq!(received.counts.early > 0, name == "burst", "{name}");
        }
    }

    #[test]
    fn what_is_lost_on_the_way_is_logged_and_the_rest_is_played() {
        let (audio, arrivals, lossless) = input("loss");
        assert!(!lossless);
        let received = receive(&arrivals, Settings::default());
        assert!(received.lost.len() > 200, "{} lost", received.lost.len());
        assert_eq!(verified(&audio, &received), Ok(()));
    }

    #[test]
    fn a_burst_overwrites_what_was_not_played_and_every_such_unit_is_logged() {
        let (audio, arrivals, _) = input("burst");
        let overwrite = Settings { overwrite: true, ..Settings::default() };
        let received = receive(&arrivals, overwrite);
        assert_eq!(received.counts.overwritten, received.lost.len() as u64);
        assert!(received.lost.len() > 100, "{} lost", received.lost.len());
        assert_eq!(verified(&audio, &received), Ok(()));
    }

    #[test]
    fn packets_later_than_the_threshold_are_lost() {
        let (audio, arrivals, _) = input("R_input3");
        let hasty = Settings { threshold_units: 10, ..Settings::default() };
        let received = receive(&arrivals, hasty);
        // Packets that the first one overtook are late, too, but nobody waited for them.
        let unheard = received.heard_of.start;
        assert!((0..=unheard).contains(&(received.counts.late - received.lost.len() as u64)));
        assert!(received.lost.len() > 1000, "{} lost", received.lost.len());
        assert_eq!(verified(&audio, &received), Ok(()));
    }

    #[test]
    fn what_is_no_packet_is_counted_and_changes_nothing() {
        let mut receiver = Receiver::new(Settings::default(), 10);
        let mut played = Vec::new();
        for datagram in [&[][..], &[0; 40], &[0x80; 11], &[0x80; 70_000]] {
            receiver.on_datagram(0, datagram, &mut played);
        }
        receiver.drain(&mut played);
        assert_eq!((receiver.counts().unreadable, played.len(), receiver.lost().len()), (4, 0, 0));
    }
}
