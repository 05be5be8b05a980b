# SPDX-License-Identifier: BSD-3-Clause
"""The exposed part of an operation under work, by the model's arithmetic (plan.h), and the programs
of which gain_test.py looks at that. Times in us."""

import typing

POST_US, WAIT_US, SYNC_US = 0.3, 0.2, 2.0
SIZE = ("--data-driven", "--min-num-elts=1024", "--max-num-elts=1024", "--max-time=0.3")


class Transfer(typing.NamedTuple):
    """A request of an operation."""

    duration: float     # D
    fraction: float     # f
    post: float         # o
    wait: float         # w
    stage: float = 0.0  # of the part without the host; 0: it is one stage
    start: float = 0.0  # after the first post

    @property
    def alone(self):
        """f D"""
        return self.fraction * self.duration


def exposed_us(transfers, work, calls=0, test=0.0):
    """The time beyond `work`, of which `calls` tests make calls + 1 equal parts until one of
    them completes the operation."""
    costs = sum(transfer.post for transfer in transfers)  # of the host, so far
    host = sum(transfer.duration - transfer.alone + transfer.wait for transfer in transfers)
    ends = [transfer.start + min(transfer.stage or transfer.alone, transfer.alone)
            for transfer in transfers]
    left = [transfer.start + transfer.alone - end for transfer, end in zip(transfers, ends)]
    for call in range(1, calls + 1):
        costs += test
        now = costs + work * call / (calls + 1)
        ended = [end <= now for end in ends]
        if all(ended) and max(left) < 1e-9:
            return costs + host
        for i, transfer in enumerate(transfers):
            if ended[i] and left[i] >= 1e-9:
                step = min(transfer.stage, left[i])
                ends[i], left[i] = now + step, left[i] - step
    wait = costs + work
    return max(max(wait, end) + more for end, more in zip(ends, left)) + host - work


def fewest_exposed_us(transfers, work, most, test):
    """With the best number of tests."""
    return min(exposed_us(transfers, work, calls, test) for calls in range(most + 1))


# ---- the programs --------------------------------------------------------------------------------

class Program(typing.NamedTuple):
    """A program: of which transfers its operation is made, and what its blocking call takes."""

    name: str
    options: tuple = SIZE
    transfers: typing.Callable = lambda one, work_us: [one]
    blocking_us: typing.Callable = lambda one, us: us + WAIT_US
    after_us: float = 0.0  # of what comes behind the wait

    def __str__(self):
        return " ".join([self.name, *self.options[len(SIZE):]])


def exchange(name, pairs, options=SIZE):
    """`count` receives and then `count` sends; the blocking calls are `count` MPI_Sendrecv. A receive
    starts with the send of the same number, since ranks do the same."""
    def transfers(one, work_us):  # pylint: disable=unused-argument
        return 2 * [one._replace(start=(pairs + i) * POST_US) for i in range(pairs)]
    return Program(name, options, transfers, lambda one, us: pairs * (POST_US + us + 2 * WAIT_US))


def one_sided(name, after_us):
    """The blocking call is the same and a synchronisation at once."""
    return Program(name, SIZE, blocking_us=lambda one, us: max(one.post, one.alone) + one.duration -
                   one.alone + SYNC_US + WAIT_US, after_us=after_us)


def partitioned(parts):
    """A start, and a post for each part of the work; the message starts with the last."""
    def transfers(one, work_us):
        post = Transfer(0, 0, POST_US, 0)
        return [*parts * [post], one._replace(start=work_us + parts * POST_US)]
    return Program("partitioned", (*SIZE, "--partitions={}".format(parts)), transfers)


def halo(method):
    return ("--max-time=0.3", "--local=10", "--form=all", "--methods=" + method)


PROGRAMS = [
    *(Program(name) for name in ("iallreduce", "ibcast", "ialltoallv", "ireduce_scatter", "igather",
                                 "iscan", "ineighbor_alltoall", "isend", "irecv")),
    *(Program(name, (*SIZE, "--form=persistent"))
      for name in ("iallreduce", "ialltoallv", "isend")),
    exchange("sendrecv", 1), one_sided("put", SYNC_US + WAIT_US), one_sided("get", 0),
    partitioned(4), exchange("halo", 6, halo("isend/irecv types")),
    exchange("halo", 6, halo("persistent")), Program("halo", halo("neighbor_alltoallw"))]
