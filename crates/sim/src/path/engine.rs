//! The event engine of the path: one pending event for each of four components, in an array.
//!
//! Events at one instant are taken in the order of [`Component`], the receiver first, so that
//! room made at an instant is there for whoever arrives at it.

use std::collections::VecDeque;
use std::mem;

use bitpath_measure::Picos;
use bitpath_media::{Fate, Quality};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::gauge::Gauge;
use crate::host::HostScenario;
use crate::job::{Message, Schedule, Work, frame_time};
use crate::profile::{Transport, WakeUp};

use super::costs::Costs;
use super::outcome::{Drop, DropCause, MAX_LOGGED_DROPS, Outcome};
use super::socket_buffer::SocketBuffer;

/// No event pending.
const NEVER: u64 = u64::MAX;

/// Seed of what varies by chance: one scenario has one course.
const SEED: u64 = 2004;

/// The components, in the order in which simultaneous events are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    Receiver,
    Softirq,
    Link,
    Sender,
}

const COMPONENTS: [Component; 4] =
    [Component::Receiver, Component::Softirq, Component::Link, Component::Sender];

/// What the sender is doing.
#[derive(Clone, Copy, Debug)]
enum Sending {
    /// About to look for its next message.
    Ready,
    /// In the call that sends this message.
    Calling(Message),
    /// Waits for room for this message.
    Blocked(Message),
}

/// What the receiver is doing.
#[derive(Clone, Copy, Debug)]
enum Receiving {
    /// Asleep in its read.
    Asleep,
    /// Woken, or back from work: about to read.
    Ready,
    /// In the call that takes this message.
    Calling(Message),
    /// Working on the frame or the message just read.
    Working(Message),
    /// Asleep until its frame is due.
    Waiting,
}

/// Runs the scenario to its end.
#[must_use]
pub fn run(scenario: &HostScenario) -> Outcome {
    let mut engine = Engine::new(scenario);
    while let Some((component, now)) = engine.next_event() {
        engine.next[component as usize] = NEVER;
        match component {
            Component::Receiver => engine.receiver_event(now),
            Component::Softirq => engine.softirq_event(now),
            Component::Link => engine.link_event(now),
            Component::Sender => engine.sender_event(now),
        }
    }
    engine.finish()
}

struct Engine<'a> {
    scenario: &'a HostScenario,
    costs: Costs<'a>,
    next: [u64; COMPONENTS.len()],
    schedule: Schedule<'a>,
    sending: Sending,
    receiving: Receiving,
    link_queue: VecDeque<Message>,
    link_queue_bytes: u64,
    link_queue_charge: u64,
    ring: VecDeque<Message>,
    buffer: SocketBuffer,
    /// When a core that both processes share is free.
    core_free: u64,
    /// Payload of each frame that has been read.
    frame_bytes: Vec<u64>,
    fates: Vec<Fate>,
    last_work: u64,
    asleep_since: u64,
    /// Whether it slept until a frame was due and has worked on none since.
    rested: bool,
    /// Where the latencies of wake-ups come from.
    chance: ChaCha8Rng,
    outcome: Outcome,
    kernel_gauge: Gauge,
    user_gauge: Gauge,
    load_gauge: Gauge,
}

impl<'a> Engine<'a> {
    fn new(scenario: &'a HostScenario) -> Self {
        let (job, interval) = (&scenario.job, scenario.interval.0);
        let frames = job.frames();
        let mut next = [NEVER; COMPONENTS.len()];
        next[Component::Sender as usize] = 0;
        Self {
            scenario,
            costs: Costs::new(scenario),
            next,
            schedule: Schedule::new(job),
            sending: Sending::Ready,
            receiving: Receiving::Asleep,
            link_queue: VecDeque::new(),
            link_queue_bytes: 0,
            link_queue_charge: 0,
            ring: VecDeque::new(),
            buffer: SocketBuffer::new(job.transport, job.receive_buffer.0),
            core_free: 0,
            frame_bytes: vec![0; frames],
            fates: vec![Fate::Lost; frames],
            last_work: 0,
            asleep_since: 0,
            rested: false,
            chance: ChaCha8Rng::seed_from_u64(SEED),
            outcome: Outcome { interval: scenario.interval, ..Outcome::default() },
            kernel_gauge: Gauge::new(interval),
            user_gauge: Gauge::new(interval),
            load_gauge: Gauge::new(interval),
        }
    }

    #[inline]
    fn next_event(&self) -> Option<(Component, u64)> {
        let mut earliest = (Component::Receiver, NEVER);
        for component in COMPONENTS {
            if self.next[component as usize] < earliest.1 {
                earliest = (component, self.next[component as usize]);
            }
        }
        (earliest.1 != NEVER).then_some(earliest)
    }

    fn at(&mut self, component: Component, time: u64) {
        self.next[component as usize] = time;
    }

    /// When work of `cost` that could begin at `now` ends on a core of its own or a shared one.
    fn occupy(&mut self, now: u64, cost: u64) -> u64 {
        if !self.costs.one_core() {
            return now + cost;
        }
        self.core_free = self.core_free.max(now) + cost;
        self.core_free
    }

    fn sender_event(&mut self, now: u64) {
        match self.sending {
            Sending::Ready => self.send_next(now),
            Sending::Blocked(message) => self.call_send(message, now),
            Sending::Calling(message) => {
                let woke = self.emit(message, now);
                self.sending = Sending::Ready;
                if woke > 0 {
                    self.outcome.sender_busy.0 += woke;
                    let free = self.occupy(now, woke);
                    self.at(Component::Sender, free);
                } else {
                    self.send_next(now);
                }
            }
        }
    }

    /// Takes the next message of the job, sleeping first where it is not due yet.
    fn send_next(&mut self, now: u64) {
        self.outcome.sending = Picos(now);
        let Some(message) = self.schedule.next(now) else { return };
        if message.due <= now {
            return self.call_send(message, now);
        }
        self.outcome.sender_busy.0 += self.costs.timer_sleep();
        self.sending = Sending::Blocked(message);
        self.at(Component::Sender, message.due + self.costs.timer_lateness());
    }

    fn call_send(&mut self, message: Message, now: u64) {
        if !self.has_room(message) {
            self.sending = Sending::Blocked(message);
            return;
        }
        let cost = self.costs.message(bytes(message));
        let cost = if self.window_is_closed() { cost.copy_only } else { cost.send };
        self.outcome.sender_busy.0 += cost;
        self.outcome.sent += 1;
        self.sending = Sending::Calling(message);
        let done = self.occupy(now, cost);
        self.at(Component::Sender, done);
    }

    /// Whether the sender's call takes the message or waits: for the window of TCP, or for its
    /// own send buffer while packets wait for the link.
    fn has_room(&self, message: Message) -> bool {
        let job = &self.scenario.job;
        if job.transport == Transport::Tcp {
            // What is beyond the window is copied into the send buffer.
            let room = self.window() + job.send_buffer.0;
            let waiting = self.buffer.charged() + self.link_queue_bytes;
            return waiting == 0 || waiting + message.bytes <= room;
        }
        self.link_queue_charge <= job.send_buffer.0
    }

    /// Bytes that a TCP receiver lets come: the kernel advertises half of the buffer
    /// (`tcp_adv_win_scale`), the rest is for its bookkeeping [B].
    fn window(&self) -> u64 {
        self.scenario.job.receive_buffer.0 / 2
    }

    fn window_is_closed(&self) -> bool {
        self.scenario.job.transport == Transport::Tcp && self.buffer.charged() >= self.window()
    }

    /// Lets a blocked sender go on once half of its send buffer is free again (`sock_writeable`).
    fn unblock_sender(&mut self, now: u64) {
        let Sending::Blocked(message) = self.sending else { return };
        let waits_for_timer = self.next[Component::Sender as usize] != NEVER;
        let half_free = self.link_queue_charge <= self.scenario.job.send_buffer.0 / 2;
        if !waits_for_timer && half_free && self.has_room(message) {
            self.at(Component::Sender, now);
        }
    }

    /// The message leaves the sender's stack. Returns the time that waking the receiver took.
    fn emit(&mut self, message: Message, now: u64) -> u64 {
        if !self.costs.limited_link() {
            return self.reach_host(message, now);
        }
        let cost = self.costs.message(bytes(message));
        if self.link_queue_bytes + cost.frame_bytes > self.scenario.link.queue.0 {
            self.lose(DropCause::Link, now);
            return 0;
        }
        self.link_queue_bytes += cost.frame_bytes;
        self.link_queue_charge += cost.charge;
        self.link_queue.push_back(message);
        if self.link_queue.len() == 1 {
            self.at(Component::Link, now + cost.link);
        }
        0
    }

    fn link_event(&mut self, now: u64) {
        let Some(message) = self.link_queue.pop_front() else { return };
        let cost = self.costs.message(bytes(message));
        self.link_queue_bytes -= cost.frame_bytes;
        self.link_queue_charge -= cost.charge;
        if let Some(next) = self.link_queue.front() {
            let link = self.costs.message(bytes(*next)).link;
            self.at(Component::Link, now + link);
        }
        self.reach_host(message, now);
        self.unblock_sender(now);
    }

    /// The message reaches the receiving host: its ring, or straight its socket.
    fn reach_host(&mut self, message: Message, now: u64) -> u64 {
        let now = now + self.scenario.link.delay.0;
        let Some(slots) = self.costs.ring() else { return self.reach_socket(message, now) };
        if self.ring.len() >= slots {
            self.lose(DropCause::NicRing, now);
            return 0;
        }
        self.ring.push_back(message);
        let cost = self.costs.message(bytes(message)).softirq;
        self.preempt(cost);
        if self.ring.len() == 1 {
            self.at(Component::Softirq, now + cost);
        }
        0
    }

    /// Softirq work goes before the receiver's own on the same core.
    fn preempt(&mut self, cost: u64) {
        self.outcome.receiver_busy.0 += cost;
        let pending = self.next[Component::Receiver as usize];
        let runs = matches!(
            self.receiving,
            Receiving::Calling(_) | Receiving::Working(_) | Receiving::Ready
        );
        if runs && pending != NEVER {
            self.at(Component::Receiver, pending + cost);
        }
    }

    fn softirq_event(&mut self, now: u64) {
        let Some(message) = self.ring.pop_front() else { return };
        if let Some(next) = self.ring.front() {
            let cost = self.costs.message(bytes(*next)).softirq;
            self.at(Component::Softirq, now + cost);
        }
        self.reach_socket(message, now);
    }

    fn reach_socket(&mut self, message: Message, now: u64) -> u64 {
        let charge = self.costs.message(bytes(message)).charge;
        if !self.buffer.offer(message, charge) {
            self.lose(DropCause::KernelBuffer, now);
            return 0;
        }
        self.kernel_gauge.set(now, self.buffer.charged());
        if !matches!(self.receiving, Receiving::Asleep) {
            return 0;
        }
        let wake_up = self.costs.wake(now - self.asleep_since);
        self.receiving = Receiving::Ready;
        self.outcome.receiver_busy.0 += wake_up.receiver;
        let latency = self.latency(&wake_up);
        self.at(Component::Receiver, now + latency);
        wake_up.sender
    }

    /// One of the latencies of such a wake-up [ps]. Were all alike, a stream would fall into step with its
    /// receiver, which real ones do not.
    fn latency(&mut self, wake_up: &WakeUp) -> u64 {
        let WakeUp { latency, jitter, .. } = *wake_up;
        if jitter == 0 {
            return latency;
        }
        self.chance.random_range(latency.saturating_sub(jitter)..=latency + jitter)
    }

    fn receiver_event(&mut self, now: u64) {
        match self.receiving {
            Receiving::Asleep => {}
            Receiving::Ready => self.read_next(now),
            Receiving::Calling(message) => self.took(message, now),
            Receiving::Working(message) => self.worked(message, now),
            Receiving::Waiting => {
                self.user_gauge.set(now, 0);
                self.read_next(now);
            }
        }
    }

    fn read_next(&mut self, now: u64) {
        let Some(message) = self.buffer.take() else {
            self.receiving = Receiving::Asleep;
            self.asleep_since = now;
            self.outcome.sleeps += 1;
            self.load_gauge.set(now, 0);
            return;
        };
        self.kernel_gauge.set(now, self.buffer.charged());
        self.load_gauge.set(now, 1000);
        if self.scenario.job.transport == Transport::Tcp {
            self.unblock_sender(now);
        }
        let cost = self.costs.message(bytes(message)).receive;
        self.outcome.receiver_busy.0 += cost;
        self.receiving = Receiving::Calling(message);
        let done = self.occupy(now, cost);
        self.at(Component::Receiver, done);
    }

    /// A message is in the user's buffer: work on it, or on the frame that it completes.
    fn took(&mut self, message: Message, now: u64) {
        self.outcome.received += 1;
        self.outcome.received_bytes += message.bytes;
        self.last_work = now;
        let work = match &self.scenario.job.work {
            Work::Raw { .. } => {
                self.outcome.useful_bytes += message.bytes;
                self.costs.process(message.bytes)
            }
            Work::Mpeg { film, .. } => {
                let whole = u64::from(film.frames[message.frame % film.frames.len()].bytes);
                self.frame_bytes[message.frame] += message.frame_bytes();
                self.user_gauge.set(now, self.frame_bytes[message.frame]);
                if self.frame_bytes[message.frame] < whole {
                    return self.read_next(now);
                }
                self.costs.decode(message.frame, mem::take(&mut self.rested))
            }
        };
        self.outcome.receiver_busy.0 += work;
        self.receiving = Receiving::Working(message);
        let done = self.occupy(now, work);
        self.at(Component::Receiver, done);
    }

    /// The work is done: a frame is on time or late, and the process sleeps until it is due.
    fn worked(&mut self, message: Message, now: u64) {
        self.last_work = now;
        let Work::Mpeg { film, speed, playout_delay, .. } = &self.scenario.job.work else {
            return self.read_next(now);
        };
        self.outcome.useful_bytes +=
            u64::from(film.frames[message.frame % film.frames.len()].bytes);
        let due = frame_time(film, message.frame, *speed).0 + playout_delay.0;
        self.fates[message.frame] = if now <= due { Fate::OnTime } else { Fate::Late };
        if now >= due {
            self.user_gauge.set(now, 0);
            return self.read_next(now);
        }
        self.outcome.receiver_busy.0 += self.costs.timer_sleep();
        self.load_gauge.set(now, 0);
        (self.receiving, self.rested) = (Receiving::Waiting, true);
        self.at(Component::Receiver, due + self.costs.timer_lateness());
    }

    #[cold]
    fn lose(&mut self, cause: DropCause, now: u64) {
        self.outcome.drops.count(cause);
        if self.outcome.drop_log.len() < MAX_LOGGED_DROPS {
            self.outcome.drop_log.push(Drop {
                at: Picos(now),
                cause,
                link_queue_bytes: self.link_queue_bytes,
                ring_packets: self.ring.len() as u64,
                kernel_buffer_bytes: self.buffer.charged(),
                user_buffer_bytes: self.user_gauge.level(),
                receiver_busy: !matches!(self.receiving, Receiving::Asleep | Receiving::Waiting),
            });
        }
    }

    fn finish(mut self) -> Outcome {
        let end = self.last_work.max(self.outcome.sending.0).max(1);
        self.outcome.elapsed = Picos(self.last_work.max(1));
        if let Work::Mpeg { film, .. } = &self.scenario.job.work {
            let frames = film.looped_to(self.fates.len()).frames;
            self.outcome.frames = Quality::of(&frames, &self.fates);
        }
        self.outcome.kernel_buffer = self.kernel_gauge.finish(end);
        self.outcome.user_buffer = self.user_gauge.finish(end);
        self.outcome.receiver_course = self.load_gauge.finish(end);
        self.outcome
    }
}

fn bytes(message: Message) -> bitpath_measure::ByteCount {
    bitpath_measure::ByteCount(message.bytes)
}
