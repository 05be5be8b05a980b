# SPDX-License-Identifier: BSD-3-Clause
"""The model's rules as formulas: what operations of ranks that act alike take, in us.

plan.h, messages.c, windows.c and collectives.c explain them in words. They are written down here a
second time, so that tests hold both the programs and the model against them.
"""

import typing


class Model(typing.NamedTuple):
    post: float = 0.1      # o
    wait: float = 0.0      # w
    latency: float = 1.0   # L
    byte_ns: float = 0.0   # G
    gap: float = 0.0       # g
    fraction: float = 1.0  # f, of messages and one-sided operations
    sync: float = 0.1      # of a one-sided synchronisation, without w
    barrier: float = 1.0   # without w
    test: float = 0.05     # of a test or probe
    duration: float = 10.0  # of a non-blocking or neighbourhood collective

    def variables(self):
        """The environment that makes the model so."""
        return {"MODEL_POST_US": self.post, "MODEL_WAIT_US": self.wait,
                "MODEL_LATENCY_US": self.latency, "MODEL_PER_BYTE_NS": self.byte_ns,
                "MODEL_GAP_US": self.gap, "MODEL_FRACTION": self.fraction,
                "MODEL_SYNC_US": self.sync, "MODEL_BARRIER_US": self.barrier,
                "MODEL_TEST_US": self.test, "MODEL_DURATION_US": self.duration}

    def alone(self, size):
        """f D: the part of a message or one-sided operation that proceeds without the host."""
        return self.fraction * (self.latency + self.byte_ns * 1e-3 * size)

    def host(self, size):
        """(1 - f) D: the part that takes the processor in a wait."""
        return self.latency + self.byte_ns * 1e-3 * size - self.alone(size)

    def starts(self, posts):
        """When operations start that are posted at these times: g apart at least."""
        starts = []
        for at in posts:
            starts.append(max(at, starts[-1] + self.gap) if starts else at)
        return starts

    def ends(self, posts, sizes):
        """When the parts without the host end of operations that are posted at these times."""
        return [start + self.alone(size) for start, size in zip(self.starts(posts), sizes)]

    def hosts(self, sizes):
        return sum(self.host(size) for size in sizes)

    def synchronise(self):
        """A one-sided synchronisation without transfers."""
        return self.sync + self.wait

    def meet(self):
        """A barrier of ranks that enter it together."""
        return self.barrier + self.wait

    def transfer(self, sizes):
        """Puts or gets, one after the other, and what completes them, without its own cost."""
        posts = [self.post * i for i in range(len(sizes))]
        return max([self.post * len(sizes)] + self.ends(posts, sizes)) + self.hosts(sizes)

    def flush(self, sizes=()):
        """Transfers and a synchronisation that completes them."""
        return self.transfer(sizes) + self.synchronise()

    def sync_all(self, sizes=()):
        return self.flush(sizes) + self.meet()

    def notify(self, partners):
        """An empty message to and from each partner: MPI_Irecv and MPI_Isend alternately, MPI_Waitall."""
        if partners == 0:
            return 0.0
        posts = [self.post * (2 * i + 1) for i in range(partners)]
        return (max([2 * partners * self.post] + self.ends(posts, [0] * partners)) +
                2 * partners * (self.host(0) + self.wait))

    def sync_images(self, partners, sizes=()):
        return self.flush(sizes) + self.notify(partners)

    def exchange(self, sizes):
        """All receives posted, then all sends, then one wait: messages meet their receives."""
        count = len(sizes)
        posts = [self.post * (count + i) for i in range(count)]
        return (max([2 * count * self.post] + self.ends(posts, sizes)) +
                2 * (self.hosts(sizes) + count * self.wait))

    def exchange_packed(self, sizes):
        """The same, but received one by one, the first that has come first; the wait for sends is at
        the end. Packing takes no virtual time."""
        count = len(sizes)
        ends = self.ends([self.post * (count + i) for i in range(count)], sizes)
        now = 2 * count * self.post
        for end, size in sorted(zip(ends, sizes)):
            now = max(now, end) + self.host(size) + self.wait
        return max([now] + ends) + self.hosts(sizes) + count * self.wait

    def half_round(self, size):
        """A message there of ping-pong by MPI_Send and MPI_Recv: the time from one rank's start of
        its send to the other's. That is when the message has come and been received, or when the
        receiver, which sent before, is ready for it, whichever is later."""
        complete = self.host(size) + self.wait
        sent = max(self.post, self.alone(size)) + complete
        return max(self.alone(size), (sent + self.post - complete) / 2) + complete
