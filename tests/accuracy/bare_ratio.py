#!/usr/bin/env python3
"""Is what a benchmark times that of a bare loop?

The ratio of their times, which the program prints: the median over launches, which
differ by some percent in either direction, must be near 1. One repeat is allowed.
"""

import argparse
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, run_raw  # noqa: E402

LAUNCHES = 7


def agrees(options):
    """Prints the ratios; True if their median is near 1."""
    ratios = []
    for _ in range(LAUNCHES):
        done = run_raw(options.launcher, 2, [options.program, "--no-header"])
        ratios.append(float(re.search(r"(\S+) of the bare loop's",
                                      done.stdout).group(1)))
    print("ratios:", *ratios, flush=True)
    return (abs(statistics.median(ratios) - 1) <=
            options.bounds.wider() * options.target)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True,
                        help="pingpong_bare, halo_bare")
    parser.add_argument("--target", type=float, required=True,
                        help="how far from 1 the median may be")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.bounds = Bounds()
    return 0 if agrees(options) or agrees(options) else 1


if __name__ == "__main__":
    sys.exit(main())
