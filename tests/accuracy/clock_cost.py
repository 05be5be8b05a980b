#!/usr/bin/env python3
"""Is the cost of each rank's own clock taken off?

The clock of rank 1 costs much, that of rank 0 little. In an operation that rank 1 comes
late to, rank 0 is the slowest: the operation takes its time, with no more than what its
own clock costs taken off. Rank 1's first reading makes it come later, by what its clock
costs, than with a quick clock, so the operation must be found to take just that longer:
it would take no longer if the greatest cost were taken off all ranks. Medians over
launches; what fails is tried once more.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Failed, Launcher, number, read_tsv, run_raw  # noqa: E402

COST_US, LATE_US, OPERATION_US = 10, 20, 50
TOLERANCE = 0.2  # of what the clocks differ by
LAUNCHES = 3


def launch(cost_us, options):
    """What the operation takes, and what the metadata says that the clock costs."""
    with tempfile.NamedTemporaryFile() as shared:
        shared.truncate(4096)
        done = run_raw(options.launcher, 2, [options.program, "--max-time=0.2"],
                       {"LD_PRELOAD": f"{options.late}:{options.shift}",
                        "LATE_US": LATE_US, "OPERATION_US": OPERATION_US,
                        "LATE_SHARED": shared.name,
                        "CLOCK_COST_NS": int(1000 * cost_us)})
    if done.returncode != 0:
        raise Failed(done.stderr)
    row, = read_tsv(done.stdout)
    stated_ns = re.search(r"^# clock_cost_ns: (\S+)$", done.stdout, re.MULTILINE)
    return number(row["ref_us"]), float(stated_ns.group(1)) / 1000


def trial(options):
    """True if the operation takes longer by what the slow clock makes rank 1 late."""
    launches = {cost_us: [launch(cost_us, options) for _ in range(LAUNCHES)]
                for cost_us in (0, COST_US)}
    (quick_us, quick_cost_us), (slow_us, slow_cost_us) = (
        [statistics.median(column) for column in zip(*launches[cost_us])]
        for cost_us in (0, COST_US))
    later_us = slow_cost_us - quick_cost_us
    print(f"clock of rank 1 {quick_cost_us:.3f} us: {quick_us:.3f} us; "
          f"{slow_cost_us:.3f} us: {slow_us:.3f} us, should be "
          f"{quick_us + later_us:.3f} us", flush=True)
    return (later_us >= COST_US / 2 and
            abs(slow_us - quick_us - later_us) <= TOLERANCE * later_us)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="overlap_ibarrier")
    parser.add_argument("--late", required=True, help="liblate_barrier.so")
    parser.add_argument("--shift", required=True, help="libclock_shift.so")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    return 0 if trial(options) or trial(options) else 1


if __name__ == "__main__":
    sys.exit(main())
