//! `bitpath rtp analyse`: streams of real and made captures, held against what tshark says of the same files.
//!
//! ```text
//! capture ──┬──► bitpath rtp analyse ─────────────────────────► lost, order, jitter ──┐
//!           ├──► tshark, packet by packet ──► both rules here ──► the same ───────────┼──► agree
//!           └──► tshark -z rtp,streams ───────────────────────► packets, lost, jitter ┘
//! ```
//!
//! Where the rules differ (bench::rtp::analysis says in what), ours is held against RFC 3550's on the fields that tshark
//! read, and tshark's table against its own rule on them: so a difference is that of the rules and of nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bitpath_bench::rtp::capture::CaptureWriter;
use bitpath_measure::Run;
use bitpath_platform::clock::monotonic_ns;

use crate::invocation::Invocation;
use crate::rights::{programs, skipped};
use crate::turns::beside_others;

/// Captures of Debian's package sip-tester.
const SIP_TESTER: &str = "/usr/share/sip-tester";

/// Port of the suite's captures.
const SUITE_PORT: u16 = 5004;

/// Packets of a turn of the sequence numbers.
const TURN: f64 = 65_536.0;

/// Half of the last digit that tshark prints of a jitter [ms].
const PRINTED_MS: f64 = 0.000_501;

/// Longest silence before a sender is asked whether it has ended.
const SILENCE: Duration = Duration::from_millis(300);

/// Longest wait for a sender of two seconds [ns].
const SENDER_PATIENCE_NS: u64 = 60_000_000_000;

/// Packets of a stream of two seconds that are surely more than one of them has.
const MOST_PACKETS: usize = 20_000;

/// What tshark read of one packet.
struct Field {
    at_ms: f64,
    sequence: u16,
    timestamp: u32,
    marker: bool,
}

/// What tshark's table says of a stream.
struct Row {
    packets: f64,
    lost: f64,
    jitter: Jitter,
}

/// Mean and greatest jitter [ms].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Jitter {
    mean_ms: f64,
    max_ms: f64,
}

impl Jitter {
    #[track_caller]
    fn same(self, other: Self, what: &str) {
        let mean = (self.mean_ms - other.mean_ms).abs() < PRINTED_MS;
        assert!(
            mean && (self.max_ms - other.max_ms).abs() < PRINTED_MS,
            "{what}: {self:?} {other:?}"
        );
    }
}

fn tshark(path: &Path, port: u16, arguments: &[&str]) -> String {
    let mut command = Command::new("tshark");
    command.args([
        "-n",
        "-o",
        "rtp.heuristic_rtp:TRUE",
        "-d",
        &format!("udp.port=={port},rtp"),
        "-r",
    ]);
    let output = command.arg(path).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every packet of RTP as tshark reads it.
fn fields(path: &Path, port: u16) -> Vec<Field> {
    let wanted = ["frame.time_epoch", "rtp.seq", "rtp.timestamp", "rtp.marker"];
    let wanted = wanted.iter().flat_map(|field| ["-e", *field]);
    let arguments: Vec<&str> = ["-Y", "rtp", "-T", "fields"].into_iter().chain(wanted).collect();
    let text = tshark(path, port, &arguments);
    let field = |line: &str| {
        let [time, sequence, timestamp, marker] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        // As one number of seconds since 1970 it would be good to a fifth of a microsecond only.
        let (seconds, part) = time.split_once('.').unwrap();
        let seconds: f64 = seconds.parse().unwrap();
        Field {
            at_ms: (seconds % 1e6) * 1e3 + format!("0.{part}").parse::<f64>().unwrap() * 1e3,
            sequence: sequence.parse().unwrap(),
            timestamp: timestamp.parse().unwrap(),
            marker: ["1", "True"].contains(&marker),
        }
    };
    text.lines().map(field).collect()
}

/// The one stream of a capture in tshark's table. Names of payloads have blanks, so columns are counted from the share
/// of lost packets, which stands in brackets.
fn row(path: &Path, port: u16) -> Row {
    let text = tshark(path, port, &["-q", "-z", "rtp,streams"]);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("%)")).collect();
    let [row] = rows[..] else { panic!("no single stream:\n{text}") };
    let cells: Vec<&str> = row.split_whitespace().collect();
    let share = cells.iter().position(|cell| cell.ends_with("%)")).unwrap();
    let number = |at: usize| cells[at].parse().unwrap();
    let jitter = Jitter { mean_ms: number(share + 5), max_ms: number(share + 6) };
    Row { packets: number(share - 2), lost: number(share - 1), jitter }
}

/// Numbers without wraps: each as near to the highest before it as it can be.
fn extended(fields: &[Field]) -> Vec<i64> {
    let mut highest = i64::from(fields[0].sequence);
    let mut number = |field: &Field| {
        let low = u16::try_from(highest.rem_euclid(1 << 16)).unwrap();
        let apart = field.sequence.wrapping_sub(low).cast_signed();
        let number = highest + i64::from(apart);
        highest = highest.max(number);
        number
    };
    fields.iter().map(&mut number).collect()
}

/// Duplicates, and packets that others had overtaken.
fn disorder(numbers: &[i64]) -> [f64; 2] {
    let (mut seen, mut duplicates, mut overtaken) = (BTreeSet::new(), 0.0, 0.0);
    for number in numbers {
        let highest = seen.last().copied();
        if !seen.insert(*number) {
            duplicates += 1.0;
        } else if highest.is_some_and(|highest| *number < highest) {
            overtaken += 1.0;
        }
    }
    [duplicates, overtaken]
}

/// Jitter as RFC 3550 has it: each packet against the one before.
fn jitter_of_rfc(fields: &[Field], rate_khz: f64) -> Jitter {
    let (mut estimate, mut sum, mut max) = (0.0, 0.0, 0.0);
    for pair in fields.windows(2) {
        let ticks = pair[1].timestamp.wrapping_sub(pair[0].timestamp).cast_signed();
        let difference = (pair[1].at_ms - pair[0].at_ms - f64::from(ticks) / rate_khz).abs();
        estimate += (difference - estimate) / 16.0;
        sum += estimate;
        max = f64::max(max, estimate);
    }
    Jitter { mean_ms: sum / (fields.len() - 1) as f64, max_ms: max }
}

/// Jitter by the rule of tshark 4.0: packets from before the first do not count, and those with a marker move the
/// estimate, but neither mean nor greatest.
fn jitter_of_tshark(fields: &[Field], rate_khz: f64) -> Jitter {
    let (mut estimate, mut mean, mut max) = (0.0, 0.0, 0.0);
    let mut before = &fields[0];
    for (place, field) in fields.iter().enumerate().skip(1) {
        if field.timestamp.wrapping_sub(fields[0].timestamp).cast_signed() < 0 {
            continue;
        }
        let ticks = field.timestamp.wrapping_sub(before.timestamp).cast_signed();
        let difference = (field.at_ms - before.at_ms - f64::from(ticks) / rate_khz).abs();
        estimate += (difference - estimate) / 16.0;
        if !field.marker {
            mean += (estimate - mean) / place as f64;
            max = f64::max(max, estimate);
        }
        before = field;
    }
    Jitter { mean_ms: mean, max_ms: max }
}

/// Whether this tshark is of the version whose rule for jitter is known here.
fn known_rule() -> bool {
    let version = Command::new("tshark").arg("--version").output().unwrap();
    String::from_utf8_lossy(&version.stdout).starts_with("TShark (Wireshark) 4.0.")
}

fn analysed(path: &Path, arguments: &[&str]) -> Run {
    let ended =
        Invocation::new().with(["rtp", "analyse", "--json"]).with([path]).with(arguments).run();
    assert_eq!((ended.code, ended.left), (0, Vec::new()), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn value(run: &Run, name: &str) -> f64 {
    let name = format!("rtp.stream.{name}");
    let found: Vec<_> = run.figures.iter().filter(|figure| figure.name == name).collect();
    let [figure] = found[..] else { panic!("{} figures {name}", found.len()) };
    figure.estimate.value
}

/// Holds our analysis of a capture with one stream against tshark's. Without a clock rate there is no jitter.
#[track_caller]
fn agree(path: &Path, port: u16, rate_khz: Option<f64>) {
    let run = analysed(path, &[]);
    let (fields, row) = (fields(path, port), row(path, port));
    let numbers = extended(&fields);
    let shown = path.display().to_string();
    assert_eq!(
        (value(&run, "packets"), fields.len() as f64),
        (row.packets, row.packets),
        "{shown}"
    );
    // tshark expects up to the packet that came last, and turns too many where packets overtook each other at the wrap.
    let behind = numbers.iter().max().unwrap() - numbers.last().unwrap();
    let turns = (row.lost + behind as f64 - value(&run, "lost")) / TURN;
    assert_eq!(turns.fract(), 0.0, "{shown}: {} lost to tshark", row.lost);
    let found = [value(&run, "duplicates"), value(&run, "out_of_order")];
    assert_eq!(found, disorder(&numbers), "{shown}");
    let in_order = found[1] == 0.0;
    assert!(turns == 0.0 || !in_order, "{shown}: {} lost to tshark", row.lost);
    let Some(rate_khz) = rate_khz else {
        assert!(run.figures.iter().all(|figure| !figure.name.contains("jitter")), "{shown}");
        assert_eq!(run.pitfalls.len(), 1, "{shown}");
        return;
    };
    let [mean_ms, max_ms] = ["jitter_mean", "jitter_max"].map(|name| value(&run, name) / 1e6);
    let ours = Jitter { mean_ms, max_ms };
    let lost = [value(&run, "lost"), row.lost];
    println!("{shown}: {} packets, lost {lost:?}, duplicates and overtaken {found:?}", row.packets);
    println!("    ours {ours:?}, tshark {:?}", row.jitter);
    ours.same(jitter_of_rfc(&fields, rate_khz), &shown);
    if known_rule() {
        row.jitter.same(jitter_of_tshark(&fields, rate_khz), &shown);
    } else {
        skipped(&shown, "tshark's rule for jitter is known of version 4.0 only");
    }
    if in_order && fields.iter().skip(1).all(|field| !field.marker) {
        ours.same(row.jitter, &shown);
    }
}

/// A port of loopback for packets, and the next for reports, which are not looked at.
fn ports() -> [UdpSocket; 2] {
    let pair = |_| {
        let media = UdpSocket::bind("127.0.0.1:0").ok()?;
        let port = media.local_addr().ok()?.port().checked_add(1)?;
        Some([media, UdpSocket::bind(("127.0.0.1", port)).ok()?])
    };
    (0..100).find_map(pair).unwrap()
}

/// What a sender, told the port, sends until it ends, as a capture.
fn captured(folder: &Path, name: &str, command: impl Fn(u16) -> Command) -> (PathBuf, u16) {
    let [media, _reports] = ports();
    let to = media.local_addr().unwrap();
    let mut command = command(to.port());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut sender = command.spawn().unwrap();
    let packets = heard(&media, &mut sender);
    let _ = sender.kill();
    sender.wait().unwrap();
    assert!(packets.len() > 20, "{name}: {} packets", packets.len());
    let path = folder.join(name);
    let [SocketAddr::V4(from), SocketAddr::V4(to)] = [packets[0].1, to] else { panic!() };
    let mut writer = CaptureWriter::create(&path, from, to).unwrap();
    packets.iter().for_each(|(at_ns, _, bytes)| writer.add(*at_ns, bytes).unwrap());
    writer.finish().unwrap();
    (path, to.port())
}

/// Datagrams with their times and senders, until the sender has ended and nothing is left.
fn heard(socket: &UdpSocket, sender: &mut Child) -> Vec<(u64, SocketAddr, Vec<u8>)> {
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    let (begin_ns, mut packets, mut buffer) = (monotonic_ns(), Vec::new(), vec![0; 65_536]);
    while packets.len() < MOST_PACKETS && monotonic_ns() - begin_ns < SENDER_PATIENCE_NS {
        match socket.recv_from(&mut buffer) {
            Ok((bytes, from)) => packets.push((monotonic_ns(), from, buffer[..bytes].to_vec())),
            Err(_) if sender.try_wait().unwrap().is_some() => break,
            Err(_) => {}
        }
    }
    packets
}

/// FFmpeg, which sends this media in packets of that size [B] at most.
fn ffmpeg(port: u16, media: &str, packet_bytes: u32) -> Command {
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "error", "-re", "-f", "lavfi"]).args(media.split(' '));
    command.arg(format!("rtp://127.0.0.1:{port}?pkt_size={packet_bytes}"));
    command
}

#[test]
fn captures_of_sip_tester_are_analysed_as_by_tshark() {
    let test = "captures_of_sip_tester_are_analysed_as_by_tshark";
    if !programs(test, &["tshark"]) {
        return;
    }
    let Ok(folder) = fs::read_dir(SIP_TESTER) else {
        skipped(test, "sip-tester is not installed");
        return;
    };
    let _turn = beside_others();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "pcap"));
    assert!(!paths.is_empty());
    for path in paths {
        // Speech, and dialled digits, whose payload type is dynamic.
        let speech = path.file_name().unwrap() == "g711a.pcap";
        let (port, rate_khz) = if speech { (2006, Some(8.0)) } else { (10_000, None) };
        agree(&path, port, rate_khz);
    }
}

#[test]
fn what_a_network_did_to_the_suites_stream_is_found_as_by_tshark() {
    let test = "what_a_network_did_to_the_suites_stream_is_found_as_by_tshark";
    if !programs(test, &["tshark"]) {
        return;
    }
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let suite = |arguments: &[&str]| {
        let status = Command::new(env!("CARGO_BIN_EXE_bitpath-rtp")).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    let (audio, sent) = (file("audio"), file("sent.pcap"));
    // Numbers and timestamps wrap within it.
    suite(&["audio", "--output", &audio]);
    suite(&["send", "--input", &audio, "--output", &sent, "--runs", "0"]);
    agree(Path::new(&sent), SUITE_PORT, Some(8.0));
    for name in ["R_input1", "R_input2", "R_input3", "loss", "duplication", "burst"] {
        let arrived = file(name);
        suite(&["carry", "--input", &sent, "--output", &arrived, "--name", name]);
        agree(Path::new(&arrived), SUITE_PORT, Some(8.0));
    }
}

#[test]
fn streams_of_ffmpeg_are_analysed_as_by_tshark() {
    if !programs("streams_of_ffmpeg_are_analysed_as_by_tshark", &["tshark", "ffmpeg"]) {
        return;
    }
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let picture = "-i testsrc=size=320x240:rate=25 -t 2";
    for (name, media, packet_bytes, rate_khz) in [
        ("pcmu", "-i sine=440:r=8000 -t 2 -c:a pcm_mulaw -f rtp".to_owned(), 172, Some(8.0)),
        ("mpeg-ts", format!("{picture} -c:v mpeg2video -f rtp_mpegts"), 1400, Some(90.0)),
        ("h264", format!("{picture} -c:v libx264 -preset ultrafast -f rtp"), 1400, None),
    ] {
        let (path, port) = captured(folder.path(), name, |port| ffmpeg(port, &media, packet_bytes));
        agree(&path, port, rate_khz);
        if rate_khz.is_none() {
            let run = analysed(&path, &["--clock-rate", "90000"]);
            let [mean_ms, max_ms] =
                ["jitter_mean", "jitter_max"].map(|name| value(&run, name) / 1e6);
            Jitter { mean_ms, max_ms }.same(jitter_of_rfc(&fields(&path, port), 90.0), name);
        }
    }
}

#[test]
fn a_stream_of_gstreamer_is_analysed_as_by_tshark() {
    if !programs("a_stream_of_gstreamer_is_analysed_as_by_tshark", &["tshark", "gst-launch-1.0"]) {
        return;
    }
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let gstreamer = |port: u16| {
        let mut command = Command::new("gst-launch-1.0");
        let speech = "-q audiotestsrc num-buffers=100 samplesperbuffer=160 is-live=true ! \
            audio/x-raw,rate=8000,channels=1 ! mulawenc ! rtppcmupay ! udpsink host=127.0.0.1";
        command.args(speech.split_whitespace()).arg(format!("port={port}"));
        command
    };
    let (path, port) = captured(folder.path(), "gstreamer", gstreamer);
    agree(&path, port, Some(8.0));
}

#[test]
fn what_is_no_capture_and_clocks_that_stand_still_are_refused_by_name() {
    let missing = Invocation::new().with(["rtp", "analyse", "/nowhere/at.pcap"]).run();
    missing.refused(&["cannot read the capture /nowhere/at.pcap"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noise");
    fs::write(&path, [7; 1000]).unwrap();
    let noise = Invocation::new().with(["rtp", "analyse"]).with([&path]).run();
    noise.refused(&["noise", "it is no capture"]);
    let still = Invocation::new().with(["rtp", "analyse", "a.pcap", "--clock-rate", "0"]).run();
    still.refused(&["--clock-rate"]);
}

#[test]
fn a_table_has_a_row_for_the_stream_and_a_dash_for_what_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcap");
    let [from, to] = ["10.0.0.1:5004", "10.0.0.2:5006"].map(|address| address.parse().unwrap());
    let mut writer = CaptureWriter::create(&path, from, to).unwrap();
    for number in [1, 2, 4, 4] {
        let packet = [0x80, 96, 0, number, 0, 0, 0, number, 0, 0, 0, 7];
        writer.add(u64::from(number) * 20_000_000, &packet).unwrap();
    }
    writer.add(0, b"no packet").unwrap();
    writer.finish().unwrap();
    let ended = Invocation::new().with(["rtp", "analyse"]).with([&path]).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    let text = words.join(" ");
    for said in [
        "1 stream of RTP; 0 lost of 4 packets",
        "0x00000007 10.0.0.1:5004 10.0.0.2:5006 96 4",
        "0x00000007 10.0.0.1:5004 4 0 1 0 0 0",
        "0x00000007 10.0.0.1:5004 - -",
        "the clock rate of payload type 96 is not known",
    ] {
        assert!(text.contains(said), "no `{said}` in:\n{}", ended.stdout);
    }
}
