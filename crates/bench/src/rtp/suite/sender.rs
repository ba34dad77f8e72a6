//! The sender (section III-A): audio read unit by unit, each made a packet, each packet written.

use bitpath_proto::ProtoError;
use bitpath_proto::rtp::Header;

use super::{
    FIRST_SEQUENCE, FIRST_TIMESTAMP, OUTPUT_BYTES, SSRC, START_NS, UNIT_BYTES, UNIT_NS, UNIT_TICKS,
};
use crate::BenchError;
use crate::rtp::capture::CaptureWriter;

/// Payload type of G.711 with the mu-law (RFC 3551, table 4).
const PCMU: u8 = 0;

/// Where packets go.
#[derive(Debug)]
pub enum Output<'a> {
    /// Memory, one packet behind the other: what is measured.
    Memory(&'a mut Vec<u8>),
    /// A file: the receiver's input.
    File(&'a mut CaptureWriter),
}

/// Sends all of the audio and returns how many packets it took.
///
/// # Errors
/// When the file cannot be written.
#[inline(never)]
pub fn send(audio: &[u8], output: &mut Output<'_>) -> Result<u64, BenchError> {
    let mut unit = [0; UNIT_BYTES];
    let mut packet = [0; OUTPUT_BYTES];
    let mut header = Header::new(PCMU, FIRST_SEQUENCE, FIRST_TIMESTAMP, SSRC);
    header.marker = true;
    let (mut position, mut packets) = (0, 0);
    while let Some(length) = read_unit(audio, &mut position, &mut unit) {
        let size = encapsulate(&mut header, &unit[..length], &mut packet)
            .map_err(|source| BenchError::Packet { number: packets, source })?;
        write_packet(&packet[..size], START_NS + packets * UNIT_NS, output)?;
        packets += 1;
    }
    Ok(packets)
}

/// Reads the next unit of the audio and returns its size [B]; none at the end. The last may be shorter.
#[inline(never)]
fn read_unit(audio: &[u8], position: &mut usize, unit: &mut [u8; UNIT_BYTES]) -> Option<usize> {
    let rest = audio.get(*position..).filter(|rest| !rest.is_empty())?;
    let length = rest.len().min(UNIT_BYTES);
    unit[..length].copy_from_slice(&rest[..length]);
    *position += length;
    Some(length)
}

/// Makes a packet of a unit, sets the header on to the next and returns the packet's size [B].
#[inline(never)]
fn encapsulate(
    header: &mut Header<'_>,
    unit: &[u8],
    packet: &mut [u8; OUTPUT_BYTES],
) -> Result<usize, ProtoError> {
    let size = header.write(packet, unit)?;
    header.marker = false;
    header.sequence = header.sequence.wrapping_add(1);
    header.timestamp = header.timestamp.wrapping_add(UNIT_TICKS);
    Ok(size)
}

#[inline(never)]
fn write_packet(packet: &[u8], at_ns: u64, output: &mut Output<'_>) -> Result<(), BenchError> {
    match output {
        Output::Memory(memory) => {
            memory.extend_from_slice(packet);
            Ok(())
        }
        Output::File(file) => file.add(at_ns, packet),
    }
}

#[cfg(test)]
mod tests {
    use bitpath_proto::rtp::Packet;

    use super::*;

    #[test]
    fn the_audio_is_in_the_packets_and_the_last_is_as_short_as_the_rest() {
        let audio: Vec<u8> = (0..1000_u16).map(|number| number.to_be_bytes()[1]).collect();
        let mut memory = Vec::new();
        assert_eq!(send(&audio, &mut Output::Memory(&mut memory)).unwrap(), 7);
        let packets: Vec<Packet<'_>> =
            memory.chunks(172).map(|packet| Packet::parse(packet).unwrap()).collect();
        let payloads: Vec<u8> =
            packets.iter().flat_map(|packet| packet.payload().to_vec()).collect();
        assert_eq!(payloads, audio);
        assert_eq!(packets[6].payload().len(), 40);
        assert_eq!(
            packets.iter().map(Packet::marker).collect::<Vec<_>>(),
            [[true].as_slice(), &[false; 6]].concat()
        );
        let steps = packets.windows(2).all(|pair| {
            pair[1].sequence() == pair[0].sequence().wrapping_add(1)
                && pair[1].timestamp() == pair[0].timestamp().wrapping_add(UNIT_TICKS)
        });
        assert!(steps, "sequence numbers and timestamps go on by a unit each");
    }
}
