"""Which ranks are on which host, as results and the monitor's reports write it (common/machine/hosts.h)."""

import re

_PROGRESSION = re.compile(r"(\d+)(?:-(\d+)(?:/(\d+))?)?$")
_RUN = re.compile(r"[^:]*?(?:\[(\d+)-(\d+)\])?[^:\[\]]*: ([0-9,/-]+)(?:, each next ([+-]\d+))?$")


def ranks_of(text):
    """The ranks of a text such as "0-3,8,10-20/2", as ranges; None where it is cut or says none."""
    found = []
    for part in text.split(","):
        match = _PROGRESSION.match(part)
        if not match:
            return None
        first, last, step = match.groups()
        found.append(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


def hosts_of(text):
    """The ranks of each host, as ranges, of a text such as "node1: 0-3; node[2-9]: 4-35"; None where it isn't
    understood."""
    found = []
    for run in text.split("; "):
        match = _RUN.match(run)
        ranks = match and ranks_of(match.group(3))
        if not ranks:
            return None
        first, last, _, shift = match.groups()
        count = int(last) - int(first) + 1 if first else 1
        if count > 1 and shift is None:
            # All that follow one another, in equal parts.
            (whole,) = ranks
            ranks, shift = [whole[:len(whole) // count]], len(whole) // count
        found += [[range(part.start + i * int(shift or 0), part.stop + i * int(shift or 0), part.step)
                   for part in ranks] for i in range(count)]
    return found


def nodes_of(members, hosts):
    """On how many of the hosts (hosts_of) any of the ranks of a text are; None where that isn't known."""
    ranks = ranks_of(members)
    if ranks is None:
        return None
    return sum(any(rank in own for part in ranks for rank in part for own in host) for host in hosts)
