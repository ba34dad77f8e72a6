//! Sequence numbers: whether a packet belongs to its source's run, and its number without wraps,
//! [RFC 3550 appendix A.1](https://www.rfc-editor.org/rfc/rfc3550#appendix-A.1).
//!
//! ```text
//!        MAX_MISORDER behind          highest        MAX_DROPOUT ahead
//! ... ───────┬───────────────────────────┬─────────────────────┬──────────── ... modulo 2^16
//!   jump     │ reordered, or a duplicate │ in order, or a gap  │   jump
//! ```
//!
//! A jump is believed when a second packet follows it in sequence: the source started again.

/// Sequence numbers ahead of the highest that are a gap and no jump: a minute of audio in packets of 20 ms.
const MAX_DROPOUT: u16 = 3000;

/// Sequence numbers behind the highest that are reordering and no jump: two seconds of such audio.
const MAX_MISORDER: u16 = 100;

/// Packets in sequence that make a source believed in, as the RFC has it.
pub const MIN_SEQUENTIAL: u8 = 2;

/// One turn of the 16 bits. The first packet is counted a turn ahead, so that those that it overtook have numbers, too.
const TURN: u64 = 1 << 16;

/// The run of sequence numbers of one source.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Highest number seen, with the turns.
    highest: u64,
    /// The first number of the run.
    base: u64,
    /// The number that would confirm the last jump; `None` behind a packet that was no jump.
    after_jump: Option<u16>,
    /// Packets in sequence that are still wanted before the source is believed in.
    probation: u8,
    min_sequential: u8,
}

/// What a packet's sequence number makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It belongs to the run, with this number: the highest, one before it, or one seen already.
    Counted(u64),
    /// With it a run begins, the first or another after a jump.
    Begins(u64),
    /// The source is not believed in yet.
    OnProbation,
    /// It is far from the run and nothing has confirmed it.
    Jumped,
}

impl Sequence {
    /// A source of which nothing is known. `min_sequential` packets in sequence make it believed in:
    /// [`MIN_SEQUENTIAL`] where anyone may send, 1 where the source was agreed on.
    #[must_use]
    pub fn new(min_sequential: u8) -> Self {
        Self {
            highest: 0,
            base: 0,
            after_jump: None,
            probation: u8::MAX,
            min_sequential: min_sequential.max(1),
        }
    }

    /// Accounts for one packet.
    #[inline]
    pub fn on_packet(&mut self, sequence: u16) -> Arrival {
        if self.probation > 0 {
            return self.prove(sequence);
        }
        let ahead = sequence.wrapping_sub(low(self.highest));
        if ahead < MAX_DROPOUT {
            self.highest += u64::from(ahead);
            return Arrival::Counted(self.highest);
        }
        let behind = ahead.wrapping_neg();
        if behind < MAX_MISORDER {
            return Arrival::Counted(self.highest - u64::from(behind));
        }
        self.jump(sequence)
    }

    #[cold]
    fn prove(&mut self, sequence: u16) -> Arrival {
        let begun = self.probation < u8::MAX;
        let follows = begun && sequence == low(self.highest).wrapping_add(1);
        let wanted = if follows { self.probation } else { self.min_sequential };
        self.probation = wanted - 1;
        self.highest = u64::from(sequence);
        if self.probation == 0 { self.begin(sequence) } else { Arrival::OnProbation }
    }

    #[cold]
    fn jump(&mut self, sequence: u16) -> Arrival {
        if self.after_jump == Some(sequence) {
            return self.begin(sequence);
        }
        self.after_jump = Some(sequence.wrapping_add(1));
        Arrival::Jumped
    }

    fn begin(&mut self, sequence: u16) -> Arrival {
        self.base = TURN + u64::from(sequence);
        self.highest = self.base;
        self.after_jump = None;
        Arrival::Begins(self.base)
    }

    /// Packets from the first to the highest of the run [packets]; 0 before it begins.
    #[inline]
    #[must_use]
    pub fn expected(&self) -> u64 {
        if self.probation > 0 { 0 } else { self.highest - self.base + 1 }
    }

    /// Highest number with the count of turns, as a receiver report carries it (section 6.4.1).
    #[inline]
    #[must_use]
    pub fn extended_highest(&self) -> u32 {
        let since_first_turn = self.highest.saturating_sub(TURN);
        #[expect(clippy::cast_possible_truncation, reason = "the field has 32 bits and wraps")]
        let field = since_first_turn as u32;
        field
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the wire carries the lower 16 bits")]
fn low(extended: u64) -> u16 {
    extended as u16
}

#[cfg(test)]
mod tests {
    use super::Arrival::{Begins, Counted, Jumped, OnProbation};
    use super::*;

    /// What packets make of themselves, numbered from the first turn.
    fn arrivals(min_sequential: u8, packets: &[u16]) -> Vec<Arrival> {
        let mut sequence = Sequence::new(min_sequential);
        let shown = |arrival| match arrival {
            Counted(number) => Counted(number - TURN),
            Begins(number) => Begins(number - TURN),
            other => other,
        };
        packets.iter().map(|packet| shown(sequence.on_packet(*packet))).collect()
    }

    #[test]
    fn two_packets_in_sequence_begin_a_run_and_two_others_do_not() {
        assert_eq!(arrivals(2, &[7, 8, 9]), [OnProbation, Begins(8), Counted(9)]);
        assert_eq!(
            arrivals(2, &[7, 9, 9, 10]),
            [OnProbation, OnProbation, OnProbation, Begins(10)]
        );
        assert_eq!(arrivals(1, &[7, 9]), [Begins(7), Counted(9)]);
        assert_eq!(arrivals(2, &[65535, 0, 1]), [OnProbation, Begins(0), Counted(1)]);
    }

    #[test]
    fn numbers_count_the_turns_also_of_packets_reordered_around_one() {
        let found = arrivals(1, &[65534, 0, 65535, 1]);
        assert_eq!(found, [Begins(65534), Counted(65536), Counted(65535), Counted(65537)]);
    }

    #[test]
    fn a_packet_that_the_first_one_overtook_has_a_number() {
        let mut sequence = Sequence::new(1);
        sequence.on_packet(0);
        assert_eq!(sequence.on_packet(65535), Counted(TURN - 1));
        assert_eq!(sequence.extended_highest(), 0);
    }

    #[test]
    fn one_stray_packet_changes_nothing_and_two_in_a_row_are_a_restart() {
        let mut sequence = Sequence::new(1);
        for packet in 100..120 {
            sequence.on_packet(packet);
        }
        assert_eq!(sequence.on_packet(30_000), Jumped);
        assert_eq!(sequence.on_packet(120), Counted(TURN + 120));
        assert_eq!(sequence.expected(), 21);
        assert_eq!(
            [40_000, 40_001].map(|packet| sequence.on_packet(packet)),
            [Jumped, Begins(TURN + 40_001)]
        );
        assert_eq!(sequence.expected(), 1);
    }

    #[test]
    fn the_bounds_of_gap_and_reordering_are_the_rfc_s() {
        for (packet, known) in [(3999, true), (4000, false), (901, true), (900, false)] {
            let mut sequence = Sequence::new(1);
            sequence.on_packet(1000);
            assert_eq!(sequence.on_packet(packet) != Jumped, known, "{packet} after 1000");
        }
    }

    #[test]
    fn the_report_s_number_wraps_with_its_32_bits() {
        let mut sequence = Sequence::new(1);
        sequence.on_packet(65_535);
        for turn in 0..3 {
            assert_eq!(sequence.extended_highest(), turn << 16 | 0xffff);
            for packet in (0..=65_535).step_by(1000).chain([65_535]) {
                sequence.on_packet(packet);
            }
        }
        assert_eq!(sequence.expected(), 3 * TURN + 1);
    }
}
