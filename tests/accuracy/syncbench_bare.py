#!/usr/bin/env python3
"""Is syncbench's MPI barrier that of a bare loop?

By syncbench_bare: in at least 9 of 10 launches the barrier's time is within 0.1 us
of the bare loop's, and its interval is no wider than that to either side. One repeat
is allowed.
"""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, run_raw  # noqa: E402

LAUNCHES, ENOUGH, TARGET_US = 10, 9, 0.1


def launch(options):
    """One launch: its three figures, in us."""
    done = run_raw(options.launcher, 2, [options.program, "--no-header"])
    return [float(re.search(name + r" (\S+)", done.stdout).group(1))
            for name in ("sync_us", "half_width_us", "bare_us")]


def agrees(options):
    """Prints the figures; True if enough of the launches are near."""
    near = 0
    errors = []
    for _ in range(LAUNCHES):
        sync_us, half_width_us, bare_us = launch(options)
        errors.append(abs(sync_us - bare_us))
        near += errors[-1] <= TARGET_US and half_width_us <= TARGET_US
        print(f"{sync_us:.3f} +- {half_width_us:.3f} us, bare {bare_us:.3f} us",
              flush=True)
    print(f"{near} of {LAUNCHES} launches near, largest error "
          f"{max(errors):.3f} us")
    return near >= ENOUGH


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="syncbench_bare")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    return 0 if agrees(options) or agrees(options) else 1


if __name__ == "__main__":
    sys.exit(main())
