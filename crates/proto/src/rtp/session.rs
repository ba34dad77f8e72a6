//! One participant of an RTP session, who sends, receives, or both,
//! [RFC 3550](https://www.rfc-editor.org/rfc/rfc3550).
//!
//! ```text
//! media [ticks, B] ──► next header ──► packets sent ──────────────────┐
//! RTP datagram ──► sources ──► number, payload                        ├──► SR or RR, SDES, XR, BYE ──► RTCP datagram
//! RTCP datagram ─► sources: last SR, round trip [ns], who is there ───┘        when the scheduler says so
//! ```
//!
//! Time [ns] is an argument, of any clock that does not go back.

mod receiver;
mod reporter;
mod sender;
mod statistics;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use receiver::Received;
pub use sender::Sent;
pub use statistics::SourceStatistics;

use sender::Sender;

use super::sources::Conflicts;
use super::{ClockRate, Header, Refusals, Sources};
use crate::ProtoError;
use crate::rtcp::{Budget, Counts, Item, MAX_COUNT, Scheduler, Timer, ntp};

/// Headers of UDP and IPv4 [B], which the sizes of the scheduler count (section 6.2). The 20 B that IPv6 has more
/// are less than the average moves from one report to the next.
const UDP_IP_BYTES: usize = 28;

/// Addresses of colliding packets are kept for this many times the silence after which a member is gone: ten
/// intervals of reports (section 8.2).
const CONFLICT_TIMEOUTS: u64 = 2;

/// What a session is told when it begins.
#[derive(Clone, Debug)]
pub struct Config {
    /// Synchronization source, chosen at random; a collision changes it.
    pub ssrc: u32,
    /// Canonical name, the same whenever this participant comes, 255 B at most (section 6.5.1).
    pub cname: String,
    /// Payload type of what is sent.
    pub payload_type: u8,
    /// Ticks of the timestamps that are sent and received.
    pub clock_rate: ClockRate,
    /// Sequence number of the first packet, chosen at random (section 5.1).
    pub first_sequence: u16,
    /// Timestamp of the beginning of the media, chosen at random (section 5.1) [ticks].
    pub first_timestamp: u32,
    /// Packets in sequence that make a source believed in, see [`Sequence::new`](super::sequence::Sequence::new).
    pub min_sequential: u8,
    /// What RTCP may spend.
    pub budget: Budget,
    /// Whether reports carry our wall clock while we send no data, so that others can answer it and the round trip
    /// is known here, too ([RFC 3611 section 4.4](https://www.rfc-editor.org/rfc/rfc3611#section-4.4)).
    pub reference_times: bool,
    /// Wall clock, since the Unix era, where the session's time is 0 [ns].
    pub unix_ns_at_zero: u64,
    /// Where chance comes from: times of reports, and identifiers after collisions.
    pub seed: u64,
}

/// One participant.
#[derive(Clone, Debug)]
pub struct Session {
    config: Config,
    ssrc: u32,
    /// Whether anything was sent under this identifier.
    used: bool,
    /// Identifiers given up, which goodbye was not said for.
    abandoned: Vec<u32>,
    /// Whether a goodbye is to be sent at once.
    leaves_now: bool,
    /// When something became due that does not wait for the scheduler [ns].
    urgent_ns: Option<u64>,
    sender: Sender,
    sources: Sources,
    conflicts: Conflicts,
    collisions: u64,
    refusals: Refusals,
    scheduler: Scheduler,
    chance: ChaCha8Rng,
}

impl Session {
    /// Joins.
    ///
    /// # Errors
    /// When payload type or name are what the wire cannot carry.
    pub fn new(now_ns: u64, config: Config) -> Result<Self, ProtoError> {
        check(&config)?;
        let mut chance = ChaCha8Rng::seed_from_u64(config.seed);
        let first_bytes = wire_bytes(reporter::smallest_bytes(&config.cname));
        let scheduler = Scheduler::join(now_ns, config.budget, first_bytes, chance.random());
        Ok(Self {
            ssrc: config.ssrc,
            used: false,
            abandoned: Vec::new(),
            leaves_now: false,
            urgent_ns: None,
            sender: Sender::new(&config),
            sources: Sources::new(config.min_sequential),
            conflicts: Conflicts::default(),
            collisions: 0,
            refusals: Refusals::default(),
            scheduler,
            chance,
            config,
        })
    }

    /// Header of the next packet: `media_ticks` of media came before it [ticks], modulo 2^32, and it carries so
    /// much of it [B]. It counts as sent at this time; markers, and what else differs, the caller sets.
    #[inline]
    pub fn next_header(
        &mut self,
        now_ns: u64,
        media_ticks: u32,
        payload_bytes: usize,
    ) -> Header<'static> {
        self.used = true;
        self.sender.next_header(now_ns, self.ssrc, media_ticks, payload_bytes)
    }

    /// Leaves: the goodbye follows from [`Session::poll_transmit`], at once or, in a large session, by and by
    /// (section 6.3.7). No data may be sent from here on.
    pub fn leave(&mut self, now_ns: u64) {
        // What was sent however long ago wants a goodbye.
        let counts = Counts { we_sent: self.used, ..self.counts(now_ns) };
        let bytes = wire_bytes(reporter::smallest_bytes(&self.config.cname));
        let random = self.chance.random();
        if self.scheduler.leave(now_ns, counts, bytes, random) == Timer::Goodbye {
            self.leaves_now = true;
            self.urgent_ns.get_or_insert(now_ns);
        }
    }

    /// Writes the RTCP datagram that is due and returns its size [B]; to be asked again until there is none. The
    /// buffer is as large as a datagram may be.
    ///
    /// # Errors
    /// When the buffer has no room for the smallest report.
    pub fn poll_transmit(
        &mut self,
        now_ns: u64,
        buffer: &mut [u8],
    ) -> Result<Option<usize>, ProtoError> {
        self.check_room(buffer)?;
        if !self.abandoned.is_empty() {
            return self.write_abandoned(buffer).map(Some);
        }
        self.urgent_ns = None;
        if std::mem::take(&mut self.leaves_now) {
            return self.write_report(now_ns, buffer, true).map(Some);
        }
        if self.scheduler.deadline_ns().is_none_or(|deadline_ns| now_ns < deadline_ns) {
            return Ok(None);
        }
        self.expire(now_ns);
        let (counts, random) = (self.counts(now_ns), self.chance.random());
        match self.scheduler.on_timer(now_ns, counts, random) {
            Timer::Wait => Ok(None),
            Timer::Goodbye => self.write_report(now_ns, buffer, true).map(Some),
            Timer::Report => {
                let bytes = self.write_report(now_ns, buffer, false)?;
                let random = self.chance.random();
                self.scheduler.on_sent(now_ns, wire_bytes(bytes), counts, random);
                Ok(Some(bytes))
            }
        }
    }

    /// When [`Session::poll_transmit`] wants to be called [ns]; never after the goodbye.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        [self.urgent_ns, self.scheduler.deadline_ns()].into_iter().flatten().min()
    }

    /// Our synchronization source, as of now.
    #[must_use]
    pub fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// Who takes part, this participant included.
    #[must_use]
    pub fn counts(&self, now_ns: u64) -> Counts {
        let we_sent = self.sender.sent_since(now_ns, self.scheduler.sender_timeout_ns());
        Counts {
            members: 1 + self.sources.members(),
            senders: u32::from(we_sent) + self.sources.senders(),
            we_sent,
        }
    }

    fn expire(&mut self, now_ns: u64) {
        let before = self.sources.members();
        let timeout_ns = self.scheduler.member_timeout_ns(self.counts(now_ns));
        self.sources.expire(now_ns, timeout_ns, self.scheduler.sender_timeout_ns());
        self.conflicts.expire(now_ns, timeout_ns.saturating_mul(CONFLICT_TIMEOUTS));
        if self.sources.members() < before {
            self.scheduler.on_members_gone(now_ns, self.counts(now_ns).members);
        }
    }

    /// Somebody else has our identifier: goodbye is said for it, and another is chosen (section 8.2).
    #[cold]
    fn rename(&mut self, now_ns: u64) {
        self.collisions += 1;
        // Who was never heard under a name does not take leave of it (section 6.3.7).
        if std::mem::take(&mut self.used) && self.abandoned.len() < MAX_COUNT {
            self.abandoned.push(self.ssrc);
            self.urgent_ns.get_or_insert(now_ns);
        }
        let mut ssrc = self.chance.random();
        // The table is bounded, so that a free one is near.
        while ssrc == self.ssrc || self.sources.get(ssrc).is_some() {
            ssrc = ssrc.wrapping_add(1);
        }
        self.ssrc = ssrc;
        self.sender.count_anew();
    }

    /// NTP timestamp of a time of the session [1/2^32 s].
    fn ntp_timestamp(&self, now_ns: u64) -> u64 {
        ntp::from_unix_ns(self.config.unix_ns_at_zero.saturating_add(now_ns))
    }
}

fn check(config: &Config) -> Result<(), ProtoError> {
    let refuse = |what, found, rule| Err(ProtoError::Forbidden { what, found, rule });
    if config.payload_type > 127 {
        return refuse("payload type", u64::from(config.payload_type), "it has 7 bits");
    }
    match config.cname.len() {
        1..=255 => Ok(()),
        bytes => refuse("size of a canonical name", bytes as u64, "it has 1 to 255 B"),
    }
}

/// Size of a datagram with the headers below it [B].
fn wire_bytes(datagram_bytes: usize) -> u32 {
    u32::try_from(datagram_bytes + UDP_IP_BYTES).unwrap_or(u32::MAX)
}

/// The items that describe us.
fn items(cname: &str) -> [Item<'_>; 1] {
    [Item::Cname(cname.as_bytes())]
}
