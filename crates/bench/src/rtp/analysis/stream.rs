//! One stream of a capture: what came, what is missing, in what order, how regularly.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use bitpath_proto::rtp::Packet;
use bitpath_proto::rtp::payload::static_type;
use bitpath_proto::rtp::sequence::{Arrival, Sequence};

use super::Name;
use super::jitter::{self, Jitter};

/// What a capture shows of one stream.
#[derive(Clone, Debug)]
pub struct Stream {
    ssrc: u32,
    source: SocketAddr,
    destination: SocketAddr,
    /// A bit for each payload type that was seen.
    payload_types: u128,
    /// When the first packet was seen, and the last [ns].
    seen_ns: [u64; 2],
    /// Packets of RTP in all, and the last of them [B].
    bytes: u64,
    last_bytes: u64,
    sequence: Sequence,
    /// Whether a packet followed another in sequence.
    believed: bool,
    /// Highest number of the run, with its turns.
    highest: u64,
    /// Which of the numbers from the highest down were seen: more than [`Sequence`] takes for reordering.
    window: u128,
    /// Packets of the runs before this one that were expected.
    expected_earlier: u64,
    counts: Counts,
    jitter: Jitter,
}

/// What became of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// All of them.
    pub(super) packets: u64,
    /// Those of runs, duplicates included.
    pub(super) received: u64,
    /// Those whose number had come before.
    pub(super) duplicates: u64,
    /// Those that others with higher numbers had overtaken.
    pub(super) out_of_order: u64,
    /// Those that did not follow the highest before them: behind a gap, overtaken, duplicate, or far away.
    pub(super) sequence_errors: u64,
    /// Those far from the run that nothing had confirmed.
    pub(super) refused: u64,
    /// Runs after the first.
    pub(super) restarts: u64,
}

impl Stream {
    /// A stream before its first packet is accounted for.
    pub(super) fn begin((ssrc, source, destination): Name, at_ns: u64) -> Self {
        Self {
            ssrc,
            source,
            destination,
            payload_types: 0,
            seen_ns: [at_ns; 2],
            bytes: 0,
            last_bytes: 0,
            sequence: Sequence::new(1),
            believed: false,
            highest: 0,
            window: 0,
            expected_earlier: 0,
            counts: Counts::default(),
            jitter: Jitter::default(),
        }
    }

    /// Accounts for a packet of this size [B] that was seen at this time. The clock rate is for payload types that
    /// have none of their own; without one they are left out of the jitter.
    pub(super) fn on_packet(
        &mut self,
        at_ns: u64,
        packet: &Packet<'_>,
        bytes: u64,
        clock_rate_hz: Option<NonZeroU32>,
    ) {
        self.counts.packets += 1;
        self.payload_types |= 1 << packet.payload_type();
        self.seen_ns[1] = self.seen_ns[1].max(at_ns);
        self.bytes += bytes;
        self.last_bytes = bytes;
        if !self.number(packet.sequence()) {
            return;
        }
        let own = static_type(packet.payload_type()).map(|encoding| encoding.clock_rate_hz);
        if let Some(clock_rate_hz) = own.or_else(|| clock_rate_hz.map(NonZeroU32::get)) {
            let timestamp = packet.timestamp();
            self.jitter.on_packet(jitter::Arrival { at_ns, timestamp, clock_rate_hz });
        }
    }

    /// Accounts for a sequence number; whether its packet belongs to the run.
    fn number(&mut self, sequence: u16) -> bool {
        let expected = self.sequence.expected();
        match self.sequence.on_packet(sequence) {
            Arrival::Begins(number) => {
                self.counts.restarts += u64::from(expected > 0);
                self.believed |= expected > 0;
                self.expected_earlier += expected;
                (self.highest, self.window) = (number, 1);
                self.jitter.forget_packet();
            }
            Arrival::Counted(number) if number > self.highest => self.advance(number),
            Arrival::Counted(number) => self.fall_behind(number),
            Arrival::OnProbation | Arrival::Jumped => {
                self.counts.refused += 1;
                self.counts.sequence_errors += 1;
                return false;
            }
        }
        self.counts.received += 1;
        true
    }

    fn advance(&mut self, number: u64) {
        let ahead = number - self.highest;
        self.believed |= ahead == 1;
        self.counts.sequence_errors += u64::from(ahead > 1);
        let moved = u32::try_from(ahead).ok().and_then(|ahead| self.window.checked_shl(ahead));
        self.window = moved.unwrap_or(0) | 1;
        self.highest = number;
    }

    fn fall_behind(&mut self, number: u64) {
        self.counts.sequence_errors += 1;
        let behind = u32::try_from(self.highest - number).ok();
        let bit = behind.and_then(|behind| 1_u128.checked_shl(behind)).unwrap_or(0);
        if self.window & bit == 0 {
            self.counts.out_of_order += 1;
        } else {
            self.counts.duplicates += 1;
        }
        self.window |= bit;
    }

    pub(super) fn believed(&self) -> bool {
        self.believed
    }

    pub(super) fn last_ns(&self) -> u64 {
        self.seen_ns[1]
    }

    /// Its place among others.
    pub(super) fn place(&self) -> (u64, SocketAddr, SocketAddr, u32) {
        (self.seen_ns[0], self.source, self.destination, self.ssrc)
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Synchronization source.
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// Who sent it.
    #[must_use]
    pub fn source(&self) -> SocketAddr {
        self.source
    }

    /// Who was to have it.
    #[must_use]
    pub fn destination(&self) -> SocketAddr {
        self.destination
    }

    /// Payload types that were seen, in order.
    pub fn payload_types(&self) -> impl Iterator<Item = u8> {
        (0..=127).filter(|payload_type| self.payload_types >> payload_type & 1 == 1)
    }

    /// Packets of it [packets].
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.counts.packets
    }

    /// Packets from the first number to the highest, of all runs [packets].
    #[must_use]
    pub fn expected(&self) -> u64 {
        self.expected_earlier + self.sequence.expected()
    }

    /// Packets that were expected and did not come, fewer for duplicates and for what was before the first [packets].
    #[must_use]
    pub fn lost(&self) -> i64 {
        self.expected().cast_signed() - self.counts.received.cast_signed()
    }

    /// Mean of the interarrival jitter [ns]; none where no clock rate is known or only one packet came.
    #[must_use]
    pub fn jitter_mean_ns(&self) -> Option<f64> {
        self.jitter.mean_ns()
    }

    /// Greatest interarrival jitter [ns].
    #[must_use]
    pub fn jitter_max_ns(&self) -> Option<f64> {
        self.jitter.greatest_ns()
    }

    /// Time from the first packet to the last [s].
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        (self.seen_ns[1] - self.seen_ns[0]) as f64 / 1e9
    }

    /// Rate of its packets of RTP, without the headers of UDP and IP [b/s]; none where it took no time. The last one is
    /// left out, for how long it was under way is not seen.
    #[must_use]
    pub fn bits_per_second(&self) -> Option<f64> {
        let bits = (self.bytes - self.last_bytes) as f64 * 8.0;
        (self.duration_s() > 0.0).then(|| bits / self.duration_s())
    }
}

#[cfg(test)]
mod tests {
    use bitpath_proto::rtp::{Header, Reception};

    use super::*;

    /// Packets of 20 ms, as [`Reception`] sees them, too.
    fn after(payload_type: u8, sequences: impl IntoIterator<Item = u16>) -> (Stream, Reception) {
        let address = "10.0.0.1:5004".parse().unwrap();
        let (mut stream, mut reception) =
            (Stream::begin((7, address, address), 0), Reception::new(1));
        for (number, sequence) in (0_u32..).zip(sequences) {
            let mut bytes = [0; 172];
            let timestamp = u32::from(sequence) * 160;
            Header::new(payload_type, sequence, timestamp, 7).write_header(&mut bytes).unwrap();
            let packet = Packet::parse(&bytes).unwrap();
            stream.on_packet(u64::from(number) * 20_000_000, &packet, 172, None);
            reception.on_packet(&packet, number * 160);
        }
        (stream, reception)
    }

    #[test]
    fn losses_are_those_of_a_receivers_report() {
        let wrapping = (65_000..=65_535).chain(0..1000).filter(|sequence| sequence % 50 != 3);
        let cases: [Vec<u16>; 4] = [
            wrapping.collect(),
            vec![10, 12, 11, 11, 11, 14, 13, 20],
            vec![5, 4, 3, 6, 7],
            vec![1, 2, 30_000, 3],
        ];
        for sequences in cases {
            let (stream, mut reception) = after(0, sequences.clone());
            assert_eq!(
                stream.lost(),
                i64::from(reception.report().cumulative_lost),
                "{sequences:?}"
            );
            assert_eq!(stream.expected(), reception.expected(), "{sequences:?}");
        }
    }

    #[test]
    fn duplicates_and_overtaken_packets_are_told_apart() {
        for (sequences, duplicates, out_of_order, errors) in [
            (vec![1, 2, 3], 0, 0, 0),
            (vec![1, 3, 2], 0, 1, 2),
            (vec![1, 3, 2, 2, 3], 2, 1, 4),
            (vec![65_535, 1, 0, 0, 2], 1, 1, 3),
            (vec![10, 9, 9], 1, 1, 2),
            (vec![1, 2000, 1999, 2000], 1, 1, 3),
        ] {
            let counts = after(0, sequences.clone()).0.counts();
            let found = (counts.duplicates, counts.out_of_order, counts.sequence_errors);
            assert_eq!(found, (duplicates, out_of_order, errors), "{sequences:?}");
        }
    }

    #[test]
    fn a_restart_is_another_run_and_no_loss() {
        let (stream, _) = after(0, (0..100).chain(40_000..40_100));
        assert_eq!((stream.expected(), stream.lost(), stream.packets()), (199, 0, 200));
        assert_eq!((stream.counts().restarts, stream.counts().refused), (1, 1));
        assert_eq!(stream.jitter_max_ns(), Some(0.0));
    }

    #[test]
    fn sixty_five_thousand_duplicates_are_counted() {
        let (stream, _) = after(0, std::iter::once(6).chain(std::iter::repeat_n(7, 65_535)));
        assert_eq!((stream.counts().duplicates, stream.lost()), (65_534, -65_534));
    }

    #[test]
    fn speech_of_20_ms_has_its_rate_and_a_dynamic_type_no_jitter() {
        let (stream, _) = after(0, 0..51);
        assert_eq!((stream.duration_s(), stream.bits_per_second()), (1.0, Some(68_800.0)));
        assert_eq!(after(96, 0..51).0.jitter_mean_ns(), None);
        assert_eq!(after(0, [1]).0.bits_per_second(), None);
    }
}
