"""P3 by SimPy, in the two ways in which it can be written.

    p3.py processes|callbacks packets repeats

Events at one nanosecond go from the last stage to the first and arrivals last. SimPy breaks
ties by the order of scheduling, so a tick of its clock is a quarter of a nanosecond and the
quarter is the place of the event, as in ../p3/src/lib.rs.
"""

import json
import sys
import time

import simpy

USER, KERNEL, NIC, ARRIVAL = range(4)
SLOTS = [32, 140, 43]  # of user, kernel and NIC [packets]
SERVICE_NS = [1000, 1300, 900]


def delay(now, nanos, place):
    """Ticks from now to the place of an event, so many nanoseconds after this one's."""
    return (now // 4 + nanos) * 4 + place - now


def user_nanos(begun):
    """Time that the user takes for the packet of this number, counted from one [ns]."""
    return 250_000 if begun % 1000 == 0 else SERVICE_NS[USER]


class Processes:
    """As its manual would have it: a process for each stage, a Store between two of them.

    A stage holds one packet in its hands, so its store has a slot less.
    """

    def __init__(self, packets):
        self.env = simpy.Environment()
        self.stores = [simpy.Store(self.env, slots - 1) for slots in SLOTS]
        self.delivered, self.drops = 0, [0, 0, 0]
        for process in [self.arrivals(packets), self.nic(), self.kernel(), self.user()]:
            self.env.process(process)

    def wait(self, nanos, place):
        return self.env.timeout(delay(self.env.now, nanos, place))

    def offer(self, stage, packet):
        store = self.stores[stage]
        if len(store.items) < store.capacity:
            store.put(packet)
        else:
            self.drops[stage] += 1

    def arrivals(self, packets):
        yield self.wait(0, ARRIVAL)
        for packet in range(packets):
            self.offer(NIC, packet)
            yield self.wait(1200, ARRIVAL)

    def nic(self):
        while True:
            packet = yield self.stores[NIC].get()
            yield self.wait(SERVICE_NS[NIC], NIC)
            self.offer(KERNEL, packet)

    def kernel(self):
        while True:
            packet = yield self.stores[KERNEL].get()
            yield self.wait(SERVICE_NS[KERNEL], KERNEL)
            yield self.stores[USER].put(packet)

    def user(self):
        while True:
            yield self.stores[USER].get()
            yield self.wait(user_nanos(self.delivered + 1), USER)
            self.delivered += 1


class Callbacks:
    """As fast as it goes: timeouts with a callback, the stages as counters."""

    def __init__(self, packets):
        self.env = simpy.Environment()
        self.packets_left = packets
        self.held, self.blocked, self.begun = [0, 0, 0], False, 0
        self.delivered, self.drops = 0, [0, 0, 0]
        self.after(0, ARRIVAL, self.arrive)

    def after(self, nanos, place, callback):
        event = self.env.timeout(delay(self.env.now, nanos, place), place)
        event.callbacks.append(callback)

    def arrive(self, _event):
        self.packets_left -= 1
        if self.packets_left > 0:
            self.after(1200, ARRIVAL, self.arrive)
        self.offer(NIC)

    def offer(self, stage):
        if self.held[stage] == SLOTS[stage]:
            self.drops[stage] += 1
        else:
            self.enter(stage)

    def enter(self, stage):
        self.held[stage] += 1
        if self.held[stage] == 1:
            self.serve(stage)

    def serve(self, stage):
        nanos = SERVICE_NS[stage]
        if stage == USER:
            self.begun += 1
            nanos = user_nanos(self.begun)
        self.after(nanos, stage, self.complete)

    def complete(self, event):
        stage = event.value
        if stage == KERNEL and self.held[USER] == SLOTS[USER]:
            self.blocked = True
        else:
            self.leave(stage)

    def leave(self, stage):
        self.held[stage] -= 1
        if self.held[stage] > 0:
            self.serve(stage)
        if stage == NIC:
            self.offer(KERNEL)
        elif stage == KERNEL:
            self.enter(USER)
        else:
            self.deliver()

    def deliver(self):
        self.delivered += 1
        if self.blocked:
            self.blocked = False
            self.leave(KERNEL)


def main(version, packets, repeats):
    start = time.process_time()
    for _ in range(repeats):
        path = {"processes": Processes, "callbacks": Callbacks}[version](packets)
        path.env.run()
    seconds = time.process_time() - start
    drops = path.drops
    counts = {"delivered": path.delivered, "nic_drops": drops[NIC], "kernel_drops": drops[KERNEL]}
    print(json.dumps({**counts, "cpu_seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
