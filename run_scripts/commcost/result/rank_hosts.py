"""Which ranks are on which host, as results and the monitor's reports write it (common/job/hosts.h).

A text of few letters can mean any number of ranks, so what is beyond the largest job counts as not understood.
"""

import re

RANKS_MAX = 1 << 20  # in a text
HOSTS_MAX = 1 << 18
_WHOLE = "([0-9]{1,9})"
_PROGRESSION = re.compile(f"{_WHOLE}(?:-{_WHOLE}(?:/{_WHOLE})?)?")
_RUN = re.compile(rf"[^:\[\]]*(?:\[{_WHOLE}-{_WHOLE}\])?[^:\[\]]*: ([0-9,/-]+)(?:, each next ([+-][0-9]{{1,9}}))?")


def ranks_of(text):
    """The ranks of a text such as "0-3,8,10-20/2", as ranges; None where it is cut or says none."""
    found = []
    for part in text.split(","):
        match = _PROGRESSION.fullmatch(part)
        first, last, step = map(int, match.groups("0")) if match else (0, 0, 0)
        if not match or match.group(3) and not step:
            return None
        found.append(range(first, (last if match.group(2) else first) + 1, step or 1))
    return found if are_ranks(found) else None


def are_ranks(ranges):
    """True if ranges have numbers of ranks, and no more of them than a job."""
    return (sum(map(len, ranges)) <= RANKS_MAX and
            all(0 <= part.start < part.stop <= RANKS_MAX for part in ranges))


def hosts_of(text):
    """The ranks of each host, as ranges, of a text such as "node1: 0-3; node[2-9]: 4-35"; None where it isn't
    understood."""
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
            # All that follow one another, in equal parts.
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
    """A byte for each rank up to the last one: 1 for those of the ranges."""
    marks = bytearray(max((part.stop for part in ranges), default=0))
    for part in ranges:
        marks[part.start:part.stop:part.step] = len(part) * b"\1"
    return marks


def nodes_of(members, hosts):
    """On how many of the hosts (hosts_of) any of the ranks of a text are; None where that isn't known."""
    ranks = ranks_of(members)
    if ranks is None:
        return None
    marks = marks_of(ranks)
    return sum(any(1 in marks[part.start:part.stop:part.step] for part in own) for own in hosts)
