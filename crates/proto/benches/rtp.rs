//! What a packet costs: parsed, built, counted, put in order. 26 214 packets of 20 ms of audio in a row, as the
//! paper's 4 MB of audio makes: more than the second-level cache holds, as packets are in life.

use std::hint::black_box;

use bitpath_proto::rtp::jitter_buffer::Turn;
use bitpath_proto::rtp::sequence::Arrival;
use bitpath_proto::rtp::{Extension, Header, JitterBuffer, Packet, Reception};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Packets of 4 MiB of audio.
const PACKETS: usize = 26_214;

/// Audio of one packet [B]: 20 ms at 8 kHz.
const UNIT_BYTES: usize = 160;

/// Packets that change places among each other: none, a few, more than wait in a jitter buffer at a time.
const DISORDER: [(&str, usize); 3] = [("in order", 1), ("slightly out", 4), ("largely out", 48)];

/// Packets that wait for those that they overtook.
const THRESHOLD: usize = 64;

/// A stream of packets one behind the other.
struct Stream {
    bytes: Vec<u8>,
    packet_bytes: usize,
}

impl Stream {
    fn new(extension: Option<Extension<'_>>, disorder: usize) -> Self {
        let mut numbers: Vec<usize> = (0..PACKETS).collect();
        let mut random = ChaCha8Rng::seed_from_u64(2004);
        numbers.chunks_mut(disorder).for_each(|some| some.shuffle(&mut random));
        let packet_bytes = Header { extension, ..Header::new(0, 0, 0, 0) }.bytes() + UNIT_BYTES;
        let mut bytes = vec![0; PACKETS * packet_bytes];
        for (number, place) in numbers.into_iter().zip(bytes.chunks_mut(packet_bytes)) {
            let sequence = u16::try_from(number % 65_536).unwrap_or(0);
            let timestamp = u32::try_from(number * UNIT_BYTES).unwrap_or(0);
            let header = Header { extension, ..Header::new(0, sequence, timestamp, 1) };
            header.write(place, &[7; UNIT_BYTES]).expect("there is room for a packet");
        }
        Self { bytes, packet_bytes }
    }

    fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.packet_bytes)
    }
}

fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Elements(PACKETS as u64));
    let plain = Stream::new(None, 1);
    group.bench_function("plain", |bench| {
        bench.iter(|| {
            for datagram in plain.datagrams() {
                let packet = Packet::parse(black_box(datagram)).expect("a sound packet");
                black_box((packet.marker(), packet.payload_type(), packet.sequence()));
                black_box((packet.timestamp(), packet.ssrc(), packet.payload()));
            }
        });
    });
    let data = [0x10, 0xaa, 0x22, 1, 2, 3, 0, 0];
    let extended = Stream::new(Some(Extension { profile: 0xbede, data: &data }), 1);
    group.bench_function("extension elements walked", |bench| {
        bench.iter(|| {
            for datagram in extended.datagrams() {
                let packet = Packet::parse(black_box(datagram)).expect("a sound packet");
                for element in packet.elements() {
                    black_box(element.expect("a sound element"));
                }
            }
        });
    });
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.throughput(Throughput::Elements(PACKETS as u64));
    let audio = vec![7; PACKETS * UNIT_BYTES];
    let mut output = vec![0; 10_000];
    group.bench_function("copy only", |bench| {
        bench.iter(|| {
            for unit in audio.chunks_exact(UNIT_BYTES) {
                let unit = black_box(unit);
                output[12..12 + unit.len()].copy_from_slice(unit);
                black_box(&mut output);
            }
        });
    });
    group.bench_function("with copy", |bench| {
        bench.iter(|| {
            let (mut sequence, mut timestamp) = (0_u16, 0_u32);
            for unit in audio.chunks_exact(UNIT_BYTES) {
                let header = Header::new(0, sequence, timestamp, 1);
                black_box(header.write(&mut output, black_box(unit)).expect("there is room"));
                sequence = sequence.wrapping_add(1);
                timestamp = timestamp.wrapping_add(160);
            }
        });
    });
}

fn reception(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("statistics and jitter");
    group.throughput(Throughput::Elements(PACKETS as u64));
    for (name, disorder) in DISORDER {
        let stream = Stream::new(None, disorder);
        let packets: Vec<Packet<'_>> =
            stream.datagrams().map(|of| Packet::parse(of).expect("a sound packet")).collect();
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut reception = Reception::new(1);
                for (arrival_ticks, packet) in (0_u32..).step_by(160).zip(&packets) {
                    black_box(reception.on_packet(packet, black_box(arrival_ticks)));
                }
                reception.report()
            });
        });
    }
}

/// Sequence numbers in their order of arrival, with the turn of the first.
fn numbers(stream: &Stream) -> Vec<u64> {
    let mut reception = Reception::new(1);
    stream
        .datagrams()
        .filter_map(|datagram| match reception.on_packet(&Packet::parse(datagram).ok()?, 0) {
            Arrival::Counted(number) | Arrival::Begins(number) => Some(number),
            Arrival::OnProbation | Arrival::Jumped => None,
        })
        .collect()
}

fn jitter_buffer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("jitter buffer");
    group.throughput(Throughput::Elements(PACKETS as u64));
    for (name, disorder) in DISORDER {
        let numbers = numbers(&Stream::new(None, disorder));
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut buffer = JitterBuffer::new(4 * THRESHOLD, THRESHOLD);
                for (handle, number) in (0_u32..).zip(&numbers) {
                    let _ = black_box(buffer.insert(black_box(*number), handle));
                    black_box(buffer.pop());
                }
            });
        });
    }
}

fn receiver(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("whole receiver");
    group.throughput(Throughput::Elements(PACKETS as u64));
    for (name, disorder) in DISORDER {
        let stream = Stream::new(None, disorder);
        let mut output = vec![0; PACKETS * UNIT_BYTES];
        group.bench_function(name, |bench| bench.iter(|| receive(&stream, &mut output)));
    }
}

/// Everything from the datagram to the audio in order; returns its size [B].
fn receive(stream: &Stream, output: &mut [u8]) -> usize {
    let mut reception = Reception::new(1);
    let mut buffer: JitterBuffer<&[u8]> = JitterBuffer::new(4 * THRESHOLD, THRESHOLD);
    let mut played = 0;
    let mut play = |turn: Turn<&[u8]>| {
        if let Turn::Played(_, unit) = turn {
            output[played..played + unit.len()].copy_from_slice(unit);
            played += unit.len();
        }
    };
    for (arrival_ticks, datagram) in (0_u32..).step_by(160).zip(stream.datagrams()) {
        let Ok(packet) = Packet::parse(datagram) else { continue };
        if let Arrival::Counted(number) | Arrival::Begins(number) =
            reception.on_packet(&packet, arrival_ticks)
        {
            let _ = buffer.insert(number, packet.payload());
            buffer.pop().into_iter().for_each(&mut play);
        }
    }
    std::iter::from_fn(|| buffer.pop_now()).for_each(&mut play);
    black_box(reception.report());
    played
}

criterion_group!(benches, parse, build, reception, jitter_buffer, receiver);
criterion_main!(benches);
