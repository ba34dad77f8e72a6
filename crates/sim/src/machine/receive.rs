//! From the line to the process: ring, interrupt, poll, stack, socket.

use super::bus::Way;
use super::calendar::NEVER;
use super::core::{Merged, Running};
use super::description::CopyPath;
use super::engine::Machine;
use super::outcome::{Cause, Trouble};
use super::packet::{Kind, Packet};
use super::process::State;
use super::tcp::DELAYED_ACKNOWLEDGEMENT;
use crate::job::Message;

impl Machine<'_> {
    /// A packet comes in from the line.
    pub(super) fn inward_event(&mut self, now: u64) {
        let Some(packet) = self.inward.arrive() else { return };
        self.calendar.set(self.numbers.inward(), self.inward.next_arrival());
        let of = &self.setup.flows[packet.flow];
        let answer = matches!(packet.kind, Kind::Acknowledgement { .. });
        if answer && (of.offloaded || of.copies == CopyPath::Rdma) {
            return self.acknowledged(packet.flow, None, packet.kind, now);
        }
        let nic = &self.setup.nic;
        if self.bus.waiting(now) + packet.bytes > nic.buffer {
            return self.lose(packet, Cause::NicBuffer, now);
        }
        if of.copies == CopyPath::Rdma {
            return self.begin_placing(packet, now);
        }
        let queue = self.setup.queue_of(packet.flow);
        if !self.queues[queue].has_room(&packet, nic) {
            let cause =
                if self.queues[queue].waits_for_core(now) { Cause::Cpu } else { Cause::NicBuffer };
            return self.lose(packet, cause, now);
        }
        let ready = self.bus.transfer(&self.setup.bus, of, &packet, Way::Write, now);
        self.queues[queue].take(packet, ready);
        self.journal.ring.set(now, self.journal.ring.level() + u64::from(packet.frames));
        self.plan_interrupt(queue, now);
    }

    /// Plans the interrupt for what waits; there is none while a core polls.
    pub(super) fn plan_interrupt(&mut self, queue: usize, now: u64) {
        if self.queues[queue].polled {
            return;
        }
        let id = self.numbers.interrupt(queue);
        let planned = self.calendar.time(id);
        let time = self.queues[queue].interrupt_at(&self.setup.nic, planned, now);
        self.calendar.set(id, time);
    }

    /// The card interrupts: the queue's core will poll it.
    pub(super) fn interrupt_event(&mut self, queue: usize, now: u64) {
        self.journal.interrupts += 1;
        self.queues[queue].begin_poll();
        let core = self.setup.core_of(queue);
        let this = &mut self.cores[core];
        this.carry += self.setup.cores.interrupt;
        if this.polls.is_empty() {
            (this.handled, this.run_began) = (0, now);
        }
        this.polls.push_back(queue);
        match this.running {
            Running::Idle | Running::Waking => self.dispatch(core, now),
            Running::Process(process) if !this.deferred => {
                self.preempt(core, process, now);
                self.dispatch(core, now);
            }
            Running::Process(_) | Running::Softirq(_) | Running::Reaping => {}
        }
    }

    /// Begins the stack's work on the next packet of the core's first queue. False where that
    /// queue is empty.
    pub(super) fn poll_next(&mut self, core: usize, now: u64) -> bool {
        let Some(queue) = self.cores[core].polls.front().copied() else { return false };
        let Some(packet) = self.queues[queue].poll(now) else {
            let buffers = self.queues[queue].reap(now);
            if buffers > 0 {
                let cost = self.setup.nic.completion * u64::from(buffers);
                self.occupy(core, Running::Reaping, cost, now);
                return true;
            }
            self.flush(core, now);
            self.queues[queue].end_poll();
            self.cores[core].polls.pop_front();
            self.calendar.set(self.numbers.interrupt(queue), NEVER);
            self.plan_interrupt(queue, now);
            return false;
        };
        let frames = u64::from(packet.frames);
        self.journal.ring.set(now, self.journal.ring.level().saturating_sub(frames));
        self.cores[core].handled += packet.frames;
        let stack = &self.setup.flows[packet.flow].stack;
        let cost = match packet.kind {
            Kind::Datagram(_) => stack.frame * frames + stack.delivery,
            Kind::Segment(_) => stack.frame,
            Kind::Acknowledgement { .. } => stack.acknowledgement,
        };
        self.occupy(core, Running::Softirq(packet), cost, now);
        true
    }

    /// The stack is done with a packet.
    pub(super) fn handled(&mut self, core: usize, packet: Packet, now: u64) {
        match packet.kind {
            Kind::Datagram(message) => self.deliver(core, packet, message, now),
            Kind::Segment(segment) => self.segment(core, packet.flow, segment, now),
            Kind::Acknowledgement { .. } => {
                self.acknowledged(packet.flow, Some(core), packet.kind, now);
            }
        }
    }

    fn deliver(&mut self, core: usize, packet: Packet, message: Message, now: u64) {
        let flow = packet.flow;
        let charge = packet.bytes + self.setup.flows[flow].overhead * u64::from(packet.frames);
        if !self.flows[flow].socket.offer(message, charge) {
            return self.lose(packet, Cause::KernelBuffer, now);
        }
        self.charged(flow, now);
        self.wake_reader(flow, Some(core), now);
    }

    fn segment(&mut self, core: usize, flow: usize, segment: u64, now: u64) {
        let size = self.setup.flows[flow].segment;
        let taken = self.flows[flow].receiver.take(segment);
        if taken.delivered == 0 {
            self.flush(core, now);
            return self.acknowledge(flow, now);
        }
        if self.cores[core].merged.is_some_and(|merged| merged.flow != flow) {
            self.flush(core, now);
        }
        let mut merged =
            self.cores[core].merged.unwrap_or(Merged { flow, bytes: 0, answer: false });
        merged.bytes += taken.delivered * size;
        merged.answer |= taken.acknowledge;
        self.cores[core].merged = Some(merged);
        if merged.bytes + size > self.setup.flows[flow].merge {
            self.flush(core, now);
        }
    }

    /// Hands what was merged to its socket.
    pub(super) fn flush(&mut self, core: usize, now: u64) {
        let Some(merged) = self.cores[core].merged.take() else { return };
        let flow = merged.flow;
        self.cores[core].carry += self.setup.flows[flow].stack.delivery;
        self.flows[flow].socket.append(merged.bytes);
        self.charged(flow, now);
        if merged.answer {
            self.acknowledge(flow, now);
        } else {
            self.no_later(self.numbers.delayed(flow), now + DELAYED_ACKNOWLEDGEMENT);
        }
        self.wake_reader(flow, Some(core), now);
    }

    /// The card writes payload into the process's memory by itself: it is there once it is over the bus.
    fn begin_placing(&mut self, packet: Packet, now: u64) {
        let of = &self.setup.flows[packet.flow];
        let ready = self.bus.transfer(&self.setup.bus, of, &packet, Way::Write, now);
        if self.placing.is_empty() {
            self.calendar.set(self.numbers.placing(), ready);
        }
        self.placing.push_back((ready, packet));
    }

    /// A packet is in the process's memory.
    pub(super) fn placing_event(&mut self, now: u64) {
        let Some((_, packet)) = self.placing.pop_front() else { return };
        let next = self.placing.front().map_or(NEVER, |(ready, _)| *ready);
        self.calendar.set(self.numbers.placing(), next);
        let flow = packet.flow;
        match packet.kind {
            // The card has taken it on its arrival.
            Kind::Acknowledgement { .. } => {}
            Kind::Datagram(message) => {
                self.flows[flow].socket.offer(message, 0);
                self.wake_reader(flow, None, now);
            }
            Kind::Segment(segment) => {
                let taken = self.flows[flow].receiver.take(segment);
                let size = self.setup.flows[flow].segment;
                self.flows[flow].socket.append(taken.delivered * size);
                self.acknowledge(flow, now);
                self.wake_reader(flow, None, now);
            }
        }
    }

    /// Writes down what a socket holds now.
    pub(super) fn charged(&mut self, flow: usize, now: u64) {
        let state = &mut self.flows[flow];
        let before = std::mem::replace(&mut state.charged, state.socket.charged());
        let all = self.journal.kernel.level() + state.charged;
        self.journal.kernel.set(now, all.saturating_sub(before));
    }

    fn wake_reader(&mut self, flow: usize, by: Option<usize>, now: u64) {
        if matches!(self.processes[flow].state, State::Reading(_)) {
            self.wake(flow, by, now);
        }
    }

    /// A packet is lost.
    pub(super) fn lose(&mut self, packet: Packet, cause: Cause, now: u64) {
        let flow = packet.flow;
        self.flows[flow].counts.drops[cause as usize] += 1;
        let buffers = (self.flows[flow].socket.charged(), self.processes[flow].held);
        self.journal.note(packet.flow, Trouble::Drop(cause), buffers, now);
    }
}
