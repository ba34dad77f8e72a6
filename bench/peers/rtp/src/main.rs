//! Writes the input of all workloads into files, for libraries of other languages, and says what ours makes of it.
//!
//! ```text
//! rtp-packets FOLDER
//!   FOLDER/in-order.packets, slightly-out.packets, largely-out.packets   172 B each, 20 ms of audio
//!   FOLDER/extended.packets                                              184 B each, two elements in an extension
//!   FOLDER/compounds.packets                                             SR of one block, SDES, BYE
//! ```
//!
//! A file holds packets one behind the other, each behind its size: four bytes, the highest first. A program that
//! does the workloads prints a line of JSON for each: `workload`, `library`, `ns` (a list: nanoseconds a packet,
//! one number a pass) and `answer`. The answers are those that this program prints, if the work is the same.

use std::io::{self, Write};
use std::path::Path;

use bytes::Bytes;
use rtp_peers::{
    DISORDER, PACKETS, REPORTS, Stream, UNIT_BYTES, audio, bitpath, blocks, compounds,
};

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err(io::Error::other("usage: rtp-packets FOLDER"));
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for (order, disorder) in DISORDER {
        let stream = Stream::plain(disorder);
        write(&folder.join(format!("{}.packets", order.replace(' ', "-"))), stream.shared())?;
        answers_to_disorder(order, &stream);
    }
    write(&folder.join("extended.packets"), Stream::extended().shared())?;
    write(&folder.join("compounds.packets"), compounds().into_iter())?;
    answers();
    Ok(())
}

fn write(path: &Path, packets: impl Iterator<Item = Bytes>) -> io::Result<()> {
    let mut file = io::BufWriter::new(std::fs::File::create(path)?);
    for packet in packets {
        let size = u32::try_from(packet.len()).map_err(io::Error::other)?;
        file.write_all(&size.to_be_bytes())?;
        file.write_all(&packet)?;
    }
    file.flush()
}

fn say(workload: &str, answer: &str) {
    println!(r#"{{"workload": "{workload}", "answer": "{answer}"}}"#);
}

fn answers_to_disorder(order: &str, stream: &Stream) {
    let report = bitpath::count(&mut bitpath::arrivals(stream));
    let (lost, highest, jitter) =
        (report.cumulative_lost, report.extended_highest, report.jitter_ticks);
    let told = format!("lost {lost}, highest {highest}, jitter {jitter}");
    say(&format!("statistics and jitter, {order}"), &told);
    let (mut played, mut misplaced, mut next) = (0, 0, 0_u16);
    bitpath::play(&mut bitpath::waiting(stream), |sequence| {
        (played, misplaced) = (played + 1, misplaced + u32::from(sequence != next));
        next = sequence.wrapping_add(1);
    });
    say(&format!("jitter buffer, {order}"), &format!("{played} played, {misplaced} out of place"));
    let mut output = vec![0; PACKETS * UNIT_BYTES];
    let (_, played_bytes) = bitpath::receive(stream, &mut output);
    let sum = sum(&output[..played_bytes]);
    say(&format!("whole receiver, {order}"), &format!("{told}, {played_bytes} B of sum {sum}"));
}

fn answers() {
    let (mut packets, mut sequences, mut payload) = (0_u64, 0_u64, 0);
    bitpath::parse(&Stream::plain(1), |fields| {
        (packets, sequences) = (packets + 1, sequences + u64::from(fields.sequence));
        payload += sum(fields.payload);
    });
    say("parse", &format!("{packets} packets, sequences {sequences}, payload {payload}"));
    let (mut elements, mut data_sum) = (0, 0);
    bitpath::elements(&Stream::extended(), |id, data| {
        (elements, data_sum) = (elements + 1, data_sum + u64::from(id) + sum(data));
    });
    say("parse, elements walked", &format!("{elements} elements, sum {data_sum}"));
    let (mut written, mut reports) = (0, 0);
    bitpath::build(&audio(), &mut [0; 10_000], |packet| written += sum(packet));
    say("build with copy", &format!("sum {written}"));
    bitpath::report(&blocks(), &mut [0; 100], |report| reports += sum(report));
    say("RR build", &format!("sum {reports}"));
    let mut fields_sum = 0;
    bitpath::compound(&compounds(), |fields| {
        let numbers = [fields.ssrc, fields.info.packets, fields.block.jitter_ticks, fields.leaving];
        fields_sum +=
            numbers.map(u64::from).iter().sum::<u64>() + sum(fields.cname) + sum(fields.reason);
    });
    say("compound parse", &format!("{REPORTS} compounds, sum {fields_sum}"));
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte)).sum()
}
