//! The table of synchronization sources, [RFC 3550 sections 6.2.1, 6.3.3 to 6.3.5 and 8.2](https://www.rfc-editor.org/rfc/rfc3550#section-6.2.1).
//!
//! ```text
//! packet, SSRC ──► known? ──┬─ at another address ──► refused
//!                           ├─ yes ──► probation ──► member ──► goodbye or silence [ns] ──► forgotten
//!                           └─ no ───► place ──────┘
//!                                        └─ none free: the oldest on probation, or gone, makes room; never a member
//! ```

mod conflicts;
mod source;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::ops::Bound::{Excluded, Unbounded};

pub(super) use conflicts::{Conflict, Conflicts};
pub(super) use source::Way;
pub use source::{LastReport, Source};

use source::Standing;

use super::sequence::Arrival;
use super::{Packet, Refused};
use crate::rtcp::ReportBlock;
use crate::rtcp::xr::Delay;

/// Most sources of a session. Each takes less than a kilobyte, so that the table stays below a megabyte whatever
/// is sent; 31 blocks every five seconds go around as many senders in three minutes, which is as long as a report
/// is worth something.
pub const MAX_SOURCES: usize = 1024;

/// Time for which a source that said goodbye is remembered [ns], so that its packets that were overtaken do not
/// make it new: longer than any path, and the least interval of reports.
const GOODBYE_LINGER_NS: u64 = 5_000_000_000;

/// The sources that were heard. One participant's own is not among them.
#[derive(Clone, Debug)]
pub struct Sources {
    slots: Vec<Source>,
    /// Slot of each source.
    index: BTreeMap<u32, usize>,
    /// Sources that may make room, those on probation and those that are gone, oldest first.
    evictable: VecDeque<u32>,
    /// Slot of the source that was heard last.
    last: usize,
    members: u32,
    senders: u32,
    min_sequential: u8,
    /// Source of the last block, and of the last delay, behind which the next report goes on.
    block_cursor: u32,
    delay_cursor: u32,
}

impl Sources {
    /// An empty table; `min_sequential` packets in sequence make a member, see
    /// [`Sequence::new`](super::sequence::Sequence::new).
    pub(super) fn new(min_sequential: u8) -> Self {
        Self {
            slots: Vec::new(),
            index: BTreeMap::new(),
            evictable: VecDeque::new(),
            last: 0,
            members: 0,
            senders: 0,
            min_sequential,
            block_cursor: 0,
            delay_cursor: 0,
        }
    }

    /// Sources that are believed in and have not left.
    #[must_use]
    pub fn members(&self) -> u32 {
        self.members
    }

    /// Members that sent data lately.
    #[must_use]
    pub fn senders(&self) -> u32 {
        self.senders
    }

    /// What is known of a source.
    #[must_use]
    pub fn get(&self, ssrc: u32) -> Option<&Source> {
        self.index.get(&ssrc).map(|slot| &self.slots[*slot])
    }

    pub(super) fn get_mut(&mut self, ssrc: u32) -> Option<&mut Source> {
        self.index.get(&ssrc).map(|slot| &mut self.slots[*slot])
    }

    /// All of them, on probation and gone ones too, by their identifiers.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.index.values().map(|slot| &self.slots[*slot])
    }

    /// An RTP packet came.
    #[inline]
    pub(super) fn on_packet(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        packet: &Packet<'_>,
        arrival_ticks: u32,
    ) -> Result<Arrival, Refused> {
        let slot = self.admit(packet.ssrc(), Way::Data, from, now_ns)?;
        let source = &mut self.slots[slot];
        let arrival = source.on_packet(now_ns, packet, arrival_ticks);
        if !source.sends && matches!(arrival, Arrival::Counted(_) | Arrival::Begins(_)) {
            self.begin_to_send(slot);
        }
        Ok(arrival)
    }

    #[cold]
    fn begin_to_send(&mut self, slot: usize) {
        self.believe(slot);
        self.slots[slot].sends = true;
        self.senders += 1;
    }

    /// RTCP came of a source.
    pub(super) fn on_control(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        ssrc: u32,
    ) -> Result<&mut Source, Refused> {
        let slot = self.admit(ssrc, Way::Control, from, now_ns)?;
        let source = &mut self.slots[slot];
        source.last_heard_ns = now_ns;
        Ok(source)
    }

    /// A source was named, which makes it a member.
    pub(super) fn on_cname(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        ssrc: u32,
        cname: &[u8],
    ) -> Result<(), Refused> {
        self.on_control(now_ns, from, ssrc)?.set_cname(cname);
        // The source was found just now, and is the last one.
        self.believe(self.last);
        Ok(())
    }

    /// A source that is believed in says that another contributed to its packet: that is a member, too, if there
    /// is room (section 6.3.3).
    pub(super) fn on_contributor(&mut self, now_ns: u64, ssrc: u32) -> Result<(), Refused> {
        let slot = match self.find(ssrc) {
            Some(slot) => slot,
            None => self.insert(ssrc, now_ns)?,
        };
        if self.slots[slot].is_gone() {
            return Err(Refused::AfterGoodbye);
        }
        self.slots[slot].last_heard_ns = now_ns;
        self.believe(slot);
        Ok(())
    }

    /// A source says goodbye; one that is not known, or on probation, leaves nothing behind (section 6.3.4).
    pub(super) fn on_goodbye(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        ssrc: u32,
    ) -> Result<(), Refused> {
        let Some(slot) = self.find(ssrc) else { return Ok(()) };
        self.slots[slot].come_from(Way::Control, from)?;
        if self.slots[slot].is_member() {
            self.count_out(slot);
            self.slots[slot].standing = Standing::Gone(now_ns);
            self.evictable.push_back(ssrc);
        } else {
            self.remove(slot);
        }
        Ok(())
    }

    /// Forgets who was silent for too long, and who is gone; who sent no data for too long is no sender any more
    /// (section 6.3.5).
    pub(super) fn expire(&mut self, now_ns: u64, member_timeout_ns: u64, sender_timeout_ns: u64) {
        // From the back: what is removed is replaced by what was looked at already.
        for slot in (0..self.slots.len()).rev() {
            let source = &mut self.slots[slot];
            let (since_ns, timeout_ns) = match source.standing {
                Standing::Gone(since_ns) => (since_ns, GOODBYE_LINGER_NS),
                _ => (source.last_heard_ns, member_timeout_ns),
            };
            if now_ns.saturating_sub(since_ns) > timeout_ns {
                self.remove(slot);
            } else if source.sends && now_ns.saturating_sub(source.last_data_ns) > sender_timeout_ns
            {
                source.sends = false;
                self.senders -= 1;
            }
        }
    }

    /// Fills blocks with reports on sources whose data came since they were last reported on, in turns, and
    /// returns how many there are.
    pub(super) fn take_blocks(&mut self, now_ns: u64, blocks: &mut [ReportBlock]) -> usize {
        let mut taken = 0;
        for slot in behind(&self.index, self.block_cursor) {
            let Some(place) = blocks.get_mut(taken) else { break };
            let Some(block) = self.slots[slot].take_block(now_ns) else { continue };
            *place = block;
            self.block_cursor = block.ssrc;
            taken += 1;
        }
        taken
    }

    /// Fills delays with answers to reference times, as [`Sources::take_blocks`].
    pub(super) fn take_delays(&mut self, now_ns: u64, delays: &mut [Delay]) -> usize {
        let mut taken = 0;
        for slot in behind(&self.index, self.delay_cursor) {
            let Some(place) = delays.get_mut(taken) else { break };
            let Some(delay) = self.slots[slot].take_delay(now_ns) else { continue };
            *place = delay;
            self.delay_cursor = delay.ssrc;
            taken += 1;
        }
        taken
    }

    /// The slot of a source at its address, given to it if it is new. On probation a name belongs to who used it
    /// last: a stranger cannot hold it for long.
    #[inline]
    fn admit(
        &mut self,
        ssrc: u32,
        way: Way,
        from: SocketAddr,
        now_ns: u64,
    ) -> Result<usize, Refused> {
        let Some(slot) = self.find(ssrc) else {
            let slot = self.insert(ssrc, now_ns)?;
            self.slots[slot].come_from(way, from)?;
            return Ok(slot);
        };
        let source = &mut self.slots[slot];
        match source.come_from(way, from) {
            Err(Refused::OtherAddress) if source.standing == Standing::Probation => {
                *source = Source::new(ssrc, now_ns, self.min_sequential);
                source.come_from(way, from)?;
            }
            other => other?,
        }
        Ok(slot)
    }

    #[inline]
    fn find(&mut self, ssrc: u32) -> Option<usize> {
        if self.slots.get(self.last).is_none_or(|source| source.ssrc != ssrc) {
            self.last = *self.index.get(&ssrc)?;
        }
        Some(self.last)
    }

    fn insert(&mut self, ssrc: u32, now_ns: u64) -> Result<usize, Refused> {
        if self.slots.len() == MAX_SOURCES {
            let Some(oldest) = self.evictable.front() else { return Err(Refused::TableFull) };
            self.remove(self.index[oldest]);
        }
        self.last = self.slots.len();
        self.slots.push(Source::new(ssrc, now_ns, self.min_sequential));
        self.index.insert(ssrc, self.last);
        self.evictable.push_back(ssrc);
        Ok(self.last)
    }

    /// Makes a member of a source on probation.
    fn believe(&mut self, slot: usize) {
        if self.slots[slot].standing == Standing::Probation {
            self.slots[slot].believe();
            self.members += 1;
            self.keep(self.slots[slot].ssrc);
        }
    }

    fn remove(&mut self, slot: usize) {
        if self.slots[slot].is_member() {
            self.count_out(slot);
        } else {
            self.keep(self.slots[slot].ssrc);
        }
        let removed = self.slots.swap_remove(slot);
        self.index.remove(&removed.ssrc);
        if let Some(moved) = self.slots.get(slot) {
            self.index.insert(moved.ssrc, slot);
        }
    }

    /// Takes a source out of those that may make room.
    fn keep(&mut self, ssrc: u32) {
        if let Some(place) = self.evictable.iter().position(|evictable| *evictable == ssrc) {
            self.evictable.remove(place);
        }
    }

    fn count_out(&mut self, slot: usize) {
        self.members -= 1;
        self.senders -= u32::from(std::mem::take(&mut self.slots[slot].sends));
    }
}

/// Slots in the order of their sources, from the one behind this, around to it.
fn behind(index: &BTreeMap<u32, usize>, ssrc: u32) -> impl Iterator<Item = usize> {
    index.range((Excluded(ssrc), Unbounded)).chain(index.range(..=ssrc)).map(|(_, slot)| *slot)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rtp::Header;
    use crate::rtp::sequence::MIN_SEQUENTIAL;

    const S: u64 = 1_000_000_000;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    fn table() -> Sources {
        Sources::new(MIN_SEQUENTIAL)
    }

    fn data(
        sources: &mut Sources,
        (now_ns, port): (u64, u16),
        ssrc: u32,
        sequence: u16,
    ) -> Result<Arrival, Refused> {
        let mut buffer = [0; 12];
        Header::new(0, sequence, 0, ssrc).write_header(&mut buffer).unwrap();
        sources.on_packet(now_ns, address(port), &Packet::parse(&buffer).unwrap(), 0)
    }

    /// A source that sends: two packets, the second of which is taken.
    fn two(sources: &mut Sources) {
        assert_eq!(data(sources, (0, 1), 7, 1), Ok(Arrival::OnProbation));
        assert!(matches!(data(sources, (0, 1), 7, 2), Ok(Arrival::Begins(_))));
    }

    /// Makes members of so many sources by their names.
    fn name(sources: &mut Sources, first: u32, count: usize) {
        for ssrc in (first..).take(count) {
            sources.on_cname(0, address(1), ssrc, b"a").unwrap();
        }
    }

    /// Everything that the counts and lists say of one another.
    fn check(sources: &Sources) {
        let count = |is: fn(&&Source) -> bool| sources.slots.iter().filter(is).count();
        assert_eq!(sources.members as usize, count(|source| source.is_member()));
        assert_eq!(sources.senders as usize, count(|source| source.sends));
        assert!(sources.slots.iter().all(|source| source.is_member() || !source.sends));
        assert!(sources.slots.len() <= MAX_SOURCES && sources.index.len() == sources.slots.len());
        assert_eq!(sources.evictable.len(), count(|source| !source.is_member()));
        for (ssrc, slot) in &sources.index {
            assert_eq!(sources.slots[*slot].ssrc, *ssrc);
            let listed = sources.evictable.contains(ssrc);
            assert_eq!(listed, !sources.slots[*slot].is_member());
        }
    }

    #[test]
    fn two_packets_in_sequence_or_a_name_make_a_member() {
        let mut sources = table();
        assert_eq!(data(&mut sources, (0, 1), 7, 1), Ok(Arrival::OnProbation));
        assert_eq!((sources.members(), sources.senders()), (0, 0));
        assert!(matches!(data(&mut sources, (0, 1), 7, 2), Ok(Arrival::Begins(_))));
        assert_eq!((sources.members(), sources.senders()), (1, 1));
        sources.on_control(0, address(2), 8).unwrap();
        assert_eq!(sources.members(), 1);
        sources.on_cname(0, address(2), 8, b"somebody").unwrap();
        assert_eq!((sources.members(), sources.senders()), (2, 1));
        assert_eq!(sources.get(8).and_then(Source::cname), Some(&b"somebody"[..]));
        check(&sources);
    }

    #[test]
    fn who_was_named_needs_no_other_proof_and_its_first_packet_is_taken() {
        let mut sources = table();
        assert_eq!(data(&mut sources, (0, 1), 7, 1), Ok(Arrival::OnProbation));
        sources.on_cname(0, address(2), 7, b"a").unwrap();
        assert!(matches!(data(&mut sources, (0, 1), 7, 9), Ok(Arrival::Begins(_))));
        assert_eq!((sources.members(), sources.senders()), (1, 1));
    }

    #[test]
    fn a_member_is_heard_from_its_address_only_and_data_and_reports_have_one_each() {
        let mut sources = table();
        two(&mut sources);
        sources.on_cname(0, address(2), 7, b"a").unwrap();
        assert_eq!(data(&mut sources, (0, 2), 7, 3), Err(Refused::OtherAddress));
        assert_eq!(sources.on_goodbye(0, address(1), 7), Err(Refused::OtherAddress));
        assert_eq!(sources.on_cname(0, address(3), 7, b"b"), Err(Refused::OtherAddress));
        let source = sources.get(7).unwrap();
        assert_eq!((source.packets(), source.cname()), (1, Some(&b"a"[..])));
        assert_eq!(source.data_address(), Some(address(1)));
        assert_eq!(source.control_address(), Some(address(2)));
    }

    #[test]
    fn on_probation_a_name_belongs_to_who_used_it_last() {
        let mut sources = table();
        for (port, sequence) in [(1, 1), (2, 10), (2, 11)] {
            let _ = data(&mut sources, (0, port), 7, sequence);
        }
        assert_eq!(sources.get(7).unwrap().data_address(), Some(address(2)));
        assert_eq!(sources.members(), 1);
        check(&sources);
    }

    #[test]
    fn who_said_goodbye_is_no_member_and_its_late_packets_do_not_bring_it_back() {
        let mut sources = table();
        two(&mut sources);
        sources.on_goodbye(S, address(2), 7).unwrap();
        assert_eq!((sources.members(), sources.senders()), (0, 0));
        assert_eq!(data(&mut sources, (S, 1), 7, 3), Err(Refused::AfterGoodbye));
        assert_eq!(sources.on_contributor(S, 7), Err(Refused::AfterGoodbye));
        check(&sources);
        sources.expire(6 * S, 25 * S, 10 * S);
        assert!(sources.get(7).is_some());
        sources.expire(6 * S + 1, 25 * S, 10 * S);
        assert!(sources.get(7).is_none());
        sources.on_control(6 * S, address(2), 8).unwrap();
        sources.on_goodbye(6 * S, address(2), 8).unwrap();
        assert!(sources.get(8).is_none(), "on probation");
        check(&sources);
    }

    #[test]
    fn the_silent_are_forgotten_and_who_sends_no_data_is_no_sender() {
        let mut sources = table();
        two(&mut sources);
        sources.on_control(9 * S, address(2), 7).unwrap();
        sources.expire(10 * S, 25 * S, 10 * S);
        assert_eq!((sources.members(), sources.senders()), (1, 1));
        sources.expire(10 * S + 1, 25 * S, 10 * S);
        assert_eq!((sources.members(), sources.senders()), (1, 0));
        sources.expire(34 * S + 1, 25 * S, 10 * S);
        assert_eq!(sources.iter().count(), 0);
        check(&sources);
    }

    #[test]
    fn a_table_full_of_members_takes_nobody_and_those_who_left_make_room() {
        let mut sources = table();
        name(&mut sources, 0, MAX_SOURCES);
        assert_eq!(data(&mut sources, (0, 1), 5000, 1), Err(Refused::TableFull));
        assert_eq!(sources.on_contributor(0, 5000), Err(Refused::TableFull));
        assert_eq!(sources.members() as usize, MAX_SOURCES);
        sources.on_goodbye(0, address(1), 3).unwrap();
        assert_eq!(data(&mut sources, (0, 1), 5000, 1), Ok(Arrival::OnProbation));
        assert!(sources.get(3).is_none());
        check(&sources);
    }

    #[test]
    fn a_source_with_the_longest_name_takes_less_than_a_kilobyte() {
        assert!(size_of::<Source>() + 255 < 1024, "{} B", size_of::<Source>());
    }

    #[test]
    fn the_oldest_on_probation_makes_room() {
        let mut sources = table();
        name(&mut sources, 0, MAX_SOURCES - 2);
        for (ssrc, known) in [(5000, [5000, 5000]), (5001, [5000, 5001]), (5002, [5001, 5002])] {
            let _ = data(&mut sources, (0, 1), ssrc, 1);
            assert!(known.iter().all(|ssrc| sources.get(*ssrc).is_some()));
        }
        assert!(sources.get(5000).is_none());
        check(&sources);
    }

    #[test]
    fn reports_go_around_all_sources_and_leave_out_the_silent() {
        let mut sources = Sources::new(1);
        let mut blocks = [ReportBlock::default(); 31];
        let mut reported = |sources: &mut Sources| {
            let count = sources.take_blocks(0, &mut blocks);
            blocks[..count].iter().map(|block| block.ssrc).collect::<Vec<_>>()
        };
        for sequence in 0..2 {
            for ssrc in 0..40 {
                data(&mut sources, (0, 1), ssrc, sequence).unwrap();
            }
            let first = (1..40).chain([0]).cycle().skip(31 * usize::from(sequence));
            assert_eq!(reported(&mut sources), first.take(31).collect::<Vec<_>>());
        }
        assert_eq!(reported(&mut sources).len(), 9);
        assert_eq!(reported(&mut sources).len(), 0);
    }

    #[test]
    fn a_reference_time_is_answered_once_with_the_time_that_passed() {
        let mut sources = table();
        name(&mut sources, 7, 1);
        sources.get_mut(7).unwrap().on_reference_time(S, 0x0001_0002_0003_0004);
        let mut delays = [Delay::default(); 2];
        assert_eq!(sources.take_delays(3 * S, &mut delays), 1);
        let answer = Delay { ssrc: 7, last_rr: 0x0002_0003, delay_since_last_rr: 2 << 16 };
        assert_eq!(delays[0], answer);
        assert_eq!(sources.take_delays(3 * S, &mut delays), 0);
    }

    proptest! {
        #[test]
        fn counts_and_lists_agree_whatever_happens(
            events in prop::collection::vec((0_u8..6, 0_u32..40, 0_u16..3, 0_u16..4), 0..200),
        ) {
            let (mut sources, mut now_ns) = (table(), 0);
            name(&mut sources, 100, MAX_SOURCES - 20);
            for (event, ssrc, port, sequence) in events {
                now_ns += S / 2;
                let from = address(port);
                let _taken = match event {
                    0 => data(&mut sources, (now_ns, port), ssrc, sequence).is_ok(),
                    1 => sources.on_cname(now_ns, from, ssrc, b"a").is_ok(),
                    2 => sources.on_goodbye(now_ns, from, ssrc).is_ok(),
                    3 => sources.on_contributor(now_ns, ssrc).is_ok(),
                    4 => sources.on_control(now_ns, from, ssrc).is_ok(),
                    _ => {
                        sources.expire(now_ns, u64::from(ssrc) * S, 2 * S);
                        true
                    }
                };
                check(&sources);
            }
        }
    }
}
