#!/usr/bin/env python3
"""Do launches of msgrate agree?

20 launches on 2 ranks with one peer: the interquartile range of each pattern's
rate must be at most 10 % of its median. A shared machine may spoil it: one
repeat is allowed.
"""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, number, run  # noqa: E402

LAUNCHES, TARGET = 20, 0.10


def spread_is_small(options):
    """Prints the spread of each pattern."""
    rates = {}
    for _ in range(LAUNCHES):
        for row in run(options.launcher, 2,
                       [options.program, "-p", "1", "--max-time=0.5"])[1]:
            rates.setdefault(row["pattern"], []).append(
                number(row["rate_per_s"]))
    good = True
    for pattern, values in rates.items():
        low, median, high = statistics.quantiles(values, n=4,
                                                 method="inclusive")
        spread = (high - low) / median
        good = good and spread <= TARGET
        print(f"{pattern}: median {median:.0f} a second, from "
              f"{min(values):.0f} to {max(values):.0f}, interquartile range "
              f"{spread:.1%} of the median", flush=True)
    return good and len(rates) == 4


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="msgrate")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    return 0 if spread_is_small(options) or spread_is_small(options) else 1


if __name__ == "__main__":
    sys.exit(main())
