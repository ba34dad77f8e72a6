//! What a participant hears, [RFC 3550 sections 6.2 to 6.4 and 8.2](https://www.rfc-editor.org/rfc/rfc3550#section-6.2).
//!
//! ```text
//! datagram ──► packet ──► our own name? ──► source at its address ──► number, payload
//!          └─► compound ─► each packet, the same way ──► last SR, report on us, name, goodbye, round trip
//! ```

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use super::{Session, wire_bytes};
use crate::ProtoError;
use crate::rtcp::xr::{Block, ExtendedReport};
use crate::rtcp::{Compound, Goodbye, Item, ReportBlock, RtcpPacket, SourceDescription, ntp};
use crate::rtp::sequence::Arrival;
use crate::rtp::sources::{Conflict, Source};
use crate::rtp::{Packet, Refused};

/// Payload types that, behind a marker, have the byte of RTCP's packets 200 to 204; nothing else uses them
/// ([RFC 3551 section 6](https://www.rfc-editor.org/rfc/rfc3551#section-6)).
const RTCP_LOOKALIKES: RangeInclusive<u8> = 72..=76;

/// A packet that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The packet, its payload among it.
    pub packet: Packet<'a>,
    /// Its number without wraps; one that was seen already is a duplicate, which a jitter buffer refuses.
    pub number: u64,
    /// Whether a run begins with it, the first or another: numbers before it are of no use any more.
    pub begins: bool,
}

impl Session {
    /// Takes an RTP datagram, or says why not.
    ///
    /// # Errors
    /// Every reason is counted, see [`Session::refusals`].
    #[inline]
    pub fn handle_rtp<'a>(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        datagram: &'a [u8],
    ) -> Result<Received<'a>, Refused> {
        let received = self.receive(now_ns, from, datagram);
        if let Err(why) = &received {
            self.refusals.count(why);
        }
        received
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        datagram: &'a [u8],
    ) -> Result<Received<'a>, Refused> {
        let packet = Packet::parse(datagram).map_err(Refused::Malformed)?;
        if packet.marker() && RTCP_LOOKALIKES.contains(&packet.payload_type()) {
            return Err(Refused::Malformed(looks_like_rtcp(&packet)));
        }
        self.tell_apart(now_ns, from, packet.ssrc())?;
        let arrival_ticks = self.config.clock_rate.ticks(now_ns);
        let (number, begins) = match self.sources.on_packet(now_ns, from, &packet, arrival_ticks)? {
            Arrival::Counted(number) => (number, false),
            Arrival::Begins(number) => (number, true),
            Arrival::OnProbation => return Err(Refused::OnProbation),
            Arrival::Jumped => return Err(Refused::Jumped),
        };
        for csrc in packet.csrcs().filter(|csrc| *csrc != self.ssrc) {
            if let Err(why) = self.sources.on_contributor(now_ns, csrc) {
                self.refusals.count(&why);
            }
        }
        Ok(Received { packet, number, begins })
    }

    /// Takes an RTCP datagram. Packets of it that contradict themselves, or are refused, are counted and passed
    /// over.
    ///
    /// # Errors
    /// When it is no compound.
    pub fn handle_rtcp(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        datagram: &[u8],
    ) -> Result<(), Refused> {
        let compound = Compound::parse(datagram).map_err(Refused::Malformed);
        let compound = compound.inspect_err(|why| self.refusals.count(why))?;
        let mut says_goodbye = false;
        for packet in compound.packets() {
            says_goodbye |= matches!(packet, Ok(RtcpPacket::Goodbye(_)));
            let taken = packet.map_err(Refused::Malformed);
            if let Err(why) = taken.and_then(|packet| self.on_rtcp(now_ns, from, &packet)) {
                self.refusals.count(&why);
            }
        }
        let bytes = wire_bytes(datagram.len());
        if says_goodbye {
            self.scheduler.on_goodbye(now_ns, bytes, self.counts(now_ns).members);
        } else {
            self.scheduler.on_rtcp(bytes);
        }
        Ok(())
    }

    fn on_rtcp(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        packet: &RtcpPacket<'_>,
    ) -> Result<(), Refused> {
        match packet {
            RtcpPacket::SenderReport(report) => {
                let source = self.hear(now_ns, from, report.ssrc())?;
                source.on_sender_info(now_ns, report.sender_info());
                self.on_blocks(now_ns, report.ssrc(), report.blocks());
            }
            RtcpPacket::ReceiverReport(report) => {
                self.hear(now_ns, from, report.ssrc())?;
                self.on_blocks(now_ns, report.ssrc(), report.blocks());
            }
            RtcpPacket::SourceDescription(sdes) => self.on_description(now_ns, from, sdes),
            RtcpPacket::Goodbye(goodbye) => self.on_goodbye(now_ns, from, goodbye),
            RtcpPacket::ExtendedReport(report) => {
                self.on_extended_report(now_ns, from, report)?;
            }
            RtcpPacket::App(_) | RtcpPacket::Other { .. } => {}
        }
        Ok(())
    }

    fn hear(&mut self, now_ns: u64, from: SocketAddr, ssrc: u32) -> Result<&mut Source, Refused> {
        self.tell_apart(now_ns, from, ssrc)?;
        self.sources.on_control(now_ns, from, ssrc)
    }

    fn on_blocks(&mut self, now_ns: u64, from: u32, mut blocks: impl Iterator<Item = ReportBlock>) {
        let arrival = ntp::middle(self.ntp_timestamp(now_ns));
        let about_us = blocks.find(|block| block.ssrc == self.ssrc);
        if let (Some(block), Some(source)) = (about_us, self.sources.get_mut(from)) {
            source.on_block_about_us(arrival, block);
        }
    }

    fn on_description(&mut self, now_ns: u64, from: SocketAddr, sdes: &SourceDescription<'_>) {
        for item in sdes.items() {
            let taken = match item {
                Ok((ssrc, Item::Cname(cname))) if !cname.is_empty() => self
                    .tell_apart(now_ns, from, ssrc)
                    .and_then(|()| self.sources.on_cname(now_ns, from, ssrc, cname)),
                Ok(_) => Ok(()),
                Err(why) => Err(Refused::Malformed(why)),
            };
            if let Err(why) = taken {
                self.refusals.count(&why);
            }
        }
    }

    /// Nobody says goodbye for us: such a one is our own that came back, or forged.
    fn on_goodbye(&mut self, now_ns: u64, from: SocketAddr, goodbye: &Goodbye<'_>) {
        for ssrc in goodbye.sources() {
            let taken = if ssrc == self.ssrc {
                Err(Refused::OwnName)
            } else {
                self.sources.on_goodbye(now_ns, from, ssrc)
            };
            if let Err(why) = taken {
                self.refusals.count(&why);
            }
        }
    }

    fn on_extended_report(
        &mut self,
        now_ns: u64,
        from: SocketAddr,
        report: &ExtendedReport<'_>,
    ) -> Result<(), Refused> {
        self.hear(now_ns, from, report.ssrc())?;
        let arrival = ntp::middle(self.ntp_timestamp(now_ns));
        let Some(source) = self.sources.get_mut(report.ssrc()) else { return Ok(()) };
        for block in report.blocks() {
            match block.map_err(Refused::Malformed)? {
                Block::ReferenceTime(time) => source.on_reference_time(now_ns, time),
                Block::Delays(delays) => {
                    let about_us = delays.iter().find(|delay| delay.ssrc == self.ssrc);
                    about_us.into_iter().for_each(|delay| source.on_delay_about_us(arrival, delay));
                }
                Block::LossRle(_) | Block::VoipMetrics(_) | Block::Other { .. } => {}
            }
        }
        Ok(())
    }

    /// Whether a packet is somebody else's. With our own name it is, from an address where we did not meet that
    /// before: then we take another, and theirs is that of a source like any other (section 8.2). A network that
    /// brings our packets back costs one change of name.
    #[inline]
    fn tell_apart(&mut self, now_ns: u64, from: SocketAddr, ssrc: u32) -> Result<(), Refused> {
        if ssrc != self.ssrc {
            return Ok(());
        }
        match self.conflicts.on_own_name(now_ns, from) {
            Conflict::Collision => self.rename(now_ns),
            Conflict::Loop => return Err(Refused::OwnName),
        }
        Ok(())
    }
}

#[cold]
fn looks_like_rtcp(packet: &Packet<'_>) -> ProtoError {
    ProtoError::Forbidden {
        what: "payload type behind a marker",
        found: u64::from(packet.payload_type()),
        rule: "72 to 76 are RTCP's",
    }
}
