"""RTP and RTCP by aiortc: the workloads of bench/peers/rtp over the files that its rtp-packets writes.

    python rtp.py FOLDER PASSES

A file holds packets one behind the other, each behind its size: four bytes, the highest first. Each workload is done
once for its answer and then PASSES times; a line of JSON for each has the nanoseconds a packet of every pass.
"""

import json
import struct
import sys
import time
from pathlib import Path

from aiortc import rtcrtpreceiver, rtp
from aiortc.jitterbuffer import JitterBuffer

SSRC = 1
CLOCK_HZ = 8000
UNIT_TICKS = 160

# Packets that wait for those that they overtook, and places for them.
THRESHOLD = 64


class ArrivalClock:
    """The time that the statistics look at, in place of the machine's: 20 ms more for each packet."""

    def __init__(self):
        self.ticks = 0

    def time(self):
        # The library cuts to whole ticks: half a tick keeps it from the one before.
        return (self.ticks + 0.5) / CLOCK_HZ


def read(folder, name):
    content = (Path(folder) / f"{name}.packets").read_bytes()
    packets, at = [], 0
    while at < len(content):
        (size,) = struct.unpack_from("!I", content, at)
        if at + 4 + size > len(content):
            sys.exit(f"{name}.packets: a packet of {size} B at byte {at} is cut off")
        packets.append(content[at + 4:at + 4 + size])
        at += 4 + size
    return packets


def parse(packets):
    sequences = others = 0
    payloads = []
    for datagram in packets:
        packet = rtp.RtpPacket.parse(datagram)
        sequences += packet.sequence_number
        others += packet.marker + packet.payload_type + packet.timestamp + packet.ssrc
        payloads.append(packet.payload)
    return lambda: f"{len(packets)} packets, sequences {sequences}, payload {sum(map(sum, payloads))}"


def build(packets):
    written = []
    for number, datagram in enumerate(packets):
        packet = rtp.RtpPacket(payload_type=0, sequence_number=number & 0xffff, timestamp=number * UNIT_TICKS,
                               ssrc=SSRC, payload=datagram[12:])
        written.append(packet.serialize())
    return lambda: f"sum {sum(map(sum, written))}"


def report_of(statistics):
    highest = statistics.cycles + statistics.max_seq
    return f"lost {statistics.packets_lost}, highest {highest}, jitter {statistics.jitter}"


def counted(packets):
    clock = rtcrtpreceiver.time = ArrivalClock()
    statistics = rtcrtpreceiver.StreamStatistics(CLOCK_HZ)
    for packet in packets:
        statistics.add(packet)
        clock.ticks += UNIT_TICKS
    return lambda: report_of(statistics)


def play(packets):
    """It gives frames, one a packet here, and none at the end: the last ones stay in it."""
    buffer = JitterBuffer(capacity=4 * THRESHOLD, prefetch=THRESHOLD)
    played = []
    for packet in packets:
        frame = buffer.add(packet)[1]
        if frame is not None:
            played.append(frame.timestamp // UNIT_TICKS)
    misplaced = sum(number != before + 1 for before, number in zip([-1, *played], played))
    return lambda: f"{len(played)} played, {misplaced} out of place"


def receive(packets):
    clock = rtcrtpreceiver.time = ArrivalClock()
    statistics = rtcrtpreceiver.StreamStatistics(CLOCK_HZ)
    buffer = JitterBuffer(capacity=4 * THRESHOLD, prefetch=THRESHOLD)
    output = bytearray()
    for datagram in packets:
        packet = rtp.RtpPacket.parse(datagram)
        packet._data = packet.payload  # what its decoder of audio does
        statistics.add(packet)
        clock.ticks += UNIT_TICKS
        frame = buffer.add(packet)[1]
        if frame is not None:
            output += frame.data
    return lambda: f"{report_of(statistics)}, {len(output)} B of sum {sum(output)}"


def reports(blocks):
    written = [bytes(rtp.RtcpRrPacket(ssrc=SSRC, reports=[block])) for block in blocks]
    return lambda: f"sum {sum(map(sum, written))}"


def compound(compounds):
    total = others = 0
    texts = []
    for datagram in compounds:
        report, description, goodbye = rtp.RtcpPacket.parse(datagram)
        info, block, chunk = report.sender_info, report.reports[0], description.chunks[0]
        total += report.ssrc + info.packet_count + block.jitter + goodbye.sources[0]
        others += info.ntp_timestamp + info.rtp_timestamp + info.octet_count + chunk.ssrc + block.ssrc
        others += block.fraction_lost + block.packets_lost + block.highest_sequence + block.lsr + block.dlsr
        texts.append(chunk.items[0][1])
    return lambda: f"{len(compounds)} compounds, sum {total + sum(map(sum, texts))}"


def measure(workload, passes, work, packets):
    answer, samples = work(packets)(), []
    for _ in range(passes):
        start = time.perf_counter_ns()
        work(packets)
        samples.append((time.perf_counter_ns() - start) / len(packets))
    print(json.dumps({"workload": workload, "library": "aiortc", "ns": samples, "answer": answer}), flush=True)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: rtp.py FOLDER PASSES")
    folder, passes = sys.argv[1], int(sys.argv[2])
    plain = read(folder, "in-order")
    measure("parse", passes, parse, plain)
    measure("build with copy", passes, build, plain)
    for order in ["in order", "slightly out", "largely out"]:
        datagrams = read(folder, order.replace(" ", "-"))
        packets = [rtp.RtpPacket.parse(datagram) for datagram in datagrams]
        for packet in packets:
            packet._data = packet.payload
        measure(f"statistics and jitter, {order}", passes, counted, packets)
        measure(f"jitter buffer, {order}", passes, play, packets)
        measure(f"whole receiver, {order}", passes, receive, datagrams)
    compounds = read(folder, "compounds")
    measure("RR build", passes, reports, [rtp.RtcpPacket.parse(datagram)[0].reports[0] for datagram in compounds])
    measure("compound parse", passes, compound, compounds)


if __name__ == "__main__":
    main()
