//! What FFmpeg packs is put together again, and is what FFmpeg writes without packing it.
//!
//! ```text
//! ffmpeg: picture or tone ──► encoder ──┬──► elementary stream ───────────────────────┬──► equal
//!                                       └──► RTP packets one behind the other ──► us ─┘
//! ```

use std::io::{self, Write};
use std::process::{Command, Stdio};

use bitpath_proto::rtp::Packet;
use bitpath_proto::rtp::payload::{Arrival, Integrity, Unit, aac, h264, mpeg_ts, mpeg_video, pcm};

/// Synchronization source that FFmpeg is told to use; with the sequence number it shows where a packet begins.
const SSRC: u32 = 0x1234_5678;

/// First sequence number, so that it wraps on the way.
const FIRST_SEQUENCE: u16 = 65_530;

const H264: &str = "-f lavfi -i testsrc=size=320x240:rate=25:duration=2 \
    -c:v libx264 -threads 1 -preset ultrafast -pix_fmt yuv420p -g 10 -bf 0";
const MPEG_2: &str = "-f lavfi -i testsrc=size=320x240:rate=25:duration=2 \
    -c:v mpeg2video -threads 1 -bf 2 -g 12 -b:v 1M";
const MPEG_1: &str = "-f lavfi -i testsrc=size=320x240:rate=25:duration=2 \
    -c:v mpeg1video -threads 1 -bf 2 -g 12 -b:v 1M";
const AAC: &str =
    "-f lavfi -i sine=duration=2:sample_rate=48000 -c:a aac -flags +bitexact -b:a 96k";
const MU_LAW: &str = "-f lavfi -i sine=duration=2:sample_rate=8000 -c:a pcm_mulaw";

/// What a run of FFmpeg writes; nothing, and a word on the terminal, where it cannot be run.
fn written(source: &str, muxer: &str) -> Option<Vec<u8>> {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-nostdin"]).args(source.split_whitespace());
    let run = ffmpeg.args(muxer.split_whitespace()).arg("pipe:1").stdin(Stdio::null()).output();
    match run {
        Ok(out) => {
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            Some(out.stdout)
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "skipped: ffmpeg cannot be run: {error}");
            None
        }
    }
}

/// The elementary stream and the packets of a source.
fn both(source: &str, muxer: &str) -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
    let elementary = written(source, &format!("-f {muxer}"))?;
    let options = "-f rtp -rtpflags skip_rtcp -packetsize 500 -sdp_file /dev/null";
    let wire = written(source, &format!("{options} -ssrc {SSRC} -seq {FIRST_SEQUENCE}"))?;
    Some((elementary, packets(&wire)))
}

/// Cuts packets apart that lie one behind the other.
fn packets(wire: &[u8]) -> Vec<Vec<u8>> {
    let (mut starts, mut sequence) = (Vec::new(), FIRST_SEQUENCE);
    for (at, header) in wire.windows(12).enumerate() {
        if header[0] == 0x80
            && header[2..4] == sequence.to_be_bytes()
            && header[8..] == SSRC.to_be_bytes()
        {
            starts.push(at);
            sequence = sequence.wrapping_add(1);
        }
    }
    assert_eq!(starts.first(), Some(&0));
    let ends = starts.iter().skip(1).copied().chain([wire.len()]);
    starts.iter().zip(ends).map(|(&start, end)| wire[start..end].to_vec()).collect()
}

fn arrival(packet: &[u8]) -> Arrival<'_> {
    Arrival::of(&Packet::parse(packet).expect("a packet of FFmpeg"), false)
}

#[test]
fn h264_of_ffmpeg_comes_in_every_form_of_packet_and_whole() {
    let Some((stream, packets)) = both(H264, "h264") else { return };
    let (mut depacketiser, mut received, mut forms) =
        (h264::Depacketiser::new(), Vec::new(), [0; 32]);
    for packet in &packets {
        let arrival = arrival(packet);
        forms[usize::from(arrival.payload[0] & 0x1f)] += 1;
        let take = |unit: Unit<'_>| {
            assert_eq!(unit.integrity, Integrity::Whole);
            received.extend_from_slice(unit.data);
        };
        depacketiser.handle_payload(&arrival, take).unwrap();
    }
    let expected: Vec<_> = h264::annex_b::units(&stream).collect();
    assert!(h264::annex_b::units(&received).eq(expected.iter().copied()));
    assert!(forms[24] > 0 && forms[28] > 0 && packets.len() > 50, "{forms:?}");
}

#[test]
fn nal_units_are_of_the_types_that_ffmpeg_reads() {
    let Some(stream) = written(H264, "-f h264") else { return };
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-hide_banner", "-nostdin"]).args(H264.split_whitespace());
    // The headers of what the encoder made are traced while it is written to nowhere.
    let traced = ffmpeg.args(["-bsf:v", "trace_headers", "-f", "null", "-"]).output().unwrap();
    let traced = String::from_utf8_lossy(&traced.stderr);
    let types = traced.lines().filter(|line| line.contains(" nal_unit_type "));
    let expected: Vec<u8> =
        types.filter_map(|line| line.rsplit("= ").next()?.trim().parse().ok()).collect();
    let found: Vec<_> = h264::annex_b::units(&stream).map(|unit| unit[0] & 0x1f).collect();
    // The trace has the encoder's parameter sets once more, from before the first picture.
    assert!(expected.ends_with(&found), "{} of {}", found.len(), expected.len());
    assert!(found.len() > 50);
}

#[test]
fn mpeg_video_of_ffmpeg_comes_whole() {
    for (source, muxer) in [(MPEG_2, "mpeg2video"), (MPEG_1, "mpeg1video")] {
        let Some((stream, packets)) = both(source, muxer) else { return };
        let (mut depacketiser, mut received, mut pictures) =
            (mpeg_video::Depacketiser::new(), Vec::new(), 0);
        for packet in &packets {
            let taken = depacketiser.handle_payload(&arrival(packet), |unit| {
                assert_eq!(unit.integrity, Integrity::Whole);
                received.extend_from_slice(unit.data);
                pictures += 1;
            });
            taken.unwrap();
        }
        assert!(received == stream, "{muxer}: {} of {} B", received.len(), stream.len());
        assert!(pictures == 50 && packets.len() > 100, "{pictures} of {}", packets.len());
    }
}

/// FFmpeg leaves the vectors 0, and all of it for a picture of one packet.
#[test]
fn headers_of_mpeg_video_say_what_ffmpegs_say() {
    let Some((_, packets)) = both(MPEG_2, "mpeg2video") else { return };
    let packetiser = mpeg_video::Packetiser::new(500).unwrap();
    let (mut unit, mut theirs, mut compared) = (Vec::new(), Vec::new(), 0);
    for packet in &packets {
        let arrival = arrival(packet);
        let (header, data) = mpeg_video::Header::split(arrival.payload).unwrap();
        unit.extend_from_slice(data);
        theirs.push(header.picture);
        if arrival.marker {
            theirs.retain(|picture| picture.coding_type != 0);
            let first = packetiser.pack(&unit).unwrap().next().unwrap().unwrap();
            let head = [first.pieces().next().unwrap().header, &[0]].concat();
            let ours = mpeg_video::Header::split(&head).unwrap().0.picture;
            let expected = mpeg_video::Picture { vectors: 0, ..ours };
            assert!(theirs.iter().all(|picture| *picture == expected), "{theirs:?}, {expected:?}");
            compared += theirs.len();
            (unit, theirs) = (Vec::new(), Vec::new());
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn aac_of_ffmpeg_comes_whole() {
    let Some((stream, packets)) = both(AAC, "adts") else { return };
    let (mut expected, mut rest) = (Vec::new(), stream.as_slice());
    while !rest.is_empty() {
        // A header of 7 bytes has the size in 13 bits, itself included.
        let size =
            usize::from(rest[3] & 3) << 11 | usize::from(rest[4]) << 3 | usize::from(rest[5]) >> 5;
        expected.push(&rest[7..size]);
        rest = &rest[size..];
    }
    let mut received = Vec::new();
    let mut depacketiser = aac::Depacketiser::new(aac::Format::HIGH_BIT_RATE);
    for packet in &packets {
        let take = |unit: Unit<'_>| {
            assert_eq!(unit.integrity, Integrity::Whole);
            received.push(unit.data.to_vec());
        };
        depacketiser.handle_payload(&arrival(packet), take).unwrap();
    }
    // FFmpeg never sends the last that would not fill a packet.
    let kept_back = expected.split_off(received.len());
    assert!(received.len() > 50 && received == expected);
    let is_sent = |unit: &&[u8]| packets.iter().any(|packet| packet.ends_with(unit));
    assert!(!kept_back.iter().any(is_sent));
}

#[test]
fn mu_law_of_ffmpeg_comes_without_a_pause() {
    let Some((stream, packets)) = both(MU_LAW, "mulaw") else { return };
    let (mut depacketiser, mut received) = (pcm::Depacketiser::new(), Vec::new());
    for packet in &packets {
        assert_eq!(Packet::parse(packet).unwrap().payload_type(), pcm::PCMU);
        let samples = depacketiser.handle_payload(&arrival(packet)).unwrap();
        assert_eq!(samples.pause, pcm::Pause::None);
        received.extend_from_slice(samples.data);
    }
    assert!(received == stream && received.len() == 16_000);
}

#[test]
fn a_transport_stream_of_ffmpeg_is_in_sync() {
    let Some(stream) = written(MPEG_2, "-f mpegts") else { return };
    let packets = mpeg_ts::transport_packets(&stream).unwrap();
    let payloads = mpeg_ts::Packetiser::new(mpeg_ts::DEFAULT_PAYLOAD_BYTES).unwrap();
    assert_eq!(payloads.pack(&stream, false).unwrap().len(), packets.len().div_ceil(7));
}
