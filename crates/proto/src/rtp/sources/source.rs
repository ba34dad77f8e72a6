//! What is known of one synchronization source, [RFC 3550 section 6.2.1](https://www.rfc-editor.org/rfc/rfc3550#section-6.2.1).

use std::net::SocketAddr;

use crate::rtcp::xr::Delay;
use crate::rtcp::{ReportBlock, SenderInfo, ntp, round_trip};
use crate::rtp::reception::{Reception, ReceptionReport};
use crate::rtp::sequence::Arrival;
use crate::rtp::{Packet, Refused};

/// Whether a source counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rtp) enum Standing {
    /// Not believed in yet.
    Probation,
    Member,
    /// It said goodbye at this time [ns].
    Gone(u64),
}

/// What brought a datagram: RTP and RTCP of a source come from addresses of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rtp) enum Way {
    Data,
    Control,
}

/// What a source last said of its sending, and when that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastReport {
    /// What it said.
    pub info: SenderInfo,
    /// Its arrival by the session's time [ns].
    pub arrival_ns: u64,
}

/// Wall clock of a receiver, as it last said.
#[derive(Clone, Copy, Debug)]
struct Reference {
    /// Middle of its NTP timestamp [1/65 536 s].
    middle: u32,
    arrival_ns: u64,
    /// Whether it was answered.
    answered: bool,
}

/// One source.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) ssrc: u32,
    pub(super) standing: Standing,
    /// Whether it sent data lately.
    pub(super) sends: bool,
    pub(super) last_data_ns: u64,
    pub(super) last_heard_ns: u64,
    data_address: Option<SocketAddr>,
    control_address: Option<SocketAddr>,
    reception: Reception,
    /// Packets and their payload since it was first heard, over all runs [packets, B].
    packets: u64,
    payload_bytes: u64,
    /// Whether data came since it was last reported on.
    unreported: bool,
    reported: Option<ReceptionReport>,
    last_sr: Option<LastReport>,
    reference: Option<Reference>,
    about_us: Option<ReportBlock>,
    round_trip_ns: Option<u64>,
    /// Canonical name, 255 B at most by its item's length; empty before it was said.
    cname: Box<[u8]>,
}

impl Source {
    pub(super) fn new(ssrc: u32, now_ns: u64, min_sequential: u8) -> Self {
        Self {
            ssrc,
            standing: Standing::Probation,
            sends: false,
            last_data_ns: now_ns,
            last_heard_ns: now_ns,
            data_address: None,
            control_address: None,
            reception: Reception::new(min_sequential),
            packets: 0,
            payload_bytes: 0,
            unreported: false,
            reported: None,
            last_sr: None,
            reference: None,
            about_us: None,
            round_trip_ns: None,
            cname: Box::default(),
        }
    }

    /// Holds the source to the address that it was first heard from on this way (section 8.2).
    #[inline]
    pub(super) fn come_from(&mut self, way: Way, from: SocketAddr) -> Result<(), Refused> {
        if matches!(self.standing, Standing::Gone(_)) {
            return Err(Refused::AfterGoodbye);
        }
        let known = match way {
            Way::Data => &mut self.data_address,
            Way::Control => &mut self.control_address,
        };
        if *known.get_or_insert(from) == from { Ok(()) } else { Err(Refused::OtherAddress) }
    }

    #[inline]
    pub(super) fn on_packet(
        &mut self,
        now_ns: u64,
        packet: &Packet<'_>,
        arrival_ticks: u32,
    ) -> Arrival {
        self.last_heard_ns = now_ns;
        let arrival = self.reception.on_packet(packet, arrival_ticks);
        if matches!(arrival, Arrival::Counted(_) | Arrival::Begins(_)) {
            self.last_data_ns = now_ns;
            self.packets += 1;
            self.payload_bytes += packet.payload().len() as u64;
            self.unreported = true;
        }
        arrival
    }

    /// Makes it a member. Who was named before a packet of it was taken has proved itself: the next one is.
    pub(super) fn believe(&mut self) {
        self.standing = Standing::Member;
        if self.packets == 0 {
            self.reception = Reception::new(1);
        }
    }

    /// Names it; a name that is known costs nothing.
    pub(super) fn set_cname(&mut self, cname: &[u8]) {
        if *self.cname != *cname {
            self.cname = cname.into();
        }
    }

    pub(in crate::rtp) fn on_sender_info(&mut self, now_ns: u64, info: SenderInfo) {
        self.last_sr = Some(LastReport { info, arrival_ns: now_ns });
    }

    /// It reports on us; `arrival` is the middle of now's NTP timestamp [1/65 536 s].
    pub(in crate::rtp) fn on_block_about_us(&mut self, arrival: u32, block: ReportBlock) {
        self.about_us = Some(block);
        self.on_round_trip(round_trip(arrival, block.last_sr, block.delay_since_last_sr));
    }

    /// It answers our reference time.
    pub(in crate::rtp) fn on_delay_about_us(&mut self, arrival: u32, delay: Delay) {
        self.on_round_trip(round_trip(arrival, delay.last_rr, delay.delay_since_last_rr));
    }

    fn on_round_trip(&mut self, trip: Option<u32>) {
        self.round_trip_ns = trip.map(ntp::delay_to_ns).or(self.round_trip_ns);
    }

    pub(in crate::rtp) fn on_reference_time(&mut self, now_ns: u64, ntp_timestamp: u64) {
        let middle = ntp::middle(ntp_timestamp);
        self.reference = Some(Reference { middle, arrival_ns: now_ns, answered: false });
    }

    /// Our report on it, if data came since the one before.
    pub(super) fn take_block(&mut self, now_ns: u64) -> Option<ReportBlock> {
        if !self.unreported || self.standing != Standing::Member {
            return None;
        }
        self.unreported = false;
        let report = self.reception.report();
        self.reported = Some(report);
        let (last_sr, delay) = self.last_sr.map_or((0, 0), |last| {
            let delay_ns = now_ns.saturating_sub(last.arrival_ns);
            (ntp::middle(last.info.ntp_timestamp), ntp::delay_from_ns(delay_ns))
        });
        Some(ReportBlock::new(self.ssrc, report, last_sr, delay))
    }

    /// Our answer to its reference time, if that has none yet.
    pub(super) fn take_delay(&mut self, now_ns: u64) -> Option<Delay> {
        let standing = self.standing;
        let member =
            |reference: &&mut Reference| !reference.answered && standing == Standing::Member;
        let reference = self.reference.as_mut().filter(member)?;
        reference.answered = true;
        let delay_ns = now_ns.saturating_sub(reference.arrival_ns);
        Some(Delay {
            ssrc: self.ssrc,
            last_rr: reference.middle,
            delay_since_last_rr: ntp::delay_from_ns(delay_ns),
        })
    }

    /// Its identifier.
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// Whether it is believed in, and has not left.
    #[must_use]
    pub fn is_member(&self) -> bool {
        self.standing == Standing::Member
    }

    /// Whether it said goodbye; soon after it is forgotten.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.standing, Standing::Gone(_))
    }

    /// Whether it sent data lately.
    #[must_use]
    pub fn is_sender(&self) -> bool {
        self.sends
    }

    /// Canonical name, as its sender wrote it.
    #[must_use]
    pub fn cname(&self) -> Option<&[u8]> {
        (!self.cname.is_empty()).then_some(&*self.cname)
    }

    /// Where its data come from.
    #[must_use]
    pub fn data_address(&self) -> Option<SocketAddr> {
        self.data_address
    }

    /// Where its reports come from.
    #[must_use]
    pub fn control_address(&self) -> Option<SocketAddr> {
        self.control_address
    }

    /// Losses and jitter of its packets.
    #[must_use]
    pub fn reception(&self) -> &Reception {
        &self.reception
    }

    /// Packets that were taken, of all runs [packets].
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Their payload [B].
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// What our last report said of it.
    #[must_use]
    pub fn reported(&self) -> Option<ReceptionReport> {
        self.reported
    }

    /// Its last SR.
    #[must_use]
    pub fn last_sr(&self) -> Option<LastReport> {
        self.last_sr
    }

    /// What it last reported of our data.
    #[must_use]
    pub fn about_us(&self) -> Option<ReportBlock> {
        self.about_us
    }

    /// Round-trip time to it and back [ns], by its last answer.
    #[must_use]
    pub fn round_trip_ns(&self) -> Option<u64> {
        self.round_trip_ns
    }
}
