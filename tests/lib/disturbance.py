"""Conditions under which a test may run programs: how the library of tests/disturbance stops
ranks.

usage: disturbance.py CONDITION   prints the condition's variables, for the shell; exits with 2 if
there is no such condition
"""

import math
import sys
import typing

from mpi_run import number, read, read_tsv

CONDITIONS = {
    "quiet": {},
    "cloud": {"DISTURB": "3000:5,300:50"},   # 3 % of the time
    "bad": {"DISTURB": "2000:50"},           # 10 % of the time
    "jumps": {"DISTURB_JUMPS": "2:5:1.3"},   # 30 % slower in 2 s of 5
}


def environment(library, condition, others=(), **variables):
    """What a launch needs: the condition's variables, these ones, and the libraries to be
    preloaded. This one is the first, since others may call the MPI library's own MPI_Init; without
    anything to do it isn't among them."""
    asked = {**CONDITIONS[condition], **variables}
    libraries = [*([library] if asked else []), *others]
    return {**asked, **({"LD_PRELOAD": ":".join(libraries)} if libraries else {})}


class Tally(typing.NamedTuple):
    """A row of a rank's log (log.h)."""

    __test__ = False
    stops: int
    stopped_s: float
    life_s: float
    slept_s: float
    cost_us: float
    first_s: float
    usual_us: float
    by: str

    @property
    def awake_s(self):
        """The time in which there are stops."""
        return self.life_s - self.slept_s

    @property
    def share(self):
        """The share of this time that was lost."""
        return self.stopped_s / self.awake_s


def read_log(prefix, rank):
    """A rank's log: its rows by what they are of. The last one is "all"."""
    return {row["what"]: Tally(int(row["stops"]), float(row["stopped_s"]), float(row["life_s"]),
                               float(row["slept_s"]), number(row["cost_us"]),
                               number(row["first_s"]), number(row["usual_us"]), row["by"])
            for row in read_tsv(read(f"{prefix}.{rank}"))}


def phase_s(jumps, time_s, period_s):
    """How long before this time of CLOCK_MONOTONIC the last jump began."""
    return math.fmod(time_s - jumps.first_s, period_s)


def main():
    condition = sys.argv[1]
    if condition not in CONDITIONS:
        print(f"no condition {condition}; there are: {', '.join(CONDITIONS)}", file=sys.stderr)
        return 2
    print(*(f"{name}={value}" for name, value in CONDITIONS[condition].items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
