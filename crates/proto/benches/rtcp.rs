//! What RTCP costs: a report built, a compound parsed, an interval computed. No two inputs of a pass are alike.

use std::hint::black_box;

use bitpath_proto::rtcp::{
    Budget, Compound, Counts, Item, Minimum, ReportBlock, RtcpPacket, SenderInfo, Writer,
    randomised_ns,
};
use bitpath_proto::rtp::{Header, Packet, Reception};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Reports, compounds and intervals of a pass: enough that the clock's steps do not show.
const REPORTS: u32 = 4096;

/// Room that a report is built into [B], as in the paper.
const OUTPUT_BYTES: usize = 100;

fn block(number: u32) -> ReportBlock {
    ReportBlock {
        ssrc: number,
        fraction_lost: number.to_be_bytes()[3],
        cumulative_lost: number.cast_signed(),
        extended_highest: 65_536 + number,
        jitter_ticks: number * 3,
        last_sr: number << 16,
        delay_since_last_sr: number * 5,
    }
}

fn report(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("RR build");
    group.throughput(Throughput::Elements(REPORTS.into()));
    let blocks: Vec<ReportBlock> = (1..=REPORTS).map(block).collect();
    let mut output = [0; OUTPUT_BYTES];
    group.bench_function("from a block", |bench| {
        bench.iter(|| {
            for block in &blocks {
                let mut writer = Writer::new(&mut output);
                writer.receiver_report(7, std::slice::from_ref(block)).expect("there is room");
                black_box(writer.written());
            }
        });
    });
    let mut reception = reception();
    group.bench_function("from the receiver's state", |bench| {
        bench.iter(|| {
            for last_sr in 1..=REPORTS {
                let received = black_box(&mut reception).report();
                let block = ReportBlock::new(1, received, last_sr, 65_536);
                let mut writer = Writer::new(&mut output);
                writer.receiver_report(7, &[block]).expect("there is room");
                black_box(writer.written());
            }
        });
    });
}

/// A source of which a thousand packets came, one in ten late.
fn reception() -> Reception {
    let mut reception = Reception::new(1);
    for sequence in 0_u16..1000 {
        let timestamp = u32::from(sequence) * 160;
        let mut buffer = [0; 12];
        Header::new(0, sequence, timestamp, 1).write_header(&mut buffer).expect("there is room");
        let packet = Packet::parse(&buffer).expect("a sound packet");
        reception.on_packet(&packet, timestamp + u32::from(sequence % 10 == 0) * 80);
    }
    reception
}

/// Sender report of one block, description of one item and goodbye of one source.
fn compound_bytes(number: u32) -> Vec<u8> {
    let info = SenderInfo {
        ntp_timestamp: u64::from(number) << 32,
        rtp_timestamp: number * 160,
        packets: number,
        payload_bytes: number * 160,
    };
    let mut buffer = [0; 200];
    let mut writer = Writer::new(&mut buffer);
    let written = writer
        .sender_report(number, &info, &[block(number)])
        .and_then(|()| writer.source_description(&[(number, &[Item::Cname(b"user@host.example")])]))
        .and_then(|()| writer.goodbye(&[number], b"end of the film"));
    written.expect("there is room for a compound");
    writer.written().to_vec()
}

fn compound(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compound parse");
    group.throughput(Throughput::Elements(REPORTS.into()));
    let compounds: Vec<Vec<u8>> = (1..=REPORTS).map(compound_bytes).collect();
    group.bench_function("SR, SDES, BYE", |bench| {
        bench.iter(|| compounds.iter().for_each(|datagram| read(black_box(datagram))));
    });
}

/// Looks at every field.
fn read(datagram: &[u8]) {
    for packet in Compound::parse(datagram).expect("a sound compound").packets() {
        match packet.expect("a sound packet") {
            RtcpPacket::SenderReport(report) => {
                black_box((report.ssrc(), report.sender_info()));
                report.blocks().for_each(|block| _ = black_box(block));
            }
            RtcpPacket::SourceDescription(description) => {
                description.items().for_each(|item| _ = black_box(item.expect("a sound item")));
            }
            RtcpPacket::Goodbye(goodbye) => {
                goodbye.sources().for_each(|source| _ = black_box(source));
                black_box(goodbye.reason());
            }
            other => _ = black_box(other),
        }
    }
}

fn interval(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("interval");
    group.throughput(Throughput::Elements(REPORTS.into()));
    let budget = Budget::new(64_000, Minimum::Fixed).expect("a bandwidth");
    group.bench_function("deterministic and randomised", |bench| {
        bench.iter(|| {
            for members in 1..=REPORTS {
                let counts = Counts { members, senders: members / 8, we_sent: true };
                let interval_ns =
                    budget.deterministic_interval_ns(black_box(counts), black_box(120.0), false);
                black_box(randomised_ns(interval_ns, black_box(0.25)));
            }
        });
    });
}

criterion_group!(benches, report, compound, interval);
criterion_main!(benches);
