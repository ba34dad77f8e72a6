//! Captures: files of packets with the times that they were seen, as tcpdump, Wireshark and others write them. The
//! suite's programs pass packets to each other in such files, and any program can join that reads one.
//!
//! ```text
//! pcap, pcapng ──► Ethernet, Linux cooked, raw IP ──► UDP ──► datagrams [ns, addresses, bytes]
//! ```

mod write;

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::path::Path;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use pcap_parser::pcapng::{EnhancedPacketBlock, InterfaceDescriptionBlock};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, LegacyPcapBlock, Linktype, PcapBlockOwned, PcapError, create_reader};

use crate::BenchError;
pub use write::CaptureWriter;

/// Room for one record of a capture [B]: the largest packet of IP, and what belongs to it.
const RECORD_BYTES: usize = 1 << 18;

/// Units of time in a second where a capture does not say: microseconds.
const MICROSECONDS: u64 = 1_000_000;

/// UDP datagrams in their order in the file.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// What the datagrams carry, one behind the other.
    bytes: Vec<u8>,
    datagrams: Vec<Datagram>,
    /// Packets that are no whole datagram of UDP [packets].
    skipped: usize,
}

/// One datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// When it was seen, since the beginning of 1970 [ns].
    pub at_ns: u64,
    /// Who sent it.
    pub source: SocketAddr,
    /// Who was to have it.
    pub destination: SocketAddr,
    /// Where its contents lie.
    range: Range<usize>,
}

/// What an interface of a capture says of its packets.
#[derive(Clone, Copy)]
struct Interface {
    link: Linktype,
    units_a_second: u64,
    offset_s: i64,
}

impl Capture {
    /// Reads a capture, pcap or pcapng.
    ///
    /// # Errors
    /// When it cannot be read, or is no capture; with the file and the place.
    pub fn read(path: &Path) -> Result<Self, BenchError> {
        let refuse = |reason: String| BenchError::Capture { path: path.to_owned(), reason };
        let file = fs::read(path).map_err(|error| refuse(error.to_string()))?;
        let mut reader = create_reader(RECORD_BYTES, file.as_slice())
            .map_err(|error| refuse(format!("it is no capture: {error}")))?;
        let mut capture = Self::default();
        let mut interfaces: Vec<Interface> = Vec::new();
        loop {
            match reader.next() {
                Ok((size, block)) => {
                    capture.take(&block, &mut interfaces);
                    reader.consume(size);
                }
                Err(PcapError::Eof) => return Ok(capture),
                Err(PcapError::Incomplete(_)) => {
                    reader.refill().map_err(|error| refuse(error.to_string()))?;
                }
                Err(error) => {
                    let at = capture.datagrams.len();
                    let reason = format!("behind {at} datagrams: {error}");
                    return Err(refuse(reason));
                }
            }
        }
    }

    fn take(&mut self, block: &PcapBlockOwned<'_>, interfaces: &mut Vec<Interface>) {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let nanoseconds = header.is_nanosecond_precision();
                let units_a_second = if nanoseconds { 1_000_000_000 } else { MICROSECONDS };
                *interfaces = vec![Interface { link: header.network, units_a_second, offset_s: 0 }];
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                interfaces.push(Interface::of(interface));
            }
            PcapBlockOwned::Legacy(packet) => match interfaces.first() {
                Some(interface) => self.legacy(packet, *interface),
                None => self.skipped += 1,
            },
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface =
                    usize::try_from(packet.if_id).ok().and_then(|id| interfaces.get(id));
                match interface {
                    Some(interface) => self.enhanced(packet, *interface),
                    None => self.skipped += 1,
                }
            }
            PcapBlockOwned::NG(_) => {}
        }
    }

    fn legacy(&mut self, packet: &LegacyPcapBlock<'_>, interface: Interface) {
        let at_ns = interface.nanoseconds(u64::from(packet.ts_sec), u64::from(packet.ts_usec));
        let cut = packet.caplen < packet.origlen;
        self.packet(at_ns, interface.link, packet.data, cut);
    }

    fn enhanced(&mut self, packet: &EnhancedPacketBlock<'_>, interface: Interface) {
        let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
        let (seconds, part) = (units / interface.units_a_second, units % interface.units_a_second);
        let seconds = seconds.saturating_add_signed(interface.offset_s);
        let at_ns = interface.nanoseconds(seconds, part);
        self.packet(at_ns, interface.link, packet.packet_data(), packet.truncated());
    }

    fn packet(&mut self, at_ns: u64, link: Linktype, bytes: &[u8], cut: bool) {
        let datagram = if cut { None } else { udp(link, bytes) };
        let Some((source, destination, payload)) = datagram else {
            self.skipped += 1;
            return;
        };
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        let range = begin..self.bytes.len();
        self.datagrams.push(Datagram { at_ns, source, destination, range });
    }

    /// The datagrams and what they carry.
    pub fn datagrams(&self) -> impl ExactSizeIterator<Item = (&Datagram, &[u8])> {
        self.datagrams.iter().map(|datagram| (datagram, &self.bytes[datagram.range.clone()]))
    }

    /// Packets that are no whole datagram of UDP [packets].
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

impl Interface {
    fn of(interface: &InterfaceDescriptionBlock<'_>) -> Self {
        Self {
            link: interface.linktype,
            units_a_second: interface.ts_resolution().unwrap_or(MICROSECONDS).max(1),
            offset_s: interface.ts_offset(),
        }
    }

    /// Nanoseconds since 1970.
    fn nanoseconds(self, seconds: u64, units: u64) -> u64 {
        let part = u128::from(units) * 1_000_000_000 / u128::from(self.units_a_second);
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(part).unwrap_or(0))
    }
}

/// Addresses and contents of a packet that holds a whole datagram of UDP.
fn udp(link: Linktype, bytes: &[u8]) -> Option<(SocketAddr, SocketAddr, &[u8])> {
    let packet = match link {
        Linktype::ETHERNET => SlicedPacket::from_ethernet(bytes),
        Linktype::LINUX_SLL => SlicedPacket::from_linux_sll(bytes),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => SlicedPacket::from_ip(bytes),
        _ => return None,
    }
    .ok()?;
    let (from, to): (IpAddr, IpAddr) = match packet.net? {
        NetSlice::Ipv4(ip) => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into())
        }
        NetSlice::Ipv6(ip) => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into())
        }
        NetSlice::Arp(_) => return None,
    };
    // A fragment of IP has no transport here.
    let Some(TransportSlice::Udp(udp)) = packet.transport else { return None };
    let source = SocketAddr::new(from, udp.source_port());
    Some((source, SocketAddr::new(to, udp.destination_port()), udp.payload()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(packets: &[(u64, &[u8])]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [from, to] = ["10.0.0.1:5004", "10.0.0.2:5006"].map(|address| address.parse().unwrap());
        let mut writer = CaptureWriter::create(file.path(), from, to).unwrap();
        packets.iter().for_each(|(at_ns, bytes)| writer.add(*at_ns, bytes).unwrap());
        writer.finish().unwrap();
        file
    }

    #[test]
    fn what_is_written_is_read_again_to_the_nanosecond() {
        let packets: [(u64, &[u8]); 3] = [
            (7, b"one"),
            (1_700_000_000_123_456_789, b""),
            (1_700_000_001_000_000_000, &[9; 1472]),
        ];
        let file = written(&packets);
        let capture = Capture::read(file.path()).unwrap();
        let found: Vec<(u64, &[u8])> =
            capture.datagrams().map(|(datagram, bytes)| (datagram.at_ns, bytes)).collect();
        assert_eq!(found, packets);
        let (first, _) = capture.datagrams().next().unwrap();
        assert_eq!(
            (first.source.to_string(), first.destination.port()),
            ("10.0.0.1:5004".into(), 5006)
        );
        assert_eq!(capture.skipped(), 0);
    }

    #[test]
    fn a_file_cut_anywhere_is_refused_or_ends_behind_a_whole_packet() {
        let file = written(&[(1, b"first"), (2, b"second")]);
        let whole = fs::read(file.path()).unwrap();
        for cut in 0..whole.len() {
            fs::write(file.path(), &whole[..cut]).unwrap();
            match Capture::read(file.path()) {
                Ok(capture) => assert!([24, 24 + 16 + 33].contains(&cut), "{cut}: {capture:?}"),
                Err(error) => assert!(error.to_string().contains("capture"), "{cut}: {error}"),
            }
        }
    }

    #[test]
    fn a_file_that_is_none_is_refused_by_name() {
        let missing = Capture::read(Path::new("/nowhere/at.pcap")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read the capture /nowhere/at.pcap: "), "{missing}");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [7; 1000]).unwrap();
        let other = Capture::read(file.path()).unwrap_err().to_string();
        assert!(other.contains("it is no capture"), "{other}");
    }
}
