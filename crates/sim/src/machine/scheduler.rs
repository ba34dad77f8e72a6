//! Who has a core: softirq work before processes, processes in turn, each for its slice.

use bitpath_measure::ByteCount;

use super::calendar::NEVER;
use super::core::{KSOFTIRQD, Running};
use super::description::Direction;
use super::engine::{MOST_IDLE_STEPS, Machine};
use super::process::{After, State};
use crate::job::Step;

impl Machine<'_> {
    /// A burst of work of a core is over, or it has come back from idle.
    pub(super) fn core_event(&mut self, core: usize, now: u64) {
        let spent = now - self.cores[core].began;
        match self.cores[core].running {
            Running::Idle | Running::Waking => {}
            Running::Softirq(packet) => {
                self.cores[core].busy.softirq += spent;
                self.journal.worked(now);
                self.handled(core, packet, now);
            }
            Running::Reaping => {
                self.cores[core].busy.softirq += spent;
                self.journal.worked(now);
            }
            Running::Process(process) => self.burst_over(core, process, spent, now),
        }
        self.dispatch(core, now);
    }

    /// Gives the core to whoever is first: packets, then processes.
    pub(super) fn dispatch(&mut self, core: usize, now: u64) {
        loop {
            self.defer_or_yield(core, now);
            if self.cores[core].may_poll() {
                if self.poll_next(core, now) {
                    return;
                }
                continue;
            }
            let this = &mut self.cores[core];
            match this.runnable.pop_front() {
                None => {
                    self.idle(core, now);
                    return;
                }
                Some(KSOFTIRQD) => {
                    this.in_ksoftirqd = !this.polls.is_empty();
                    this.deferred = this.in_ksoftirqd;
                    this.slice_end = now + self.setup.cores.quantum;
                    self.switch_to(core, KSOFTIRQD);
                }
                Some(process) => {
                    if self.run(core, process, now) {
                        return;
                    }
                }
            }
        }
    }

    /// A softirq that had its share becomes a process; that process gives way after its slice.
    fn defer_or_yield(&mut self, core: usize, now: u64) {
        let nic = &self.setup.nic;
        let this = &mut self.cores[core];
        if this.polls.is_empty() {
            this.deferred = false;
            this.in_ksoftirqd = false;
            this.handled = 0;
        } else if !this.deferred && this.exhausted(nic.budget, nic.budget_time, now) {
            this.deferred = true;
            this.runnable.push_back(KSOFTIRQD);
            self.journal.deferred += 1;
        } else if this.in_ksoftirqd && now >= this.slice_end && !this.runnable.is_empty() {
            this.in_ksoftirqd = false;
            this.runnable.push_back(KSOFTIRQD);
        }
    }

    fn idle(&mut self, core: usize, now: u64) {
        if self.cores[core].running != Running::Idle {
            self.cores[core].running = Running::Idle;
            self.journal.load.set(now, self.journal.load.level().saturating_sub(1));
        }
        self.calendar.set(core, NEVER);
    }

    /// Begins a burst of `cost` and of what the core owes.
    pub(super) fn occupy(&mut self, core: usize, running: Running, cost: u64, now: u64) {
        let this = &mut self.cores[core];
        if this.running == Running::Idle {
            self.journal.load.set(now, self.journal.load.level() + 1);
        }
        this.running = running;
        this.began = now;
        let length = cost + std::mem::take(&mut this.carry);
        self.calendar.set(core, now.saturating_add(length));
    }

    fn switch_to(&mut self, core: usize, process: usize) {
        let this = &mut self.cores[core];
        if this.last != Some(process) {
            if this.last.is_some() {
                this.carry += self.setup.cores.context_switch;
                this.switches += 1;
            }
            this.last = Some(process);
        }
    }

    /// Lets a process run. False where it has nothing to do after all.
    fn run(&mut self, core: usize, process: usize, now: u64) -> bool {
        let again = self.cores[core].last == Some(process);
        self.switch_to(core, process);
        if !again || self.cores[core].slice_end <= now {
            self.cores[core].slice_end = now + self.setup.cores.quantum;
        }
        let mut idle_steps = 0;
        while self.processes[process].left == 0 {
            idle_steps += 1;
            if idle_steps > MOST_IDLE_STEPS || !self.step(process, now) {
                return false;
            }
        }
        let owed = std::mem::take(&mut self.cores[core].carry);
        self.processes[process].left += owed;
        let left = self.processes[process].left;
        let slice = self.cores[core].slice_end - now;
        self.occupy(core, Running::Process(process), left.min(slice), now);
        true
    }

    /// Takes the core from a process for a packet.
    pub(super) fn preempt(&mut self, core: usize, process: usize, now: u64) {
        let spent = now - self.cores[core].began;
        self.account(core, process, spent);
        self.cores[core].runnable.push_front(process);
    }

    fn account(&mut self, core: usize, process: usize, spent: u64) {
        let this = &mut self.processes[process];
        this.left -= spent.min(this.left);
        let busy = &mut self.cores[core].busy;
        if this.own {
            busy.user += spent;
        } else {
            busy.kernel += spent;
        }
    }

    fn burst_over(&mut self, core: usize, process: usize, spent: u64, now: u64) {
        self.account(core, process, spent);
        self.journal.worked(now);
        if self.processes[process].left == 0 {
            let after = std::mem::replace(&mut self.processes[process].after, After::Step);
            if let After::Sent(bytes) = after {
                self.written(process, bytes, now);
            }
        }
        let this = &mut self.cores[core];
        if now < this.slice_end || this.runnable.is_empty() {
            this.runnable.push_front(process);
        } else {
            this.runnable.push_back(process);
        }
    }

    /// Makes a process runnable; whoever woke it pays, and an idle core takes a while.
    pub(super) fn wake(&mut self, process: usize, by: Option<usize>, now: u64) {
        let core = self.processes[process].core;
        let this = &mut self.processes[process];
        this.pending = match this.state {
            State::Reading(most) => Some(Step::Read(ByteCount(most))),
            State::Writing(bytes) => Some(Step::Write(ByteCount(bytes))),
            _ => None,
        };
        this.state = State::Runnable;
        if let Some(by) = by {
            self.cores[by].carry += self.setup.cores.wake;
        }
        self.cores[core].runnable.push_back(process);
        if self.cores[core].running == Running::Idle {
            self.journal.load.set(now, self.journal.load.level() + 1);
            self.cores[core].running = Running::Waking;
            self.cores[core].began = now;
            self.calendar.set(core, now + self.setup.cores.wake_latency);
        }
    }

    /// Asks the process for its next step. False where it waits, sleeps or stops.
    fn step(&mut self, process: usize, now: u64) -> bool {
        self.tell(process, now);
        let this = &mut self.processes[process];
        let step = this.pending.take().unwrap_or_else(|| this.program.next(&this.seen));
        match step {
            Step::Read(most) => self.read(process, most.0, now),
            Step::Write(bytes) => self.write(process, bytes.0, now),
            Step::Process(time) => {
                this.own = true;
                this.copies = false;
                this.left = time.0;
                true
            }
            Step::SleepUntil(time) if time.0 > now => {
                this.state = State::Sleeping;
                self.calendar.set(self.numbers.sleeper(process), time.0);
                false
            }
            Step::SleepUntil(_) => true,
            Step::Free(bytes) => {
                this.held = this.held.saturating_sub(bytes.0);
                let all = self.journal.user.level().saturating_sub(bytes.0);
                self.journal.user.set(now, all);
                true
            }
            Step::Stop => {
                this.state = State::Stopped;
                self.send_rest(process, now);
                false
            }
        }
    }

    /// A call that takes what is there, or waits for it.
    fn read(&mut self, process: usize, most: u64, now: u64) -> bool {
        let limit = self.setup.flows[process].user_buffer;
        let room = limit - self.processes[process].held.min(limit);
        let state = &mut self.flows[process];
        let waiting = state.socket.waiting();
        if waiting > 0 && waiting > room {
            self.processes[process].state = State::Full(limit);
            return false;
        }
        let Some(read) = state.socket.read(most.min(room)) else {
            self.processes[process].state = State::Reading(most);
            return false;
        };
        state.counts.reads += 1;
        state.counts.delivered_bytes += read.bytes;
        state.counts.finished.0 = now;
        self.charged(process, now);
        self.journal.user.set(now, self.journal.user.level() + read.bytes);
        let work = self.call(process, read.bytes, now);
        let this = &mut self.processes[process];
        this.held += read.bytes;
        this.seen.read.0 = read.bytes;
        this.seen.message = read.message;
        (this.own, this.copies, this.left) = (false, work.in_memory, work.time.max(1));
        let flow = &self.setup.flows[process];
        if flow.reliable && flow.direction == Direction::Receive {
            self.open_window(process, now);
        }
        true
    }

    /// A call that sends, or waits for room.
    fn write(&mut self, process: usize, bytes: u64, now: u64) -> bool {
        if !self.has_room(process, bytes, now) {
            self.processes[process].state = State::Writing(bytes);
            if !self.setup.flows[process].reliable {
                self.writers.push_back(process);
            }
            return false;
        }
        let work = self.call(process, bytes, now);
        let of = &self.setup.flows[process];
        // A stream pays for a segment when it leaves, which may be later.
        let at_once = !of.reliable || of.offloaded;
        let transmit = if at_once { self.transmit_cost(process, bytes) } else { 0 };
        let this = &mut self.processes[process];
        this.after = After::Sent(bytes);
        (this.own, this.copies, this.left) = (false, work.in_memory, (work.time + transmit).max(1));
        true
    }
}
