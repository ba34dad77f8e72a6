// RTP and RTCP by pion: the workloads of bench/peers/rtp over the files that its rtp-packets writes.
//
//	pion FOLDER PASSES
//
// A file holds packets one behind the other, each behind its size: four bytes, the highest first. Each workload is
// done once for its answer and then PASSES times; a line of JSON for each has the nanoseconds a packet of every pass.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/jitterbuffer"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

const (
	ssrc      = 1
	clockHz   = 8000
	unitTicks = 160
	// Packets that wait for those that they overtook.
	threshold = 64
	// The report's timer runs on the real clock; a pass is not timed while it waits.
	reportInterval = time.Millisecond
	// What a report may take at most, should its timer never run.
	reportDeadline = 10 * time.Second
)

// What the compiler may not leave out.
var sink uint64

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: pion FOLDER PASSES"))
	}
	folder := os.Args[1]
	passes, err := strconv.Atoi(os.Args[2])
	fail(err)
	plain := read(folder, "in-order")
	measure("parse", passes, len(plain), parse(plain))
	extended := read(folder, "extended")
	measure("parse, elements walked", passes, len(extended), elements(extended))
	measure("build with copy", passes, len(plain), build(plain))
	for _, order := range []string{"in order", "slightly out", "largely out"} {
		packets := read(folder, strings.ReplaceAll(order, " ", "-"))
		measure("statistics and jitter, "+order, passes, len(packets), statistics(packets))
		measure("jitter buffer, "+order, passes, len(packets), play(packets))
		measure("whole receiver, "+order, passes, len(packets), receive(packets))
	}
	compounds := read(folder, "compounds")
	measure("RR build", passes, len(compounds), reports(compounds))
	measure("compound parse", passes, len(compounds), compound(compounds))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "pion:", err)
		os.Exit(1)
	}
}

func read(folder, name string) [][]byte {
	bytes, err := os.ReadFile(filepath.Join(folder, name+".packets"))
	fail(err)
	var packets [][]byte
	for len(bytes) >= 4 {
		size := int(binary.BigEndian.Uint32(bytes))
		if size > len(bytes)-4 {
			fail(fmt.Errorf("%s.packets: a packet of %d B, of which %d B are there", name, size, len(bytes)-4))
		}
		packets = append(packets, bytes[4:4+size:4+size])
		bytes = bytes[4+size:]
	}
	return packets
}

// A pass gives its time and, if it is asked for, its answer.
type pass func(wantAnswer bool) (time.Duration, string)

func measure(workload string, passes, units int, do pass) {
	_, answer := do(true)
	var samples []float64
	for range passes {
		took, _ := do(false)
		samples = append(samples, float64(took.Nanoseconds())/float64(units))
	}
	line := map[string]any{"workload": workload, "library": "pion", "ns": samples, "answer": answer}
	fail(json.NewEncoder(os.Stdout).Encode(line))
}

func sum(bytes []byte) (total uint64) {
	for _, value := range bytes {
		total += uint64(value)
	}
	return total
}

// One packet for all, as pion's own reader has it: no memory is taken for each.
func parse(packets [][]byte) pass {
	return func(wantAnswer bool) (time.Duration, string) {
		var packet rtp.Packet
		var sequences, payload uint64
		start := time.Now()
		for _, datagram := range packets {
			fail(packet.Unmarshal(datagram))
			sink += uint64(packet.PayloadType) + uint64(packet.Timestamp) + uint64(packet.SSRC)
			sequences += uint64(packet.SequenceNumber)
			if packet.Marker {
				sink++
			}
			if wantAnswer {
				payload += sum(packet.Payload)
			}
		}
		took := time.Since(start)
		sink += sequences
		return took, fmt.Sprintf("%d packets, sequences %d, payload %d", len(packets), sequences, payload)
	}
}

func elements(packets [][]byte) pass {
	return func(bool) (time.Duration, string) {
		var packet rtp.Packet
		var count, total uint64
		start := time.Now()
		for _, datagram := range packets {
			fail(packet.Unmarshal(datagram))
			for _, id := range packet.GetExtensionIDs() {
				count++
				total += uint64(id) + sum(packet.GetExtension(id))
			}
		}
		return time.Since(start), fmt.Sprintf("%d elements, sum %d", count, total)
	}
}

func build(packets [][]byte) pass {
	output := make([]byte, 10_000)
	return func(wantAnswer bool) (time.Duration, string) {
		var total uint64
		header := rtp.Header{Version: 2, SSRC: ssrc}
		start := time.Now()
		for _, datagram := range packets {
			packet := rtp.Packet{Header: header, Payload: datagram[12:]}
			size, err := packet.MarshalTo(output)
			fail(err)
			if wantAnswer {
				total += sum(output[:size])
			}
			sink += uint64(output[size-1])
			header.SequenceNumber++
			header.Timestamp += unitTicks
		}
		return time.Since(start), fmt.Sprintf("sum %d", total)
	}
}

// Statistics of one source: the reader that counts, the clock it looks at, and what it reports.
type reception struct {
	interceptor interceptor.Interceptor
	reader      interceptor.RTPReader
	now         time.Time
	datagram    []byte
	attributes  interceptor.Attributes
}

func newReception() *reception {
	reception := &reception{now: time.Unix(0, 0)}
	factory, err := report.NewReceiverInterceptor(
		report.ReceiverNow(func() time.Time { return reception.now }), report.ReceiverInterval(reportInterval))
	fail(err)
	reception.interceptor, err = factory.NewInterceptor("")
	fail(err)
	inner := func(_ []byte, _ interceptor.Attributes) (int, interceptor.Attributes, error) {
		return len(reception.datagram), reception.attributes, nil
	}
	info := &interceptor.StreamInfo{SSRC: ssrc, ClockRate: clockHz}
	reception.reader = reception.interceptor.BindRemoteStream(info, interceptor.RTPReaderFunc(inner))
	return reception
}

// Counts a packet; its attributes hold the header if it was parsed before.
func (r *reception) count(datagram []byte, attributes interceptor.Attributes) interceptor.Attributes {
	r.datagram, r.attributes = datagram, attributes
	_, attributes, err := r.reader.Read(datagram, nil)
	fail(err)
	r.now = r.now.Add(unitTicks * time.Second / clockHz)
	return attributes
}

func (r *reception) report() string {
	written := make(chan string, 1)
	write := func(packets []rtcp.Packet, _ interceptor.Attributes) (int, error) {
		if report, ok := packets[0].(*rtcp.ReceiverReport); ok {
			block := report.Reports[0]
			text := fmt.Sprintf("lost %d, highest %d, jitter %d", block.TotalLost, block.LastSequenceNumber, block.Jitter)
			select {
			case written <- text:
			default:
			}
		}
		return 0, nil
	}
	r.interceptor.BindRTCPWriter(interceptor.RTCPWriterFunc(write))
	defer func() { fail(r.interceptor.Close()) }()
	select {
	case text := <-written:
		return text
	case <-time.After(reportDeadline):
		return "no report"
	}
}

// The headers are parsed before, as ours are.
func statistics(packets [][]byte) pass {
	attributes := make([]interceptor.Attributes, len(packets))
	for at, datagram := range packets {
		attributes[at] = make(interceptor.Attributes)
		_, err := attributes[at].GetRTPHeader(datagram)
		fail(err)
	}
	return func(wantAnswer bool) (time.Duration, string) {
		reception := newReception()
		start := time.Now()
		for at, datagram := range packets {
			reception.count(datagram, attributes[at])
		}
		took := time.Since(start)
		if !wantAnswer {
			return took, ""
		}
		return took, reception.report()
	}
}

func play(packets [][]byte) pass {
	parsed := make([]*rtp.Packet, len(packets))
	for at, datagram := range packets {
		parsed[at] = new(rtp.Packet)
		fail(parsed[at].Unmarshal(datagram))
	}
	return func(bool) (time.Duration, string) {
		buffer := jitterbuffer.New(jitterbuffer.WithMinimumPacketCount(threshold + 1))
		var played, misplaced int
		var next uint16
		pop := func() bool {
			packet, err := buffer.Pop()
			if err != nil {
				return false
			}
			if packet.SequenceNumber != next {
				misplaced++
			}
			next = packet.SequenceNumber + 1
			played++
			return true
		}
		start := time.Now()
		for _, packet := range parsed {
			buffer.Push(packet)
			pop()
		}
		for pop() {
		}
		return time.Since(start), fmt.Sprintf("%d played, %d out of place", played, misplaced)
	}
}

func receive(packets [][]byte) pass {
	output := make([]byte, 0, len(packets)*unitTicks)
	return func(wantAnswer bool) (time.Duration, string) {
		reception := newReception()
		buffer := jitterbuffer.New(jitterbuffer.WithMinimumPacketCount(threshold + 1))
		output = output[:0]
		pop := func() bool {
			packet, err := buffer.Pop()
			if err == nil {
				output = append(output, packet.Payload...)
			}
			return err == nil
		}
		start := time.Now()
		for _, datagram := range packets {
			header, err := reception.count(datagram, nil).GetRTPHeader(datagram)
			fail(err)
			buffer.Push(&rtp.Packet{Header: *header, Payload: datagram[header.MarshalSize():]})
			pop()
		}
		for pop() {
		}
		took := time.Since(start)
		if !wantAnswer {
			return took, ""
		}
		return took, fmt.Sprintf("%s, %d B of sum %d", reception.report(), len(output), sum(output))
	}
}

func reports(compounds [][]byte) pass {
	blocks := make([]rtcp.ReceptionReport, len(compounds))
	for at, datagram := range compounds {
		packets, err := rtcp.Unmarshal(datagram)
		fail(err)
		if report, ok := packets[0].(*rtcp.SenderReport); ok {
			blocks[at] = report.Reports[0]
		}
	}
	return func(wantAnswer bool) (time.Duration, string) {
		var total uint64
		start := time.Now()
		for at := range blocks {
			report := rtcp.ReceiverReport{SSRC: ssrc, Reports: blocks[at : at+1]}
			bytes, err := report.Marshal()
			fail(err)
			if wantAnswer {
				total += sum(bytes)
			}
			sink += uint64(len(bytes))
		}
		return time.Since(start), fmt.Sprintf("sum %d", total)
	}
}

func compound(compounds [][]byte) pass {
	return func(wantAnswer bool) (time.Duration, string) {
		var total, others uint64
		start := time.Now()
		for _, datagram := range compounds {
			packets, err := rtcp.Unmarshal(datagram)
			fail(err)
			for _, packet := range packets {
				switch packet := packet.(type) {
				case *rtcp.SenderReport:
					block := packet.Reports[0]
					total += uint64(packet.SSRC) + uint64(packet.PacketCount) + uint64(block.Jitter)
					others += packet.NTPTime + uint64(packet.RTPTime) + uint64(packet.OctetCount) + uint64(block.SSRC) +
						uint64(block.TotalLost) + uint64(block.LastSequenceNumber) + uint64(block.FractionLost) +
						uint64(block.LastSenderReport) + uint64(block.Delay)
				case *rtcp.SourceDescription:
					others += uint64(packet.Chunks[0].Source)
					if wantAnswer {
						total += sum([]byte(packet.Chunks[0].Items[0].Text))
					}
				case *rtcp.Goodbye:
					total += uint64(packet.Sources[0])
					if wantAnswer {
						total += sum([]byte(packet.Reason))
					}
				}
			}
		}
		took := time.Since(start)
		sink += total + others
		return took, fmt.Sprintf("%d compounds, sum %d", len(compounds), total)
	}
}
