//! From a sender to the line: the machine's processes, and the peers.

use super::bus::Way;
use super::calendar::NEVER;
use super::description::{CopyPath, Direction};
use super::engine::Machine;
use super::outcome::{Cause, Trouble};
use super::packet::{Kind, Packet};
use super::process::State;
use super::tcp::DELAYED_ACKNOWLEDGEMENT;
use crate::job::Message;

impl Machine<'_> {
    /// A datagram leaves its sender.
    pub(super) fn emit_datagram(&mut self, flow: usize, message: Message, now: u64) {
        let frames = message.bytes.div_ceil(self.setup.flows[flow].segment).max(1);
        let packet = Packet {
            flow,
            frames: u32::try_from(frames).unwrap_or(u32::MAX),
            bytes: message.bytes,
            kind: Kind::Datagram(message),
        };
        let inward = self.setup.flows[flow].direction == Direction::Receive;
        self.enter(packet, inward, now);
        if !inward {
            self.sent(flow, 1, now);
        }
    }

    /// The card will have sent buffers of a flow when the line is free; their memory comes back then.
    fn sent(&mut self, flow: usize, buffers: u32, now: u64) {
        if self.setup.flows[flow].copies == CopyPath::Rdma {
            return;
        }
        let queue = self.setup.queue_of(flow);
        self.queues[queue].sent(buffers, self.outward.free_at(), &self.setup.nic);
        self.plan_interrupt(queue, now);
    }

    /// Puts a packet on one of the two ways.
    fn enter(&mut self, packet: Packet, inward: bool, now: u64) {
        let of = &self.setup.flows[packet.flow];
        let counts = &mut self.flows[packet.flow].counts;
        let line = packet.bytes + of.headers * u64::from(packet.frames);
        let data = !matches!(packet.kind, Kind::Acknowledgement { .. });
        counts.sent += u64::from(data);
        let ready = if inward {
            now
        } else {
            self.bus.transfer(&self.setup.bus, of, &packet, Way::Read, now)
        };
        let (wire, number) = if inward {
            (&mut self.inward, self.numbers.inward())
        } else {
            (&mut self.outward, self.numbers.outward())
        };
        let copies = wire.enter(packet, line, ready, now);
        self.calendar.set(number, wire.next_arrival());
        counts.doubled += u64::from(copies.saturating_sub(1));
        if copies == 0 {
            self.lose(packet, Cause::Link, now);
        }
    }

    /// Whether a write of so many bytes finds room in the send buffer.
    pub(super) fn has_room(&mut self, flow: usize, bytes: u64, now: u64) -> bool {
        let of = &self.setup.flows[flow];
        if of.reliable {
            let waiting = self.flows[flow].unacknowledged_bytes(of.segment);
            return waiting == 0 || waiting + bytes <= of.send_buffer;
        }
        // A datagram waits for its own host's queue; only what is beyond it drops.
        let line = bytes + of.headers * bytes.div_ceil(of.segment);
        let waiting = self.outward.queued_bytes(now);
        waiting == 0 || waiting + bytes <= of.send_buffer && self.outward.has_room(line, now)
    }

    /// Time of a core for what goes down the stack in one write [ps].
    pub(super) fn transmit_cost(&self, flow: usize, bytes: u64) -> u64 {
        let of = &self.setup.flows[flow];
        if of.copies == CopyPath::Rdma {
            return 0;
        }
        self.buffers(flow, bytes) * of.stack.transmit
    }

    /// Buffers that so many bytes go down to the card in.
    fn buffers(&self, flow: usize, bytes: u64) -> u64 {
        let of = &self.setup.flows[flow];
        bytes.div_ceil(of.segment.max(of.merge.min(bytes)).max(1))
    }

    /// A process's write is done: the bytes are in the socket.
    pub(super) fn written(&mut self, flow: usize, bytes: u64, now: u64) {
        if self.setup.flows[flow].reliable {
            self.flows[flow].written += bytes;
            self.flows[flow].available = self.flows[flow].written / self.setup.flows[flow].segment;
            return self.pump(flow, Some(self.processes[flow].core), now);
        }
        let message = Message { due: now, bytes, frame: 0, position: 0 };
        self.emit_datagram(flow, message, now);
    }

    /// A process that has ended leaves no part of a segment behind: the last one is sent as it is, and
    /// counted as a whole one.
    pub(super) fn send_rest(&mut self, flow: usize, now: u64) {
        let of = &self.setup.flows[flow];
        let state = &mut self.flows[flow];
        if of.reliable
            && of.direction == Direction::Send
            && !state.written.is_multiple_of(of.segment)
        {
            state.written = state.written.next_multiple_of(of.segment);
            state.available = state.written / of.segment;
            self.pump(flow, Some(self.processes[flow].core), now);
        }
    }

    /// Sends as many segments as both windows allow. A core that does it on the way pays.
    pub(super) fn pump(&mut self, flow: usize, core: Option<usize>, now: u64) {
        let inward = self.setup.flows[flow].direction == Direction::Receive;
        let bytes = self.setup.flows[flow].segment;
        let available = self.flows[flow].available;
        let idle = self.flows[flow].sender.in_flight() == 0;
        let mut sent = 0;
        while let Some(segment) = self.flows[flow].sender.turn(now, available) {
            let kind = Kind::Segment(segment);
            self.enter(Packet { flow, frames: 1, bytes, kind }, inward, now);
            sent += 1;
        }
        if !inward && sent > 0 {
            self.paid(flow, core, sent * bytes, now);
        }
        self.watch_window(flow, sent > 0, now);
        if idle && sent > 0 {
            self.flows[flow].progress = now;
        }
        self.arm(flow, now);
    }

    /// A stream's bytes went down to the card, on a core or, where the card speaks TCP, without one.
    fn paid(&mut self, flow: usize, core: Option<usize>, bytes: u64, now: u64) {
        if let Some(core) = core.filter(|_| !self.setup.flows[flow].offloaded) {
            self.cores[core].carry += self.transmit_cost(flow, bytes);
        }
        let buffers = u32::try_from(self.buffers(flow, bytes)).unwrap_or(u32::MAX);
        self.sent(flow, buffers, now);
    }

    fn watch_window(&mut self, flow: usize, sent: bool, now: u64) {
        let state = &mut self.flows[flow];
        let closed =
            state.sender.next >= state.sender.room_until && state.sender.next < state.available;
        if sent || !closed {
            state.resume(now);
        }
        if closed && state.stall(now) {
            let buffers = (state.socket.charged(), self.processes[flow].held);
            self.journal.note(flow, Trouble::Stall, buffers, now);
        }
    }

    /// Sets the timer of a sender that waits for something. One that is due earlier is left, and looks
    /// anew when it fires; the first one may come forward once the round trip is known.
    fn arm(&mut self, flow: usize, now: u64) {
        let state = &self.flows[flow];
        // A window that nobody will open any more is not probed.
        let dead = self.processes[flow].state == State::Stopped
            && self.setup.flows[flow].direction == Direction::Receive;
        let waits = state.sender.in_flight() > 0 || state.stalled_since.is_some() && !dead;
        let waits = waits && !state.sender.given_up();
        let id = self.numbers.retransmission(flow);
        if !waits {
            return;
        }
        let patience = state.sender.patience();
        let due = state.progress.max(now.saturating_sub(patience)) + patience;
        self.no_later(id, due);
    }

    /// The timer of a sender fired, or would have had nothing moved since it was set.
    pub(super) fn retransmission_event(&mut self, flow: usize, now: u64) {
        let state = &mut self.flows[flow];
        let due = state.progress + state.sender.patience();
        if now < due {
            return self.arm(flow, now);
        }
        if state.sender.in_flight() > 0 {
            state.sender.expired();
        } else if state.stalled_since.is_some() {
            // The probe of a closed window brings the peer's word of it (RFC 9293 section 3.8.6.1).
            let segment = self.setup.flows[flow].segment;
            state.sender.room_until = state.sender.room_until.max(state.room_until(segment));
        }
        state.progress = now;
        self.pump(flow, Some(self.processes[flow].core), now);
    }

    /// A packet reaches the peer.
    pub(super) fn outward_event(&mut self, now: u64) {
        let Some(packet) = self.outward.arrive() else { return };
        self.calendar.set(self.numbers.outward(), self.outward.next_arrival());
        let flow = packet.flow;
        self.journal.worked(now);
        match packet.kind {
            Kind::Datagram(message) => self.delivered(flow, message.bytes, now),
            Kind::Segment(segment) => self.peer_segment(flow, segment, now),
            Kind::Acknowledgement { .. } => self.acknowledged(flow, None, packet.kind, now),
        }
        self.unblock_writers(now);
    }

    fn delivered(&mut self, flow: usize, bytes: u64, now: u64) {
        let counts = &mut self.flows[flow].counts;
        counts.delivered_bytes += bytes;
        counts.reads += 1;
        counts.finished.0 = now;
    }

    fn peer_segment(&mut self, flow: usize, segment: u64, now: u64) {
        let taken = self.flows[flow].receiver.take(segment);
        if taken.delivered > 0 {
            self.delivered(flow, taken.delivered * self.setup.flows[flow].segment, now);
        }
        if taken.acknowledge {
            self.acknowledge(flow, now);
        } else {
            let late = now + DELAYED_ACKNOWLEDGEMENT;
            self.no_later(self.numbers.delayed(flow), late);
        }
    }

    /// The receiving end answers, on the way back.
    pub(super) fn acknowledge(&mut self, flow: usize, now: u64) {
        let of = &self.setup.flows[flow];
        let receives = of.direction == Direction::Receive;
        let state = &mut self.flows[flow];
        state.receiver.answered();
        let room_until = if receives { state.room_until(of.segment) } else { u64::MAX };
        state.announced = room_until;
        let beyond = state.receiver.beyond();
        let kind = Kind::Acknowledgement { expected: state.receiver.expected, room_until, beyond };
        self.calendar.set(self.numbers.delayed(flow), NEVER);
        self.enter(Packet { flow, frames: 1, bytes: 0, kind }, !receives, now);
    }

    /// A segment waited long enough for a second one.
    pub(super) fn delayed_event(&mut self, flow: usize, now: u64) {
        if self.flows[flow].receiver.owes() {
            self.acknowledge(flow, now);
        }
    }

    /// A read made room: a window that was nearly closed is announced anew.
    pub(super) fn open_window(&mut self, flow: usize, now: u64) {
        let of = &self.setup.flows[flow];
        let state = &self.flows[flow];
        let announced = state.announced.saturating_sub(state.receiver.expected);
        let room = state.room_until(of.segment).saturating_sub(state.receiver.expected);
        let all = of.receive_buffer / (of.segment + of.overhead).max(1);
        // Silly windows are avoided (RFC 9293 section 3.8.6.2.2): as Linux does it, a window at most
        // half open must have doubled.
        if 2 * announced <= all && room >= (2 * announced).max(1) {
            self.acknowledge(flow, now);
        }
    }

    /// An acknowledgement reaches the sending end.
    pub(super) fn acknowledged(&mut self, flow: usize, core: Option<usize>, kind: Kind, now: u64) {
        let Kind::Acknowledgement { expected, room_until, beyond } = kind else { return };
        let state = &mut self.flows[flow];
        if expected > state.sender.unacknowledged {
            state.progress = now;
        }
        state.sender.acknowledged(expected, room_until, beyond, now);
        self.pump(flow, core, now);
        self.unblock(flow, now);
    }

    /// The line has room again: whoever waited longest goes on.
    fn unblock_writers(&mut self, now: u64) {
        while let Some(process) = self.writers.front().copied() {
            let State::Writing(bytes) = self.processes[process].state else { return };
            if !self.has_room(process, bytes, now) {
                return;
            }
            self.writers.pop_front();
            self.wake(process, None, now);
        }
    }

    /// A process of a stream that waited for room goes on where there is some.
    fn unblock(&mut self, flow: usize, now: u64) {
        let State::Writing(bytes) = self.processes[flow].state else { return };
        if self.has_room(flow, bytes, now) {
            self.wake(flow, None, now);
        }
    }
}
