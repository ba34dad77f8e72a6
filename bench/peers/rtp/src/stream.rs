//! What all libraries are given: streams of packets, audio, compounds.

use bitpath_proto::rtcp::{Item, ReportBlock, SenderInfo, Writer};
use bitpath_proto::rtp::{Extension, Header};
use bytes::Bytes;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Packets of 4 MiB of audio, the paper's input: more than the second-level cache holds, as in life.
pub const PACKETS: usize = 26_214;

/// Audio of one packet [B]: 20 ms at 8 kHz.
pub const UNIT_BYTES: usize = 160;

/// The clock of its timestamps [Hz].
pub const CLOCK_HZ: u32 = 8000;

/// Source of the packets.
pub const SSRC: u32 = 1;

/// Packets that change places among each other: none, a few, more than wait in a jitter buffer at a time.
pub const DISORDER: [(&str, usize); 3] =
    [("in order", 1), ("slightly out", 4), ("largely out", 48)];

/// Packets that wait for those that they overtook.
pub const THRESHOLD: usize = 64;

/// Reports and compounds of a pass: enough that the clock's steps do not show.
pub const REPORTS: usize = 4096;

/// Chance of the disorder, the same in every run.
const SEED: u64 = 2004;

/// A second of this century [s since 1900].
const NTP_SECONDS: u32 = 0xe000_0000;

/// An extension of two elements, of one and of three bytes.
const TWO_ELEMENTS: Extension<'_> =
    Extension { profile: 0xbede, data: &[0x10, 0xaa, 0x22, 1, 2, 3, 0, 0] };

/// Packets of one size, one behind the other. Shared bytes, for libraries that keep a count of references.
pub struct Stream {
    bytes: Bytes,
    packet_bytes: usize,
}

impl Stream {
    /// Packets of bare headers, of which as many as `disorder` says change places.
    #[must_use]
    pub fn plain(disorder: usize) -> Self {
        Self::new(None, disorder)
    }

    /// Packets in order, with elements in a header extension.
    #[must_use]
    pub fn extended() -> Self {
        Self::new(Some(TWO_ELEMENTS), 1)
    }

    fn new(extension: Option<Extension<'_>>, disorder: usize) -> Self {
        let mut numbers: Vec<usize> = (0..PACKETS).collect();
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        numbers.chunks_mut(disorder).for_each(|some| some.shuffle(&mut random));
        let packet_bytes = Header { extension, ..Header::new(0, 0, 0, SSRC) }.bytes() + UNIT_BYTES;
        let mut bytes = vec![0; PACKETS * packet_bytes];
        let audio = audio();
        for (number, place) in numbers.into_iter().zip(bytes.chunks_mut(packet_bytes)) {
            let sequence = u16::try_from(number % 65_536).unwrap_or(0);
            let timestamp = u32::try_from(number * UNIT_BYTES).unwrap_or(0);
            let header = Header { extension, ..Header::new(0, sequence, timestamp, SSRC) };
            let unit = &audio[number * UNIT_BYTES..][..UNIT_BYTES];
            header.write(place, unit).expect("there is room for a packet");
        }
        Self { bytes: bytes.into(), packet_bytes }
    }

    /// Packets in their order of arrival.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.packet_bytes)
    }

    /// The same, each with a count of references and no copy.
    pub fn shared(&self) -> impl Iterator<Item = Bytes> {
        let ends = (0..self.bytes.len()).step_by(self.packet_bytes);
        ends.map(|at| self.bytes.slice(at..at + self.packet_bytes))
    }

    /// Arrivals 20 ms apart on the media's clock, whatever the order of the packets [ticks].
    pub fn arrival_ticks() -> impl Iterator<Item = u32> {
        (0_u32..).step_by(UNIT_BYTES)
    }
}

/// The units one behind the other.
#[must_use]
pub fn audio() -> Bytes {
    (0..PACKETS * UNIT_BYTES).map(|at| (at * 7 + at / UNIT_BYTES) as u8).collect()
}

/// Blocks of receiver reports, no two alike.
#[must_use]
pub fn blocks() -> Vec<ReportBlock> {
    let numbers = (0_u8..=255).cycle().zip(0..).take(REPORTS);
    numbers
        .map(|(fraction_lost, number)| ReportBlock {
            ssrc: SSRC + number,
            fraction_lost,
            cumulative_lost: number.cast_signed(),
            extended_highest: 65_536 + number,
            jitter_ticks: number * 3,
            last_sr: number << 16,
            delay_since_last_sr: number * 5,
        })
        .collect()
}

/// Sender report, description and goodbye in a datagram, one for each block.
#[must_use]
pub fn compounds() -> Vec<Bytes> {
    blocks().into_iter().map(compound).collect()
}

fn compound(block: ReportBlock) -> Bytes {
    let ssrc = block.ssrc + 7;
    let info = SenderInfo {
        ntp_timestamp: u64::from(NTP_SECONDS + ssrc) << 32 | 0x8000_0000,
        rtp_timestamp: ssrc * 160,
        packets: ssrc,
        payload_bytes: ssrc * 160,
    };
    let mut buffer = [0; 200];
    let mut writer = Writer::new(&mut buffer);
    let written = writer
        .sender_report(ssrc, &info, &[block])
        .and_then(|()| writer.source_description(&[(ssrc, &[Item::Cname(b"user@host.example")])]))
        .and_then(|()| writer.goodbye(&[ssrc], b"end of the film"));
    written.expect("there is room for a compound");
    Bytes::copy_from_slice(writer.written())
}
