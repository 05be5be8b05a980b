# SPDX-License-Identifier: BSD-3-Clause
"""Waiting of ranks for each other in point-to-point messages, from a monitor's report with the flag `peers`."""

import typing

CAUSE_SHARE = 0.5  # of a wait: a rank that waits this long itself passes a delay on
US = 1e-6


class Pair(typing.NamedTuple):
    """Messages between two ranks in one way: sends, receives, puts or gets of `rank`."""

    rank: int
    peer: int
    way: str
    messages: float
    bytes: float
    seconds: float  # of `rank`, inside MPI


class PeerWait(typing.NamedTuple):
    """Time of a rank in receives from a peer."""

    rank: int
    peer: int
    seconds: float
    messages: float
    late_us: typing.Optional[float]  # of a message, beyond its undisturbed cost; None if that is unknown
    cause: typing.Optional[int]      # the rank whose delay it is; None if ranks wait for each other in a circle

    @property
    def each_us(self):
        return self.seconds / self.messages / US

    @property
    def note(self):
        if self.cause == self.peer:
            return ""
        return "in a circle" if self.cause is None else f"which waits for rank {self.cause}"


def ways_of(function):
    """Returns the ways of a function's messages; of sends also the receives, since both are of an exchange."""
    name = function.lower()
    ways = {"send": ("sends", "receives"), "recv": ("receives",), "put": ("puts",), "get": ("gets",)}
    return next((found for word, found in ways.items() if word in name), ())


def heaviest_pairs(pairs, function):
    """Returns (rank, peer, seconds) of the pairs of ranks with messages of a function, those with most time first."""
    seconds, ways = {}, ways_of(function)
    for pair in pairs:
        if pair.way in ways:
            key = pair.rank, pair.peer
            seconds[key] = seconds.get(key, 0.0) + pair.seconds
    return sorted(((*key, value) for key, value in seconds.items()), key=lambda item: (-item[2], item))


def heaviest_receives(pairs):
    """Returns the peer that each rank waits for most, as a Pair by rank."""
    most = {}
    for pair in pairs:
        if pair.way == "receives" and pair.seconds > most.get(pair.rank, pair._replace(seconds=0.0)).seconds:
            most[pair.rank] = pair
    return most


def cause_of(pair, most):
    """Follows the delay: a peer that waits itself for at least CAUSE_SHARE of the time passes it on. Returns the first
    rank that doesn't, or None for a circle."""
    met, rank = {pair.rank}, pair.peer
    while rank in most and most[rank].seconds >= CAUSE_SHARE * pair.seconds:
        if rank in met:
            return None
        met.add(rank)
        rank = most[rank].peer
    return rank


def receive_cost_us(lines):
    """Returns the mean undisturbed cost of a receive, or None if no benchmark measures one."""
    known = [line for line in lines if line.own is not None and
             "recv" in line.calls.function.lower()]
    calls = sum(line.calls.calls * line.calls.callers for line in known)
    return sum(line.own.value * line.calls.callers for line in known) / calls / US if calls else None


def peer_waits(pairs, lines):
    """Returns the PeerWaits, those with most time first."""
    most, cost_us = heaviest_receives(pairs), receive_cost_us(lines)
    found = [PeerWait(pair.rank, pair.peer, pair.seconds, pair.messages,
                      None if cost_us is None else max(0.0, pair.seconds / pair.messages / US - cost_us),
                      cause_of(pair, most))
             for pair in pairs if pair.way == "receives" and pair.messages]
    return sorted(found, key=lambda wait: (-wait.seconds, wait.rank, wait.peer))
