#!/usr/bin/env python3
"""How much wider than their targets bounds are on this machine now: targets are for
machines on which nothing else runs.

usage: bounds.py   prints the factor, for scripts
"""

import os
import statistics
import sys
import time

# A gap between two readings of the clock that is longer is time in which the loop was
# stopped. Python reads the clock every 0.1 us; the shortest stops seen take 1 us.
STOP_NS = 1000
LOOK_NS = 50_000_000


def lost_share(processor):
    """The share of its time that a bare loop of clock readings loses on a processor,
    to the system, to other programs, or to the host of a virtual machine."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, [processor])
    lost_ns, start_ns = 0, time.perf_counter_ns()
    last_ns, end_ns = start_ns, start_ns + LOOK_NS
    while last_ns < end_ns:
        now_ns = time.perf_counter_ns()
        if now_ns - last_ns > STOP_NS:
            lost_ns += now_ns - last_ns
        last_ns = now_ns
    os.sched_setaffinity(0, before)
    return lost_ns / (last_ns - start_ns)


class Bounds:
    """How much wider than their targets the bounds of a test are, since targets are for
    machines on which nothing else runs. For each percent of the time that ranks lose, a
    target grows by a third of itself, at most to twice itself.

    What is lost the programs say themselves (lost_pct of their rows): the median over the rows
    since the last comparison counts. Where there are no such rows it is measured beside the
    programs: when the test begins and at each such comparison, on the two processors of its
    ranks, the larger share of them. Since a machine's state lasts seconds, the mean of the last
    two looks counts."""

    GROWTH, MOST = 100 / 3, 2.0

    def __init__(self):
        self.last = self.look()
        self.noted = []

    @staticmethod
    def look():
        return max(map(lost_share, sorted(os.sched_getaffinity(0))[:2]))

    def forget(self):
        """What was measured until now is of no program that is compared next."""
        self.noted = []

    def note(self, rows):
        """Rows of a program that is compared next. Returns them."""
        self.noted += [float(row["lost_pct"]) / 100 for row in rows
                       if row.get("lost_pct", "NA") != "NA"]
        return rows

    @classmethod
    def wider_by(cls, lost):
        """The factor for this share of the time lost."""
        return min(1 + cls.GROWTH * lost, cls.MOST)

    def wider(self, say=print):
        """The factor for what was measured until now. If it's more than 1, says so."""
        if self.noted:
            lost = statistics.median(self.noted)
        else:
            before, self.last = self.last, self.look()
            lost = (before + self.last) / 2
        self.forget()
        factor = self.wider_by(lost)
        if factor > 1:
            say(f"{100 * lost:.1f} % of the time is lost here: the bound is {factor:.2f} times "
                "the target")
        return factor


def main():
    factor = Bounds().wider(say=lambda text: print(text, file=sys.stderr, flush=True))
    print(f"{factor:.3f}")


if __name__ == "__main__":
    main()
