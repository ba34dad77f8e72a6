//! What a receiver knows of one source's packets: losses and jitter, as its reports carry them,
//! [RFC 3550 section 6.4.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.4.1) and appendix A.3.
//!
//! ```text
//! sequence number ──► expected ──┐
//!                                ├──► lost, fraction lost in the interval ──► block of a report
//! packets         ──► received ──┘
//! ```

use super::Packet;
use super::jitter::Jitter;
use super::sequence::{Arrival, Sequence};
use crate::rtcp::clamp_cumulative_lost;

/// Reception of one source.
#[derive(Clone, Debug)]
pub struct Reception {
    sequence: Sequence,
    jitter: Jitter,
    /// Packets of this run, duplicates included, as the RFC counts them [packets].
    received: u64,
    /// What `expected` and `received` were at the last report.
    at_report: (u64, u64),
    /// Packets that were not counted: on probation, or far from the run [packets].
    refused: u64,
    /// Runs that began after the first.
    restarts: u64,
}

/// What a report says of a source, but for the times of its sender's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceptionReport {
    /// Part of the packets since the last report that were lost [1/256].
    pub fraction_lost: u8,
    /// Packets lost since the run began, fewer for duplicates [packets]; within signed 24 bits.
    pub cumulative_lost: i32,
    /// Highest sequence number with the count of turns.
    pub extended_highest: u32,
    /// Interarrival jitter [ticks].
    pub jitter_ticks: u32,
}

impl Reception {
    /// A source of which nothing came yet; see [`Sequence::new`].
    #[must_use]
    pub fn new(min_sequential: u8) -> Self {
        Self {
            sequence: Sequence::new(min_sequential),
            jitter: Jitter::default(),
            received: 0,
            at_report: (0, 0),
            refused: 0,
            restarts: 0,
        }
    }

    /// Accounts for a packet that arrived at this time by the media's clock [ticks].
    #[inline]
    pub fn on_packet(&mut self, packet: &Packet<'_>, arrival_ticks: u32) -> Arrival {
        let arrival = self.sequence.on_packet(packet.sequence());
        match arrival {
            Arrival::Counted(_) => self.received += 1,
            Arrival::Begins(_) => self.begin(),
            Arrival::OnProbation | Arrival::Jumped => {
                self.refused += 1;
                return arrival;
            }
        }
        self.jitter.on_packet(arrival_ticks, packet.timestamp());
        arrival
    }

    #[cold]
    fn begin(&mut self) {
        self.restarts += u64::from(self.received > 0);
        self.received = 1;
        self.at_report = (0, 0);
        self.jitter.forget_transit();
    }

    /// What is to be reported now; the next report's fraction counts from here.
    pub fn report(&mut self) -> ReceptionReport {
        let now = (self.sequence.expected(), self.received);
        let expected = now.0 - self.at_report.0;
        let lost = expected.saturating_sub(now.1 - self.at_report.1);
        self.at_report = now;
        // Nothing expected, nothing lost; all lost is 255 of 256, the most that the field holds.
        let fraction = (lost << 8).checked_div(expected).unwrap_or(0).min(255);
        ReceptionReport {
            fraction_lost: fraction as u8,
            cumulative_lost: self.cumulative_lost(),
            extended_highest: self.sequence.extended_highest(),
            jitter_ticks: self.jitter.ticks(),
        }
    }

    fn cumulative_lost(&self) -> i32 {
        let lost = self.sequence.expected().cast_signed() - self.received.cast_signed();
        clamp_cumulative_lost(lost)
    }

    /// Packets from the first to the highest of the run [packets].
    #[inline]
    #[must_use]
    pub fn expected(&self) -> u64 {
        self.sequence.expected()
    }

    /// Packets of the run that came, duplicates included [packets].
    #[inline]
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Packets that were not counted: on probation, or far from the run [packets].
    #[inline]
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Runs that began after the first.
    #[inline]
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Interarrival jitter [ticks].
    #[inline]
    #[must_use]
    pub fn jitter_ticks(&self) -> u32 {
        self.jitter.ticks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::Header;

    /// A reception after these sequence numbers, in time.
    fn after(sequences: impl IntoIterator<Item = u16>) -> Reception {
        let mut reception = Reception::new(1);
        feed(&mut reception, sequences);
        reception
    }

    fn feed(reception: &mut Reception, sequences: impl IntoIterator<Item = u16>) {
        for sequence in sequences {
            let timestamp = u32::from(sequence) * 160;
            let mut buffer = [0; 12];
            Header::new(0, sequence, timestamp, 1).write_header(&mut buffer).unwrap();
            reception.on_packet(&Packet::parse(&buffer).unwrap(), timestamp);
        }
    }

    #[test]
    fn one_loss_in_four_hundred_is_counted() {
        let mut reception = after((0..400).filter(|sequence| *sequence != 200));
        let report = reception.report();
        assert_eq!((report.cumulative_lost, report.fraction_lost), (1, 0));
        assert_eq!(report.extended_highest, 399);
    }

    #[test]
    fn duplicates_make_the_count_of_lost_negative() {
        let mut reception = after([10, 11, 11, 12, 12, 13]);
        let report = reception.report();
        assert_eq!((report.cumulative_lost, report.fraction_lost), (-2, 0));
    }

    #[test]
    fn the_fraction_is_that_since_the_last_report() {
        let mut reception = after(0..100);
        assert_eq!(reception.report().fraction_lost, 0);
        feed(&mut reception, (100..200).step_by(2).chain([199]));
        let report = reception.report();
        assert_eq!(
            (report.fraction_lost, report.cumulative_lost),
            (125, 49),
            "49 of 100, in 256ths"
        );
        assert_eq!(reception.report().fraction_lost, 0);
    }

    #[test]
    fn a_restart_begins_the_counts_again() {
        let mut reception = after([100, 101, 105, 40_000, 40_001, 40_002]);
        let report = reception.report();
        assert_eq!((report.cumulative_lost, report.extended_highest), (0, 40_002));
        assert_eq!((reception.received(), reception.refused(), reception.restarts()), (2, 1, 1));
    }

    #[test]
    fn a_stray_packet_is_no_loss() {
        let mut reception = after((100..200).chain([30_000]).chain(200..210));
        assert_eq!(reception.report().cumulative_lost, 0);
        assert_eq!(reception.refused(), 1);
    }

    #[test]
    fn counts_beyond_24_bits_are_clamped() {
        let mut reception = after([0]);
        for _ in 0..3000_u32 {
            let next = reception.sequence.extended_highest() + 2999;
            feed(&mut reception, [(next & 0xffff) as u16]);
        }
        assert_eq!(reception.report().cumulative_lost, 0x7f_ffff);
    }

    #[test]
    fn sixty_five_thousand_duplicates_are_counted_and_clamp_nothing() {
        let mut reception = after(std::iter::repeat_n(7, 65_535));
        assert_eq!(reception.report().cumulative_lost, 1 - 65_535);
    }
}
