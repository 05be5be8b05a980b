#!/usr/bin/env python3
"""Do launches of msgrate agree?

10 launches (20 with --full) on 2 ranks with one peer: the interquartile range of each pattern's
rate must be at most 10 % of its median. A shared machine's own caches and
memory may vary by more: then the ratio to a bare loop of the same calls, flushed
alike and timed in the same process in turn, must vary by at most 5 %. One repeat
is allowed.
"""

import argparse
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, number, run, run_raw  # noqa: E402

LAUNCHES, LAUNCHES_FULL, TARGET, RATIO_TARGET = 10, 20, 0.10, 0.05


def spread(values):
    """The interquartile range over the median."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / median


def launch(options):
    """The rates of one launch, by pattern."""
    rows = run(options.launcher, 2,
               [options.program, "-p", "1", "--max-time=0.5"])[1]
    return {row["pattern"]: number(row["rate_per_s"]) for row in rows}


def launch_bare(options):
    """By pattern: the rate of the bare loop, and msgrate's over that."""
    done = run_raw(options.launcher, 2,
                   [options.bare, "-c", "16M", "-i", "100", "--no-header"])
    found = re.findall(r"^(.*): rate (\S+) of the bare loop's, (\S+) a second",
                       done.stdout, re.MULTILINE)
    return {pattern: (float(rate), float(ratio))
            for pattern, ratio, rate in found}


def agree(options):
    """Prints the spreads; True if msgrate's own is small."""
    launches = [launch(options) for _ in range(options.launches)]
    spreads = {pattern: spread([rates[pattern] for rates in launches])
               for pattern in launches[0]}
    for pattern, value in spreads.items():
        print(f"{pattern}: interquartile range {value:.1%} of the median",
              flush=True)
    large = [pattern for pattern, value in spreads.items() if value > TARGET]
    if not large:
        return len(spreads) == 4
    bare = [launch_bare(options) for _ in range(options.launches)]
    good = True
    for pattern in large:
        machine = spread([rates[pattern][0] for rates in bare])
        ratio = spread([rates[pattern][1] for rates in bare])
        print(f"{pattern}: a bare loop's {machine:.1%}, the ratio's "
              f"{ratio:.1%}", flush=True)
        good = good and ratio <= RATIO_TARGET
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="msgrate")
    parser.add_argument("--bare", required=True, help="msgrate_bare")
    parser.add_argument("--full", dest="launches", action="store_const",
                        const=LAUNCHES_FULL, default=LAUNCHES,
                        help="more launches")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    return 0 if agree(options) or agree(options) else 1


if __name__ == "__main__":
    sys.exit(main())
