# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of each host, as written in results and in the monitor's reports (common/job/hosts.h).

A short text can name any number of ranks, so numbers beyond the largest job are rejected.
"""

import re

RANKS_MAX = 1 << 20  # in a text
HOSTS_MAX = 1 << 18
_WHOLE = "([0-9]{1,9})"
_PROGRESSION = re.compile(f"{_WHOLE}(?:-{_WHOLE}(?:/{_WHOLE})?)?")
_RUN = re.compile(rf"[^:\[\]]*(?:\[{_WHOLE}-{_WHOLE}\])?[^:\[\]]*: ([0-9,/-]+)(?:, each next ([+-][0-9]{{1,9}}))?")


def ranks_of(text):
    """Returns the ranks of a text like "0-3,8,10-20/2" as ranges, or None if it is truncated or has none."""
    found = []
    for part in text.split(","):
        match = _PROGRESSION.fullmatch(part)
        first, last, step = map(int, match.groups("0")) if match else (0, 0, 0)
        if not match or match.group(3) and not step:
            return None
        found.append(range(first, (last if match.group(2) else first) + 1, step or 1))
    return found if are_ranks(found) else None


def are_ranks(ranges):
    """True if ranges are ranks of a job of possible size."""
    return (sum(map(len, ranges)) <= RANKS_MAX and
            all(0 <= part.start < part.stop <= RANKS_MAX for part in ranges))


def hosts_of(text):
    """Returns the ranks of each host, as ranges, from a text like "node1: 0-3; node[2-9]: 4-35", or None if it can't be
    parsed."""
    found = []
    for run in text.split("; "):
        match = _RUN.fullmatch(run)
        ranks = match and ranks_of(match.group(3))
        if not ranks:
            return None
        first, last, _, shift = match.groups()
        count = int(last) - int(first) + 1 if first else 1
        if not 1 <= count <= HOSTS_MAX - len(found):
            return None
        if count > 1 and shift is None:
            # Consecutive ranks in equal parts.
            if len(ranks) > 1 or len(ranks[0]) < count:
                return None
            ranks, shift = [ranks[0][:len(ranks[0]) // count]], len(ranks[0]) // count
        step = int(shift or 0)
        if sum(map(len, ranks)) * count > RANKS_MAX:
            return None
        found += [[range(part.start + i * step, part.stop + i * step, part.step) for part in ranks]
                  for i in range(count)]
    every = [part for host in found for part in host]
    return found if are_ranks(every) else None


def marks_of(ranges):
    """Returns a byte for each rank up to the last one, 1 for ranks in the ranges."""
    marks = bytearray(max((part.stop for part in ranges), default=0))
    for part in ranges:
        marks[part.start:part.stop:part.step] = len(part) * b"\1"
    return marks


def nodes_of(members, hosts):
    """Counts the hosts (hosts_of) of a text's ranks. None if unknown."""
    ranks = ranks_of(members)
    if ranks is None:
        return None
    marks = marks_of(ranks)
    return sum(any(1 in marks[part.start:part.stop:part.step] for part in own) for own in hosts)
