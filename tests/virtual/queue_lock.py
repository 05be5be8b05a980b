# SPDX-License-Identifier: BSD-3-Clause
"""Times of ranks that contend for the queue lock of common/coarray/coarray.c, by the model's rules.

The lock of Mellor-Crummey and Scott in its form without compare-and-swap. Each rank is a generator
that yields when it has to know what other ranks did until then; ranks continue in the order of their
times, the lower one first.
"""

import heapq


class Job:
    """Acquisitions of all ranks, each holding the lock for `held` us."""

    def __init__(self, model, ranks, acquisitions, held):
        # In ns, so that ranks that meet do so exactly.
        self.swap_ns = round(1e3 * (max(model.post, model.alone(8)) + model.host(8)))
        self.flush_ns = round(1e3 * model.synchronise())
        self.test_ns = round(1e3 * model.test)
        self.held_ns, self.acquisitions = round(1e3 * held), acquisitions
        self.last = None                # (rank, turn) at the end of the queue
        self.next = [None] * ranks      # (turn, rank that follows)
        self.granted = [0] * ranks
        self.now = [0] * ranks

    def change(self, rank, effect):
        """An atomic operation: its effect once its flush has completed it."""
        self.now[rank] += self.swap_ns
        yield
        result = effect()
        self.now[rank] += self.flush_ns
        return result

    def swap_last(self, rank, entry):
        def effect():
            before, self.last = self.last, entry
            return before
        return (yield from self.change(rank, effect))

    def tell(self, rank, entry, follower):
        def effect():
            self.next[entry[0]] = (entry[1], follower)
        return (yield from self.change(rank, effect))

    def wait_for(self, rank, has_come):
        while not has_come():
            self.now[rank] += self.test_ns
            yield

    def acquire(self, rank, turn, waits):
        before = yield from self.swap_last(rank, (rank, turn))
        if before is None:
            yield
            return waits
        yield from self.tell(rank, before, rank)
        yield from self.wait_for(rank, lambda: self.granted[rank] == waits + 1)
        yield
        return waits + 1

    def release(self, rank, turn):
        def has_next():
            return self.next[rank] is not None and self.next[rank][0] == turn

        def hand_over():
            self.granted[self.next[rank][1]] += 1
        yield
        usurper = None
        if not has_next():
            last = yield from self.swap_last(rank, None)
            if last == (rank, turn):
                return
            usurper = yield from self.swap_last(rank, last)
        yield from self.wait_for(rank, has_next)
        yield
        if usurper is None:
            yield from self.change(rank, hand_over)
        else:
            yield from self.tell(rank, usurper, self.next[rank][1])

    def run_rank(self, rank):
        waits = 0
        for turn in range(1, self.acquisitions + 1):
            waits = yield from self.acquire(rank, turn, waits)
            self.now[rank] += self.held_ns
            yield from self.release(rank, turn)

    def time_us(self):
        """The slowest rank's time."""
        running = [self.run_rank(rank) for rank in range(len(self.now))]
        queue = [(0, rank) for rank in range(len(running))]
        while queue:
            _, rank = heapq.heappop(queue)
            try:
                next(running[rank])
                heapq.heappush(queue, (self.now[rank], rank))
            except StopIteration:
                pass
        return max(self.now) * 1e-3


def acquisition_us(model, ranks, inner, held):
    """The cost of one of `inner` acquisitions by all ranks, without the time that it is held."""
    return Job(model, ranks, inner // ranks, held).time_us() / (inner // ranks * ranks) - held
